//! Prime paths: which ways through a function ran, as gcc 15's `-fpath-coverage` observes them.
//!
//! A prime path is a way along arcs on which no block comes twice, or a way round that ends where it began, that is
//! part of no other one. The compiler says how many there are, and has a bit for each. Which path has which bit follows
//! from the graph: the bits are in the order of the paths, and paths in that of their blocks' numbers.
//!
//! | part of the graph | rule |
//! |---|---|
//! | entry, exit, fake arcs | in no path |
//! | several arcs from a block to another one | as one |
//! | arc that no arcs lead back from | in paths only if it is on a way from a start to an end |
//! | start | where the entry leads, and where no arc leads |
//! | end | what leads to the exit or nowhere |
//! | block without arcs | in no path |
//!
//! gcc counts parts of paths as paths, too, in few functions of C and in some of a hundred with many jumps or exception
//! handlers. The numbers differ, which is an error here. gcov's list is then not that of the compiler, either.

use alloc::vec;
use alloc::vec::Vec;

use super::Total;

/// The entry and the exit; other blocks follow.
const ENTRY: u32 = 0;
const EXIT: u32 = 1;
/// Arcs that a search looks at before it gives up. gcc's own limit is 250,000 paths.
const MOST_STEPS: u64 = 1 << 26;
/// Blocks in all listed paths.
const MOST_LISTED: usize = 1 << 24;

/// The prime paths of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// How many the compiler observes.
    pub number: u32,
    /// A bit for each.
    taken: Vec<u64>,
    blocks: u32,
    /// Sorted, without fake ones.
    arcs: Vec<PathArc>,
    /// Sorted: blocks, and their lines in the function's file.
    lines: Vec<(u32, u32)>,
}

/// An arc from a block to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathArc {
    /// The block that it leaves.
    pub from: u32,
    /// The block that it enters.
    pub to: u32,
    /// The outcome of the condition that it stands for, if it is one.
    pub outcome: Option<bool>,
}

/// A path that was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Its number, from 0.
    pub number: u32,
    /// Its blocks.
    pub blocks: Vec<u32>,
}

/// Why the paths are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathsError {
    /// The graph has another number of paths.
    Number {
        /// The compiler's.
        expected: u32,
        /// The graph's; one more than expected stands for any larger number.
        found: u32,
    },
    /// It takes too long to find them, or too much memory to list them.
    TooMany,
}

impl core::fmt::Display for PathsError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Number { expected, found } if found > expected => {
                write!(f, "expected {expected} prime paths, found more")
            }
            Self::Number { expected, found } => {
                write!(f, "expected {expected} prime paths, found {found}")
            }
            Self::TooMany => f.write_str("too many prime paths"),
        }
    }
}

impl core::error::Error for PathsError {}

impl Paths {
    /// Paths of a function with this number of blocks, which those of arcs and lines are below, and the bits of those
    /// that were taken.
    pub fn new(
        number: u32,
        taken: Vec<u64>,
        blocks: u32,
        arcs: impl Iterator<Item = PathArc>,
        lines: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let (mut arcs, mut lines): (Vec<_>, Vec<_>) = (arcs.collect(), lines.collect());
        arcs.sort_unstable();
        arcs.dedup();
        lines.sort_unstable();
        lines.dedup();
        Self { number, taken, blocks, arcs, lines }
    }

    /// How many there are, and how many were taken.
    pub fn total(&self) -> Total {
        let hit: u32 = self.taken.iter().map(|bits| bits.count_ones()).sum();
        Total { found: self.number.into(), hit: hit.min(self.number).into() }
    }

    /// Adds what other runs have taken. Says whether these are the same paths.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let is_same =
            (self.number, self.blocks, &self.arcs) == (other.number, other.blocks, &other.arcs);
        if is_same {
            self.taken.resize(self.taken.len().max(other.taken.len()), 0);
            self.taken.iter_mut().zip(&other.taken).for_each(|(own, more)| *own |= more);
        }
        is_same
    }

    /// The lines of a block in the file of the function.
    pub fn lines(&self, block: u32) -> impl Iterator<Item = u32> {
        let start = self.lines.partition_point(|line| line.0 < block);
        self.lines[start..].iter().take_while(move |line| line.0 == block).map(|line| line.1)
    }

    /// The block that the outcome of a block's condition leads to, if it has one.
    pub fn leads_to(&self, block: u32, outcome: bool) -> Option<u32> {
        let start = self.arcs.partition_point(|arc| arc.from < block);
        let mut arcs = self.arcs[start..].iter().take_while(|arc| arc.from == block);
        arcs.find(|arc| arc.outcome == Some(outcome)).map(|arc| arc.to)
    }

    /// The paths that were not taken.
    ///
    /// # Errors
    ///
    /// Another number of paths than the compiler's, and too many of them.
    pub fn missed(&self) -> Result<Vec<Missed>, PathsError> {
        let (mut missed, mut listed, mut found) = (Vec::new(), 0, 0);
        let take = |blocks: &[u32]| {
            let number = found;
            if number == self.number {
                return Err(PathsError::Number {
                    expected: number,
                    found: number.saturating_add(1),
                });
            }
            found += 1;
            let bits = self.taken.get(number as usize / 64).copied().unwrap_or(0);
            if bits >> (number % 64) & 1 == 1 {
                return Ok(());
            }
            listed += blocks.len();
            if listed > MOST_LISTED {
                return Err(PathsError::TooMany);
            }
            missed.push(Missed { number, blocks: blocks.to_vec() });
            Ok(())
        };
        Graph::new(self.blocks, &self.arcs).walk(take)?;
        match found == self.number {
            true => Ok(missed),
            false => Err(PathsError::Number { expected: self.number, found }),
        }
    }
}

/// The arcs that paths take, by block.
struct Graph {
    /// Sorted.
    onwards: Vec<Vec<u32>>,
    backwards: Vec<Vec<u32>>,
    /// A number for each set of blocks that lead to each other.
    parts: Vec<u32>,
    /// Whether a block has arcs.
    is_connected: Vec<bool>,
}

impl Graph {
    fn new(blocks: u32, arcs: &[PathArc]) -> Self {
        let size = blocks as usize;
        let (mut onwards, mut backwards) = (vec![Vec::new(); size], vec![Vec::new(); size]);
        let (mut is_connected, mut is_end) = (vec![false; size], vec![false; size]);
        let mut is_start = vec![false; size];
        for pair in arcs.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
            let (from, to) = (pair[0].from, pair[0].to);
            is_connected[from as usize] = true;
            is_connected[to as usize] = true;
            match (from, to) {
                (ENTRY, to) => is_start[to as usize] = true,
                (from, EXIT) => is_end[from as usize] = true,
                (from, to) => {
                    onwards[from as usize].push(to);
                    backwards[to as usize].push(from);
                }
            }
        }
        for block in 0..size {
            is_start[block] |= backwards[block].is_empty();
            is_end[block] |= onwards[block].is_empty();
            is_connected[block] &= block > EXIT as usize;
        }
        let parts = parts(&onwards, &backwards);
        let (from_start, to_end) = (reached(is_start, &onwards), reached(is_end, &backwards));
        let is_taken = |from: u32, to: u32| {
            let (from, to) = (from as usize, to as usize);
            parts[from] == parts[to] || from_start[from] && to_end[to]
        };
        for (block, (onwards, backwards)) in (0..).zip(onwards.iter_mut().zip(&mut backwards)) {
            onwards.retain(|&to| is_taken(block, to));
            backwards.retain(|&from| is_taken(from, block));
        }
        Self { onwards, backwards, parts, is_connected }
    }

    /// Passes all paths to `take`, in their order.
    fn walk(
        &self,
        mut take: impl FnMut(&[u32]) -> Result<(), PathsError>,
    ) -> Result<(), PathsError> {
        let mut walk = Walk {
            graph: self,
            start: 0,
            path: Vec::new(),
            is_on_path: vec![false; self.onwards.len()],
            before: 0,
            seen: vec![0; self.onwards.len()],
            search: 0,
            steps: 0,
        };
        for start in (0..).zip(&self.is_connected).filter(|(_, is)| **is).map(|(block, _)| block) {
            walk.from(start, &mut take)?;
        }
        Ok(())
    }
}

/// The blocks that can be reached from those that are given.
fn reached(mut is_reached: Vec<bool>, onwards: &[Vec<u32>]) -> Vec<bool> {
    let mut open: Vec<usize> = (0..is_reached.len()).filter(|&block| is_reached[block]).collect();
    while let Some(block) = open.pop() {
        for &to in &onwards[block] {
            if !core::mem::replace(&mut is_reached[to as usize], true) {
                open.push(to as usize);
            }
        }
    }
    is_reached
}

/// The strongly connected parts of a graph: a number for each block.
fn parts(onwards: &[Vec<u32>], backwards: &[Vec<u32>]) -> Vec<u32> {
    // Blocks in the order in which a search leaves them for the last time.
    let (mut left, mut is_seen) = (Vec::with_capacity(onwards.len()), vec![false; onwards.len()]);
    for block in 0..onwards.len() {
        if core::mem::replace(&mut is_seen[block], true) {
            continue;
        }
        let mut open = vec![(block, 0)];
        while let Some((block, next)) = open.last_mut() {
            let Some(&to) = onwards[*block].get(*next) else {
                left.push(*block);
                open.pop();
                continue;
            };
            *next += 1;
            if !core::mem::replace(&mut is_seen[to as usize], true) {
                open.push((to as usize, 0));
            }
        }
    }
    let mut parts = vec![u32::MAX; onwards.len()];
    for (number, &block) in (0..).zip(left.iter().rev()) {
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            if parts[block] == u32::MAX {
                parts[block] = number;
                open.extend(backwards[block].iter().map(|&from| from as usize));
            }
        }
    }
    parts
}

/// A search for the paths that begin at a block. It enters only blocks that some path leads through, so its time grows
/// with the paths.
struct Walk<'g> {
    graph: &'g Graph,
    start: u32,
    /// Each block, the place of its next arc, and whether it leads on.
    path: Vec<(u32, usize, bool)>,
    is_on_path: Vec<bool>,
    /// How many blocks that lead to the start are not on the path.
    before: usize,
    /// The last search for a way back that has seen each block.
    seen: Vec<u64>,
    search: u64,
    steps: u64,
}

impl Walk<'_> {
    fn from(
        &mut self,
        start: u32,
        take: &mut impl FnMut(&[u32]) -> Result<(), PathsError>,
    ) -> Result<(), PathsError> {
        self.start = start;
        self.before = self.graph.backwards[start as usize].len();
        self.push(start);
        while let Some(&mut (block, ref mut next, ref mut leads_on)) = self.path.last_mut() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(PathsError::TooMany);
            }
            let Some(&to) = self.graph.onwards[block as usize].get(*next) else {
                if !*leads_on && self.before == 0 {
                    self.pass(None, take)?;
                }
                self.pop();
                continue;
            };
            *next += 1;
            if to == start {
                *leads_on = true;
                self.pass(Some(start), take)?;
            } else if !self.is_on_path[to as usize] {
                *leads_on = true;
                if self.is_worth_it(to) {
                    self.push(to);
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, block: u32) {
        self.is_on_path[block as usize] = true;
        self.path.push((block, 0, false));
        self.before -= usize::from(self.leads_to_start(block));
    }

    fn pop(&mut self) {
        let Some((block, ..)) = self.path.pop() else { return };
        self.is_on_path[block as usize] = false;
        self.before += usize::from(self.leads_to_start(block));
    }

    fn leads_to_start(&self, block: u32) -> bool {
        self.graph.onwards[block as usize].binary_search(&self.start).is_ok()
    }

    fn pass(
        &mut self,
        last: Option<u32>,
        take: &mut impl FnMut(&[u32]) -> Result<(), PathsError>,
    ) -> Result<(), PathsError> {
        self.steps += self.path.len() as u64;
        let blocks: Vec<u32> = self.path.iter().map(|(block, ..)| *block).chain(last).collect();
        take(&blocks)
    }

    /// Whether paths go on to a block: if it leads back to the start, there is a way round, or else if no block before
    /// the start can be put before it.
    fn is_worth_it(&mut self, block: u32) -> bool {
        self.before == 0 || self.leads_back(block)
    }

    /// Whether a block leads to the start without blocks of the path.
    fn leads_back(&mut self, block: u32) -> bool {
        let graph = self.graph;
        let part = graph.parts[self.start as usize];
        if graph.parts[block as usize] != part {
            return false;
        }
        self.search += 1;
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            for &to in &graph.onwards[block as usize] {
                self.steps += 1;
                if to == self.start {
                    return true;
                }
                let is_free = graph.parts[to as usize] == part && !self.is_on_path[to as usize];
                if is_free
                    && core::mem::replace(&mut self.seen[to as usize], self.search) != self.search
                {
                    open.push(to);
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of a graph; all are missed.
    fn paths(number: u32, blocks: u32, arcs: &[(u32, u32)]) -> Result<Vec<Vec<u32>>, PathsError> {
        let arcs = arcs.iter().map(|&(from, to)| PathArc { from, to, outcome: None });
        let paths = Paths::new(number, Vec::new(), blocks, arcs, core::iter::empty());
        Ok(paths.missed()?.into_iter().map(|missed| missed.blocks).collect())
    }

    /// Graphs of functions, with what gcov 15 lists.
    #[test]
    fn as_gcov_lists_them() {
        // A loop: its rounds, and the ways into it, through it and out of it.
        let arcs = [(0, 2), (2, 4), (3, 4), (4, 3), (4, 5), (5, 1)];
        let expected: [&[u32]; 5] = [&[2, 4, 3], &[2, 4, 5], &[3, 4, 3], &[3, 4, 5], &[4, 3, 4]];
        assert_eq!(paths(5, 6, &arcs).unwrap(), expected);
        // A loop without an end: no path leads into it.
        let arcs = [(0, 2), (2, 3), (3, 4), (4, 3), (2, 5), (5, 1)];
        let expected: [&[u32]; 3] = [&[2, 5], &[3, 4, 3], &[4, 3, 4]];
        assert_eq!(paths(3, 6, &arcs).unwrap(), expected);
        // One block, a block that leads to itself, one that nothing leads to, and one without arcs.
        assert_eq!(paths(1, 3, &[(0, 2), (2, 1)]).unwrap(), [[2]]);
        assert_eq!(paths(1, 3, &[(0, 2), (2, 2)]).unwrap(), [[2, 2]]);
        let expected: [&[u32]; 2] = [&[2, 4], &[3, 4]];
        assert_eq!(paths(2, 6, &[(0, 2), (2, 4), (3, 4), (4, 1)]).unwrap(), expected);
    }

    #[test]
    fn other_numbers() {
        let arcs = [(0, 2), (2, 3), (2, 4), (3, 4), (4, 1)];
        let number = |number| paths(number, 5, &arcs).map(|paths| paths.len());
        assert_eq!(number(2), Ok(2));
        assert_eq!(number(1), Err(PathsError::Number { expected: 1, found: 2 }));
        assert_eq!(number(3), Err(PathsError::Number { expected: 3, found: 2 }));
    }

    /// The search goes only where paths are, and ends when it has found one too many.
    #[test]
    fn many_paths() {
        // Two ways at each of 40 places, within a loop that only one block at its beginning leads back to.
        let mut arcs = vec![(0, 2), (2, 3), (3, 2), (2, 4)];
        for block in (4..124).step_by(3) {
            arcs.extend([
                (block, block + 1),
                (block, block + 2),
                (block + 1, block + 3),
                (block + 2, block + 3),
            ]);
        }
        arcs.push((124, 1));
        let found = paths(10_000, 125, &arcs);
        assert_eq!(found, Err(PathsError::Number { expected: 10_000, found: 10_001 }));
        // Paths that begin in the loop would leave out the block before it.
        arcs.extend([(124, 125), (125, 124)]);
        assert_eq!(paths(u32::MAX, 126, &arcs), Err(PathsError::TooMany));
    }
}
