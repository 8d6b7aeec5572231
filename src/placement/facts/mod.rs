//! The facts about a function that the rules go by. They are gathered once, and never change.
//!
//! The notes say which blocks have a line, and the counters how often each block was executed. The machine code shows
//! positions: in which copy, on which line and discriminator, and mostly how often.

pub mod call_order;
mod counts_of_copies;
mod gather;
#[cfg(test)]
pub mod made;
pub mod position_evidence;
pub mod preheaders;
pub mod segment;
pub mod segments;

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashSet;

use self::position_evidence::PositionEvidence;
use self::preheaders::Preheader;
use self::segment::Segments;
use super::RuleSet;
use super::observe::{InlineInstance, Observation};
use super::solve::counted::{Counted, Line};
use super::solve::flow::Flow;
use super::starts::Starts;
use crate::profile::{FileId, Symbols};

/// The facts about a function.
pub struct Facts<'f, 'n> {
    pub function: &'f Counted<'n>,
    pub flow: &'f Flow,
    pub starts: &'f Starts,
    pub symbols: &'f Symbols,
    /// The rules in force.
    pub rules: RuleSet,
    /// What the code shows, by line.
    pub observations: &'f [Observation],
    /// Copies inlined early, see [`Evidence::instances`](super::observe::Evidence::instances). The first one stands
    /// for the function itself, also without code.
    pub instances: Vec<InlineInstance>,
    /// The lines of its blocks and of its preheaders, sorted. Preheaders have numbers behind those of the blocks.
    pub lines: Cow<'f, [Line]>,
    /// The ways into loops that have no block.
    pub preheaders: Vec<Preheader>,
    /// The lines that the code shows, and their positions among `positions`.
    pub in_code: Vec<(Range<usize>, Range<usize>)>,
    /// The positions that the code shows, line by line.
    pub positions: Vec<PositionEvidence>,
    /// The lines that the code does not show.
    pub in_notes_only: Vec<Range<usize>>,
    /// How often each copy was entered, as far as known.
    pub entered: Vec<Option<i64>>,
    /// The count of all of a copy, as far as known.
    pub hints: Vec<Option<i64>>,
    /// The blocks of each copy of a function that was inlined several times.
    pub segments: Segments,
    /// Whether #line renumbers lines of the function. If so, its last line tells nothing.
    pub is_renumbered: bool,
    /// For a function that the compiler made: where the function starts whose code it got. The lines of that function
    /// that it has are its own.
    pub home: Option<u32>,
    /// Whether its code and debug information are known.
    pub has_code: bool,
    /// Other files with lines that the code shows in the function itself.
    pub included: HashSet<FileId>,
}

impl Facts<'_, '_> {
    /// Whether there are copies inlined early.
    pub fn has_copies(&self) -> bool {
        self.instances.len() > 1
    }

    /// The executions of a line's block, or of its preheader.
    pub fn count(&self, line: &Line) -> i64 {
        let block = line.block as usize;
        let preheader = || self.preheaders[block - self.flow.blocks.len()].count;
        self.flow.blocks.get(block).copied().unwrap_or_else(preheader)
    }

    /// Whether a line has a block, and not only a preheader.
    pub fn has_block(&self, line: &Line) -> bool {
        line.block < self.function.notes.blocks
    }

    /// A block's number, or for a preheader that of the loop's first block.
    pub fn number_of(&self, line: &Line) -> u32 {
        let preheader = line.block.checked_sub(self.function.notes.blocks);
        preheader.map_or(line.block, |preheader| self.preheaders[preheader as usize].head)
    }
}

/// Comparisons of positions and blocks from which on a line is long.
const MOST_COMPARISONS: usize = 1 << 20;

/// Whether a line has very many positions and blocks.
pub const fn is_long(positions: usize, blocks: usize) -> bool {
    positions.saturating_mul(blocks) > MOST_COMPARISONS
}
