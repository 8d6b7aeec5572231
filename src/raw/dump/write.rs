//! From a [`Dump`] to the bytes of a file.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::convert::Infallible;

use zerocopy::IntoBytes;

use super::{Dump, FunctionView, Module, Object, Values};
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::Rule;
use crate::raw::layout::{MAX_SECTION, Machine, SectionKind, SumsRecord, Word};
use crate::raw::llvm;
use crate::raw::llvm::kind::EXECUTIONS;
use crate::raw::llvm::plain;
use crate::raw::merge::SITE_LIMIT;
use crate::raw::object::ObjectRecord;
use crate::raw::site::{LISTED_SITE, SiteHead};
use crate::raw::writer::{Sink, Writer};

impl Sink for Vec<u8> {
    type Error = Infallible;

    fn write(&mut self, bytes: &[u8]) -> Result<(), Infallible> {
        self.extend_from_slice(bytes);
        Ok(())
    }
}

impl Dump {
    /// The dump as a file, as a runtime would have written it; sections may end elsewhere.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = Vec::with_capacity(self.modules.iter().map(Module::most_bytes).sum());
        let Ok(bytes) = self.write_to(bytes);
        bytes
    }

    /// Writes these bytes section by section and gives the sink back.
    pub fn write_to<S: Sink>(&self, sink: S) -> Result<S, S::Error> {
        let mut buffer = Box::new([0; MAX_SECTION]);
        let machine = self.modules.first().map_or(Machine::NATIVE, |module| module.machine);
        let mut writer = Writer::new(sink, &mut buffer).of_machine(machine);
        self.modules.iter().try_for_each(|module| module.write(&mut writer))?;
        writer.finish_with(self.last_live)
    }
}

impl Module {
    /// About the length of the file, rather more than less.
    fn most_bytes(&self) -> usize {
        let paths = self.objects.iter().map(|object| object.path.len() + size_of::<ObjectRecord>());
        let heads =
            self.functions.len() * size_of::<llvm::FunctionRecord>() + self.numbers.len() * 8;
        let sites = self.sites.len() * 24 + size_of_val(&self.pairs[..]);
        let payload = paths.sum::<usize>() + heads + size_of_val(&self.counters[..]) + sites;
        payload + payload / 1024 + MAX_SECTION
    }

    fn write<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        let mut record = self.record;
        record.path_length = self.path.len() as u32;
        let paths: usize = self.objects.iter().map(|object| object.path.len()).sum();
        record.strings_length = (self.path.len() + paths) as u32;
        writer.put_record(SectionKind::Module, &record)?;
        self.write_strings(writer)?;
        self.write_objects(writer)?;
        self.write_functions(writer)?;
        let (counters, sites) = (self.counters.len() as u64, self.sites.len() as u64);
        writer.put_record(SectionKind::Sums, &SumsRecord { sums: self.sums, counters, sites })
    }

    fn write_strings<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        writer.put(SectionKind::Strings, &self.path)?;
        self.objects.iter().try_for_each(|object| writer.put(SectionKind::Strings, &object.path))
    }

    fn write_objects<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        let mut path_offset = self.path.len() as u32;
        for object in &self.objects {
            let record = object.record(path_offset);
            writer.put_record(SectionKind::Objects, &record)?;
            path_offset += record.path_length;
        }
        Ok(())
    }

    fn write_functions<S: Sink>(&self, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
        for object in &self.objects {
            let mut functions = self.functions(object);
            while let Some(view) = functions.clone().next() {
                let row = row(functions.clone());
                match row.len() {
                    0 => write_function(view, object.version, writer)?,
                    _ => write_row(&row, writer)?,
                }
                functions.nth(row.len().saturating_sub(1));
            }
        }
        Ok(())
    }
}

impl Object {
    /// The record of the object, whose path stands at this offset.
    pub(super) fn record(&self, path_offset: u32) -> ObjectRecord {
        ObjectRecord {
            version: self.version.0,
            stamp: self.stamp,
            checksum: self.checksum,
            functions: self.functions.len() as u32,
            rules: self.rules.0,
            path_offset,
            path_length: self.path.len() as u32,
        }
    }
}

/// A function of a row, with its head there.
type InRow<'d> = ([Word; plain::HEAD], FunctionView<'d>);

/// The row that functions begin with, empty if they begin with none.
fn row<'d>(functions: impl Iterator<Item = FunctionView<'d>>) -> Vec<InRow<'d>> {
    let plain = functions.map_while(|view| Some((view.plain_head()?, view)));
    plain.take(plain::MOST_FUNCTIONS).collect()
}

fn write_function<S: Sink>(
    view: FunctionView<'_>,
    version: Version,
    writer: &mut Writer<'_, S>,
) -> Result<(), S::Error> {
    let mut head = Head::default();
    let used = view.put_head(version, &mut head);
    writer.put(SectionKind::Functions, head[..used].as_bytes())?;
    view.kinds().try_for_each(|(_, values)| write_values(values, writer))
}

/// Writes a row of functions, with their heads.
fn write_row<S: Sink>(row: &[InRow<'_>], writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    let kind = SectionKind::Functions;
    let room = writer.room(kind, plain::HEADS)?;
    let first = (row.len() as u64).to_ne_bytes();
    let heads = row.iter().flat_map(|(head, _)| *head);
    room.iter_mut().zip([first].into_iter().chain(heads)).for_each(|(free, word)| *free = word);
    writer.fill(1 + row.len() * plain::HEAD);
    let counters = row.iter().flat_map(|(_, view)| view.counters(EXECUTIONS));
    let counters: Vec<Word> = counters.map(|counter| counter.to_ne_bytes()).collect();
    for chunk in counters.chunks(plain::CHUNK) {
        let used = plain::pack(chunk, plain::bits(chunk), writer.room(kind, plain::LONGEST_CHUNK)?);
        writer.fill(used);
    }
    Ok(())
}

impl FunctionView<'_> {
    /// The head of a function in a row; `None` if it has other counters than of executions.
    fn plain_head(&self) -> Option<[Word; plain::HEAD]> {
        let record = self.llvm.filter(|record| record.flags == EXECUTIONS.bit())?;
        plain::head(record, self.counters(EXECUTIONS).len())
    }

    pub(super) fn put_head(&self, version: Version, room: &mut Head) -> usize {
        let site = if version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE };
        let record =
            self.llvm.map_or(FunctionRecord::WORDS, |_| llvm::FunctionRecord::BEFORE_NUMBERS);
        let mut numbers = NumbersWriter::behind(record);
        for (kind, rule, count) in self.function.kinds(&self.module.numbers) {
            let number = if rule == Rule::TopN { count * site } else { count };
            numbers.add(kind, number as u32, room);
        }
        match self.llvm {
            Some(record) => record.finish(numbers, room),
            None => self.function.record.finish(numbers, room),
        }
    }
}

fn write_values<S: Sink>(values: Values<'_>, writer: &mut Writer<'_, S>) -> Result<(), S::Error> {
    let kind = SectionKind::Functions;
    let sites = match values {
        Values::Counters(counters) => return writer.put(kind, counters.as_bytes()),
        Values::Sites(sites) => sites,
    };
    for site in sites {
        let head = SiteHead::of(site.pairs, site.error);
        writer.put(kind, [site.total, head.to_word()].as_bytes())?;
        if head.has_error {
            writer.put_word(kind, site.error)?;
        }
        let mut words = heapless::Vec::<i64, { 2 * SITE_LIMIT }>::new();
        site.pairs.iter().for_each(|&pair| head.put(pair, |word| _ = words.push(word)));
        writer.put(kind, words.as_bytes())?;
    }
    Ok(())
}
