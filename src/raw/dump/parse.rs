//! From the bytes of a file to a [`Dump`].

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use zerocopy::FromBytes;

use super::{Dump, Function, Module, Object, SiteSpan};
use crate::raw::gcov::record::{FIXED_SITE, LISTED_SITE, SiteHead};
use crate::raw::gcov::{FunctionRecord, ObjectRecord, Rule, Rules, Version};
use crate::raw::layout::{
    ABI_GCOV, BUILD_ID_CAPACITY, MAX_SECTION, ModuleRecord, SectionKind, Signature,
};
use crate::raw::merge::Pair;
use crate::raw::reader::{Contradiction, Damage, Defect, Failure, Reader};

impl Dump {
    /// Reads a dump, the first defect of which is an error.
    pub fn parse(bytes: &[u8]) -> Result<Self, Damage> {
        let mut buffer = boxed_buffer();
        let mut reader = Reader::new(bytes, &mut buffer);
        dump(&mut reader).map_err(|_| reader.damage())
    }
}

fn dump(reader: &mut Reader<'_, &[u8]>) -> Result<Dump, Failure<core::convert::Infallible>> {
    reader.start()?;
    let mut modules = Vec::new();
    let mut open: Option<Streams> = None;
    loop {
        let section = reader.next_section()?;
        match (section.kind, &mut open) {
            (SectionKind::Module | SectionKind::End, open) => {
                if let Some(streams) = open.take() {
                    let offset = streams.offset;
                    match streams.decode() {
                        Ok(module) => modules.push(module),
                        Err(what) => return reader.fail(offset, Defect::Record(what)),
                    }
                }
                if section.kind == SectionKind::End {
                    let last_live = reader.end(modules.len() as u64)?;
                    return Ok(Dump { modules, last_live });
                }
                *open = Some(Streams::new(section.offset, reader.module()?));
            }
            (kind, Some(streams)) if kind as u32 >= streams.last as u32 => {
                streams.add(kind, reader.payload());
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
    functions: Vec<u8>,
    counters: Vec<i64>,
    topn: Vec<i64>,
}

impl Streams {
    fn new(offset: u64, record: ModuleRecord) -> Self {
        Self {
            offset,
            record,
            last: SectionKind::Module,
            strings: Vec::new(),
            objects: Vec::new(),
            functions: Vec::new(),
            counters: Vec::new(),
            topn: Vec::new(),
        }
    }

    fn add(&mut self, kind: SectionKind, payload: &[u8]) {
        self.last = kind;
        match kind {
            SectionKind::Strings => self.strings.extend_from_slice(payload),
            SectionKind::Objects => self.objects.extend_from_slice(payload),
            SectionKind::Functions => self.functions.extend_from_slice(payload),
            SectionKind::Counters => extend_words(&mut self.counters, payload),
            SectionKind::TopN => extend_words(&mut self.topn, payload),
            SectionKind::Module | SectionKind::End => {}
        }
    }

    fn decode(mut self) -> Result<Module, Contradiction> {
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
        let Walk { functions, at, counters, topn, sites, pairs, signature, .. } = walk;
        if functions.len() != record.identity.functions as usize || at != self.functions.len() {
            return Err(Contradiction::Functions);
        }
        if counters != self.counters.len() || counters as u64 != record.identity.counters {
            return Err(Contradiction::Counters);
        }
        if topn != self.topn.len() || sites.len() as u64 != record.identity.sites {
            return Err(Contradiction::Sites);
        }
        if signature.value() != record.identity.signature {
            return Err(Contradiction::Signature);
        }
        let Self { counters, .. } = self;
        Ok(Module { record, path, objects, functions, counters, sites, pairs })
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
    functions: Vec<Function>,
    sites: Vec<SiteSpan>,
    pairs: Vec<Pair>,
    /// Bytes taken of FUNCTIONS, words taken of COUNTERS and TOPN.
    at: usize,
    counters: usize,
    topn: usize,
    /// Bytes taken of STRINGS.
    strings: u32,
    signature: Signature,
}

impl<'s> Walk<'s> {
    fn new(streams: &'s Streams) -> Self {
        // As many as there are, or as there can be: the record is not to be trusted yet.
        let identity = streams.record.identity;
        let functions = streams.functions.len() / size_of::<FunctionRecord>();
        let functions = Vec::with_capacity(functions.min(identity.functions as usize));
        let sites = usize::try_from(identity.sites).unwrap_or(usize::MAX);
        let sites = Vec::with_capacity((streams.topn.len() / 2).min(sites));
        let pairs = Vec::new();
        let strings = streams.record.path_length;
        let signature = Signature::new();
        Self { streams, functions, sites, pairs, at: 0, counters: 0, topn: 0, strings, signature }
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
        let end = self.at.saturating_add(FunctionRecord::size_with(rules.count()));
        let bytes = self.streams.functions.get(self.at..end);
        let bytes = bytes.ok_or(Contradiction::Functions)?;
        self.at = end;
        let (record, numbers) =
            FunctionRecord::read_from_prefix(bytes).map_err(|_| Contradiction::Functions)?;
        self.signature.function(&record);
        let mut function = Function {
            ident: record.ident,
            lineno_checksum: record.lineno_checksum,
            cfg_checksum: record.cfg_checksum,
            absent: record.flags & FunctionRecord::ABSENT != 0,
            rules,
            counts: [0; Rules::SLOTS],
            counters: self.counters,
            sites: self.sites.len(),
        };
        let (numbers, _) = numbers.as_chunks::<4>();
        for ((kind, rule), &number) in rules.iter().zip(numbers) {
            let number = u32::from_ne_bytes(number);
            self.signature.counters(number);
            function.counts[usize::from(kind.0)] = self.values(version, rule, number)?;
        }
        Ok(function)
    }

    /// Takes the words of one kind; gives the number of counters or sites.
    fn values(&mut self, version: Version, rule: Rule, number: u32) -> Result<u32, Contradiction> {
        if rule != Rule::TopN {
            self.counters = self.counters.saturating_add(number as usize);
            if self.counters > self.streams.counters.len() {
                return Err(Contradiction::Counters);
            }
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
        let rest = self.streams.topn.get(self.topn..).unwrap_or_default();
        let (&[total, head], rest) = rest.split_first_chunk().ok_or(Contradiction::Sites)?;
        let SiteHead { pairs, has_error } =
            SiteHead::from_word(head).ok_or(Contradiction::Values)?;
        let split = rest.split_at_checked(usize::from(has_error));
        let (error, rest) = split.ok_or(Contradiction::Sites)?;
        let words = rest.get(..2 * pairs).ok_or(Contradiction::Sites)?;
        let first = self.pairs.len();
        let (words, _) = words.as_chunks();
        self.pairs.extend(words.iter().map(|&[value, count]| Pair { value, count }));
        let error = error.first().copied().unwrap_or(0);
        self.sites.push(SiteSpan { total, error, pairs: first..self.pairs.len() });
        self.topn += 2 + usize::from(has_error) + 2 * pairs;
        Ok(())
    }
}

fn extend_words(words: &mut Vec<i64>, payload: &[u8]) {
    let (chunks, _) = payload.as_chunks::<8>();
    words.extend(chunks.iter().map(|&chunk| i64::from_ne_bytes(chunk)));
}
