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

/// Reads files, with one dump in place of all `.gcda` files, as [`joined`] gives it.
pub fn read_all(
    paths: &[PathBuf],
    read: impl Fn(&Path) -> Result<Input> + Sync,
) -> Result<Vec<Input>> {
    let (data, others): (Vec<_>, Vec<_>) =
        paths.iter().partition(|path| folder::is_data_file(path));
    let parts = others.into_iter().map(|path| read(path).map(part));
    let mut parts = parts.collect::<Result<Vec<_>>>()?;
    let data = data.into_par_iter().map(|path| read(path).map_or_else(Part::Damaged, part));
    parts.par_extend(data);
    join(parts)
}

/// The same inputs, with one dump in place of all `.gcda` files. Those that are damaged are named and left out.
pub fn joined(inputs: Vec<Input>) -> Result<Vec<Input>> {
    join(inputs.into_par_iter().map(part).collect())
}

/// An input.
enum Part {
    Data(DataFile),
    Damaged(Error),
    Other(Input),
}

/// A `.gcda` file.
struct DataFile {
    name: PathBuf,
    /// The path at which the compiler wanted it.
    recorded: PathBuf,
    data: Data,
}

fn part(input: Input) -> Part {
    match input.format {
        Format::Gcda => decode(input).map_or_else(Part::Damaged, Part::Data),
        _ => Part::Other(input),
    }
}

fn join(parts: Vec<Part>) -> Result<Vec<Input>> {
    let (mut good, mut bad, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Data(file) => good.push(file),
            Part::Damaged(error) => bad.push(error),
            Part::Other(input) => others.push(input),
        }
    }
    if !good.is_empty() {
        // Damage may make it look like another file, for instance a profile, whose magic is the same.
        let is_bad =
            |input: &mut Input| folder::is_data_file(&input.name) && input.format != Format::Dump;
        bad.extend(others.extract_if(.., is_bad).map(|input| {
            let what = format!("expected counters of an object, found {}", input.format.name());
            Error::about(input.name, what)
        }));
    }
    if good.is_empty() && bad.is_empty() {
        return Ok(others);
    }
    if good.is_empty() {
        return Err(bad.swap_remove(0));
    }
    let name = match &good[..] {
        [only] => only.name.clone(),
        several => format!("{} .gcda files", several.len()).into(),
    };
    warn_of_bad(&name, &bad);
    let mut dump = of_gcda::dump(good.into_iter().map(|file| (bytes_of(file.recorded), file.data)));
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
    let mut inputs = read_all(&files, Input::read)?;
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
            let DataFile { name, recorded, data } = decode(input)?;
            Ok(Input::of_dump(name, of_gcda::dump([(bytes_of(recorded), data)])))
        }
        _ => Ok(input),
    }
}

fn decode(file: Input) -> Result<DataFile> {
    let Input { name, bytes, .. } = file;
    if name.as_os_str() == STDIN {
        let what = "a .gcda file without its name, which tells where its notes are";
        return Err(Error::about(&name, what));
    }
    let data = Data::decode(&bytes).about(&name)?;
    of_gcda::check(&data).about(&name)?;
    let path = std::path::absolute(&name).about(&name)?;
    // The folder of an unpacked archive is another one each time.
    let path = match tarball::inside(&path) {
        Some(inside) => recorded(&Path::new("/").join(&inside)).unwrap_or(inside),
        None => recorded(&path).unwrap_or(path),
    };
    Ok(DataFile { name, recorded: path, data })
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
