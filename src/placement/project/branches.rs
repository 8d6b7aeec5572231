//! The branches that blocks end with: conditional jumps and switches.
//!
//! gcc 16 asks for a position once for the statement that has it, and again for the value that the statement makes,
//! wherever that value flows into a join: at an arc or a block without statements of its own. In
//!
//! ```c
//! int found = -1;         /* executed a million times */
//! if (next == NULL)       /* in the same block */
//!     return found;       /* executed once, and nothing of it left but the value -1 */
//! ```
//!
//! it takes a million for the third line. A branch makes no value. So whoever knows its position knows the count of the
//! block, and needs no other position there.

use alloc::vec;
use alloc::vec::Vec;

use crate::placement::assignment::PlacedPosition;
use crate::placement::solve::counted::Counted;
use crate::profile::FileId;

/// The branches of a function's blocks.
pub struct Branches {
    /// For each block: the line of the branch, if the profile has it.
    of_blocks: Vec<Option<(FileId, u32)>>,
}

impl Branches {
    /// Finds the branches among the positions of a function.
    pub fn new(function: &Counted<'_>, placed: &[PlacedPosition]) -> Self {
        let of_notes = of_notes(function);
        let mut of_blocks = vec![None; of_notes.len()];
        for placed in placed {
            let line = Some((placed.at.file, placed.at.line));
            let block = placed.block as usize;
            if of_notes.get(block).is_some_and(|branch| *branch == line) {
                of_blocks[block] = line;
            }
        }
        Self { of_blocks }
    }

    /// Whether a block has a branch somewhere else than at a position of it.
    pub fn are_beside(&self, placed: &PlacedPosition) -> bool {
        let branch = self.of_blocks.get(placed.block as usize).copied().flatten();
        branch.is_some_and(|branch| branch != (placed.at.file, placed.at.line))
    }
}

/// The last line of each block with several arcs out of it. The notes have a block's lines in order.
fn of_notes(function: &Counted<'_>) -> Vec<Option<(FileId, u32)>> {
    let mut arcs_out = vec![0u32; function.notes.blocks as usize];
    for arc in function.arcs().iter().filter(|arc| !arc.is_fake()) {
        arcs_out[arc.source as usize] += 1;
    }
    let mut branches = vec![None; arcs_out.len()];
    for line in function.known.notes.lines(function.notes) {
        if arcs_out[line.block as usize] > 1 {
            let file = function.known.files[line.file as usize];
            branches[line.block as usize] = Some((file, line.line));
        }
    }
    branches
}
