//! Which blocks of machine code lie on one path: each path through one of them leads through the other.
//!
//! ```c
//! int main(void)
//! {               /* the compiler spread this line's instructions over two blocks, one behind the other */
//! ```
//!
//! The instructions of a line may stand in several blocks. Where control goes either way, the line was executed as
//! often as all of them. Where one block leads to the other, it was executed as often as one of them. That is so if
//! one is a dominator or a post-dominator of the other.

use alloc::vec;
use alloc::vec::Vec;

use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::program::listing::{Block, Listing};

/// The dominators and the post-dominators of a listing's blocks.
pub struct Paths {
    dominators: Tree,
    post_dominators: Tree,
}

/// A tree of dominators. For each block: the times at which a depth-first search enters and leaves it.
struct Tree(Vec<(u32, u32)>);

impl Paths {
    /// Finds them.
    pub fn of(listing: &Listing) -> Self {
        let Listing { blocks, edges, .. } = listing;
        let back = edges.iter().map(|&(from, to)| (to, from));
        Self {
            dominators: Tree::of(blocks, |block| block.more_into, edges.iter().copied()),
            post_dominators: Tree::of(blocks, |block| block.more_out, back),
        }
    }

    /// Whether two blocks lie on one path.
    pub fn has(&self, one: u32, other: u32) -> bool {
        [&self.dominators, &self.post_dominators]
            .iter()
            .any(|tree| tree.is_above(one, other) || tree.is_above(other, one))
    }
}

impl Tree {
    /// The tree of a graph that control enters at some blocks.
    fn of(
        blocks: &[Block],
        is_entry: fn(&Block) -> bool,
        edges: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        // A vertex behind the blocks leads to all entries, and to itself if there are none.
        let root = blocks.len() as u32;
        let entries = blocks.iter().zip(0..).filter(|(block, _)| is_entry(block));
        let entries = entries.map(|(_, block)| (root, block));
        let graph = DiGraph::<(), ()>::from_edges(edges.chain(entries).chain([(root, root)]));
        let found = simple_fast(&graph, NodeIndex::new(root as usize));
        let mut below = vec![Vec::new(); blocks.len() + 1];
        for block in 0..root {
            if let Some(above) = found.immediate_dominator(NodeIndex::new(block as usize)) {
                below[above.index()].push(block);
            }
        }
        Self::numbered(root, &below)
    }

    fn numbered(root: u32, below: &[Vec<u32>]) -> Self {
        // Blocks that control does not reach are above no block.
        let (mut times, mut time) = (vec![(1, 0); below.len()], 0);
        let mut open = vec![(root, 0)];
        while let Some((block, next)) = open.last_mut() {
            time += 1;
            let of_block = &mut times[*block as usize];
            if *next == 0 {
                of_block.0 = time;
            }
            of_block.1 = time;
            match below[*block as usize].get(*next) {
                Some(&child) => {
                    *next += 1;
                    open.push((child, 0));
                }
                None => drop(open.pop()),
            }
        }
        Self(times)
    }

    /// Whether a block is an ancestor of another one, or the block itself.
    fn is_above(&self, above: u32, block: u32) -> bool {
        let ((first, last), (time, _)) = (self.0[above as usize], self.0[block as usize]);
        (first..=last).contains(&time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A branch with two arms, then a loop.
    #[test]
    fn arms_are_no_path_and_the_rest_is_one() {
        let edges = vec![(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 3), (4, 5)];
        let mut blocks = vec![Block { more_into: false, more_out: false, inherits: false }; 6];
        blocks[0].more_into = true;
        blocks[5].more_out = true;
        let paths = Paths::of(&Listing { blocks, edges, ..Listing::default() });
        for (one, other) in [(0, 1), (1, 3), (0, 5), (3, 4), (4, 5), (2, 2)] {
            assert!(paths.has(one, other) && paths.has(other, one), "{one} {other}");
        }
        assert!(!paths.has(1, 2));
    }
}
