//! The blocks of inlined copies whose code stands in the blocks that call them.
//!
//! A copy without branches has no block of its own. The notes list the lines of a block in the order of its statements: first
//! the line of the call, then those of the copy. So the line of the last call before a line tells the copy.

use alloc::vec::Vec;

use hashbrown::HashSet;

use super::Painter;
use super::pairing::{Count, Key};
use super::segments::{Segmented, Segments};
use crate::convert::gcov::counted::Line;
use crate::profile::FileId;

/// The file and the line of a call, as far as a profile keeps the line.
type Call = (FileId, u32);

/// At most one in two pieces may contradict its blocks. The copy of such a piece stands elsewhere.
const MOST_AGAINST: usize = 2;

/// What the calls before a line in its blocks tell.
pub struct Beside {
    /// The blocks of copies that are called there.
    pub known: Segmented,
    /// The numbers of these blocks.
    pub taken: HashSet<u32>,
    /// The pieces of other copies.
    pub keys: Vec<Key>,
    /// The blocks that are left for them.
    pub lines: Vec<Line>,
}

impl Painter<'_, '_> {
    /// Finds blocks of a line behind the lines of the calls. There is no answer if most pieces of the line contradict it.
    pub fn beside(&self, segments: &Segments, lines: &[Line], keys: &[Key]) -> Option<Beside> {
        let copies = segments.copies(self.only_function(keys)?)?;
        let mut copies: Vec<(Call, u32)> = copies.map(|copy| (self.call_of(copy), copy)).collect();
        if lines.len() > copies.len() {
            // Copies have blocks of their own, too.
            return None;
        }
        copies.sort_by_key(|&(call, _)| call);
        let mut by_copy = self.behind_calls(lines, &copies);
        let found = Segmented::new(by_copy.clone());
        // Sorted, as the pieces are.
        let against: Vec<u32> =
            self.contradicting(keys, &found).map(|key| key.spot.chain).collect();
        if MOST_AGAINST * against.len() > keys.len() {
            return None;
        }
        by_copy.retain(|(copy, _)| against.binary_search(copy).is_err());
        if by_copy.is_empty() {
            return None;
        }
        let taken: HashSet<u32> = by_copy.iter().map(|(_, line)| line.block).collect();
        let known = Segmented::new(by_copy);
        let is_left = |key: &&Key| known.lines_of(key.spot.chain).is_none();
        let keys = keys.iter().filter(is_left).cloned().collect();
        let lines = lines.iter().filter(|line| !taken.contains(&line.block)).copied().collect();
        Some(Beside { known, taken, keys, lines })
    }

    /// The blocks of a line behind the calls of copies, which are sorted by their calls.
    fn behind_calls(&self, lines: &[Line], copies: &[(Call, u32)]) -> Vec<(u32, Line)> {
        let is_call = |call: Call| copies.binary_search_by_key(&call, |copy| copy.0).is_ok();
        let mut behind: Vec<(Call, Line)> = Vec::new();
        for line in lines.iter().filter(|line| line.block < self.function.notes.blocks) {
            behind.extend(self.call_in_block(line, is_call).map(|call| (call, *line)));
        }
        behind.sort_by_key(|&(call, _)| call);
        let mut by_copy = Vec::new();
        for blocks in behind.chunk_by(|a, b| a.0 == b.0) {
            let first = copies.partition_point(|copy| copy.0 < blocks[0].0);
            let its = copies[first..].iter().take_while(|copy| copy.0 == blocks[0].0);
            // Copies and blocks are in the order of the source. All copies may be in one block. If there are fewer blocks
            // for another reason, they tell nothing.
            if its.clone().count() == blocks.len() {
                by_copy.extend(its.zip(blocks).map(|(&(_, copy), &(_, line))| (copy, line)));
            } else if let [(_, line)] = blocks {
                by_copy.extend(its.map(|&(_, copy)| (copy, *line)));
            }
        }
        by_copy.sort_unstable();
        by_copy.dedup();
        by_copy
    }

    /// The call of a copy.
    pub fn call_of(&self, copy: u32) -> Call {
        let chain = &self.picture.chains[copy as usize];
        let caller = &self.picture.chains[chain.caller as usize];
        (caller.file, caller.start.wrapping_add(chain.call.line) & 0xffff)
    }

    /// The last call before a line in the line's block.
    fn call_in_block(&self, line: &Line, is_call: impl Fn(Call) -> bool) -> Option<Call> {
        let of_block = self.function.lines_in_order(line.block);
        let before = of_block.take_while(|&found| found != (line.file, line.line));
        before.map(|(file, number)| (file, number & 0xffff)).filter(|&call| is_call(call)).last()
    }
}

impl Beside {
    /// The pieces that are left and have a certain count.
    pub fn certain(&self) -> Vec<Key> {
        let is_certain = |key: &&Key| matches!(key.count, Count::Exactly(_));
        self.keys.iter().filter(is_certain).cloned().collect()
    }
}
