//! An image as a module of a raw dump: everything but the counts.

use core::sync::atomic::Ordering;

use zerocopy::FromZeros;

use super::abi::gcov::{AllArrays, Array, Object, Registry, Shift};
use crate::raw::gcov::record::Head;
use crate::raw::gcov::{ObjectRecord, Rule};
use crate::raw::layout::{ABI_GCOV, BuildId, ModuleRecord, SectionKind, Signature};
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

/// An image's objects, with what writing them needs to know beforehand.
pub struct LiveModule<'i> {
    /// The objects.
    pub objects: Objects<'i>,
    /// Identity and sizes.
    pub record: ModuleRecord,
}

impl<'i> LiveModule<'i> {
    /// Walks all objects once.
    pub fn survey(objects: Objects<'i>, build_id: &BuildId) -> Self {
        let mut record = ModuleRecord::new_zeroed();
        record.identity.build_id_length = build_id.length.min(build_id.bytes.len()) as u32;
        record.identity.build_id = build_id.bytes;
        objects.survey(&mut record, &mut Head::default());
        Self { objects, record }
    }

    /// Writes what comes before the functions.
    pub fn write_head<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        writer.put_record(SectionKind::Module, &self.record)?;
        self.objects.write_names(writer)
    }
}

impl<'i> Objects<'i> {
    /// Walks all objects once for their signature and sizes. Only the build-id of `record` may be set.
    ///
    /// A build-id tells as much as functions and counters do, so these are left alone if there is one.
    /// Otherwise `head` is room for a function's head.
    #[inline(never)]
    pub fn survey(&self, record: &mut ModuleRecord, head: &mut Head) {
        record.identity.abi = ABI_GCOV;
        record.path_length = self.path.len() as u32;
        record.strings_length = record.path_length;
        let mut signature = Signature::of(&record.identity);
        for object in self.registry.objects() {
            survey_object(&object, record, &mut signature);
            if record.identity.build_id().is_empty() {
                for function in object.functions(self.shift) {
                    let used = function.put_head(head);
                    head.iter()
                        .take(used)
                        .for_each(|&word| signature.word(u64::from_ne_bytes(word)));
                }
            }
        }
        record.identity.signature = signature.value();
    }

    /// Number of counters, those of top-N sites left out, and of these sites.
    pub fn totals(&self) -> (usize, usize) {
        self.arrays().fold((0, 0), |(counters, sites): (usize, usize), array| match array.rule {
            Rule::TopN => (counters, sites.wrapping_add(array.site_count())),
            _ => (counters.wrapping_add(array.counters.len()), sites),
        })
    }

    /// Writes STRINGS and OBJECTS.
    #[inline(always)]
    pub fn write_names<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        writer.put(SectionKind::Strings, self.path)?;
        for object in self.registry.objects() {
            writer.put(SectionKind::Strings, object.path().to_bytes())?;
        }
        let mut path_offset = self.path.len() as u32;
        for object in self.registry.objects() {
            let record = object_record(&object, path_offset);
            path_offset = path_offset.wrapping_add(record.path_length);
            writer.put_record(SectionKind::Objects, &record)?;
        }
        Ok(())
    }

    /// Writes the functions; the counts of each array are up to `counts`. `head` is room for one.
    #[inline(always)]
    pub fn write_functions_with<S: Sink, const N: usize>(
        &self,
        head: &mut Head,
        writer: &mut Writer<'_, S, N>,
        mut counts: impl FnMut(&Array, &mut Writer<'_, S, N>) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        for object in self.registry.objects() {
            for function in object.functions(self.shift) {
                let used = function.put_head(head);
                for &word in head.iter().take(used) {
                    writer.put_word(SectionKind::Functions, i64::from_ne_bytes(word))?;
                }
                for array in function.arrays() {
                    counts(&array, writer)?;
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
