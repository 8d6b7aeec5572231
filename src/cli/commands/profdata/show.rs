//! `llvm-profdata show`.

use std::fmt::Write;
use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::contents::Contents;
use super::listing::Listing;
use crate::cli::inputs::instr_profiles::read::Counted;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::visible::visible;
use crate::counters::Variant;
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
    #[command(flatten)]
    contents: Contents,
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
    #[arg(long, hide = true)]
    profile_isfs: bool,
}

impl Show {
    pub fn run(&self, _major: Option<u32>) -> Result<Outcome> {
        self.refuse()?;
        let counted = super::read(&self.file)?;
        let text = match self.text {
            true => self.as_text(&counted)?,
            false => self.shown(&counted),
        };
        output::write(Some(&self.output), &text, Content::Text)?;
        Ok(Outcome::Done)
    }

    fn refuse(&self) -> Result<()> {
        super::merge::refuse(&[
            ("--sample", self.sample, "sampled profiles are not read"),
            ("--memory", self.memory, "memory profiles are not read"),
            (
                "--debug-info",
                self.debug_info.is_some(),
                "functions of debug information are not listed",
            ),
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

    fn as_text(&self, counted: &Counted) -> Result<Vec<u8>> {
        let Counted { profile, targets, .. } = counted;
        let shown =
            self.contents.functions(profile).filter(|function| self.contents.is_shown(function));
        let header = if profile.variant.has(Variant::IR) { ":ir\n" } else { "" };
        let functions = proftext::encode::functions(profile, targets, shown).about(&self.file)?;
        Ok([header.as_bytes(), &functions].concat())
    }

    fn shown(&self, counted: &Counted) -> Vec<u8> {
        let profile = &counted.profile;
        let mut listing = Listing::new(&self.contents, profile, &counted.targets);
        if self.contents.list_below_cutoff {
            let least = self.contents.value_cutoff;
            let what = "The list of functions with the maximum counter less than";
            let _ = writeln!(listing.text, "{what} {least}:");
        }
        self.contents.functions(profile).for_each(|function| listing.add(function));
        if !self.contents.covered {
            listing.finish(counted.version);
        }
        listing.text.into_bytes()
    }
}
