//! Which memory is a file's.
//!
//! Live counters and what profilers keep beside them are pages of a file. Whoever may write the file may change them at
//! any moment, so a pointer found there is no more than an offset in these pages: it is followed only if it leads to a
//! place inside them. Other memory is the process's own.

#[cfg(feature = "live")]
use crate::runtime::atomic::{AtomicUsize, Ordering};

/// The pages that are files, from the first to the last: all those that the linker script gathers lie side by side.
#[cfg(feature = "live")]
static PAGES: [AtomicUsize; 2] = [AtomicUsize::new(usize::MAX), AtomicUsize::new(0)];

/// Says that pages become a file's.
#[cfg(feature = "live")]
pub fn add_pages(pages: core::ops::Range<usize>) {
    PAGES[0].fetch_min(pages.start, Ordering::Relaxed);
    PAGES[1].fetch_max(pages.end, Ordering::Relaxed);
}

/// Whether what is found at `link` may lead to a `T` at an address.
#[cfg(feature = "live")]
#[inline(always)]
pub fn may_lead<T>(link: usize, to: usize) -> bool {
    let [start, end] = [&PAGES[0], &PAGES[1]].map(|bound| bound.load(Ordering::Relaxed));
    if link.wrapping_sub(start) >= end.wrapping_sub(start) || end == 0 {
        return true;
    }
    let last = end.wrapping_sub(start).saturating_sub(size_of::<T>());
    to.wrapping_sub(start) <= last && to.is_multiple_of(align_of::<T>())
}

/// No memory is a file's.
#[cfg(not(feature = "live"))]
#[inline(always)]
pub fn may_lead<T>(_link: usize, _to: usize) -> bool {
    true
}

#[cfg(all(test, feature = "live"))]
mod tests {
    use super::*;

    /// Addresses of nothing: no other test has memory there.
    #[test]
    fn pointers_stay_in_the_pages() {
        let may = may_lead::<[u64; 3]>;
        assert!(may(0x5000, 0x9001));
        add_pages(0x4000..0x6000);
        let inside = [0x4000, 0x4008, 0x6000 - 24];
        let outside = [0, 8, 0x3ff8, 0x4004, 0x6000 - 16, 0x6000, 0x7000, usize::MAX & !7];
        for link in [0x4000, 0x5ff8] {
            assert!(inside.iter().all(|&to| may(link, to)));
            assert!(!outside.iter().any(|&to| may(link, to)));
        }
        for link in [0x3ff8, 0x6000] {
            assert!(inside.iter().chain(&outside).all(|&to| may(link, to)));
        }
    }
}
