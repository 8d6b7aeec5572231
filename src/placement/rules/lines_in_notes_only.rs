//! Lines that the machine code does not show: the functions that they belong to, and how the copies of such a
//! function share the blocks.
//!
//! ```c
//! static inline void touch(int x) { (void)x; }    /* inlined twice, and nothing is left of either copy */
//! touch(a);               /* executed nine times */
//! if (b) touch(c);        /* executed four times, as one of the blocks of touch was: that is this copy's */
//! ```
//!
//! Consumes the lines that only the notes have. A line of the function itself, or of its only copy, is exact. Copies
//! that were entered as often as a block was executed have that block. Other copies get one by [`Rule::EnteredCopies`],
//! which is an estimate. Lines of functions that are not known to be inlined here are left to `unrecorded_inlines`.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::mem;

use super::discriminators::in_copy;
use crate::placement::Rule;
use crate::placement::assignment::{Assignment, Provenance, SharingMemory};
use crate::placement::facts::Facts;
use crate::placement::facts::call_order::CallOrder;
use crate::placement::lost::Lost;
use crate::placement::observe::{InlineInstance, SourcePosition};
use crate::placement::solve::counted::Line;
use crate::placement::starts::Start;
use crate::profile::FileId;

/// The copy that stands for the function itself.
const ITSELF: Cow<'static, [u32]> = Cow::Borrowed(&[0]);

/// The function that a line belongs to.
enum Owner<'s> {
    /// These copies of it.
    Copies(Cow<'static, [u32]>),
    /// One of these functions. It is not known to be inlined here.
    Others(&'s [Start]),
    /// No known function.
    Unknown,
}

/// Gives lines that the code does not show to the functions that they belong to.
pub fn place<'a>(facts: &'a Facts<'_, '_>, assignment: &mut Assignment<'a>) {
    for lines in &facts.in_notes_only {
        let lines = &facts.lines[lines.clone()];
        let Line { file, line, .. } = lines[0];
        match facts.owner(file, line) {
            Owner::Copies(instances) => {
                if !share_by_copy(facts, assignment, lines, &instances) {
                    share(facts, assignment, lines, &instances, Rule::LinesInNotesOnly);
                }
            }
            Owner::Others(starts) => assignment.open.others.push((lines, starts)),
            Owner::Unknown => {
                let lost = |line: &Line| (*line, facts.count(line).max(0) as u64, Lost::NoFunction);
                assignment.lost.extend(lines.iter().map(lost));
            }
        }
    }
}

/// Gives the blocks of a line to the copies of its function, if it is known which blocks each copy has.
fn share_by_copy(
    facts: &Facts<'_, '_>,
    assignment: &mut Assignment<'_>,
    lines: &[Line],
    instances: &[u32],
) -> bool {
    let function = |&instance: &u32| facts.instances[instance as usize].declared_at();
    let first = function(&instances[0]);
    if instances.len() == 1 || instances.iter().any(|instance| function(instance) != first) {
        return false;
    }
    let found = facts.rules.has(Rule::CallOrder).then(|| facts.call_order(first, lines, &[]));
    let found = found.flatten().filter(|found| found.is_complete);
    let (rule, known, left) = match found {
        Some(CallOrder { known, lines, .. }) => (Rule::CallOrder, Some(known), lines),
        None if assignment.open.agree.get(&first) != Some(&true) => return false,
        None => (Rule::Segments, facts.segmented(first, lines, &[]), Vec::new()),
    };
    let Some(known) = known else { return false };
    for (instance, its) in &known.copies {
        in_copy(facts, assignment, *instance, &known.lines[its.clone()], rule);
    }
    assignment.add_missing(instances[0], &left);
    true
}

/// Gives the blocks of a line to the copies of its function: first to those that were entered as often as
/// the block was executed.
pub fn share(
    facts: &Facts<'_, '_>,
    assignment: &mut Assignment<'_>,
    lines: &[Line],
    instances: &[u32],
    rule: Rule,
) {
    if let ([line], &[instance]) = (lines, instances) {
        let at = SourcePosition { instance, file: line.file, line: line.line, discriminator: 0 };
        return assignment.place(facts, at, line, (rule, Provenance::Notes));
    }
    let SharingMemory { mut next, mut by_count } = mem::take(&mut assignment.open.sharing);
    next.clear();
    next.resize(instances.len(), 0u16);
    by_count.clear();
    by_count.extend(lines.iter().map(|line| (facts.count(line), *line)));
    by_count.sort_by_key(|&(count, _)| count);
    for blocks in by_count.chunk_by(|a, b| a.0 == b.0) {
        let (places, provenance) = sharers(facts, assignment, blocks[0].0, instances);
        // Several copies may be in one block, for instance calls in one expression.
        let (rule, times) = match provenance {
            Provenance::Notes => (rule, blocks.len().max(places.len())),
            _ => (Rule::EnteredCopies, blocks.len()),
        };
        if !facts.rules.has(rule) {
            continue;
        }
        for time in 0..times {
            let place = places[time * places.len() / times];
            let line = blocks[time * blocks.len() / times].1;
            let Line { file, line: at, .. } = line;
            let at = SourcePosition {
                instance: instances[place],
                file,
                line: at,
                discriminator: next[place],
            };
            next[place] = next[place].saturating_add(1);
            assignment.place(facts, at, &line, (rule, provenance));
        }
    }
    assignment.open.sharing = SharingMemory { next, by_count };
}

/// The copies that blocks of a line with this count may belong to, by their indexes in `instances`, and how
/// that is known. There is at least one.
fn sharers(
    facts: &Facts<'_, '_>,
    assignment: &Assignment<'_>,
    count: i64,
    instances: &[u32],
) -> (Cow<'static, [usize]>, Provenance) {
    let which = |fits: &dyn Fn(u32) -> bool| -> Vec<usize> {
        (0..instances.len()).filter(|&place| fits(instances[place])).collect()
    };
    if instances.len() == 1 {
        return (Cow::Borrowed(&[0]), Provenance::Notes);
    }
    let entered = |instance: u32| facts.entered.get(instance as usize).copied().flatten();
    let exactly = which(&|instance| entered(instance) == Some(count));
    if !exactly.is_empty() {
        return (exactly.into(), Provenance::Notes);
    }
    let counts = &assignment.open.counts;
    let has_such =
        |instance: u32| u64::try_from(count).is_ok_and(|count| counts.contains(&(instance, count)));
    let may_be = |instance: u32| count == 0 || entered(instance) != Some(0);
    let attempts: [&dyn Fn(u32) -> bool; 3] = [
        &|instance| may_be(instance) && has_such(instance),
        &|instance| entered(instance).is_none(),
        &may_be,
    ];
    let found = attempts.into_iter().map(which).find(|places| !places.is_empty());
    (found.unwrap_or_else(|| which(&|_| true)).into(), Provenance::Guess)
}

impl<'f> Facts<'f, '_> {
    /// Whether the debug information shows a line in a copy that cannot have it: the notes say that another function
    /// has it. Compilers move code out of inlined copies.
    pub fn is_strayed(&self, at: &SourcePosition) -> bool {
        let Some(instance) = self.instances.get(at.instance as usize) else { return false };
        let is_behind = instance.file == at.file && at.line >= instance.start;
        if is_behind || self.home.is_some() {
            return false;
        }
        let around = self.starts.around(at.file, at.line).unwrap_or_default();
        let has = |start: &Start| start.end.is_some_and(|end| at.line <= end);
        around.iter().any(has) && around.iter().all(|start| start.symbol != instance.symbol)
    }

    /// The function that a line belongs to, by where functions start and end.
    fn owner(&self, file: FileId, line: u32) -> Owner<'f> {
        let function = self.function;
        let is_artificial = function.notes.artificial;
        let is_own = file == function.file && (function.start() <= line || is_artificial);
        let may_be_itself =
            is_own && (line <= function.notes.end_line || self.is_renumbered || is_artificial);
        let owner = match may_be_itself || self.has_copies() {
            true => self.nearest_owner(file, line, may_be_itself),
            false => self.starts.around(file, line).map(Owner::Others),
        };
        let is_included = self.is_included(file);
        owner.unwrap_or(match is_own || self.is_renumbered || is_included {
            true => Owner::Copies(ITSELF),
            false => Owner::Unknown,
        })
    }

    /// Whether a file is text that is included within the function, and not a header whose functions left no trace: no
    /// other function has lines of it, or the code shows lines of it in this one.
    fn is_included(&self, file: FileId) -> bool {
        self.has_code
            && !self.starts.knows(file)
            && (self.included.contains(&file)
                || self.starts.is_only_user(file, self.function.symbol))
    }

    /// The owner of a line among the functions that start before it. It may be the function itself, or a copy inlined
    /// in it.
    fn nearest_owner(&self, file: FileId, line: u32, may_be_itself: bool) -> Option<Owner<'f>> {
        for starts in self.starts.before(file, line) {
            let is_itself = |start: &Start| start.symbol == self.function.symbol;
            if may_be_itself && starts.iter().any(is_itself) {
                return Some(Owner::Copies(ITSELF));
            }
            let instances = self.copies_of(starts, line);
            if !instances.is_empty() {
                return Some(Owner::Copies(instances.into()));
            }
            if starts.iter().any(|start| start.has(line)) {
                let is_home = may_be_itself && self.home == Some(starts[0].line);
                return Some(if is_home { Owner::Copies(ITSELF) } else { Owner::Others(starts) });
            }
        }
        None
    }

    /// The inlined copies of functions that start here and may go on until a line.
    fn copies_of(&self, starts: &[Start], line: u32) -> Vec<u32> {
        let is_open = |start: &&Start| match start.end {
            Some(end) => line <= end || end == start.line,
            None => true,
        };
        let is_its = |instance: &InlineInstance| {
            starts.iter().filter(is_open).any(|start| start.symbol == instance.symbol)
        };
        let instances = self.instances.iter().zip(0u32..).skip(1);
        instances.filter(|(instance, _)| is_its(instance)).map(|(_, place)| place).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::placement::facts::made::Made;
    use crate::placement::{Rule, RuleSet};

    #[test]
    fn a_line_of_the_function_itself() {
        let made = Made::new(&[(2, 0, 110)], &[], &[5, 5, 5]);
        assert_eq!(made.place(RuleSet::ALL), [(0, 110, 0, 2, 5, Rule::LinesInNotesOnly)]);
    }

    /// The second copy was entered as often as the block was executed.
    #[test]
    fn a_line_of_the_copy_that_was_entered_as_often() {
        let lines = [(2, 0, 110), (3, 0, 111), (4, 1, 12)];
        let mut made = Made::new(&lines, &[], &[9, 9, 9, 4, 4]);
        for (line, count) in [(110, 9), (111, 4)] {
            made.observe(0, line, 0, Some(count));
            made.copy(line);
        }
        let placed = made.place(RuleSet::ALL);
        assert_eq!(placed.last(), Some(&(2, 12, 0, 4, 4, Rule::LinesInNotesOnly)));
    }

    /// No copy was entered five times, and the first one never.
    #[test]
    fn a_line_of_a_copy_that_may_have_been_entered() {
        let made = || {
            let lines = [(2, 0, 110), (3, 0, 111), (4, 1, 12)];
            let mut made = Made::new(&lines, &[], &[4, 4, 0, 4, 5]);
            for (line, count) in [(110, 0), (111, 4)] {
                made.observe(0, line, 0, Some(count));
                made.copy(line);
            }
            made
        };
        let placed = made().place(RuleSet::ALL);
        assert_eq!(placed.last(), Some(&(2, 12, 0, 4, 5, Rule::EnteredCopies)));
        let certain = made().place(RuleSet::ALL.without(Rule::EnteredCopies));
        assert!(certain.iter().all(|placed| placed.0 == 0), "{certain:?}");
    }
}
