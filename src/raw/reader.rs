//! Reads a raw dump section by section through a fixed buffer, and trusts none of it.
//!
//! Every section that it hands out has passed its checksum. Only the caller knows what the payload means.

use core::cell::Cell;
use core::fmt;

use zerocopy::FromBytes;

use super::layout::{
    ABI_GCOV, ABI_LLVM, BUILD_ID_CAPACITY, EndRecord, FileHeader, MAGIC, MAX_PAYLOAD, MAX_SECTION,
    Machine, ModuleRecord, OLDEST_VERSION, ORDER, Order, SectionHeader, SectionKind, SumsRecord,
    VERSION, Word, checksum,
};
use super::object::ObjectRecord;

/// Where the bytes of a dump come from.
pub trait Source {
    /// Why it could not give them.
    type Error;
    /// Reads up to `into.len()` bytes; fewer only at the end of the data.
    fn read(&mut self, into: &mut [u8]) -> Result<usize, Self::Error>;
}

impl Source for &[u8] {
    type Error = core::convert::Infallible;

    fn read(&mut self, into: &mut [u8]) -> Result<usize, Self::Error> {
        let length = into.len().min(self.len());
        let (now, later) = self.split_at_checked(length).unwrap_or((self, &[]));
        into.iter_mut().zip(now).for_each(|(to, from)| *to = *from);
        *self = later;
        Ok(length)
    }
}

/// What is wrong with a dump, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Byte of the file at which the defect starts.
    pub offset: u64,
    /// The defect.
    pub defect: Defect,
}

/// A defect of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defect {
    /// No bytes at all.
    Empty,
    /// The file has another magic.
    NotADump,
    /// Written by a machine of the other byte order.
    ByteOrder,
    /// Written by another release.
    Version(u16),
    /// Neither 4 nor 8 bytes, or a reserved byte that is not 0.
    Header,
    /// The file ends early.
    Truncated {
        /// What was being read.
        part: Part,
        /// Bytes that should follow the offset.
        expected: u32,
        /// Bytes that do follow it.
        found: u32,
    },
    /// A section's length is impossible.
    Length(u32),
    /// A section's checksum does not match.
    Checksum {
        /// As the section says.
        expected: u32,
        /// As computed.
        found: u32,
    },
    /// A section is out of order.
    Sequence {
        /// Its place in the file.
        expected: u32,
        /// As the section says.
        found: u32,
    },
    /// A section of another kind was due.
    Kind {
        /// The kind due, `None` if any of several was.
        expected: Option<SectionKind>,
        /// The kind found, as a number.
        found: u32,
    },
    /// Bytes follow the END section.
    Trailing,
    /// A record contradicts itself or the records before it.
    Record(Contradiction),
}

/// A part of a dump that may be cut: the content of a section, by the number of its kind, or a part named
/// below. One word, since moving more around costs code on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part(pub u32);

impl Part {
    /// What every section starts with.
    pub const SECTION_HEADER: Self = Self(0);
    /// What every file starts with.
    pub const FILE_HEADER: Self = Self(u32::MAX);
    /// The dump in a live file.
    pub const LIVE_DUMP: Self = Self(u32::MAX - 1);
    /// The counters in a live file.
    pub const LIVE_COUNTERS: Self = Self(u32::MAX - 2);
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (*self, SectionKind::from_number(self.0)) {
            (Self::SECTION_HEADER, _) => f.write_str("section header"),
            (Self::FILE_HEADER, _) => f.write_str("file header"),
            (Self::LIVE_DUMP, _) => f.write_str("dump of the live file"),
            (Self::LIVE_COUNTERS, _) => f.write_str("counters of the live file"),
            (_, Some(kind)) => write!(f, "section {}", kind.name()),
            (Self(kind), None) => write!(f, "section of kind {kind}"),
        }
    }
}

/// How records of a module contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// A MODULE section that is not one module record.
    ModuleSize,
    /// An END section that is not one end record.
    EndSize,
    /// END gives another number of modules than there are.
    Modules,
    /// Instrumentation that this release does not know.
    Abi,
    /// A build-id longer than its room.
    BuildId,
    /// STRINGS is not as long as announced.
    Strings,
    /// A path outside STRINGS.
    Path,
    /// Names of functions whose checksum does not match.
    Names,
    /// Another number of objects than announced.
    Objects,
    /// A merge rule that does not exist.
    Rule,
    /// Another number of functions than announced.
    Functions,
    /// A function's head is wrong. It announces no counters of a kind it names, or counters of no kind, or a
    /// kind that the object does not use, or any kind for an absent function.
    Head,
    /// A function's offset in its image is larger than any image.
    Offset,
    /// Words that must be in one section are in two.
    Apart,
    /// A chunk of counters of a width that there is not.
    Width,
    /// A SUMS section that is not one record of sums.
    SumsSize,
    /// Another number of counters than announced.
    Counters,
    /// Another number of sites than announced.
    Sites,
    /// A number of top-N counters that is no multiple of a site's counters.
    SiteCounters,
    /// More values at a site than there can be.
    Values,
    /// The signature does not fit the records.
    Signature,
    /// Counts that have reached the largest number. No reader refuses them.
    Saturated,
}

impl Contradiction {
    const fn text(self) -> &'static str {
        match self {
            Self::ModuleSize => "MODULE section: expected 64 bytes",
            Self::EndSize => "END section: expected 16 bytes",
            Self::Modules => "END section: number of modules differs from those found",
            Self::Abi => "module: expected ABI 1 (gcov) or 2 (LLVM)",
            Self::BuildId => "module: build-id longer than 32 bytes",
            Self::Strings => "module: length of STRINGS differs from its record",
            Self::Path => "module: a path lies outside STRINGS",
            Self::Names => "object: the checksum of its names differs from its record",
            Self::Objects => "module: number of objects differs from its record",
            Self::Rule => "object: unknown merge rule",
            Self::Functions => "module: number of functions differs from its records",
            Self::Head => "function: its kinds of counters contradict their numbers or its object",
            Self::Offset => "function: its offset in the image is not below 2^32",
            Self::Apart => "row of functions: a part is not in one section",
            Self::Width => "row of functions: counters of an unknown width",
            Self::SumsSize => "SUMS section: expected 40 bytes",
            Self::Counters => "module: number of counters differs from its SUMS",
            Self::Sites => "module: number of top-N sites differs from its SUMS",
            Self::SiteCounters => "function: number of top-N counters is no multiple of a site's",
            Self::Values => "site: more than 64 values",
            Self::Signature => "module: signature differs from that of its records",
            Self::Saturated => {
                "module: counts have reached the largest number; the true sums may be larger"
            }
        }
    }
}

/// Whether a module may have such a record, with as many bytes of STRINGS and of OBJECTS.
pub fn record_is_possible(
    record: &ModuleRecord,
    strings: usize,
    objects: usize,
) -> Result<(), Contradiction> {
    let ModuleRecord { identity, path_length, strings_length } = record;
    let length = (*strings_length as usize).checked_next_multiple_of(8);
    match () {
        () if ![ABI_GCOV, ABI_LLVM].contains(&identity.abi) => Err(Contradiction::Abi),
        () if identity.build_id_length as usize > BUILD_ID_CAPACITY => Err(Contradiction::BuildId),
        () if length != Some(strings) => Err(Contradiction::Strings),
        () if path_length > strings_length => Err(Contradiction::Path),
        () if Some(objects)
            != (identity.objects as usize).checked_mul(size_of::<ObjectRecord>()) =>
        {
            Err(Contradiction::Objects)
        }
        () => Ok(()),
    }
}

impl Defect {
    /// Whether the bytes are those that were written, and still make no sense.
    pub const fn is_of_content(&self) -> bool {
        matches!(self, Self::Record(_) | Self::Kind { .. })
    }

    /// The defect in a few words, without numbers: for the runtime, which has no formatting.
    pub const fn summary(&self) -> &'static [u8] {
        match self {
            Self::NotADump => b"not a raw dump",
            Self::ByteOrder => b"dump of the other byte order",
            Self::Version(_) => b"dump of another version",
            Self::Truncated { .. } | Self::Empty => b"dump cut short",
            _ => b"damaged dump",
        }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Empty => f.write_str("the file is empty"),
            Self::NotADump => f.write_str("not a raw dump of countersink"),
            Self::ByteOrder => f.write_str("written by a machine of the other byte order"),
            Self::Version(found) => {
                write!(
                    f,
                    "raw dump of format version {found}, this release reads {OLDEST_VERSION} to {VERSION}"
                )
            }
            Self::Header => f.write_str("impossible value in the file header"),
            Self::Truncated { part, expected, found } => {
                write!(f, "{part} cut short: expected {expected} more bytes, found {found}")
            }
            Self::Length(found) => write!(
                f,
                "section length: expected a multiple of 8 up to {MAX_PAYLOAD}, found {found}"
            ),
            Self::Checksum { expected, found } => {
                write!(f, "section checksum: expected {expected:#010x}, found {found:#010x}")
            }
            Self::Sequence { expected, found } => {
                write!(f, "section number: expected {expected}, found {found}")
            }
            Self::Kind { expected, found } => {
                let expected = expected.map_or("another section", SectionKind::name);
                match SectionKind::from_number(found) {
                    Some(kind) => write!(f, "expected {expected}, found {}", kind.name()),
                    None => write!(f, "expected {expected}, found a section of kind {found}"),
                }
            }
            Self::Trailing => f.write_str("expected the end of the file after END"),
            Self::Record(what) => f.write_str(what.text()),
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}: {}", self.offset, self.defect)
    }
}

impl core::error::Error for Damage {}

/// Why reading stopped. The reader keeps what the damage is, [`Reader::damage`], so that the error fits a
/// register: moving it around would be a third of the code on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure<E> {
    /// The source failed.
    System(E),
    /// The bytes are wrong.
    Damaged,
}

/// A section that passed its checksum.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// What it holds.
    pub kind: SectionKind,
    /// Where its header stands in the file.
    pub offset: u64,
}

/// Reads sections in order. Reads ahead as far as there is room, as most dumps are small.
pub struct Reader<'b, R> {
    source: R,
    buffer: &'b mut [u8; MAX_SECTION],
    /// Where the current section starts in the buffer, and where the bytes read so far end.
    start: usize,
    end: usize,
    /// The source has no more.
    is_drained: bool,
    /// Where the current section starts in the file.
    offset: u64,
    /// Bytes of the current section, header included; 0 if it has not been read.
    size: usize,
    sequence: u32,
    section: Option<Section>,
    /// Bytes of the payload that were handed out.
    taken: usize,
    damage: Damage,
}

const HEADER: usize = size_of::<SectionHeader>();

impl<'b, R: Source> Reader<'b, R> {
    /// A reader at the start of a dump. Call [`Reader::start`] first.
    pub fn new(source: R, buffer: &'b mut [u8; MAX_SECTION]) -> Self {
        let damage = Damage { offset: 0, defect: Defect::Empty };
        let (start, end, is_drained, offset) = (0, 0, false, 0);
        let (size, sequence, section, taken) = (0, 0, None, 0);
        Self {
            source,
            buffer,
            start,
            end,
            is_drained,
            offset,
            size,
            sequence,
            section,
            taken,
            damage,
        }
    }

    /// What the last [`Failure::Damaged`] was about.
    pub fn damage(&self) -> Damage {
        self.damage
    }

    /// Reads and checks the file header, which must be of a program of this machine's order.
    pub fn start(&mut self) -> Result<(), Failure<R::Error>> {
        self.header(false).map(|_| ())
    }

    /// Reads and checks the file header, which may be of a program of any machine and of an older version; gives both.
    pub fn start_of_any(&mut self) -> Result<(Machine, u16), Failure<R::Error>> {
        self.header(true)
    }

    #[inline(always)]
    fn header(&mut self, of_any: bool) -> Result<(Machine, u16), Failure<R::Error>> {
        let length = self.read_ahead(size_of::<FileHeader>())?;
        let bytes = self.bytes(0, length);
        if bytes.is_empty() {
            return self.fail(0, Defect::Empty);
        }
        if !bytes.iter().zip(&MAGIC).all(|(found, expected)| found == expected) {
            return self.fail(0, Defect::NotADump);
        }
        let Ok(header) = FileHeader::read_from_bytes(bytes) else {
            let (part, found) = (Part::FILE_HEADER, length as u32);
            return self.fail(0, Defect::Truncated { part, expected: 16, found });
        };
        let is_other = header.order.swap_bytes() == ORDER;
        // Other numbers in that order, too.
        let is_known = |version: u16| {
            version == VERSION || of_any && (OLDEST_VERSION..VERSION).contains(&version)
        };
        let is_foreign = is_other && is_known(header.version.swap_bytes());
        match header.order {
            _ if is_other && (!of_any || is_foreign) => self.fail(8, Defect::ByteOrder),
            order if order != ORDER && !is_other => self.fail(8, Defect::Header),
            _ if !is_known(header.version) => self.fail(12, Defect::Version(header.version)),
            _ if !matches!(header.pointer_width, 4 | 8) => self.fail(14, Defect::Header),
            _ if header.reserved != 0 => self.fail(15, Defect::Header),
            _ => {
                self.size = length;
                let order = if is_other { Order::NATIVE.other() } else { Order::NATIVE };
                Ok((Machine { order, pointer_width: header.pointer_width }, header.version))
            }
        }
    }

    /// Reads the next section into the buffer and checks it.
    pub fn next_section(&mut self) -> Result<Section, Failure<R::Error>> {
        self.leave();
        let start = self.offset;
        self.fill(Part::SECTION_HEADER, 0, HEADER)?;
        let Ok(header) = SectionHeader::read_from_bytes(self.bytes(0, HEADER)) else {
            return self.fail(start, Defect::Header);
        };
        let length = header.length as usize;
        if length > MAX_PAYLOAD || !length.is_multiple_of(8) {
            return self.fail(start, Defect::Length(header.length));
        }
        self.fill(Part(header.kind), HEADER, length)?;
        self.size = HEADER.wrapping_add(length);
        self.taken = 0;
        let expected = self.sequence;
        self.sequence = expected.wrapping_add(1);
        let found = checksum(self.bytes(0, self.size));
        if found != header.crc {
            return self.fail(start, Defect::Checksum { expected: header.crc, found });
        }
        if header.sequence != expected {
            return self.fail(start, Defect::Sequence { expected, found: header.sequence });
        }
        let Some(kind) = SectionKind::from_number(header.kind) else {
            return self.fail(start, Defect::Kind { expected: None, found: header.kind });
        };
        let section = Section { kind, offset: start };
        self.section = Some(section);
        Ok(section)
    }

    /// The current section, if there is one.
    pub fn section(&self) -> Option<Section> {
        self.section
    }

    /// Payload of the current section.
    pub fn payload(&self) -> &[u8] {
        self.bytes(HEADER, self.size)
    }

    /// The current section as it stands in the file, header included, and its number.
    pub fn whole_section(&self) -> (&[u8], u32) {
        (self.bytes(0, self.size), self.sequence.wrapping_sub(1))
    }

    /// The payload of the current section as the module record it must be.
    pub fn module(&mut self) -> Result<ModuleRecord, Failure<R::Error>> {
        match ModuleRecord::read_from_bytes(self.payload()) {
            Ok(record) => Ok(record),
            Err(_) => self.wrong(Contradiction::ModuleSize),
        }
    }

    /// The payload of the current section as the record of sums it must be.
    pub fn sums(&mut self) -> Result<SumsRecord, Failure<R::Error>> {
        match SumsRecord::read_from_bytes(self.payload()) {
            Ok(record) => Ok(record),
            Err(_) => self.wrong(Contradiction::SumsSize),
        }
    }

    /// Fails because of the kind of the current section.
    pub fn unexpected<T>(&mut self, expected: Option<SectionKind>) -> Result<T, Failure<R::Error>> {
        let (offset, found) = self.section.map_or((0, 0), |s| (s.offset, s.kind as u32));
        self.fail(offset, Defect::Kind { expected, found })
    }

    /// Fails because of the content of the current section.
    pub fn wrong<T>(&mut self, what: Contradiction) -> Result<T, Failure<R::Error>> {
        self.fail(self.section.map_or(0, |section| section.offset), Defect::Record(what))
    }

    /// The next word of a stream of `kind`, reading the sections it spreads over.
    #[inline(always)]
    pub fn word(&mut self, kind: SectionKind) -> Result<i64, Failure<R::Error>> {
        let words = self.words(kind, 1)?;
        Ok(words.first().map_or(0, |&word| i64::from_ne_bytes(word)))
    }

    /// The next words of a stream of `kind`: at least one unless `most` is 0, and no more than `most` or than
    /// the section has.
    #[inline(always)]
    pub fn words(&mut self, kind: SectionKind, most: usize) -> Result<&[Word], Failure<R::Error>> {
        self.find_words(kind)?;
        let start = self.start.wrapping_add(HEADER).wrapping_add(self.taken);
        let end = self.start.wrapping_add(self.size);
        let words = self.buffer.get(start..end).unwrap_or_default().as_chunks().0;
        let words = words.get(..most).unwrap_or(words);
        self.taken = self.taken.wrapping_add(size_of_val(words));
        Ok(words)
    }

    /// The next `number` words of a stream of `kind`. They must stand in one section.
    #[inline(always)]
    pub fn words_together(
        &mut self,
        kind: SectionKind,
        number: usize,
    ) -> Result<&[Word], Failure<R::Error>> {
        self.find_words(kind)?;
        let left = self.size.saturating_sub(HEADER).saturating_sub(self.taken);
        if left / size_of::<Word>() < number {
            return self.wrong(Contradiction::Apart);
        }
        self.words(kind, number)
    }

    /// Goes to a section of `kind` with words that were not handed out.
    #[inline(always)]
    fn find_words(&mut self, kind: SectionKind) -> Result<(), Failure<R::Error>> {
        while !self.has_untaken_words() || self.section.is_none_or(|s| s.kind != kind) {
            self.expect(kind)?;
        }
        Ok(())
    }

    /// Whether the current section has words that were not handed out.
    pub fn has_untaken_words(&self) -> bool {
        self.taken < self.size.saturating_sub(HEADER)
    }

    /// Offset behind the current section.
    pub fn offset(&self) -> u64 {
        self.offset.wrapping_add(self.size as u64)
    }

    /// Reads the next section, which must be of `kind`.
    pub fn expect(&mut self, kind: SectionKind) -> Result<Section, Failure<R::Error>> {
        let section = self.next_section()?;
        if section.kind != kind {
            return self.unexpected(Some(kind));
        }
        Ok(section)
    }

    /// Checks the current END section against the number of modules seen, and that nothing follows. Gives the
    /// id of the live file that was added last.
    #[inline(always)]
    pub fn end(&mut self, modules: u64) -> Result<u64, Failure<R::Error>> {
        let Ok(end) = EndRecord::read_from_bytes(self.payload()) else {
            return self.wrong(Contradiction::EndSize);
        };
        if end.modules != modules {
            return self.wrong(Contradiction::Modules);
        }
        let added = end.added;
        self.leave();
        match self.read_ahead(1)? {
            0 => Ok(added),
            _ => self.fail(self.offset, Defect::Trailing),
        }
    }

    /// Bytes of the current section, from one offset in it to another.
    fn bytes(&self, from: usize, to: usize) -> &[u8] {
        let (from, to) = (self.start.wrapping_add(from), self.start.wrapping_add(to));
        self.buffer.get(from..to).unwrap_or_default()
    }

    /// Goes on behind the current section.
    fn leave(&mut self) {
        self.start = self.start.wrapping_add(self.size);
        self.offset = self.offset();
        self.size = 0;
    }

    /// Reads until `length` bytes of the current section are there from `at` on.
    fn fill(&mut self, part: Part, at: usize, length: usize) -> Result<(), Failure<R::Error>> {
        let found = self.read_ahead(at.wrapping_add(length))?.saturating_sub(at);
        if found < length {
            let (expected, found) = (length as u32, found as u32);
            let offset = self.offset.wrapping_add(at as u64);
            return self.fail(offset, Defect::Truncated { part, expected, found });
        }
        Ok(())
    }

    /// Reads until `length` bytes of the current section are there; gives how many there are if the file ends
    /// before.
    fn read_ahead(&mut self, length: usize) -> Result<usize, Failure<R::Error>> {
        if self.end.wrapping_sub(self.start) < length && !self.is_drained {
            self.move_to_front();
            let free = self.buffer.get_mut(self.end..).unwrap_or_default();
            let wanted = free.len();
            let found = self.source.read(free).map_err(Failure::System)?;
            self.is_drained = found < wanted;
            self.end = self.end.wrapping_add(found);
        }
        Ok(self.end.wrapping_sub(self.start).min(length))
    }

    /// Moves the bytes read so far to the start of the buffer.
    fn move_to_front(&mut self) {
        let bytes = Cell::from_mut(&mut self.buffer[..]).as_slice_of_cells();
        // Not `copy_within`: it would leave a panic path in the archive.
        let read = bytes.get(self.start..self.end).unwrap_or_default();
        if self.start > 0 {
            bytes.iter().zip(read).for_each(|(to, from)| to.set(from.get()));
        }
        (self.start, self.end) = (0, read.len());
    }

    /// Fails because of what stands at an offset.
    pub fn fail<T>(&mut self, offset: u64, defect: Defect) -> Result<T, Failure<R::Error>> {
        self.damage = Damage { offset, defect };
        Err(Failure::Damaged)
    }
}
