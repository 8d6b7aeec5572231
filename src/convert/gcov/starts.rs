//! Finds the function that a source line belongs to, by where functions start and end.
//!
//! Notes tell the first and last lines of functions with counters of their own. Debug information tells the
//! first lines also of functions that exist only inlined.

use alloc::vec::Vec;

use crate::profile::{FileId, SymbolId, Symbols};

/// The place of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// Line of its declaration.
    pub line: u32,
    /// The function.
    pub symbol: SymbolId,
    /// Its last line, if notes tell it.
    pub end: Option<u32>,
    /// Whether it is known to stand in no other function. If so, functions that start before it have ended.
    pub is_outer: bool,
}

/// The functions of all files.
#[derive(Debug, Default)]
pub struct Starts {
    /// By the index of the file.
    files: Vec<Vec<Start>>,
}

impl Starts {
    /// Adds a function of a file.
    pub fn add(&mut self, file: FileId, start: Start) {
        let place = file.index();
        if self.files.len() <= place {
            self.files.resize_with(place + 1, Vec::new);
        }
        self.files[place].push(start);
    }

    /// Call this after the last [`Starts::add`].
    pub fn sort(&mut self) {
        for starts in &mut self.files {
            // If a function is known twice, notes tell more.
            starts.sort_unstable_by_key(|start| (start.line, start.symbol, start.end.is_none()));
            starts.dedup_by(|again, first| {
                let is_same = (again.line, again.symbol) == (first.line, first.symbol);
                first.is_outer |= is_same && again.is_outer;
                is_same
            });
        }
    }

    /// The functions that start at or before a line, in groups of one line, the last line first.
    pub fn before(&self, file: FileId, line: u32) -> impl Iterator<Item = &[Start]> {
        let starts = self.files.get(file.index()).map_or(&[][..], Vec::as_slice);
        let behind = starts.partition_point(|start| start.line <= line);
        starts[..behind].chunk_by(|a, b| a.line == b.line).rev()
    }

    /// Tells the symbols at which lines they are declared.
    pub fn declare(&self, symbols: &mut Symbols) {
        for start in self.files.iter().flatten() {
            symbols.set_declaration_line(start.symbol, start.line);
        }
    }

    /// Whether any function of a file is known.
    pub fn knows(&self, file: FileId) -> bool {
        self.files.get(file.index()).is_some_and(|starts| !starts.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_around_a_line() {
        let mut symbols = Symbols::default();
        let (c, h) = (symbols.file(b"a.c"), symbols.file(b"a.h"));
        let [f, g] = [b"f", b"g"].map(|name| symbols.symbol(name, Some(c)));
        let mut starts = Starts::default();
        // Debug information tells where `f` starts; the notes also tell its end.
        for (line, symbol, end) in [(20, g, None), (10, f, None), (10, f, Some(15))] {
            starts.add(c, Start { line, symbol, end, is_outer: false });
        }
        starts.sort();
        let before = |file, line| {
            let all = starts.before(file, line).flatten();
            all.map(|start| (start.symbol, start.end)).collect::<Vec<_>>()
        };
        assert_eq!(before(c, 9), []);
        assert_eq!(before(c, 10), [(f, Some(15))]);
        assert_eq!(before(c, 25), [(g, None), (f, Some(15))]);
        assert_eq!(before(h, 25), []);
        assert!(starts.knows(c) && !starts.knows(h));
    }
}
