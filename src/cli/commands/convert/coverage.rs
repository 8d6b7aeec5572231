//! Line coverage, for tools and for reviewers of a change.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use super::Convert;
use crate::cli::inputs::coverage::{self, Covered};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::coverage::CoverageFormat;
use crate::cli::outputs::coverage::review::ReviewFormat;
use crate::cli::outputs::output::Content;
use crate::cli::terminal::error::Result;
use crate::cli::terminal::message::warn;

impl Convert {
    /// Writes line coverage.
    pub(super) fn coverage(&self, target: CoverageFormat) -> Result<Outcome> {
        let paths = self.paths()?;
        let name = coverage::name_of(&paths);
        let Covered { coverage, chosen, is_whole } = self.lines(&paths, &name)?;
        self.write(|name| target.file(&coverage, chosen.folder(), name))?;
        let outcome = self.limits.check(&coverage, &name).max(self.check_whole(is_whole, &name));
        // The process is about to end, so nobody needs the memory of its many small parts.
        core::mem::forget(coverage);
        Ok(outcome)
    }

    /// Writes line coverage for reviewers of a change.
    pub(super) fn review(&self, target: ReviewFormat) -> Result<Outcome> {
        let paths = self.paths()?;
        let name = coverage::name_of(&paths);
        let Covered { mut coverage, chosen, is_whole } = self.lines(&paths, &name)?;
        let base = self.review.base(&self.sources, &self.selection, &chosen)?;
        let review = self.review.of(&mut coverage, base, &chosen.project())?;
        self.write(|_| Ok((target.text(&review).into_bytes(), Content::Text)))?;
        let outcome = self.limits.check(&coverage, &name).max(self.check_whole(is_whole, &name));
        Ok(outcome.max(self.review.check(&review, &name)))
    }

    /// Whether `--strict` finds fault with what was left out.
    fn check_whole(&self, is_whole: bool, name: &Path) -> Outcome {
        if is_whole || !self.account.is_strict() {
            return Outcome::Done;
        }
        warn(name, "not everything is in the coverage; --strict asks for all");
        Outcome::Found
    }

    /// Line coverage of what is asked for.
    fn lines(&self, paths: &[PathBuf], name: &Path) -> Result<Covered> {
        coverage::coverage(self.read(paths)?, paths, &self.sources, &self.selection, name)
    }
}
