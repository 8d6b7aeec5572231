//! The arcs into and out of each block of a function.

use alloc::vec;
use alloc::vec::Vec;

use crate::formats::gcno::Arc;

/// The arcs of a function, by block.
pub struct ArcsByBlock {
    into: Grouped,
    out: Grouped,
}

impl ArcsByBlock {
    /// Those of a function with this number of blocks. The arcs' blocks must be below that.
    pub fn new(blocks: u32, arcs: &[Arc]) -> Self {
        let blocks = blocks as usize;
        let into = Grouped::new(blocks, arcs, |arc| arc.destination as usize);
        Self { into, out: Grouped::new(blocks, arcs, |arc| arc.source as usize) }
    }

    /// Indexes of the arcs into a block, in their order.
    pub fn inwards(&self, block: u32) -> impl Iterator<Item = usize> + Clone {
        self.into.of(block)
    }

    /// Indexes of the arcs out of a block, in their order.
    pub fn outwards(&self, block: u32) -> impl Iterator<Item = usize> + Clone {
        self.out.of(block)
    }

    /// For each block whether control comes there without an exception.
    pub fn ordinary(&self, blocks: u32, arcs: &[Arc]) -> Vec<bool> {
        let mut ordinary = vec![false; blocks as usize];
        let mut open: Vec<u32> = (blocks > 0).then_some(0).into_iter().collect();
        while let Some(block) = open.pop() {
            if core::mem::replace(&mut ordinary[block as usize], true) {
                continue;
            }
            // A call that may not return leads to handlers where it does not lead on. From the entry, fake arcs lead to
            // labels and to returns of setjmp.
            let is_call = block != 0 && self.outwards(block).any(|arc| arcs[arc].is_fake());
            let leads = |arc: &Arc| !is_call || arc.is_fake() || arc.is_fall_through();
            let next = self.outwards(block).map(|arc| &arcs[arc]).filter(|arc| leads(arc));
            open.extend(next.map(|arc| arc.destination));
        }
        ordinary
    }
}

struct Grouped {
    /// Where each block's arcs end.
    ends: Vec<usize>,
    arcs: Vec<usize>,
}

impl Grouped {
    fn new(blocks: usize, arcs: &[Arc], block: impl Fn(&Arc) -> usize) -> Self {
        let mut ends = vec![0; blocks];
        arcs.iter().for_each(|arc| ends[block(arc)] += 1);
        let mut start = 0;
        for end in &mut ends {
            // The start for now. Each arc moves it on.
            start += core::mem::replace(end, start);
        }
        let mut all = vec![0; arcs.len()];
        for (place, arc) in arcs.iter().enumerate() {
            let end = &mut ends[block(arc)];
            all[*end] = place;
            *end += 1;
        }
        Self { ends, arcs: all }
    }

    fn of(&self, block: u32) -> impl Iterator<Item = usize> + Clone {
        let block = block as usize;
        let start = block.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.arcs[start..self.ends[block]].iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arcs_of_blocks() {
        let arcs = [(0, 2), (2, 3), (3, 2), (3, 1)].map(|(from, to)| Arc::new(from, to, 0));
        let by_block = ArcsByBlock::new(4, &arcs);
        let into = [0, 1, 2, 3].map(|block| by_block.inwards(block).collect::<Vec<_>>());
        assert_eq!(into, [vec![], vec![3], vec![0, 2], vec![1]]);
        let out = [0, 1, 2, 3].map(|block| by_block.outwards(block).collect::<Vec<_>>());
        assert_eq!(out, [vec![0], vec![], vec![1], vec![2, 3]]);
    }
}
