//! `countersink rewrite`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;
use regex::bytes::{Regex, RegexBuilder};

use crate::cli::inputs::folder;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output;
use crate::cli::outputs::preinliner::PreinlineOptions;
use crate::cli::outputs::profile::{Choice, ProfileFormat};
use crate::cli::outputs::samples::ContextOptions;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::formats::llvm_sample::rules::{Lowered, Rules};
use crate::profile::{Factor, Profile};
use crate::samples::Samples;

/// Change a profile: scale it, make it smaller, flatten it, rename its functions
///
/// The changes are made in the order of the options below, whatever their order on the command line. The
/// output has the format of the input, unless --to or --for-gcc say otherwise.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink rewrite prog.gcov --prune-cold-inlined -o small.gcov
  countersink rewrite prog.gcov --keep-hot 99.9 --to v4-compact -o hot.gcov
  countersink rewrite prog.gcov --rename '\\.llvm\\.[0-9]+$' '' -o other.gcov
  countersink rewrite prog.gcov --drop-zeros --scale 1/1000 -o small.gcov
  # Inlined copies as contexts of LLVM, without the cold ones
  countersink rewrite prog.gcov --contexts split --cold-contexts 100 \\
    --to llvm-sample -o prog.prof

Compilers know nothing about a function that is missing from the profile, and gcc 16 nothing about a \
missing count: if you drop zeros, they no longer know what is cold. --prune-cold-inlined costs gcc 15 and \
older nothing.")]
pub struct Rewrite {
    /// An AutoFDO profile of any version, or a sample profile of LLVM; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace what the regular expression matches in names; ${1} is its first group
    #[arg(long, num_args = 2, value_names = ["REGEX", "TEXT"], action = clap::ArgAction::Append)]
    rename: Vec<String>,
    /// Add what was inlined to the functions themselves
    #[arg(long)]
    flatten: bool,
    /// Leave out inlined functions in which nothing was executed
    #[arg(long)]
    prune_cold_inlined: bool,
    /// Leave out all but the hottest functions that together have this share of all counts
    #[arg(long, value_name = "PERCENT", value_parser = millionths)]
    keep_hot: Option<u32>,
    /// Multiply all counts: 3, 0.25 or 1/1000; what was executed stays at least 1
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    scale: Option<Factor>,
    /// Leave out counts of 0
    #[arg(long)]
    drop_zeros: bool,
    #[command(flatten)]
    contexts: ContextOptions,
    #[command(flatten)]
    preinline: PreinlineOptions,
    /// Write here; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    choice: Choice,
}

/// A number with at most `digits` digits behind its point, times 10 to the power of `digits`.
fn decimal(text: &str, digits: usize) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_number(whole) || !is_number(fraction) || fraction.len() > digits {
        return None;
    }
    format!("{whole}{fraction:0<digits$}").parse().ok()
}

fn factor(text: &str) -> std::result::Result<Factor, String> {
    let factor = match text.split_once('/') {
        Some((above, below)) => {
            above.parse().ok().zip(below.parse().ok()).filter(|&(_, below)| below != 0)
        }
        // Uses no more digits than the text has, so that the largest numbers have room.
        None => {
            (0..=6u32).find_map(|digits| Some((decimal(text, digits as usize)?, 10u64.pow(digits))))
        }
    };
    let (numerator, denominator) = factor.ok_or("expected a number such as 3, 0.25 or 1/1000")?;
    Ok(Factor { numerator, denominator })
}

/// A share in percent, given in millionths.
fn millionths(text: &str) -> std::result::Result<u32, String> {
    let share = decimal(text, 4).filter(|&share| share <= 1_000_000);
    Ok(share.ok_or("expected a percentage from 0 to 100, with at most 4 digits behind the point")?
        as u32)
}

impl Rewrite {
    pub fn run(&self) -> Result<Outcome> {
        let chosen = self.choice.format()?;
        let renames = self.renames()?;
        let file = folder::only(&self.file)?;
        self.preinline.keep([&*file, &*self.output])?;
        let input = Input::read(&file)?;
        if input.format == Format::Dump {
            return Err(Error::about(&input.name, "is a raw dump; `convert` it first"));
        }
        let format = chosen.unwrap_or_else(|| ProfileFormat::of(&input));
        let is_sample = matches!(format, ProfileFormat::Sample(_));
        let (bytes, content) = match self.samples(&input, format, &renames)? {
            Some(mut samples) => {
                self.contexts.change(&mut samples, &input.name)?;
                self.preinline.change(&mut samples, &input.name)?;
                format.file_of(samples, &self.output)?
            }
            None => {
                let mut profile = self.profile(&input, is_sample)?;
                self.change(&mut profile, &renames);
                format.file(&profile, &self.output)?
            }
        };
        output::write(Some(&self.output), &bytes, content)?;
        Ok(Outcome::Done)
    }

    /// The profile, changed, as a sample profile, if contexts are asked for or would be lost otherwise.
    fn samples(
        &self,
        input: &Input,
        format: ProfileFormat,
        renames: &[(Regex, &[u8])],
    ) -> Result<Option<Samples>> {
        let is_sample = matches!(format, ProfileFormat::Sample(_));
        let changes_contexts = self.contexts.is_any() || self.preinline.is_any();
        if self.changes_counts() {
            if !changes_contexts {
                return Ok(None);
            }
            let mut profile = self.profile(input, is_sample)?;
            self.change(&mut profile, renames);
            return Ok(Some(Lowered::new(&profile, Rules::WHOLE).samples));
        }
        match input.format.is_sample() {
            true if is_sample || changes_contexts => input.samples().map(Some),
            false if changes_contexts => {
                let rules = format.sample_rules();
                Ok(Some(Lowered::new(&input.profile()?, rules).samples))
            }
            _ => Ok(None),
        }
    }

    /// The profile in the input, without what only sample profiles have.
    fn profile(&self, input: &Input, is_sample: bool) -> Result<Profile> {
        if is_sample && input.format.is_sample() {
            let samples = input.samples()?;
            let traits = samples.traits;
            if traits.contexts || traits.probes || !samples.symbol_list.is_empty() {
                let what = "contexts, checksums and the list of symbols do not survive the changes";
                warn(&input.name, what);
            }
            return samples.into_profile().about(&input.name);
        }
        input.profile()
    }

    /// Whether an option changes more than contexts.
    fn changes_counts(&self) -> bool {
        let flags = [self.flatten, self.prune_cold_inlined, self.drop_zeros];
        let others = [!self.rename.is_empty(), self.keep_hot.is_some(), self.scale.is_some()];
        flags.into_iter().chain(others).any(|is_set| is_set)
    }

    fn renames(&self) -> Result<Vec<(Regex, &[u8])>> {
        let mut renames = Vec::new();
        for pair in self.rename.chunks_exact(2) {
            // Names are bytes.
            let regex = RegexBuilder::new(&pair[0]).unicode(false).build();
            let regex = regex.map_err(|error| Error::new(format!("--rename: {error}")))?;
            renames.push((regex, pair[1].as_bytes()));
        }
        Ok(renames)
    }

    fn change(&self, profile: &mut Profile, renames: &[(Regex, &[u8])]) {
        if !renames.is_empty() {
            profile.rename(|name| {
                let mut name = name.to_vec();
                for (regex, text) in renames {
                    name = regex.replace_all(&name, *text).into_owned();
                }
                name
            });
        }
        if self.flatten {
            profile.flatten();
        }
        if self.prune_cold_inlined {
            profile.prune_cold_inlined();
        }
        if let Some(share) = self.keep_hot {
            profile.keep_hot(share);
        }
        if let Some(factor) = self.scale {
            profile.scale(factor);
        }
        if self.drop_zeros {
            profile.drop_zeros();
        }
    }
}
