//! Counts of lines from those of blocks and arcs.
//!
//! A line was executed as often as control came into the blocks that end in it from elsewhere, and as often as loops
//! went round within it. A block ends in the last of its lines, by their numbers, of each of its files. gcov also
//! counts it there for each further file that the notes name without a line. A line in which no block ends has the sum
//! of its blocks. Functions that start at the same line, such as the instances of a template, have lines of their own,
//! which are added at last; those of other functions are counted together.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::Counted;
use super::loops::rounds;
use crate::coverage::File;
use crate::coverage::decisions::Decision;

/// The lines of an object.
pub struct Lines {
    /// The lines of all functions that share none with another one of the same start, then those of each other
    /// function.
    parts: Vec<Part>,
}

/// Lines by file and number.
type Part = BTreeMap<(u32, u32), Line>;

#[derive(Default)]
struct Line {
    /// The sum of its blocks.
    sum: u64,
    /// Whether it has a block that was not executed, and would be without an exception.
    is_left_out: bool,
    /// The blocks that end in it, by function and number.
    blocks: Vec<(usize, u32)>,
}

impl Lines {
    /// The lines of these functions.
    pub fn of(functions: &[Counted<'_>]) -> Self {
        let mut starts: HashMap<(u32, u32), u32> = HashMap::with_capacity(functions.len());
        let start = |function: &Counted<'_>| (function.notes.file, function.notes.start_line);
        for function in functions {
            *starts.entry(start(function)).or_default() += 1;
        }
        let mut parts = vec![Part::new()];
        for (number, function) in functions.iter().enumerate() {
            let ordinary = function.by_block.ordinary(function.notes.blocks, function.arcs);
            let is_one_of_several = starts[&start(function)] > 1;
            let mut own = Part::new();
            for lines in function.lines.chunk_by(|line, _| line.ends == 0) {
                let last = lines.iter().map(|line| line.line).max();
                // gcov takes the last block for the exit, which has been the second one for long.
                let last = last.filter(|_| lines[0].block + 1 != function.notes.blocks);
                let mut ends = lines.last().map_or(0, |line| line.ends);
                for line in lines {
                    let within = function.notes.start_line..=function.notes.end_line;
                    let is_own = is_one_of_several
                        && line.file == function.notes.file
                        && within.contains(&line.line);
                    let part = if is_own { &mut own } else { &mut parts[0] };
                    let here = part.entry((line.file, line.line)).or_default();
                    let count = function.flow.blocks[line.block as usize].max(0) as u64;
                    here.sum = here.sum.saturating_add(count);
                    here.is_left_out |= count == 0 && ordinary[line.block as usize];
                    if Some(line.line) == last {
                        let block = (number, line.block);
                        here.blocks.extend((0..core::mem::take(&mut ends)).map(|_| block));
                    }
                }
            }
            if !own.is_empty() {
                parts.push(own);
            }
        }
        Self { parts }
    }

    /// The line in which each block ends, by file.
    fn ends(&self) -> HashMap<(u32, (usize, u32)), u32> {
        let lines = self.parts.iter().flatten();
        let ends = lines.flat_map(|(&(file, number), line)| {
            line.blocks.iter().map(move |&block| ((file, block), number))
        });
        ends.collect()
    }

    /// Adds the counts of lines and branches, and the decisions to the files.
    pub fn add_to(&self, functions: &[Counted<'_>], files: &mut [File]) {
        let ends = self.ends();
        for (&(file, number), line) in self.parts.iter().flatten() {
            let end_of = |block: &(usize, u32)| ends.get(&(file, *block)).copied().unwrap_or(0);
            let file = &mut files[file as usize];
            let count = line.count(functions);
            let sum = file.lines.entry(number).or_default();
            *sum = sum.saturating_add(count);
            for (place, way) in line.branches(functions).enumerate() {
                let Way { taken, is_exception, to } = way;
                let branch = file.branches.entry((number, place as u32)).or_default();
                branch.is_exception |= is_exception;
                branch.leads_to = branch.leads_to.max(end_of(&to));
                if count > 0 || !line.is_left_out {
                    let sum = branch.count.get_or_insert(0);
                    *sum = sum.saturating_add(taken);
                }
            }
            for (place, decision) in line.decisions(functions).enumerate() {
                file.add_decision(number, place as u32, decision.clone());
            }
        }
    }
}

/// An arc out of a block with several successors.
struct Way {
    taken: u64,
    is_exception: bool,
    /// The function, and its block to which it leads.
    to: (usize, u32),
}

impl Line {
    /// How often it was executed.
    fn count(&self, functions: &[Counted<'_>]) -> u64 {
        if self.blocks.is_empty() {
            return self.sum;
        }
        let mut count = 0i64;
        for blocks in self.blocks.chunk_by(|a, b| a.0 == b.0) {
            let Counted { arcs, flow, by_block, .. } = &functions[blocks[0].0];
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

    /// The decisions that begin in its blocks.
    fn decisions<'c>(&self, functions: &'c [Counted<'_>]) -> impl Iterator<Item = &'c Decision> {
        self.blocks.iter().flat_map(|&(function, block)| {
            let decisions = functions[function].decisions.iter();
            decisions.filter(move |(first, _)| *first == block).map(|(_, decision)| decision)
        })
    }

    /// The outgoing arcs of blocks with several successors, by destination.
    fn branches(&self, functions: &[Counted<'_>]) -> impl Iterator<Item = Way> {
        self.blocks.iter().flat_map(|&(function, block)| {
            let Counted { arcs, flow, by_block, .. } = &functions[function];
            let out = || by_block.outwards(block);
            let is_call = out().any(|arc| arcs[arc].is_fake());
            let mut real: Vec<usize> = out().filter(|&arc| !arcs[arc].is_fake()).collect();
            real.sort_by_key(|&arc| arcs[arc].destination);
            if real.len() < 2 {
                real.clear();
            }
            real.into_iter().map(move |arc| {
                let is_exception = is_call && !arcs[arc].is_fall_through();
                let taken = flow.arcs[arc].max(0) as u64;
                Way { taken, is_exception, to: (function, arcs[arc].destination) }
            })
        })
    }
}
