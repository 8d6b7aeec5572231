//! Writes `.gcda` records without a heap: for files, and for `__gcov_info_to_gcda` on the target.

use super::{FUNCTION, MAGIC, OBJECT_SUMMARY};
use crate::raw::gcov::{FunctionRecord, Version};
use crate::raw::kind::Kind;
#[cfg(feature = "alloc")]
use crate::raw::merge::SITE_LIMIT;
use crate::raw::merge::{Pair, Site};

/// The destination of the words.
pub trait Words {
    /// Why it could not take them.
    type Error;
    /// Takes one word.
    fn word(&mut self, word: u32) -> Result<(), Self::Error>;
}

/// A top-N site, in any kind of memory.
pub trait TopN {
    /// Events, negative if values were lost in merging.
    fn total(&self) -> i64;
    /// The values kept, in the order of their first appearance.
    fn pairs(&self) -> impl Iterator<Item = Pair>;
}

impl TopN for &Site {
    fn total(&self) -> i64 {
        self.total
    }

    fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.pairs.iter().copied()
    }
}

/// Writes one file, record after record.
pub struct Encoder<W> {
    words: W,
    version: Version,
}

/// Number of values of a top-N site in a file of GCC 10.
#[cfg(feature = "alloc")]
const FIXED_PAIRS: usize = 4;

impl<W: Words> Encoder<W> {
    /// Writes the header.
    pub fn new(
        mut words: W,
        version: Version,
        stamp: u32,
        checksum: u32,
    ) -> Result<Self, W::Error> {
        words.word(MAGIC)?;
        words.word(version.0)?;
        words.word(stamp)?;
        if version.counts_bytes() {
            words.word(checksum)?;
        }
        Ok(Self { words, version })
    }

    /// Writes OBJECT_SUMMARY.
    pub fn summary(&mut self, runs: u64, sum_max: u64) -> Result<(), W::Error> {
        self.head(OBJECT_SUMMARY, 2)?;
        self.words.word(runs as u32)?;
        self.words.word(sum_max as u32)
    }

    /// Writes FUNCTION. Gives `false` if there is no function: then no counters may follow.
    pub fn function(&mut self, function: &FunctionRecord) -> Result<bool, W::Error> {
        if function.flags & FunctionRecord::ABSENT != 0 {
            self.head(FUNCTION, 0)?;
            return Ok(false);
        }
        self.head(FUNCTION, 3)?;
        self.words.word(function.ident)?;
        self.words.word(function.lineno_checksum)?;
        self.words.word(function.cfg_checksum)?;
        Ok(true)
    }

    /// Writes the plain counters of a kind.
    pub fn counters(
        &mut self,
        kind: Kind,
        values: impl ExactSizeIterator<Item = i64> + Clone,
    ) -> Result<(), W::Error> {
        let words = 2 * values.len() as u32;
        if !self.version.has_fixed_topn() && words > 0 && values.clone().all(|value| value == 0) {
            self.words.word(kind.tag())?;
            return self.words.word(self.length(words).wrapping_neg());
        }
        self.head(kind.tag(), words)?;
        values.into_iter().try_for_each(|value| self.value(value))
    }

    /// Writes the top-N sites of a kind.
    ///
    /// In a running program values may appear after they have been counted. The record has room for the
    /// number counted: the last site takes what is left.
    pub fn sites<S: TopN>(
        &mut self,
        kind: Kind,
        sites: impl Iterator<Item = S> + Clone,
    ) -> Result<(), W::Error> {
        let number = sites.clone().count();
        #[cfg(feature = "alloc")]
        if self.version.has_fixed_topn() {
            self.head(kind.tag(), 2 * (1 + 2 * FIXED_PAIRS as u32) * number as u32)?;
            return sites.take(number).try_for_each(|site| self.fixed_site(&site));
        }
        let mut left: usize = sites.clone().map(|site| site.pairs().count()).sum();
        self.head(kind.tag(), 4 * (number as u32).wrapping_add(left as u32))?;
        for (place, site) in sites.take(number).enumerate() {
            let last = place.wrapping_add(1) == number;
            let pairs = if last { left } else { left.min(site.pairs().count()) };
            left = left.wrapping_sub(pairs);
            self.value(site.total())?;
            self.value(pairs as i64)?;
            let mut values = site.pairs();
            for _ in 0..pairs {
                let Pair { value, count } = values.next().unwrap_or_default();
                self.value(value)?;
                self.value(count)?;
            }
        }
        Ok(())
    }

    /// Writes the end and gives the destination back.
    pub fn finish(mut self) -> Result<W, W::Error> {
        self.words.word(0)?;
        Ok(self.words)
    }

    /// GCC 10 keeps four values, found by its own algorithm. Its readers want the four most frequent ones. Up
    /// to four values are exactly those that it keeps, the first one last.
    #[cfg(feature = "alloc")]
    fn fixed_site(&mut self, site: &impl TopN) -> Result<(), W::Error> {
        self.value(site.total())?;
        let mut kept: heapless::Vec<Pair, SITE_LIMIT> = site.pairs().take(SITE_LIMIT).collect();
        while kept.len() > FIXED_PAIRS {
            let rarest = kept.iter().enumerate().min_by_key(|(_, pair)| pair.count);
            let Some((place, _)) = rarest else { break };
            kept.remove(place);
        }
        for place in (0..FIXED_PAIRS).rev() {
            let Pair { value, count } = kept.get(place).copied().unwrap_or_default();
            let count = count.wrapping_mul(FIXED_PAIRS as i64);
            let shown = count >= site.total().wrapping_abs() && count != 0;
            self.value(if shown { value } else { 0 })?;
            self.value(if shown { count } else { 0 })?;
        }
        Ok(())
    }

    fn head(&mut self, tag: u32, words: u32) -> Result<(), W::Error> {
        self.words.word(tag)?;
        self.words.word(self.length(words))
    }

    fn length(&self, words: u32) -> u32 {
        if self.version.counts_bytes() { words.wrapping_mul(4) } else { words }
    }

    fn value(&mut self, value: i64) -> Result<(), W::Error> {
        self.words.word(value as u32)?;
        self.words.word((value >> 32) as u32)
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use alloc::vec::Vec;
    use core::convert::Infallible;

    use super::*;

    struct Collected(Vec<u32>);

    impl Words for Collected {
        type Error = Infallible;

        fn word(&mut self, word: u32) -> Result<(), Infallible> {
            self.0.push(word);
            Ok(())
        }
    }

    /// The low words of a site's values in a file of GCC 10.
    fn of_gcc_10(total: i64, pairs: &[(i64, i64)]) -> Vec<u32> {
        let pairs = pairs.iter().map(|&(value, count)| Pair { value, count });
        let site = Site { total, error: 0, pairs: pairs.collect() };
        let version = Version(u32::from_be_bytes(*b"B02*"));
        let Ok(mut encoder) = Encoder::new(Collected(Vec::new()), version, 0, 0);
        let Ok(()) = encoder.sites(Kind::INDIRECT_CALL, [&site].into_iter());
        let Ok(words) = encoder.finish();
        let record = &words.0[3..words.0.len() - 1];
        assert_eq!(record[..2], [0x01a9_0000, 18]);
        record[2..].iter().copied().step_by(2).collect()
    }

    /// The first record is one that libgcov of GCC 10.2 wrote.
    #[test]
    fn a_site_of_gcc_10_has_four_values() {
        let two = of_gcc_10(10, &[(934951387, 5), (1087602010, 5)]);
        assert_eq!(two, [10, 0, 0, 0, 0, 1087602010, 20, 934951387, 20]);
        let six = [(1, 20), (2, 30), (3, 10), (4, 30), (5, 25), (6, 29)];
        assert_eq!(of_gcc_10(144, &six), [144, 0, 0, 0, 0, 0, 0, 0, 0]);
        let even = [(1, 50), (2, 50), (3, 1), (4, 50), (5, 49), (6, 0)];
        assert_eq!(of_gcc_10(200, &even), [200, 0, 0, 4, 200, 2, 200, 1, 200]);
    }
}
