//! An image as a module of a raw dump: everything but the counts.

use core::sync::atomic::Ordering;

use zerocopy::FromZeros;

use super::abi::gcov::{AllArrays, Array, Function, Object, Registry, Shift};
use crate::raw::gcov::{Kind, ObjectRecord, Rule};
use crate::raw::layout::{ABI_GCOV, BuildId, ModuleRecord, SectionKind, Signature, Sums};
use crate::raw::writer::{Sink, Writer};

/// An image's objects and its path.
#[derive(Clone, Copy)]
pub struct Objects<'i> {
    /// The objects.
    pub registry: &'i Registry,
    /// Empty if unknown.
    pub path: &'i [u8],
    /// Where their counters are.
    pub shift: Shift,
}

/// An image's objects, with what must be known of them before they can be written.
pub struct LiveModule<'i> {
    /// The objects.
    pub objects: Objects<'i>,
    /// Identity and sizes; what it says of runs and losses is up to the owner.
    pub record: ModuleRecord,
    /// The largest arc counter.
    pub maximum: i64,
}

impl<'i> LiveModule<'i> {
    /// Walks all objects once.
    pub fn survey(objects: Objects<'i>, build_id: &BuildId) -> Self {
        let mut record = ModuleRecord::new_zeroed();
        record.identity.build_id_length = build_id.length.min(build_id.bytes.len()) as u32;
        record.identity.build_id = build_id.bytes;
        let maximum = objects.survey(&mut record);
        Self { objects, record, maximum }
    }

    /// Writes everything but the counts, under the given sums.
    pub fn write_head<S: Sink, const N: usize>(
        &self,
        sums: Sums,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        self.write_names(sums, writer)?;
        self.objects.write_records(&[SectionKind::Functions], writer)
    }

    /// Writes of that what comes before the functions.
    pub fn write_names<S: Sink, const N: usize>(
        &self,
        sums: Sums,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        writer.put_record(SectionKind::Module, &ModuleRecord { sums, ..self.record })?;
        self.objects.write_records(&[SectionKind::Strings, SectionKind::Objects], writer)
    }
}

impl<'i> Objects<'i> {
    /// Walks all objects once for their signature and sizes; gives the largest arc counter now.
    /// `record` must be zero.
    #[inline(never)]
    pub fn survey(&self, record: &mut ModuleRecord) -> i64 {
        record.identity.abi = ABI_GCOV;
        record.path_length = self.path.len() as u32;
        record.strings_length = record.path_length;
        let (mut signature, mut largest) = (Signature::new(), 0);
        for object in self.registry.objects() {
            survey_object(&object, record, &mut signature);
            for function in object.functions(self.shift) {
                signature.function(&function.record());
                for array in function.arrays() {
                    signature.counters(array.counters.len() as u32);
                    match array.rule {
                        Rule::TopN => record.identity.sites += array.site_count() as u64,
                        _ => record.identity.counters += array.counters.len() as u64,
                    }
                    if array.kind == Kind::ARCS {
                        let counts = array.counters.iter();
                        largest = counts.fold(largest, |largest, count| {
                            largest.max(count.load(Ordering::Relaxed))
                        });
                    }
                }
            }
        }
        record.identity.signature = signature.value();
        largest
    }

    /// Writes streams that hold no counts.
    fn write_records<S: Sink, const N: usize>(
        &self,
        kinds: &[SectionKind],
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        self.write_streams(kinds, writer, |_, _, _| Ok(()))
    }

    /// Writes streams of the module one after the other; what the arrays of counters give to them is
    /// up to `counts`. One loop for all, for the sake of a short stack.
    #[inline(always)]
    pub fn write_streams<S: Sink, const N: usize>(
        &self,
        kinds: &[SectionKind],
        writer: &mut Writer<'_, S, N>,
        mut counts: impl FnMut(SectionKind, &Array, &mut Writer<'_, S, N>) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        let mut path_offset = self.path.len() as u32;
        for &kind in kinds {
            if kind == SectionKind::Strings {
                writer.put(kind, self.path)?;
            }
            for object in self.registry.objects() {
                match kind {
                    SectionKind::Strings => {
                        writer.put(kind, object.path().to_bytes())?;
                        continue;
                    }
                    SectionKind::Objects => {
                        let record = object_record(&object, path_offset);
                        path_offset = path_offset.wrapping_add(record.path_length);
                        writer.put_record(kind, &record)?;
                        continue;
                    }
                    _ => {}
                }
                for function in object.functions(self.shift) {
                    if kind == SectionKind::Functions {
                        write_function(&function, writer)?;
                        continue;
                    }
                    for array in function.arrays() {
                        counts(kind, &array, writer)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets the counters back whose rule is one of `rules`.
    pub fn zero(&self, rules: &[Rule]) {
        for array in self.arrays() {
            if rules.contains(&array.rule) {
                array.sites().for_each(|live| live.reset());
                let counters = array.counters.iter().filter(|_| array.rule != Rule::TopN);
                counters.for_each(|live| live.store(0, Ordering::Relaxed));
            }
        }
    }

    /// Every array of counters.
    pub fn arrays(&self) -> AllArrays {
        self.registry.objects().arrays(self.shift)
    }
}

fn survey_object(object: &Object, record: &mut ModuleRecord, signature: &mut Signature) {
    let ModuleRecord { identity, strings_length, .. } = record;
    let entry = object_record(object, 0);
    signature.object(&entry, object.path().to_bytes());
    identity.objects = identity.objects.wrapping_add(1);
    identity.functions = identity.functions.wrapping_add(entry.functions);
    *strings_length = strings_length.wrapping_add(entry.path_length);
}

/// Writes a function's record and the numbers of its counters, by words.
#[inline(always)]
fn write_function<S: Sink, const N: usize>(
    function: &Function,
    writer: &mut Writer<'_, S, N>,
) -> Result<(), S::Error> {
    let words: [i64; 2] = zerocopy::transmute!(function.record());
    for word in words {
        writer.put_word(SectionKind::Functions, word)?;
    }
    let mut arrays = function.arrays();
    while let Some(array) = arrays.next() {
        let second = arrays.next().map_or(0, |array| array.counters.len());
        let pair = [array.counters.len() as u32, second as u32];
        writer.put_word(SectionKind::Functions, zerocopy::transmute!(pair))?;
    }
    Ok(())
}

fn object_record(object: &Object, path_offset: u32) -> ObjectRecord {
    ObjectRecord {
        version: object.version().0,
        stamp: object.stamp(),
        checksum: object.checksum(),
        functions: object.function_count() as u32,
        rules: object.rules().0,
        path_offset,
        path_length: object.path().to_bytes().len() as u32,
    }
}
