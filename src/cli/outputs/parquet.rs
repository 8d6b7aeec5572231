//! Tables in Parquet files on the command line: `convert --to parquet`, and tables as inputs in place of dumps and
//! profiles.

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;

use super::output;
use crate::cli::inputs::folder;
use crate::cli::inputs::input::{self, Format, Input};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::say;
use crate::cli::terminal::progress::Progress;
use crate::convert::number::Number;
use crate::formats::parquet::{counters, positions};

/// Number of files that are read at a time.
const AT_ONCE: usize = 32;

/// An input, and its id in the table.
struct Named {
    path: PathBuf,
    id: Vec<u8>,
}

/// How the inputs get their ids and numbers in a table.
#[derive(Clone, Copy)]
pub struct Ids<'i> {
    /// Number of the first dump.
    pub first: u32,
    /// The folder from which ids are paths; without it, ids are paths from the given folder, or file names.
    pub below: Option<&'i Path>,
}

/// Writes the dumps or profiles of these files and folders as one table.
pub fn write(inputs: &[PathBuf], output: Option<&Path>, ids: Ids<'_>) -> Result<()> {
    let named = named(inputs, output, ids.below)?;
    let (done, failed) = (RefCell::new(String::new()), RefCell::new(None));
    let fill = |out: &mut dyn Write| match fill(&named, ids.first, out) {
        Ok(line) => {
            *done.borrow_mut() = line;
            Ok(())
        }
        Err(error) => {
            *failed.borrow_mut() = Some(error);
            Err(std::io::Error::other(""))
        }
    };
    let written = output::write_with(output, output::Content::Binary, &fill);
    if let Some(error) = failed.into_inner() {
        return Err(error);
    }
    written?;
    say(done.into_inner());
    Ok(())
}

/// All files with their ids.
fn named(inputs: &[PathBuf], output: Option<&Path>, root: Option<&Path>) -> Result<Vec<Named>> {
    let mut named = Vec::new();
    for given in inputs {
        for path in folder::expand(std::slice::from_ref(given), output)? {
            let below = match root {
                Some(root) => {
                    let what = format!("is not below {}", root.display());
                    Some(path.strip_prefix(root).map_err(|_| Error::about(&path, what))?)
                }
                None => path.strip_prefix(given).ok(),
            };
            let id = below.filter(|below| !below.as_os_str().is_empty());
            let id = id.or(path.file_name().map(Path::new)).unwrap_or(&path);
            let id = id.as_os_str().as_encoded_bytes().to_vec();
            named.push(Named { path, id });
        }
    }
    let mut ids = HashSet::new();
    let target = output.map(input::Target::of);
    for Named { path, id } in &named {
        if target.as_ref().is_some_and(|target| target.is(path)) {
            return Err(Error::about(path, "is an input, too; write to another place"));
        }
        if !ids.insert(id) {
            let what = "another input has the same id in the table; give the folder that has both";
            return Err(Error::about(path, what));
        }
    }
    Ok(named)
}

/// Writes the table. Gives a line about it.
fn fill(named: &[Named], first: u32, out: &mut dyn Write) -> Result<String> {
    let Some((is_first, _)) = named.split_first() else { return Err(Error::new("no files")) };
    let mut progress = Progress::new(named.len());
    let inputs = named.len() as u64;
    match Input::open(&is_first.path)?.format {
        Format::Dump => {
            let mut table = counters::encode::Encoder::new(out).about("the table")?;
            let mut number = i64::from(first);
            for some in named.chunks(AT_ONCE) {
                let read = |named: &Named| Input::open(&named.path)?.into_dump();
                let dumps: Vec<Result<_>> = some.par_iter().map(read).collect();
                for (named, dump) in some.iter().zip(dumps) {
                    table.add(&named.id, number, dump?).about("the table")?;
                    number += 1;
                    progress.step();
                }
            }
            let rows = Number(table.finish().about("the table")?, "row");
            let dumps = Number(inputs, "dump");
            Ok(format!("{dumps}, {rows}; the next table starts at --first {number}"))
        }
        _ => {
            let mut table = positions::encode::Encoder::new(out).about("the table")?;
            for some in named.chunks(AT_ONCE) {
                let read = |named: &Named| Input::open(&named.path)?.into_profile();
                let profiles: Vec<Result<_>> = some.par_iter().map(read).collect();
                for (named, profile) in some.iter().zip(profiles) {
                    table.add(&named.id, &profile?).about("the table")?;
                    progress.step();
                }
            }
            let rows = Number(table.finish().about("the table")?, "row");
            Ok(format!("{}, {rows}", Number(inputs, "profile")))
        }
    }
}
