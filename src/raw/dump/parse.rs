//! From the bytes of a file to a [`Dump`].

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use zerocopy::FromBytes;

use super::{Dump, Function, Module, Object, SiteSpan};
use crate::raw::gcov::record::{FIXED_SITE, LISTED_SITE, SiteHead};
use crate::raw::gcov::{FunctionRecord, Kind, ObjectRecord, Rule, Rules, Version};
use crate::raw::layout::{
    ABI_GCOV, BUILD_ID_CAPACITY, MAX_SECTION, ModuleRecord, SectionKind, Signature, SumsRecord,
};
use crate::raw::merge::Pair;
use crate::raw::reader::{Contradiction, Damage, Defect, Failure, Reader};

impl Dump {
    /// Reads a dump, the first defect of which is an error.
    pub fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        let mut buffer = boxed_buffer();
        let mut reader = Reader::new(bytes, &mut buffer);
        dump(&mut reader, bytes.len()).map_err(|_| reader.damage())
    }
}

fn dump(
    reader: &mut Reader<'_, &[u8]>,
    length: usize,
) -> Result<Dump, Failure<core::convert::Infallible>> {
    reader.start()?;
    let mut modules = Vec::new();
    let mut open: Option<Streams> = None;
    loop {
        let section = reader.next_section()?;
        match (section.kind, open.take()) {
            (SectionKind::Module, None) => {
                let left = length.saturating_sub(section.offset as usize);
                open = Some(Streams::new(section.offset, reader.module()?, left));
            }
            (SectionKind::End, None) => {
                let last_live = reader.end(modules.len() as u64)?;
                return Ok(Dump { modules, last_live });
            }
            (SectionKind::Sums, Some(streams)) => {
                let (offset, sums) = (streams.offset, reader.sums()?);
                match streams.decode(&sums) {
                    Ok(module) => modules.push(module),
                    Err(what) => return reader.fail(offset, Defect::Record(what)),
                }
            }
            (SectionKind::Module | SectionKind::End, Some(_)) => {
                return reader.unexpected(Some(SectionKind::Sums));
            }
            (kind, Some(mut streams)) if kind as u32 >= streams.last as u32 => {
                streams.add(kind, reader.payload());
                open = Some(streams);
            }
            _ => return reader.unexpected(None),
        }
    }
}

fn boxed_buffer() -> Box<[u8; MAX_SECTION]> {
    let buffer = vec![0; MAX_SECTION].into_boxed_slice();
    buffer.try_into().unwrap_or_else(|_| Box::new([0; MAX_SECTION]))
}

/// The sections of a module, joined by kind.
struct Streams {
    offset: u64,
    record: ModuleRecord,
    last: SectionKind,
    strings: Vec<u8>,
    objects: Vec<u8>,
    functions: Vec<i64>,
}

impl Streams {
    /// Streams that are no longer than what is left of the file.
    fn new(offset: u64, record: ModuleRecord, left: usize) -> Self {
        Self {
            offset,
            record,
            last: SectionKind::Module,
            strings: Vec::new(),
            objects: Vec::new(),
            functions: Vec::with_capacity(left / size_of::<i64>()),
        }
    }

    fn add(&mut self, kind: SectionKind, payload: &[u8]) {
        self.last = kind;
        match kind {
            SectionKind::Strings => self.strings.extend_from_slice(payload),
            SectionKind::Objects => self.objects.extend_from_slice(payload),
            SectionKind::Functions => extend_words(&mut self.functions, payload),
            SectionKind::Module | SectionKind::Sums | SectionKind::End => {}
        }
    }

    fn decode(mut self, found: &SumsRecord) -> Result<Module, Contradiction> {
        let record = self.record;
        if record.identity.abi != ABI_GCOV {
            return Err(Contradiction::Abi);
        }
        if record.identity.build_id_length as usize > BUILD_ID_CAPACITY {
            return Err(Contradiction::BuildId);
        }
        let strings = record.strings_length as usize;
        if strings.next_multiple_of(8) != self.strings.len() {
            return Err(Contradiction::Strings);
        }
        self.strings.truncate(strings);
        let path = self.string(0, record.path_length)?;
        let mut walk = Walk::new(&self);
        let objects = walk.objects()?;
        let Walk { functions, words, numbers, counters, sites, pairs, signature, .. } = walk;
        if functions.len() != record.identity.functions as usize || !words.is_empty() {
            return Err(Contradiction::Functions);
        }
        if counters.len() as u64 != found.counters {
            return Err(Contradiction::Counters);
        }
        if sites.len() as u64 != found.sites {
            return Err(Contradiction::Sites);
        }
        if signature.value() != record.identity.signature {
            return Err(Contradiction::Signature);
        }
        let sums = found.sums;
        Ok(Module { record, sums, path, objects, functions, numbers, counters, sites, pairs })
    }

    fn string(&self, offset: u32, length: u32) -> Result<Vec<u8>, Contradiction> {
        let start = offset as usize;
        let bytes = self.strings.get(start..start.saturating_add(length as usize));
        bytes.map(<[u8]>::to_vec).ok_or(Contradiction::Path)
    }
}

/// Takes the functions of object after object from the streams.
struct Walk<'s> {
    streams: &'s Streams,
    /// What is left of FUNCTIONS.
    words: &'s [i64],
    functions: Vec<Function>,
    numbers: Vec<u32>,
    counters: Vec<i64>,
    sites: Vec<SiteSpan>,
    pairs: Vec<Pair>,
    /// Bytes taken of STRINGS.
    strings: u32,
    signature: Signature,
}

impl<'s> Walk<'s> {
    fn new(streams: &'s Streams) -> Self {
        let words = &streams.functions[..];
        // As many as there are, or as there can be: the record is not to be trusted yet.
        let functions = size_of_val(words) / size_of::<FunctionRecord>();
        let functions = functions.min(streams.record.identity.functions as usize);
        Self {
            streams,
            words,
            functions: Vec::with_capacity(functions),
            numbers: Vec::with_capacity(words.len() - functions),
            counters: Vec::with_capacity(words.len() - functions),
            sites: Vec::new(),
            pairs: Vec::new(),
            strings: streams.record.path_length,
            signature: Signature::of(&streams.record.identity),
        }
    }

    fn objects(&mut self) -> Result<Vec<Object>, Contradiction> {
        let records = self.streams.objects.chunks(size_of::<ObjectRecord>());
        if records.len() != self.streams.record.identity.objects as usize {
            return Err(Contradiction::Objects);
        }
        records.map(|bytes| self.object(bytes)).collect()
    }

    fn object(&mut self, bytes: &[u8]) -> Result<Object, Contradiction> {
        let record = ObjectRecord::read_from_bytes(bytes).map_err(|_| Contradiction::Objects)?;
        let rules = Rules(record.rules);
        if !rules.is_valid() {
            return Err(Contradiction::Rule);
        }
        // One behind the other, so that all paths together are no longer than STRINGS.
        if record.path_offset != self.strings {
            return Err(Contradiction::Path);
        }
        let path = self.streams.string(record.path_offset, record.path_length)?;
        self.strings = self.strings.wrapping_add(record.path_length);
        self.signature.object(&record, &path);
        let version = Version(record.version);
        let functions = self.functions(record.functions, version, rules)?;
        Ok(Object {
            path,
            version,
            stamp: record.stamp,
            checksum: record.checksum,
            rules,
            functions,
        })
    }

    fn functions(
        &mut self,
        number: u32,
        version: Version,
        rules: Rules,
    ) -> Result<Range<usize>, Contradiction> {
        let first = self.functions.len();
        for _ in 0..number {
            let function = self.function(version, rules)?;
            self.functions.push(function);
        }
        Ok(first..self.functions.len())
    }

    fn function(&mut self, version: Version, rules: Rules) -> Result<Function, Contradiction> {
        let head = self.words;
        let (record, kinds) = self.record(rules)?;
        let numbers =
            self.take(kinds.clone().count().div_ceil(2)).ok_or(Contradiction::Functions)?;
        if self.streams.record.identity.build_id().is_empty() {
            let head = head.iter().take(2 + numbers.len());
            head.for_each(|&word| self.signature.word(word as u64));
        }
        let function = Function {
            record,
            rules,
            numbers: self.numbers.len(),
            counters: self.counters.len(),
            sites: self.sites.len(),
        };
        let halves = |&word: &i64| -> [u32; 2] { zerocopy::transmute!(word) };
        let mut numbers = numbers.iter().flat_map(halves);
        for (_, rule) in kinds {
            let number = numbers.next().filter(|&number| number > 0).ok_or(Contradiction::Head)?;
            let number = self.values(version, rule, number)?;
            self.numbers.push(number);
        }
        // The padding.
        if numbers.any(|number| number > 0) {
            return Err(Contradiction::Head);
        }
        Ok(function)
    }

    /// The fixed part of a head, and the kinds of counters that follow.
    fn record(
        &mut self,
        rules: Rules,
    ) -> Result<(FunctionRecord, impl Iterator<Item = (Kind, Rule)> + Clone + use<>), Contradiction>
    {
        let words = self.take(2).and_then(|words| words.first_chunk::<2>());
        let record: FunctionRecord =
            words.map(|&words| zerocopy::transmute!(words)).ok_or(Contradiction::Functions)?;
        let kinds = rules.iter().filter(move |(kind, _)| record.flags & kind.bit() != 0);
        let known = kinds.clone().fold(FunctionRecord::ABSENT, |bits, (kind, _)| bits | kind.bit());
        let absent = record.flags & FunctionRecord::ABSENT != 0;
        if record.flags & !known != 0 || absent && record.flags != FunctionRecord::ABSENT {
            return Err(Contradiction::Head);
        }
        Ok((record, kinds))
    }

    fn take(&mut self, number: usize) -> Option<&'s [i64]> {
        let (taken, rest) = self.words.split_at_checked(number)?;
        self.words = rest;
        Some(taken)
    }

    /// Takes the counts of one kind; gives the number of counters or sites.
    fn values(&mut self, version: Version, rule: Rule, number: u32) -> Result<u32, Contradiction> {
        if rule != Rule::TopN {
            let counters = self.take(number as usize).ok_or(Contradiction::Functions)?;
            self.counters.extend_from_slice(counters);
            return Ok(number);
        }
        let stride = if version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE } as u32;
        if !number.is_multiple_of(stride) {
            return Err(Contradiction::SiteCounters);
        }
        for _ in 0..number / stride {
            self.site()?;
        }
        Ok(number / stride)
    }

    fn site(&mut self) -> Result<(), Contradiction> {
        let mut words = |number| self.take(number).ok_or(Contradiction::Functions);
        let &[total, head] = words(2)? else { return Err(Contradiction::Functions) };
        let SiteHead { pairs, has_error } =
            SiteHead::from_word(head).ok_or(Contradiction::Values)?;
        let error = words(usize::from(has_error))?.first().copied().unwrap_or(0);
        let words = words(2 * pairs)?.as_chunks().0;
        let first = self.pairs.len();
        self.pairs.extend(words.iter().map(|&[value, count]| Pair { value, count }));
        self.sites.push(SiteSpan { total, error, pairs: first..self.pairs.len() });
        Ok(())
    }
}

fn extend_words(words: &mut Vec<i64>, payload: &[u8]) {
    let (chunks, _) = payload.as_chunks::<8>();
    words.extend(chunks.iter().map(|&chunk| i64::from_ne_bytes(chunk)));
}
