//! Which count holds from which character of a file on.
//!
//! Regions nest: the innermost one that is open gives the count. Where one ends, the count of the one around it holds
//! again, and behind the last one nothing is known.

use alloc::vec::Vec;
use core::cmp::Reverse;

use super::counted::CountedRegion;
use crate::formats::coverage_mapping::{Kind, Place};

/// What holds from a character on, up to the next segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The character.
    pub start: Place,
    /// The count, `None` if it is unknown.
    pub count: Option<u64>,
    /// Whether a region starts here that is no gap.
    pub is_entry: bool,
    /// Whether a gap starts here.
    pub is_gap: bool,
}

/// The segments of regions of one file, in their order.
pub fn segments(mut regions: Vec<CountedRegion>) -> Vec<Segment> {
    regions.sort_by_key(|region| (region.start, Reverse(region.end), rank(region.kind)));
    combine(&mut regions);
    let mut sweep = Sweep::default();
    for (place, region) in regions.iter().enumerate() {
        sweep.region(region, regions.get(place + 1));
    }
    sweep.close(None);
    sweep.segments
}

/// The order of regions that cover the same characters.
const fn rank(kind: Kind) -> u32 {
    match kind {
        Kind::Code => 0,
        Kind::Expansion(_) => 1,
        Kind::Skipped => 2,
        _ => 3,
    }
}

/// Adds the regions that cover the same characters. An expansion counts nothing where there is code: a macro whose
/// text is another macro would count twice.
fn combine(regions: &mut Vec<CountedRegion>) {
    regions.dedup_by(|region, first| {
        let is_same = (region.start, region.end) == (first.start, first.end);
        if is_same && rank(region.kind) == rank(first.kind) {
            first.count = first.count.saturating_add(region.count);
        }
        is_same
    });
}

#[derive(Default)]
struct Sweep {
    segments: Vec<Segment>,
    /// Regions that have started and not ended.
    open: Vec<CountedRegion>,
}

impl Sweep {
    /// Lets a region start.
    fn region(&mut self, region: &CountedRegion, next: Option<&CountedRegion>) {
        self.close(Some(region.start));
        let start = region.start;
        let is_gap = region.kind == Kind::Gap;
        if start == region.end {
            // An empty region marks its place, with the count around it.
            let is_unknown = next.is_none() || region.kind == Kind::Skipped;
            let around = *self.open.last().unwrap_or(region);
            self.mark(start, (!is_unknown).then_some(&around), !is_gap, is_unknown);
            if is_unknown && !self.open.is_empty() {
                self.mark(start, Some(&around), false, false);
            }
            return;
        }
        if next.is_none_or(|next| next.start != start) {
            self.mark(start, Some(region), !is_gap, false);
        }
        self.open.push(*region);
    }

    /// Lets regions end that do so before `until`, or all. Nothing is marked at `until` itself, where another region
    /// starts.
    fn close(&mut self, until: Option<Place>) {
        let is_over = |region: &CountedRegion| until.is_none_or(|until| region.end <= until);
        let open = core::mem::take(&mut self.open);
        let (mut over, open): (Vec<_>, Vec<_>) = open.into_iter().partition(is_over);
        self.open = open;
        over.sort_by_key(|region| region.end);
        let mut groups = over.chunk_by(|a, b| a.end == b.end).peekable();
        while let Some(group) = groups.next() {
            let end = group[0].end;
            if until == Some(end) {
                break;
            }
            let next = groups.peek().and_then(|group| group.last()).or(self.open.last()).copied();
            self.mark(end, next.as_ref(), false, next.is_none());
        }
    }

    /// Marks what holds from here on: the count of a region, or nothing. Leaves out what changes nothing, unless it
    /// must be seen.
    fn mark(
        &mut self,
        start: Place,
        region: Option<&CountedRegion>,
        is_entry: bool,
        is_seen: bool,
    ) {
        let known = region.filter(|region| region.kind != Kind::Skipped);
        let count = known.map(|region| region.count);
        let is_gap = known.is_some_and(|region| region.kind == Kind::Gap);
        let is_old = |last: &Segment| {
            // What skipped text would count does not matter, but a segment knows it.
            last.count == count && !last.is_entry
        };
        if !is_entry && !is_seen && self.segments.last().is_some_and(is_old) {
            return;
        }
        self.segments.push(Segment { start, count, is_entry, is_gap });
    }
}
