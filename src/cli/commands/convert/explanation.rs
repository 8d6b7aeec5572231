//! `--explain`: which rules gave the counts of a line their places.

use std::collections::BTreeSet;
use std::prelude::v1::*;

use super::Convert;
use crate::cli::inputs::conversion::{Asked, dumps_name};
use crate::cli::inputs::sources::needs_dump;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::plain;
use crate::cli::terminal::visible::visible;
use crate::placement::explain::{Explanation, SourceLine, Way};
use crate::placement::reader::Reader;

impl Convert {
    /// Says how the counts of a line got their places.
    pub(super) fn explanation(&self, line: &SourceLine) -> Result<Outcome> {
        let inputs = self.read(&self.paths()?)?;
        needs_dump("--explain", &inputs)?;
        let name = dumps_name(&inputs);
        let mut sources = self.sources.clone();
        sources.explains = Some(line.clone());
        let reader = Reader::EXACT;
        let asked = Asked { reader, gcc: None, losses: false, probes: false, check: false };
        let Some(statistics) = sources.convert(inputs, asked)?.statistics else {
            return Err(Error::about(&name, "--explain is about programs of gcc"));
        };
        let found = &statistics.explanations;
        if found.is_empty() {
            let SourceLine { file, line } = line;
            warn(&name, format!("no instrumented function has a count of {file}:{line}"));
            return Ok(Outcome::Found);
        }
        let text = text_of(found);
        output::write(self.output.as_deref(), text.as_bytes(), Content::Text)?;
        Ok(Outcome::Done)
    }
}

/// A line for each count, and what the rules behind them go by.
fn text_of(found: &[Explanation]) -> String {
    let mut rules = BTreeSet::new();
    let mut text = String::new();
    for explanation in found {
        let mut explanation = explanation.clone();
        let names = explanation.within.iter_mut().map(|(name, _)| name);
        for name in names.chain([&mut explanation.function]) {
            *name = visible(&plain(name));
        }
        text += &format!("{explanation}\n");
        if let Way::Placed { rule, copy_by, .. } = explanation.way {
            rules.extend([Some(rule), copy_by].into_iter().flatten());
        }
    }
    for rule in rules {
        text += &format!("{rule}: {}\n", rule.what());
    }
    text
}
