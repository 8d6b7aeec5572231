//! A whole source file with the counts of its lines and branches, and what the coverage leaves out.

use std::collections::BTreeMap;
use std::prelude::v1::*;

use serde::Serialize;

use crate::cli::commands::report::letters;
use crate::cli::commands::report::rows::Count;
use crate::cli::inputs::source_text::Text;
use crate::coverage::File;

/// A file.
#[derive(Debug, Serialize)]
pub struct WholeFile {
    text: String,
    /// Lines with code, and their counts.
    lines: Vec<(u32, Count)>,
    /// Lines with branches, and the count of each branch, which is nothing if control never came there.
    branches: Vec<(u32, Vec<Option<Count>>)>,
    /// Lines that markers leave out; for lines that stay, the number of branches that are left out.
    excluded: Vec<(u32, Option<usize>)>,
}

impl WholeFile {
    /// A file. `whole` has what `file` leaves out, too.
    pub fn of(text: &Text, file: &File, whole: Option<&File>) -> Self {
        let lines: Vec<String> =
            (1..).map_while(|line| text.line(line).map(letters::line)).collect();
        let mut branches = BTreeMap::<u32, Vec<Option<Count>>>::new();
        for (&(line, _), branch) in &file.branches {
            branches.entry(line).or_default().push(branch.count.map(|count| Count(count.into())));
        }
        let number = |line: u32, of: &File| of.branches.range((line, 0)..=(line, u32::MAX)).count();
        let excluded = whole.into_iter().flat_map(|whole| {
            whole.lines.keys().filter_map(move |&line| match file.lines.contains_key(&line) {
                true => {
                    let left_out = number(line, whole) - number(line, file);
                    (left_out > 0).then_some((line, Some(left_out)))
                }
                false => Some((line, None)),
            })
        });
        Self {
            text: lines.join("\n"),
            lines: file.lines.iter().map(|(&line, &count)| (line, Count(count.into()))).collect(),
            excluded: excluded.collect(),
            branches: branches.into_iter().collect(),
        }
    }

    /// The file as JSON, which the page parses when it shows the file.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
