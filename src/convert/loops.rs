//! Which blocks of a function are in loops that a compiler may vectorise: innermost ones without calls.

use alloc::vec;
use alloc::vec::Vec;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::formats::gcno::Arc;

/// For each block whether it is in such a loop, or in one around such loops that has no calls either.
pub fn without_calls(blocks: u32, arcs: &[Arc]) -> Vec<bool> {
    let mut found = vec![false; blocks as usize];
    let mut calls = vec![false; blocks as usize];
    for arc in arcs.iter().filter(|arc| arc.is_fake()) {
        calls[arc.source as usize] = true;
    }
    // Parts of the graph that may have loops in them.
    let mut open: Vec<Vec<u32>> = vec![(0..blocks).collect()];
    while let Some(part) = open.pop() {
        for one in loops(blocks, &part, arcs) {
            if !one.iter().any(|&block| calls[block as usize]) {
                one.iter().for_each(|&block| found[block as usize] = true);
                continue;
            }
            // Without the blocks that it is entered by, what is left has the inner loops.
            let mut is_inside = vec![false; blocks as usize];
            one.iter().for_each(|&block| is_inside[block as usize] = true);
            let mut is_entered = vec![false; blocks as usize];
            for arc in arcs.iter().filter(|arc| !is_inside[arc.source as usize]) {
                is_entered[arc.destination as usize] = true;
            }
            let inner: Vec<u32> =
                one.iter().copied().filter(|&block| !is_entered[block as usize]).collect();
            if !inner.is_empty() && inner.len() < one.len() {
                open.push(inner);
            }
        }
    }
    found
}

/// The outermost loops in a part of the graph.
fn loops(blocks: u32, part: &[u32], arcs: &[Arc]) -> Vec<Vec<u32>> {
    let mut graph = DiGraph::<u32, ()>::new();
    let mut nodes: Vec<Option<NodeIndex>> = vec![None; blocks as usize];
    for &block in part {
        nodes[block as usize] = Some(graph.add_node(block));
    }
    for arc in arcs.iter().filter(|arc| !arc.is_fake()) {
        if let (Some(from), Some(to)) =
            (nodes[arc.source as usize], nodes[arc.destination as usize])
        {
            graph.add_edge(from, to, ());
        }
    }
    let is_loop =
        |nodes: &Vec<NodeIndex>| nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]);
    let parts = tarjan_scc(&graph).into_iter().filter(is_loop);
    parts.map(|nodes| nodes.into_iter().map(|node| graph[node]).collect()).collect()
}

#[cfg(test)]
mod tests {
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
    fn a_block_that_leads_to_itself() {
        assert_eq!(graph(&[(0, 2), (2, 2), (2, 1)], &[]), [false, false, true]);
        assert_eq!(graph(&[(0, 2), (2, 1)], &[]), [false; 3]);
    }
}
