//! The live module and an existing dump become one dump.
//!
//! Everything streams: the old file section by section on one side, the live counters on the other.
//! The module of the same build is added to; the others are copied; if there is none of the same
//! build the live module follows them.

use super::counts::Copies;
use super::module::LiveModule;
use zerocopy::IntoBytes;

use super::sys::Errno;
use crate::raw::layout::{SectionKind, Sums};
use crate::raw::reader::{Contradiction, Failure, Reader, Section, Source};
use crate::raw::writer::{Sink, Writer};

/// Why there is no merged dump: the system, or the old file, whose reader knows more.
pub type Problem = Failure<Errno>;

impl From<Errno> for Problem {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

/// Writes a whole dump: `older`, if there is one, with the live counts in it. `id` is that of the live
/// file that these come from, 0 if none; given back is the one that was added last before.
///
/// [`Errno::ALREADY`] if `older` has them.
pub fn merge<R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    live: &LiveModule<'_>,
    sums: Sums,
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
            let record = reader.module()?;
            section = if !merged && record.identity.as_bytes() == live.record.identity.as_bytes() {
                merged = true;
                merge_module(live, sums.plus(record.sums), copies.take(), reader, &mut writer)?
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
        live.write_head(sums, &mut writer)?;
        live.objects.write_counts::<S, R>(copies, None, &mut writer)?;
    }
    writer.end_with(if id == 0 { before } else { id })?;
    Ok(before)
}

/// Adds to the module whose MODULE section is current; gives the section behind it.
fn merge_module<R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    live: &LiveModule<'_>,
    sums: Sums,
    copies: Copies<'_>,
    reader: &mut Reader<'_, R>,
    writer: &mut Writer<'_, S>,
) -> Result<Section, Problem> {
    live.write_names(sums, writer)?;
    let mut section = reader.next_section()?;
    loop {
        match section.kind {
            // The image may have another path now.
            SectionKind::Strings | SectionKind::Objects => {}
            SectionKind::Functions => writer.put_section(section.kind, reader.whole_section())?,
            _ => break,
        }
        section = reader.next_section()?;
    }
    live.objects.write_counts(copies, Some(reader), writer)?;
    if matches!(section.kind, SectionKind::Module | SectionKind::End) {
        return Ok(section);
    }
    if reader.has_untaken_words() {
        return reader.wrong(Contradiction::Counters);
    }
    reader.next_section()
}

/// Copies the module whose MODULE section is current; gives the section behind it.
fn copy_module<R: Source<Error = Errno>, S: Sink<Error = Errno>>(
    reader: &mut Reader<'_, R>,
    writer: &mut Writer<'_, S>,
) -> Result<Section, Problem> {
    writer.put_section(SectionKind::Module, reader.whole_section())?;
    loop {
        let section = reader.next_section()?;
        if matches!(section.kind, SectionKind::Module | SectionKind::End) {
            return Ok(section);
        }
        writer.put_section(section.kind, reader.whole_section())?;
    }
}
