//! The counters of one kind of one function, and where they are.
#![allow(unsafe_code)]

use core::sync::atomic::AtomicI64;

use crate::raw::gcov::record::LISTED_SITE;
use crate::raw::gcov::{Kind, Rule};
use crate::runtime::counters::nodes::Node;
use crate::runtime::counters::topn::{Counters, LiveSite};

const _: () = assert!(size_of::<Counters>() <= 8 * LISTED_SITE);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 24);

/// The counters of one kind of one function.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// The kind.
    pub kind: Kind,
    /// How it merges.
    pub rule: Rule,
    pub(super) site_counters: u8,
    /// The counters, as many as the compiler laid out.
    pub counters: &'static [AtomicI64],
}

/// How far the counters are from where the compiler laid them out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// In bytes; without live counters there is no such distance.
    #[cfg(feature = "live")]
    pub bytes: isize,
}

impl Shift {
    /// The place of counters that the compiler laid out here.
    #[inline(always)]
    pub(super) const fn place(self, counters: *const AtomicI64) -> *const AtomicI64 {
        #[cfg(feature = "live")]
        return counters.wrapping_byte_offset(self.bytes);
        #[cfg(not(feature = "live"))]
        counters
    }
}

impl Array {
    /// The same counters in their other place.
    #[cfg(feature = "live")]
    #[inline(always)]
    pub(super) fn with(self, shift: Shift) -> Self {
        let place = shift.place(self.counters.as_ptr());
        // SAFETY: whoever asks for a shift has mapped a copy of all counters there.
        let counters = unsafe { core::slice::from_raw_parts(place, self.counters.len()) };
        Self { counters, ..self }
    }

    /// The same counters.
    #[cfg(not(feature = "live"))]
    #[inline(always)]
    pub(super) fn with(self, _: Shift) -> Self {
        self
    }

    /// A top-N site of the array; `None` behind the last, or if the kind is another.
    pub fn site(&self, index: usize) -> Option<LiveSite<'static>> {
        let length = usize::from(self.site_counters);
        let site = self.counters.get(index.checked_mul(length)?..)?.get(..length)?;
        if self.rule != Rule::TopN {
            return None;
        }
        // SAFETY: the compiler laid the counters out for a site. Only a profiler touches the site's list.
        site.first_chunk().map(|site| unsafe { LiveSite::new(site) })
    }

    /// Number of top-N sites.
    pub fn site_count(&self) -> usize {
        let length = usize::from(self.site_counters);
        match (self.rule, self.counters.len()) {
            (Rule::TopN, number) if number > length => number.checked_div(length).unwrap_or(0),
            (Rule::TopN, number) => usize::from(number == length),
            _ => 0,
        }
    }

    /// The counters as top-N sites; none if the kind is another.
    #[inline(always)]
    pub fn sites(&self) -> Sites {
        let counters = if self.rule == Rule::TopN { self.counters } else { &[] };
        Sites { counters, length: self.site_counters }
    }
}

/// The sites of an array.
#[derive(Clone, Debug)]
pub struct Sites {
    counters: &'static [AtomicI64],
    length: u8,
}

impl Iterator for Sites {
    type Item = LiveSite<'static>;

    #[inline(always)]
    fn next(&mut self) -> Option<LiveSite<'static>> {
        let (site, rest) = self.counters.split_at_checked(usize::from(self.length))?;
        self.counters = rest;
        // SAFETY: the compiler laid the counters out for a site. Only a profiler touches the site's list.
        site.first_chunk().map(|site| unsafe { LiveSite::new(site) })
    }
}
