//! The blocks of inlined copies whose code stands in the blocks that call them.
//!
//! ```c
//! static inline int twice(int x) { return 2 * x; }
//! a = twice(b);           /* block 2 has this line, and behind it that of twice: the block is this copy's */
//! if (c) d = twice(e);    /* and block 3 is this copy's */
//! ```
//!
//! A copy without branches has no block of its own. The notes list the lines of a block in the order of its statements:
//! first the line of the call, then those of the copy. So the line of the last call before a line tells the copy.

use alloc::vec::Vec;

use hashbrown::HashSet;

use super::Facts;
use super::position_evidence::{Count, PositionEvidence};
use super::segment::{DeclaredAt, Segmented};
use crate::placement::solve::counted::Line;
use crate::profile::FileId;

/// The file and the line of a call, as far as a profile keeps the line.
pub type CallLine = (FileId, u32);

/// A line in a block that has a call.
type AtCall = (CallLine, Line);

/// A block with more lines is not looked at. Each of its lines would be compared with all others.
const LONGEST_BLOCK: usize = 1024;

/// At most one in two positions may contradict its blocks. The copy of such a position stands elsewhere.
const ONE_CONTRADICTION_IN: usize = 2;

/// What the calls before a line in its blocks tell.
pub struct CallOrder {
    /// The blocks of copies that are called there.
    pub known: Segmented,
    /// The numbers of these blocks.
    pub taken: HashSet<u32>,
    /// The positions of other copies.
    pub positions: Vec<PositionEvidence>,
    /// The blocks that are left for them.
    pub lines: Vec<Line>,
    /// Whether all copies have blocks. Then the blocks that are left belong to copies that the debug information lacks.
    pub is_complete: bool,
}

impl Facts<'_, '_> {
    /// Finds blocks of a line behind the lines of the calls. There is no answer if most positions of the line
    /// contradict it.
    pub fn call_order(
        &self,
        function: DeclaredAt,
        lines: &[Line],
        positions: &[PositionEvidence],
    ) -> Option<CallOrder> {
        let copies = self.segments.copies(function)?;
        let mut copies: Vec<(CallLine, u32)> =
            copies.map(|copy| (self.call_of(copy), copy)).collect();
        if lines.len() > copies.len() && !self.are_entered(function, lines) {
            // Copies have blocks of their own, too.
            return None;
        }
        copies.sort_by_key(|&(call, _)| call);
        let mut by_copy = self.blocks_with_calls(lines, &copies);
        let found = Segmented::new(by_copy.clone());
        // Sorted, as the positions are.
        let against: Vec<u32> =
            self.contradicting(positions, &found).map(|position| position.at.instance).collect();
        if ONE_CONTRADICTION_IN * against.len() > positions.len() {
            return None;
        }
        let is_complete = copies.iter().all(|&(_, copy)| found.lines_of(copy).is_some());
        // The compiler may have moved code of a copy to where it runs more often.
        if !is_complete {
            by_copy.retain(|(copy, _)| against.binary_search(copy).is_err());
        }
        if by_copy.is_empty() {
            return None;
        }
        let taken: HashSet<u32> = by_copy.iter().map(|(_, line)| line.block).collect();
        let known = Segmented::new(by_copy);
        let is_left = |position: &&PositionEvidence| known.lines_of(position.at.instance).is_none();
        let positions = positions.iter().filter(is_left).cloned().collect();
        let lines = lines.iter().filter(|line| !taken.contains(&line.block)).copied().collect();
        Some(CallOrder { known, taken, positions, lines, is_complete })
    }

    /// Whether a copy is entered in each block of a line: a line of another function, which it does not call, stands
    /// before it.
    fn are_entered(&self, function: DeclaredAt, lines: &[Line]) -> bool {
        if self.segments.has_calls(function) {
            return false;
        }
        let is_its = |(file, line): (FileId, u32)| {
            let last = self.starts.before(file, line).next();
            last.is_some_and(|starts| (file, starts[0].line) == function)
        };
        lines.iter().all(|line| {
            let itself = (line.file, line.line);
            let mut before = self.short_block(line.block).take_while(|&at| at != itself);
            line.block < self.function.notes.blocks && !before.all(is_its)
        })
    }

    /// The blocks of a line in the blocks that call copies. The copies are sorted by their calls.
    fn blocks_with_calls(&self, lines: &[Line], copies: &[(CallLine, u32)]) -> Vec<(u32, Line)> {
        let is_call = |call: CallLine| !called(copies, call).is_empty();
        let (mut behind, mut ahead): (Vec<AtCall>, Vec<AtCall>) = Default::default();
        for line in lines.iter().filter(|line| line.block < self.function.notes.blocks) {
            let (last_before, after) = self.calls_in_block(line, is_call);
            behind.extend(last_before.map(|call| (call, *line)));
            ahead.extend(after.map(|call| (call, *line)));
        }
        let mut by_copy = behind_calls(behind, copies);
        by_copy.extend(ahead_of_calls(ahead, copies, &by_copy));
        by_copy.sort_unstable();
        by_copy.dedup();
        by_copy
    }

    /// The call of a copy.
    pub fn call_of(&self, copy: u32) -> CallLine {
        let instance = &self.instances[copy as usize];
        let caller = &self.instances[instance.caller as usize];
        (caller.file, caller.start.wrapping_add(instance.call.line) & 0xffff)
    }

    /// The lines of a block in the order of its statements, unless there are very many.
    fn short_block(
        &self,
        block: u32,
    ) -> impl DoubleEndedIterator<Item = (FileId, u32)> + ExactSizeIterator + Clone {
        let lines = self.function.lines_in_order(block);
        let number = if lines.len() <= LONGEST_BLOCK { lines.len() } else { 0 };
        lines.take(number)
    }

    /// The last call before a line in the line's block, and the calls after the line.
    fn calls_in_block(
        &self,
        line: &Line,
        is_call: impl Fn(CallLine) -> bool,
    ) -> (Option<CallLine>, impl Iterator<Item = CallLine>) {
        let of_block = self.short_block(line.block);
        let itself = (line.file, line.line);
        let place = of_block.clone().position(|at| at == itself).unwrap_or(of_block.len());
        let calls = of_block.map(|(file, number)| (file, number & 0xffff));
        let last_before = calls.clone().take(place).rev().find(|&call| is_call(call));
        (last_before, calls.skip(place + 1).filter(move |&call| is_call(call)))
    }
}

/// The blocks of a line behind calls.
fn behind_calls(mut lines: Vec<AtCall>, copies: &[(CallLine, u32)]) -> Vec<(u32, Line)> {
    lines.sort_by_key(|&(call, _)| call);
    let mut by_copy = Vec::new();
    for blocks in lines.chunk_by(|a, b| a.0 == b.0) {
        let its = called(copies, blocks[0].0);
        // Copies and blocks are in the order of the source. All copies may be in one block. If there are fewer blocks
        // for another reason, they tell nothing.
        if its.len() == blocks.len() {
            by_copy.extend(its.iter().zip(blocks).map(|(&(_, copy), &(_, line))| (copy, line)));
        } else if let [(_, line)] = blocks {
            by_copy.extend(its.iter().map(|&(_, copy)| (copy, *line)));
        }
    }
    by_copy
}

/// The blocks of a line that have a call behind the line, for copies without a block. The notes list each line once for
/// each block, so an earlier copy in the block may hide the line of the copy that is called there.
fn ahead_of_calls(
    mut lines: Vec<AtCall>,
    copies: &[(CallLine, u32)],
    others: &[(u32, Line)],
) -> Vec<(u32, Line)> {
    let have_blocks: HashSet<u32> = others.iter().map(|&(copy, _)| copy).collect();
    lines.sort_by_key(|&(call, _)| call);
    let mut by_copy = Vec::new();
    for blocks in lines.chunk_by(|a, b| a.0 == b.0) {
        let [(call, line)] = blocks else { continue };
        let its = called(copies, *call).iter().map(|&(_, copy)| (copy, *line));
        by_copy.extend(its.filter(|(copy, _)| !have_blocks.contains(copy)));
    }
    by_copy
}

/// The copies that a line calls. The copies are sorted by their calls.
fn called(copies: &[(CallLine, u32)], call: CallLine) -> &[(CallLine, u32)] {
    let first = copies.partition_point(|copy| copy.0 < call);
    let count = copies[first..].partition_point(|copy| copy.0 == call);
    &copies[first..first + count]
}

impl CallOrder {
    /// The positions that are left and have a certain count.
    pub fn certain(&self) -> Vec<PositionEvidence> {
        let is_certain = |position: &&PositionEvidence| matches!(position.count, Count::Exactly(_));
        self.positions.iter().filter(is_certain).cloned().collect()
    }
}
