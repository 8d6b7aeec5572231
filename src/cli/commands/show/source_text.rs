//! The text of source files, by path and line.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::SystemTime;

use crate::cli::warn;

/// Longer lines are cut, in bytes.
const LONGEST: usize = 1000;

/// The files that were asked for, each read once.
pub struct SourceTexts {
    /// When the counts were written, if that is known.
    counted: Option<SystemTime>,
    /// By path; `None` if there is no such file.
    files: HashMap<PathBuf, Option<Text>>,
}

/// A file's text.
struct Text {
    bytes: Vec<u8>,
    /// Where each line ends.
    ends: Vec<usize>,
}

impl Text {
    fn new(bytes: Vec<u8>) -> Self {
        let places = bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'\n');
        let mut ends: Vec<usize> = places.map(|(place, _)| place).collect();
        ends.push(bytes.len());
        Self { bytes, ends }
    }

    /// A line, which is counted from 1.
    fn line(&self, line: u32) -> Option<&[u8]> {
        let line = line.checked_sub(1)? as usize;
        let start =
            line.checked_sub(1).map_or(0, |before| self.ends.get(before).map_or(0, |end| end + 1));
        let text = self.bytes.get(start..*self.ends.get(line)?)?;
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        Some(text.get(..LONGEST).unwrap_or(text))
    }
}

impl SourceTexts {
    /// No file yet. `profiled` is the file that has the counts.
    pub fn new(profiled: &Path) -> Self {
        Self { counted: modified(fs::metadata(profiled)), files: HashMap::new() }
    }

    /// The text of a line, which is counted from 1.
    pub fn line(&mut self, path: &[u8], line: u32) -> Option<String> {
        let path = Path::new(OsStr::from_bytes(path));
        if !self.files.contains_key(path) {
            let text = self.read(path);
            self.files.insert(path.to_owned(), text);
        }
        let text = self.files.get(path)?.as_ref()?;
        Some(String::from_utf8_lossy(text.line(line)?).into_owned())
    }

    fn read(&self, path: &Path) -> Option<Text> {
        // A device or a pipe could block.
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        let text = Text::new(fs::read(path).ok()?);
        let is_newer = modified(Ok(metadata)) > self.counted;
        if is_newer && self.counted.is_some() {
            warn(
                path,
                "has changed since the program ran; its lines may not be those that were counted",
            );
        }
        Some(text)
    }
}

fn modified(metadata: std::io::Result<Metadata>) -> Option<SystemTime> {
    metadata.and_then(|metadata| metadata.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_from_one() {
        let text = Text::new(b"first\n\nthird\r\nlast".to_vec());
        let lines: Vec<_> = (0..6).map(|line| text.line(line)).collect();
        let [first, third, last] = [b"first".as_slice(), b"third", b"last"];
        assert_eq!(lines, [None, Some(first), Some(b"".as_slice()), Some(third), Some(last), None]);
    }
}
