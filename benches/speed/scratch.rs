//! Folders that are new, and stay until everything has been measured.
//!
//! Where many files have just been deleted a file system may look long for a place for new ones (ext4
//! without a journal does for minutes), and whoever writes them next would pay for it.

use std::cell::Cell;
use std::fs;
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

    /// A new folder.
    pub fn folder(&self) -> PathBuf {
        let number = self.used.get();
        self.used.set(number + 1);
        let folder = self.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        folder
    }
}
