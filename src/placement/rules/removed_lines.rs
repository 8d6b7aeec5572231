//! Positions that the notes do not have: the compiler removed them before it laid the counters out. The debug
//! information tells where they stood.
//!
//! Where instructions of such a line are at a join without other lines, in the code as in the notes, the compiler
//! merged the ends of several lines there. The block has their sum, and nothing says how often each was executed:
//!
//! ```c
//! if (a)
//!     return &ok;     /* executed ten times, and `&ok` is loaded a thousand times */
//! if (b) {
//!     c++;
//!     return &ok;
//! }
//! ```
//!
//! The last line of a function is no such line: all ends lead there in the source, too.
//!
//! Consumes what the code shows of lines that the notes lack. All its counts are estimates.

use alloc::vec;
use alloc::vec::Vec;

use crate::placement::Rule;
use crate::placement::assignment::{Assignment, NO_BLOCK, PlacedPosition, Provenance};
use crate::placement::facts::Facts;
use crate::placement::solve::flow::EXIT;

/// Adds positions that the compiler removed.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    let mut merged: Option<Vec<i64>> = None;
    for observations in facts.observations.chunk_by(|a, b| a.at == b.at) {
        let at = observations[0].at;
        if facts.function.has(at.file, at.line) || facts.is_strayed(&at) {
            continue;
        }
        let mut of_blocks = observations
            .iter()
            .filter(|observation| !observation.is_sum)
            .map(|observation| observation.count);
        let sum = of_blocks.try_fold(0i64, |sum, count| sum.checked_add(count?));
        let Some(count) = sum else { continue };
        let may_be_merged = observations
            .iter()
            .any(|observation| observation.is_join && observation.instructions > 0)
            && !facts.starts.has_end(at.file, at.line);
        if may_be_merged && merged.get_or_insert_with(|| joins(facts)).contains(&count) {
            continue;
        }
        let (block, count) = (NO_BLOCK, count.max(0) as u64);
        let (provenance, rule) = (Provenance::Removed, Rule::RemovedLines);
        let copy_by = None;
        assignment.placed.push(PlacedPosition { at, block, count, provenance, rule, copy_by });
    }
}

/// The counts of blocks without lines that several blocks lead to.
fn joins(facts: &Facts<'_, '_>) -> Vec<i64> {
    let mut arcs_into = vec![0u32; facts.flow.blocks.len()];
    for arc in facts.function.arcs().iter().filter(|arc| !arc.is_fake()) {
        arcs_into[arc.destination as usize] += 1;
    }
    facts.function.lines.iter().for_each(|line| arcs_into[line.block as usize] = 0);
    arcs_into[EXIT as usize] = 0;
    let blocks = arcs_into.iter().zip(&facts.flow.blocks);
    blocks.filter(|&(&arcs, _)| arcs > 1).map(|(_, &count)| count).collect()
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    /// Block 4 is a join without lines, which was executed as often as the function was entered.
    fn join() -> Made {
        let arcs = [(0, 2), (2, 3), (2, 4), (3, 4), (4, 1)];
        let mut made = Made::new(&[(2, 0, 110), (3, 0, 111)], &arcs, &[9, 9, 9, 4, 9]);
        made.observe(0, 110, 0, Some(9));
        made.observe(0, 111, 0, Some(4));
        made
    }

    #[test]
    fn a_removed_line_has_the_count_of_its_code() {
        let mut made = join();
        made.observe(0, 105, 0, Some(9));
        assert_eq!(made.place(RuleSet::ALL)[0], (0, 105, 0, 0, 9, Rule::RemovedLines));
    }

    #[test]
    fn merged_ends_have_no_count() {
        let mut made = join();
        made.observe_at_join(112, 9);
        let placed = made.place(RuleSet::ALL);
        assert_eq!(placed.iter().filter(|placed| placed.5 == Rule::RemovedLines).count(), 0);
    }
}
