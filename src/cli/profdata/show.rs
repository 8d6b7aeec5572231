//! `llvm-profdata show`.

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::sites::{Statistics, Symbols, percent};
use crate::cli::Outcome;
use crate::cli::by_function::read::{Counted, Version};
use crate::cli::error::{Context, Error, Result};
use crate::cli::names::{text, visible};
use crate::cli::output::{self, Content};
use crate::counters::summary::{Summary, Tally};
use crate::counters::{CONTEXT_SENSITIVE_HASH, Function, Profile, ValueKind, Variant};
use crate::formats::proftext;

/// The share of the sum, in millionths, that hot functions make up.
const HOT: u64 = 990_000;

/// Takes a profile data file and displays the profiles
#[derive(Debug, Args)]
pub struct Show {
    /// A raw, indexed or text profile
    #[arg(required = true, value_name = "profdata-file")]
    file: PathBuf,
    /// Output file
    #[arg(long, visible_alias = "o", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Details for each and every function
    #[arg(long)]
    all_functions: bool,
    /// Details for the functions whose names contain this
    #[arg(long, value_name = "STRING", default_value = "", hide_default_value = true)]
    function: String,
    /// Counter values of shown functions
    #[arg(long)]
    counts: bool,
    /// Targets of indirect calls of shown functions
    #[arg(long)]
    ic_targets: bool,
    /// Sizes of memory operations of shown functions
    #[arg(long)]
    memop_sizes: bool,
    /// Virtual tables of shown functions
    #[arg(long)]
    show_vtables: bool,
    /// Only the names of functions that have been executed
    #[arg(long)]
    covered: bool,
    /// Functions that were counted after inlining, instead of the others
    #[arg(long)]
    showcs: bool,
    /// The functions with the largest counts
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    topn: u32,
    /// Leave out functions whose largest count is below this
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    value_cutoff: u32,
    /// Only the names of functions below the cutoff
    #[arg(long)]
    list_below_cutoff: bool,
    /// How many counters make up which share of the sum
    #[arg(long)]
    detailed_summary: bool,
    /// Shares for this, in millionths
    #[arg(long, value_name = "800000,901000,999999", value_delimiter = ',')]
    detailed_summary_cutoffs: Vec<u32>,
    /// Names of hot functions
    #[arg(long)]
    hot_func_list: bool,
    /// Build-ids in the profile
    #[arg(long)]
    binary_ids: bool,
    /// Version of the profile
    #[arg(long)]
    profile_version: bool,
    /// Orders in which functions were first called
    #[arg(long)]
    temporal_profile_traces: bool,
    /// Shown functions as a text profile
    #[arg(long)]
    text: bool,
    /// text, the only one for instrumentation profiles
    #[arg(long, value_name = "text|json|yaml", default_value = "text", hide_default_value = true)]
    show_format: String,
    /// Instrumentation profile (default)
    #[arg(long)]
    instr: bool,
    #[arg(long, hide = true)]
    json: bool,
    #[arg(long, hide = true)]
    sample: bool,
    #[arg(long, hide = true)]
    memory: bool,
    #[arg(long, hide = true)]
    show_prof_sym_list: bool,
    #[arg(long, hide = true)]
    show_sec_info_only: bool,
    #[arg(long, hide = true)]
    debug_info: Option<String>,
    #[arg(long, hide = true)]
    max_debug_info_correlation_warnings: Option<u32>,
    #[arg(long, hide = true)]
    profiled_binary: Option<String>,
}

impl Show {
    pub fn run(&self, _major: Option<u32>) -> Result<Outcome> {
        self.refuse()?;
        let counted = super::read(&self.file)?;
        let text = match self.text {
            true => self.as_text(&counted.profile)?,
            false => self.shown(&counted),
        };
        output::write(Some(&self.output), &text, Content::Text)?;
        Ok(Outcome::Done)
    }

    fn refuse(&self) -> Result<()> {
        super::merge::refuse(&[
            ("--sample", self.sample, "sampled profiles are not read"),
            ("--memory", self.memory, "profiles of memory are not read"),
            ("--debug-info", self.debug_info.is_some(), super::merge::CORRELATION),
            ("--profiled-binary", self.profiled_binary.is_some(), super::merge::MEMORY),
        ])?;
        let format = if self.json { "json" } else { &*self.show_format };
        match format {
            "text" => Ok(()),
            "json" | "yaml" => {
                let format = format.to_uppercase();
                let what = format!("{format} output is not supported for instr profiles");
                Err(Error::new(what + "; `countersink show --json` has it"))
            }
            _ => Err(Error::new(format!("--show-format: there is no {}", visible(format)))),
        }
    }

    /// The functions that the options are about: those counted before inlining, or those after.
    fn functions<'p>(&self, profile: &'p Profile) -> impl Iterator<Item = &'p Function> {
        let (is_ir, late) = (profile.variant.has(Variant::IR), self.showcs);
        let is_late = |function: &Function| function.hash & CONTEXT_SENSITIVE_HASH != 0;
        profile.functions.iter().filter(move |function| !is_ir || is_late(function) == late)
    }

    fn is_shown(&self, function: &Function) -> bool {
        self.all_functions || self.is_named(function)
    }

    fn is_named(&self, function: &Function) -> bool {
        let wanted = self.function.as_bytes();
        !wanted.is_empty() && function.name.windows(wanted.len()).any(|part| part == wanted)
    }

    fn as_text(&self, profile: &Profile) -> Result<Vec<u8>> {
        let shown = self.functions(profile).filter(|function| self.is_shown(function));
        let header = if profile.variant.has(Variant::IR) { ":ir\n" } else { "" };
        let functions = proftext::encode::functions(profile, shown).about(&self.file)?;
        Ok([header.as_bytes(), &functions].concat())
    }

    fn shown(&self, counted: &Counted) -> Vec<u8> {
        let profile = &counted.profile;
        let mut listing = Listing::new(self, profile);
        if self.list_below_cutoff {
            let least = self.value_cutoff;
            let what = "The list of functions with the maximum counter less than";
            let _ = writeln!(listing.text, "{what} {least}:");
        }
        self.functions(profile).for_each(|function| listing.add(function));
        if !self.covered {
            listing.finish(counted.version);
        }
        listing.text.into_bytes()
    }
}

/// The text so far, and what its end will say.
struct Listing<'s> {
    show: &'s Show,
    profile: &'s Profile,
    is_ir: bool,
    symbols: Symbols,
    text: String,
    tally: Tally,
    /// Largest counts and names of the functions that are not below the cutoff.
    largest: Vec<(u64, &'s [u8])>,
    shown: u64,
    below: u64,
    sites: [Statistics; ValueKind::ALL.len()],
}

impl<'s> Listing<'s> {
    fn new(show: &'s Show, profile: &'s Profile) -> Self {
        Self {
            show,
            profile,
            is_ir: profile.variant.has(Variant::IR),
            symbols: Symbols::of(profile),
            text: String::new(),
            tally: Tally::default(),
            largest: Vec::new(),
            shown: 0,
            below: 0,
            sites: Default::default(),
        }
    }

    fn add(&mut self, function: &'s Function) {
        let (show, counters) = (self.show, &function.counters);
        let name = visible(&text(&function.name));
        if show.covered {
            if counters.iter().any(|&count| count > 0) {
                let _ = writeln!(self.text, "{name}");
            }
            return;
        }
        self.tally.add(counters.iter().copied());
        let pseudo = pseudo(counters);
        let largest = match pseudo {
            Some(_) => 0,
            None => counters.iter().copied().max().unwrap_or_default(),
        };
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
        if pseudo.is_none() {
            self.largest.push((largest, &function.name));
        }
        if show.is_shown(function) {
            self.details(function, &name, pseudo);
        }
    }

    fn details(&mut self, function: &Function, name: &str, pseudo: Option<&str>) {
        let (show, text) = (self.show, &mut self.text);
        if self.shown == 0 {
            text.push_str("Counters:\n");
        }
        self.shown += 1;
        let (hash, counters) = (function.hash, &function.counters);
        let _ = write!(text, "  {name}:\n    Hash: {hash:#018x}\n    Counters: {}", counters.len());
        if let Some(pseudo) = pseudo {
            let _ = writeln!(text, "    <{pseudo}>");
            return;
        }
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

    /// What stands behind the functions.
    fn finish(&mut self, version: Version) {
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
                let _ = writeln!(self.text, "{}", crate::cli::binary::hexadecimal(id));
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
    match counters.first()? {
        &u64::MAX => Some("PseudoHot"),
        &count if count == u64::MAX - 1 => Some("PseudoWarm"),
        _ => None,
    }
}
