//! What to write of counters by function: `--to`, `--for-llvm`, `--sparse`.

use std::io::Write;
use std::path::Path;
use std::prelude::v1::*;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use hashbrown::HashSet;

use super::output::{self, Content, Out};
use crate::cli::compilers::llvm::{Llvm, Origins};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::convert::number::Number;
use crate::counters::{Function, Profile};
use crate::formats::profdata::encode::{Dropped, Encoder, unique};
use crate::formats::profdata::version_for_llvm;
use crate::formats::{profraw, proftext};

/// LLVM's formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// LLVM's indexed profile, for clang, rustc and llvm-cov
    Profdata,
    /// LLVM's raw profile
    Profraw,
    /// LLVM's text profile
    Proftext,
}

/// Which LLVM will read a profile, and what goes into it.
#[derive(Debug, Args)]
pub struct Wish {
    /// For LLVM's profiles: the LLVM that will read them, by its version or the command of its clang, rustc or
    /// llvm-profdata [default: any that reads the oldest version with room for all that the inputs have]
    #[arg(long, value_name = "VERSION|COMMAND", value_parser = NonEmptyStringValueParser::new())]
    for_llvm: Option<String>,
    /// For LLVM's profiles: leave out functions that never ran
    #[arg(long)]
    sparse: bool,
}

/// One of LLVM's formats, with everything that was chosen.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The format.
    pub target: Target,
    /// The LLVM that will read it, if it was chosen.
    pub llvm: Option<Llvm>,
    /// Whether to leave out functions that never ran.
    pub sparse: bool,
}

impl Wish {
    /// The option that asks for a profile of LLVM, if there is one.
    pub const fn given(&self) -> Option<&'static str> {
        match self {
            Self { for_llvm: Some(_), .. } => Some("--for-llvm"),
            Self { sparse: true, .. } => Some("--sparse"),
            _ => None,
        }
    }

    /// Whether an LLVM was chosen.
    pub const fn is_llvm(&self) -> bool {
        self.for_llvm.is_some()
    }

    /// All that was chosen. Asks the tool that `--for-llvm` names.
    pub fn chosen(&self, target: Target) -> Result<Chosen> {
        let option = "--for-llvm";
        let named = self.for_llvm.as_deref();
        let llvm = match named.map(|choice| Llvm::named(option, choice)).transpose()? {
            Some(_) if target == Target::Proftext => {
                return Err(Error::new("--for-llvm: every LLVM reads the same text"));
            }
            Some(llvm) => Some(llvm),
            None => Llvm::of_environment()?,
        };
        Ok(Chosen { target, llvm, sparse: self.sparse })
    }
}

impl Chosen {
    /// Writes a profile to a file, or to standard output; `origins` says what it was made of.
    pub fn write(&self, mut profile: Profile, origins: Origins, path: Option<&Path>) -> Result<()> {
        let name = path.unwrap_or(Path::new("standard output"));
        if self.sparse {
            leave_out_zeros(&mut profile);
        }
        match self.target {
            Target::Proftext => {
                let text = proftext::encode::encode(&profile).about(name)?;
                output::write(path, &text, Content::Text)
            }
            Target::Profdata => {
                let version = match &self.llvm {
                    Some(llvm) => version_for_llvm(llvm.major, &profile),
                    None => origins.oldest_version(&profile),
                };
                let profile = unique(&profile).about(name)?;
                let encoder = Encoder::new(&profile, version).about(name)?;
                warn_of_dropped(&encoder.dropped, name);
                let fill = |out: &mut dyn Write| encoder.write(&mut Out(out));
                output::write_with(path, Content::Binary, &fill)
            }
            Target::Profraw => {
                let version = self.raw_version(origins)?;
                let bytes = profraw::encode::encode(&profile, version).about(name)?;
                output::write(path, &bytes, Content::Binary)
            }
        }
    }
}

impl Chosen {
    /// The version of raw profiles that the chosen LLVM reads; without one, that of the inputs, or else that of the
    /// installed LLVM.
    fn raw_version(&self, origins: Origins) -> Result<profraw::Version> {
        if let (None, Some(version)) = (&self.llvm, origins.raw()) {
            return Ok(version);
        }
        let llvm = self.llvm.clone().unwrap_or_else(|| Llvm::installed(origins));
        let what = || Error::new(format!("raw profiles of LLVM {} are not known", llvm.major));
        profraw::Version::for_llvm(llvm.major).ok_or_else(what)
    }
}

/// Leaves out functions without a count. As in LLVM's tools, a function stays under all its hashes if it has
/// counts under one.
fn leave_out_zeros(profile: &mut Profile) {
    let has_any = |function: &&Function| {
        function.counters.iter().any(|&count| count > 0)
            || function.bitmap.iter().any(|&byte| byte > 0)
    };
    let ran = profile.functions.iter().filter(has_any).map(|function| function.name.clone());
    let ran: HashSet<Vec<u8>> = ran.collect();
    profile.functions.retain(|function| ran.contains(&function.name));
}

/// Says what the version has no place for.
fn warn_of_dropped(dropped: &Dropped, name: &Path) {
    let lost = [
        (dropped.bitmaps, "MC/DC bitmap", ""),
        (dropped.traces, "temporal profile trace", ""),
        (dropped.vtable_sites, "function", " with value sites of virtual tables"),
        (dropped.values, "value", " at sites with too many"),
    ];
    for (number, what, which) in lost.into_iter().filter(|&(number, ..)| number > 0) {
        let what = Number(number as u64, what);
        let why = "the version that was chosen has no place for them, see --for-llvm";
        warn(name, format!("left out: {what}{which}; {why}"));
    }
}
