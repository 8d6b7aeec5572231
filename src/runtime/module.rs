//! An image as a module of a raw dump: everything but the counts.

use core::sync::atomic::Ordering;

use zerocopy::{FromZeros, IntoBytes};

use super::abi::gcov::{Array, Object, Part, Parts, Registry, Shift};
use crate::raw::gcov::{Kind, ObjectRecord, Rule};
use crate::raw::layout::{ABI_GCOV, BuildId, ModuleRecord, SectionKind, Signature, Sums};
use crate::raw::writer::{Sink, Writer};

/// The streams of a module that hold no counts.
const RECORDS: &[SectionKind] =
    &[SectionKind::Strings, SectionKind::Objects, SectionKind::Functions];

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
}

impl<'i> LiveModule<'i> {
    /// Walks all objects once.
    pub fn survey(objects: Objects<'i>, build_id: &BuildId) -> Self {
        let mut record = ModuleRecord::new_zeroed();
        record.identity.build_id_length = build_id.length.min(build_id.bytes.len()) as u32;
        record.identity.build_id = build_id.bytes;
        objects.survey(&mut record);
        Self { objects, record }
    }

    /// Writes everything but the counts, under the given sums.
    pub fn write_head<S: Sink, const N: usize>(
        &self,
        sums: Sums,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        writer.put_record(SectionKind::Module, &ModuleRecord { sums, ..self.record })?;
        self.objects.write_records(writer)
    }
}

impl<'i> Objects<'i> {
    /// Walks all objects once for their signature and sizes. `record` must be zero.
    #[inline(never)]
    pub fn survey(&self, record: &mut ModuleRecord) {
        record.identity.abi = ABI_GCOV;
        record.path_length = self.path.len() as u32;
        record.strings_length = record.path_length;
        let mut signature = Signature::new();
        for part in self.parts() {
            survey_part(&part, record, &mut signature);
        }
        record.identity.signature = signature.value();
    }

    /// The largest arc counter now.
    #[inline(never)]
    pub fn run_max(&self) -> i64 {
        let mut largest = 0;
        for part in self.parts() {
            let Part::Array(Array { kind: Kind::ARCS, counters, .. }) = part else { continue };
            for counter in counters {
                largest = largest.max(counter.load(Ordering::Relaxed));
            }
        }
        largest
    }

    /// Writes the paths and the records of objects and functions.
    pub fn write_records<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        self.write_streams(RECORDS, writer, |_, _, _| Ok(()))
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
        writer.put(SectionKind::Strings, self.path)?;
        let mut path_offset = self.path.len() as u32;
        let (mut left, mut odd) = (0usize, false);
        for &kind in kinds {
            let mut parts = self.parts();
            while let Some(part) = &parts.next() {
                match (kind, part) {
                    (SectionKind::Strings, Part::Object(object)) => {
                        writer.put(kind, object.path().to_bytes())?;
                    }
                    (SectionKind::Objects, Part::Object(object)) => {
                        let record = object_record(object, path_offset);
                        path_offset = path_offset.wrapping_add(record.path_length);
                        writer.put_record(kind, &record)?;
                    }
                    (SectionKind::Functions, Part::Function(function)) => {
                        left = function.kinds();
                        odd = left % 2 != 0;
                        writer.put_record(kind, &function.record())?;
                    }
                    (SectionKind::Functions, Part::Array(array)) => {
                        left = left.wrapping_sub(1);
                        let number = [array.counters.len() as u32, 0];
                        let padded = left == 0 && odd;
                        let length = if padded { 8 } else { 4 };
                        writer.put(kind, number.as_bytes().get(..length).unwrap_or_default())?;
                    }
                    (_, Part::Array(array)) => counts(kind, array, writer)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Sets the counters back whose rule is one of `rules`.
    pub fn zero(&self, rules: &[Rule]) {
        for part in self.parts() {
            let Part::Array(array) = part else { continue };
            if rules.contains(&array.rule) {
                array.sites().for_each(|live| live.reset());
                let counters = array.counters.iter().filter(|_| array.rule != Rule::TopN);
                counters.for_each(|live| live.store(0, Ordering::Relaxed));
            }
        }
    }

    /// Every object, function and array of counters.
    pub fn parts(&self) -> Parts {
        self.registry.parts().with(self.shift)
    }
}

fn survey_part(part: &Part, record: &mut ModuleRecord, signature: &mut Signature) {
    let ModuleRecord { identity, strings_length, .. } = record;
    match part {
        Part::Object(object) => {
            let entry = object_record(object, 0);
            signature.object(&entry, object.path().to_bytes());
            identity.objects = identity.objects.wrapping_add(1);
            identity.functions = identity.functions.wrapping_add(entry.functions);
            *strings_length = strings_length.wrapping_add(entry.path_length);
        }
        Part::Function(function) => signature.function(&function.record()),
        Part::Array(array) => {
            signature.counters(array.counters.len() as u32);
            match array.rule {
                Rule::TopN => identity.sites += array.sites().count() as u64,
                _ => identity.counters += array.counters.len() as u64,
            }
        }
    }
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
