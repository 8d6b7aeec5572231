//! The table of files: how much of the lines, branches, functions and conditions of each was executed.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::prelude::v1::*;

use serde::Serialize;

use super::letters;
use crate::cli::inputs::coverage::selection::Selection;
use crate::cli::terminal::error::Result;
use crate::coverage::{Coverage, Total, Totals};

/// The files of a page.
#[derive(Debug, Serialize)]
pub struct FileTable {
    files: Vec<Row>,
    /// FileTable that are left out because they are missing.
    missing: Vec<String>,
}

/// A file: its path from the project's folder on, and for lines, branches, functions and conditions how many there are
/// and how many were executed.
#[derive(Debug, Serialize)]
struct Row(String, [(u64, u64); 4]);

impl FileTable {
    /// The files that are chosen. Nothing is chosen without options if nothing of the project is there.
    pub fn of(mut coverage: Coverage, selection: &Selection, name: &Path) -> Result<Option<Self>> {
        let chosen = selection.apply(&mut coverage, name)?;
        let project = chosen.project();
        let shown = |path: &Path| {
            let below = path.strip_prefix(&project).unwrap_or(path);
            letters::name(&below.to_string_lossy())
        };
        let files = coverage.files.iter().map(|(path, file)| {
            Row(shown(Path::new(OsStr::from_bytes(path))), counts(&file.totals()))
        });
        let files: Vec<Row> = files.collect();
        let missing = chosen.missing.iter().map(|path| shown(path)).collect();
        Ok((!files.is_empty()).then_some(Self { files, missing }))
    }
}

fn counts(totals: &Totals) -> [(u64, u64); 4] {
    let Totals { lines, branches, functions, conditions } = *totals;
    [lines, branches, functions, conditions].map(|Total { found, hit }| (found, hit))
}
