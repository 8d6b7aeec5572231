//! Lines of functions and of copies that left no trace in the code. They are inlined near other lines of their blocks.
//!
//! ```c
//! static inline void set(int *p) { *p = 1; }
//! set(&a); a = 2;     /* nothing is left of set: its line is behind this one in the block, so here is a copy */
//! ```
//!
//! Consumes lines of functions that have no copy here, and blocks that are left when all copies of a function have
//! theirs: those belong to one more copy. The count is exact. The copy is an estimate: the line before in the block
//! need not be that of the call.

use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use super::likeness::{common, foreign_identifiers};
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Elsewhere, Missing, Provenance};
use crate::placement::facts::Facts;
use crate::placement::known_positions::KnownPositions;
use crate::placement::observe::{InlineInstance, SourcePosition};
use crate::placement::solve::counted::Line;
use crate::placement::starts::Start;
use crate::profile::{FileId, Position, SymbolId};

/// Gives blocks that all known copies leave to copies that the debug information lacks.
pub fn place_copies<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    let missing = mem::take(&mut assignment.open.missing);
    if missing.is_empty() {
        return;
    }
    let mut placing = Placing::new(facts, assignment);
    for Missing { line, instance } in missing {
        placing.missing_copy(&line, instance);
    }
    placing.finish();
}

/// Handles lines of functions that left no trace in the code. Each is inlined where the line before it in
/// its block stands, or else the line behind it.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    let others = mem::take(&mut assignment.open.others);
    if others.is_empty() {
        return;
    }
    let mut placing = Placing::new(facts, assignment);
    for (lines, starts) in others {
        placing.lines_of_other(lines, starts);
    }
    placing.finish();
}

/// Gives lines to copies that are not known.
struct Placing<'p, 'a, 'f, 'n> {
    facts: &'p Facts<'f, 'n>,
    assignment: &'p mut Assignment<'a>,
    known: KnownPositions,
}

impl<'p, 'a, 'f, 'n> Placing<'p, 'a, 'f, 'n> {
    fn new(facts: &'p Facts<'f, 'n>, assignment: &'p mut Assignment<'a>) -> Self {
        let known = assignment.open.known.take().unwrap_or_else(|| {
            let placed = assignment.placed.iter().map(|placed| (placed.block, placed.at));
            KnownPositions::of(placed, &assignment.instances)
        });
        Self { facts, assignment, known }
    }

    fn finish(self) {
        self.assignment.open.known = Some(self.known);
    }

    fn lines_of_other(&mut self, lines: &[Line], starts: &[Start]) {
        let mut most = None;
        for line in lines {
            match self.neighbour(line) {
                Some(call) => {
                    let start = self.called(line.file, starts, self.function_at(call));
                    let callee = (start.symbol, start.line);
                    self.inlined_at(line, callee, call, Rule::UnrecordedInlines);
                }
                None => most = most.max(Some(self.facts.count(line).max(0) as u64)),
            }
        }
        if let Some(most) = most {
            let start = self.called(lines[0].file, starts, self.facts.function.symbol);
            let (of, line) = ((lines[0].file, lines[0].line), lines[0].line - start.line);
            let elsewhere = Elsewhere { symbol: start.symbol, line, of };
            self.assignment.elsewhere.push((elsewhere, most));
        }
    }

    /// Adds a line of a copy that the debug information lacks. It is called at the line before it.
    fn missing_copy(&mut self, line: &Line, other: u32) {
        let InlineInstance { symbol, start, .. } = self.assignment.instances[other as usize];
        let is_caller = |at: &SourcePosition| self.function_at(*at) != symbol;
        match self.known_before(line).filter(is_caller) {
            Some(call) => {
                self.inlined_at(line, (symbol, start), call, Rule::UnrecordedCopies);
            }
            None => {
                let discriminator = self.known.next(other, line.file, line.line);
                let Line { file, line: number, .. } = *line;
                let at = SourcePosition { instance: other, file, line: number, discriminator };
                let how = (Rule::UnrecordedCopies, Provenance::Guess);
                self.assignment.place(self.facts, at, line, how);
            }
        }
    }

    /// Where the line before a line in its block stands, or else the line behind it.
    fn neighbour(&self, line: &Line) -> Option<SourcePosition> {
        self.known_before(line).or_else(|| {
            let itself = (line.file, line.line);
            let from_it =
                self.facts.function.lines_in_order(line.block).skip_while(|&at| at != itself);
            from_it.skip(1).find_map(|at| self.known.first_in(line.block, at))
        })
    }

    /// The last known position before a line in its block.
    fn known_before(&self, line: &Line) -> Option<SourcePosition> {
        let itself = (line.file, line.line);
        let of_block = self.facts.function.lines_in_order(line.block);
        let place = of_block.clone().position(|at| at == itself).unwrap_or(0);
        of_block.take(place).rev().find_map(|at| self.known.first_in(line.block, at))
    }

    /// The function that has a position.
    fn function_at(&self, at: SourcePosition) -> SymbolId {
        let instance = self.assignment.instances.get(at.instance as usize);
        instance.map_or(self.facts.function.symbol, |instance| instance.symbol)
    }

    /// Adds a line of a function, which starts at a line, that is inlined at a position.
    fn inlined_at(
        &mut self,
        line: &Line,
        (symbol, start): (SymbolId, u32),
        call: SourcePosition,
        rule: Rule,
    ) {
        let caller = self.assignment.instances.get(call.instance as usize);
        let behind = call.line.wrapping_sub(caller.map_or(0, |instance| instance.start)) & 0xffff;
        let at = Position { line: behind, discriminator: call.discriminator };
        let (caller, file) = (call.instance, line.file);
        let instance =
            InlineInstance { caller, call: at, symbol, start, file, calls: 1, column: 0 };
        let instances = &mut self.assignment.instances;
        let place = *self.known.instances.entry(instance).or_insert_with(|| {
            instances.push(instance);
            instances.len() as u32 - 1
        });
        let discriminator = self.known.next(place, line.file, line.line);
        let at =
            SourcePosition { instance: place, file: line.file, line: line.line, discriminator };
        self.assignment.place(self.facts, at, line, (rule, Provenance::Neighbour));
    }

    /// Several functions may start on one line, such as instances of a template. Picks the one whose mangled name is
    /// most like the caller's: with the longest common part, then the fewest foreign identifiers, then the most shared
    /// ones.
    fn called(&mut self, file: FileId, starts: &[Start], caller: SymbolId) -> Start {
        if let [only] = starts {
            return *only;
        }
        let facts = self.facts;
        let known = self.known.called.entry((file, starts[0].line, caller));
        *known.or_insert_with(|| *likeliest(facts, starts, facts.symbols.name(caller)))
    }
}

/// The function that starts on a line and whose name is most like the caller's.
fn likeliest<'s>(facts: &Facts<'_, '_>, starts: &'s [Start], caller: &[u8]) -> &'s Start {
    if !facts.rules.has(Rule::Likeness) {
        return &starts[0];
    }
    let in_common: Vec<usize> =
        starts.iter().map(|start| common(facts.symbols.name(start.symbol), caller)).collect();
    let most = in_common.iter().max();
    let likely = starts.iter().zip(&in_common).filter(|&(_, in_common)| Some(in_common) == most);
    let unlikeness = |start: &&Start| {
        let (foreign, shared) = foreign_identifiers(facts.symbols.name(start.symbol), caller);
        (foreign, Reverse(shared))
    };
    likely.rev().map(|(start, _)| start).min_by_key(unlikeness).unwrap_or(&starts[0])
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    /// The debug information knows the function, but no copy of it.
    #[test]
    fn a_line_is_inlined_where_the_line_before_it_stands() {
        let mut made = Made::new(&[(2, 0, 110), (2, 1, 12)], &[], &[5, 5, 5]);
        made.declare();
        made.observe(0, 110, 0, Some(5));
        let expected =
            [(0, 110, 0, 2, 5, Rule::OnlyBlock), (1, 12, 0, 2, 5, Rule::UnrecordedInlines)];
        assert_eq!(made.place(RuleSet::ALL), expected);
    }
    /// A third call in block 4. The debug information has the copies of the other two.
    #[test]
    fn a_block_that_is_left_belongs_to_one_more_copy() {
        let calls = [(2, 110, 7), (3, 111, 5), (4, 113, 3)];
        let lines: Vec<_> =
            calls.iter().flat_map(|&(block, line, _)| [(block, 0, line), (block, 1, 12)]).collect();
        let mut made = Made::new(&lines, &[], &[7, 7, 7, 5, 3]);
        for (_, line, count) in calls {
            made.observe(0, line, 0, Some(count));
        }
        for line in [110, 111] {
            let copy = made.copy(line);
            made.observe(copy, 12, 0, None);
        }
        let placed = made.place(RuleSet::ALL);
        let expected = [
            (1, 12, 0, 2, 7, Rule::OnlyBlock),
            (2, 12, 0, 3, 5, Rule::OnlyBlock),
            (3, 12, 0, 4, 3, Rule::UnrecordedCopies),
        ];
        assert_eq!(placed[3..], expected);
    }
}
