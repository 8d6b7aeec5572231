//! What this process has done with an image's counts, and what a flush adds to the file's sums.

use crate::raw::layout::Sums;
use crate::runtime::counts::Found;

/// What this process has done with the image's counts.
pub struct Progress {
    pub stage: Stage,
    /// Whether the file has counted this run.
    pub counted: bool,
    /// Largest arc counter already in the file's sum.
    pub maximum: i64,
    /// A dump, or an exec that failed, ended this run for libgcov. What follows, in children too, is neither
    /// another run nor a larger maximum.
    pub run_is_over: bool,
    /// Dropped events already in the file.
    pub dropped: u64,
}

/// Whether counts are still to be written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Counting,
    /// Closed by a dump, until the next reset.
    Dumped,
    /// Closed by a dump before an exec. A failed exec resets it.
    Suspended,
    /// The image's destructors have run.
    Ended,
}

impl Progress {
    /// Nothing yet.
    pub const fn new() -> Self {
        let (stage, counted, run_is_over) = (Stage::Counting, false, false);
        Self { stage, counted, maximum: 0, run_is_over, dropped: 0 }
    }

    /// The largest arc counter of the run. The counters may also hold what was discarded, so the bound is the
    /// former maximum plus their growth since.
    pub fn maximum(&self, found: &Found) -> i64 {
        found.largest.min(self.maximum.saturating_add(found.growth))
    }

    /// What a flush now adds to the file's sums.
    pub fn sums(&self, maximum: i64, dropped: u64) -> Sums {
        let growth = if self.run_is_over { 0 } else { maximum.saturating_sub(self.maximum) };
        Sums {
            runs: u64::from(!self.counted),
            sum_max: growth.max(0) as u64,
            dropped: dropped.saturating_sub(self.dropped),
        }
    }

    pub fn count(&mut self, maximum: i64, dropped: u64) {
        self.counted = true;
        self.maximum = self.maximum.max(maximum);
        self.dropped = dropped;
    }

    pub fn reset(&mut self, dropped: u64) {
        self.stage = Stage::Counting;
        self.dropped = dropped;
    }

    /// In a child that has just been forked.
    pub fn begin_run(&mut self) {
        if !self.run_is_over {
            self.counted = false;
            self.maximum = 0;
        }
    }
}
