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

impl Start {
    /// Whether a line behind the first one is known to belong to the function, or to one within it.
    pub fn has(&self, line: u32) -> bool {
        line <= self.last()
    }

    /// The last line that is known to belong to the function.
    fn last(&self) -> u32 {
        self.end.unwrap_or(if self.is_outer { u32::MAX } else { 0 })
    }
}

/// The functions of all files.
#[derive(Debug, Default)]
pub struct Starts {
    /// By the index of the file.
    files: Vec<OfFile>,
    /// The lines of functions that the compiler made out of others' code.
    artificial: Vec<(SymbolId, u32)>,
}

/// The functions of a file.
#[derive(Debug, Default)]
struct OfFile {
    /// By line, once they are sorted.
    starts: Vec<Start>,
    /// For each of them: the running maximum of known end lines.
    last: Vec<u32>,
    /// The functions of other files that have lines of this one.
    users: Users,
}

/// How many functions use a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Users {
    #[default]
    None,
    One(SymbolId),
    Several,
}

impl Starts {
    /// Adds a function of a file.
    pub fn add(&mut self, file: FileId, start: Start) {
        self.of(file).starts.push(start);
    }

    /// Notes that a function of another file has lines of this one.
    pub fn add_user(&mut self, file: FileId, user: SymbolId) {
        let users = &mut self.of(file).users;
        *users = match *users {
            Users::None => Users::One(user),
            Users::One(known) if known == user => *users,
            Users::One(_) | Users::Several => Users::Several,
        };
    }

    fn of(&mut self, file: FileId) -> &mut OfFile {
        let place = file.index();
        if self.files.len() <= place {
            self.files.resize_with(place + 1, OfFile::default);
        }
        &mut self.files[place]
    }

    /// Adds a function that the compiler made, such as the body of a parallel region. Its place is one in the function
    /// whose code it got, and no line belongs to it by its number.
    pub fn add_artificial(&mut self, symbol: SymbolId, line: u32) {
        self.artificial.push((symbol, line));
    }

    /// Call this after the last [`Starts::add`].
    pub fn sort(&mut self) {
        for OfFile { starts, last, .. } in &mut self.files {
            // If a function is known twice, notes tell more.
            starts.sort_unstable_by_key(|start| (start.line, start.symbol, start.end.is_none()));
            starts.dedup_by(|again, first| {
                let is_same = (again.line, again.symbol) == (first.line, first.symbol);
                first.is_outer |= is_same && again.is_outer;
                is_same
            });
            last.clear();
            last.extend(starts.iter().scan(0, |last, start| {
                *last = start.last().max(*last);
                Some(*last)
            }));
        }
    }

    /// The functions that start at or before a line, in groups of one line, the last line first.
    pub fn before(&self, file: FileId, line: u32) -> impl Iterator<Item = &[Start]> {
        let starts = self.files.get(file.index()).map_or(&[][..], |of_file| &of_file.starts);
        let behind = starts.partition_point(|start| start.line <= line);
        starts[..behind].chunk_by(|a, b| a.line == b.line).rev()
    }

    /// The last group [before](Self::before) a line with a function that is known to have the line.
    pub fn around(&self, file: FileId, line: u32) -> Option<&[Start]> {
        let OfFile { starts, last, .. } = self.files.get(file.index())?;
        let mut behind = starts.partition_point(|start| start.line <= line);
        for starts in self.before(file, line) {
            if last[behind - 1] < line {
                return None;
            }
            if starts.iter().any(|start| start.has(line)) {
                return Some(starts);
            }
            behind -= starts.len();
        }
        None
    }

    /// Whether a line is the last one of a function.
    pub fn has_end(&self, file: FileId, line: u32) -> bool {
        let around = self.around(file, line).unwrap_or_default();
        around.iter().any(|start| start.end == Some(line))
    }

    /// Tells the symbols at which lines they are declared.
    pub fn declare(&self, symbols: &mut Symbols) {
        for start in self.files.iter().flat_map(|of_file| &of_file.starts) {
            symbols.set_declaration_line(start.symbol, start.line);
        }
        for &(symbol, line) in &self.artificial {
            symbols.set_declaration_line(symbol, line);
        }
    }

    /// Whether no other function has lines of a file.
    pub fn is_only_user(&self, file: FileId, symbol: SymbolId) -> bool {
        self.files.get(file.index()).is_some_and(|of_file| of_file.users == Users::One(symbol))
    }

    /// Whether any function of a file is known.
    pub fn knows(&self, file: FileId) -> bool {
        self.files.get(file.index()).is_some_and(|of_file| !of_file.starts.is_empty())
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
        let around = |line| starts.around(c, line).map(|starts| starts[0].symbol);
        assert_eq!([9, 10, 15, 16, 25].map(around), [None, Some(f), Some(f), None, None]);
        // Another one is known to have begun behind the first one, which has ended.
        let [h, outer] = [b"h", b"o"].map(|name| symbols.symbol(name, Some(c)));
        starts.add(c, Start { line: 12, symbol: h, end: Some(13), is_outer: false });
        starts.add(c, Start { line: 30, symbol: outer, end: None, is_outer: true });
        starts.sort();
        let around = |line| starts.around(c, line).map(|starts| starts[0].symbol);
        let expected = [Some(f), Some(h), Some(f), None, Some(outer)];
        assert_eq!([11, 13, 14, 29, 99].map(around), expected);
    }

    #[test]
    fn functions_with_lines_of_a_file() {
        let mut symbols = Symbols::default();
        let (table, header) = (symbols.file(b"table.h"), symbols.file(b"list.h"));
        let [f, g] = [b"f", b"g"].map(|name| symbols.symbol(name, None));
        let mut starts = Starts::default();
        [(table, f), (table, f), (header, f), (header, g)]
            .into_iter()
            .for_each(|(file, user)| starts.add_user(file, user));
        let is_only = |file, user| starts.is_only_user(file, user);
        assert!(is_only(table, f) && !is_only(table, g) && !is_only(header, f));
    }
}
