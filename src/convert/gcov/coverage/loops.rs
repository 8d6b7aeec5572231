//! How often control went round within the blocks of one line.
//!
//! Each cycle of arcs takes as many rounds as its rarest arc allows, and what it takes is not there for others. A
//! cycle is looked for from each block, through that block and later ones, the arcs in their order.

use alloc::vec;
use alloc::vec::Vec;

use super::arcs_by_block::ArcsByBlock;
use crate::formats::gcno::Arc;

/// The number of rounds. `blocks` are sorted.
pub fn rounds(blocks: &[u32], of_function: &ArcsByBlock, arcs: &[Arc], counts: &[i64]) -> i64 {
    let mut open: Vec<Vec<OpenArc>> = Vec::with_capacity(blocks.len());
    for &block in blocks {
        let open_arc = |arc: usize| {
            let to = blocks.binary_search(&arcs[arc].destination).ok()?;
            (counts[arc] > 0).then_some(OpenArc { to, left: counts[arc] })
        };
        open.push(of_function.outwards(block).filter_map(open_arc).collect());
    }
    let mut all = 0i64;
    let mut seen = Seen { turns: vec![0; blocks.len()], turn: 0 };
    for start in 0..blocks.len() {
        // A cycle leads back at some place.
        while let Some(cycle) = cycle(start, &open, &mut seen) {
            let left = cycle.iter().map(|&(from, number)| open[from][number].left).min();
            let left = left.unwrap_or(0);
            all = all.saturating_add(left);
            for (from, number) in cycle {
                open[from][number].left -= left;
            }
        }
    }
    all
}

/// An arc to another block of the line.
struct OpenArc {
    to: usize,
    /// Times that no cycle has taken.
    left: i64,
}

/// The blocks that a search has seen.
struct Seen {
    /// The last search that has seen each block.
    turns: Vec<u64>,
    /// The number of this search.
    turn: u64,
}

impl Seen {
    /// Whether this search sees the block for the first time.
    fn insert(&mut self, block: usize) -> bool {
        core::mem::replace(&mut self.turns[block], self.turn) != self.turn
    }
}

/// The first cycle through a block and later ones: its arcs, by block and number there.
fn cycle(start: usize, open: &[Vec<OpenArc>], seen: &mut Seen) -> Option<Vec<(usize, usize)>> {
    seen.turn += 1;
    seen.insert(start);
    // The block where each step starts, and the number of its next arc.
    let mut path: Vec<(usize, usize)> = [(start, 0)].into();
    while let Some((block, next)) = path.last_mut() {
        let Some(arc) = open[*block].get(*next) else {
            path.pop();
            continue;
        };
        *next += 1;
        if arc.left <= 0 || arc.to < start {
            continue;
        }
        if arc.to == start {
            return Some(path.into_iter().map(|(block, next)| (block, next - 1)).collect());
        }
        if seen.insert(arc.to) {
            path.push((arc.to, 0));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_in_loops() {
        let arcs = [(2, 3), (3, 3), (3, 2), (2, 4)].map(|(from, to)| Arc::new(from, to, 0));
        let counts = [10, 5, 9, 1];
        let by_block = ArcsByBlock::new(5, &arcs);
        let rounds = |blocks: &[u32]| rounds(blocks, &by_block, &arcs, &counts);
        assert_eq!([rounds(&[2, 3]), rounds(&[2]), rounds(&[3])], [14, 0, 5]);
    }
}
