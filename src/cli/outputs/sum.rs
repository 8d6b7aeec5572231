//! The sum of profiles of any versions, on all cores. Each core has at most one decoded profile.
//!
//! Files are added in batches: one file for each core, or as many files as are together as large as the sum
//! so far. Otherwise the sum would be written anew for each of many small files. Files that are not in
//! version 4 are first converted to it. Small files can have long names (shared beginnings are written once).
//! So a batch opens only as many files at a time as have room for their names in memory.
//!
//! For readers that ignore discriminators a line has the largest count of its positions. Files with
//! discriminators are added before the largest count is taken. Files without them have the largest counts
//! already, so they have a sum of their own until then.

use std::fs;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;

use super::output::Content;
use super::profile::ProfileFormat;
use crate::cli::inputs::input::{Format, Input, warnings};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::names::warn_of_ambiguous;
use crate::cli::terminal::progress::Progress;
use crate::formats::afdo_v1_v3::rules::by_line;
use crate::formats::afdo_v4;
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::afdo_v4::merge::{File, Merge};
use crate::formats::afdo_v4::trie::most_bytes;

/// The smallest batch, in bytes.
const LEAST_BATCH: u64 = 4 << 20;
/// Bytes of names that open files may have at a time, or as many as the sum so far has.
const LEAST_NAMES: usize = 32 << 20;

/// Bytes of names that any sum may have, besides those that a file as large as all its files together may
/// have: reading the sum so far takes three times as much.
const MOST_NAMES: usize = 128 << 20;

/// The name in messages of the sum so far, which is no file of the user's.
const SUM: &str = "the sum";

/// A file, and the factor for its counts.
pub type Weighted<'p> = (u32, &'p PathBuf);

/// The file of the sum of `inputs`. `known` has those read already, from the first on.
pub fn file(
    known: Vec<Input>,
    inputs: &[Weighted<'_>],
    format: ProfileFormat,
    output: &Path,
) -> Result<(Vec<u8>, Content)> {
    let mut progress = Progress::new(inputs.len());
    let (mut known, mut sum, mut left) = (known.into_iter(), Sum::new(format, output), inputs);
    while !left.is_empty() {
        let batch;
        (batch, left) = left.split_at(batch_length(left, sum.size()));
        let (mut summands, failed) = read(&mut known, batch);
        while !summands.is_empty() {
            let added = sum.add(&summands, left.is_empty())?;
            summands.drain(..added);
            (0..added).for_each(|_| progress.step());
        }
        failed.map_or(Ok(()), Err)?;
    }
    let bytes = sum.finish()?;
    if let ProfileFormat::V4(..) = format {
        return Ok((bytes, Content::Binary));
    }
    let profile = afdo_v4::decode::decode(&bytes).about(SUM)?.profile;
    drop(bytes);
    format.file(&profile, output)
}

/// Number of files in the next batch, at least one for each core.
fn batch_length(inputs: &[Weighted<'_>], sum: u64) -> usize {
    let mut room = sum.max(LEAST_BATCH);
    let fits = |(_, path): &&Weighted<'_>| {
        // Reading the file will report what is wrong.
        let size = fs::metadata(path).map_or(0, |metadata| metadata.len());
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let number = inputs.iter().take_while(fits).count();
    number.max(rayon::current_num_threads()).min(inputs.len())
}

/// A file in version 4 that is to be added.
struct Summand {
    weight: u32,
    input: Input,
    /// Bytes of the original file, in any version.
    size: usize,
    /// Defects that were tolerated in the original file.
    warnings: Vec<String>,
}

/// Files in version 4, up to the first one that cannot be read.
fn read(
    known: &mut impl Iterator<Item = Input>,
    batch: &[Weighted<'_>],
) -> (Vec<Summand>, Option<Error>) {
    let known: Vec<_> =
        batch.iter().zip(known).map(|(&(weight, _), input)| (weight, Ok(input))).collect();
    let others = batch[known.len()..].par_iter().map(|&(weight, path)| (weight, Input::read(path)));
    let read = known.into_par_iter().chain(others);
    up_to_error(read.map(|(weight, input)| summand(weight, input?)).collect())
}

fn up_to_error<T>(results: Vec<Result<T>>) -> (Vec<T>, Option<Error>) {
    let mut error = None;
    let until = |result: Result<T>| result.map_err(|first| error = Some(first)).ok();
    (results.into_iter().map_while(until).collect(), error)
}

fn summand(weight: u32, mut input: Input) -> Result<Summand> {
    let (size, mut warnings) = (input.bytes.len(), Vec::new());
    if input.format != Format::V4 {
        let decoded = input.decode()?;
        warnings = decoded.warnings;
        let encoded = afdo_v4::encode::encode(&decoded.profile, Encoding::Compact);
        let bytes = encoded.about(&input.name)?;
        input = input.with_profile(bytes);
    }
    Ok(Summand { weight, input, size, warnings })
}

/// The sum of the files so far, in version 4.
struct Sum<'p> {
    format: ProfileFormat,
    output: &'p Path,
    /// Sums of the files with discriminators and of those without, if that matters.
    parts: [Option<Vec<u8>>; 2],
    /// Whether the first part is the sum of all, ready to be written.
    is_whole: bool,
    /// Bytes of names of the larger part.
    names: usize,
    /// Bytes of all files.
    read: usize,
}

impl<'p> Sum<'p> {
    const fn new(format: ProfileFormat, output: &'p Path) -> Self {
        Self { format, output, parts: [None, None], is_whole: false, names: 0, read: 0 }
    }

    fn size(&self) -> u64 {
        self.parts.iter().flatten().map(|part| part.len() as u64).sum()
    }

    /// Adds as many of these as have room, and gives their number. `are_last` says that none follow.
    fn add(&mut self, summands: &[Summand], are_last: bool) -> Result<usize> {
        let (mut opened, mut names) = (Vec::new(), 0);
        for some in summands.chunks(rayon::current_num_threads()) {
            let (some, failed) = up_to_error(some.par_iter().map(open).collect());
            // Only now, so that messages come in the order of the files.
            for (summand, file) in &some {
                summand.input.warn(&summand.warnings);
                summand.input.warn(&warnings(&file.findings));
            }
            failed.map_or(Ok(()), Err)?;
            names += some.iter().map(|(_, file)| file.name_bytes()).sum::<usize>();
            opened.extend(some);
            if names > self.names.max(LEAST_NAMES) {
                break;
            }
        }
        let number = opened.len();
        self.read += summands[..number].iter().map(|summand| summand.size).sum::<usize>();
        let tells = self.format.has_discriminators();
        self.is_whole = are_last && number == summands.len() && tells;
        let (files, apart): (Vec<_>, Vec<_>) = opened
            .into_iter()
            .map(|(_, file)| file)
            .partition(|file| tells || file.has_discriminators);
        for (place, files) in [files, apart].into_iter().enumerate() {
            if !files.is_empty() {
                self.parts[place] = Some(self.part(place, files)?);
            }
        }
        Ok(number)
    }

    /// One of the parts, with these files added.
    fn part(&mut self, place: usize, files: Vec<File<'_>>) -> Result<Vec<u8>> {
        let known = self.parts[place].take();
        let known = known.as_ref().map(|known| File::open(known, 1)).transpose().about(SUM)?;
        let files = files.into_iter().chain(known).collect();
        if self.is_whole {
            return self.whole(files);
        }
        let merge = Merge::unfinished(files);
        self.names = self.names.max(merge.name_bytes());
        let (names, read) = (self.names, self.read);
        let most = MOST_NAMES.saturating_add(most_bytes(read));
        if names > most {
            let what =
                format!("{names} bytes of names, where {read} bytes of files may mean {most}");
            return Err(Error::about(SUM, what));
        }
        bytes(merge, Path::new(SUM))
    }

    /// The sum of all, ready to be written if the format is version 4.
    fn finish(mut self) -> Result<Vec<u8>> {
        if self.is_whole {
            return Ok(self.parts[0].take().unwrap_or_default());
        }
        let files = self.parts.iter().flatten().map(|part| File::open(part, 1).about(SUM));
        self.whole(files.collect::<Result<Vec<_>>>()?)
    }

    fn whole(&self, files: Vec<File<'_>>) -> Result<Vec<u8>> {
        let encoding = match self.format {
            ProfileFormat::V4(encoding, _) => encoding,
            _ => Encoding::Compact,
        };
        let mut merge = Merge::new(files, encoding);
        if !self.format.has_discriminators() {
            merge = merge.changed(by_line);
        }
        warn_of_ambiguous(self.output, merge.ambiguous);
        bytes(merge, self.output)
    }
}

fn open(summand: &Summand) -> Result<(&Summand, File<'_>)> {
    let file = File::open(&summand.input.bytes, summand.weight.into());
    Ok((summand, file.about(&summand.input.name)?))
}

/// The file of a sum, after adding up all functions.
fn bytes(merge: Merge<'_>, name: &Path) -> Result<Vec<u8>> {
    let parts: Vec<_> =
        (0..merge.functions()).into_par_iter().map(|number| merge.part(number)).collect();
    let parts = parts.into_iter().collect::<std::result::Result<_, _>>().about(name)?;
    merge.finish(parts).about(name)
}
