//! A row of functions that count nothing but executions, as most functions of large programs do.
//!
//! | words | content |
//! |---|---|
//! | 1 | number of functions, at most [`MOST_FUNCTIONS`] |
//! | 3 for each | name reference (8 bytes); hash (8); offset in the image (4), number of counters (4) |
//! | 1 for each 64 counters | the logarithm to base 2 of the bytes that each of these counters takes |
//! | as many as needed | these counters, filled up with zeros |
//!
//! The rows of an object are as long as they can be. Counters follow each other without regard to functions. Heads of
//! a row are in one section, and so is each [`CHUNK`] of counters. The narrow form saves most of the time that the
//! system needs to write a file.

use super::FunctionRecord;
#[cfg(feature = "alloc")]
use super::kind::EXECUTIONS;
use crate::raw::head::word;
use crate::raw::layout::Word;

/// The first format version with rows. Before, no function has a word 0 in front either.
#[cfg(feature = "alloc")]
pub const SINCE: u16 = 3;
/// Most functions of a row.
pub const MOST_FUNCTIONS: usize = 64;
/// Counters that have one width. The last chunk of a row may have fewer.
pub const CHUNK: usize = 64;
/// Words of a function's head.
pub const HEAD: usize = 3;
/// Words that the heads of a row take at most, with their number.
pub const HEADS: usize = 1 + MOST_FUNCTIONS * HEAD;
/// Words that a chunk takes at most.
pub const LONGEST_CHUNK: usize = 1 + CHUNK;

/// The head of a function that has only these counters of executions; `None` if its numbers do not fit.
#[inline(always)]
pub fn head(record: &FunctionRecord, counters: usize) -> Option<[Word; HEAD]> {
    let (offset, counters) = (record.offset.try_into().ok()?, counters.try_into().ok()?);
    Some([record.name_ref.to_ne_bytes(), record.hash.to_ne_bytes(), word(offset, counters)])
}

/// The record and the number of counters in a function's head.
#[cfg(feature = "alloc")]
pub fn record([name_ref, hash, numbers]: [Word; HEAD]) -> (FunctionRecord, u32) {
    let [offset, counters]: [u32; 2] = zerocopy::transmute!(numbers);
    let record = FunctionRecord {
        name_ref: u64::from_ne_bytes(name_ref),
        hash: u64::from_ne_bytes(hash),
        offset: offset.into(),
        reserved: 0,
        flags: EXECUTIONS.bit(),
    };
    (record, counters)
}

/// How wide the counters of a chunk are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 1 byte.
    Byte,
    /// 2 bytes.
    Two,
    /// 4 bytes.
    Four,
    /// 8 bytes.
    Eight,
}

impl Width {
    /// The width that a chunk's first word tells.
    #[inline(always)]
    pub const fn from_word(word: i64) -> Option<Self> {
        Some(match word {
            0 => Self::Byte,
            1 => Self::Two,
            2 => Self::Four,
            3 => Self::Eight,
            _ => return None,
        })
    }

    /// The smallest for counters with these bits.
    #[inline(always)]
    const fn of(bits: u64) -> Self {
        match bits {
            0..=0xff => Self::Byte,
            0x100..=0xffff => Self::Two,
            0x1_0000..=0xffff_ffff => Self::Four,
            _ => Self::Eight,
        }
    }

    /// Number of words that `counters` counters take.
    #[inline(always)]
    pub const fn words(self, counters: usize) -> usize {
        (counters << self as u32).div_ceil(size_of::<Word>())
    }
}

/// Whether the heads of two rows, their number before them, are of the same functions. Puts the known offsets into the
/// first ones.
#[inline(always)]
pub fn agree(heads: &mut [Word], others: &[Word]) -> bool {
    let (Some((number, heads)), Some((other, others))) =
        (heads.split_first_mut(), others.split_first())
    else {
        return false;
    };
    let (heads, others) = (heads.as_chunks_mut::<HEAD>().0, others.as_chunks::<HEAD>().0);
    let mut differences = u64::from(number != other) | (heads.len() ^ others.len()) as u64;
    for ([name_ref, hash, numbers], [other_name_ref, other_hash, other_numbers]) in
        heads.iter_mut().zip(others)
    {
        let differ =
            |one: &Word, other: &Word| u64::from_ne_bytes(*one) ^ u64::from_ne_bytes(*other);
        let [offset, counters]: [u32; 2] = zerocopy::transmute!(*numbers);
        let [other_offset, other_counters]: [u32; 2] = zerocopy::transmute!(*other_numbers);
        differences |= differ(name_ref, other_name_ref) | differ(hash, other_hash);
        differences |= u64::from(counters ^ other_counters);
        if offset != other_offset {
            let known = FunctionRecord::known_offset(offset.into(), other_offset.into());
            *numbers = word(known as u32, counters);
        }
    }
    differences == 0
}

/// All bits of some counters.
#[inline(always)]
pub fn bits(counters: &[Word]) -> u64 {
    counters.iter().fold(0, |bits, &counter| bits | u64::from_ne_bytes(counter))
}

/// Puts a chunk of counters with no other bits than these into a room; gives its words.
pub fn pack(counters: &[Word], bits: u64, room: &mut [Word]) -> usize {
    let width = Width::of(bits);
    let words = width.words(counters.len());
    let Some((first, room)) = room.split_first_mut() else { return 0 };
    *first = (width as i64).to_ne_bytes();
    let Some(room) = room.get_mut(..words) else { return 0 };
    if let Some(last) = room.last_mut() {
        *last = Word::default();
    }
    match width {
        Width::Byte => narrow_eight(counters, room),
        Width::Two => narrow::<2>(counters, room.as_flattened_mut()),
        Width::Four => narrow::<4>(counters, room.as_flattened_mut()),
        Width::Eight => narrow::<8>(counters, room.as_flattened_mut()),
    }
    words.wrapping_add(1)
}

/// Most chunks are as narrow as this, so eight counters at a time become a word.
#[inline(always)]
fn narrow_eight(counters: &[Word], room: &mut [Word]) {
    let (eights, rest) = counters.as_chunks();
    for (free, &[a, b, c, d, e, f, g, h]) in room.iter_mut().zip(eights) {
        let [[a, ..], [b, ..], [c, ..], [d, ..]] = [a, b, c, d];
        let [[e, ..], [f, ..], [g, ..], [h, ..]] = [e, f, g, h];
        *free = [a, b, c, d, e, f, g, h];
    }
    narrow::<1>(rest, room.get_mut(eights.len()..).unwrap_or_default().as_flattened_mut());
}

#[inline(always)]
fn narrow<const BYTES: usize>(counters: &[Word], room: &mut [u8]) {
    for (free, counter) in room.as_chunks_mut().0.iter_mut().zip(counters) {
        *free = *counter.first_chunk::<BYTES>().unwrap_or(&[0; BYTES]);
    }
}

/// Adds the counters in the words of a chunk, the first word left out, to others; gives all bits of the sums.
#[inline(always)]
pub fn add(width: Width, words: &[Word], counters: &mut [Word]) -> u64 {
    let bytes = words.as_flattened();
    match width {
        Width::Byte => widen::<1>(bytes, counters),
        Width::Two => widen::<2>(bytes, counters),
        Width::Four => widen::<4>(bytes, counters),
        Width::Eight => widen::<8>(bytes, counters),
    }
}

#[inline(always)]
fn widen<const BYTES: usize>(bytes: &[u8], counters: &mut [Word]) -> u64 {
    let mut bits = 0;
    for (counter, bytes) in counters.iter_mut().zip(bytes.as_chunks::<BYTES>().0) {
        let mut other = Word::default();
        if let Some(low) = other.first_chunk_mut() {
            *low = *bytes;
        }
        let sum = u64::from_ne_bytes(*counter).saturating_add(u64::from_ne_bytes(other));
        bits |= sum;
        *counter = sum.to_ne_bytes();
    }
    bits
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;
    use crate::raw::llvm::kind::EXECUTIONS;

    #[test]
    fn counters_come_back() {
        for (largest, width) in [
            (0, Width::Byte),
            (0xff, Width::Byte),
            (0x100, Width::Two),
            (0xffff, Width::Two),
            (0x1_0000, Width::Four),
            (0xffff_ffff, Width::Four),
            (0x1_0000_0000, Width::Eight),
            (u64::MAX, Width::Eight),
        ] {
            for number in [1, 2, 7, 8, 9, CHUNK] {
                let counters: Vec<u64> =
                    (0..number as u64).map(|place| largest - place.min(largest)).collect();
                let words: Vec<Word> =
                    counters.iter().map(|counter| counter.to_ne_bytes()).collect();
                let mut room = [[0xaa; 8]; LONGEST_CHUNK + 1];
                let used = pack(&words, bits(&words), &mut room);
                assert_eq!(room[used], [0xaa; 8]);
                assert_eq!(Width::from_word(i64::from_ne_bytes(room[0])), Some(width));
                assert_eq!(used, 1 + width.words(number));
                let mut found = vec![1u64.to_ne_bytes(); number];
                let sums = add(width, &room[1..used], &mut found);
                assert_eq!(sums, bits(&found));
                let expected =
                    counters.iter().map(|counter| counter.saturating_add(1).to_ne_bytes());
                assert!(found.into_iter().eq(expected), "{largest:x}, {number}");
            }
        }
        assert_eq!([-1, 4].map(Width::from_word), [None; 2]);
    }

    #[test]
    fn heads_come_back() {
        let flags = EXECUTIONS.bit();
        let known =
            FunctionRecord { name_ref: 1, hash: 2, offset: 0xffff_ffff, reserved: 0, flags };
        assert_eq!(record(head(&known, 7).unwrap()), (known, 7));
        assert_eq!(head(&FunctionRecord { offset: 1 << 32, ..known }, 7), None);
    }

    #[test]
    fn heads_agree_but_for_offsets() {
        let flags = EXECUTIONS.bit();
        let row = |name_ref, hash, offset, counters| {
            let record = FunctionRecord { name_ref, hash, offset, reserved: 0, flags };
            let heads = [head(&record, counters).unwrap(), head(&record, 9).unwrap()].concat();
            [vec![2u64.to_ne_bytes()], heads].concat()
        };
        let known = row(1, 2, 5, 3);
        for other in [row(1, 2, 0, 3), row(1, 2, 7, 3), known.clone()] {
            let (mut ours, mut theirs) = (other.clone(), known.clone());
            assert!(agree(&mut ours, &known) && agree(&mut theirs, &other));
            assert_eq!((&ours, &theirs), (&known, &known));
        }
        for other in
            [row(0, 2, 5, 3), row(1, 0, 5, 3), row(1, 2, 5, 4), vec![], known[..4].to_vec()]
        {
            assert!(!agree(&mut known.clone(), &other));
        }
    }
}
