//! What a conversion reads besides the dump: options of `convert` and of all commands that take dumps where they want
//! profiles. [`super::conversion`] is the conversion.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::{Args, ValueEnum};

use super::input::{Format, Input};
use super::notes::Places;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::formats::afdo_v4::encode::{Encoding, encode};
use crate::placement::Rule;
use crate::placement::explain::SourceLine;
use crate::raw::dump::Dump;
use crate::raw::dump::sum::Sum;

/// Where a conversion finds what is not in the dump.
#[derive(Clone, Debug, Args)]
pub struct Sources {
    #[command(flatten)]
    pub places: Places,
    /// The program that wrote the dump, or a shared object of it, if not at its recorded path
    #[arg(long, value_name = "FILE")]
    pub binary: Vec<PathBuf>,
    /// Where to put the counts of functions that gcc inlined before it inserted counters
    #[arg(long, value_enum, value_name = "WHERE")]
    pub(super) inline: Option<Inlining>,
    /// Say what was dropped, one line each, the heaviest losses first
    #[arg(short, long)]
    pub verbose: bool,
    /// Leave out these rules that give counts their places, to see what each is worth
    #[arg(long, hide = true, value_name = "RULE", value_delimiter = ',')]
    pub(super) without_rules: Vec<Rule>,
    /// The line whose counts are explained.
    #[arg(skip)]
    pub explains: Option<SourceLine>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Inlining {
    /// With the functions themselves
    Flat,
    /// At the calls, and without estimated bodies at other hot calls
    Nested,
}

impl Sources {
    /// What is at its recorded place, or where paths have moved to.
    pub fn recorded(places: Places) -> Self {
        let (places, binary) = (places.without_notes(), Vec::new());
        let (without_rules, explains) = (Vec::new(), None);
        Self { places, binary, inline: None, verbose: false, without_rules, explains }
    }

    /// Refuses options that are of no use without a dump.
    pub fn check(&self, inputs: &[Input]) -> Result<()> {
        self.given().map_or(Ok(()), |option| needs_dump(option, inputs))
    }

    /// `--notes` if it is given, which only programs of gcc have.
    pub fn notes(&self) -> Option<&'static str> {
        self.places.has_notes().then_some("--notes")
    }

    /// `--binary` if it is given.
    pub fn binary(&self) -> Option<&'static str> {
        (!self.binary.is_empty()).then_some("--binary")
    }

    /// `--inline` if it is given, which is of no use for line coverage.
    pub fn inline(&self) -> Option<&'static str> {
        self.inline.is_some().then_some("--inline")
    }

    /// The option that is of no use for programs of clang and rustc, if there is one.
    pub fn only_for_gcc(&self) -> Option<&'static str> {
        self.notes().or_else(|| self.inline())
    }

    /// The option that is of no use without a dump, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        self.notes().or_else(|| self.binary()).or_else(|| self.inline())
    }

    /// A profile whose files have their present names.
    pub fn moved(&self, input: Input) -> Result<Input> {
        if !self.moves_files() {
            return Ok(input);
        }
        let mut profile = input.profile()?;
        self.places.move_files(&mut profile);
        let bytes = encode(&profile, Encoding::Compact).about(&input.name)?;
        Ok(input.with_profile(bytes))
    }

    /// Whether to give files other names.
    pub fn moves_files(&self) -> bool {
        self.places.moves_files()
    }
}

/// Refuses an option that is of no use without a dump.
pub fn needs_dump(option: &str, inputs: &[Input]) -> Result<()> {
    match inputs {
        // --binary also names the program that has the mapping of LLVM's counters.
        _ if option == "--binary" && inputs.iter().any(|input| input.format.is_by_function()) => {
            Ok(())
        }
        [input, ..] if inputs.iter().all(|input| input.format != Format::Dump) => {
            let what = format!("{option} is for raw dumps, and this is {}", input.format.name());
            Err(Error::about(&input.name, what))
        }
        _ => Ok(()),
    }
}

/// The sum of all dumps; profiles are an error.
pub fn added(inputs: Vec<Input>) -> Result<Dump> {
    let mut sum = Sum::default();
    for input in inputs {
        sum.add(input.into_dump()?);
    }
    Ok(sum.finish())
}
