//! The sum of profiles of any versions, on all cores, and never with more than one profile for each of
//! them decoded.
//!
//! Files are added in batches: one for each core, or as many as are as large as the sum so far, which would
//! otherwise be written anew for each of many small files. What is not of version 4 is made so first.

use std::fs;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;

use super::error::{Context, Result};
use super::input::{Format, Input};
use super::names::warn_of_ambiguous;
use super::output::Content;
use super::profile_format::ProfileFormat;
use super::progress::Progress;
use crate::formats::afdo_v1_v3::rules::by_line;
use crate::formats::afdo_v4;
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::afdo_v4::merge::{File, Merge, Part};

/// The smallest batch, in bytes.
const LEAST_BATCH: u64 = 4 << 20;

/// What has been added up so far is no file of the user's.
const SUM: &str = "the sum";

/// A file and how much its counts weigh.
pub type Weighted<'p> = (u32, &'p PathBuf);

/// The file of the sum of these, of which the first one has been read.
pub fn file(
    first: Input,
    inputs: &[Weighted<'_>],
    format: ProfileFormat,
    output: &Path,
) -> Result<(Vec<u8>, Content)> {
    let mut progress = Progress::new(inputs.len());
    let (mut known, mut sum, mut left) = (Some(first), None, inputs);
    while !left.is_empty() {
        let batch;
        (batch, left) = left.split_at(batch_length(left, sum.as_ref().map_or(0, size)));
        let mut summands = read(known.take(), batch)?;
        summands.extend(sum.take().map(|sum| (1, sum)));
        let bytes = add(&summands, format, left.is_empty().then_some(output))?;
        sum = Some(Input { name: SUM.into(), bytes, format: Format::V4 });
        batch.iter().for_each(|_| progress.step());
    }
    let bytes = sum.map(|sum| sum.bytes).unwrap_or_default();
    if let ProfileFormat::V4(_) = format {
        return Ok((bytes, Content::Binary));
    }
    let profile = afdo_v4::decode::decode(&bytes).about(SUM)?.profile;
    drop(bytes);
    format.file(&profile, output)
}

fn size(input: &Input) -> u64 {
    input.bytes.len() as u64
}

/// How many files come next, at least one for each core.
fn batch_length(inputs: &[Weighted<'_>], sum: u64) -> usize {
    let mut room = sum.max(LEAST_BATCH);
    let fits = |(_, path): &&Weighted<'_>| {
        // What it is will be told when it is read.
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let number = inputs.iter().take_while(fits).count();
    number.max(rayon::current_num_threads()).min(inputs.len())
}

/// Files in version 4.
fn read(first: Option<Input>, batch: &[Weighted<'_>]) -> Result<Vec<(u32, Input)>> {
    let known = usize::from(first.is_some());
    let first = first.into_iter().map(|input| (batch[0].0, Ok(input)));
    let first: Vec<_> = first.collect();
    let others = batch[known..].par_iter().map(|&(weight, path)| (weight, Input::read(path)));
    let read = first.into_par_iter().chain(others);
    let read = read.map(|(weight, input)| {
        let input = input?;
        if input.format == Format::V4 {
            return Ok((weight, input));
        }
        let bytes = afdo_v4::encode::encode(&input.profile()?, Encoding::Compact);
        let bytes = bytes.about(&input.name)?;
        Ok((weight, Input { name: input.name, bytes, format: Format::V4 }))
    });
    // Of several errors always the first, so not while others are at it.
    read.collect::<Vec<_>>().into_iter().collect()
}

fn open((weight, input): &(u32, Input)) -> Result<File<'_>> {
    File::open(&input.bytes, (*weight).into()).about(&input.name)
}

/// The sum of files of version 4; the last one, which has an `output`, is as it will be written.
fn add(summands: &[(u32, Input)], format: ProfileFormat, output: Option<&Path>) -> Result<Vec<u8>> {
    let files: Vec<_> = summands.par_iter().map(open).collect();
    let mut files = files.into_iter().collect::<Result<Vec<File<'_>>>>()?;
    let take = |file: &mut File<'_>| std::mem::take(&mut file.findings);
    let mut findings: Vec<_> = files.iter_mut().map(take).collect();
    let mut merge = match (output, format) {
        (None, _) => Merge::unfinished(files),
        (Some(_), ProfileFormat::V4(encoding)) => Merge::new(files, encoding),
        (Some(_), _) => Merge::new(files, Encoding::Compact),
    };
    if !format.tells_discriminators() {
        merge = merge.changed(by_line);
    }
    let parts: std::result::Result<Vec<Part>, _> =
        (0..merge.functions()).into_par_iter().map(|number| merge.part(number)).collect();
    let name = output.unwrap_or(Path::new(SUM));
    let mut parts = parts.about(name)?;
    for (place, found) in parts.iter_mut().flat_map(|part| part.findings.drain(..)) {
        findings[place].append(found);
    }
    for ((_, input), findings) in summands.iter().zip(findings) {
        input.warn(&findings);
    }
    warn_of_ambiguous(name, merge.ambiguous);
    merge.finish(parts).about(name)
}
