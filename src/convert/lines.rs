//! Which function a source line belongs to.
//!
//! The blocks of a function carry lines of every function that was inlined into it before the
//! counters were laid out. The notes do not say from where a line came, but they say where the
//! functions stand: a line belongs to the innermost function around it.

use alloc::vec::Vec;

use hashbrown::HashMap;

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
    const fn lines(&self) -> u32 {
        self.end.saturating_sub(self.start)
    }

    const fn contains(&self, line: u32) -> bool {
        self.start <= line && line <= self.end
    }
}

/// What is known of a line's function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The function in whose blocks the line was found.
    Itself,
    /// Another function.
    Inlined(Extent),
    /// No function that is known.
    Nobody,
    /// Several functions that stand in the same lines, as instances of a template do.
    Several,
}

/// The functions of all files.
#[derive(Debug, Default)]
pub struct Lines {
    files: HashMap<FileId, File>,
}

/// The functions of one file.
#[derive(Debug, Default)]
struct File {
    /// By first line.
    extents: Vec<Extent>,
    /// For each function the last line of it and of all before it.
    reach: Vec<u32>,
}

impl Lines {
    /// Adds a function of a file.
    pub fn add(&mut self, extent: Extent) {
        self.files.entry(extent.file).or_default().extents.push(extent);
    }

    /// To be called after the last [`Lines::add`].
    pub fn sort(&mut self) {
        for File { extents, reach } in self.files.values_mut() {
            extents.sort_by_key(|extent| (extent.start, extent.end, extent.symbol));
            extents.dedup();
            let last = extents.iter().scan(0, |last, extent| {
                *last = extent.end.max(*last);
                Some(*last)
            });
            *reach = last.collect();
        }
    }

    /// The owner of a line of `file` found in the blocks of `function`.
    pub fn owner(&self, file: FileId, line: u32, function: &Extent) -> Owner {
        let own = (file == function.file && function.contains(line)).then_some(*function);
        let innermost = self.innermost(file, line);
        let smallest = innermost.first().map(Extent::lines);
        match (own, smallest) {
            // Nothing stands further inside: its own, whoever else stands in the same lines.
            (Some(own), smallest) if smallest.is_none_or(|lines| own.lines() <= lines) => {
                Owner::Itself
            }
            (_, None) => Owner::Nobody,
            _ => match innermost[..] {
                [extent] => Owner::Inlined(extent),
                _ => Owner::Several,
            },
        }
    }

    /// The functions with the fewest lines around a line.
    fn innermost(&self, file: FileId, line: u32) -> Vec<Extent> {
        let Some(File { extents, reach }) = self.files.get(&file) else { return Vec::new() };
        let before = extents.partition_point(|extent| extent.start <= line);
        let reaching = (0..before).rev().take_while(|&place| reach[place] >= line);
        let around = reaching.map(|place| extents[place]).filter(|extent| extent.contains(line));
        let mut innermost = Vec::<Extent>::new();
        for extent in around {
            match innermost.first().map(Extent::lines) {
                Some(fewest) if extent.lines() > fewest => continue,
                Some(fewest) if extent.lines() < fewest => innermost.clear(),
                _ => {}
            }
            innermost.push(extent);
        }
        innermost
    }
}

#[cfg(test)]
mod tests {
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
        let mut lines = Lines::default();
        [outer, lambda, one, two].into_iter().for_each(|extent| lines.add(extent));
        lines.sort();
        let owner = |line, function| lines.owner(file, line, function);
        assert_eq!(owner(12, &outer), Owner::Itself);
        assert_eq!(owner(16, &outer), Owner::Inlined(lambda));
        assert_eq!(owner(16, &lambda), Owner::Itself);
        assert_eq!(owner(12, &lambda), Owner::Inlined(outer));
        assert_eq!(owner(42, &outer), Owner::Several);
        assert_eq!(owner(42, &two), Owner::Itself);
        assert_eq!(owner(35, &outer), Owner::Nobody);
        assert_eq!(lines.owner(other, 12, &outer), Owner::Nobody);
    }
}
