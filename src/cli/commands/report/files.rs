//! The table of files: how much of the lines, branches, functions and conditions of each was executed. [`whole`] has
//! their texts.

mod whole;

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use serde::Serialize;

use super::letters;
use crate::cli::inputs::coverage::selection::Selection;
use crate::cli::inputs::source_text::SourceTexts;
use crate::cli::terminal::error::Result;
use crate::coverage::{Coverage, File, Total, Totals};
use whole::WholeFile;

/// The files of a page.
#[derive(Debug, Serialize)]
pub struct FileTable {
    files: Vec<Row>,
    /// For each file its text and counts, as JSON; nothing if there is no room.
    texts: Vec<Option<String>>,
    /// Files, by number, that have changed since the program ran.
    newer: Vec<usize>,
    /// Files that are left out because they are missing.
    missing: Vec<String>,
}

/// A file: its path from the project's folder on, and for lines, branches, functions, conditions and prime paths how
/// many there are and how many were executed.
#[derive(Debug, Serialize)]
struct Row(String, [(u64, u64); 5]);

/// The coverage of a side.
pub struct Covered {
    pub coverage: Coverage,
    /// The name of the side's inputs.
    pub name: PathBuf,
    /// The sources.
    pub texts: SourceTexts,
}

impl FileTable {
    /// The files that are chosen. Nothing is chosen without options if nothing of the project is there. Texts get
    /// `room` bytes, those of the least covered files first.
    pub fn of(covered: Covered, selection: &Selection, room: usize) -> Result<Option<Self>> {
        let Covered { mut coverage, name, mut texts } = covered;
        let whole = coverage.clone();
        let chosen = selection.apply(&mut coverage, &name, None)?;
        let project = chosen.project();
        let shown = |path: &Path| {
            let below = path.strip_prefix(&project).unwrap_or(path);
            letters::name(&below.to_string_lossy())
        };
        let files = coverage.files.iter().map(|(path, file)| {
            Row(shown(Path::new(OsStr::from_bytes(path))), counts(&file.totals()))
        });
        let missing = chosen.missing.iter().map(|path| shown(path)).collect();
        let mut table =
            Self { files: files.collect(), texts: Vec::new(), newer: Vec::new(), missing };
        table.add_texts(&coverage, &whole, &mut texts, room);
        Ok((!table.files.is_empty()).then_some(table))
    }

    fn add_texts(
        &mut self,
        coverage: &Coverage,
        whole: &Coverage,
        texts: &mut SourceTexts,
        mut room: usize,
    ) {
        let files: Vec<(&Vec<u8>, &File)> = coverage.files.iter().collect();
        let mut order: Vec<usize> = (0..files.len()).collect();
        // The page shows them in this order at first.
        order.sort_by_cached_key(|&number| {
            let [(found, hit), ..] = self.files[number].1;
            (hit * 10_000 / found.max(1), Reverse(found - hit))
        });
        self.texts = vec![None; files.len()];
        for number in order {
            let (path, file) = files[number];
            let Some(text) = texts.file(path) else { continue };
            if text.is_newer {
                self.newer.push(number);
            }
            let json = WholeFile::of(text, file, whole.files.get(path)).json();
            if let Some(left) = room.checked_sub(letters::bytes(&json)) {
                room = left;
                self.texts[number] = Some(json);
            }
        }
    }
}

fn counts(totals: &Totals) -> [(u64, u64); 5] {
    let Totals { lines, branches, functions, conditions, paths } = *totals;
    [lines, branches, functions, conditions, paths].map(|Total { found, hit }| (found, hit))
}
