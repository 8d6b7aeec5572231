//! `countersink check`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::error::Result;
use super::input::{Format, Input};
use super::{Outcome, output};
use crate::formats::gcda::decode::Data;
use crate::formats::gcno::Notes;
use crate::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use crate::raw;

/// Verify a file strictly
///
/// Every defect is printed with its offset, those that reading would tolerate included. The exit
/// status is 1 if there are any.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink check prog.csraw && echo sound
  countersink check prog.gcov
  # prog.gcov: 0x1a4: symbol info cut short: expected 12 more bytes, found 3")]
pub struct Check {
    /// A raw dump, an AutoFDO profile of any version, .gcda or .gcno
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl Check {
    pub fn run(&self) -> Result<Outcome> {
        let mut outcome = Outcome::Done;
        for file in &self.files {
            let input = Input::read(file)?;
            for defect in defects(&input) {
                outcome = Outcome::Found;
                output::print(format!("{}: {defect}\n", input.name.display()).as_bytes())?;
            }
        }
        Ok(outcome)
    }
}

fn defects(input: &Input) -> Vec<String> {
    let bytes = &input.bytes;
    let text = |error: &dyn ToString| vec![error.to_string()];
    match input.format {
        Format::Dump => raw::dump::check(bytes).iter().map(ToString::to_string).collect(),
        Format::V4 => v4(bytes),
        Format::V4Text => match afdo_v4_text::decode::decode(bytes) {
            Ok(decoded) => {
                let mut found: Vec<String> =
                    decoded.findings.iter().map(ToString::to_string).collect();
                if decoded.summary != decoded.profile.summary() {
                    found.push("summary differs from the counts".into());
                }
                found
            }
            Err(error) => text(&error),
        },
        Format::V1V3(_) => match afdo_v1_v3::decode::decode(bytes) {
            Ok(decoded) => decoded.findings.iter().map(ToString::to_string).collect(),
            Err(finding) => text(&finding),
        },
        Format::Gcda => Data::decode(bytes).err().map_or(vec![], |error| text(&error)),
        Format::Gcno => Notes::decode(bytes).err().map_or(vec![], |error| text(&error)),
    }
}

fn v4(bytes: &[u8]) -> Vec<String> {
    match afdo_v4::decode::decode_all(bytes) {
        Ok(decoded) => {
            let defects = decoded.findings.iter().filter(|found| !found.defect.is_extension());
            defects.map(ToString::to_string).collect()
        }
        Err(finding) => vec![finding.to_string()],
    }
}
