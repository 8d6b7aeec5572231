//! An image as a module of a raw dump: everything but the counts.

use zerocopy::FromZeros;

use super::abi::{Array, ArrayOf, Function, Instrumented, Shift};
use crate::raw::head::Head;
use crate::raw::kind::Rule;
use crate::raw::layout::{BuildId, ModuleRecord, SectionKind, Signature};
use crate::raw::writer::{Sink, Writer};

/// An image's objects and its path.
pub struct Objects<'i, I> {
    /// The objects.
    pub registry: &'i I,
    /// Empty if unknown.
    pub path: &'i [u8],
    /// Where their counters are.
    pub shift: Shift,
}

impl<I> Clone for Objects<'_, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Objects<'_, I> {}

/// An image's objects, with the identity and sizes that must be known before the objects are written.
pub struct LiveModule<'i, I> {
    /// The objects.
    pub objects: Objects<'i, I>,
    /// Identity and sizes.
    pub record: ModuleRecord,
}

impl<'i, I: Instrumented> LiveModule<'i, I> {
    /// Walks all objects once.
    pub fn survey(objects: Objects<'i, I>, build_id: &BuildId) -> Self {
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

impl<I: Instrumented> Objects<'_, I> {
    /// Walks all objects once for their signature and sizes. Only the build-id of `record` may be set.
    /// `head` is room for a function's head.
    #[inline(never)]
    pub fn survey(&self, record: &mut ModuleRecord, head: &mut Head) {
        record.identity.abi = I::ABI;
        record.path_length = self.path.len() as u32;
        record.strings_length = record.path_length;
        let mut signature = Signature::of(&record.identity);
        self.registry.survey(record, &mut signature, head);
        record.identity.signature = signature.value();
    }

    /// Number of counters outside top-N sites, and number of top-N sites.
    pub fn totals(&self) -> (usize, usize) {
        self.arrays().fold((0, 0), |(counters, sites): (usize, usize), array| {
            (counters.wrapping_add(array.words()), sites.wrapping_add(array.site_count()))
        })
    }

    /// Writes STRINGS and OBJECTS.
    #[inline(always)]
    pub fn write_names<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        writer.put(SectionKind::Strings, self.path)?;
        self.registry.write_strings(writer)?;
        self.registry.write_objects(self.path.len() as u32, writer)
    }

    /// Writes the functions. `counts` writes the counts of each array. `head` is room for the head of one function.
    #[inline(always)]
    pub fn write_functions_with<S: Sink, const N: usize>(
        &self,
        head: &mut Head,
        writer: &mut Writer<'_, S, N>,
        mut counts: impl FnMut(&ArrayOf<I>, &mut Writer<'_, S, N>) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        for functions in self.registry.objects(self.shift) {
            for function in functions {
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

    /// Resets the counters whose rule is one of `rules`.
    pub fn zero(&self, rules: &[Rule]) {
        for array in self.arrays() {
            if rules.contains(&array.rule()) {
                array.reset();
            }
        }
    }

    /// Every array of counters.
    pub fn arrays(&self) -> impl Iterator<Item = ArrayOf<I>> {
        self.registry.arrays(self.shift)
    }
}
