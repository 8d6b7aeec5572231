//! `--to parquet`: a table of dumps or profiles.

use std::prelude::v1::*;

use super::Convert;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::parquet::{self, Ids};
use crate::cli::terminal::error::Result;

impl Convert {
    /// Writes a table.
    pub(super) fn table(&self) -> Result<Outcome> {
        let ids = Ids { first: self.first, below: self.below.as_deref() };
        parquet::write(&self.inputs, self.output.as_deref(), ids)?;
        Ok(Outcome::Done)
    }
}
