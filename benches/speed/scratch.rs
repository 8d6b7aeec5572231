//! New folders, which stay until everything has been measured.
//!
//! After many files have been deleted, a file system may look for a long time for room for new ones, and the
//! next writer pays for it: on ext4 without a journal for five minutes and more, even after another
//! benchmark. So files are only emptied, which gives back the memory that they took.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where the folders are.
pub struct Scratch {
    directory: TempDir,
    used: Cell<usize>,
}

impl Scratch {
    pub fn new() -> Self {
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self { directory, used: Cell::new(0) }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Empties the files of a folder.
    pub fn empty(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            File::options().write(true).truncate(true).open(entry.unwrap().path()).unwrap();
        }
    }

    /// A new folder.
    pub fn folder(&self) -> PathBuf {
        let number = self.used.get();
        self.used.set(number + 1);
        let folder = self.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        folder
    }
}
