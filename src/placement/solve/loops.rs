//! Finds the loops of a function, and among them those that a compiler may vectorise: innermost ones without calls.

use alloc::vec;
use alloc::vec::Vec;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, DfsPostOrder, Reversed, VisitMap};

use super::flow::EXIT;
use crate::formats::gcno::Arc;

/// Deepest level of loops to look into.
const DEEPEST: usize = 64;

/// Says for each block whether it is in a loop without calls, or in a loop around such loops that has no calls either.
pub fn without_calls(blocks: u32, arcs: &[Arc]) -> Vec<bool> {
    let mut found = vec![false; blocks as usize];
    let mut calls = vec![false; blocks as usize];
    for arc in arcs.iter().filter(|arc| arc.is_fake()) {
        calls[arc.source as usize] = true;
    }
    each(blocks, arcs, |one| {
        let has_calls = one.iter().any(|&block| calls[block as usize]);
        one.iter().for_each(|&block| found[block as usize] |= !has_calls);
        has_calls
    });
    found
}

/// The blocks of each loop. A loop comes before those that are in it.
pub fn nested(blocks: u32, arcs: &[Arc]) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    each(blocks, arcs, |one| {
        found.push(one.to_vec());
        true
    });
    found
}

/// Shows the blocks of each loop, a loop before those that are in it. `look` says whether it wants to see these.
fn each(blocks: u32, arcs: &[Arc], mut look: impl FnMut(&[u32]) -> bool) {
    // The loop of each block, as far as loops are known. Blocks without a loop are done.
    let mut loop_of: Vec<Option<usize>> = vec![Some(0); blocks as usize];
    for _ in 0..DEEPEST {
        let loops = inside(&loop_of, arcs);
        loop_of.fill(None);
        for (number, one) in loops.iter().enumerate() {
            if look(one) {
                one.iter().for_each(|&block| loop_of[block as usize] = Some(number));
            }
        }
        // Leaves out the blocks that a loop is entered by. The rest of the loop has the inner loops.
        let is_entry =
            |arc: &&Arc| loop_of[arc.source as usize] != loop_of[arc.destination as usize];
        let entries: Vec<u32> = arcs.iter().filter(is_entry).map(|arc| arc.destination).collect();
        if entries.is_empty() {
            break;
        }
        entries.into_iter().for_each(|block| loop_of[block as usize] = None);
    }
}

/// The outermost loops within other loops.
fn inside(loop_of: &[Option<usize>], arcs: &[Arc]) -> Vec<Vec<u32>> {
    let stays = |arc: &&Arc| {
        let [from, to] = [arc.source, arc.destination].map(|block| loop_of[block as usize]);
        !arc.is_fake() && from.is_some() && from == to
    };
    // Any loop has an arc that leads back. Nothing leads on from the exit, unless the notes are damaged.
    let leads_back =
        |arc: &Arc| arc.source == EXIT || arc.destination <= arc.source && arc.destination != EXIT;
    if !arcs.iter().filter(stays).any(leads_back) {
        return Vec::new();
    }
    let mut graph = DiGraph::<u32, ()>::with_capacity(loop_of.len(), arcs.len());
    let node = |(block, of): (usize, &Option<usize>)| of.map(|_| graph.add_node(block as u32));
    let nodes: Vec<Option<NodeIndex>> = loop_of.iter().enumerate().map(node).collect();
    for arc in arcs.iter().filter(stays) {
        let [from, to] = [arc.source, arc.destination].map(|block| nodes[block as usize]);
        if let (Some(source), Some(destination)) = (from, to) {
            graph.add_edge(source, destination, ());
        }
    }
    strongly_connected(&graph)
}

/// The strongly connected components that are loops, by Kosaraju's algorithm. petgraph's own function finds the same
/// ones in the same order, but allocates memory for each block that is in no loop, too: nearly all of them.
fn strongly_connected(graph: &DiGraph<u32, ()>) -> Vec<Vec<u32>> {
    let mut finished = Vec::with_capacity(graph.node_count());
    let mut backwards = DfsPostOrder::empty(graph);
    for node in graph.node_indices() {
        backwards.move_to(node);
        while let Some(node) = backwards.next(Reversed(graph)) {
            finished.push(node);
        }
    }
    let (mut loops, mut component) = (Vec::new(), Vec::new());
    let mut forwards = Dfs::empty(graph);
    for node in finished.into_iter().rev() {
        if forwards.discovered.is_visited(&node) {
            continue;
        }
        component.clear();
        forwards.move_to(node);
        while let Some(node) = forwards.next(graph) {
            component.push(graph[node]);
        }
        if component.len() > 1 || graph.contains_edge(node, node) {
            loops.push(component.clone());
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use petgraph::algo::kosaraju_scc;

    use super::*;

    fn graph(arcs: &[(u32, u32)], calls: &[u32]) -> Vec<bool> {
        const FAKE: u32 = 2;
        let blocks = arcs.iter().map(|&(from, to)| from.max(to) + 1).max().unwrap_or(0);
        let plain = arcs.iter().map(|&(source, target)| Arc::new(source, target, 0));
        let of_calls = calls.iter().map(|&source| Arc::new(source, 1, FAKE));
        without_calls(blocks, &plain.chain(of_calls).collect::<Vec<_>>())
    }

    #[test]
    fn the_inner_loop_of_one_with_calls() {
        // 0 enters, 1 leaves; 2 is the head of the outer loop, 3 and 4 are the inner one, 5 calls.
        let arcs = [(0, 2), (2, 3), (3, 4), (4, 3), (3, 5), (5, 2), (2, 1)];
        assert_eq!(graph(&arcs, &[5]), [false, false, false, true, true, false]);
        assert_eq!(graph(&arcs, &[]), [false, false, true, true, true, true]);
        assert_eq!(graph(&arcs, &[4]), [false; 6]);
    }

    #[test]
    fn loops_come_before_those_in_them() {
        let arcs = [(0, 2), (2, 3), (3, 4), (4, 3), (3, 5), (5, 2), (2, 1)];
        let arcs = arcs.map(|(source, target)| Arc::new(source, target, 0));
        let mut loops = nested(6, &arcs);
        loops.iter_mut().for_each(|one| one.sort_unstable());
        assert_eq!(loops, [vec![2, 3, 4, 5], vec![3, 4]]);
    }

    #[test]
    fn loops_beside_each_other() {
        // Two loops of the same depth, 3 and 4, in a loop with a call in its head, 2.
        let arcs = [(0, 2), (2, 3), (3, 3), (3, 4), (4, 4), (4, 2), (2, 1)];
        assert_eq!(graph(&arcs, &[2]), [false, false, false, true, true]);
        assert_eq!(graph(&arcs, &[2, 4]), [false, false, false, true, false]);
        // Nothing leads into this loop.
        assert_eq!(graph(&[(0, 1), (2, 3), (3, 2)], &[3]), [false; 4]);
    }

    /// What readers are given depends on the order of loops beside each other.
    #[test]
    fn loops_and_their_order_are_those_of_petgraph() {
        let mut seed = 1u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % below
        };
        let mut several = 0;
        for blocks in [4, 8, 12, 30].into_iter().cycle().take(400) {
            let arcs = (0..blocks * 5 / 4).map(|_| Arc::new(random(blocks), random(blocks), 0));
            let arcs: Vec<Arc> = arcs.collect();
            let edges = arcs.iter().map(|arc| (arc.source, arc.destination));
            let mut graph = DiGraph::<(), (), u32>::new();
            (0..blocks).for_each(|_| _ = graph.add_node(()));
            graph.extend_with_edges(edges);
            let is_loop =
                |nodes: &Vec<NodeIndex>| nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]);
            let blocks_of = |nodes: Vec<NodeIndex>| -> Vec<u32> {
                nodes.into_iter().map(|node| node.index() as u32).collect()
            };
            let expected = kosaraju_scc(&graph).into_iter().filter(is_loop).map(blocks_of);
            let expected: Vec<Vec<u32>> = expected.collect();
            assert_eq!(inside(&vec![Some(0); blocks as usize], &arcs), expected, "{arcs:?}");
            several += usize::from(expected.len() > 1);
        }
        assert!(several > 100, "{several}");
    }

    #[test]
    fn a_loop_of_very_many_blocks() {
        let last = 300_000;
        let mut arcs: Vec<(u32, u32)> = (2..last).map(|block| (block, block + 1)).collect();
        arcs.extend([(0, 2), (last, 2), (last, 1)]);
        assert_eq!(graph(&arcs, &[]).iter().filter(|&&found| found).count(), last as usize - 1);
        assert!(!graph(&arcs, &[last]).contains(&true));
    }

    #[test]
    fn a_block_that_leads_to_itself() {
        assert_eq!(graph(&[(0, 2), (2, 2), (2, 1)], &[]), [false, false, true]);
        assert_eq!(graph(&[(0, 2), (2, 1)], &[]), [false; 3]);
    }
}
