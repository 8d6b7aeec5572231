//! The live module and an existing dump become one dump.
//!
//! Everything streams: the old file section by section on one side, the live counters on the other. The live
//! counts are added to the module of the same build, and the other modules are copied. Without a module of
//! the same build the live module follows them.

use zerocopy::IntoBytes;

use super::abi::Instrumented;
use super::counts::{Copies, Found};
use super::module::LiveModule;
use super::problem::Problem;
use super::sys::Errno;
use crate::raw::layout::{SectionKind, Sums, SumsRecord};
use crate::raw::reader::{Contradiction, Reader, Section, Source, record_is_possible};
use crate::raw::writer::{Sink, Writer};

/// Writes a whole dump: `older`, if there is one, with the live counts added. `sums` says what the run adds
/// up to, from what was found. `id` is that of the live file that holds the counts, 0 if none. Gives the id
/// of the live file that was added last before.
///
/// [`Errno::ALREADY`] if `older` has these counts.
pub fn merge<I: Instrumented, R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    live: &LiveModule<'_, I>,
    sums: &mut dyn FnMut(&Found) -> Sums,
    mut copies: Copies<'_>,
    older: Option<&mut Reader<'_, R>>,
    mut writer: Writer<'_, S>,
    id: u64,
) -> Result<u64, Problem> {
    let (mut merged, mut before) = (false, 0);
    if let Some(reader) = older {
        reader.start()?;
        let mut modules = 0u64;
        let mut section = reader.next_section()?;
        while section.kind != SectionKind::End {
            if section.kind != SectionKind::Module {
                return reader.unexpected(Some(SectionKind::Module));
            }
            modules = modules.wrapping_add(1);
            let identity = reader.module()?.identity;
            section = if !merged && identity.as_bytes() == live.record.identity.as_bytes() {
                merged = true;
                merge_module(live, sums, copies.take(), reader, &mut writer)?
            } else {
                copy_module(reader, &mut writer)?
            };
        }
        before = reader.end(modules)?;
    }
    if id != 0 && id == before {
        return Err(Errno::ALREADY.into());
    }
    if !merged {
        live.write_head(&mut writer)?;
        let found = live.objects.write_functions::<S, R>(copies, None, &mut writer)?;
        write_sums(&found, sums(&found), &mut writer)?;
    }
    writer.end_with(if id == 0 { before } else { id })?;
    Ok(before)
}

/// Adds to the module whose MODULE section is current; gives the section behind it.
fn merge_module<I: Instrumented, R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    live: &LiveModule<'_, I>,
    sums: &mut dyn FnMut(&Found) -> Sums,
    copies: Copies<'_>,
    reader: &mut Reader<'_, R>,
    writer: &mut Writer<'_, S>,
) -> Result<Section, Problem> {
    live.write_head(writer)?;
    let mut section = reader.next_section()?;
    // The image may have another path now.
    while matches!(section.kind, SectionKind::Strings | SectionKind::Objects) {
        section = reader.next_section()?;
    }
    // What follows them may be as long as they are.
    if section.kind != SectionKind::Functions && live.record.identity.functions > 0 {
        return reader.unexpected(Some(SectionKind::Functions));
    }
    let found = live.objects.write_functions(copies, Some(reader), writer)?;
    if section.kind == SectionKind::Functions {
        if reader.has_untaken_words() {
            return reader.wrong(Contradiction::Functions);
        }
        section = reader.next_section()?;
    }
    if section.kind != SectionKind::Sums {
        return reader.unexpected(Some(SectionKind::Sums));
    }
    let older = reader.sums()?;
    write_sums(&found, sums(&found).plus(older.sums), writer)?;
    reader.next_section()
}

fn write_sums<S: Sink>(
    found: &Found,
    sums: Sums,
    writer: &mut Writer<'_, S>,
) -> Result<(), S::Error> {
    let (counters, sites) = (found.counters as u64, found.sites as u64);
    writer.put_record(SectionKind::Sums, &SumsRecord { sums, counters, sites })
}

/// Copies the module whose MODULE section is current; gives the section behind it. A record that cannot be right is
/// damage: the file is set aside, and the tool, which also knows wrong signatures, takes the other modules out of it.
#[inline(always)]
fn copy_module<R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    reader: &mut Reader<'_, R>,
    writer: &mut Writer<'_, S>,
) -> Result<Section, Problem> {
    let record = reader.module()?;
    writer.put_section(SectionKind::Module, reader.whole_section())?;
    let [mut strings, mut objects] = [0usize; 2];
    loop {
        let section = reader.next_section()?;
        let length = reader.payload().len();
        match section.kind {
            SectionKind::Strings => strings = strings.wrapping_add(length),
            SectionKind::Objects => objects = objects.wrapping_add(length),
            SectionKind::Module | SectionKind::End => return Ok(section),
            SectionKind::Functions | SectionKind::Sums => {
                if let Err(what) = record_is_possible(&record, strings, objects) {
                    return reader.wrong(what);
                }
            }
        }
        writer.put_section(section.kind, reader.whole_section())?;
    }
}
