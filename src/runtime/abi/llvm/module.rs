//! What the objects of an image write into a dump, and what stands for values there.
#![allow(unsafe_code)]

use super::{Bounds, Functions, Object, Record, Registry, Sections};
use crate::raw::checksum::crc32;
use crate::raw::head::Head;
use crate::raw::layout::{ABI_LLVM, ModuleRecord, SectionKind, Signature};
use crate::raw::llvm::kind::RULES;
use crate::raw::llvm::{FunctionRecord, Layout, Target};
use crate::raw::object::ObjectRecord;
use crate::raw::writer::{Sink, Writer};
use crate::runtime::abi::{ArrayOf, Function as _, Instrumented, Shift};

impl Registry {
    /// The name of the function at an address, as a number; 0 if no record of the image has it. The address may lie in
    /// another image: records of inline functions lead to the copy that the dynamic linker has chosen, and those of
    /// functions that were only inlined to their own library.
    pub fn name_at(&self, address: usize) -> u64 {
        let Some(sections) = self.sections() else { return 0 };
        if sections.offset(address).is_none() && !self.elsewhere().contains(&address) {
            return 0;
        }
        let mut name = 0;
        self.each_record(&mut |record| {
            name = if record.function() == address { record.name_ref() } else { 0 };
            name == 0
        });
        name
    }

    /// Bounds of the functions that have no offset in the image.
    fn elsewhere(&self) -> Bounds {
        if let Some(known) = self.known_elsewhere() {
            return known;
        }
        let mut bounds: Option<Bounds> = None;
        let sections = self.sections().unwrap_or(&NOWHERE);
        self.each_record(&mut |record| {
            let address = record.function();
            if address != 0 && sections.offset(address).is_none() {
                let Bounds { start, end } = bounds.take().unwrap_or(address..address);
                bounds = Some(start.min(address)..end.max(address.wrapping_add(1)));
            }
            true
        });
        self.set_elsewhere(bounds.unwrap_or(0..0))
    }

    /// Visits the records of all functions as long as `visit` says so.
    fn each_record(&self, visit: &mut dyn FnMut(&Record) -> bool) {
        for functions in Instrumented::objects(self, Shift::default()) {
            for function in functions {
                if !visit(&function.record) {
                    return;
                }
            }
        }
    }

    /// The records of the objects, with the names of the first. The names begin at this offset of STRINGS.
    fn records(&self, offset: u32) -> impl Iterator<Item = ObjectRecord> {
        let Sections { names, table_names, .. } = self.sections().unwrap_or(&NOWHERE);
        let mut names = if self.recognised().next().is_some() { bytes(names) } else { &[] };
        let tables = bytes(table_names);
        let behind = offset.wrapping_add(names.len() as u32);
        let end = behind.wrapping_add(tables.len() as u32);
        let mut start = offset;
        let objects = self.recognised().map(move |(object, sections)| {
            let names = core::mem::take(&mut names);
            let record = record(object.version.number(), sections, object.number, (start, names));
            start = behind;
            // Without records there are no names, and so no checksum of them.
            let checksum = sections.code_checksum.map_or(record.checksum, |code| code());
            ObjectRecord { checksum, ..record }
        });
        let with_tables = self.sections().filter(|_| !tables.is_empty());
        let tables = with_tables.map(move |sections| record(0, sections, 0, (behind, tables)));
        objects.chain(tables).chain(self.record_of_unknown(end))
    }
}

impl Registry {
    /// What a dump says of records with a layout that nobody knows: how many bytes they take.
    fn record_of_unknown(&self, offset: u32) -> Option<ObjectRecord> {
        let sections = self.sections().filter(|_| self.unknown() > 0)?;
        let checksum = self.unknown() as u32;
        Some(ObjectRecord { checksum, ..record(0, sections, 0, (offset, b"")) })
    }
}

/// The image of a registry that has not begun.
static NOWHERE: Sections = Sections::NONE;

fn record(
    version: u32,
    sections: &Sections,
    functions: usize,
    (path_offset, names): (u32, &[u8]),
) -> ObjectRecord {
    ObjectRecord {
        version,
        stamp: sections.variant(),
        checksum: crc32(names),
        functions: functions as u32,
        rules: RULES.0,
        path_offset,
        path_length: names.len() as u32,
    }
}

/// The bytes of a section that nobody writes.
fn bytes(section: &Bounds) -> &'static [u8] {
    let start = core::ptr::with_exposed_provenance(section.start);
    match section.len() {
        0 => &[],
        // SAFETY: the linker says where the section is, and it stays as long as the image.
        length => unsafe { core::slice::from_raw_parts(start, length) },
    }
}

impl Instrumented for Registry {
    const ABI: u32 = ABI_LLVM;
    type Functions = Functions;

    fn len(&self) -> usize {
        usize::from(self.sections().is_some())
    }

    fn text(&self) -> usize {
        self.sections().map_or(0, |sections| sections.text)
    }

    fn unknown(&self) -> usize {
        Registry::unknown(self)
    }

    #[cfg(feature = "live")]
    fn image(&self) -> [usize; 2] {
        self.sections().map_or([0; 2], |sections| [sections.image.start, sections.image.end])
    }

    fn survey(&self, record: &mut ModuleRecord, signature: &mut Signature, head: &mut Head) {
        if let Some(forget) = self.sections().and_then(|sections| sections.forget_names) {
            forget();
        }
        let ModuleRecord { identity, strings_length, .. } = record;
        let mut objects = Instrumented::objects(self, Shift::default());
        for entry in self.records(0) {
            signature.object(&ObjectRecord { path_offset: 0, ..entry }, &[]);
            identity.objects = identity.objects.wrapping_add(1);
            identity.functions = identity.functions.wrapping_add(entry.functions);
            *strings_length = strings_length.wrapping_add(entry.path_length);
            // The record behind the objects has no functions.
            let functions = objects.next().filter(|_| identity.build_id().is_empty());
            for function in functions.into_iter().flatten() {
                let used = function.put_head(head);
                head[FunctionRecord::OFFSET] = [0; 8];
                let words = head.get(1..used).unwrap_or_default();
                words.iter().for_each(|&word| signature.word(u64::from_ne_bytes(word)));
            }
        }
    }

    fn write_strings<S: Sink, const N: usize>(
        &self,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        let Some(sections) = self.sections() else { return Ok(()) };
        if self.recognised().next().is_some() {
            writer.put(SectionKind::Strings, bytes(&sections.names))?;
        }
        writer.put(SectionKind::Strings, bytes(&sections.table_names))
    }

    fn write_objects<S: Sink, const N: usize>(
        &self,
        offset: u32,
        writer: &mut Writer<'_, S, N>,
    ) -> Result<(), S::Error> {
        for record in self.records(offset) {
            writer.put_record(SectionKind::Objects, &record)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn objects(&self, shift: Shift) -> impl Iterator<Item = Functions> {
        self.recognised()
            .map(move |(object, sections): (Object, _)| object.functions(sections, shift))
    }

    fn arrays(&self, shift: Shift) -> impl Iterator<Item = ArrayOf<Self>> {
        let functions = Instrumented::objects(self, shift).flatten();
        functions.flat_map(|function| function.kinds())
    }
}

/// A virtual table's record.
#[repr(C)]
struct Table {
    name_ref: u64,
    start: usize,
    size: u32,
}

const _: () = assert!(size_of::<Table>() == Layout::vtable_stride(size_of::<usize>()));

impl Sections {
    /// The value that stands for a target in a dump.
    #[inline(always)]
    pub(super) fn target(&self, address: usize, shift: Shift) -> i64 {
        let target = match self.offset(address.wrapping_add_signed(shift.slide().wrapping_neg())) {
            Some(offset) => Target::Here(offset.into()),
            None if shift.slide() == 0 => self.elsewhere(address),
            // Addresses of a process that is gone say nothing here.
            None => Target::Unknown,
        };
        target.to_value()
    }

    #[inline(never)]
    fn elsewhere(&self, address: usize) -> Target {
        match self.name_elsewhere.map_or(0, |find| find(address)) {
            0 => Target::Unknown,
            name_ref => Target::There(name_ref),
        }
    }

    /// The value that stands for a virtual table in a dump: its name, or else its place in this image.
    pub(super) fn table(&self, address: usize, shift: Shift) -> i64 {
        let address = address.wrapping_add_signed(shift.slide().wrapping_neg());
        let first = core::ptr::with_exposed_provenance::<Table>(self.tables.start);
        let tables = match self.tables.len() / size_of::<Table>() {
            0 => &[][..],
            // SAFETY: the section holds as many such records, and stays as long as the image.
            number => unsafe { core::slice::from_raw_parts(first, number) },
        };
        let holds = |table: &&Table| address.wrapping_sub(table.start) < table.size as usize;
        let target = match tables.iter().find(holds) {
            Some(table) => Target::There(table.name_ref),
            None => {
                self.offset(address).map_or(Target::Unknown, |offset| Target::Here(offset.into()))
            }
        };
        target.to_value()
    }
}
