//! The sum of profiles of any versions, on all cores, and never with more than one profile for each of
//! them decoded.
//!
//! Files are added in batches: one for each core, or as many as are as large as the sum so far, which would
//! otherwise be written anew for each of many small files. What is not of version 4 is made so first.
//! Small files can have long names (those that share their beginnings are written once), so that of a
//! batch only so many are opened at a time as the names have room in memory.
//!
//! For readers that do not look at discriminators a line has the largest count of its positions. Those of
//! files that tell discriminators are added before it is looked for, and files that do not tell them,
//! which have the largest counts already, have a sum of their own until then.

use std::fs;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;

use super::error::{Context, Error, Result};
use super::input::{Format, Input, warnings};
use super::names::warn_of_ambiguous;
use super::output::Content;
use super::profile_format::ProfileFormat;
use super::progress::Progress;
use crate::formats::afdo_v1_v3::rules::by_line;
use crate::formats::afdo_v4;
use crate::formats::afdo_v4::encode::Encoding;
use crate::formats::afdo_v4::merge::{File, Merge};
use crate::formats::afdo_v4::trie::most_bytes;

/// The smallest batch, in bytes.
const LEAST_BATCH: u64 = 4 << 20;
/// Bytes of names of the files that are open at a time, if those of the sum so far are not more.
const LEAST_NAMES: usize = 32 << 20;

/// Bytes of names that a sum may have in any case, besides those that files as large as all of its files
/// together may have: reading what has been added up takes three times as much.
const MOST_NAMES: usize = 128 << 20;

/// What has been added up so far is no file of the user's.
const SUM: &str = "the sum";

/// A file and how much its counts weigh.
pub type Weighted<'p> = (u32, &'p PathBuf);

/// The file of the sum of these, of which the first ones have been read.
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
    if let ProfileFormat::V4(_) = format {
        return Ok((bytes, Content::Binary));
    }
    let profile = afdo_v4::decode::decode(&bytes).about(SUM)?.profile;
    drop(bytes);
    format.file(&profile, output)
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

/// A file in version 4 that is to be added.
struct Summand {
    weight: u32,
    input: Input,
    /// Bytes of the file as it was, in whatever version.
    size: usize,
    /// What was tolerated then.
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
        input = Input { bytes: encoded.about(&input.name)?, format: Format::V4, ..input };
    }
    Ok(Summand { weight, input, size, warnings })
}

/// Files that were added, in version 4.
struct Sum<'p> {
    format: ProfileFormat,
    output: &'p Path,
    /// Sums of the files with discriminators and of those without, as far as that matters.
    parts: [Option<Vec<u8>>; 2],
    /// Whether the first one is the sum of all, as it will be written.
    is_whole: bool,
    /// Bytes of names of the larger one.
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

    /// Adds as many of these as there is room for, and says how many; none may come behind the last.
    fn add(&mut self, summands: &[Summand], are_last: bool) -> Result<usize> {
        let (mut opened, mut names) = (Vec::new(), 0);
        for some in summands.chunks(rayon::current_num_threads()) {
            let (some, failed) = up_to_error(some.par_iter().map(open).collect());
            // Only now, so that messages have the order of the files.
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
        let tells = self.format.tells_discriminators();
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

    /// One of the sums, with these files.
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

    /// The sum of all, as it will be written if that is in version 4.
    fn finish(mut self) -> Result<Vec<u8>> {
        if self.is_whole {
            return Ok(self.parts[0].take().unwrap_or_default());
        }
        let files = self.parts.iter().flatten().map(|part| File::open(part, 1).about(SUM));
        self.whole(files.collect::<Result<Vec<_>>>()?)
    }

    fn whole(&self, files: Vec<File<'_>>) -> Result<Vec<u8>> {
        let encoding = match self.format {
            ProfileFormat::V4(encoding) => encoding,
            _ => Encoding::Compact,
        };
        let mut merge = Merge::new(files, encoding);
        if !self.format.tells_discriminators() {
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

/// The file of a sum, all functions of which are added up.
fn bytes(merge: Merge<'_>, name: &Path) -> Result<Vec<u8>> {
    let parts: Vec<_> =
        (0..merge.functions()).into_par_iter().map(|number| merge.part(number)).collect();
    let parts = parts.into_iter().collect::<std::result::Result<_, _>>().about(name)?;
    merge.finish(parts).about(name)
}
