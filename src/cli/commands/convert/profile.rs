//! Profiles by source position: of AutoFDO, samples of LLVM, JSON, and what viewers show.

use std::path::PathBuf;
use std::prelude::v1::*;

use super::Convert;
use crate::cli::compilers::gcc;
use crate::cli::inputs::conversion::{Asked, Converted, dumps_name};
use crate::cli::inputs::input::{Decoded, Format, Input};
use crate::cli::inputs::sources::needs_dump;
use crate::cli::outcome::Outcome;
use crate::cli::outputs::profile::{ProfileFormat, Target};
use crate::cli::outputs::{samples, sum, viewers};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::say;
use crate::formats::afdo_v4::encode::Encoding;
use crate::profile::{Profile, Summary};

impl Convert {
    /// Writes a profile of AutoFDO or JSON.
    pub(super) fn profile(&self, to: Option<Target>) -> Result<Outcome> {
        // Wrong choices are reported before anything is read.
        match self.reader.format(to)? {
            None if !self.keep_summary => {
                let (major, rules) = gcc::installed()?;
                let outcome = self.written(ProfileFormat::V1V3(rules), Some(major))?;
                let version = rules.version.word();
                let hint = "--for-gcc chooses another one";
                say(format_args!(
                    "version {version}, for gcc {major}, which is the gcc on the path; {hint}"
                ));
                Ok(outcome)
            }
            format => {
                let format = format.unwrap_or(ProfileFormat::V4(Encoding::Normal, None));
                self.written(format, self.reader.major()?)
            }
        }
    }

    /// Writes a profile in this format, for this version of gcc if there is one.
    fn written(&self, format: ProfileFormat, gcc: Option<u32>) -> Result<Outcome> {
        let paths = self.paths()?;
        let inputs = self.inputs_by_position(&paths)?;
        let all: Vec<_> = paths.iter().map(|path| (1, path)).collect();
        match format {
            ProfileFormat::Sample(format)
                if samples::are_samples(&inputs) && !self.keep_summary =>
            {
                self.write(|name| format.file_of(samples::sum(inputs, &all)?, name))?;
            }
            _ if self.keep_summary => {
                let (profile, summary) = self.profile_and_summary(&inputs)?;
                self.write(|name| format.file_with_summary(&profile, Some(&summary), name))?;
            }
            // The same sum as in `merge`.
            _ if inputs.len() > 1 && inputs.iter().all(is_profile_by_position) => {
                let move_files = |input| self.sources.moved(input);
                let inputs = inputs.into_iter().map(move_files).collect::<Result<_>>()?;
                self.write(|name| sum::file(inputs, &all, format, name))?;
            }
            _ => return self.converted(format, gcc, inputs),
        }
        Ok(Outcome::Done)
    }

    /// Reads inputs, and refuses options that are not about them.
    fn inputs_by_position(&self, paths: &[PathBuf]) -> Result<Vec<Input>> {
        let inputs = self.read(paths)?;
        self.sources.check(&inputs)?;
        if let Some(option) = self.account.given() {
            needs_dump(option, &inputs)?;
            let others = paths.iter().chain(&self.output);
            self.account.keep(others.map(|path| &**path))?;
        }
        Ok(inputs)
    }

    /// Writes the profile of dumps and other inputs, and gives the account.
    fn converted(
        &self,
        format: ProfileFormat,
        gcc: Option<u32>,
        inputs: Vec<Input>,
    ) -> Result<Outcome> {
        let name = dumps_name(&inputs);
        let asked = Asked {
            reader: format.reader(),
            gcc,
            losses: self.account.wants_losses(),
            probes: false,
            check: self.account.is_strict(),
        };
        let images = viewers::images(&inputs);
        let Converted { profile, statistics, .. } = self.sources.convert(inputs, asked)?;
        if let ProfileFormat::Sample(_) = format {
            samples::warn_of_source_names(&profile, &name);
        }
        if statistics.is_none()
            && let Some(option) = self.account.given()
        {
            let what = "is about dumps of gcc's programs; coverage counts are all placed";
            return Err(Error::new(format!("{option} {what}")));
        }
        self.write(|name| match format {
            ProfileFormat::View(view) => view.file(&profile, &images, name),
            _ => format.file(&profile, name),
        })?;
        // The process is about to end, so nobody needs the memory of its many small parts.
        core::mem::forget(profile);
        let Some(statistics) = statistics else { return Ok(Outcome::Done) };
        self.account.give(&statistics, &name)
    }

    fn profile_and_summary(&self, inputs: &[Input]) -> Result<(Profile, Summary)> {
        let [input] = inputs else {
            return Err(Error::new("--keep-summary: a sum has one of its own"));
        };
        let Decoded { mut profile, summary, warnings } = input.decode()?;
        let summary = summary.ok_or_else(|| Error::about(&input.name, "has no summary to keep"))?;
        input.warn(&warnings);
        self.sources.places.move_files(&mut profile);
        Ok((profile, summary))
    }
}

/// Whether an input is a profile by source position, and no dump.
fn is_profile_by_position(input: &Input) -> bool {
    input.format != Format::Dump && !input.format.is_by_function()
}
