//! The starts of loops that have no block.
//!
//! ```c
//! for (int i = 0; i < n; i++)
//! ```
//!
//! has three statements on one line. The first is often no more than a value that comes with the way into the loop: its
//! block is gone, and the notes have the line in two blocks only. Its discriminator remains, and its count is that of
//! the arcs into the loop.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use hashbrown::HashSet;

use crate::formats::gcno::Arc;
use crate::placement::solve::counted::{Counted, Line};
use crate::placement::solve::flow::{EXIT, Flow};

/// The way into a loop.
pub struct Preheader {
    /// The loop's first block.
    pub head: u32,
    /// How often the loop was entered.
    pub count: i64,
}

/// A back edge: a loop's first block, and the block that leads back there.
type Loop = (u32, u32);

/// Memory to look for the loops of one function after the other.
#[derive(Default)]
pub struct LoopMemory {
    search: Search,
    entered: Vec<i64>,
    /// The counts of a line's blocks.
    counts: HashSet<i64>,
}

/// The lines of a function's blocks and of its preheaders, sorted, and the preheaders.
pub fn find<'f>(
    function: &'f Counted<'_>,
    flow: &Flow,
    memory: &mut LoopMemory,
) -> (Cow<'f, [Line]>, Vec<Preheader>) {
    let LoopMemory { search, entered, counts } = memory;
    let mut preheaders = Vec::new();
    search.run(function.notes.blocks, function.arcs());
    let loops = &search.found;
    if loops.is_empty() {
        return (Cow::Borrowed(&function.lines), preheaders);
    }
    entered_at(function, flow, loops, entered);
    let mut found = Vec::new();
    for lines in function.lines.chunk_by(|a, b| (a.file, a.line) == (b.file, b.line)) {
        let has = |block: u32| lines.binary_search_by_key(&block, |line| line.block).is_ok();
        let mut starts = lines.iter().filter(|line| is_for(loops, line.block, has)).peekable();
        if starts.peek().is_none() {
            continue;
        }
        counts.clear();
        counts.extend(lines.iter().map(|line| flow.blocks[line.block as usize]));
        for line in starts {
            let count = entered[line.block as usize];
            if !counts.contains(&count) {
                let block = function.notes.blocks + preheaders.len() as u32;
                found.push(Line { block, ..*line });
                preheaders.push(Preheader { head: line.block, count });
            }
        }
    }
    if found.is_empty() {
        return (Cow::Borrowed(&function.lines), preheaders);
    }
    found.extend(&function.lines);
    // Both are sorted. A loop's preheader comes before its blocks.
    found.sort_by_key(|line| (line.file, line.line));
    (Cow::Owned(found), preheaders)
}

/// For each block: the executions of the arcs into it that do not come from a loop.
fn entered_at(function: &Counted<'_>, flow: &Flow, loops: &[Loop], entered: &mut Vec<i64>) {
    entered.clear();
    entered.resize(function.notes.blocks as usize, 0);
    for (arc, count) in function.arcs().iter().zip(&flow.arcs) {
        if !arc.is_fake() && loops.binary_search(&(arc.destination, arc.source)).is_err() {
            let sum = &mut entered[arc.destination as usize];
            *sum = sum.saturating_add(*count);
        }
    }
}

/// Whether a block starts a loop, and a line that has it also has the end.
fn is_for(loops: &[Loop], block: u32, has: impl Fn(u32) -> bool) -> bool {
    let first = loops.partition_point(|&(head, _)| head < block);
    let mut its = loops[first..].iter().take_while(|&&(head, _)| head == block);
    its.any(|&(head, end)| head != end && has(end))
}

/// Whether the search has reached a block, and has left it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// Finds back edges depth-first. The search needs no recursion, unlike petgraph's: functions may have hundreds of
/// thousands of blocks.
#[derive(Default)]
struct Search {
    /// Where each block may go on, sorted.
    next: Vec<(u32, u32)>,
    states: Vec<State>,
    /// The blocks from the entry to where the search is, each with the place of its next way.
    way: Vec<(u32, usize)>,
    /// The loops, sorted.
    found: Vec<Loop>,
}

impl Search {
    fn run(&mut self, blocks: u32, arcs: &[Arc]) {
        let Self { next, states, way, found } = self;
        found.clear();
        next.clear();
        let real = arcs.iter().filter(|arc| !arc.is_fake());
        next.extend(real.map(|arc| (arc.source, arc.destination)));
        // Most functions have no loops, and blocks with numbers in the order of their ways.
        let number = |block: u32| if block == EXIT { u32::MAX } else { block };
        if blocks == 0 || next.iter().all(|&(from, to)| number(from) < number(to)) {
            return;
        }
        next.sort_unstable();
        let first_of = |block: u32| next.partition_point(|&(source, _)| source < block);
        states.clear();
        states.resize(blocks as usize, State::New);
        way.push((0, first_of(0)));
        while let Some((block, place)) = way.last_mut() {
            states[*block as usize] = State::Open;
            let Some(&(_, to)) = next.get(*place).filter(|(source, _)| source == block) else {
                states[*block as usize] = State::Done;
                way.pop();
                continue;
            };
            *place += 1;
            match states[to as usize] {
                State::New => way.push((to, first_of(to))),
                State::Open => found.push((to, *block)),
                State::Done => {}
            }
        }
        found.sort_unstable();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arcs: &[(u32, u32)]) -> Vec<Loop> {
        let blocks = arcs.iter().map(|&(from, to)| from.max(to) + 1).max().unwrap_or(0);
        let arcs: Vec<Arc> = arcs.iter().map(|&(from, to)| Arc::new(from, to, 0)).collect();
        let mut search = Search::default();
        search.run(blocks, &arcs);
        search.found
    }

    #[test]
    fn loops_within_loops() {
        // 2 starts the outer loop and 5 ends it; 3 and 4 are the inner one; 6 leads to itself.
        let arcs = [(0, 2), (2, 3), (3, 4), (4, 3), (3, 5), (5, 2), (2, 6), (6, 6), (6, 1)];
        assert_eq!(of(&arcs), [(2, 5), (3, 4), (6, 6)]);
        assert_eq!(of(&[(0, 2), (0, 3), (2, 3), (3, 1)]), []);
        assert_eq!(of(&[]), []);
    }

    #[test]
    fn a_line_with_the_start_and_the_end_of_a_loop() {
        let loops = [(2, 5), (3, 4), (6, 6)];
        assert!(is_for(&loops, 3, |block| block == 4));
        assert!(!is_for(&loops, 3, |block| block == 5));
        assert!(!is_for(&loops, 6, |_| true));
        assert!(!is_for(&loops, 4, |_| true));
    }
}
