//! Solves a function's control-flow graph for the arcs that have no counter.
//!
//! The instrumented arcs are those off a spanning tree. What flows into a block flows out of it, so every
//! other arc is a sum or difference of known ones. The result is unique, and the order of solving does not
//! matter. The entry has no predecessors and the exit no successors to reckon with.
//!
//! Counts of fake arcs may be negative: a call of `fork` returns once more than it was made. No other count
//! can be negative. Small negative counts come from processes that replaced themselves in the middle of the
//! function: the graph does not know that a call of `exec` may not return. Large ones come from torn
//! counters.

use alloc::vec::Vec;

use crate::formats::gcno::Arc;

const ENTRY: u32 = 0;
/// The block that ends every function.
pub const EXIT: u32 = 1;

/// The counts of a function's blocks and arcs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Executions of each block.
    pub blocks: Vec<i64>,
    /// Executions of each arc, in the order of the notes.
    pub arcs: Vec<i64>,
    /// Whether processes left the function in the middle. The counts may then be off by as much as was
    /// allowed.
    pub mended: bool,
}

/// Why there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowError {
    /// The number of counters is not the number of arcs that have one.
    Counters {
        /// Arcs off the tree.
        expected: usize,
        /// Counters.
        found: usize,
    },
    /// The arcs without counters are no spanning tree.
    Unsolvable,
    /// A block, or an arc that is not fake, has a negative count.
    Negative,
}

impl core::fmt::Display for FlowError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match *self {
            Self::Counters { expected, found } => {
                write!(f, "expected {expected} arc counters, found {found}")
            }
            Self::Unsolvable => f.write_str("the graph cannot be solved"),
            Self::Negative => f.write_str("impossible flow: a negative count"),
        }
    }
}

impl core::error::Error for FlowError {}

impl Flow {
    /// Solves for `blocks` blocks. `counters` belong to the arcs off the tree.
    ///
    /// The arcs' blocks must be below `blocks`. Up to `left` processes may have left the function in
    /// the middle.
    pub fn solve(
        blocks: u32,
        arcs: &[Arc],
        counters: &[i64],
        left: i64,
        memory: &mut FlowMemory,
    ) -> Result<Self, FlowError> {
        let expected = arcs.iter().filter(|arc| !arc.is_on_tree()).count();
        if expected != counters.len() {
            return Err(FlowError::Counters { expected, found: counters.len() });
        }
        // Of a sum that has reached the largest number, nobody knows how much is missing.
        let is_saturated = counters.contains(&i64::MAX);
        let left = if is_saturated { i64::MAX } else { left };
        let mut solver = Solver { is_saturated, ..Solver::new(blocks, arcs, memory) };
        let mut counters = counters.iter();
        for (place, _) in arcs.iter().enumerate().filter(|(_, arc)| !arc.is_on_tree()) {
            solver.set_arc(place, counters.next().copied().unwrap_or(0));
        }
        solver.run();
        solver.finish(left)
    }

    /// How often the function was entered at its start, and not elsewhere, as after `setjmp`.
    pub fn entries(&self, arcs: &[Arc]) -> i64 {
        let entered = arcs.iter().zip(&self.arcs);
        entered
            .filter(|(arc, _)| arc.source == ENTRY && !arc.is_fake())
            .fold(0, |sum: i64, (_, count)| sum.saturating_add(*count))
    }
}

/// What is known about one side of a block: the arcs into it or out of it.
#[derive(Clone, Copy, Default)]
struct Side {
    arcs: u32,
    sum: i64,
    /// The largest of the known counts.
    largest: i64,
    unknown: u32,
    /// Exclusive-or of the indexes of the unknown arcs: the index itself once only one is left.
    places: usize,
}

impl Side {
    fn expect(&mut self, place: usize) {
        self.arcs += 1;
        self.unknown += 1;
        self.places ^= place;
    }

    fn learn(&mut self, place: usize, count: i64) {
        self.sum = self.sum.saturating_add(count);
        self.largest = self.largest.max(count);
        self.unknown -= 1;
        self.places ^= place;
    }
}

#[derive(Clone, Copy, Default)]
struct Block {
    count: Option<i64>,
    into: Side,
    out: Side,
}

/// Memory to solve the graphs of one function after the other.
#[derive(Default)]
pub struct FlowMemory {
    /// The counts of arcs, as far as known.
    counts: Vec<Option<i64>>,
    blocks: Vec<Block>,
    /// Blocks with something newly known about them.
    changed: Vec<u32>,
}

struct Solver<'n> {
    arcs: &'n [Arc],
    memory: &'n mut FlowMemory,
    /// Whether a counter has reached the largest number.
    is_saturated: bool,
}

impl<'n> Solver<'n> {
    fn new(blocks: u32, arcs: &'n [Arc], memory: &'n mut FlowMemory) -> Self {
        memory.counts.clear();
        memory.counts.resize(arcs.len(), None);
        memory.blocks.clear();
        memory.blocks.resize(blocks as usize, Block::default());
        memory.changed.clear();
        memory.changed.extend(0..blocks);
        let mut solver = Self { arcs, memory, is_saturated: false };
        for (place, arc) in arcs.iter().enumerate() {
            solver.block(arc.source).out.expect(place);
            solver.block(arc.destination).into.expect(place);
        }
        solver
    }

    fn block(&mut self, block: u32) -> &mut Block {
        &mut self.memory.blocks[block as usize]
    }

    fn set_arc(&mut self, place: usize, count: i64) {
        let Arc { source, destination, .. } = self.arcs[place];
        self.memory.counts[place] = Some(count);
        self.block(source).out.learn(place, count);
        self.block(destination).into.learn(place, count);
        self.memory.changed.extend([source, destination]);
    }

    fn run(&mut self) {
        while let Some(number) = self.memory.changed.pop() {
            let Block { count, into, out } = *self.block(number);
            let count = match count {
                Some(count) => count,
                None if number != EXIT && out.unknown == 0 => out.sum,
                None if number != ENTRY && into.unknown == 0 => into.sum,
                None => continue,
            };
            // Differences of such sums say too little: a block ran as often as any of its arcs.
            let least = if self.is_saturated { into.largest.max(out.largest) } else { i64::MIN };
            let count = count.max(least);
            self.block(number).count = Some(count);
            for side in [into, out] {
                if side.unknown == 1 && self.memory.counts[side.places].is_none() {
                    self.set_arc(side.places, count.saturating_sub(side.sum));
                }
            }
        }
    }

    fn finish(self, left: i64) -> Result<Flow, FlowError> {
        let FlowMemory { counts, blocks, .. } = self.memory;
        // A block without a way out took part with 0 executions, and gcov shows that. Thunks have such
        // blocks, since the compiler notes only their entry. The block was executed as often as it was
        // entered.
        let count =
            |block: &Block| if block.out.arcs > 0 { block.count } else { Some(block.into.sum) };
        // More counters than a spanning tree leaves can contradict each other.
        let is_balanced = |block: &Block| {
            let mut sides = [block.into, block.out].into_iter().filter(|side| side.arcs > 0);
            sides.all(|side| Some(side.sum) == count(block))
        };
        let (Some(mut arcs), Some(mut blocks)) =
            (all(counts.iter().copied()), all(blocks.iter().map(count)))
        else {
            return Err(FlowError::Unsolvable);
        };
        if !self.is_saturated && !self.memory.blocks.iter().all(is_balanced) {
            return Err(FlowError::Unsolvable);
        }
        let real = self.arcs.iter().zip(&mut arcs).filter(|(arc, _)| !arc.is_fake());
        let counts = real.map(|(_, count)| count).chain(&mut blocks);
        let mut mended = false;
        for count in counts.filter(|count| **count < 0) {
            if *count < left.saturating_neg() {
                return Err(FlowError::Negative);
            }
            *count = 0;
            mended = true;
        }
        Ok(Flow { blocks, arcs, mended })
    }
}

/// The counts, if all are known, in a vector that is no larger than needed.
fn all(counts: impl ExactSizeIterator<Item = Option<i64>>) -> Option<Vec<i64>> {
    let mut known = Vec::with_capacity(counts.len());
    for count in counts {
        known.push(count?);
    }
    Some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solve(blocks: u32, arcs: &[Arc], counters: &[i64], left: i64) -> Result<Flow, FlowError> {
        Flow::solve(blocks, arcs, counters, left, &mut FlowMemory::default())
    }

    const TREE: u32 = 1;
    const FAKE: u32 = 2;

    /// A loop with a call in it.
    fn looping() -> [Arc; 6] {
        [
            Arc::new(0, 2, TREE),
            Arc::new(2, 4, 0),
            Arc::new(3, 4, 0),
            Arc::new(3, 1, TREE | FAKE),
            Arc::new(4, 3, TREE),
            Arc::new(4, 1, 0),
        ]
    }

    #[test]
    fn a_loop() {
        let flow = solve(5, &looping(), &[1, 10, 1], 0).unwrap();
        assert_eq!(flow.blocks, [1, 1, 1, 10, 11]);
        assert_eq!(flow.arcs, [1, 1, 10, 0, 10, 1]);
        assert_eq!(flow.entries(&looping()), 1);
    }

    #[test]
    fn a_fork_returns_twice() {
        // Block 2 calls fork: into it once, out of it twice.
        let arcs = [
            Arc::new(0, 2, TREE),
            Arc::new(2, 3, 0),
            Arc::new(2, 1, TREE | FAKE),
            Arc::new(3, 1, TREE),
        ];
        let flow = solve(4, &arcs, &[2], 0);
        // Without a counter on the entry the graph with one arc less is no tree.
        assert_eq!(flow, Err(FlowError::Unsolvable));
        let arcs = [
            Arc::new(0, 2, 0),
            Arc::new(2, 3, 0),
            Arc::new(2, 1, TREE | FAKE),
            Arc::new(3, 1, TREE),
        ];
        let flow = solve(4, &arcs, &[1, 2], 0).unwrap();
        assert_eq!(flow.arcs, [1, 2, -1, 2]);
        assert_eq!(flow.blocks, [1, 1, 1, 2]);
    }

    /// Lua's `luaD_rawrunprotected`: setjmp returns to block 3 through a fake arc. The compiler would jump
    /// there from block 4, which has no way out.
    #[test]
    fn setjmp_returns_from_elsewhere() {
        let arcs = [
            Arc::new(0, 2, 0),
            Arc::new(0, 3, TREE | FAKE),
            Arc::new(0, 4, TREE | FAKE),
            Arc::new(2, 3, TREE),
            Arc::new(3, 5, 0),
            Arc::new(5, 6, 0),
            Arc::new(5, 7, TREE),
            Arc::new(6, 7, 0),
            Arc::new(6, 1, TREE | FAKE),
            Arc::new(7, 1, TREE),
        ];
        let flow = solve(8, &arcs, &[10, 13, 10, 7], 0).unwrap();
        assert_eq!(flow.blocks, [13, 13, 10, 13, 0, 13, 10, 10]);
        assert_eq!(flow.entries(&arcs), 10);
    }

    #[test]
    fn counters_that_contradict_each_other() {
        // Both arcs of block 2 have a counter, and one of them would do.
        let arcs = [Arc::new(0, 2, 0), Arc::new(2, 1, 0)];
        assert_eq!(solve(3, &arcs, &[7, 8], 0), Err(FlowError::Unsolvable));
        assert!(solve(3, &arcs, &[7, 7], 0).is_ok());
    }

    #[test]
    fn a_thunk() {
        let flow = solve(4, &[Arc::new(0, 2, 0)], &[7], 0).unwrap();
        assert_eq!(flow.blocks, [7, 0, 7, 0]);
    }

    #[test]
    fn impossible_counters() {
        assert_eq!(
            solve(5, &looping(), &[1], 0),
            Err(FlowError::Counters { expected: 3, found: 1 })
        );
        assert_eq!(solve(5, &looping(), &[1, 10, -1], 0), Err(FlowError::Negative));
    }

    #[test]
    fn counters_at_the_largest_number() {
        for counters in [[7, i64::MAX, i64::MAX], [i64::MAX; 3], [7, i64::MAX, 7]] {
            let flow = solve(5, &looping(), &counters, 0).unwrap();
            assert!(flow.blocks[3] >= i64::MAX - 7 && flow.blocks[4] == i64::MAX, "{flow:?}");
            assert!(flow.arcs.iter().all(|&count| count >= 0), "{flow:?}");
        }
    }
}
