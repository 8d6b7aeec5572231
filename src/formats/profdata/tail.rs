//! What stands behind the hash table: build-ids, names of virtual tables, traces.

use alloc::vec::Vec;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::check::{Defect, Finding, Part, Tell};
use super::record::{pad, put};
use super::words::Words;
use crate::counters::{Profile, Trace};
use crate::formats::leb128;

/// Between names of virtual tables.
const SEPARATOR: u8 = 1;
/// zlib unpacks a byte to fewer bytes than this.
const MOST_EXPANSION: usize = 1040;

pub(super) fn binary_ids(words: &mut Words<'_>, tell: Tell<'_>) -> Result<Vec<Vec<u8>>, Finding> {
    let size = words.count(1)?;
    let mut words = words.sub(size, Part::BinaryIds)?;
    let mut ids = Vec::new();
    while words.left() > 0 {
        let length = words.count(1)?;
        ids.push(words.take(length)?.into());
        words.pad_to_8(length, tell)?;
    }
    Ok(ids)
}

pub(super) fn vtables(words: &mut Words<'_>, tell: Tell<'_>) -> Result<Vec<Vec<u8>>, Finding> {
    let size = words.count(1)?;
    let mut blob = words.sub(size, Part::VTables)?;
    words.pad_to_8(size, tell)?;
    if blob.left() == 0 {
        return Ok(Vec::new());
    }
    let offset = blob.offset();
    let length = usize::try_from(blob.leb128()?).unwrap_or(usize::MAX);
    let packed = usize::try_from(blob.leb128()?).unwrap_or(usize::MAX);
    let names = match packed {
        0 => blob.take(length)?.to_vec(),
        _ => {
            let packed = blob.take(packed)?;
            let most = length.min(packed.len().saturating_mul(MOST_EXPANSION));
            let names = decompress_to_vec_zlib_with_limit(packed, most);
            let is_whole = |names: &Vec<u8>| names.len() == length;
            names.ok().filter(is_whole).ok_or(Finding { offset, defect: Defect::Compressed })?
        }
    };
    if blob.left() > 0 {
        let defect = Defect::Unused(blob.left() as u64);
        tell(Finding { offset: blob.offset(), defect });
    }
    Ok(names.split(|&byte| byte == SEPARATOR).map(<[u8]>::to_vec).collect())
}

/// The traces, and the number of runs that they were chosen from.
pub(super) fn traces(words: &mut Words<'_>) -> Result<(Vec<Trace>, u64), Finding> {
    let offset = words.offset();
    let number = words.u64()?;
    let runs = words.u64()?;
    let most = (words.left() / 16) as u64;
    if number > most {
        let defect = Defect::Count { part: Part::Traces, most, found: number };
        return Err(Finding { offset, defect });
    }
    let mut traces = Vec::new();
    for _ in 0..number {
        let weight = words.u64()?;
        let number = words.count(8)?;
        let functions = (0..number).map(|_| words.u64()).collect::<Result<_, _>>()?;
        traces.push(Trace { weight, functions });
    }
    Ok((traces, runs))
}

/// Writes build-ids, sorted, each once.
pub(super) fn encode_binary_ids(profile: &Profile, output: &mut Vec<u8>) {
    let mut ids: Vec<&[u8]> = profile.binary_ids.iter().map(Vec::as_slice).collect();
    ids.sort_unstable();
    ids.dedup();
    put(ids.iter().map(|id| 8 + id.len().next_multiple_of(8) as u64).sum(), output);
    for id in ids {
        put(id.len() as u64, output);
        output.extend_from_slice(id);
        pad(id.len(), output);
    }
}

/// Writes names of virtual tables.
pub(super) fn encode_vtables(profile: &Profile, output: &mut Vec<u8>) {
    if profile.vtables.is_empty() {
        return put(0, output);
    }
    let names = profile.vtables.join(&SEPARATOR);
    let mut blob = Vec::with_capacity(names.len() + 6);
    leb128::write(&mut blob, names.len() as u64);
    leb128::write(&mut blob, 0);
    blob.extend_from_slice(&names);
    put(blob.len() as u64, output);
    output.extend_from_slice(&blob);
    pad(blob.len(), output);
}

/// Writes traces.
pub(super) fn encode_traces(profile: &Profile, output: &mut Vec<u8>) {
    put(profile.traces.len() as u64, output);
    put(profile.runs(), output);
    for trace in &profile.traces {
        put(trace.weight, output);
        put(trace.functions.len() as u64, output);
        trace.functions.iter().for_each(|&function| put(function, output));
    }
}
