//! Profiles of LLVM: counters by function.

use std::prelude::v1::*;

use super::Convert;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::instr_profiles;
use crate::cli::inputs::instr_profiles::queue::Listed;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::instr_profile::Target;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::message::warn;

impl Convert {
    /// Writes a profile of LLVM.
    pub(super) fn instr_profile(&self, target: Target) -> Result<Outcome> {
        let paths = self.paths()?;
        let first = paths.first().cloned();
        let chosen = self.wish.chosen(target)?;
        let inputs = paths.into_iter().map(|path| Listed { path, weight: 1 }).collect();
        let (profile, origins) = instr_profiles::sum::of(
            inputs,
            None,
            &Programs::new(&self.sources.binary, &self.sources.places),
        )?;
        // Its link asked for the runtime, its compilations for no counters.
        if let Some(first) = first.filter(|_| profile.functions.is_empty()) {
            warn(first, "no function was instrumented; the profile is empty");
        }
        chosen.write(profile, origins, self.output.as_deref())?;
        Ok(Outcome::Done)
    }
}
