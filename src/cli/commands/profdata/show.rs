//! `llvm-profdata show`.

use std::fmt::Write;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::listing::Listing;
use crate::cli::Outcome;
use crate::cli::by_function::read::Counted;
use crate::cli::error::{Context, Error, Result};
use crate::cli::names::visible;
use crate::cli::output::{self, Content};
use crate::counters::{CONTEXT_SENSITIVE_HASH, Function, Profile, Variant};
use crate::formats::proftext;

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
    pub(super) all_functions: bool,
    /// Details for the functions whose names contain this
    #[arg(long, value_name = "STRING", default_value = "", hide_default_value = true)]
    pub(super) function: String,
    /// Counter values of shown functions
    #[arg(long)]
    pub(super) counts: bool,
    /// Targets of indirect calls of shown functions
    #[arg(long)]
    pub(super) ic_targets: bool,
    /// Sizes of memory operations of shown functions
    #[arg(long)]
    pub(super) memop_sizes: bool,
    /// Virtual tables of shown functions
    #[arg(long)]
    pub(super) show_vtables: bool,
    /// Only the names of functions that have been executed
    #[arg(long)]
    pub(super) covered: bool,
    /// Functions that were counted after inlining, instead of the others
    #[arg(long)]
    showcs: bool,
    /// The functions with the largest counts
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    pub(super) topn: u32,
    /// Leave out functions whose largest count is below this
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    pub(super) value_cutoff: u32,
    /// Only the names of functions below the cutoff
    #[arg(long)]
    pub(super) list_below_cutoff: bool,
    /// How many counters make up each share of the sum
    #[arg(long)]
    pub(super) detailed_summary: bool,
    /// Shares for the detailed summary, in millionths
    #[arg(long, value_name = "800000,901000,999999", value_delimiter = ',')]
    pub(super) detailed_summary_cutoffs: Vec<u32>,
    /// Names of hot functions
    #[arg(long)]
    pub(super) hot_func_list: bool,
    /// Build-ids in the profile
    #[arg(long)]
    pub(super) binary_ids: bool,
    /// Version of the profile
    #[arg(long)]
    pub(super) profile_version: bool,
    /// Temporal profile traces: the orders in which functions were first called
    #[arg(long)]
    pub(super) temporal_profile_traces: bool,
    /// Shown functions as a text profile
    #[arg(long)]
    text: bool,
    /// Format of the output; instrumentation profiles have only text
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
            ("--memory", self.memory, "memory profiles are not read"),
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

    /// Whether its details are asked for.
    pub(super) fn is_shown(&self, function: &Function) -> bool {
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
