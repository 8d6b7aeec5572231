//! The text of source files, by path and line.
//!
//! Text that starts like UTF-16 is UTF-16. Other text is UTF-8. Text that is neither is Latin-1, where each byte is a
//! letter.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::SystemTime;

use super::input::read_bytes;
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names::beginning;

/// Longer lines are cut, in bytes.
const LONGEST_LINE: usize = 1000;

/// The files that were asked for, each read once.
pub struct SourceTexts {
    /// When the program that was counted was there already, if that is known.
    counted: Option<SystemTime>,
    /// The same for the files of one of several programs.
    of_files: HashMap<Vec<u8>, SystemTime>,
    /// Whether files that have changed are passed over in silence.
    is_silent: bool,
    /// By path; `None` if there is no such file.
    files: HashMap<PathBuf, Option<Text>>,
}

/// A file's text.
pub struct Text {
    text: String,
    /// Where each line ends.
    ends: Vec<usize>,
    /// How its letters are encoded.
    pub encoding: Encoding,
    /// Whether it has changed since the program ran.
    pub is_newer: bool,
}

/// How the letters of a file are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As most are.
    Utf8,
    /// In two bytes each.
    Utf16,
    /// One of the encodings of one byte for each letter, read as the first of them.
    Latin1,
}

impl Text {
    /// The text of a file with these bytes.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self::new(bytes, false)
    }

    fn new(bytes: Vec<u8>, is_newer: bool) -> Self {
        let (text, encoding) = decoded(bytes);
        let mut ends: Vec<usize> = text.match_indices('\n').map(|(place, _)| place).collect();
        ends.push(text.len());
        Self { text, ends, encoding, is_newer }
    }

    /// All lines, however long.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        (1..).map_while(|line| self.whole_line(line))
    }

    /// A line, which is counted from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.whole_line(line).map(|text| beginning(text, LONGEST_LINE))
    }

    fn whole_line(&self, line: u32) -> Option<&str> {
        let line = line.checked_sub(1)? as usize;
        let start =
            line.checked_sub(1).map_or(0, |before| self.ends.get(before).map_or(0, |end| end + 1));
        let text = self.text.get(start..*self.ends.get(line)?)?;
        Some(text.strip_suffix('\r').unwrap_or(text))
    }
}

impl SourceTexts {
    /// No file yet. `profiled` is the file that has the counts.
    pub fn new(profiled: &Path) -> Self {
        Self::counted_at(modified(profiled))
    }

    /// No file yet. Those that have changed since `counted` may not be what was counted.
    pub fn counted_at(counted: Option<SystemTime>) -> Self {
        Self { counted, of_files: HashMap::new(), is_silent: false, files: HashMap::new() }
    }

    /// Compares these files with other times.
    pub fn with_files(self, of_files: HashMap<Vec<u8>, SystemTime>) -> Self {
        Self { of_files, ..self }
    }

    /// Tells nobody of files that have changed.
    pub fn silent(self) -> Self {
        Self { is_silent: true, ..self }
    }

    /// The text of a line, which is counted from 1.
    pub fn line(&mut self, path: &[u8], line: u32) -> Option<String> {
        Some(self.file(path)?.line(line)?.to_owned())
    }

    /// A file, if it is there.
    pub fn file(&mut self, path: &[u8]) -> Option<&Text> {
        let path = Path::new(OsStr::from_bytes(path));
        if !self.files.contains_key(path) {
            let text = self.read(path);
            self.files.insert(path.to_owned(), text);
        }
        self.files.get(path)?.as_ref()
    }

    fn read(&self, path: &Path) -> Option<Text> {
        let (metadata, bytes) = with_metadata(path).ok()?;
        let counted = self.of_files.get(path.as_os_str().as_bytes()).copied().or(self.counted);
        let is_newer = counted.is_some() && metadata.modified().ok() > counted;
        let text = Text::new(bytes, is_newer);
        if is_newer && !self.is_silent {
            warn(
                path,
                "has changed since the program ran; its lines may not be those that were counted",
            );
        }
        Some(text)
    }
}

/// The bytes of a source file, and what the system knows of it.
pub fn with_metadata(path: &Path) -> io::Result<(Metadata, Vec<u8>)> {
    let metadata = fs::metadata(path)?;
    // A device or a pipe could block.
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut bytes = Vec::new();
    read_bytes(&File::open(path)?, metadata.len(), &mut bytes)?;
    Ok((metadata, bytes))
}

/// When a file was changed last.
pub fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}

fn decoded(bytes: Vec<u8>) -> (String, Encoding) {
    let wide = match bytes[..] {
        [0xff, 0xfe, ..] => Some((2, u16::from_le_bytes as fn([u8; 2]) -> u16)),
        [0xfe, 0xff, ..] => Some((2, u16::from_be_bytes as _)),
        // Sources start with a letter of ASCII.
        [1..=255, 0, ..] => Some((0, u16::from_le_bytes as _)),
        [0, 1..=255, ..] => Some((0, u16::from_be_bytes as _)),
        _ => None,
    };
    if let Some((start, word)) = wide {
        let words = bytes[start..].as_chunks().0.iter().map(|&pair| word(pair));
        let letters = char::decode_utf16(words).map(|letter| letter.unwrap_or('\u{fffd}'));
        return (letters.collect(), Encoding::Utf16);
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, Encoding::Utf8),
        Err(other) => {
            let letters = other.as_bytes().iter().map(|&byte| char::from(byte));
            (letters.collect(), Encoding::Latin1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> (Vec<String>, Encoding) {
        let text = Text::new(bytes.to_vec(), false);
        ((1..).map_while(|line| text.line(line).map(str::to_owned)).collect(), text.encoding)
    }

    #[test]
    fn lines_are_counted_from_one() {
        let text = Text::new(b"first\n\nthird\r\nlast".to_vec(), false);
        let lines: Vec<_> = (0..6).map(|line| text.line(line)).collect();
        assert_eq!(lines, [None, Some("first"), Some(""), Some("third"), Some("last"), None]);
    }

    #[test]
    fn other_encodings() {
        let both = ["é\u{1f600}".to_owned(), "b".to_owned()];
        assert_eq!(lines("é\u{1f600}\r\nb".as_bytes()), (both.to_vec(), Encoding::Utf8));
        let words: Vec<u16> = "\u{feff}é\u{1f600}\r\nb".encode_utf16().collect();
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(lines(&little), (both.to_vec(), Encoding::Utf16));
        assert_eq!(lines(&big), (both.to_vec(), Encoding::Utf16));
        assert_eq!(lines(b"b\0\n\0c\0"), (vec!["b".into(), "c".into()], Encoding::Utf16));
        assert_eq!(lines(b"\xe9\nb"), (vec!["é".into(), "b".into()], Encoding::Latin1));
        assert_eq!(lines(b""), (vec![String::new()], Encoding::Utf8));
    }

    #[test]
    fn long_lines_are_cut_between_letters() {
        let long = "é".repeat(LONGEST_LINE) + "\nnext";
        let text = Text::new(format!("x{long}").into_bytes(), false);
        assert_eq!(text.line(1).map(str::len), Some(LONGEST_LINE - 1));
        assert_eq!(text.line(2), Some("next"));
    }
}
