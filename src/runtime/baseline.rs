//! What has been written already, so that counting can go on after a flush.
//!
//! A flush never sets counters back. Another thread, or code that a signal interrupted, may hold a counter in
//! a register and store it later; that would undo the setting back and count everything twice. Instead a
//! flush remembers the values it wrote, and the next flush writes the difference. There are two copies: the
//! values of the last successful flush and those of the flush in progress. The latter replace the former only
//! when the file is in place.
//!
//! The first flush that needs the memory maps it. A program that just ends never needs it.
#![allow(unsafe_code)]

use core::ptr::NonNull;

use super::sys::{self, Errno};
#[cfg(feature = "live")]
use crate::raw::merge::Pair;
use crate::raw::merge::{SITE_LIMIT, Site};

/// Words of a site's values: total, error, number of pairs, the pairs.
const SITE_WORDS: usize = 3 + 2 * SITE_LIMIT;

/// The two copies.
pub struct Baseline {
    memory: Option<NonNull<i64>>,
    /// Number of objects that the copies have room for.
    objects: usize,
    counters: usize,
    sites: usize,
    /// Whether the second copy is the one of the last successful flush.
    second: bool,
}

// SAFETY: the mapping belongs to this value alone, wherever the value goes.
unsafe impl Send for Baseline {}

impl Baseline {
    /// Nothing written yet.
    pub const fn new() -> Self {
        Self { memory: None, objects: 0, counters: 0, sites: 0, second: false }
    }

    /// Makes room for the counts of this many objects. `totals` gives their counters and sites.
    ///
    /// All objects of an image are registered before its code runs, so the size stays the same. If it does
    /// not, there is no room for what is new, and the end of the program writes that. While an image is being
    /// loaded there is nothing to count, and no room is needed.
    #[inline(always)]
    pub fn prepare(
        &mut self,
        objects: usize,
        totals: impl FnOnce() -> (usize, usize),
    ) -> Result<(), Errno> {
        match self.memory {
            Some(_) if objects == self.objects => Ok(()),
            Some(_) => Err(Errno::NOMEM),
            None => self.map(objects, totals()),
        }
    }

    fn map(&mut self, objects: usize, (counters, sites): (usize, usize)) -> Result<(), Errno> {
        let bytes = words(counters, sites).and_then(|words| words.checked_mul(16));
        let bytes = bytes.ok_or(Errno::NOMEM)?;
        if bytes == 0 {
            return Ok(());
        }
        let memory = Some(sys::map(bytes)?.cast());
        *self = Self { memory, objects, counters, sites, second: false };
        Ok(())
    }

    /// The values of the last successful flush, and room for those of the one in progress. `None`
    /// if counting does not go on after this flush, or nothing was written yet.
    pub fn copies(&mut self) -> Option<(Written<'_>, Writing<'_>)> {
        let words = words(self.counters, self.sites)?;
        let (first, second) = (self.memory?, words);
        // SAFETY: the mapping holds two copies of `words` words.
        let second = unsafe { first.add(second) };
        let (written, writing) = if self.second { (second, first) } else { (first, second) };
        // SAFETY: mapped, initialised by the system, and only reachable through `self`; the two
        // copies do not overlap.
        let written = unsafe { core::slice::from_raw_parts(written.as_ptr(), words) };
        // SAFETY: as above.
        let writing = unsafe { core::slice::from_raw_parts_mut(writing.as_ptr(), words) };
        let (counters, sites) = written.split_at_checked(self.counters)?;
        let written = Written { counters, sites: sites.as_chunks().0 };
        let (counters, sites) = writing.split_at_mut_checked(self.counters)?;
        let writing = Writing { counters, sites: sites.as_chunks_mut().0 };
        Some((written, writing))
    }

    /// The flush in progress has succeeded.
    pub fn commit(&mut self) {
        self.second = !self.second;
    }

    /// Nothing of what is in the counters has been written.
    pub fn forget(&mut self) {
        if let (Some(memory), Some(words)) = (self.memory, words(self.counters, self.sites)) {
            // SAFETY: mapped with this size, and nobody holds a copy while `self` is borrowed.
            unsafe { sys::unmap(memory.cast(), words.wrapping_mul(16)) };
        }
        *self = Self::new();
    }
}

impl Default for Baseline {
    fn default() -> Self {
        Self::new()
    }
}

fn words(counters: usize, sites: usize) -> Option<usize> {
    counters.checked_add(sites.checked_mul(SITE_WORDS)?)
}

/// What the last successful flush wrote.
pub struct Written<'b> {
    counters: &'b [i64],
    sites: &'b [[i64; SITE_WORDS]],
}

/// What the flush in progress writes.
pub struct Writing<'b> {
    counters: &'b mut [i64],
    sites: &'b mut [[i64; SITE_WORDS]],
}

impl Written<'_> {
    /// Values of the counters from one on.
    pub fn counters(&self, start: usize) -> &[i64] {
        self.counters.get(start..).unwrap_or_default()
    }

    /// A site.
    #[cfg(feature = "live")]
    pub fn site(&self, place: usize) -> Site {
        let Some([total, error, used, pairs @ ..]) = self.sites.get(place) else {
            return Site::default();
        };
        let mut site = Site::new(*total, *error);
        for &[value, count] in pairs.as_chunks().0.iter().take(*used as usize) {
            let _ = site.pairs.push(Pair { value, count });
        }
        site
    }

    /// Leaves of a site's events those that are new. A value that had no place came into it with up
    /// to as many events as the error was.
    pub fn take_off(&self, place: usize, site: &mut Site) {
        let Some([total, error, used, pairs @ ..]) = self.sites.get(place) else { return };
        let pairs = pairs.as_chunks::<2>().0.get(..*used as usize).unwrap_or_default();
        site.total = site.total.wrapping_sub(*total);
        site.error = site.error.wrapping_sub(*error);
        site.pairs.retain_mut(|pair| {
            let before = pairs.iter().find(|[value, _]| *value == pair.value);
            pair.count = pair.count.wrapping_sub(before.map_or(*error, |&[_, count]| count));
            pair.count > 0
        });
    }
}

impl Writing<'_> {
    /// Room for the values of the counters from one on.
    pub fn counters(&mut self, start: usize) -> &mut [i64] {
        self.counters.get_mut(start..).unwrap_or_default()
    }

    /// Remembers the values of a site.
    pub fn set_site(&mut self, place: usize, now: &Site) {
        let Some([total, error, used, pairs @ ..]) = self.sites.get_mut(place) else { return };
        *total = now.total;
        *error = now.error;
        *used = now.pairs.len() as i64;
        for (to, from) in pairs.as_chunks_mut().0.iter_mut().zip(&now.pairs) {
            *to = [from.value, from.count];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::merge::Pair;

    fn site(total: i64, pairs: &[(i64, i64)]) -> Site {
        let pairs = pairs.iter().map(|&(value, count)| Pair { value, count });
        Site { total, error: 0, pairs: pairs.collect() }
    }

    #[test]
    fn only_what_was_committed_is_taken_off() {
        let mut baseline = Baseline::new();
        baseline.prepare(1, || (2, 1)).unwrap();
        let (written, mut writing) = baseline.copies().unwrap();
        assert_eq!(written.counters(1), [0]);
        writing.counters(1)[0] = 7;
        writing.set_site(0, &site(5, &[(1, 3), (2, 2)]));
        assert_eq!(baseline.copies().unwrap().0.counters(1), [0]);
        baseline.commit();
        let (written, _) = baseline.copies().unwrap();
        assert_eq!(written.counters(0), [0, 7]);
        let mut since = site(9, &[(1, 5), (2, 1), (3, 4)]);
        written.take_off(0, &mut since);
        assert_eq!(since.total, 4);
        let pairs: [(i64, i64); 2] = [(1, 2), (3, 4)];
        assert!(since.pairs.iter().map(|pair| (pair.value, pair.count)).eq(pairs));
    }

    #[test]
    fn nothing_needs_no_room() {
        let mut baseline = Baseline::new();
        baseline.prepare(0, || (0, 0)).unwrap();
        assert!(baseline.copies().is_none());
        baseline.prepare(1, || (1, 0)).unwrap();
        assert!(baseline.copies().is_some());
    }

    #[test]
    fn objects_that_come_later_are_counted_from_zero() {
        let mut baseline = Baseline::new();
        baseline.prepare(1, || (1, 1)).unwrap();
        let (_, mut writing) = baseline.copies().unwrap();
        writing.counters(0)[0] = 3;
        writing.set_site(0, &site(2, &[(8, 2)]));
        baseline.commit();
        assert_eq!(baseline.prepare(2, || (3, 2)), Err(Errno::NOMEM));
        let (written, _) = baseline.copies().unwrap();
        assert_eq!((written.counters(0), written.counters(1)), (&[3][..], &[][..]));
        for (place, count) in [(0, 1), (1, 3)] {
            let mut since = site(3, &[(8, 3)]);
            written.take_off(place, &mut since);
            assert_eq!(since.pairs[0].count, count);
        }
    }
}
