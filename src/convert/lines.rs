//! Which function a source line belongs to.
//!
//! The blocks of a function carry lines of every function that was inlined into it before the
//! counters were laid out. The notes do not say from where a line came, but they say where the
//! functions stand: a line belongs to the innermost function around it. Functions that have no notes,
//! because they exist only inlined, and instances of one template are told apart by what is inlined in
//! the function's code, as the debug information has it.

use alloc::vec::Vec;

use super::copies::Chain;
use crate::profile::{FileId, SymbolId};

/// A function's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The function.
    pub symbol: SymbolId,
    /// The file it stands in.
    pub file: FileId,
    /// Line of its declaration.
    pub start: u32,
    /// Its last line.
    pub end: u32,
}

impl Extent {
    /// The function and its start.
    pub const fn home(&self) -> Home {
        Home { symbol: self.symbol, start: self.start }
    }

    const fn contains(&self, line: u32) -> bool {
        self.start <= line && line <= self.end
    }
}

/// What is known of a line's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This one.
    One(Home),
    /// No function that is known.
    Nobody,
    /// Several functions that stand in the same lines, as instances of a template do.
    Several,
}

/// A function and where it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Home {
    /// The function.
    pub symbol: SymbolId,
    /// Line of its declaration.
    pub start: u32,
}

/// The functions of all files.
#[derive(Debug, Default)]
pub struct Lines {
    /// By their places among the files.
    files: Vec<File>,
}

/// The functions of one file.
#[derive(Debug, Default)]
struct File {
    /// By first line.
    extents: Vec<Extent>,
    /// For each function the last line of it and of all before it.
    reach: Vec<u32>,
}

impl File {
    const EMPTY: Self = Self { extents: Vec::new(), reach: Vec::new() };
}

impl Lines {
    /// Adds a function of a file.
    pub fn add(&mut self, extent: Extent) {
        let place = extent.file.index();
        if self.files.len() <= place {
            self.files.resize_with(place + 1, File::default);
        }
        self.files[place].extents.push(extent);
    }

    /// To be called after the last [`Lines::add`].
    pub fn sort(&mut self) {
        for File { extents, reach } in &mut self.files {
            extents.sort_by_key(|extent| (extent.start, extent.end, extent.symbol));
            extents.dedup();
            let last = extents.iter().scan(0, |last, extent| {
                *last = extent.end.max(*last);
                Some(*last)
            });
            *reach = last.collect();
        }
    }

    /// The owner of a line of `file` found in the blocks of `function`, to which these chains lead.
    pub fn owner(&self, file: FileId, line: u32, function: &Extent, chains: &[Chain]) -> Owner {
        let (by_notes, start) = self.by_notes(file, line, function);
        let itself = Owner::One(function.home());
        if by_notes == itself && chains.iter().any(Vec::is_empty) {
            return itself;
        }
        let ends = chains.iter().filter_map(|chain| chain.last());
        let ends = ends.filter(|end| end.file == file && end.home.start <= line);
        // Of functions around one another the last one to start is the innermost.
        let last = ends.clone().map(|end| end.home.start).chain(start).max();
        let mut homes = ends.map(|end| end.home).filter(|home| Some(home.start) == last);
        match (homes.next(), by_notes) {
            (None, by_notes) => by_notes,
            (Some(home), Owner::One(known)) if known.start == home.start => Owner::One(known),
            (Some(home), _) if homes.all(|other| other == home) => Owner::One(home),
            _ => Owner::Several,
        }
    }

    /// The owner as far as extents tell, and where it starts.
    fn by_notes(&self, file: FileId, line: u32, function: &Extent) -> (Owner, Option<u32>) {
        let own = (file == function.file && function.contains(line)).then_some(function);
        let mut innermost = self.innermost(file, line);
        let one = |extent: &Extent| Owner::One(extent.home());
        match (own, innermost.next()) {
            (None, None) => (Owner::Nobody, None),
            // Nothing stands further inside: its own, whoever else stands in the same lines.
            (Some(own), inner) if inner.is_none_or(|extent| extent.start <= own.start) => {
                (one(own), Some(own.start))
            }
            (_, Some(extent)) => {
                let alone = innermost.all(|other| other.symbol == extent.symbol);
                (if alone { one(extent) } else { Owner::Several }, Some(extent.start))
            }
            (Some(own), None) => (one(own), Some(own.start)),
        }
    }

    /// The functions around a line that start last.
    fn innermost(&self, file: FileId, line: u32) -> impl Iterator<Item = &Extent> {
        let known = self.files.get(file.index());
        let File { extents, reach } = known.unwrap_or(const { &File::EMPTY });
        let before = extents.partition_point(|extent| extent.start <= line);
        let reaching = (0..before).rev().take_while(move |&place| reach[place] >= line);
        let around = reaching.map(|place| &extents[place]);
        let mut around = around.filter(move |extent| extent.contains(line)).peekable();
        let last = around.peek().map(|extent| extent.start);
        around.take_while(move |extent| Some(extent.start) == last)
    }
}

#[cfg(test)]
mod tests {
    use super::super::copies::Link;
    use super::*;
    use crate::profile::Symbols;

    #[test]
    fn lines_belong_to_the_innermost_function() {
        let mut symbols = Symbols::default();
        let (file, other) = (symbols.file(b"a.cc"), symbols.file(b"b.h"));
        let mut extent = |name: &[u8], start, end| Extent {
            symbol: symbols.symbol(name, Some(file)),
            file,
            start,
            end,
        };
        let (outer, lambda) = (extent(b"outer", 10, 30), extent(b"lambda", 15, 17));
        let (one, two) = (extent(b"t<1>", 40, 44), extent(b"t<2>", 40, 44));
        let only_inlined = extent(b"only_inlined", 32, 36);
        let mut lines = Lines::default();
        [outer, lambda, one, two].into_iter().for_each(|extent| lines.add(extent));
        lines.sort();
        let through = |extents: &[Extent]| -> Chain {
            let link = |extent: &Extent| Link {
                line: 1,
                column: 0,
                discriminator: 0,
                home: extent.home(),
                file: extent.file,
            };
            extents.iter().map(link).collect()
        };
        let owner = |line, function: &Extent, chains: &[Chain]| {
            lines.owner(function.file, line, function, chains)
        };
        let is = |extent: &Extent| Owner::One(extent.home());
        assert_eq!(owner(12, &outer, &[]), is(&outer));
        assert_eq!(owner(16, &outer, &[]), is(&lambda));
        assert_eq!(owner(16, &lambda, &[]), is(&lambda));
        assert_eq!(owner(12, &lambda, &[]), is(&outer));
        assert_eq!(owner(42, &outer, &[]), Owner::Several);
        assert_eq!(owner(42, &two, &[]), is(&two));
        assert_eq!(owner(35, &outer, &[]), Owner::Nobody);
        assert_eq!(lines.owner(other, 12, &outer, &[]), Owner::Nobody);

        let chains = [through(&[only_inlined]), through(&[lambda, only_inlined])];
        assert_eq!(owner(35, &outer, &chains), is(&only_inlined));
        assert_eq!(owner(42, &outer, &[through(&[lambda, two])]), is(&two));
        assert_eq!(owner(42, &outer, &[through(&[one]), through(&[two])]), Owner::Several);
        // What the debug information has wrong about its own lines.
        assert_eq!(owner(12, &outer, &[through(&[only_inlined])]), is(&outer));
        assert_eq!(owner(42, &one, &[through(&[lambda])]), is(&one));
    }
}
