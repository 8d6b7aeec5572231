//! What a reader is given of an assignment: one count for each position. Each reader has a file that says what it
//! makes of counts.

mod branches;
// The tool alone writes for these readers.
#[cfg(feature = "cli")]
pub mod gcc_10_to_12;
#[cfg(feature = "cli")]
pub mod gcc_13_to_15;
pub mod gcc_16_17;
pub mod hot_calls;
#[cfg(feature = "cli")]
pub mod llvm;
mod shared_lines;
#[cfg(feature = "cli")]
pub mod v4;

use alloc::vec::Vec;
use core::ops::Range;

use self::shared_lines::{Answer, Member, answer_where_needed, are_unlike};
use crate::placement::assignment::{Assignment, NO_BLOCK, PlacedPosition, Provenance};
use crate::placement::reader::{Inline, OfBlock, OfSeveral, Reader};
use crate::placement::solve::counted::{Counted, Line};
use crate::profile::{Body, Position, Profile, RareMap, Record, SymbolId};

/// A position in a function, or in a body inlined there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProfilePosition {
    pub function: SymbolId,
    /// Inlined calls, outermost first.
    pub within: Vec<(Position, SymbolId)>,
    pub position: Position,
}

impl ProfilePosition {
    /// The record of the position in a profile, which may be a new one.
    pub fn record<'p>(&self, profile: &'p mut Profile) -> &'p mut Record {
        let body = &mut profile.functions.entry(self.function).or_default().body;
        body_behind(body, &self.within).positions.entry(self.position).or_default()
    }
}

/// The body behind these inlined calls, the outermost first. It may be a new one.
pub fn body_behind<'b>(mut body: &'b mut Body, within: &[(Position, SymbolId)]) -> &'b mut Body {
    for &(call, callee) in within {
        let inlined = &mut body.positions.entry(call).or_default().inlined;
        if inlined.is_empty() {
            // Few calls have more than one function inlined.
            *inlined = RareMap::with_capacity(1);
        }
        body = inlined.entry(callee).or_default();
    }
    body
}

/// Counts by their places.
#[derive(Debug, Default)]
pub struct Credits {
    copies: Vec<OfCopy>,
    /// The inlined calls of all copies, outermost first.
    within: Vec<(Position, SymbolId)>,
    /// The counts of all copies, by position.
    counts: Vec<Credit>,
}

/// A count of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    pub position: Position,
    pub count: u64,
    /// Whether it was inferred that the count belongs there.
    pub is_estimate: bool,
}

/// Counts of a function, or of a body inlined there.
#[derive(Debug)]
struct OfCopy {
    function: SymbolId,
    within: Range<usize>,
    counts: Range<usize>,
}

impl Credits {
    /// Forgets all of them, and keeps the memory.
    pub fn clear(&mut self) {
        self.copies.clear();
        self.within.clear();
        self.counts.clear();
    }

    /// Adds a count of a function's own.
    pub fn push(&mut self, function: SymbolId, credit: Credit) {
        let (within, counts) = (self.within.len(), self.counts.len());
        self.counts.push(credit);
        let (within, counts) = (within..within, counts..counts + 1);
        self.copies.push(OfCopy { function, within, counts });
    }

    /// The counts of a function of its own, by position, in place of all others. Of equal ones it takes one.
    pub fn fill(&mut self, function: SymbolId, counts: impl Iterator<Item = Credit>) {
        self.clear();
        self.counts.extend(counts);
        self.counts.dedup();
        self.copies.push(OfCopy { function, within: 0..0, counts: 0..self.counts.len() });
    }

    /// The function of each copy, the inlined calls that lead to it, and its counts. A copy may have no counts.
    pub fn iter(&self) -> impl Iterator<Item = CreditOf<'_>> {
        self.copies.iter().map(|OfCopy { function, within, counts }| {
            (*function, &self.within[within.clone()], &self.counts[counts.clone()])
        })
    }
}

/// A function, inlined calls, and counts.
type CreditOf<'c> = (SymbolId, &'c [(Position, SymbolId)], &'c [Credit]);

/// A copy, a position there, a count of it, and whether that is an estimate, in one number: that is sorted fast.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Found(u128);

impl Found {
    /// The line is one of 16 bits.
    fn new(
        instance: u32,
        Position { line, discriminator }: Position,
        count: u64,
        is_estimate: bool,
    ) -> Self {
        let position = u128::from(line << 16 | u32::from(discriminator));
        // The counters have a sign, which their counts do not need.
        let count = u128::from(count.min(i64::MAX as u64)) << 1 | u128::from(is_estimate);
        Self(u128::from(instance) << 96 | position << 64 | count)
    }

    fn instance(self) -> u32 {
        (self.0 >> 96) as u32
    }

    /// The copy and the position.
    fn place(self) -> u64 {
        (self.0 >> 64) as u64
    }

    fn position(self) -> Position {
        let place = self.place() as u32;
        Position { line: place >> 16, discriminator: place as u16 }
    }

    fn count(self) -> u64 {
        self.0 as u64 >> 1
    }

    fn is_estimate(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What a reader is told about a position that was found with these counts, which are sorted.
fn answer(one: &[Found], reader: Reader) -> Answer {
    let (least, greatest) = (one[0].count(), one[one.len() - 1].count());
    let count = match reader.of_several {
        OfSeveral::LeastOfSimilar if are_unlike(least, greatest) => None,
        OfSeveral::Least | OfSeveral::LeastOfSimilar => Some(least),
        OfSeveral::Greatest => Some(greatest),
    };
    Answer { instance: one[0].instance(), count, is_needed: false }
}

/// The count that a position gets. It is an estimate if nothing certain was found that has this count.
fn credit(answer: &Answer, one: &[Found]) -> Option<Credit> {
    let count = answer.count?;
    let certain = one.iter().any(|found| found.count() == count && !found.is_estimate());
    Some(Credit { position: one[0].position(), count, is_estimate: !certain })
}

/// What a reader is given of one function after the other, in the same memory.
#[derive(Default)]
pub struct Projection {
    /// Lines in blocks that have no count, because the counts of their other blocks differ too much.
    pub unanswered: Vec<Line>,
    /// Lines in blocks that have a count in spite of that.
    pub needed: Vec<Line>,
    found: Vec<Found>,
    answers: Vec<Answer>,
    places: Vec<u64>,
}

impl Assignment<'_> {
    /// Finds the counts of a function for a reader, and the lines that have none, or one that is not their own.
    pub fn project(
        &self,
        function: &Counted<'_>,
        reader: Reader,
        projection: &mut Projection,
        credits: &mut Credits,
    ) {
        let Projection { unanswered, needed, found, answers, places } = projection;
        self.find(function.start(), reader, found);
        if reader.of_block == OfBlock::BranchOnly {
            self.keep_branches(function, reader, found);
            self.add_next(function, reader, found);
        }
        let of_places = || found.chunk_by(|a, b| a.place() == b.place());
        answers.clear();
        answers.extend(of_places().map(|one| answer(one, reader)));
        (*unanswered, *needed) = Default::default();
        if reader.of_several == OfSeveral::LeastOfSimilar {
            places.clear();
            places.extend(of_places().map(|one| one[0].place()));
            (*unanswered, *needed) = self.answer(function, reader, places, answers);
        }
        credits.clear();
        credits.counts.reserve(answers.len());
        let mut of_places = of_places();
        for of_copy in answers.chunk_by(|a, b| a.instance == b.instance) {
            let (within, counts) = (credits.within.len(), credits.counts.len());
            let instance = of_copy[0].instance;
            let function = self.lead(function.symbol, instance, reader.inline, &mut credits.within);
            let of_answers = of_copy.iter().zip(of_places.by_ref());
            let counted = of_answers.filter_map(|(answer, one)| credit(answer, one));
            credits.counts.extend(counted);
            let (within, counts) = (within..credits.within.len(), counts..credits.counts.len());
            credits.copies.push(OfCopy { function, within, counts });
        }
    }

    /// Finds answers for positions without a count that the reader needs. Gives the lines that have none, and those
    /// that have one that they need.
    fn answer(
        &self,
        function: &Counted<'_>,
        reader: Reader,
        places: &[u64],
        answers: &mut [Answer],
    ) -> (Vec<Line>, Vec<Line>) {
        let with_block = self.placed.iter().filter(|placed| placed.block != NO_BLOCK);
        let member = |placed: &PlacedPosition| {
            let place = self.one(placed, function.start(), reader).place();
            let answer = places.binary_search(&place).ok()?;
            let member = Member { block: placed.block, answer, count: placed.count };
            Some((member, placed.line()))
        };
        let members: Vec<(Member, Line)> = with_block.filter_map(member).collect();
        let is_unlike = |(member, _): &(Member, Line)| {
            answers[member.answer].count.is_none_or(|count| are_unlike(count, member.count))
        };
        if !members.iter().any(is_unlike) {
            return Default::default();
        }
        let mut sorted: Vec<Member> = members.iter().map(|&(member, _)| member).collect();
        sorted.sort_unstable();
        answer_where_needed(answers, &sorted, function);
        let lines_of = |is_wanted: fn(&Answer) -> bool| {
            let wanted = members.iter().filter(|(member, _)| is_wanted(&answers[member.answer]));
            let mut lines: Vec<Line> = wanted.map(|&(_, line)| line).collect();
            lines.sort_unstable();
            lines.dedup();
            lines
        };
        let answered = lines_of(|answer| answer.count.is_some());
        let mut unanswered = lines_of(|answer| answer.count.is_none());
        // Copies may share a block. The profile has it if one of them has a count.
        unanswered.retain(|line| answered.binary_search(line).is_err());
        (unanswered, lines_of(|answer| answer.is_needed))
    }

    /// Finds what a reader finds in each copy, sorted.
    fn find(&self, own_start: u32, reader: Reader, found: &mut Vec<Found>) {
        found.clear();
        let mut weak = Vec::new();
        for placed in &self.placed {
            let one = self.one(placed, own_start, reader);
            match placed.provenance {
                // Without discriminators its count would be taken for that of the loop.
                Provenance::Preheader if !reader.discriminators => {}
                _ if reader.of_several == OfSeveral::Greatest => found.push(one),
                Provenance::Code | Provenance::Order | Provenance::Gap => found.push(one),
                Provenance::Preheader => found.push(one),
                _ => weak.push(one),
            }
        }
        found.sort_unstable();
        weak.retain(|weak| {
            let place = found.partition_point(|strong| strong.place() < weak.place());
            found.get(place).is_none_or(|strong| strong.place() != weak.place())
        });
        if !weak.is_empty() {
            found.append(&mut weak);
            found.sort_unstable();
        }
    }

    /// What a position says about its place in the profile.
    fn one(&self, placed: &PlacedPosition, own_start: u32, reader: Reader) -> Found {
        let discriminator = if reader.discriminators { placed.at.discriminator } else { 0 };
        let start = self
            .instances
            .get(placed.at.instance as usize)
            .map_or(own_start, |instance| instance.start);
        let line = placed.at.line.wrapping_sub(start) & 0xffff;
        let position = Position { line, discriminator };
        Found::new(placed.at.instance, position, placed.count, placed.is_estimate())
    }

    /// A position of a copy as a place in the profile.
    pub fn place_of(
        &self,
        function: SymbolId,
        instance: u32,
        position: Position,
        inline: Inline,
    ) -> ProfilePosition {
        let mut within = Vec::new();
        let function = self.lead(function, instance, inline, &mut within);
        ProfilePosition { function, within, position }
    }

    /// The function whose body has the counts of a copy. Adds the inlined calls that lead to the copy there.
    fn lead(
        &self,
        function: SymbolId,
        instance: u32,
        inline: Inline,
        within: &mut Vec<(Position, SymbolId)>,
    ) -> SymbolId {
        if instance != 0 && inline == Inline::Flat {
            return self.instances[instance as usize].symbol;
        }
        let (first, mut at) = (within.len(), instance);
        while at != 0 {
            let link = &self.instances[at as usize];
            within.push((link.call, link.symbol));
            at = link.caller;
        }
        within[first..].reverse();
        function
    }
}
