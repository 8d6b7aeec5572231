//! Counts of lines from those of blocks and arcs.
//!
//! A line was executed as often as control came into the blocks that end in it from elsewhere, and as often as loops
//! went round within it. A block ends in the last of its lines, by their numbers, of each of its files. gcov also
//! counts it there for each further file that the notes name without a line. A line in which no block ends has the sum
//! of its blocks. Functions that start at the same line, such as the instances of a template, have lines of their own,
//! which are added at last; those of other functions are counted together.

use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Counted;
use super::loops::rounds;
use crate::coverage::{Branch, File};

/// The lines of an object: what each block adds to each, sorted by line.
pub struct Lines {
    entries: Vec<Entry>,
}

/// What a block adds to one of its lines.
struct Entry {
    place: Place,
    function: u32,
    block: u32,
    /// How often it ends in the line.
    ends: u32,
    /// Executions of the block.
    count: u64,
    /// Whether it was not executed, and would be without an exception.
    is_left_out: bool,
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// 0 for the lines of all functions that share none with another one of the same start, then a number for each
    /// other function.
    part: u32,
    file: u32,
    line: u32,
}

impl Place {
    /// Its place in the order, as one number.
    fn key(self) -> u128 {
        u128::from(self.part) << 64 | u128::from(self.file) << 32 | u128::from(self.line)
    }
}

impl Lines {
    /// The lines of these functions.
    pub fn of(functions: &[Counted<'_>]) -> Self {
        let mut starts: HashMap<(u32, u32), u32> = HashMap::with_capacity(functions.len());
        let start = |function: &Counted<'_>| (function.notes.file, function.notes.start_line);
        for function in functions {
            *starts.entry(start(function)).or_default() += 1;
        }
        let number = functions.iter().map(|function| function.lines.len()).sum();
        let mut lines = Self { entries: Vec::with_capacity(number) };
        for (number, function) in (0..).zip(functions) {
            let is_one_of_several = starts[&start(function)] > 1;
            lines.add(number, function, if is_one_of_several { number + 1 } else { 0 });
        }
        // The blocks of a line stay in their order.
        lines.entries.sort_by_key(|entry| entry.place.key());
        lines
    }

    /// Adds the blocks of a function. `part` is that of its own lines.
    fn add(&mut self, number: u32, function: &Counted<'_>, part: u32) {
        let Counted { notes, arcs, flow, by_block, .. } = function;
        let has_zeros = flow.blocks.iter().any(|&count| count <= 0);
        let ordinary = if has_zeros { by_block.ordinary(notes.blocks, arcs) } else { Vec::new() };
        for lines in function.lines.chunk_by(|line, _| line.ends == 0) {
            let last = lines.iter().map(|line| line.line).max();
            // gcov takes the last block for the exit, which has been the second one for long.
            let last = last.filter(|_| lines[0].block + 1 != notes.blocks);
            let mut ends = lines.last().map_or(0, |line| line.ends);
            for line in lines {
                let is_own = line.file == notes.file
                    && (notes.start_line..=notes.end_line).contains(&line.line);
                let part = if is_own { part } else { 0 };
                let count = flow.blocks[line.block as usize].max(0) as u64;
                let is_last = Some(line.line) == last;
                self.entries.push(Entry {
                    place: Place { part, file: line.file, line: line.line },
                    function: number,
                    block: line.block,
                    ends: if is_last { core::mem::take(&mut ends) } else { 0 },
                    count,
                    is_left_out: count == 0 && ordinary[line.block as usize],
                });
            }
        }
    }

    /// Adds the counts of lines and branches, and the decisions to the files, which have none yet.
    pub fn add_to(&self, functions: &[Counted<'_>], files: &mut [File]) {
        let ends = Ends::of(&self.entries, functions);
        let shared = self.entries.partition_point(|entry| entry.place.part == 0);
        let (shared, own) = self.entries.split_at(shared);
        for entries in shared.chunk_by(|a, b| a.place.file == b.place.file) {
            // To build a tree of what is sorted is faster than to insert one after the other.
            let (mut lines, mut branches) = (Vec::new(), Vec::new());
            let file = &mut files[entries[0].place.file as usize];
            each_line(entries, functions, |line| {
                lines.push((line.number(), line.count));
                line.each_branch(functions, &ends, |place, branch| branches.push((place, branch)));
                line.add_decisions(functions, file);
            });
            (file.lines, file.branches) =
                (lines.into_iter().collect(), branches.into_iter().collect());
        }
        each_line(own, functions, |line| {
            let file = &mut files[line.entries[0].place.file as usize];
            let sum = file.lines.entry(line.number()).or_default();
            *sum = sum.saturating_add(line.count);
            line.each_branch(functions, &ends, |place, more| {
                let branch = file.branches.entry(place).or_default();
                branch.is_exception |= more.is_exception;
                branch.leads_to = branch.leads_to.max(more.leads_to);
                if let Some(taken) = more.count {
                    let sum = branch.count.get_or_insert(0);
                    *sum = sum.saturating_add(taken);
                }
            });
            line.add_decisions(functions, file);
        });
    }
}

/// Passes each line of sorted entries to `take`.
fn each_line(entries: &[Entry], functions: &[Counted<'_>], mut take: impl FnMut(&Line<'_>)) {
    let mut blocks = Vec::new();
    for entries in entries.chunk_by(|a, b| a.place == b.place) {
        blocks.clear();
        for entry in entries {
            let block = (entry.function as usize, entry.block);
            blocks.extend((0..entry.ends).map(|_| block));
        }
        take(&Line::new(entries, &blocks, functions));
    }
}

/// The line in which each block ends, by file. Most blocks end in one file.
struct Ends {
    /// Where the blocks of each function start.
    starts: Vec<usize>,
    /// File and line of each block; no line if it ends nowhere.
    first: Vec<(u32, u32)>,
    /// The lines in further files.
    others: HashMap<(u32, usize), u32>,
}

impl Ends {
    fn of(entries: &[Entry], functions: &[Counted<'_>]) -> Self {
        let mut all = 0;
        let starts = functions.iter().map(|function| {
            let start = all;
            all += function.notes.blocks as usize;
            start
        });
        let starts = starts.collect();
        let mut ends = Self { starts, first: vec![(0, 0); all], others: HashMap::new() };
        for Entry { place, function, block, .. } in entries.iter().filter(|entry| entry.ends > 0) {
            let block = ends.starts[*function as usize] + *block as usize;
            let first = &mut ends.first[block];
            if first.1 == 0 || first.0 == place.file {
                *first = (place.file, place.line);
            } else {
                ends.others.insert((place.file, block), place.line);
            }
        }
        ends
    }

    /// The line of the file in which a block of a function ends; 0 if it ends elsewhere.
    fn line(&self, file: u32, (function, block): (usize, u32)) -> u32 {
        let block = self.starts[function] + block as usize;
        match self.first[block] {
            (first, line) if first == file => line,
            _ => self.others.get(&(file, block)).copied().unwrap_or(0),
        }
    }
}

/// A line with all that blocks add to it.
struct Line<'l> {
    entries: &'l [Entry],
    /// The blocks that end in it, by function and number.
    blocks: &'l [(usize, u32)],
    /// How often it was executed.
    count: u64,
}

impl<'l> Line<'l> {
    fn new(entries: &'l [Entry], blocks: &'l [(usize, u32)], functions: &[Counted<'_>]) -> Self {
        let line = Self { entries, blocks, count: 0 };
        Self { count: line.counted(functions), ..line }
    }

    fn number(&self) -> u32 {
        self.entries[0].place.line
    }

    fn counted(&self, functions: &[Counted<'_>]) -> u64 {
        if self.blocks.is_empty() {
            return self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.count));
        }
        let mut count = 0i64;
        for blocks in self.blocks.chunk_by(|a, b| a.0 == b.0) {
            let Counted { arcs, flow, by_block, .. } = &functions[blocks[0].0];
            if let [(_, block)] = *blocks {
                // Rounds of a block alone are executions of arcs to itself.
                let arcs = by_block.inwards(block).map(|arc| (arcs[arc].source, flow.arcs[arc]));
                let arcs = arcs.map(|(from, n)| if from == block { n.max(0) } else { n });
                count = arcs.fold(count, i64::saturating_add);
                continue;
            }
            let mut own: Vec<u32> = blocks.iter().map(|&(_, block)| block).collect();
            own.sort_unstable();
            own.dedup();
            let is_own = |block: u32| own.binary_search(&block).is_ok();
            for &(_, block) in blocks {
                let entries = by_block.inwards(block).filter(|&arc| !is_own(arcs[arc].source));
                count = entries.map(|arc| flow.arcs[arc]).fold(count, i64::saturating_add);
            }
            count = count.saturating_add(rounds(&own, by_block, arcs, &flow.arcs));
        }
        count.max(0) as u64
    }

    /// Adds the decisions that begin in its blocks.
    fn add_decisions(&self, functions: &[Counted<'_>], file: &mut File) {
        let decisions = self.blocks.iter().flat_map(|&(function, block)| {
            let decisions = functions[function].decisions.iter();
            decisions.filter(move |(first, _)| *first == block).map(|(_, decision)| decision)
        });
        for (place, decision) in (0..).zip(decisions) {
            file.add_decision(self.number(), place, decision.clone());
        }
    }

    /// Passes the outgoing arcs of blocks with several successors to `take`, by destination, each with its line and its
    /// number there.
    fn each_branch(
        &self,
        functions: &[Counted<'_>],
        ends: &Ends,
        mut take: impl FnMut((u32, u32), Branch),
    ) {
        // Blocks that were not executed, and would be without an exception.
        let has_count = self.count > 0 || !self.entries.iter().any(|entry| entry.is_left_out);
        let (file, mut places) = (self.entries[0].place.file, 0..);
        let mut real: Vec<usize> = Vec::new();
        for &(function, block) in self.blocks {
            let Counted { arcs, flow, by_block, .. } = &functions[function];
            real.clear();
            real.extend(by_block.outwards(block).filter(|&arc| !arcs[arc].is_fake()));
            if real.len() < 2 {
                continue;
            }
            real.sort_by_key(|&arc| arcs[arc].destination);
            let is_call = by_block.outwards(block).any(|arc| arcs[arc].is_fake());
            for (&arc, place) in real.iter().zip(&mut places) {
                let branch = Branch {
                    block: 0,
                    count: has_count.then(|| flow.arcs[arc].max(0) as u64),
                    is_exception: is_call && !arcs[arc].is_fall_through(),
                    leads_to: ends.line(file, (function, arcs[arc].destination)),
                };
                take((self.number(), place), branch);
            }
        }
    }
}
