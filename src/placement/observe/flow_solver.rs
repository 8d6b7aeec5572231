//! Finds how often the blocks of machine code were executed, from the counters that they increment.
//!
//! Whatever flows into a block flows out of it, in machine code as in the graph that the compiler laid the
//! counters out on. So the counts of blocks with increments determine the counts of others, as far as the
//! ways of control are known.
//!
//! All this is linear, and holds for the sum over all copies of a function as in each of them. Counters have that sum,
//! so a block's count sums its counterparts in all copies.

use alloc::vec::Vec;

use super::adjacency::Adjacency;
use crate::placement::{Rule, RuleSet};

/// A part of a graph.
#[derive(Debug, Default)]
pub struct Part {
    /// Its blocks.
    pub blocks: Vec<Node>,
    /// Ways between them: from, to.
    pub edges: Vec<(u32, u32)>,
    /// For each block: a counter that it increments, by index.
    pub increments: Vec<(u32, u32)>,
}

/// A block of a part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    /// Control may come in on other ways than these edges.
    pub more_into: bool,
    /// Control may go out on other ways than these edges.
    pub more_out: bool,
}

/// Finds executions, part by part. All parts use the same memory.
#[derive(Default)]
pub struct Solver {
    nodes: Vec<Option<i64>>,
    counters: Vec<Shares>,
    bridges: Bridges,
}

impl Solver {
    /// The executions of each block, where they can be found.
    pub fn executions(&mut self, part: &Part, counters: &[i64], rules: RuleSet) -> &[Option<i64>] {
        self.solve(part, counters, rules);
        &self.nodes
    }

    fn solve(&mut self, part: &Part, counters: &[i64], rules: RuleSet) {
        self.nodes.clear();
        self.nodes.resize(part.blocks.len(), None);
        self.counters.clear();
        self.counters.extend(counters.iter().map(|&count| Shares { count, ..Shares::default() }));
        let mut solving = Solving {
            part,
            nodes: &mut self.nodes,
            counters: &mut self.counters,
            bridges: &mut self.bridges,
        };
        solving.start();
        if !rules.has(Rule::Flow) {
            return;
        }
        // If several blocks increment a counter, it determines the last of them once the others are known.
        while solving.follow() && solving.share() {}
    }
}

/// What is known about the blocks that increment a counter.
#[derive(Clone, Copy, Default)]
struct Shares {
    count: i64,
    known: i64,
    unknown: u32,
    /// Exclusive-or of the unknown blocks: the block itself once only one is left.
    blocks: u32,
}

/// The graph to solve. Each block is an edge of it, from the vertex where control comes in to the vertex
/// where control goes out. The flow along that edge is the number wanted. What flows into a vertex flows out
/// of it, except at the vertex that stands for everything outside.
///
/// The flow along an unknown edge can be found if no other unknown edge connects the two parts of the graph
/// at its ends: such an edge is a bridge. Along edges on a circle any flow may go around.
struct Solving<'p> {
    part: &'p Part,
    nodes: &'p mut Vec<Option<i64>>,
    counters: &'p mut Vec<Shares>,
    bridges: &'p mut Bridges,
}

/// The vertex for everything outside.
const OUTSIDE: u32 = 0;

impl Solving<'_> {
    fn start(&mut self) {
        for &(block, counter) in &self.part.increments {
            if let Some(shares) = self.counters.get_mut(counter as usize) {
                shares.unknown += 1;
                shares.blocks ^= block;
            }
        }
        self.start_alone();
        for block in 0..self.part.blocks.len() as u32 {
            if let Some(count) = self.nodes[block as usize] {
                self.learn(block, count);
            }
        }
    }

    /// Sets the blocks whose counters no other block increments.
    fn start_alone(&mut self) {
        for of_block in self.part.increments.chunk_by(|a, b| a.0 == b.0) {
            let all =
                of_block.iter().filter_map(|&(_, counter)| self.counters.get(counter as usize));
            let mut alone =
                all.filter(|shares| shares.unknown == 1 && shares.blocks == of_block[0].0);
            // Counters that contradict each other show that code was moved here.
            if let Some(&Shares { count, .. }) = alone.next()
                && alone.all(|other| other.count == count)
            {
                self.nodes[of_block[0].0 as usize] = Some(count);
            }
        }
    }

    /// Notes the executions of a block.
    fn learn(&mut self, block: u32, count: i64) {
        let increments = &self.part.increments;
        let first = increments.partition_point(|&(of, _)| of < block);
        for &(_, counter) in increments[first..].iter().take_while(|&&(of, _)| of == block) {
            if let Some(shares) = self.counters.get_mut(counter as usize) {
                shares.known = shares.known.wrapping_add(count);
                shares.unknown -= 1;
                shares.blocks ^= block;
            }
        }
    }

    /// If a counter has only one unknown block left, sets that block. Says whether there was any.
    fn share(&mut self) -> bool {
        let mut found = false;
        for place in 0..self.counters.len() {
            let Shares { count, known, unknown, blocks } = self.counters[place];
            if unknown == 1 && self.nodes[blocks as usize].is_none() {
                let rest = count.wrapping_sub(known);
                self.nodes[blocks as usize] = Some(rest);
                self.learn(blocks, rest);
                found = true;
            }
        }
        found
    }

    /// Sets the blocks that are bridges. Says whether there was any.
    fn follow(&mut self) -> bool {
        if self.nodes.iter().all(Option::is_some) {
            return false;
        }
        self.bridges.find(self.part, self.nodes);
        let found = core::mem::take(&mut self.bridges.found);
        let mut is_any = false;
        for &(block, count) in &found {
            if self.nodes[block as usize].is_none() {
                self.nodes[block as usize] = Some(count);
                self.learn(block, count);
                is_any = true;
            }
        }
        self.bridges.found = found;
        is_any
    }
}

/// An unknown edge, seen from one of its vertices.
#[derive(Clone, Copy, Default)]
struct Way {
    to: u32,
    /// The edge's number: blocks come first.
    edge: u32,
    /// Whether it leads away from the vertex.
    is_out: bool,
}

/// The search for bridges, depth first.
#[derive(Default)]
struct Bridges {
    /// All ways, each with the vertex that it leads from.
    all: Vec<(u32, Way)>,
    /// The ways from each vertex.
    ways: Adjacency<Way>,
    /// For each vertex: what is known to flow in, less what is known to flow out.
    surplus: Vec<i64>,
    /// For each vertex: Tarjan's discovery time, from 1, and low-link.
    reached: Vec<(u32, u32)>,
    /// The search's path: each vertex, the edge that led there, and the number of its edges already taken.
    open: Vec<(u32, Option<Way>, usize)>,
    /// The blocks that are bridges, with the flow through them.
    found: Vec<(u32, i64)>,
}

impl Bridges {
    /// Finds the blocks that are bridges.
    fn find(&mut self, part: &Part, nodes: &[Option<i64>]) {
        self.prepare(part, nodes);
        let mut time = 0;
        // Starts outside, so that the outside never lies behind a bridge.
        for root in 0..self.ways.vertices() {
            if self.reached[root as usize].0 == 0 {
                self.search(root, &mut time, part.blocks.len());
            }
        }
    }

    /// Lays out the graph of what is unknown.
    fn prepare(&mut self, part: &Part, nodes: &[Option<i64>]) {
        let vertices = 2 * part.blocks.len() + 1;
        let entry = |block: u32| {
            if part.blocks[block as usize].more_into { OUTSIDE } else { 2 * block + 1 }
        };
        let exit =
            |block: u32| if part.blocks[block as usize].more_out { OUTSIDE } else { 2 * block + 2 };
        let Self { all, ways, surplus, reached, found, .. } = self;
        surplus.clear();
        surplus.resize(vertices, 0i64);
        for (block, count) in (0..).zip(nodes) {
            let Some(count) = *count else { continue };
            let (from, to) = (entry(block) as usize, exit(block) as usize);
            surplus[from] = surplus[from].wrapping_sub(count);
            surplus[to] = surplus[to].wrapping_add(count);
        }
        let unknown = (0..).zip(nodes).filter(|(_, count)| count.is_none());
        let blocks = unknown.map(|(block, _)| (entry(block), exit(block), block));
        let edges = part.edges.iter().zip(part.blocks.len() as u32..);
        let edges = edges.map(|(&(from, to), number)| (exit(from), entry(to), number));
        all.clear();
        for (from, to, edge) in blocks.chain(edges) {
            all.push((from, Way { to, edge, is_out: true }));
            all.push((to, Way { to: from, edge, is_out: false }));
        }
        ways.fill(vertices, all.iter().copied());
        reached.clear();
        reached.resize(vertices, (0, 0));
        found.clear();
    }

    /// Searches from a vertex on. Edges below `blocks` are blocks.
    fn search(&mut self, root: u32, time: &mut u32, blocks: usize) {
        *time += 1;
        self.reached[root as usize] = (*time, *time);
        self.open.push((root, None, 0));
        while let Some((vertex, came, gone)) = self.open.last_mut() {
            let (at, came) = (*vertex, *came);
            if let Some(&way) = self.ways.of(at).get(*gone) {
                *gone += 1;
                if came.is_some_and(|came| came.edge == way.edge) {
                    continue;
                }
                let (when, _) = self.reached[way.to as usize];
                if when == 0 {
                    *time += 1;
                    self.reached[way.to as usize] = (*time, *time);
                    self.open.push((way.to, Some(way), 0));
                } else {
                    let low = &mut self.reached[at as usize].1;
                    *low = when.min(*low);
                }
                continue;
            }
            self.open.pop();
            let (Some(&(before, ..)), Some(way)) = (self.open.last(), came) else { continue };
            let (when, low) = self.reached[at as usize];
            if low == when && (way.edge as usize) < blocks {
                // The bridge carries what the part behind it lacks.
                let surplus = self.surplus[at as usize];
                let count = if way.is_out { surplus.wrapping_neg() } else { surplus };
                self.found.push((way.edge, count));
            }
            let low_before = &mut self.reached[before as usize].1;
            *low_before = low.min(*low_before);
            let surplus = self.surplus[at as usize];
            let sum = &mut self.surplus[before as usize];
            *sum = sum.wrapping_add(surplus);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    const OPEN: Node = Node { more_into: true, more_out: false };
    const INNER: Node = Node { more_into: false, more_out: false };
    const LAST: Node = Node { more_into: false, more_out: true };

    fn executions(part: &Part, counters: &[i64]) -> Vec<Option<i64>> {
        Solver::default().executions(part, counters, RuleSet::ALL).to_vec()
    }

    #[test]
    fn what_follows_from_counters() {
        // A branch around a block that increments counter 1, after an entry that increments counter 0.
        let part = Part {
            blocks: vec![OPEN, INNER, INNER, LAST],
            edges: vec![(0, 1), (0, 2), (1, 2), (2, 3)],
            increments: vec![(0, 0), (1, 1)],
        };
        assert_eq!(executions(&part, &[10, 3]), [Some(10), Some(3), Some(10), Some(10)]);
    }

    #[test]
    fn a_counter_in_two_places() {
        let part = Part {
            blocks: vec![OPEN, INNER, INNER, LAST],
            edges: vec![(0, 1), (0, 2), (1, 3), (2, 3)],
            increments: vec![(0, 0), (1, 1), (1, 2), (2, 2)],
        };
        assert_eq!(executions(&part, &[10, 3, 10]), [Some(10), Some(3), Some(7), Some(10)]);
    }

    /// A way of its own notes the first execution of a function. No counter knows that way.
    #[test]
    fn a_way_around() {
        let part = Part {
            blocks: vec![OPEN, INNER, INNER, INNER, LAST],
            edges: vec![(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)],
            increments: vec![(0, 0), (3, 1)],
        };
        let counts = executions(&part, &[10, 3]);
        assert_eq!(counts, [Some(10), None, Some(10), Some(3), Some(10)]);
    }

    #[test]
    fn what_nobody_knows_stays_unknown() {
        let part = Part {
            blocks: vec![OPEN, OPEN, LAST],
            edges: vec![(0, 2), (1, 2)],
            increments: vec![(0, 0), (2, 1), (2, 2)],
        };
        assert_eq!(executions(&part, &[4, 5, 6]), [Some(4), None, None]);
    }

    /// Only its counters tell about a circle. With one of them all of it is known.
    #[test]
    fn loops() {
        let part = |increments| Part {
            blocks: vec![OPEN, INNER, INNER, LAST],
            edges: vec![(0, 1), (1, 2), (2, 1), (1, 3)],
            increments,
        };
        let counts = executions(&part(vec![(0, 0)]), &[5, 40]);
        assert_eq!(counts, [Some(5), None, None, Some(5)]);
        let counts = executions(&part(vec![(0, 0), (2, 1)]), &[5, 40]);
        assert_eq!(counts, [Some(5), Some(45), Some(40), Some(5)]);
    }
}
