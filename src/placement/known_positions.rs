//! The copies of a function and their positions, while rules add those that the debug information lacks.

use hashbrown::HashMap;

use super::observe::{InlineInstance, SourcePosition};
use super::starts::Start;
use crate::profile::{FileId, SymbolId};

/// The copies and positions that are known. Rules add to them.
#[derive(Default)]
pub struct KnownPositions {
    /// The index of each copy.
    pub instances: HashMap<InlineInstance, u32>,
    /// The number of positions of each line of a copy.
    numbers: HashMap<(u32, FileId, u32), u16>,
    /// The first position of each line of a block, without those that are added.
    first: HashMap<(u32, FileId, u32), SourcePosition>,
    /// Which function a caller calls, of those that start on a line.
    pub called: HashMap<(FileId, u32, SymbolId), Start>,
}

impl KnownPositions {
    /// These positions, each with its block, and these copies.
    pub fn of(
        placed: impl Iterator<Item = (u32, SourcePosition)>,
        instances: &[InlineInstance],
    ) -> Self {
        let mut known = Self::default();
        for (block, at) in placed {
            let SourcePosition { instance, file, line, .. } = at;
            known.first.entry((block, file, line)).or_insert(at);
            known.next(instance, file, line);
        }
        for (instance, place) in instances.iter().zip(0..) {
            known.instances.entry(instance.once()).or_insert(place);
        }
        known
    }

    /// The first position of a line in a block.
    pub fn first_in(&self, block: u32, (file, line): (FileId, u32)) -> Option<SourcePosition> {
        self.first.get(&(block, file, line)).copied()
    }

    /// The number of the next position of a line in a copy.
    pub fn next(&mut self, instance: u32, file: FileId, line: u32) -> u16 {
        let number = self.numbers.entry((instance, file, line)).or_insert(0);
        let next = *number;
        *number = number.saturating_add(1);
        next
    }
}
