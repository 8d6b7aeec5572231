//! What the objects of an image write into a dump.

use super::{Functions, Object, Registry};
use crate::raw::head::Head;
use crate::raw::layout::{ABI_GCOV, ModuleRecord, SectionKind, Signature};
use crate::raw::object::ObjectRecord;
use crate::raw::writer::{Sink, Writer};
use crate::runtime::abi::{ArrayOf, Function as _, Instrumented, Shift};

impl Instrumented for Registry {
    const ABI: u32 = ABI_GCOV;
    type Functions = Functions;

    fn len(&self) -> usize {
        Self::len(self)
    }

    fn text(&self) -> usize {
        self.tokens().map_or(0, |tokens| tokens.add as usize)
    }

    /// A build-id tells as much as functions and counters do, so these are left alone if there is one.
    fn survey(&self, record: &mut ModuleRecord, signature: &mut Signature, head: &mut Head) {
        for object in self.registered() {
            survey_object(&object, record, signature);
            if record.identity.build_id().is_empty() {
                for function in object.functions(Shift::default()) {
                    let used = function.put_head(head);
                    head.iter()
                        .take(used)
                        .for_each(|&word| signature.word(u64::from_ne_bytes(word)));
                }
            }
        }
    }

    #[inline(always)]
    fn write_strings<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        for object in self.registered() {
            writer.put(SectionKind::Strings, object.path().to_bytes())?;
        }
        Ok(())
    }

    #[inline(always)]
    fn write_objects<S: Sink, const N: usize>(
        &self,
        mut offset: u32,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        for object in self.registered() {
            let record = object_record(&object, offset);
            offset = offset.wrapping_add(record.path_length);
            writer.put_record(SectionKind::Objects, &record)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn objects(&self, shift: Shift) -> impl Iterator<Item = Functions> {
        self.registered().map(move |object| object.functions(shift))
    }

    fn arrays(&self, shift: Shift) -> impl Iterator<Item = ArrayOf<Self>> {
        self.registered().arrays(shift)
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
