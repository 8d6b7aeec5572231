//! What gcc 16 and 17 read: version 3.
//!
//! They take 0 for unknown, and guess. They ask for a position once for the statement that has it, and again for the
//! value that it makes, wherever that value flows into a join: so a block that ends with a branch gets that branch's
//! position alone (`branches`), and a line gets one more position behind its last one. They give back what they do not
//! inline of a body at a call.

use alloc::vec;
use alloc::vec::Vec;

use super::Found;
use super::branches::Branches;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, PlacedPosition, Provenance};
use crate::placement::observe::SourcePosition;
use crate::placement::reader::{HotCalls, Inline, OfBlock, OfSeveral, Reader, Zeros};
use crate::placement::solve::counted::Counted;
use crate::profile::Profile;

/// gcc 16 and 17.
#[cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "the tool alone writes for this reader")
)]
pub const READER: Reader = Reader {
    discriminators: true,
    of_several: OfSeveral::Least,
    of_block: OfBlock::BranchOnly,
    zeros: Zeros::Ones,
    inline: Inline::Nested,
    hot_calls: HotCalls::Moved,
};

impl Assignment<'_> {
    /// Removes the positions that no block needs.
    pub(super) fn keep_branches(
        &self,
        function: &Counted<'_>,
        reader: Reader,
        found: &mut Vec<Found>,
    ) {
        let branches = Branches::new(function, &self.placed);
        let needed = self.placed.iter().filter(|placed| !branches.are_beside(placed));
        let place = |placed: &PlacedPosition| self.one(placed, function.start(), reader).place();
        let mut needed: Vec<u64> = needed.map(place).collect();
        needed.sort_unstable();
        found.retain(|one| needed.binary_search(&one.place()).is_ok());
    }

    /// Adds the last discriminator + 1 to each line of the function itself, with the count of the line's last block:
    /// for the jump to the join.
    ///
    /// Nothing else shows such a jump. Without a count for it, the reader takes that of a value that comes there by it.
    pub(super) fn add_next(&self, function: &Counted<'_>, reader: Reader, found: &mut Vec<Found>) {
        let Ok(flow) = &function.flow else { return };
        let mut lines_of = vec![0u32; flow.blocks.len()];
        for line in &function.lines {
            lines_of[line.block as usize] += 1;
        }
        let mut placed: Vec<&PlacedPosition> = self.placed.iter().collect();
        placed.sort_unstable_by_key(|placed| {
            (placed.at.file, placed.at.line, placed.at.discriminator)
        });
        for placed in placed.chunk_by(|a, b| (a.at.file, a.at.line) == (b.at.file, b.at.line)) {
            let (first, last) = (placed[0].at, placed[placed.len() - 1].at);
            let are_its_own = placed.iter().all(|placed| placed.at.instance == 0);
            if !are_its_own || first.discriminator == last.discriminator {
                continue;
            }
            let blocks = function.blocks_of(last.file, last.line);
            // A block that has other lines, too, may have no more of this one than the end of a loop in a macro.
            if let Some(line) = blocks.iter().rfind(|line| lines_of[line.block as usize] == 1) {
                let discriminator = last.discriminator.saturating_add(1);
                let count = flow.blocks[line.block as usize].max(0) as u64;
                let (at, block) = (SourcePosition { discriminator, ..last }, line.block);
                let (provenance, rule) = (Provenance::Order, Rule::Discriminators);
                let placed = PlacedPosition { at, block, count, provenance, rule, copy_by: None };
                found.push(self.one(&placed, function.start(), reader));
            }
        }
        found.sort_unstable();
    }
}

/// Raises every count of 0 in executed functions to 1.
pub fn zeros_as_ones(profile: &mut Profile) {
    for function in profile.functions.values_mut() {
        if function.head_count == 0 && function.body.total() == 0 {
            continue;
        }
        function.body.for_each_record_mut(&mut |record| {
            record.count = record.count.map(|count| count.max(1));
        });
    }
}
