//! How often control went round within the blocks of one line.
//!
//! Each circle of arcs takes as many rounds as its rarest arc allows, and what it takes is not there for others. A
//! circle is looked for from each block, through that block and later ones, the arcs in their order.

use alloc::vec::Vec;

use hashbrown::HashSet;

use super::ways::Ways;
use crate::formats::gcno::Arc;

/// The number of rounds. `blocks` are sorted.
pub fn rounds(blocks: &[u32], of_function: &Ways, arcs: &[Arc], counts: &[i64]) -> i64 {
    let mut ways: Vec<Vec<Way>> = Vec::with_capacity(blocks.len());
    for &block in blocks {
        let way = |arc: usize| {
            let to = blocks.binary_search(&arcs[arc].destination).ok()?;
            (counts[arc] > 0).then_some(Way { to, left: counts[arc] })
        };
        ways.push(of_function.outwards(block).filter_map(way).collect());
    }
    let mut all = 0i64;
    for start in 0..blocks.len() {
        // A circle leads back at some place.
        while let Some(circle) = circle(start, &ways) {
            let left = circle.iter().map(|&(from, number)| ways[from][number].left).min();
            let left = left.unwrap_or(0);
            all = all.saturating_add(left);
            for (from, number) in circle {
                ways[from][number].left -= left;
            }
        }
    }
    all
}

/// A way to another block of the line.
struct Way {
    to: usize,
    /// Times that no circle has taken.
    left: i64,
}

/// The first circle through a block and later ones: the ways it takes, by block and number there.
fn circle(start: usize, ways: &[Vec<Way>]) -> Option<Vec<(usize, usize)>> {
    let mut seen: HashSet<usize> = [start].into_iter().collect();
    // The block where each step starts, and the number of its next way.
    let mut path: Vec<(usize, usize)> = [(start, 0)].into();
    while let Some((block, next)) = path.last_mut() {
        let Some(way) = ways[*block].get(*next) else {
            path.pop();
            continue;
        };
        *next += 1;
        if way.left <= 0 || way.to < start {
            continue;
        }
        if way.to == start {
            return Some(path.into_iter().map(|(block, next)| (block, next - 1)).collect());
        }
        if seen.insert(way.to) {
            path.push((way.to, 0));
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
        let ways = Ways::new(5, &arcs);
        let rounds = |blocks: &[u32]| rounds(blocks, &ways, &arcs, &counts);
        assert_eq!([rounds(&[2, 3]), rounds(&[2]), rounds(&[3])], [14, 0, 5]);
    }
}
