//! `.gcda` files, which libgcov wrote, in place of dumps. [`of_gcda`] makes a dump of them.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use rayon::prelude::*;

use super::input::{Format, Input, STDIN, warn_of_modules};
use super::sources::added;
use super::{folder, tarball};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::gcov::of_gcda;
use crate::convert::number::Number;
use crate::formats::gcda::decode::Data;

/// Files that cannot be read are named up to this number.
const NAMED: usize = 10;

/// The same inputs, with one dump in place of all `.gcda` files. Those that are damaged are named and left out.
pub fn joined(inputs: Vec<Input>) -> Result<Vec<Input>> {
    let is_data = |input: &Input| input.format == Format::Gcda;
    let (files, mut others): (Vec<_>, Vec<_>) = inputs.into_iter().partition(is_data);
    if files.is_empty() {
        return Ok(others);
    }
    let decoded: Vec<_> = files.into_par_iter().map(decode).collect();
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for decoded in decoded {
        match decoded {
            Ok(file) => good.push(file),
            Err(error) => bad.push(error),
        }
    }
    if good.is_empty() {
        return Err(bad.swap_remove(0));
    }
    let name = match &good[..] {
        [(only, ..)] => only.clone(),
        several => format!("{} .gcda files", several.len()).into(),
    };
    warn_of_bad(&name, &bad);
    let mut dump = of_gcda::dump(good.into_iter().map(|(_, path, data)| (bytes_of(path), data)));
    dump.files_left_out = bad.len();
    warn_of_modules(&name, &dump);
    others.push(Input::of_dump(name, dump));
    Ok(others)
}

/// Reads a file, or the sum of several dumps or of `.gcda` files, also below folders. A single `.gcda` file stays what
/// it is.
pub fn read_sum(paths: &[PathBuf]) -> Result<Input> {
    let files = folder::expand(paths, None)?;
    if let [only] = &files[..] {
        return Input::read(only);
    }
    let inputs = files.iter().map(|file| Input::read(file)).collect::<Result<_>>()?;
    let mut inputs = joined(inputs)?;
    if inputs.len() == 1 {
        return Ok(inputs.remove(0));
    }
    if let Some(other) = inputs.iter().find(|input| input.format != Format::Dump) {
        let what = "is one of several inputs and no dump; `merge` adds profiles";
        return Err(Error::about(&other.name, what));
    }
    let name = format!("the sum of {} dumps", inputs.len());
    Ok(Input::of_dump(name.into(), added(inputs)?))
}

/// The same input, with a dump in place of a `.gcda` file.
pub fn as_dump(input: Input) -> Result<Input> {
    match input.format {
        Format::Gcda => {
            let (name, path, data) = decode(input)?;
            Ok(Input::of_dump(name, of_gcda::dump([(bytes_of(path), data)])))
        }
        _ => Ok(input),
    }
}

/// A file's name, the path at which the compiler wanted it, and its counters.
fn decode(file: Input) -> Result<(PathBuf, PathBuf, Data)> {
    if file.name.as_os_str() == STDIN {
        let what = "a .gcda file without its name, which tells where its notes are";
        return Err(Error::about(&file.name, what));
    }
    let data = Data::decode(&file.bytes).about(&file.name)?;
    of_gcda::check(&data).about(&file.name)?;
    let path = std::path::absolute(&file.name).about(&file.name)?;
    // The folder of an unpacked archive is another one each time.
    let path = match tarball::inside(&path) {
        Some(inside) => recorded(&Path::new("/").join(&inside)).unwrap_or(inside),
        None => recorded(&path).unwrap_or(path),
    };
    Ok((file.name, path, data))
}

/// The path before `GCOV_PREFIX` put a folder in front of it: the longest end of the path with notes beside it.
fn recorded(path: &Path) -> Option<PathBuf> {
    let parts: Vec<_> = path.iter().filter(|part| *part != "/").collect();
    let ends =
        (0..parts.len()).map(|from| Path::new("/").join(parts[from..].iter().collect::<PathBuf>()));
    ends.into_iter().find(|end| end.with_extension("gcno").is_file())
}

fn bytes_of(path: PathBuf) -> Vec<u8> {
    path.into_os_string().into_encoded_bytes()
}

fn warn_of_bad(name: &Path, bad: &[Error]) {
    for error in bad.iter().take(NAMED) {
        say(format_args!("{error}; left out"));
    }
    if let more @ 1.. = bad.len().saturating_sub(NAMED) {
        warn(name, format!("{} left out", Number(more as u64, "more damaged file")));
    }
}
