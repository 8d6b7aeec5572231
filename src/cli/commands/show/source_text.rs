//! The text of source files, by path and line.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::SystemTime;

use crate::cli::warn;

/// The files that were asked for, each read once.
pub struct SourceTexts {
    /// When the counts were written, if that is known.
    counted: Option<SystemTime>,
    /// By path; `None` if there is no such file.
    files: HashMap<PathBuf, Option<Vec<u8>>>,
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
        let line = text.split(|&byte| byte == b'\n').nth(line.checked_sub(1)? as usize)?;
        Some(String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned())
    }

    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        // A device or a pipe could block.
        let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
        let text = fs::read(path).ok()?;
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
