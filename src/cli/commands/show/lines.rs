//! The lines of functions: their counts and call targets, next to the source text if it is available.
//!
//! ```text
//! main (/src/prog.c)  head 1, first 1, total 5
//!   2: 1                       | 64    srand(1);
//!   6: inlined atoi (stdlib.h) | 68    count = atoi(argv[1]);
//!     0: 1                     | 361  atoi (const char *nptr)
//! ```

use std::cmp::Reverse;
use std::fmt::Write;
use std::path::Path;
use std::prelude::v1::*;

use anstyle::Style;

use crate::cli::inputs::source_text::SourceTexts;
use crate::cli::terminal::names::Names;
use crate::cli::terminal::percent;
use crate::cli::terminal::style::{self, heat};
use crate::cli::terminal::visible::visible;
use crate::profile::{Body, Function, Position, Profile, Record, SymbolId, Symbols};

/// Largest number of columns for the counts, if source text is next to them.
const WIDEST: usize = 48;
/// Smallest number of columns for the source text.
const NARROWEST_TEXT: usize = 20;
/// Longer lines of the source are cut, in letters.
const LONGEST_LINE: usize = 240;

/// The functions, line by line. `profiled` is the file that has the counts.
pub fn lines(profile: &Profile, functions: &[SymbolId], names: Names, profiled: &Path) -> String {
    let mut sources = SourceTexts::new(profiled);
    let mut text = String::new();
    for &symbol in functions {
        let Some(function) = profile.functions.get(&symbol) else { continue };
        let symbols = &profile.symbols;
        let total = function.body.total();
        let mut listing =
            Listing { symbols, names, sources: &mut sources, total, rows: Vec::new() };
        listing.body(symbol, &function.body, 1);
        text += &head(symbols, names, symbol, function);
        text += &listing.text();
    }
    text
}

fn head(symbols: &Symbols, names: Names, symbol: SymbolId, function: &Function) -> String {
    let (head_count, total) = (function.head_count, function.body.total());
    let first = match function.timestamp {
        0 => String::new(),
        timestamp => format!(", first {timestamp}"),
    };
    let name = names.with_file(symbols, symbol);
    format!("{name}  head {head_count}{first}, total {total}\n")
}

/// A row of a listing.
struct Row {
    /// Position and counts.
    counts: String,
    /// Whether names follow. They would move the source of all rows far to the right.
    has_names: bool,
    /// Line and text of the source; the second and later discriminators of a line have none.
    source: Option<(u32, String)>,
    style: Style,
}

/// The rows of a function.
struct Listing<'l> {
    symbols: &'l Symbols,
    names: Names,
    sources: &'l mut SourceTexts,
    /// The total count of the function.
    total: u128,
    rows: Vec<Row>,
}

impl Listing<'_> {
    /// Adds the rows of a function's body, or of an inlined one.
    fn body(&mut self, function: SymbolId, body: &Body, depth: usize) {
        let mut last = None;
        for (position, record) in &body.positions {
            let Position { discriminator, .. } = position;
            let line = position.signed_line();
            let place = match discriminator {
                0 => format!("{:indent$}{line}", "", indent = 2 * depth),
                _ => format!("{:indent$}{line}.{discriminator}", "", indent = 2 * depth),
            };
            let mut source = self.source(function, line).filter(|(line, _)| last != Some(*line));
            last = source.as_ref().map_or(last, |&(line, _)| Some(line));
            if record.count.is_some() || !record.targets.is_empty() {
                let counts = format!("{place}: {}", self.counts(record));
                let share = record.count.map(|count| percent::share(count.into(), self.total));
                let style = share.map_or_else(Style::new, heat);
                let has_names = !record.targets.is_empty();
                self.rows.push(Row { counts, has_names, source: source.take(), style });
            }
            for (callee, inner) in self.symbols.sorted(&record.inlined) {
                let name = self.names.with_file(self.symbols, callee);
                let counts = format!("{place}: inlined {name}");
                let (source, style) = (source.take(), Style::new());
                self.rows.push(Row { counts, has_names: true, source, style });
                self.body(callee, inner, depth + 1);
            }
        }
    }

    /// Number and text of a source line. `line` is relative to the function's declaration.
    fn source(&mut self, function: SymbolId, line: i64) -> Option<(u32, String)> {
        let declared = self.symbols.declaration_line(function)?;
        let line = u32::try_from(i64::from(declared) + line).ok()?;
        let text = self.sources.line(self.symbols.declared_in(function)?, line)?;
        let text: String = text.chars().take(LONGEST_LINE).collect();
        Some((line, visible(&text.replace('\t', "    "))))
    }

    fn counts(&self, record: &Record) -> String {
        let mark = if record.is_estimate { "~" } else { "" };
        let count = record.count.map_or_else(|| "-".into(), |count| format!("{mark}{count}"));
        let name = |symbol| visible(&self.names.name(self.symbols, symbol));
        let mut targets = self.symbols.sorted(&record.targets);
        targets.sort_by_key(|&(_, calls)| Reverse(*calls));
        let targets: Vec<String> =
            targets.iter().map(|&(target, calls)| format!("{} {calls}", name(target))).collect();
        match (targets.is_empty(), record.target_error) {
            (true, _) => count,
            (false, 0) => format!("{count}  {}", targets.join(", ")),
            (false, error) => {
                format!("{count}  {}; each may be wrong by {error}", targets.join(", "))
            }
        }
    }

    /// The rows as text, with the source in a column of its own.
    fn text(&self) -> String {
        let with_source = self.rows.iter().filter(|row| row.source.is_some() && !row.has_names);
        let widths = with_source.map(|row| row.counts.chars().count());
        let width = widths.max().unwrap_or(0).min(WIDEST);
        let numbers = self.rows.iter().filter_map(|row| Some(row.source.as_ref()?.0));
        let digits = numbers.max().unwrap_or(0).to_string().len();
        let before = width + digits + " |  ".len();
        let room =
            style::columns().map(|columns| columns.saturating_sub(before).max(NARROWEST_TEXT));
        let mut text = String::new();
        for Row { counts, source, style, .. } in &self.rows {
            let _ = match source {
                None => writeln!(text, "{style}{counts}{style:#}"),
                Some((line, source)) => {
                    let source: String = source.chars().take(room.unwrap_or(usize::MAX)).collect();
                    let source = source.trim_end();
                    writeln!(text, "{style}{counts:width$} | {line:digits$} {source}{style:#}")
                }
            };
        }
        text
    }
}
