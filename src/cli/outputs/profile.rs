//! The format in which a command writes a profile: `--to` and `--for-gcc`.

use std::path::Path;
use std::prelude::v1::*;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::output::Content;
use super::samples::{SampleForm, SampleFormat, SampleWish};
use super::viewers::View;
use crate::cli::compilers::gcc;
use crate::cli::cores::Cores;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::convert::number::Number;
use crate::formats::afdo_v1_v3::Version;
use crate::formats::afdo_v1_v3::encode::Encoded;
use crate::formats::afdo_v1_v3::rules::{Discriminators, Rules};
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::afdo_v4_text::encode::{TargetNames, encode_with};
use crate::formats::llvm_sample::encode::Options;
use crate::formats::llvm_sample::rules::Discriminators::OfAnother;
use crate::formats::{afdo_v1_v3, afdo_v4, json, llvm_sample};
use crate::placement::project::{gcc_10_to_12, gcc_13_to_15, gcc_16_17, llvm, v4};
use crate::placement::reader::{self, OfSeveral};
use crate::profile::{Profile, Summary};
use crate::samples::Samples;

/// What the user chose.
#[derive(Debug, Args)]
pub struct Choice {
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<Target>,
    #[command(flatten)]
    rules: ReaderOptions,
}

/// Who is to read it.
#[derive(Debug, Args)]
pub struct ReaderOptions {
    /// Write what this gcc reads, by its rules: its version, such as 12 or 12.2, or its command, such as "gcc -m64"
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_gcc: Option<String>,
    /// With --to v4-text: write names of call targets as empty functions, for readers that do not know
    /// symbol_names
    #[arg(long)]
    text_stubs: bool,
    #[command(flatten)]
    samples: SampleWish,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// AutoFDO version 4
    V4,
    /// AutoFDO version 4, compact encoding
    V4Compact,
    /// AutoFDO version 4, text
    V4Text,
    /// AutoFDO version 3, for gcc 16 and 17
    V3,
    /// AutoFDO version 2, for gcc 12 to 15
    V2,
    /// AutoFDO version 1, for gcc 10 and 11
    V1,
    /// AutoFDO version 0x3430372a, for LLVM
    V407,
    /// Sample profile of LLVM, extensible binary
    LlvmSample,
    /// Sample profile of LLVM, text
    LlvmSampleText,
    /// Sample profile of LLVM, binary
    LlvmSampleBinary,
    /// JSON
    Json,
    /// For pprof
    Pprof,
    /// For callgrind_annotate and KCachegrind
    Callgrind,
    /// For speedscope
    Speedscope,
    /// Stacks of inlined functions, for flame graphs
    Collapsed,
    /// Functions in the order of their first calls, for linkers
    SymbolOrder,
}

/// A format of profiles, with its rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileFormat {
    /// With the rules of the gcc that reads parts of it, if it is known.
    V4(Encoding, Option<Rules>),
    V4Text(TargetNames),
    V1V3(Rules),
    Sample(SampleFormat),
    Json,
    View(View),
}

impl Choice {
    /// The format, if one was chosen.
    pub fn format(&self) -> Result<Option<ProfileFormat>> {
        self.rules.format(self.to)
    }
}

impl ReaderOptions {
    /// The first option that is given.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { for_gcc: Some(_), .. } => Some("--for-gcc"),
            Self { text_stubs: true, .. } => Some("--text-stubs"),
            Self { samples, .. } => samples.given(),
        }
    }

    /// The major version of the chosen gcc.
    pub fn major(&self) -> Result<Option<u32>> {
        self.for_gcc.as_deref().map(|gcc| gcc::known_major("--for-gcc", gcc)).transpose()
    }

    /// The format for the chosen reader, if there is one.
    pub fn format(&self, to: Option<Target>) -> Result<Option<ProfileFormat>> {
        let rules = self.for_gcc.as_deref().map(gcc::rules).transpose()?;
        if self.text_stubs && to != Some(Target::V4Text) {
            return Err(Error::new("--text-stubs is for --to v4-text"));
        }
        if let Some(format) = self.sample_format(to)? {
            return Ok(Some(ProfileFormat::Sample(format)));
        }
        let version = match to {
            None => return Ok(rules.map(ProfileFormat::V1V3)),
            Some(Target::V1) => Version::V1,
            Some(Target::V2) => Version::V2,
            Some(Target::V3) => Version::V3,
            Some(Target::V407) => Version::V407,
            Some(other) => {
                return match rules {
                    None => Ok(self.for_no_reader(other)),
                    // To be cut into parts, which this gcc reads.
                    Some(_) if other == Target::V4 => {
                        Ok(Some(ProfileFormat::V4(Encoding::Normal, rules)))
                    }
                    Some(_) if other == Target::V4Compact => {
                        Ok(Some(ProfileFormat::V4(Encoding::Compact, rules)))
                    }
                    Some(rules) => Err(self.mismatch(rules)),
                };
            }
        };
        match rules {
            Some(rules) if rules.version != version => Err(self.mismatch(rules)),
            Some(rules) => Ok(Some(ProfileFormat::V1V3(rules))),
            None => Ok(Some(ProfileFormat::V1V3(Rules::for_version(version)))),
        }
    }

    /// The format, if it is a sample profile of LLVM.
    fn sample_format(&self, to: Option<Target>) -> Result<Option<SampleFormat>> {
        let bytes = |options| Some(SampleForm::Bytes(options));
        let form = match to {
            None if self.samples.given().is_some() => None,
            Some(Target::LlvmSample) => bytes(Options::EXTENSIBLE),
            Some(Target::LlvmSampleBinary) => bytes(Options::BINARY),
            Some(Target::LlvmSampleText) => Some(SampleForm::Text),
            _ => {
                return match self.samples.given() {
                    None => Ok(None),
                    Some(option) => {
                        Err(Error::new(format!("{option} is for sample profiles of LLVM")))
                    }
                };
            }
        };
        match self.for_gcc.is_some() {
            true => Err(Error::new("--for-gcc: gcc reads no sample profiles of LLVM")),
            false => self.samples.format(form).map(Some),
        }
    }

    /// The format that no compiler's rules change; none if a version of compilers has it.
    fn for_no_reader(&self, target: Target) -> Option<ProfileFormat> {
        let format = match target {
            Target::V4 => ProfileFormat::V4(Encoding::Normal, None),
            Target::V4Compact => ProfileFormat::V4(Encoding::Compact, None),
            Target::V4Text if self.text_stubs => ProfileFormat::V4Text(TargetNames::Stubs),
            Target::V4Text => ProfileFormat::V4Text(TargetNames::Listed),
            Target::Json => ProfileFormat::Json,
            Target::Pprof => ProfileFormat::View(View::Pprof),
            Target::Callgrind => ProfileFormat::View(View::Callgrind),
            Target::Speedscope => ProfileFormat::View(View::Speedscope),
            Target::Collapsed => ProfileFormat::View(View::Collapsed),
            Target::SymbolOrder => ProfileFormat::View(View::SymbolOrder),
            Target::V1 | Target::V2 | Target::V3 | Target::V407 => return None,
            Target::LlvmSample | Target::LlvmSampleText | Target::LlvmSampleBinary => return None,
        };
        Some(format)
    }

    fn mismatch(&self, rules: Rules) -> Error {
        let gcc = self.for_gcc.as_deref().unwrap_or_default();
        let version = rules.version.word();
        Error::new(format!(
            "--for-gcc {gcc}: it reads version {version}, but --to asks for another format; leave one of them out"
        ))
    }
}

impl ProfileFormat {
    /// The format of an input, with the rules that keep as much of the input as its version allows.
    pub fn of(input: &Input) -> Self {
        match input.format {
            Format::V1V3(version) => Self::V1V3(Rules::that_keep_most(version)),
            Format::V4Text => Self::V4Text(TargetNames::Listed),
            format if format.is_sample() => Self::Sample(SampleFormat::of(input)),
            _ if afdo_v4::is_compact(&input.bytes) => Self::V4(Encoding::Compact, None),
            _ => Self::V4(Encoding::Normal, None),
        }
    }

    /// How the format's reader interprets a profile.
    pub fn reader(self) -> reader::Reader {
        let discriminators = self.has_discriminators();
        let (Self::V1V3(rules) | Self::V4(_, Some(rules))) = self else { return v4::READER };
        let version = rules.version;
        let reader = match version {
            Version::V1 | Version::V2 if discriminators => gcc_13_to_15::READER,
            Version::V1 | Version::V2 => gcc_10_to_12::READER,
            Version::V3 => gcc_16_17::READER,
            Version::V407 => return llvm::reader(discriminators),
        };
        let of_several = match discriminators {
            true => OfSeveral::Least,
            false => OfSeveral::LeastOfSimilar,
        };
        reader::Reader { discriminators, of_several, ..reader }
    }

    /// What becomes of positions in a sample profile of LLVM.
    pub const fn sample_rules(self) -> llvm_sample::rules::Rules {
        match self {
            Self::Sample(format) => format.rules,
            _ => llvm_sample::rules::Rules::WHOLE,
        }
    }

    /// Whether the format has discriminators, which distinguish positions on one line.
    pub fn has_discriminators(self) -> bool {
        match self {
            Self::V1V3(rules) | Self::V4(_, Some(rules)) => {
                rules.discriminators != Discriminators::Ignored
            }
            Self::Sample(format) => format.rules.discriminators != OfAnother,
            _ => true,
        }
    }

    /// The file of a profile; `name` is its name in messages.
    pub fn file(self, profile: &Profile, name: &Path) -> Result<(Vec<u8>, Content)> {
        self.file_with_summary(profile, None, name)
    }

    /// The file of a sample profile of LLVM.
    pub fn file_of(self, samples: Samples, name: &Path) -> Result<(Vec<u8>, Content)> {
        match self {
            Self::Sample(format) => format.file_of(samples, name),
            _ => self.file(&samples.into_profile().about(name)?, name),
        }
    }

    /// Like `file`, but with `summary` in place of the summary of the counts, if the format can keep one.
    pub fn file_with_summary(
        self,
        profile: &Profile,
        summary: Option<&Summary>,
        name: &Path,
    ) -> Result<(Vec<u8>, Content)> {
        let kept = || summary.map_or_else(|| profile.summary(), Summary::clone);
        match self {
            Self::V4(encoding, _) => {
                let encoded = afdo_v4::encode::encode_with(profile, &kept(), encoding, &Cores);
                let bytes = encoded.about(name)?;
                Ok((bytes, Content::Binary))
            }
            Self::V4Text(target_names) => {
                let text = encode_with(profile, &kept(), target_names).about(name)?;
                Ok((text, Content::Text))
            }
            _ if summary.is_some() => {
                let what =
                    "--keep-summary: only version 4 keeps one that is not that of the counts";
                Err(Error::new(what))
            }
            Self::V1V3(rules) => {
                let encoded =
                    afdo_v1_v3::encode::encode_with(profile, rules, &Cores).about(name)?;
                say_of(&encoded, name);
                Ok((encoded.bytes, Content::Binary))
            }
            Self::Sample(format) => format.file(profile, name),
            Self::View(view) => view.file(profile, &[], name),
            Self::Json => Ok((json::encode::encode(profile, |_| true).about(name)?, Content::Text)),
        }
    }
}

/// Says what a file lacks of the profile.
pub fn say_of(encoded: &Encoded, name: &Path) {
    if encoded.dropped > 0 {
        let dropped = Number(encoded.dropped as u64, "position");
        warn(
            name,
            format!("{dropped} dropped: the lines are too far from the start of the function"),
        );
    }
    if encoded.targets > 0 {
        let targets = Number(encoded.targets as u64, "call target");
        let why = "gcc 11 ends with an internal error at them";
        warn(name, format!("{targets} left out: {why}"));
    }
    if encoded.mixed > 0 {
        let mixed = Number(encoded.mixed as u64, "function");
        let what = "added to functions of the same name in other files";
        warn(name, format!("{mixed} {what}: this version does not distinguish them"));
    }
}
