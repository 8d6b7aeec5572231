//! Keeps some of the temporal profile traces of many runs: the same ones that `llvm-profdata` keeps.
//!
//! Which traces stay depends on the random numbers, see [`Twister`], on the release, see [`Sampling`], and on how the
//! files are dealt out, see [`TraceLimits::parts`].

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use super::twister::Twister;
use crate::counters::Trace;

/// How many traces a sum keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLimits {
    /// The largest number of traces.
    pub most: usize,
    /// The largest number of functions in a trace. The rest is cut off.
    pub longest: usize,
    /// Number of sums that the files are dealt out to, in turn, before these are added up: in `llvm-profdata`, each
    /// thread has one. 0 is taken for 1.
    pub parts: usize,
    /// Which traces to keep of more runs.
    pub sampling: Sampling,
}

/// Which traces a release of `llvm-profdata` keeps if there are more than it keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// LLVM 17 to 21: each run has the same chance. A file with no more runs than are kept has as many runs as traces.
    Fair,
    /// LLVM 22: what comes first stays, unless a file with more runs than traces comes later.
    First,
}

impl Sampling {
    /// What a release does.
    pub const fn of_llvm(major: u32) -> Self {
        if major < 22 { Self::Fair } else { Self::First }
    }
}

impl Default for TraceLimits {
    /// The defaults of `llvm-profdata` 22, with one thread.
    fn default() -> Self {
        Self { most: 100, longest: 10_000, parts: 1, sampling: Sampling::First }
    }
}

/// Traces of the runs in a sum.
#[derive(Clone, Debug)]
pub(super) struct Traces {
    limits: TraceLimits,
    parts: Vec<Chosen>,
    /// The part that gets the next file.
    next: usize,
}

impl Default for Traces {
    fn default() -> Self {
        Self::new(TraceLimits::default())
    }
}

impl Traces {
    pub fn new(limits: TraceLimits) -> Self {
        Self { limits, parts: vec![Chosen::default(); limits.parts.max(1)], next: 0 }
    }

    /// Adds the traces of a file, which were chosen from this number of runs.
    pub fn add(&mut self, traces: impl Iterator<Item = Trace>, runs: u64) {
        let mut traces: Vec<Trace> = traces.filter(|trace| !trace.functions.is_empty()).collect();
        traces.iter_mut().for_each(|trace| trace.functions.truncate(self.limits.longest));
        traces.retain(|trace| !trace.functions.is_empty());
        self.parts[self.next].add(traces, runs, &self.limits);
        self.skip();
    }

    /// Passes over a file that has nothing to add.
    pub fn skip(&mut self) {
        self.next = (self.next + 1) % self.parts.len();
    }

    /// The traces of all parts, and the number of runs that they were chosen from. The parts are halved until one is
    /// left; an odd one goes to the first.
    pub fn finish(self) -> (Vec<Trace>, u64) {
        let Self { limits, mut parts, .. } = self;
        while parts.len() > 1 {
            let odd = if parts.len() % 2 == 1 { parts.pop() } else { None };
            let upper = parts.split_off(parts.len() / 2);
            let last = (!parts.is_empty()).then_some(odd).flatten();
            for (part, other) in parts.iter_mut().zip(upper) {
                part.add(other.traces, other.runs, &limits);
            }
            if let (Some(first), Some(odd)) = (parts.first_mut(), last) {
                first.add(odd.traces, odd.runs, &limits);
            }
        }
        let only = parts.pop().unwrap_or_default();
        (only.traces, only.runs)
    }
}

/// Runs of one file are drawn one by one up to this number. More may be a damaged file's claim.
const MOST_DRAWS: u64 = 1 << 22;

/// Traces that were chosen from a number of runs.
#[derive(Clone, Debug, Default)]
struct Chosen {
    traces: Vec<Trace>,
    runs: u64,
    dice: Twister,
}

impl Chosen {
    /// Adds traces that were chosen from this number of runs.
    fn add(&mut self, traces: Vec<Trace>, runs: u64, limits: &TraceLimits) {
        match limits.sampling {
            Sampling::Fair => self.add_fairly(traces, runs, limits.most),
            Sampling::First => self.add_behind(traces, runs, limits.most),
        }
    }

    /// Adds traces while there is room. The others take the places that the file's runs draw beyond that.
    fn add_behind(&mut self, traces: Vec<Trace>, runs: u64, most: usize) {
        if traces.is_empty() {
            return;
        }
        self.runs = self.runs.saturating_add(runs);
        let mut traces = traces;
        let room = most.saturating_sub(self.traces.len()).min(traces.len());
        let mut rest = traces.split_off(room);
        self.traces.extend(traces);
        self.dice.shuffle(&mut rest);
        let mut rest = rest.into_iter().peekable();
        let first = self.traces.len() as u64;
        for run in first..runs.min(first.saturating_add(MOST_DRAWS)) {
            if rest.peek().is_none() {
                return;
            }
            let place = self.dice.below(run + 1);
            if place < first
                && let Some(trace) = rest.next()
            {
                self.traces[place as usize] = trace;
            }
        }
    }

    /// Adds traces so that each run has the same chance. Where there are no more runs than `most`, nothing was left
    /// out, and only the traces count.
    fn add_fairly(&mut self, mut traces: Vec<Trace>, mut runs: u64, most: usize) {
        let is_sample = |runs: u64| runs > most as u64;
        if is_sample(runs) && !is_sample(self.runs) {
            mem::swap(&mut self.traces, &mut traces);
            mem::swap(&mut self.runs, &mut runs);
        }
        match is_sample(runs) {
            true => self.replace_some(traces, runs),
            false => traces.into_iter().for_each(|trace| self.add_one(trace, most)),
        }
    }

    fn add_one(&mut self, trace: Trace, most: usize) {
        let runs = self.runs;
        self.runs = runs.saturating_add(1);
        if runs < most as u64 {
            return self.traces.push(trace);
        }
        let place = self.dice.below(self.runs);
        if let Some(kept) = usize::try_from(place).ok().and_then(|place| self.traces.get_mut(place))
        {
            *kept = trace;
        }
    }

    /// Puts a random choice of other traces in the places that these runs would have taken.
    fn replace_some(&mut self, mut traces: Vec<Trace>, runs: u64) {
        let mut places = Vec::new();
        for _ in 0..runs.min(MOST_DRAWS) {
            self.runs = self.runs.saturating_add(1);
            let place = self.dice.below(self.runs);
            if place < self.traces.len() as u64 && !places.contains(&(place as usize)) {
                places.push(place as usize);
            }
        }
        self.runs = self.runs.saturating_add(runs.saturating_sub(MOST_DRAWS));
        self.dice.shuffle(&mut traces);
        for (place, trace) in places.into_iter().zip(traces) {
            self.traces[place] = trace;
        }
    }
}
