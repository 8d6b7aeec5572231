//! The source lines that a page shows, and a note about each file.

use std::collections::BTreeMap;
use std::prelude::v1::*;

use serde::{Serialize, Serializer};

use super::letters;
use crate::cli::inputs::source_text::{Encoding, SourceTexts, Text};

/// Most lines of a function that the page shows.
const MOST_LINES: u32 = 10_000;
/// Number of lines behind the last counted one in which to look for a function's end.
const BEHIND: u32 = 40;

/// The wanted lines of a file: for each first line the last one. Ranges may overlap.
#[derive(Clone, Debug, Default)]
pub struct Ranges(BTreeMap<u32, u32>);

impl Ranges {
    /// Adds a function: the line of its declaration, and the distance of its last counted line from there.
    pub fn add(&mut self, declared: u32, last: i64) {
        let length = last.clamp(0, MOST_LINES.into()) as u32;
        let last = self.0.entry(declared).or_insert(declared);
        *last = declared.saturating_add(length).max(*last);
    }
}

/// The text of a file, or of parts of it.
#[derive(Debug, Serialize)]
pub struct Source {
    /// The file, by its number on the page.
    pub file: usize,
    /// A note about the file.
    #[serde(serialize_with = "in_words")]
    pub note: Option<Note>,
    /// The parts of the text, each with the number of its first line.
    parts: Vec<(u32, String)>,
    /// For the line of each declaration, the last line of the function.
    ends: Vec<(u32, u32)>,
}

/// A note about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    Missing,
    Newer,
    Latin1,
    Utf16,
    Cut,
}

impl Note {
    const fn words(self) -> &'static str {
        match self {
            Self::Missing => "is missing: the page shows its functions without their text",
            Self::Newer => {
                "has changed since the program was made or ran: the counts may belong to other lines"
            }
            Self::Latin1 => "is not in UTF-8: the page reads it as Latin-1",
            Self::Utf16 => "is in UTF-16",
            Self::Cut => "is incomplete: the page has no room for all of it",
        }
    }
}

fn in_words<S: Serializer>(note: &Option<Note>, serializer: S) -> Result<S::Ok, S::Error> {
    note.map(Note::words).serialize(serializer)
}

/// The lines of a file.
pub fn source(
    file: usize,
    path: &[u8],
    ranges: &Ranges,
    texts: &mut SourceTexts,
    room: &mut usize,
) -> Source {
    let Some(text) = texts.file(path) else {
        return Source { file, note: Some(Note::Missing), parts: Vec::new(), ends: Vec::new() };
    };
    let note = match (text.is_newer, text.encoding) {
        (true, _) => Some(Note::Newer),
        (_, Encoding::Latin1) => Some(Note::Latin1),
        (_, Encoding::Utf16) => Some(Note::Utf16),
        (false, Encoding::Utf8) => None,
    };
    let mut joined: Vec<(u32, u32)> = Vec::new();
    let mut ends = Vec::with_capacity(ranges.0.len());
    for (&first, &last) in &ranges.0 {
        let last = end(text, first, last);
        ends.push((first, last));
        match joined.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => joined.push((first, last)),
        }
    }
    let mut part = |(first, last): (u32, u32)| {
        let lines = (first..=last).map_while(|line| text.line(line).map(letters::line));
        let fits = |line: &String| {
            let fits = letters::bytes(line) <= *room;
            *room = room.saturating_sub(letters::bytes(line));
            fits
        };
        (first, lines.take_while(fits).collect::<Vec<_>>().join("\n"))
    };
    let parts: Vec<(u32, String)> = joined.iter().map(|&range| part(range)).collect();
    let note = if *room == 0 { Some(Note::Cut) } else { note };
    Source { file, note, parts, ends }
}

/// The line of a function's closing bracket, if the indentation shows it; else its last counted line.
fn end(text: &Text, declared: u32, last: u32) -> u32 {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(own) = text.line(declared).map(indent) else { return last };
    for line in (last..last.saturating_add(BEHIND)).map(|line| line + 1) {
        match text.line(line) {
            None => return last,
            Some(found) if found.trim().is_empty() || indent(found) > own => {}
            Some(found) if found.trim_start().starts_with('}') => return line,
            // The left margin also has labels and the preprocessor's lines.
            Some(found) if found.starts_with('#') || found.trim_end().ends_with(':') => {}
            Some(_) => return last,
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow() {
        let mut ranges = Ranges::default();
        for (declared, last) in [(10, 4), (10, 2), (10, 5), (3, -7), (1, i64::MAX), (u32::MAX, 3)] {
            ranges.add(declared, last);
        }
        let found: Vec<_> = ranges.0.into_iter().collect();
        assert_eq!(found, [(1, 10_001), (3, 3), (10, 15), (u32::MAX, u32::MAX)]);
    }
}
