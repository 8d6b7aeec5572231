//! Tables for people: columns of numbers, and a name behind them that gets the room that is left.

use std::fmt::Write;
use std::prelude::v1::*;

use anstyle::Style;

use super::style::{self, TITLE};

/// Blanks between columns.
const GAP: &str = "  ";
/// A name gets at least this room.
const NARROWEST_NAME: usize = 20;

/// A table whose rows begin with `N` cells, aligned at their ends.
pub struct Table<const N: usize> {
    titles: [&'static str; N],
    rows: Vec<([String; N], Style)>,
}

impl<const N: usize> Table<N> {
    /// A table without rows.
    pub const fn new(titles: [&'static str; N]) -> Self {
        Self { titles, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: [String; N], style: Style) {
        self.rows.push((cells, style));
    }

    /// The text. `name` gives the name of a row, which may have this many letters; `None` if any number.
    pub fn text(&self, title: &str, name: impl Fn(usize, Option<usize>) -> String) -> String {
        let mut text = String::new();
        if self.rows.is_empty() {
            return text;
        }
        let widths = self.widths();
        let before: usize = widths.iter().map(|width| width + GAP.len()).sum();
        let room =
            style::columns().map(|columns| columns.saturating_sub(before).max(NARROWEST_NAME));
        let titles = self.titles.map(str::to_owned);
        let _ = writeln!(text, "{TITLE}{}{title}{TITLE:#}", line(&titles, widths));
        for (row, (cells, style)) in self.rows.iter().enumerate() {
            let name = name(row, room);
            let _ = writeln!(text, "{style}{}{name}{style:#}", line(cells, widths));
        }
        text
    }

    fn widths(&self) -> [usize; N] {
        let mut widths = self.titles.map(str::len);
        for (cells, _) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.len());
            }
        }
        widths
    }
}

fn line<const N: usize>(cells: &[String; N], widths: [usize; N]) -> String {
    let cells = cells.iter().zip(widths);
    cells.map(|(cell, width)| format!("{cell:>width$}{GAP}")).collect()
}
