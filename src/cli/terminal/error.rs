//! The tool's messages when it cannot do something: `file: what`, or `file: 0x1a4: what`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use super::visible::visible;

/// Why a command failed.
#[derive(Debug)]
pub struct Error {
    file: Option<PathBuf>,
    what: String,
}

/// Result of a command.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error about a file.
    pub fn about(file: impl AsRef<Path>, what: impl ToString) -> Self {
        Self { file: Some(file.as_ref().to_owned()), what: what.to_string() }
    }

    /// An error that is not about a file.
    pub fn new(what: impl ToString) -> Self {
        Self { file: None, what: what.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}: {}", visible(&file.to_string_lossy()), self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Error {}

/// Adds the name of a file to an error.
pub trait Context<T> {
    /// Adds the name of the file that the error is about.
    fn about(self, file: impl AsRef<Path>) -> Result<T>;
}

impl<T, E: ToString> Context<T> for std::result::Result<T, E> {
    fn about(self, file: impl AsRef<Path>) -> Result<T> {
        self.map_err(|error| Error::about(file, error))
    }
}
