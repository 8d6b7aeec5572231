//! `llvm-profdata overlap`.

use std::fmt::Write;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::merge::refuse;
use crate::cli::inputs::input;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::Result;
use crate::cli::terminal::names;
use crate::cli::terminal::visible::visible;
use crate::counters::overlap::{self, FunctionOverlap, Shares};

/// Computes and displays the overlap between two profiles
#[derive(Debug, Args)]
pub struct Overlap {
    /// The profile to compare with
    #[arg(required = true, value_name = "base profile file")]
    base: PathBuf,
    /// The profile that is compared with it
    #[arg(required = true, value_name = "test profile file")]
    test: PathBuf,
    /// Output file
    #[arg(long, visible_alias = "o", default_value = "-", hide_default_value = true)]
    output: PathBuf,
    /// Functions that were counted after inlining, instead of the others
    #[arg(long)]
    cs: bool,
    /// Details of the functions whose names contain this
    #[arg(long, value_name = "STRING", default_value = "", hide_default_value = true)]
    function: String,
    /// Details of the functions whose largest count in the second profile is at least this
    #[arg(long, value_name = "ULONG")]
    value_cutoff: Option<u64>,
    /// Instrumentation profile (default)
    #[arg(long)]
    instr: bool,
    #[arg(long, hide = true)]
    sample: bool,
    #[arg(long, hide = true)]
    similarity_cutoff: Option<u64>,
}

impl Overlap {
    pub fn run(&self, _major: Option<u32>) -> Result<Outcome> {
        refuse(&[("--sample", self.sample, "sampled profiles are not read")])?;
        input::refuse_twice([&*self.base, &*self.test])?;
        let base = super::read(&self.base)?.profile;
        let test = super::read(&self.test)?.profile;
        let overlap = match self.cs {
            true => overlap::overlap_context_sensitive(&base, &test),
            false => overlap::overlap(&base, &test),
        };
        output::write(Some(&self.output), self.text(&overlap).as_bytes(), Content::Text)?;
        Ok(Outcome::Done)
    }

    fn text(&self, overlap: &overlap::Overlap) -> String {
        let mut text = String::new();
        if overlap.counters.base == 0 || overlap.counters.second == 0 {
            return text;
        }
        for function in overlap.functions.iter().filter(|function| self.is_shown(function)) {
            let (name, hash) = (visible(&names::text(&function.name)), function.hash);
            let _ = write!(
                text,
                "Function level:\n  Function: {name} (Hash={hash})\n  # of edge counters overlap: {}\n",
                function.number_of_counters
            );
            print(&mut text, &function.counters, &function.values, Rest::default());
        }
        let [base, test] = [&self.base, &self.test].map(|path| path.display().to_string());
        let _ = write!(
            text,
            "Profile overlap information for base_profile: {} and test_profile: {}\nProgram level:\n  \
             # of functions overlap: {}\n",
            visible(&base),
            visible(&test),
            overlap.matched
        );
        let rest =
            Rest { mismatched: overlap.mismatched > 0, only_in_test: overlap.only_in_second > 0 };
        if rest.mismatched {
            let _ = writeln!(text, "  # of functions mismatch: {}", overlap.mismatched);
        }
        if rest.only_in_test {
            let number = overlap.only_in_second;
            let _ = writeln!(text, "  # of functions only in test_profile: {number}");
        }
        print(&mut text, &overlap.counters, &overlap.values, rest);
        text
    }

    fn is_shown(&self, function: &FunctionOverlap) -> bool {
        let wanted = self.function.as_bytes();
        let is_named =
            !wanted.is_empty() && function.name.windows(wanted.len()).any(|part| part == wanted);
        is_named || self.value_cutoff.is_some_and(|least| function.largest >= least)
    }
}

/// Functions that do not match.
#[derive(Clone, Copy, Default)]
struct Rest {
    mismatched: bool,
    only_in_test: bool,
}

/// Prints the overlap of the counters, and that of each value kind that occurs.
fn print(text: &mut String, counters: &Shares, values: &[Shares], rest: Rest) {
    let kinds = ["IndirectCall", "MemOP", "VTable"].into_iter().zip(values);
    let kinds = kinds.filter(|(_, shares)| shares.base > 0 || shares.second > 0);
    for (what, shares) in std::iter::once(("Edge", counters)).chain(kinds) {
        let percent = |share: f64| format!("{:.3}%", share * 100.0);
        let _ = writeln!(text, "  {what} profile overlap: {}", percent(shares.overlap));
        if rest.mismatched {
            let share = percent(shares.mismatched);
            let _ = writeln!(text, "  Mismatched count percentage ({what}): {share}");
        }
        if rest.only_in_test {
            let share = percent(shares.only_in_second);
            let _ = writeln!(text, "  Percentage of {what} profile only in test_profile: {share}");
        }
        let (base, test) = (shares.base, shares.second);
        let _ = write!(
            text,
            "  {what} profile base count sum: {base}\n  {what} profile test count sum: {test}\n"
        );
    }
}
