//! The record of one function under one hash.

use alloc::vec::Vec;

use super::Version;
use super::check::{Defect, Finding, Part, Tell};
use super::words::{Words, word};
use crate::counters::{Function, Site, Value, ValueKind};

/// Bytes of a value and its count.
const VALUE: usize = 16;
/// Bytes of the block of values before its kinds, and of each kind before its sites.
const HEAD: usize = 8;
/// Most values of a site: their number is a byte.
pub(super) const MOST_VALUES: usize = 255;

/// A record as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Hash of the control flow.
    pub hash: u64,
    /// Eight bytes each.
    counters: &'a [u8],
    bitmap: &'a [u8],
    /// Bytes of the file that a byte of the bitmap takes.
    bitmap_step: usize,
    /// By [`ValueKind`].
    values: [Sites<'a>; ValueKind::ALL.len()],
}

/// The sites of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sites<'a> {
    /// Number of values of each.
    numbers: &'a [u8],
    values: &'a [u8],
}

impl<'a> Record<'a> {
    pub(super) fn decode(
        words: &mut Words<'a>,
        version: Version,
        tell: Tell<'_>,
    ) -> Result<Self, Finding> {
        words.part = Part::Records;
        let hash = words.u64()?;
        let number = match version.has_counter_numbers() {
            true => words.count(8)?,
            false => words.left() / 8,
        };
        let counters = words.take(8 * number)?;
        let bitmap_step = if version.has_packed_bitmaps() { 1 } else { 8 };
        let mut bitmap: &[u8] = &[];
        if version.has_bitmaps() {
            let number = words.count(bitmap_step)?;
            bitmap = words.take(number * bitmap_step)?;
        }
        if version.has_packed_bitmaps() {
            words.pad_to_8(bitmap.len(), tell)?;
            let offset = words.offset();
            let uniform = words.count(1)?;
            words.take(uniform)?;
            words.pad_to_8(uniform, tell)?;
            if uniform != 0 {
                tell(Finding { offset, defect: Defect::Uniformity });
            }
        }
        let mut record =
            Self { hash, counters, bitmap, bitmap_step, values: [Sites::default(); 3] };
        if version.has_values() {
            record.values = values(words, tell)?;
        }
        Ok(record)
    }

    /// Number of counters.
    pub const fn number_of_counters(&self) -> usize {
        self.counters.len() / 8
    }

    /// The counters.
    pub fn counters(&self) -> impl ExactSizeIterator<Item = u64> + use<'a> {
        self.counters.chunks_exact(8).map(word)
    }

    /// The bytes of the bitmap.
    pub fn bitmap(&self) -> impl ExactSizeIterator<Item = u8> + use<'a> {
        self.bitmap.chunks_exact(self.bitmap_step).map(|byte| byte[0])
    }

    /// The values of each site of a kind.
    pub fn sites(
        &self,
        kind: ValueKind,
    ) -> impl ExactSizeIterator<Item = impl ExactSizeIterator<Item = Value> + use<'a>> + use<'a>
    {
        let Sites { numbers, mut values } = self.values[kind as usize];
        numbers.iter().map(move |&number| {
            let (own, rest) = values.split_at(VALUE * usize::from(number));
            values = rest;
            own.chunks_exact(VALUE)
                .map(|pair| Value { value: word(&pair[..8]), count: word(&pair[8..]) })
        })
    }

    /// The same as part of the model.
    pub fn function(&self, name: &[u8]) -> Function {
        let sites = |kind| self.sites(kind).map(|site| Site { values: site.collect() }).collect();
        Function {
            name: name.into(),
            hash: self.hash,
            counters: self.counters().collect(),
            bitmap: self.bitmap().collect(),
            values: ValueKind::ALL.map(sites),
        }
    }
}

fn values<'a>(
    words: &mut Words<'a>,
    tell: Tell<'_>,
) -> Result<[Sites<'a>; ValueKind::ALL.len()], Finding> {
    let (start, offset) = (words.at(), words.offset());
    let found = words.u32()?;
    let kinds = words.u32()?;
    let mut sites = [Sites::default(); ValueKind::ALL.len()];
    let mut least = 0;
    for _ in 0..kinds {
        let offset = words.offset();
        let kind = words.u32()?;
        let Some(own) = sites.get_mut(kind as usize).filter(|_| kind >= least) else {
            return Err(Finding { offset, defect: Defect::ValueKind(kind) });
        };
        least = kind + 1;
        let number = words.u32()? as usize;
        own.numbers = words.take(number)?;
        words.pad_to_8(number, tell)?;
        let values: usize = own.numbers.iter().map(|&number| usize::from(number)).sum();
        own.values = words.take(VALUE * values)?;
    }
    let expected = (words.at() - start) as u64;
    if u64::from(found) != expected {
        return Err(Finding {
            offset,
            defect: Defect::ValueSize { expected, found: found.into() },
        });
    }
    Ok(sites)
}

/// Number of value kinds in a version.
const fn kinds(version: Version) -> usize {
    match (version.has_values(), version.has_vtables()) {
        (false, _) => 0,
        (true, false) => 2,
        (true, true) => 3,
    }
}

/// Number of bytes of a function's record.
pub(super) fn size(function: &Function, version: Version) -> usize {
    let mut size = 16 + 8 * function.counters.len();
    size += match (version.has_bitmaps(), version.has_packed_bitmaps()) {
        (false, _) => 0,
        (true, false) => 8 + 8 * function.bitmap.len(),
        (true, true) => 16 + function.bitmap.len().next_multiple_of(8),
    };
    size + values_size(function, version)
}

pub(super) fn values_size(function: &Function, version: Version) -> usize {
    let of_kind = |sites: &Vec<Site>| {
        let values: usize = sites.iter().map(|site| site.values.len().min(MOST_VALUES)).sum();
        HEAD + sites.len().next_multiple_of(8) + VALUE * values
    };
    let kinds = function.values.iter().take(kinds(version));
    HEAD + kinds.filter(|sites| !sites.is_empty()).map(of_kind).sum::<usize>()
}

/// Writes a function's record.
pub(super) fn encode(function: &Function, version: Version, output: &mut Vec<u8>) {
    put(function.hash, output);
    put(function.counters.len() as u64, output);
    function.counters.iter().for_each(|&count| put(count, output));
    if version.has_bitmaps() {
        put(function.bitmap.len() as u64, output);
    }
    if version.has_packed_bitmaps() {
        output.extend_from_slice(&function.bitmap);
        pad(function.bitmap.len(), output);
        put(0, output);
    } else if version.has_bitmaps() {
        function.bitmap.iter().for_each(|&byte| put(byte.into(), output));
    }
    encode_values(function, version, output);
}

fn encode_values(function: &Function, version: Version, output: &mut Vec<u8>) {
    let kinds = function.values.iter().take(kinds(version)).enumerate();
    let kinds = kinds.filter(|(_, sites)| !sites.is_empty());
    let half = |number: usize, output: &mut Vec<u8>| {
        output.extend_from_slice(&(number as u32).to_le_bytes());
    };
    half(values_size(function, version), output);
    half(kinds.clone().count(), output);
    let mut sorted = Vec::new();
    for (kind, sites) in kinds {
        half(kind, output);
        half(sites.len(), output);
        output.extend(sites.iter().map(|site| site.values.len().min(MOST_VALUES) as u8));
        pad(sites.len(), output);
        for site in sites {
            sorted.clone_from(&site.values);
            sorted.sort_by_key(|value| core::cmp::Reverse(value.count));
            for value in sorted.iter().take(MOST_VALUES) {
                put(value.value, output);
                put(value.count, output);
            }
        }
    }
}

pub(super) fn put(number: u64, output: &mut Vec<u8>) {
    output.extend_from_slice(&number.to_le_bytes());
}

/// Writes zeros behind this many bytes, up to a multiple of 8.
pub(super) fn pad(length: usize, output: &mut Vec<u8>) {
    output.resize(output.len() + length.next_multiple_of(8) - length, 0);
}
