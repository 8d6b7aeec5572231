//! From the bytes of a file to a [`Dump`].
//!
//! Goes through the file once, section by section, and keeps only the dump.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use zerocopy::FromBytes;

use super::{Dump, Function, LeftOut, Module, Object, SiteSpan};
use crate::raw::checksum::crc32;
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::{Rule, Rules};
use crate::raw::layout::{
    ABI_LLVM, MAX_SECTION, Machine, ModuleRecord, SectionKind, Signature, SumsRecord, Word,
};
use crate::raw::llvm;
use crate::raw::llvm::kind::EXECUTIONS;
use crate::raw::llvm::plain::{self, Width};
use crate::raw::merge::Pair;
use crate::raw::object::ObjectRecord;
use crate::raw::reader::{
    Contradiction, Damage, Defect, Failure, Reader, Section, Source, record_is_possible,
};
use crate::raw::site::{LISTED_SITE, SiteHead};

/// Why a dump could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable<E> {
    /// The source failed.
    System(E),
    /// The bytes are wrong.
    Damaged(Damage),
}

impl<E: fmt::Display> fmt::Display for Unreadable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(error) => error.fmt(f),
            Self::Damaged(damage) => damage.fmt(f),
        }
    }
}

impl Dump {
    /// Reads a dump. The first defect is an error, but a module that contradicts itself is [left out](Self::left_out)
    /// if there are others.
    pub fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        Self::read(bytes, bytes.len() as u64).map_err(|Unreadable::Damaged(damage)| damage)
    }

    /// Reads a dump of about this length, as [`Dump::parse`] does.
    pub fn read<R: Source>(source: R, length: u64) -> Result<Self, Unreadable<R::Error>> {
        let mut buffer = boxed_buffer();
        let mut reader = Reader::new(source, &mut buffer);
        dump(&mut reader, length).map_err(|failure| match failure {
            Failure::System(error) => Unreadable::System(error),
            Failure::Damaged => Unreadable::Damaged(reader.damage()),
        })
    }
}

fn dump<R: Source>(reader: &mut Reader<'_, R>, length: u64) -> Result<Dump, Failure<R::Error>> {
    let (machine, version) = reader.start_of_any()?;
    let (mut modules, mut left_out) = (Vec::new(), Vec::new());
    let mut section = reader.next_section()?;
    loop {
        let offset = section.offset;
        match section.kind {
            SectionKind::Module => {
                let left = length.saturating_sub(offset) as usize;
                let mut path = Vec::new();
                let streams = Streams { reader, version, offset, at: section.kind };
                match streams.module(left, &mut path) {
                    Ok(module) => {
                        modules.push(Module { machine, path, ..module });
                        section = reader.next_section()?;
                    }
                    Err(Failure::Damaged) if reader.damage().defect.is_of_content() => {
                        left_out.push(LeftOut { offset, damage: reader.damage(), path });
                        section = skip(reader, offset)?;
                    }
                    Err(failure) => return Err(failure),
                }
            }
            SectionKind::End => {
                let last_live = reader.end((modules.len() + left_out.len()) as u64)?;
                if let ([], [LeftOut { damage, .. }, ..]) = (&modules[..], &left_out[..]) {
                    return reader.fail(damage.offset, damage.defect);
                }
                return Ok(Dump { modules, last_live, left_out, files_left_out: 0 });
            }
            _ => return reader.unexpected(None),
        }
    }
}

/// Goes behind the module that stands at this offset.
fn skip<R: Source>(reader: &mut Reader<'_, R>, module: u64) -> Result<Section, Failure<R::Error>> {
    let is_behind = |section: &Section| {
        section.offset > module && matches!(section.kind, SectionKind::Module | SectionKind::End)
    };
    loop {
        match reader.section().filter(is_behind) {
            Some(section) => return Ok(section),
            None => reader.next_section()?,
        };
    }
}

fn boxed_buffer() -> Box<[u8; MAX_SECTION]> {
    let buffer = vec![0; MAX_SECTION].into_boxed_slice();
    buffer.try_into().unwrap_or_else(|_| Box::new([0; MAX_SECTION]))
}

/// The sections that follow a MODULE section. Those of one kind form one stream.
struct Streams<'r, 'b, R> {
    reader: &'r mut Reader<'b, R>,
    /// The file's format version.
    version: u16,
    /// Where the MODULE section stands. Defects in the module's records are reported there.
    offset: u64,
    /// Kind of the section that the reader has.
    at: SectionKind,
}

impl<R: Source> Streams<'_, '_, R> {
    /// Reads a module, with at most `left` bytes of the file to come. The path comes first, as a name for messages.
    fn module(mut self, left: usize, path: &mut Vec<u8>) -> Result<Module, Failure<R::Error>> {
        let record = self.reader.module()?;
        self.next()?;
        let strings = self.bytes(SectionKind::Strings)?;
        let taken = strings.len();
        let objects = self.bytes(SectionKind::Objects)?;
        let length = record.strings_length as usize;
        let strings = strings.get(..length).unwrap_or(&strings);
        path.extend(string(strings, 0, record.path_length).unwrap_or_default());
        if let Err(what) = record_is_possible(&record, taken, objects.len()) {
            return self.wrong(what);
        }
        let mut walk = Walk::new(self, record, strings, left);
        let objects = walk.objects(&objects)?;
        walk.finish(objects)
    }

    /// Goes to the next section.
    fn next(&mut self) -> Result<(), Failure<R::Error>> {
        let before = self.at;
        self.at = self.reader.next_section()?.kind;
        match self.at {
            SectionKind::Module | SectionKind::End => {
                self.reader.unexpected(Some(SectionKind::Sums))
            }
            kind if (kind as u32) < before as u32 => self.reader.unexpected(None),
            _ => Ok(()),
        }
    }

    /// A stream of bytes, empty if there is none.
    fn bytes(&mut self, kind: SectionKind) -> Result<Vec<u8>, Failure<R::Error>> {
        let mut bytes = Vec::new();
        while self.at == kind {
            bytes.extend_from_slice(self.reader.payload());
            self.next()?;
        }
        Ok(bytes)
    }

    /// The next words of FUNCTIONS: at least one, and no more than `most`.
    fn words(&mut self, most: usize) -> Result<&[Word], Failure<R::Error>> {
        while self.at != SectionKind::Functions || !self.reader.has_untaken_words() {
            if self.at == SectionKind::Sums {
                return self.wrong(Contradiction::Functions);
            }
            self.next()?;
        }
        self.reader.words(SectionKind::Functions, most)
    }

    /// The next `number` words of FUNCTIONS. They must stand in one section.
    fn together(&mut self, number: usize) -> Result<&[Word], Failure<R::Error>> {
        self.words(0)?;
        self.reader.words_together(SectionKind::Functions, number)
    }

    #[inline(always)]
    fn word(&mut self) -> Result<i64, Failure<R::Error>> {
        if self.at == SectionKind::Functions && self.reader.has_untaken_words() {
            return self.reader.word(SectionKind::Functions);
        }
        Ok(self.words(1)?.first().map_or(0, |&word| i64::from_ne_bytes(word)))
    }

    /// Takes this many words of FUNCTIONS.
    fn take(
        &mut self,
        mut number: usize,
        mut take: impl FnMut(&[Word]),
    ) -> Result<(), Failure<R::Error>> {
        while number > 0 {
            let words = self.words(number)?;
            number -= words.len();
            take(words);
        }
        Ok(())
    }

    /// Goes behind FUNCTIONS, which must have no words left; gives SUMS.
    fn sums(&mut self) -> Result<SumsRecord, Failure<R::Error>> {
        while self.at != SectionKind::Sums {
            if self.at == SectionKind::Functions && self.reader.has_untaken_words() {
                return self.wrong(Contradiction::Functions);
            }
            self.next()?;
        }
        self.reader.sums()
    }

    fn wrong<T>(&mut self, what: Contradiction) -> Result<T, Failure<R::Error>> {
        self.reader.fail(self.offset, Defect::Record(what))
    }
}

fn string(strings: &[u8], offset: u32, length: u32) -> Option<Vec<u8>> {
    let start = offset as usize;
    strings.get(start..start.saturating_add(length as usize)).map(<[u8]>::to_vec)
}

/// The first format version whose signatures cover nothing but identity.
const IDENTITY_ALONE: u16 = 4;

/// Most memory, in bytes, to reserve for a file before it is read.
const MOST_RESERVED: usize = 1 << 26;

/// The numbers of counters in a function's head, with the padding.
type Numbers = heapless::Vec<u32, { Rules::SLOTS }>;

/// Takes the functions of one object after the other from the streams.
struct Walk<'r, 'b, 's, R> {
    streams: Streams<'r, 'b, R>,
    record: ModuleRecord,
    strings: &'s [u8],
    /// Bytes taken of STRINGS.
    taken: u32,
    functions: Vec<Function>,
    llvm: Vec<llvm::FunctionRecord>,
    numbers: Vec<u32>,
    counters: Vec<i64>,
    sites: Vec<SiteSpan>,
    pairs: Vec<Pair>,
    /// By the rule of the file's version.
    signature: Signature,
    /// By that of this release's.
    current: Signature,
}

impl<'r, 'b, 's, R: Source> Walk<'r, 'b, 's, R> {
    fn new(
        streams: Streams<'r, 'b, R>,
        record: ModuleRecord,
        strings: &'s [u8],
        left: usize,
    ) -> Self {
        // Reserves for as many as there are, or as can be: neither the record nor the length can be trusted
        // yet.
        let left = left.min(MOST_RESERVED);
        let functions = left / size_of::<FunctionRecord>();
        let functions = functions.min(record.identity.functions as usize);
        let words = left / size_of::<Word>() - 2 * functions;
        Self {
            streams,
            record,
            strings,
            taken: record.path_length,
            functions: Vec::with_capacity(functions),
            llvm: Vec::new(),
            numbers: Vec::new(),
            counters: Vec::with_capacity(words),
            sites: Vec::new(),
            pairs: Vec::new(),
            signature: Signature::of(&record.identity),
            current: Signature::of(&record.identity),
        }
    }

    fn objects(&mut self, records: &[u8]) -> Result<Vec<Object>, Failure<R::Error>> {
        let records = records.chunks(size_of::<ObjectRecord>());
        if records.len() != self.record.identity.objects as usize {
            return self.wrong(Contradiction::Objects);
        }
        records.map(|bytes| self.object(bytes)).collect()
    }

    fn object(&mut self, bytes: &[u8]) -> Result<Object, Failure<R::Error>> {
        let Ok(record) = ObjectRecord::read_from_bytes(bytes) else {
            return self.wrong(Contradiction::Objects);
        };
        let rules = Rules(record.rules);
        if !rules.is_valid() {
            return self.wrong(Contradiction::Rule);
        }
        // Paths follow each other, so that all together are no longer than STRINGS.
        let path = string(self.strings, record.path_offset, record.path_length);
        let Some(path) = path.filter(|_| record.path_offset == self.taken) else {
            return self.wrong(Contradiction::Path);
        };
        self.taken = self.taken.wrapping_add(record.path_length);
        // Of correlated functions it is that of the code, of records with an unknown layout the number of bytes.
        let has_names = self.is_llvm() && !path.is_empty();
        if has_names && crc32(&path) != record.checksum {
            return self.wrong(Contradiction::Names);
        }
        let signed = if self.is_llvm() { &[][..] } else { &path };
        self.signature.object(&record, signed);
        self.current.object(&record, signed);
        let version = Version(record.version);
        let kinds = rules.bits();
        let first = self.functions.len();
        let mut left = record.functions;
        while left > 0 {
            let has_rows = self.is_llvm() && self.streams.version >= plain::SINCE;
            match if has_rows { self.streams.word()? } else { 0 } {
                0 => {
                    let function = self.function(version, rules, kinds)?;
                    self.functions.push(function);
                    left -= 1;
                }
                row if row as u64 <= plain::MOST_FUNCTIONS as u64 && row as u32 <= left => {
                    self.row(rules, row as usize)?;
                    left -= row as u32;
                }
                _ => return self.wrong(Contradiction::Functions),
            }
        }
        let functions = first..self.functions.len();
        let (stamp, checksum) = (record.stamp, record.checksum);
        Ok(Object { path, version, stamp, checksum, rules, functions })
    }

    /// Takes a function of an object with these kinds of counters.
    fn function(
        &mut self,
        version: Version,
        rules: Rules,
        kinds: u32,
    ) -> Result<Function, Failure<R::Error>> {
        let (record, announced) = self.head(kinds)?;
        let function = Function {
            record,
            rules,
            numbers: self.numbers.len(),
            counters: self.counters.len(),
            sites: self.sites.len(),
        };
        let mut announced = announced.iter().copied();
        for (_, rule) in rules.iter().filter(|(kind, _)| record.flags & kind.bit() != 0) {
            let Some(number) = announced.next().filter(|&number| number > 0) else {
                return self.wrong(Contradiction::Head);
            };
            let number = self.values(version, rule, number)?;
            self.numbers.push(number);
        }
        // The rest is padding.
        if announced.any(|number| number > 0) {
            return self.wrong(Contradiction::Head);
        }
        Ok(function)
    }

    /// Takes a row of functions.
    fn row(&mut self, rules: Rules, functions: usize) -> Result<(), Failure<R::Error>> {
        let words = self.streams.together(functions * plain::HEAD)?;
        let heads: Vec<_> = words.as_chunks().0.iter().map(|&head| plain::record(head)).collect();
        let mut counters = 0;
        for (record, number) in heads {
            if rules.rule(EXECUTIONS) != Some(Rule::Saturate) || number == 0 {
                return self.wrong(Contradiction::Head);
            }
            self.sign_in_row(&record, number);
            let flags = record.flags;
            self.functions.push(Function {
                record: FunctionRecord { ident: 0, lineno_checksum: 0, cfg_checksum: 0, flags },
                rules,
                numbers: self.numbers.len(),
                counters: self.counters.len() + counters,
                sites: self.sites.len(),
            });
            self.llvm(record)?;
            self.numbers.push(number);
            counters += number as usize;
        }
        self.chunks(counters)
    }

    /// Takes the counters of a row.
    fn chunks(&mut self, mut left: usize) -> Result<(), Failure<R::Error>> {
        while left > 0 {
            let Some(width) = Width::from_word(self.streams.word()?) else {
                return self.wrong(Contradiction::Width);
            };
            let number = left.min(plain::CHUNK);
            let mut chunk = [Word::default(); plain::CHUNK];
            let words = self.streams.together(width.words(number))?;
            plain::add(width, words, &mut chunk[..number]);
            self.counters.extend(chunk[..number].iter().map(|&word| i64::from_ne_bytes(word)));
            left -= number;
        }
        Ok(())
    }

    /// Adds the head of a function of a row to the signature, as it stands for any function.
    fn sign_in_row(&mut self, record: &llvm::FunctionRecord, counters: u32) {
        let mut head = Head::default();
        let mut numbers = NumbersWriter::behind(llvm::FunctionRecord::BEFORE_NUMBERS);
        numbers.add(EXECUTIONS, counters, &mut head);
        let used = record.finish(numbers, &mut head);
        for (place, &word) in head[..used].iter().enumerate().skip(1) {
            self.sign(i64::from_ne_bytes(word), place == llvm::FunctionRecord::OFFSET);
        }
    }

    /// Adds a word of a function's head to the signature of a module without build-id.
    fn sign(&mut self, word: i64, is_content: bool) {
        if !self.record.identity.build_id().is_empty() {
            return;
        }
        let has_content = self.streams.version < IDENTITY_ALONE;
        self.signature.word(if is_content && !has_content { 0 } else { word as u64 });
        self.current.word(if is_content { 0 } else { word as u64 });
    }

    fn is_llvm(&self) -> bool {
        self.record.identity.abi == ABI_LLVM
    }

    /// The fixed part of a function's head.
    fn fixed(&mut self) -> Result<FunctionRecord, Failure<R::Error>> {
        let is_llvm = self.is_llvm();
        let mut word = |is_content| {
            let word = self.streams.word()?;
            self.sign(word, is_content);
            Ok(word)
        };
        if !is_llvm {
            return Ok(zerocopy::transmute!([word(false)?, word(false)?]));
        }
        let record: llvm::FunctionRecord =
            zerocopy::transmute!([word(false)?, word(false)?, word(true)?, word(false)?]);
        self.llvm(record)?;
        let flags = record.flags;
        Ok(FunctionRecord { ident: 0, lineno_checksum: 0, cfg_checksum: 0, flags })
    }

    /// Keeps the record of one of LLVM's functions.
    fn llvm(&mut self, mut record: llvm::FunctionRecord) -> Result<(), Failure<R::Error>> {
        if record.offset > u64::from(u32::MAX) {
            if self.streams.version >= IDENTITY_ALONE {
                return self.wrong(Contradiction::Offset);
            }
            // In another image.
            record.offset = 0;
        }
        self.llvm.push(record);
        Ok(())
    }

    /// The head of a function: its fixed part, and the numbers of counters of its kinds.
    fn head(&mut self, known: u32) -> Result<(FunctionRecord, Numbers), Failure<R::Error>> {
        let record = self.fixed()?;
        if record.flags & !known != 0 && record.flags != FunctionRecord::ABSENT {
            return self.wrong(Contradiction::Head);
        }
        let kinds = record.flags & !FunctionRecord::ABSENT;
        let mut numbers = Numbers::new();
        for _ in 0..kinds.count_ones().div_ceil(2) {
            let word = self.streams.word()?;
            self.sign(word, false);
            let halves: [u32; 2] = zerocopy::transmute!(word);
            let _ = numbers.extend_from_slice(&halves);
        }
        Ok((record, numbers))
    }

    /// Takes the counts of one kind; gives the number of counters or sites.
    fn values(
        &mut self,
        version: Version,
        rule: Rule,
        number: u32,
    ) -> Result<u32, Failure<R::Error>> {
        let Self { streams, counters, .. } = self;
        if rule != Rule::TopN {
            streams.take(rule.words(number as usize), |words| {
                counters.extend(words.iter().map(|&word| i64::from_ne_bytes(word)));
            })?;
            return Ok(number);
        }
        let stride = if version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE } as u32;
        if !number.is_multiple_of(stride) {
            return self.wrong(Contradiction::SiteCounters);
        }
        for _ in 0..number / stride {
            self.site()?;
        }
        Ok(number / stride)
    }

    fn site(&mut self) -> Result<(), Failure<R::Error>> {
        let Self { streams, pairs, sites, .. } = self;
        let (total, head) = (streams.word()?, streams.word()?);
        let Some(head) = SiteHead::from_word(head) else {
            return self.wrong(Contradiction::Values);
        };
        let error = if head.has_error { streams.word()? } else { 0 };
        let first = pairs.len();
        let mut reader = head.reader();
        streams.take(head.words(), |words| {
            pairs.extend(words.iter().filter_map(|&word| reader.take(i64::from_ne_bytes(word))));
        })?;
        sites.push(SiteSpan { total, error, pairs: first..pairs.len() });
        Ok(())
    }

    /// Takes SUMS. Everything must agree with it.
    fn finish(mut self, objects: Vec<Object>) -> Result<Module, Failure<R::Error>> {
        let found = self.streams.sums()?;
        if self.functions.len() != self.record.identity.functions as usize {
            return self.wrong(Contradiction::Functions);
        }
        if self.counters.len() as u64 != found.counters {
            return self.wrong(Contradiction::Counters);
        }
        if self.sites.len() as u64 != found.sites {
            return self.wrong(Contradiction::Sites);
        }
        if self.signature.value() != self.record.identity.signature {
            return self.wrong(Contradiction::Signature);
        }
        let current = self.current.value();
        let Self { mut record, functions, llvm, numbers, mut counters, sites, pairs, .. } = self;
        record.identity.signature = current;
        counters.shrink_to_fit();
        let sums = found.sums;
        Ok(Module {
            record,
            machine: Machine::NATIVE,
            sums,
            path: Vec::new(),
            objects,
            functions,
            llvm,
            numbers,
            counters,
            sites,
            pairs,
        })
    }

    fn wrong<T>(&mut self, what: Contradiction) -> Result<T, Failure<R::Error>> {
        self.streams.wrong(what)
    }
}
