//! What `llvm-profdata show` prints: the functions one after another, then totals and statistics.

use std::cmp::Reverse;
use std::fmt::Write;
use std::prelude::v1::*;

use super::contents::Contents;
use super::sites::{Statistics, Symbols, percent};
use crate::cli::inputs::instr_profiles::read::Version;
use crate::cli::terminal::names::text;
use crate::cli::terminal::visible::visible;
use crate::counters::summary::{Summary, Tally};
use crate::counters::{Function, Profile, ValueKind, Variant};

/// The share of the sum, in millionths, that hot functions make up.
const HOT: u64 = 990_000;

/// The text so far, and what the totals need.
pub struct Listing<'s> {
    show: &'s Contents,
    profile: &'s Profile,
    is_ir: bool,
    symbols: Symbols,
    pub text: String,
    tally: Tally,
    /// Largest counts and names of the functions that are not below the cutoff.
    largest: Vec<(u64, &'s [u8])>,
    shown: u64,
    below: u64,
    sites: [Statistics; ValueKind::ALL.len()],
}

impl<'s> Listing<'s> {
    /// An empty text. `targets` are names of functions that need not be in the profile.
    pub fn new(show: &'s Contents, profile: &'s Profile, targets: &[Vec<u8>]) -> Self {
        Self {
            show,
            profile,
            is_ir: profile.variant.has(Variant::IR),
            symbols: Symbols::of(profile, targets),
            text: String::new(),
            tally: Tally::default(),
            largest: Vec::new(),
            shown: 0,
            below: 0,
            sites: Default::default(),
        }
    }

    /// Adds a function.
    pub fn add(&mut self, function: &'s Function) {
        let (show, counters) = (self.show, &function.counters);
        let name = visible(&text(&function.name));
        if show.covered {
            if counters.iter().any(|&count| count > 0) {
                let _ = writeln!(self.text, "{name}");
            }
            return;
        }
        self.tally.add(counters.iter().copied());
        if let Some(pseudo) = pseudo(counters) {
            if show.is_shown(function) {
                self.head(function, &name);
                let _ = writeln!(self.text, "    <{pseudo}>");
            }
            return;
        }
        let largest = counters.iter().copied().max().unwrap_or_default();
        if largest < show.value_cutoff.into() {
            self.below += 1;
            if show.list_below_cutoff {
                let sum = counters.iter().fold(0u64, |sum, &count| sum.wrapping_add(count));
                let _ = writeln!(self.text, "  {name}: (Max = {largest} Sum = {sum})");
            }
            return;
        }
        if show.list_below_cutoff {
            return;
        }
        self.largest.push((largest, &function.name));
        if show.is_shown(function) {
            self.head(function, &name);
            self.details(function);
        }
    }

    fn head(&mut self, function: &Function, name: &str) {
        if self.shown == 0 {
            self.text.push_str("Counters:\n");
        }
        self.shown += 1;
        let (hash, number) = (function.hash, function.counters.len());
        let _ = write!(self.text, "  {name}:\n    Hash: {hash:#018x}\n    Counters: {number}");
    }

    fn details(&mut self, function: &Function) {
        let (show, text, counters) = (self.show, &mut self.text, &function.counters);
        text.push('\n');
        let first = usize::from(!self.is_ir);
        if !self.is_ir {
            let calls = counters.first().copied().unwrap_or_default();
            let _ = writeln!(text, "    Function count: {calls}");
        }
        let sites = |kind: ValueKind| function.values[kind as usize].len();
        if show.ic_targets {
            let number = sites(ValueKind::IndirectCall);
            let _ = writeln!(text, "    Indirect Call Site Count: {number}");
        }
        if show.show_vtables {
            let number = sites(ValueKind::VirtualTable);
            let _ = writeln!(text, "    Number of instrumented vtables: {number}");
        }
        let has_sizes = show.memop_sizes && sites(ValueKind::MemorySize) > 0;
        if has_sizes {
            let number = sites(ValueKind::MemorySize);
            let _ = writeln!(text, "    Number of Memory Intrinsics Calls: {number}");
        }
        if show.counts {
            let counts: Vec<String> = counters.iter().skip(first).map(u64::to_string).collect();
            let _ = writeln!(text, "    Block counts: [{}]", counts.join(", "));
        }
        for (kind, is_wanted, title) in [
            (ValueKind::IndirectCall, show.ic_targets, "Indirect Target Results"),
            (ValueKind::VirtualTable, show.show_vtables, "VTable Results"),
            (ValueKind::MemorySize, has_sizes, "Memory Intrinsic Size Results"),
        ] {
            if is_wanted {
                let _ = writeln!(text, "    {title}:");
                self.sites[kind as usize].add(function, kind, &self.symbols, text);
            }
        }
    }

    /// The totals and statistics, which follow the functions.
    pub fn finish(&mut self, version: Version) {
        let summary = std::mem::take(&mut self.tally).finish_for(&self.cutoffs());
        self.totals(&summary);
        self.hottest(&summary);
        if self.show.detailed_summary {
            self.text += "Detailed summary:\n";
            self.detailed(&summary);
        }
        let has_ids = matches!(version, Version::Indexed(_)) || !self.profile.binary_ids.is_empty();
        if self.show.binary_ids && has_ids {
            self.text += "Binary IDs: \n";
            for id in &self.profile.binary_ids {
                let _ = writeln!(self.text, "{}", crate::cli::terminal::names::hexadecimal(id));
            }
        }
        if self.show.profile_version {
            let version = match version {
                Version::Raw(version) => u64::from(version.number()) | self.profile.variant.0,
                Version::Indexed(version) => version.number().into(),
                Version::Text => 0,
            };
            let _ = writeln!(self.text, "Profile version: {version}");
        }
        if self.show.temporal_profile_traces {
            self.traces();
        }
    }

    fn totals(&mut self, summary: &Summary) {
        let (show, variant) = (self.show, self.profile.variant);
        let has = |bits| u32::from(variant.has(bits));
        self.text += &match self.is_ir {
            false => "Instrumentation level: Front-end\n".to_owned(),
            true => format!(
                "Instrumentation level: IR  entry_first = {}  instrument_loop_entries = {}\n",
                has(Variant::ENTRY_FIRST),
                has(Variant::LOOP_ENTRIES)
            ),
        };
        if show.all_functions || !show.function.is_empty() {
            let _ = writeln!(self.text, "Functions shown: {}", self.shown);
        }
        let _ = write!(
            self.text,
            "Total functions: {}\nMaximum function count: {}\nMaximum internal block count: {}\n\
             Total number of blocks: {}\nTotal count: {}\n",
            summary.functions,
            summary.largest_entry,
            summary.largest_inner,
            summary.counters,
            summary.sum,
        );
        if show.value_cutoff > 0 {
            let (least, below) = (show.value_cutoff, self.below);
            let others = summary.functions.saturating_sub(below);
            let what = "Number of functions with maximum count";
            let _ =
                write!(self.text, "{what} (< {least}): {below}\n{what} (>= {least}): {others}\n");
        }
    }

    /// The functions with the largest counts, hot ones, and statistics of values.
    fn hottest(&mut self, summary: &Summary) {
        let show = self.show;
        self.largest.sort_by_key(|&(largest, _)| Reverse(largest));
        let name = |name: &[u8]| visible(&text(name));
        if show.topn > 0 {
            let what = "functions with the largest internal block counts";
            let _ = writeln!(self.text, "Top {} {what}: ", show.topn);
            for &(largest, function) in self.largest.iter().take(show.topn as usize) {
                let _ = writeln!(self.text, "  {}, max count = {largest}", name(function));
            }
        }
        if show.hot_func_list {
            let hot = summary.cutoffs.iter().find(|cutoff| cutoff.share >= HOT);
            let least = hot.map_or(0, |cutoff| cutoff.least);
            let _ = writeln!(self.text, "# Hot count threshold: {least}");
            for &(_, function) in self.largest.iter().take_while(|&&(count, _)| count >= least) {
                let _ = writeln!(self.text, "{}", name(function));
            }
        }
        for (kind, is_wanted, title) in [
            (ValueKind::IndirectCall, show.ic_targets, "indirect call sites"),
            (ValueKind::VirtualTable, show.show_vtables, "vtable"),
            (ValueKind::MemorySize, show.memop_sizes, "memory intrinsic calls sizes"),
        ] {
            if is_wanted && self.shown > 0 {
                self.text += &self.sites[kind as usize].text(title);
            }
        }
    }

    /// The shares of the detailed summary, in millionths.
    fn cutoffs(&self) -> Vec<u64> {
        let chosen = &self.show.detailed_summary_cutoffs;
        if chosen.is_empty() {
            return crate::counters::summary::CUTOFFS.into();
        }
        let mut cutoffs: Vec<u64> = chosen.iter().map(|&share| share.into()).collect();
        cutoffs.sort_unstable();
        cutoffs
    }

    fn detailed(&mut self, summary: &Summary) {
        for cutoff in &summary.cutoffs {
            let (least, counters) = (cutoff.least, cutoff.counters);
            let share = match counters {
                0 => percent(0.0),
                _ => percent(counters as f64 / summary.counters as f64 * 100.0),
            };
            let of_sum = cutoff.share as f64 / 10_000.0;
            let _ = writeln!(
                self.text,
                "{counters} blocks ({share}) with count >= {least} account for {of_sum}% of the total counts."
            );
        }
    }

    fn traces(&mut self) {
        let traces = &self.profile.traces;
        let (samples, seen) = (traces.len(), self.profile.runs());
        let _ = writeln!(self.text, "Temporal Profile Traces (samples={samples} seen={seen}):");
        for (number, trace) in traces.iter().enumerate() {
            let (weight, functions) = (trace.weight, &trace.functions);
            let count = functions.len();
            let _ = writeln!(
                self.text,
                "  Temporal Profile Trace {number} (weight={weight} count={count}):"
            );
            for &function in functions {
                let _ = writeln!(self.text, "    {}", self.symbols.name(function));
            }
        }
    }
}

/// What the counters of a function say instead of counts.
fn pseudo(counters: &[u64]) -> Option<&'static str> {
    const WARM: u64 = u64::MAX - 1;
    match *counters.first()? {
        u64::MAX => Some("PseudoHot"),
        WARM => Some("PseudoWarm"),
        _ => None,
    }
}
