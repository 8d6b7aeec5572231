//! What `llvm-profdata show` prints of a profile, by its options.

use std::prelude::v1::*;

use clap::Args;

use crate::counters::{CONTEXT_SENSITIVE_HASH, Function, Profile, Variant};

/// The options that choose functions and what to print of them.
#[derive(Debug, Args)]
pub struct Contents {
    /// Details for each and every function
    #[arg(long)]
    pub all_functions: bool,
    /// Details for the functions whose names contain this
    #[arg(long, value_name = "STRING", default_value = "", hide_default_value = true)]
    pub function: String,
    /// Counter values of shown functions
    #[arg(long)]
    pub counts: bool,
    /// Targets of indirect calls of shown functions
    #[arg(long)]
    pub ic_targets: bool,
    /// Sizes of memory operations of shown functions
    #[arg(long)]
    pub memop_sizes: bool,
    /// Virtual tables of shown functions
    #[arg(long)]
    pub show_vtables: bool,
    /// Only the names of functions that have been executed
    #[arg(long)]
    pub covered: bool,
    /// Functions that were counted after inlining, instead of the others
    #[arg(long)]
    showcs: bool,
    /// The functions with the largest counts
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    pub topn: u32,
    /// Leave out functions whose largest count is below this
    #[arg(long, value_name = "UINT", default_value_t = 0, hide_default_value = true)]
    pub value_cutoff: u32,
    /// Only the names of functions below the cutoff
    #[arg(long)]
    pub list_below_cutoff: bool,
    /// How many counters make up each share of the sum
    #[arg(long)]
    pub detailed_summary: bool,
    /// Shares for the detailed summary, in millionths
    #[arg(long, value_name = "800000,901000,999999", value_delimiter = ',')]
    pub detailed_summary_cutoffs: Vec<u32>,
    /// Names of hot functions
    #[arg(long)]
    pub hot_func_list: bool,
    /// Build-ids in the profile
    #[arg(long)]
    pub binary_ids: bool,
    /// Version of the profile
    #[arg(long)]
    pub profile_version: bool,
    /// Temporal profile traces: the orders in which functions were first called
    #[arg(long)]
    pub temporal_profile_traces: bool,
}

impl Contents {
    /// The functions that the options are about: those counted before inlining, or those after.
    pub fn functions<'p>(&self, profile: &'p Profile) -> impl Iterator<Item = &'p Function> {
        let (is_ir, late) = (profile.variant.has(Variant::IR), self.showcs);
        let is_late = |function: &Function| function.hash & CONTEXT_SENSITIVE_HASH != 0;
        profile.functions.iter().filter(move |function| !is_ir || is_late(function) == late)
    }

    /// Whether its details are asked for.
    pub fn is_shown(&self, function: &Function) -> bool {
        self.all_functions || self.is_named(function)
    }

    fn is_named(&self, function: &Function) -> bool {
        let wanted = self.function.as_bytes();
        !wanted.is_empty() && function.name.windows(wanted.len()).any(|part| part == wanted)
    }
}
