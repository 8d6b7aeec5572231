//! Profiles of LLVM: counters by function.

use std::prelude::v1::*;

use super::Convert;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::instr_profiles;
use crate::cli::inputs::instr_profiles::queue::Listed;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::instr_profile::Target;
use crate::cli::terminal::error::Result;

impl Convert {
    /// Writes a profile of LLVM.
    pub(super) fn instr_profile(&self, target: Target) -> Result<Outcome> {
        let paths = self.paths()?;
        let chosen = self.wish.chosen(target)?;
        let inputs = paths.into_iter().map(|path| Listed { path, weight: 1 }).collect();
        let (profile, origins) = instr_profiles::sum::of(
            inputs,
            None,
            &Programs::new(&self.sources.binary, &self.sources.places),
        )?;
        chosen.write(profile, origins, self.output.as_deref())?;
        Ok(Outcome::Done)
    }
}
