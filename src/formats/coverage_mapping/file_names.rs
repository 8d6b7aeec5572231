//! Reads the names of one object's source files.

use alloc::vec::Vec;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::check::{Defect, Finding, Part};
use super::numbers::Numbers;

/// The first version in which the first name is the compiler's folder.
const WITH_FOLDER: u32 = 6;
/// Names may decompress to their size times this factor, plus [`MOST_AT_ONCE`].
const MOST_GROWTH: u64 = 128;
/// See [`MOST_GROWTH`].
const MOST_AT_ONCE: u64 = 1 << 20;

/// Reads the names. `offset` is their offset in the section. The paths are absolute if the compiler's folder
/// is known.
pub fn file_names(stored: &[u8], offset: u64, version: u32) -> Result<Vec<Vec<u8>>, Finding> {
    let mut numbers = Numbers::new(stored, offset, Part::FileNames);
    let number = numbers.next()?;
    let (length, compressed) = (numbers.next()?, numbers.next()?);
    let at = numbers.offset();
    let inflated;
    let text = match compressed {
        0 => numbers.take(length)?,
        _ => {
            let bytes = numbers.take(compressed)?;
            inflated = inflate(bytes, length).map_err(|defect| Finding { offset: at, defect })?;
            &inflated
        }
    };
    let mut text = Numbers::new(text, at, Part::FileNames);
    if number > text.left() as u64 {
        return text.fail(Defect::Truncated(Part::FileNames));
    }
    let mut names: Vec<Vec<u8>> = Vec::with_capacity(number as usize);
    for _ in 0..number {
        let length = text.next()?;
        let name = text.take(length)?;
        names.push(match names.first() {
            Some(folder) if version >= WITH_FOLDER => whole(folder, name),
            _ => name.to_vec(),
        });
    }
    Ok(names)
}

fn inflate(bytes: &[u8], length: u64) -> Result<Vec<u8>, Defect> {
    if length > bytes.len() as u64 * MOST_GROWTH + MOST_AT_ONCE {
        return Err(Defect::LargeFileNames(length));
    }
    let text = decompress_to_vec_zlib_with_limit(bytes, length as usize);
    let text = text.map_err(|_| Defect::Compression)?;
    let found = text.len() as u64;
    match found == length {
        true => Ok(text),
        false => Err(Defect::FileNamesLength { expected: length, found }),
    }
}

/// A name in a folder, without `.` and `..`. An absolute name stays as it is.
fn whole(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if name.starts_with(b"/") {
        return name.to_vec();
    }
    let is_absolute = folder.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in folder.split(|&byte| byte == b'/').chain(name.split(|&byte| byte == b'/')) {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => _ = parts.pop(),
            b".." if is_absolute => {}
            part => parts.push(part),
        }
    }
    let path = parts.join(&b'/');
    if is_absolute { [b"/", &*path].concat() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let cases: [(&[u8], &[u8], &[u8]); 5] = [
            (b"/home/u", b"a.c", b"/home/u/a.c"),
            (b"/home/u", b"./x/../../a.h", b"/home/a.h"),
            (b"/home/u", b"/usr/x.h", b"/usr/x.h"),
            (b"u", b"../../a.c", b"../a.c"),
            (b"", b"src/a.rs", b"src/a.rs"),
        ];
        for (folder, name, wanted) in cases {
            assert_eq!(whole(folder, name), wanted);
        }
    }
}
