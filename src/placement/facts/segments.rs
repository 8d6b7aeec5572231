//! The blocks of each copy of a function that was inlined several times.
//!
//! ```c
//! static inline int count(int x) { return x ? 1 : f(); }      /* blocks 2, 3, 4 and 5 have this line */
//! a = count(b);       /* 2 and 3 are this copy's */
//! c = count(d);       /* 4 and 5 are this copy's */
//! ```
//!
//! The compiler copies a function's blocks together, in the order of the calls. So the lines of one copy stand between
//! those of the copies before and behind it. The end of one copy may be in the same block as the start of the next one:
//! there the order of the block's lines tells them apart. A line that has equally many blocks in each copy tells where
//! the copies are. That also holds for lines where the copies differ, because the compiler has removed blocks of some
//! of them.

use alloc::vec::Vec;
use core::ops::Range;

use super::position_evidence::{Count, PositionEvidence};
use super::segment::{DeclaredAt, LineInBlock, Segment, Segmented, Segments};
use super::{Facts, is_long};
use crate::placement::observe::InlineInstance;
use crate::placement::solve::counted::Line;
use crate::profile::FileId;

/// How many blocks before a copy the line of its call may stand.
const FARTHEST_CALL: u32 = 16;

/// At most one in four positions may contradict the segments. The compiler may have merged its code with other code.
const ONE_CONTRADICTION_IN: usize = 4;

impl Facts<'_, '_> {
    /// Finds the segments of copies by the lines that have equally many blocks in each.
    pub(super) fn find_segments(&self) -> Segments {
        let mut segments = Segments::default();
        for (instance, of) in (0..).zip(&self.instances).skip(1) {
            let copies = segments.of.entry(of.declared_at()).or_default();
            copies.extend((0..of.calls).map(|_| Segment { instance, places: None }));
        }
        segments.of.retain(|_, copies| copies.len() > 1);
        if segments.of.is_empty() {
            return segments;
        }
        let callers = self.instances[1..].iter().filter(|instance| instance.caller != 0);
        let function =
            |instance: &InlineInstance| self.instances[instance.caller as usize].declared_at();
        segments.callers = callers.map(function).collect();
        for copies in segments.of.values_mut() {
            copies.sort_by_cached_key(|copy| self.calls_to(copy.instance));
        }
        for (places, positions) in &self.in_code {
            let (lines, positions) =
                (&self.lines[places.clone()], &self.positions[positions.clone()]);
            let Some(function) = self.only_function(positions) else { continue };
            if let Some(copies) = segments.of.get_mut(&function) {
                let entries =
                    lines.partition_point(|line| line.block >= self.function.notes.blocks);
                let places: Vec<LineInBlock> =
                    lines[entries..].iter().map(|line| self.place_of(line)).collect();
                add(&places, copies);
            }
        }
        for copies in segments.of.values_mut() {
            match are_apart(copies) {
                true => self.begin_at_calls(copies),
                false => copies.iter_mut().for_each(|copy| copy.places = None),
            }
        }
        segments
    }

    /// Extends each copy's segment to the line of its call before it.
    fn begin_at_calls(&self, copies: &mut [Segment]) {
        let mut end = (0, 0);
        for copy in copies {
            let Some((first, last)) = copy.places else { continue };
            let call = self.call_before(copy.instance, end..first);
            copy.places = Some((call.unwrap_or(first), last));
            end = (last.0, last.1 + 1);
        }
    }

    /// The last of these places that has the line of a copy's call.
    fn call_before(&self, copy: u32, places: Range<LineInBlock>) -> Option<LineInBlock> {
        let call = self.call_of(copy);
        let first = places.start.0.max(places.end.0.saturating_sub(FARTHEST_CALL));
        let in_block = |block: u32| {
            let lines = self.function.lines_in_order(block).zip(0u32..);
            let calls = lines.filter(|&((file, line), _)| (file, line & 0xffff) == call);
            calls.map(|(_, number)| (block, number)).filter(|place| places.contains(place)).last()
        };
        (first..=places.end.0).rev().find_map(in_block)
    }

    /// The place of a line in its block. The start of a loop has that of the line in the loop's first block.
    fn place_of(&self, line: &Line) -> LineInBlock {
        let number = self.number_of(line);
        let mut of_block = self.function.lines_in_order(number);
        let is_it = |&(file, other): &(FileId, u32)| (file, other) == (line.file, line.line);
        (number, of_block.position(|other| is_it(&other)).unwrap_or(0) as u32)
    }

    /// The lines and columns of the calls that lead to a copy, from the outermost one.
    fn calls_to(&self, mut instance: u32) -> Vec<(u32, u32)> {
        let mut calls = Vec::new();
        while instance != 0 {
            let InlineInstance { caller, call, column, .. } = self.instances[instance as usize];
            calls.push((call.line, column));
            instance = caller;
        }
        calls.reverse();
        calls
    }

    /// Which blocks of a line each copy has. There is no answer if many positions of the line contradict it.
    pub fn segmented(
        &self,
        function: DeclaredAt,
        lines: &[Line],
        positions: &[PositionEvidence],
    ) -> Option<Segmented> {
        let copies = self.segments.of.get(&function)?;
        // Each position is compared with the blocks of its copy.
        if is_long(positions.len() / copies.len(), lines.len()) {
            return None;
        }
        let copy_of = |line: &Line| {
            let place = self.place_of(line);
            let is_before = |copy: &Segment| copy.places.is_none_or(|(_, last)| last < place);
            let copy = copies.get(copies.partition_point(is_before))?;
            copy.places.filter(|&(first, _)| first <= place)?;
            Some((copy.instance, *line))
        };
        let segmented = Segmented::new(lines.iter().map(copy_of).collect::<Option<_>>()?);
        let has_none =
            |position: &&PositionEvidence| segmented.lines_of(position.at.instance).is_none();
        let against = positions.iter().filter(has_none).count()
            + self.contradicting(positions, &segmented).count();
        (ONE_CONTRADICTION_IN * against <= positions.len()).then_some(segmented)
    }

    /// The positions of copies that have blocks. No such block was executed as often.
    pub fn contradicting<'k>(
        &self,
        positions: &'k [PositionEvidence],
        segmented: &Segmented,
    ) -> impl Iterator<Item = &'k PositionEvidence> {
        positions.iter().filter(|position| {
            let lines = segmented.lines_of(position.at.instance);
            lines.is_some_and(|lines| !self.may_be_of(position, lines))
        })
    }

    /// Whether one of these blocks was executed as often as a position, as far as that is known.
    pub fn may_be_of(&self, position: &PositionEvidence, lines: &[Line]) -> bool {
        match position.count {
            Count::Exactly(count) => lines.iter().any(|line| self.count(line) == count),
            _ => true,
        }
    }

    /// The function that all these positions are inlined copies of.
    pub fn only_function(&self, positions: &[PositionEvidence]) -> Option<DeclaredAt> {
        let function = |position: &PositionEvidence| match position.at.instance {
            0 => None,
            instance => Some(self.instances[instance as usize].declared_at()),
        };
        let first = function(&positions[0])?;
        positions.iter().all(|position| function(position) == Some(first)).then_some(first)
    }
}

/// Extends the segments of copies by a line's places, if each copy may have equally many of them.
fn add(places: &[LineInBlock], copies: &mut [Segment]) {
    if places.is_empty() || !places.len().is_multiple_of(copies.len()) {
        return;
    }
    let size = places.len() / copies.len();
    for (copy, its) in copies.iter_mut().zip(places.chunks(size)) {
        let (first, last) = copy.places.unwrap_or((its[0], its[0]));
        copy.places = Some((first.min(its[0]), last.max(its[size - 1])));
    }
}

/// Whether each copy's segment ends before that of the next one.
fn are_apart(copies: &[Segment]) -> bool {
    copies.windows(2).all(|pair| match (pair[0].places, pair[1].places) {
        (Some((_, last)), Some((next, _))) => last < next,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_equally_many_blocks_in_each_copy() {
        let places = |blocks: &[u32]| -> Vec<LineInBlock> {
            blocks.iter().map(|&block| (block, 0)).collect()
        };
        let mut copies = [1, 2].map(|instance| Segment { instance, places: None });
        add(&places(&[4, 5, 19]), &mut copies);
        assert_eq!(copies[0].places, None);
        add(&places(&[4, 19]), &mut copies);
        add(&places(&[3, 9, 17, 18]), &mut copies);
        assert_eq!(
            copies.each_ref().map(|copy| copy.places.unwrap()),
            [((3, 0), (9, 0)), ((17, 0), (19, 0))]
        );
        assert!(are_apart(&copies));
        // The last line of a copy may be in the block that has the first one of the next copy, before it.
        add(&[(3, 0), (17, 1), (17, 0), (18, 0)], &mut copies);
        assert!(!are_apart(&copies));
    }
}
