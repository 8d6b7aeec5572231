//! The sum of LLVM's profiles of any versions.

use std::path::Path;
use std::prelude::v1::*;

use super::queue::{Directories, Listed, Queue};
use super::summands::{Part, each};
use crate::cli::compilers::llvm::Origins;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input::Input;
use crate::cli::terminal::error::{Context, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::text;
use crate::cli::terminal::progress::Progress;
use crate::convert::number::Number;
use crate::counters::Profile;
use crate::counters::merge::{Refused, Sum};

/// Functions of a file that could not be added are named up to this number.
const NAMED: usize = 3;

/// The sum of files, each with a factor for its counts, and what they were made by. A file that cannot be read
/// is an error. `known` is the first one, if it has been read; `programs` have the functions that files may lack.
pub fn of(
    inputs: Vec<Listed>,
    known: Option<Input>,
    programs: &Programs,
) -> Result<(Profile, Origins)> {
    let (mut sum, mut origins) = (Sum::default(), Origins::default());
    let mut progress = Progress::new(inputs.len());
    let queue = Queue::new(inputs, known, Directories::Refused);
    each(queue, programs, |Listed { path, weight }, part| {
        let part = part?;
        part.warnings.iter().for_each(|warning| warn(path, warning));
        part.version.add_to(&mut origins);
        add(&mut sum, &part, *weight, path)?;
        progress.step();
        Ok(())
    })?;
    Ok((sum.finish(), origins))
}

/// Adds a profile that has been read whole, and says which of its functions do not fit.
pub fn add_model(sum: &mut Sum, profile: &Profile, path: &Path) -> Result<()> {
    report(&sum.add(profile, 1).about(path)?, path);
    Ok(())
}

/// Adds a profile, and says which of its functions do not fit.
fn add(sum: &mut Sum, part: &Part<'_>, weight: u64, path: &Path) -> Result<()> {
    report(&part.add_to(sum, weight).about(path)?, path);
    Ok(())
}

fn report(refused: &[Refused], path: &Path) {
    for refused in refused.iter().take(NAMED) {
        let name = text(&refused.name);
        warn(path, format!("{name}: {}; the counts are left out", refused.why));
    }
    let more = refused.len().saturating_sub(NAMED);
    if more > 0 {
        let more = Number(more as u64, "more function");
        warn(path, format!("left out: {more}; were the programs built from other sources?"));
    }
}
