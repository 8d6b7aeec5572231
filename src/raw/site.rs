//! A top-N site: in a program's memory, and so in a live file, and in a dump.
//!
//! In memory it is three counters, which gcc lays out:
//!
//! | counter | bits | content |
//! |---|---|---|
//! | 0 | all | number of events, as libgcov has it; or [`SUMMED`] and the number of events in no node |
//! | 1 | 0 to 6 | number of nodes |
//! | 1 | 7 | whether threads count frequent values elsewhere, too; not in a live file |
//! | 1 | 8 to 19 | number of the runtime's index for the site, 0 if it has none |
//! | 1 | 20 to 63 | the floor: the largest count that a node had when its place was given away |
//! | 2 | all | address of the first node |
//!
//! A node is three words: value, count, address of the next node.

use crate::raw::merge::{Pair, SITE_LIMIT};

/// Marks the first counter of a site whose total is the sum of its nodes' counts. The counter's remainder is
/// added to that sum.
pub const SUMMED: i64 = 1 << 62;

/// Marks the count of a node while its value is being replaced.
pub const REPLACING: i64 = i64::MIN;

/// The second counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape(pub i64);

impl Shape {
    /// Add this for one more node.
    pub const NODE: Self = Self(1);

    /// Add this for an index.
    #[inline(always)]
    pub const fn of_index(number: u32) -> Self {
        Self((number as i64) << 8)
    }

    /// Add this to raise the floor.
    #[inline(always)]
    pub const fn of_floor(rise: i64) -> Self {
        Self(rise << 20)
    }

    /// Whether threads count elsewhere, too.
    pub const LANES: Self = Self(1 << 7);

    /// Number of nodes.
    #[inline(always)]
    pub const fn nodes(self) -> usize {
        (self.0 & 0x7f) as usize
    }

    /// The bits that stay when the events are forgotten: of the index, and of lanes.
    pub const STAYS: i64 = 0xfff << 8 | Self::LANES.0;

    /// Number of the index, 0 if there is none.
    #[inline(always)]
    pub const fn index(self) -> u32 {
        (self.0 >> 8 & 0xfff) as u32
    }

    /// The largest count that was given away.
    #[inline(always)]
    pub const fn floor(self) -> i64 {
        (self.0 as u64 >> 20) as i64
    }
}

/// A site's number of events and the bound on each count's error. Needs the site's first two counters and the
/// sum of its nodes' counts.
#[inline(always)]
pub const fn total_and_error(first: i64, shape: Shape, counts: i64) -> (i64, i64) {
    let total =
        if first >= SUMMED { first.wrapping_sub(SUMMED).wrapping_add(counts) } else { first };
    // Events in no node may have had any value.
    let lost = total.wrapping_sub(counts);
    (total, shape.floor().wrapping_add(if lost > 0 { lost } else { 0 }))
}

/// The events of a node, from its second word.
#[inline(always)]
pub const fn count(word: i64) -> i64 {
    word & !REPLACING
}

/// Counters of a top-N site in memory since GCC 11: total, number of nodes, list.
pub const LISTED_SITE: usize = 3;

/// The second word of a top-N site in a dump.
///
/// | bits | content |
/// |---|---|
/// | 0 to 7 | number of values kept |
/// | 8 | whether each value stands in one word with its count: the value in the lower half |
/// | all | inverted if the site's error follows |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteHead {
    /// Number of values.
    pub pairs: usize,
    /// Whether a value and its count are one word. Otherwise the value is one, and its count the next.
    pub is_narrow: bool,
    /// Whether the next word is the error. Otherwise the error is 0.
    pub has_error: bool,
}

const NARROW: i64 = 1 << 8;

impl SiteHead {
    /// The head of a site with so many values of any size.
    #[inline(always)]
    pub const fn new(pairs: usize, error: i64) -> Self {
        Self { pairs, is_narrow: false, has_error: error != 0 }
    }

    /// The head of a site with these values.
    #[inline(always)]
    pub fn of(pairs: &[Pair], error: i64) -> Self {
        let bits = pairs.iter().fold(0, |bits, pair| bits | pair.value | pair.count);
        Self { is_narrow: bits as u64 >> 32 == 0, ..Self::new(pairs.len(), error) }
    }

    /// The word to write.
    #[inline(always)]
    pub const fn to_word(self) -> i64 {
        let word = self.pairs as i64 | if self.is_narrow { NARROW } else { 0 };
        if self.has_error { !word } else { word }
    }

    /// Reads the word; `None` if it announces more values than a site holds.
    #[inline(always)]
    pub const fn from_word(word: i64) -> Option<Self> {
        let has_error = word < 0;
        let word = if has_error { !word } else { word };
        let is_narrow = word & NARROW != 0;
        let pairs = (word & !NARROW) as usize;
        if pairs <= SITE_LIMIT { Some(Self { pairs, is_narrow, has_error }) } else { None }
    }

    /// Words of the values and their counts.
    #[inline(always)]
    pub const fn words(self) -> usize {
        if self.is_narrow { self.pairs } else { 2 * self.pairs }
    }

    /// Puts a value and its count, word by word.
    #[inline(always)]
    pub fn put(self, pair: Pair, mut put: impl FnMut(i64)) {
        match self.is_narrow {
            true => put(pair.count << 32 | pair.value),
            false => [pair.value, pair.count].into_iter().for_each(put),
        }
    }

    /// Takes the values and their counts from the words that follow.
    #[inline(always)]
    pub const fn reader(self) -> PairReader {
        PairReader { is_narrow: self.is_narrow, value: None }
    }
}

/// See [`SiteHead::reader`].
#[derive(Clone, Copy, Debug)]
pub struct PairReader {
    is_narrow: bool,
    /// A value whose count is the next word. A section may end between them.
    value: Option<i64>,
}

impl PairReader {
    /// Takes the next word; gives a value and its count if it ends one.
    #[inline(always)]
    pub fn take(&mut self, word: i64) -> Option<Pair> {
        if self.is_narrow {
            return Some(Pair { value: word & 0xffff_ffff, count: (word as u64 >> 32) as i64 });
        }
        let value = self.value.take();
        if value.is_none() {
            self.value = Some(word);
        }
        Some(Pair { value: value?, count: word })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_three_parts() {
        let parts = [Shape(64), Shape::of_index(4095), Shape::of_floor((1 << 44) - 1)];
        let shape = Shape(parts.iter().map(|part| part.0).sum());
        assert_eq!((shape.nodes(), shape.index(), shape.floor()), (64, 4095, (1 << 44) - 1));
        let laned = Shape(shape.0 | Shape::LANES.0);
        assert_eq!((laned.nodes(), laned.index(), laned.floor()), (64, 4095, (1 << 44) - 1));
        let stays = [shape, laned].map(|shape| shape.0 & Shape::STAYS);
        assert_eq!(stays, [parts[1].0, parts[1].0 + Shape::LANES.0]);
    }

    #[test]
    fn events_in_no_node_are_an_error() {
        let floor = Shape(Shape::of_floor(5).0 + 64);
        assert_eq!(total_and_error(SUMMED + 3, floor, 100), (103, 8));
        assert_eq!(total_and_error(103, Shape(64), 100), (103, 3));
        assert_eq!(total_and_error(-5, Shape(1), 5), (-5, 0));
        assert_eq!(count(REPLACING + 7), 7);
    }

    #[test]
    fn heads_of_sites() {
        for (pairs, error, word) in [(0, 0, 0), (3, 0, 3), (0, 7, -1), (64, 1, -65)] {
            let head = SiteHead::new(pairs, error);
            assert_eq!(head.to_word(), word);
            assert_eq!(SiteHead::from_word(word), Some(head));
        }
        assert_eq!([65, i64::MAX, -66, i64::MIN, 512, 321].map(SiteHead::from_word), [None; 6]);
    }

    #[test]
    fn values_come_back() {
        const LARGE: i64 = 0xffff_ffff;
        let pairs = |pairs: &[(i64, i64)]| -> std::vec::Vec<Pair> {
            pairs.iter().map(|&(value, count)| Pair { value, count }).collect()
        };
        for (pairs, error, is_narrow) in [
            (pairs(&[]), 0, true),
            (pairs(&[(0, 1), (LARGE, LARGE)]), 5, true),
            (pairs(&[(1, 1), (LARGE + 1, 1)]), 0, false),
            (pairs(&[(-1, 1)]), 0, false),
            (pairs(&[(1, 1), (2, LARGE + 1)]), 1, false),
        ] {
            let head = SiteHead::of(&pairs, error);
            assert_eq!((head.pairs, head.is_narrow), (pairs.len(), is_narrow));
            assert_eq!(SiteHead::from_word(head.to_word()), Some(head));
            let mut words = std::vec::Vec::new();
            pairs.iter().for_each(|&pair| head.put(pair, |word| words.push(word)));
            assert_eq!(words.len(), head.words());
            let mut reader = head.reader();
            assert!(words.into_iter().filter_map(|word| reader.take(word)).eq(pairs));
        }
    }
}
