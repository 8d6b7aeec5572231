//! Reads tracefiles of lcov: the coverage of another time or place, to compare with.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::prelude::v1::*;

use crate::cli::inputs::notes::Places;
use crate::cli::terminal::error::{Context, Result};
use crate::coverage::Coverage;
use crate::formats::lcov;
use crate::program::source_path::source_path;

/// The coverage in a tracefile, with whole paths. Paths that have moved are those of the new place.
pub fn read(path: &Path, places: &Places) -> Result<Coverage> {
    let bytes = std::fs::read(path).about(path)?;
    let decoded = lcov::decode::decode(&bytes).about(path)?;
    let folder = std::env::current_dir().unwrap_or_default();
    let mut coverage = Coverage::default();
    for (path, file) in decoded.files {
        let whole = source_path(folder.as_os_str().as_bytes(), &places.moved(&path));
        coverage.add(Coverage { files: [(whole, file)].into() });
    }
    Ok(coverage)
}
