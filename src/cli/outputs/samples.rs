//! LLVM's sample profiles on the command line: how they are written, and their sums, which keep what only they have.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::output::Content;
use crate::cli::compilers::llvm::Llvm;
use crate::cli::inputs::conversion::warn_of_far_lines;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::text;
use crate::convert::number::Number;
use crate::formats::llvm_sample::Form;
use crate::formats::llvm_sample::encode::{Options, encode};
use crate::formats::llvm_sample::rules::{FIRST_WITH_CONTEXTS, Lowered, NEWEST, OLDEST, Rules};
use crate::formats::llvm_sample_text;
use crate::profile::Profile;
use crate::samples::merge::Unfit;
use crate::samples::{Samples, layout};

/// How LLVM's sample profiles are written.
#[derive(Debug, Args)]
pub struct SampleWish {
    /// Write a sample profile that this clang reads, with positions as it makes them: its version, such as 16, or its
    /// command
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_clang: Option<String>,
    /// With --to llvm-sample: MD5 in place of names
    #[arg(long)]
    md5: bool,
    /// With --to llvm-sample: compress all sections
    #[arg(long)]
    compress: bool,
    /// With --to llvm-sample: functions without inlined copies in sections of their own
    #[arg(long)]
    split_layout: bool,
    /// With --to llvm-sample: say that what is missing may be hot, as the profile has only a part of the program's work
    #[arg(long)]
    partial: bool,
}

/// A form of LLVM's sample profiles, with its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleFormat {
    /// The form.
    pub form: SampleForm,
    /// What becomes of names and positions of other formats.
    pub rules: Rules,
    /// Whether the profile is said to be partial.
    pub partial: bool,
}

/// Forms of LLVM's sample profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleForm {
    /// Text.
    Text,
    /// Binary or extensible binary.
    Bytes(Options),
}

impl SampleWish {
    /// The first option that only sample profiles have.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { for_clang: Some(_), .. } => Some("--for-clang"),
            _ => self.of_extensible(),
        }
    }

    /// The first option that only the extensible binary has.
    const fn of_extensible(&self) -> Option<&'static str> {
        match self {
            Self { md5: true, .. } => Some("--md5"),
            Self { compress: true, .. } => Some("--compress"),
            Self { split_layout: true, .. } => Some("--split-layout"),
            Self { partial: true, .. } => Some("--partial"),
            _ => None,
        }
    }

    /// The format with this form; without one the extensible binary.
    pub fn format(&self, form: Option<SampleForm>) -> Result<SampleFormat> {
        let (rules, contexts) = match &self.for_clang {
            Some(clang) => rules(clang)?,
            None => (Rules::OF_GCC, true),
        };
        let form = match form {
            None | Some(SampleForm::Bytes(Options { form: Form::Extensible, .. })) => {
                let (md5, compressed, split) = (self.md5, self.compress, self.split_layout);
                let form = Form::Extensible;
                SampleForm::Bytes(Options { form, md5, compressed, split, contexts })
            }
            Some(form) => match self.of_extensible() {
                None => form,
                Some(option) => {
                    return Err(Error::new(format!("{option} is for --to llvm-sample")));
                }
            },
        };
        Ok(SampleFormat { form, rules, partial: self.partial })
    }
}

/// The rules of a clang, and whether its extensible binary has a section of contexts.
fn rules(clang: &str) -> Result<(Rules, bool)> {
    let option = "--for-clang";
    let Llvm { major, .. } = Llvm::named(option, clang)?;
    let rules = Rules::for_clang(major).ok_or_else(|| {
        let known = format!("the rules of clang {OLDEST} to {NEWEST} are known, not those of");
        Error::new(format!("{option}: {known} clang {major}"))
    })?;
    Ok((rules, major >= FIRST_WITH_CONTEXTS))
}

impl SampleFormat {
    /// The format of an input, which keeps all that it has.
    pub fn of(input: &Input) -> Self {
        let form = match input.format {
            Format::SampleText => SampleForm::Text,
            _ => SampleForm::Bytes(Options::of(&input.bytes)),
        };
        Self { form, rules: Rules::WHOLE, partial: false }
    }

    /// The file of a profile of another format.
    pub fn file(self, profile: &Profile, name: &Path) -> Result<(Vec<u8>, Content)> {
        let Lowered { samples, dropped, mixed } = Lowered::new(profile, self.rules);
        warn_of_far_lines(name, dropped);
        if mixed > 0 {
            let mixed = Number(mixed as u64, "function");
            let what = "added to functions of the same name in other files";
            warn(name, format!("{mixed} {what}: clang does not distinguish them"));
        }
        self.file_of(samples, name)
    }

    /// The file of a sample profile.
    pub fn file_of(self, mut samples: Samples, name: &Path) -> Result<(Vec<u8>, Content)> {
        samples.traits.partial |= self.partial;
        match self.form {
            SampleForm::Text => {
                let text = llvm_sample_text::encode::encode(&samples).about(name)?;
                Ok((text, Content::Text))
            }
            SampleForm::Bytes(Options { contexts: false, .. }) if samples.traits.contexts => {
                let what = "for clang 13, contexts are written only as text: --to llvm-sample-text; \
                            or write them as inlined copies: --contexts nested";
                Err(Error::about(name, what))
            }
            SampleForm::Bytes(options) => {
                Ok((encode(&samples, options).about(name)?, Content::Binary))
            }
        }
    }
}

/// Whether all inputs are sample profiles of LLVM.
pub fn are_samples<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> bool {
    inputs.into_iter().all(|input| input.format.is_sample())
}

/// Reports counts that clang leaves out, as it finds inlined functions by their linkage names only.
pub fn warn_of_source_names(profile: &Profile, name: &Path) {
    let percent = profile.share_without_linkage_name() * 100.0;
    if percent >= 0.05 {
        let what =
            "of counts are in inlined functions without a linkage name: clang leaves them out";
        warn(name, format!("at least {percent:.1} % {what}"));
    }
}

/// The sum of profiles, sample profiles or others. `known` has those read already, from the first on.
pub fn sum(known: Vec<Input>, inputs: &[(u32, &PathBuf)]) -> Result<Samples> {
    let mut known = known.into_iter();
    let mut sum = Samples::default();
    for (place, &(weight, path)) in inputs.iter().enumerate() {
        let input = known.next().map_or_else(|| Input::read(path), Ok)?;
        let samples = match input.format.is_sample() {
            true => input.samples()?,
            false => Lowered::new(&input.into_profile()?, Rules::OF_GCC).samples,
        };
        match (place, weight) {
            (0, 1) => sum = samples,
            _ => report(&sum.merge(&samples, weight.into()).about(path)?, path),
        }
    }
    Ok(sum)
}

/// Functions that do not fit are named up to this number.
const NAMED: usize = 3;

/// Says which functions of a summand do not fit.
fn report(unfit: &[Unfit], path: &Path) {
    for Unfit { name, why } in unfit.iter().take(NAMED) {
        warn(path, format!("{}: {why}", text(name)));
    }
    if let more @ 1.. = unfit.len().saturating_sub(NAMED) {
        warn(path, format!("left out in the same way: {}", Number(more as u64, "more function")));
    }
}

/// What becomes of the contexts of a profile.
#[derive(Debug, Args)]
pub struct ContextOptions {
    /// Where counts of inlined copies stand
    #[arg(long, value_enum, value_name = "LAYOUT")]
    contexts: Option<Layout>,
    /// Keep only the last N frames of each context
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    context_depth: Option<u16>,
    /// Add contexts with fewer samples to the function itself
    #[arg(long, value_name = "SAMPLES")]
    cold_contexts: Option<u64>,
    /// With --cold-contexts: add a cold context to the context of its last N frames
    #[arg(long, value_name = "N", requires = "cold_contexts", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    cold_frames: u16,
}

/// Layouts of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// In contexts of their own, as LLVM's context-sensitive profiles have them
    Split,
    /// In the functions that they are inlined in
    Nested,
    /// With those of the function itself
    Flat,
}

impl ContextOptions {
    /// Whether anything was asked for.
    pub const fn is_any(&self) -> bool {
        self.contexts.is_some() || self.context_depth.is_some() || self.cold_contexts.is_some()
    }

    /// Makes these changes.
    pub fn change(&self, samples: &mut Samples, name: &Path) -> Result<()> {
        let was_split = samples.traits.contexts;
        if self.context_depth.is_some() || self.cold_contexts.is_some() {
            samples.split().about(name)?;
            let mut gone = 0;
            if let Some(frames) = self.context_depth {
                gone += samples.trim(frames.into());
            }
            if let Some(least) = self.cold_contexts {
                gone += samples.merge_cold(least, self.cold_frames.into());
            }
            let gone = Number(gone as u64, "context");
            warn(name, format!("{gone} added to others"));
        }
        let layout = match self.contexts {
            Some(Layout::Split) => layout::Layout::Split,
            Some(Layout::Nested) => layout::Layout::Nested,
            Some(Layout::Flat) => layout::Layout::Flat,
            None if was_split => return Ok(()),
            None if samples.traits.contexts => layout::Layout::Nested,
            None => return Ok(()),
        };
        samples.lay_out(layout).about(name)
    }
}
