//! `countersink merge`.

use std::path::PathBuf;
use std::prelude::v1::*;

use clap::Args;

use super::Outcome;
use super::error::{Context, Error, Result};
use super::input::{Format, Input};
use super::output::{self, Content};
use crate::formats::afdo_v1_v3::encode::Discriminators;
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::{afdo_v1_v3, afdo_v4, afdo_v4_text};
use crate::profile::Profile;
use crate::raw::dump::Dump;

/// Add dumps to a dump, or profiles to a profile
///
/// Dumps of one build are added as its runs would have added them; those of different builds stand
/// side by side. Of profiles counts, head counts and call targets are added, and the earliest
/// timestamp stays. The output has the format of the first input.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink merge run1.csraw run2.csraw -o all.csraw
  countersink merge day.csraw --weight 3=night.csraw -o all.csraw   # night counts three times")]
pub struct Merge {
    /// Raw dumps or profiles; - is standard input
    #[arg(value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// A file whose counts are multiplied
    #[arg(long, value_name = "W=FILE", value_parser = weighted)]
    weight: Vec<(u32, PathBuf)>,
    /// Write here; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

fn weighted(text: &str) -> std::result::Result<(u32, PathBuf), String> {
    let (weight, file) = text.split_once('=').ok_or("expected W=FILE")?;
    let weight = weight
        .parse()
        .map_err(|_| format!("expected a number up to {}, found {weight}", u32::MAX))?;
    Ok((weight, file.into()))
}

impl Merge {
    pub fn run(&self) -> Result<Outcome> {
        let plain = self.inputs.iter().map(|path| (1, path));
        let weighted = self.weight.iter().map(|(weight, path)| (*weight, path));
        let inputs = plain.chain(weighted).map(|(weight, path)| Ok((weight, Input::read(path)?)));
        let inputs: Vec<(u32, Input)> = inputs.collect::<Result<_>>()?;
        let Some((_, first)) = inputs.first() else {
            return Err(Error::new("no files to merge"));
        };
        let (bytes, content) = match first.format {
            Format::Dump => (dumps(&inputs)?.to_bytes(), Content::Binary),
            format => self.profile(format, first, &profiles(&inputs)?)?,
        };
        output::write(Some(&self.output), &bytes, content)?;
        Ok(Outcome::Done)
    }

    fn profile(
        &self,
        format: Format,
        first: &Input,
        profile: &Profile,
    ) -> Result<(Vec<u8>, Content)> {
        Ok(match format {
            Format::V4Text => {
                let text = afdo_v4_text::encode::encode(profile).about(&self.output)?;
                (text, Content::Text)
            }
            Format::V2 => {
                let encoded = afdo_v1_v3::encode::encode(profile, Discriminators::Used);
                (encoded.bytes, Content::Binary)
            }
            _ => {
                let encoding = match afdo_v4::is_compact(&first.bytes) {
                    true => Encoding::Compact,
                    false => Encoding::Normal,
                };
                let bytes = afdo_v4::encode::encode(profile, encoding).about(&self.output)?;
                (bytes, Content::Binary)
            }
        })
    }
}

fn dumps(inputs: &[(u32, Input)]) -> Result<Dump> {
    let mut sum = Dump::default();
    for (weight, input) in inputs {
        let mut dump = super::convert::added([input])?;
        dump.scale(*weight);
        sum.merge(dump);
    }
    Ok(sum)
}

fn profiles(inputs: &[(u32, Input)]) -> Result<Profile> {
    let mut sum = Profile::default();
    for (weight, input) in inputs {
        sum.merge(&input.profile()?, u64::from(*weight));
    }
    Ok(sum)
}
