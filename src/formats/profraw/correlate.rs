//! Puts the functions into profiles of programs that keep them in their files alone (`-profile-correlate`).
//!
//! Such a profile has neither records nor names. The records are elsewhere in one of two forms:
//!
//! | correlation | where the records are |
//! |---|---|
//! | binary | sections `__llvm_covdata`, `__llvm_covnames`, not loaded; records have addresses |
//! | debug information | variables `__profc_...` of functions: address, name, hash, number of counters |
//!
//! The caller reads [`Functions`] from the program. [`complete`] makes the file that the program would have written
//! with records in memory.
//!
//! Sources: programs and files of clang 16, 19 and 22, and what `llvm-profdata` makes of them.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::check::{Defect, Finding};
use super::image::{Image, Images};
use super::record::Record;
use super::{Layout, Machine, Version, Word};
use crate::counters::Variant;
use crate::raw::llvm::CorrelatedFunction;

/// The functions of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// In the order of the program.
    pub all: Vec<CorrelatedFunction>,
    /// Their names, as compilers store them: see [`super::names`].
    pub names: Vec<u8>,
}

/// Whether a file has a profile without the functions.
pub fn is_correlated(file: &[u8]) -> bool {
    Images::new(file).any(|image| image.is_err_and(|finding| is_missing(&finding)))
}

fn is_missing(finding: &Finding) -> bool {
    matches!(finding.defect, Defect::DebugInfoCorrelation | Defect::BinaryCorrelation)
}

/// The addresses of a program's sections.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    /// Of `__llvm_prf_cnts`.
    pub counters: Range<u64>,
    /// Of `__llvm_prf_bits`.
    pub bitmaps: Range<u64>,
}

/// The functions that the records of a program's `__llvm_covdata` describe. The version is tried first; the front end
/// says it to nobody. Records whose counters the linker has dropped are left out.
pub fn of_records(
    section: &[u8],
    machine: Machine,
    version: Version,
    counter_bytes: u64,
    bounds: &Bounds,
) -> Vec<CorrelatedFunction> {
    // Of equal ones the last counts.
    let versions = [Version::V9, Version::V11, Version::V10, version].into_iter();
    let read = versions.map(|version| {
        let layout = Layout::of(version, machine.pointer);
        let (records, rest) = section.split_at(section.len() / layout.stride * layout.stride);
        let records = records.chunks_exact(layout.stride);
        let record = |bytes| Record::read(bytes, &layout, machine, version.kinds());
        let functions: Vec<_> =
            records.filter_map(|bytes| function(&record(bytes), counter_bytes, bounds)).collect();
        (functions, rest.is_empty())
    });
    let best = read.max_by_key(|(functions, is_whole)| (*is_whole, functions.len()));
    best.map(|(functions, _)| functions).unwrap_or_default()
}

/// The function of a record with addresses; `None` if its counters are not there.
fn function(record: &Record, counter_bytes: u64, bounds: &Bounds) -> Option<CorrelatedFunction> {
    let number = u64::from(record.counters_number);
    let counters = place(record.counters, number * counter_bytes, &bounds.counters)?;
    let bitmap = match record.bitmap_bytes {
        0 => 0..0,
        bytes => place(record.bitmap, bytes.into(), &bounds.bitmaps)?,
    };
    let size = counter_bytes as usize;
    (number > 0).then_some(CorrelatedFunction {
        name_ref: record.name,
        hash: record.hash,
        counters: counters.start / size..counters.end / size,
        bitmap,
    })
}

/// Where bytes at an address are in a section.
pub fn place(address: u64, bytes: u64, section: &Range<u64>) -> Option<Range<usize>> {
    let start = address.checked_sub(section.start)?;
    let end = start.checked_add(bytes)?;
    (end <= section.end - section.start).then_some(start as usize..end as usize)
}

/// The file with the functions in each profile that lacks them. `functions` gives those of a profile's program.
pub fn complete<E: From<Finding>>(
    file: &[u8],
    mut functions: impl FnMut(&Image<'_>) -> Result<Functions, E>,
) -> Result<Vec<u8>, E> {
    let mut completed = Vec::with_capacity(file.len());
    for image in Images::uncorrelated(file) {
        let image = image?;
        // Profiles begin at multiples of 8.
        completed.resize(completed.len().next_multiple_of(8), 0);
        match image.is_correlated() {
            false => completed.extend_from_slice(&file[image.start()..image.end()]),
            true => put(&mut completed, &image, &functions(&image)?),
        }
    }
    Ok(completed)
}

/// Adds a profile with these functions.
fn put(file: &mut Vec<u8>, image: &Image<'_>, functions: &Functions) {
    let mut header = image.header;
    header.variant.0 &= !Variant::DEBUG_INFO_CORRELATION.0;
    header.set(Word::Records, functions.all.len() as u64);
    header.set(Word::Names, functions.names.len() as u64);
    // Records have distances from a section of counters that begins where they do.
    header.set(Word::CountersDelta, 0);
    header.set(Word::BitmapDelta, 0);
    header.write(file);
    file.extend_from_slice(image.stored_binary_ids());
    for (place, function) in functions.all.iter().enumerate() {
        put_record(file, image, place, function);
    }
    file.extend_from_slice(image.between_records_and_names());
    file.extend_from_slice(&functions.names);
    file.resize(file.len() + functions.names.len().wrapping_neg() % 8, 0);
    file.extend_from_slice(image.behind_names());
}

fn put_record(file: &mut Vec<u8>, image: &Image<'_>, place: usize, function: &CorrelatedFunction) {
    let Image { layout, header, .. } = image;
    let machine = header.machine;
    let size = if header.variant.has(Variant::SINGLE_BYTE) { 1 } else { 8 };
    let before = match header.version.has_addresses() {
        true => 0,
        false => place as u64 * layout.stride as u64,
    };
    let mut record = vec![0; layout.stride];
    machine.put(&mut record, 0, 8, function.name_ref);
    machine.put(&mut record, 8, 8, function.hash);
    let counters = (function.counters.start * size) as u64;
    machine.put(&mut record, layout.counters, machine.pointer, counters.wrapping_sub(before));
    machine.put(&mut record, layout.counters_number, 4, function.counters.len() as u64);
    if let (Some(at), Some(bytes)) = (layout.bitmap, layout.bitmap_bytes) {
        let bitmap = (function.bitmap.start as u64).wrapping_sub(before);
        machine.put(&mut record, at, machine.pointer, bitmap);
        machine.put(&mut record, bytes, 4, function.bitmap.len() as u64);
    }
    file.extend_from_slice(&record);
}
