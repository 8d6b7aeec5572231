//! The counters of one kind of one function, and where they are.
#![allow(unsafe_code)]

use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Word;
use crate::raw::site::LISTED_SITE;
use crate::runtime::abi::{self, Shift, load_words};
use crate::runtime::atomic::{AtomicI64, Ordering};
use crate::runtime::counters::node::Node;
use crate::runtime::counters::topn::{Counters, LiveSite};

const _: () = assert!(size_of::<Counters>() <= 8 * LISTED_SITE);
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
}

impl abi::Array for Array {
    #[inline(always)]
    fn kind(&self) -> Kind {
        self.kind
    }

    #[inline(always)]
    fn rule(&self) -> Rule {
        self.rule
    }

    #[inline(always)]
    fn words(&self) -> usize {
        if self.rule == Rule::TopN { 0 } else { self.counters.len() }
    }

    #[inline(always)]
    fn load(&self, start: usize, room: &mut [Word]) -> i64 {
        load_words(self.counters.get(start..).unwrap_or_default(), room)
    }

    /// A top-N site of the array; `None` behind the last, or if the kind is another.
    fn site(&self, index: usize) -> Option<LiveSite<'static>> {
        let length = usize::from(self.site_counters);
        let site = self.counters.get(index.checked_mul(length)?..)?.get(..length)?;
        if self.rule != Rule::TopN {
            return None;
        }
        // SAFETY: the compiler laid the counters out for a site. Only a profiler touches the site's list.
        site.first_chunk().map(|site| unsafe { LiveSite::new(site) })
    }

    fn site_count(&self) -> usize {
        let length = usize::from(self.site_counters);
        match (self.rule, self.counters.len()) {
            (Rule::TopN, number) if number > length => number.checked_div(length).unwrap_or(0),
            (Rule::TopN, number) => usize::from(number == length),
            _ => 0,
        }
    }

    #[inline(always)]
    fn sites(&self) -> impl Iterator<Item = LiveSite<'static>> + Clone {
        let counters = if self.rule == Rule::TopN { self.counters } else { &[] };
        Sites { counters, length: self.site_counters }
    }

    fn reset(&self) {
        self.sites().for_each(|live| live.reset());
        let counters = self.counters.iter().filter(|_| self.rule != Rule::TopN);
        counters.for_each(|live| live.store(0, Ordering::Relaxed));
    }

    #[cfg(feature = "live")]
    fn store(&self, words: &[i64]) {
        for (counter, value) in self.counters.iter().zip(words) {
            counter.store(*value, Ordering::Relaxed);
        }
    }

    fn place(&self) -> core::ops::Range<usize> {
        let range = self.counters.as_ptr_range();
        range.start.addr()..range.end.addr()
    }

    #[cfg(feature = "live")]
    fn relocate(&self, translate: &dyn Fn(usize) -> Option<&'static Node>) {
        self.sites().for_each(|site| site.relocate(translate));
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
