//! Keeps some of the temporal profile traces of many runs.

use alloc::vec::Vec;

use crate::counters::Trace;

/// How many traces a sum keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLimits {
    /// The largest number of traces. If there are more runs, each has the same chance to be kept.
    pub most: usize,
    /// The largest number of functions in a trace. The rest is cut off.
    pub longest: usize,
}

impl Default for TraceLimits {
    /// The defaults of `llvm-profdata`.
    fn default() -> Self {
        Self { most: 100, longest: 10_000 }
    }
}

/// Traces of the runs in a sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Traces {
    limits: TraceLimits,
    pub kept: Vec<Trace>,
    /// Number of runs that they were chosen from.
    pub runs: u64,
    dice: Dice,
}

impl Traces {
    pub fn new(limits: TraceLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Adds traces that were chosen from this number of runs.
    pub fn add(&mut self, traces: impl Iterator<Item = Trace>, runs: u64) {
        let mut traces: Vec<Trace> = traces.filter(|trace| !trace.functions.is_empty()).collect();
        for trace in &mut traces {
            trace.functions.truncate(self.limits.longest);
        }
        if runs <= traces.len() as u64 {
            traces.into_iter().for_each(|trace| self.add_one(trace));
            return;
        }
        let all = self.runs.saturating_add(runs);
        self.dice.shuffle(&mut traces);
        let own = self.kept.len();
        for place in 0..own {
            if self.dice.below(all) >= self.runs
                && let Some(trace) = traces.pop()
            {
                self.kept[place] = trace;
            }
        }
        let free = self.limits.most.saturating_sub(own);
        self.kept.extend(traces.into_iter().take(free));
        self.runs = all;
    }

    fn add_one(&mut self, trace: Trace) {
        self.runs = self.runs.saturating_add(1);
        if self.kept.len() < self.limits.most {
            return self.kept.push(trace);
        }
        let place = self.dice.below(self.runs) as usize;
        if let Some(kept) = self.kept.get_mut(place) {
            *kept = trace;
        }
    }
}

/// Random numbers that are the same in each run of ours: splitmix64.
#[derive(Clone, Debug, Default)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ mixed >> 31) * u128::from(end)) >> 64) as u64
    }

    fn shuffle(&mut self, traces: &mut [Trace]) {
        for place in (1..traces.len()).rev() {
            traces.swap(place, self.below(place as u64 + 1) as usize);
        }
    }
}
