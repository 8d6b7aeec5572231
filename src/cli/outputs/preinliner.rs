//! The pre-inliner on the command line.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use super::output::{self, Content};
use crate::cli::inputs::input;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::text;
use crate::convert::number::Number;
use crate::convert::sizes::sizes;
use crate::samples::preinline::{Decision, Thresholds, Verdict};
use crate::samples::{Frame, Samples};

/// Counts are hot if they reach the summary's count at this cutoff. In millionths.
const HOT: u32 = 990_000;

/// What the pre-inliner goes by.
#[derive(Debug, Args)]
pub struct PreinlineOptions {
    /// Keep contexts only where a hot call is worth inlining, by the sizes in this program's machine code; needs its
    /// debug information
    #[arg(long, value_name = "PROGRAM")]
    preinline: Option<PathBuf>,
    /// With --preinline: a call is hot if it is made so often [default: by the summary's 99 %]
    #[arg(long, value_name = "CALLS", requires = "preinline")]
    preinline_hot: Option<u64>,
    /// With --preinline: most bytes of a copy
    #[arg(long, value_name = "BYTES", requires = "preinline", default_value_t = 1500)]
    preinline_size: u64,
    /// With --preinline: how many times as large as it was a function may become
    #[arg(long, value_name = "FACTOR", requires = "preinline", default_value_t = 12)]
    preinline_growth: u64,
    /// With --preinline: most bytes of a function with what is inlined in it
    #[arg(long, value_name = "BYTES", requires = "preinline", default_value_t = 10_000)]
    preinline_limit: u64,
    /// With --preinline: write the decisions here, one line each; - is standard output
    #[arg(long, value_name = "FILE", requires = "preinline")]
    decisions: Option<PathBuf>,
}

impl PreinlineOptions {
    /// Whether it was asked for.
    pub const fn is_any(&self) -> bool {
        self.preinline.is_some()
    }

    /// Refuses to replace another file of the command by the decisions, under whatever name.
    pub fn keep<'p>(&'p self, others: impl IntoIterator<Item = &'p Path>) -> Result<()> {
        let Some(decisions) = &self.decisions else { return Ok(()) };
        let mut others = others.into_iter().chain(self.preinline.as_deref());
        match others.any(|other| input::is_same(other, decisions)) {
            true => Err(Error::about(
                decisions,
                "is an input or the output, too; --decisions needs a file of its own",
            )),
            false => Ok(()),
        }
    }

    /// Decides about the copies of a profile.
    pub fn change(&self, samples: &mut Samples, name: &Path) -> Result<()> {
        let Some(program) = &self.preinline else { return Ok(()) };
        let bytes = input::read_regular(program).about(program)?;
        let sizes = sizes(&bytes, &mut samples.symbols).about(program)?;
        let cutoff = || {
            let cutoffs = samples.summary().cutoffs;
            cutoffs.iter().find(|cutoff| cutoff.share >= HOT).map_or(1, |cutoff| cutoff.min_count)
        };
        let hot = self.preinline_hot.unwrap_or_else(cutoff).max(1);
        let thresholds = Thresholds {
            size: self.preinline_size,
            growth: self.preinline_growth,
            most: self.preinline_limit,
            ..Thresholds::for_hot(hot)
        };
        let decisions = samples.preinline(&sizes, thresholds).about(name)?;
        if decisions.is_empty() {
            let what = "has neither contexts nor inlined copies to decide about";
            return Err(Error::about(name, what));
        }
        let of = |verdict| decisions.iter().filter(|decision| decision.verdict == verdict).count();
        let stay = Number(of(Verdict::Inlined) as u64, "call");
        let others = [Verdict::Cold, Verdict::Large, Verdict::Full, Verdict::Unknown];
        let others = others.map(|verdict| format!("{} {}", of(verdict), why(verdict)));
        warn(name, format!("{stay} to inline; not inlined: {}", others.join(", ")));
        let Some(file) = &self.decisions else { return Ok(()) };
        let mut list = String::new();
        decisions.iter().for_each(|decision| line(&mut list, samples, decision));
        output::write(Some(file), list.as_bytes(), Content::Text)
    }
}

const fn why(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Inlined => "inline",
        Verdict::Cold => "cold",
        Verdict::Large => "large",
        Verdict::Full => "without room",
        Verdict::Unknown => "of unknown size",
    }
}

/// `inline 1200 calls 80 bytes main:3 @ f:1 @ g`
fn line(list: &mut String, samples: &Samples, decision: &Decision) {
    let Decision { frames, calls, size, verdict } = decision;
    let size = size.map_or("?".into(), |size| size.to_string());
    let _ = write!(list, "{}\t{calls} calls\t{size} bytes\t", why(*verdict));
    for (place, Frame { function, site }) in frames.iter().enumerate() {
        let name = text(samples.symbols.name(*function));
        match place + 1 == frames.len() {
            true => _ = writeln!(list, "{name}"),
            false if site.discriminator == 0 => _ = write!(list, "{name}:{} @ ", site.line),
            false => _ = write!(list, "{name}:{}.{} @ ", site.line, site.discriminator),
        }
    }
}
