//! Where the blocks of inlined copies are among those of a function, and the blocks of one line by copies.
//!
//! [`segments`](super::segments) finds them.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use crate::placement::observe::InlineInstance;
use crate::placement::solve::counted::Line;
use crate::profile::FileId;

/// A place among the lines of all blocks: the number of the block, and that of the line in the block.
pub type LineInBlock = (u32, u32);

/// Where an inlined function is declared. The instances of a template share the place, and so they share lines.
pub type DeclaredAt = (FileId, u32);

impl InlineInstance {
    /// Where its function is declared.
    pub const fn declared_at(&self) -> DeclaredAt {
        (self.file, self.start)
    }
}

/// Where a copy's lines are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub instance: u32,
    /// The first place and the last one, if anything is known.
    pub places: Option<(LineInBlock, LineInBlock)>,
}

/// The blocks of a line by copies.
#[derive(Debug, Default)]
pub struct Segmented {
    /// Each copy, and its place among the lines.
    pub copies: Vec<(u32, Range<usize>)>,
    pub lines: Vec<Line>,
}

impl Segmented {
    /// Sorts blocks by their copies.
    pub fn new(mut by_copy: Vec<(u32, Line)>) -> Self {
        by_copy.sort_by_key(|&(instance, _)| instance);
        let mut segmented = Self::default();
        for of_copy in by_copy.chunk_by(|a, b| a.0 == b.0) {
            let first = segmented.lines.len();
            segmented.lines.extend(of_copy.iter().map(|&(_, line)| line));
            segmented.copies.push((of_copy[0].0, first..segmented.lines.len()));
        }
        segmented
    }

    /// The blocks of a copy, if it has any.
    pub fn lines_of(&self, instance: u32) -> Option<&[Line]> {
        let place = self.copies.binary_search_by_key(&instance, |&(instance, _)| instance).ok()?;
        Some(&self.lines[self.copies[place].1.clone()])
    }
}

/// The copies of functions that were inlined several times.
#[derive(Debug, Default)]
pub struct Segments {
    /// For each of these functions: the segments of the copies, in the order of their calls.
    pub of: HashMap<DeclaredAt, Vec<Segment>>,
    /// The functions with copies that call other copies.
    pub callers: HashSet<DeclaredAt>,
}

impl Segments {
    /// The copies of a function that has several, in the order of their calls.
    pub fn copies(&self, function: DeclaredAt) -> Option<impl Iterator<Item = u32>> {
        Some(self.of.get(&function)?.iter().map(|copy| copy.instance))
    }

    /// Whether other functions are inlined in copies of a function.
    pub fn has_calls(&self, function: DeclaredAt) -> bool {
        self.callers.contains(&function)
    }
}
