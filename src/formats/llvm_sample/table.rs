//! The table of sections of an extensible binary: kinds, flags and places of sections, and their decompressed bytes.
//! The head of the [format's module](super) has the layout.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::check::{Defect, Finding, Part, Tell};
use super::words::Words;

/// Flag of any section: zlib.
pub const COMPRESSED: u64 = 1;
/// Flag of any section: without inlined copies.
pub const FLAT: u64 = 1 << 1;
/// Flag of the summary: the profile covers a part of the program's work.
pub const PARTIAL: u64 = 1 << 32;
/// Flag of the summary: functions have contexts.
pub const CONTEXTS: u64 = 1 << 33;
/// Flag of the summary: discriminators of code generation.
pub const FLOW_SENSITIVE: u64 = 1 << 34;
/// Flag of the summary: a pre-inliner has chosen the inlined copies.
pub const PREINLINED: u64 = 1 << 36;
/// Flag of the summary: bodies end with types of virtual tables.
pub const VIRTUAL_TABLES: u64 = 1 << 37;
/// Flag of the names: MD5.
pub const MD5: u64 = 1 << 32;
/// Flag of the names: MD5 of eight bytes.
pub const FIXED_MD5: u64 = 1 << 33;
/// Flag of the names: some names of statics have a unique suffix.
pub const UNIQUE_SUFFIX: u64 = 1 << 34;
/// Flag of the offsets: sorted by context.
pub const ORDERED: u64 = 1 << 32;
/// Flag of the metadata: checksums.
pub const CHECKSUMS: u64 = 1 << 32;
/// Flag of the metadata: attributes.
pub const ATTRIBUTES: u64 = 1 << 33;

/// Bytes of an entry.
const ENTRY: usize = 32;
/// A section may decompress to its size times this factor, plus [`MOST_AT_ONCE`].
const MOST_GROWTH: u64 = 128;
/// See [`MOST_GROWTH`].
const MOST_AT_ONCE: u64 = 16 << 20;

/// A section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its part; `None` for an unknown kind.
    pub part: Option<Part>,
    /// Flags.
    pub flags: u64,
    /// Offset in the file.
    pub offset: u64,
    /// Size in the file.
    pub size: u64,
}

/// The number of a part in the table.
pub(super) const fn kind(part: Part) -> u64 {
    match part {
        Part::Header | Part::Table => 0,
        Part::Summary => 1,
        Part::Names => 2,
        Part::SymbolList => 3,
        Part::Offsets => 4,
        Part::Metadata => 5,
        Part::Contexts => 6,
        Part::Functions => 32,
    }
}

fn part(number: u64) -> Option<Part> {
    const PARTS: [Part; 7] = [
        Part::Summary,
        Part::Names,
        Part::SymbolList,
        Part::Offsets,
        Part::Metadata,
        Part::Contexts,
        Part::Functions,
    ];
    PARTS.into_iter().find(|&part| kind(part) == number)
}

/// Reads the table. A section that ends behind the file is a defect.
pub(super) fn read(
    words: &mut Words<'_>,
    file: usize,
    tell: Tell<'_>,
) -> Result<Vec<Section>, Finding> {
    let start = words.offset();
    let number = words.u64()?;
    let most = (words.left() / ENTRY) as u64;
    if number > most {
        let defect = Defect::Count { part: Part::Table, most, found: number };
        return Err(Finding { offset: start, defect });
    }
    let mut sections = Vec::new();
    for _ in 0..number {
        let place = words.offset();
        let [kind, flags, offset, size] = [words.u64()?, words.u64()?, words.u64()?, words.u64()?];
        let part = part(kind);
        if part.is_none() {
            tell(Finding { offset: place, defect: Defect::UnknownSection(kind) });
        }
        let found = (file as u64).checked_sub(offset);
        if found.is_none_or(|found| size > found) {
            let part = part.unwrap_or(Part::Table);
            let found = found.unwrap_or(0);
            let defect = Defect::Truncated { part, expected: size, found };
            return Err(Finding { offset: place + 16, defect });
        }
        sections.push(Section { part, flags, offset, size });
    }
    Ok(sections)
}

impl Section {
    /// Names of the flags that are set.
    pub fn flag_names(&self) -> Vec<&'static str> {
        let own: &[(u64, &str)] = match self.part {
            Some(Part::Summary) => &[
                (PARTIAL, "partial"),
                (CONTEXTS, "contexts"),
                (FLOW_SENSITIVE, "flow-sensitive discriminators"),
                (PREINLINED, "pre-inlined"),
                (VIRTUAL_TABLES, "types of virtual tables"),
            ],
            Some(Part::Names) => &[(MD5, "MD5"), (FIXED_MD5, "MD5"), (UNIQUE_SUFFIX, "unique")],
            Some(Part::Offsets) => &[(ORDERED, "sorted")],
            Some(Part::Metadata) => &[(CHECKSUMS, "checksums"), (ATTRIBUTES, "attributes")],
            _ => &[],
        };
        let all = [(COMPRESSED, "compressed"), (FLAT, "flat")];
        let set = all.iter().chain(own).filter(|(flag, _)| self.flags & flag != 0);
        let mut names: Vec<&str> = set.map(|&(_, name)| name).collect();
        names.dedup();
        names
    }

    /// Its contents, decompressed.
    pub(super) fn contents<'a>(&self, file: &'a [u8]) -> Result<Cow<'a, [u8]>, Finding> {
        let bytes = &file[self.offset as usize..(self.offset + self.size) as usize];
        if self.flags & COMPRESSED == 0 || bytes.is_empty() {
            return Ok(Cow::Borrowed(bytes));
        }
        let part = self.part.unwrap_or(Part::Table);
        let mut words = Words::new(bytes, self.offset, part);
        let (size, compressed) = (words.number()?, words.count(1)?);
        let most = (compressed as u64).saturating_mul(MOST_GROWTH).saturating_add(MOST_AT_ONCE);
        if size > most {
            return words.fail(Defect::LargeSection { most, found: size });
        }
        let bytes = words.take(compressed)?;
        match decompress_to_vec_zlib_with_limit(bytes, size as usize) {
            Ok(contents) if contents.len() as u64 == size => Ok(Cow::Owned(contents)),
            _ => Err(Finding { offset: self.offset, defect: Defect::Compression(part) }),
        }
    }

    /// A reader of this section's contents.
    #[expect(
        clippy::ptr_arg,
        reason = "borrowed contents have offsets in the file, decompressed ones do not"
    )]
    pub(super) fn words<'c>(&self, contents: &'c Cow<'_, [u8]>) -> Words<'c> {
        let part = self.part.unwrap_or(Part::Table);
        match contents {
            Cow::Borrowed(bytes) => Words::new(bytes, self.offset, part),
            Cow::Owned(bytes) => Words::unplaced(bytes, self.offset, part),
        }
    }
}
