//! Which line of a function became which: an alignment of the lines that a profile has with those that the program has
//! now.
//!
//! A profile does not keep its source. But the pattern of lines with and without code tells much, and so do calls and
//! discriminators. The best alignment explains the pattern with few gaps, where lines were added or removed.
//! Where the pattern leaves open at which line a gap starts, the lines between the first and the last choice are
//! [`Fate::Open`].

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use super::outline::{Knows, Line, Shape};

/// What became of a line of the profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is where it was.
    Same,
    /// It may be where it was. The number is how far it would otherwise have moved.
    Open(i64),
    /// It is this many lines further down. Another line is where it was, or none.
    Moved(i64),
    /// It has no code any more.
    Gone,
}

/// Tables have at most this many cells. Further away no counterpart is looked for.
const MOST_CELLS: usize = 1 << 23;
/// Profiles that leave lines out must show that many lines that have moved.
const FEWEST_OF_SOME: usize = 4;
/// Longer functions are not aligned: only whether a line exists is compared.
const LONGEST: i64 = 1 << 14;

/// What two lines have in common, or a gap costs. A gap must explain more than one or two lines to pay.
mod score {
    pub const BOTH_CODE: i32 = 100;
    /// For lines that are where they were.
    pub const SAME_PLACE: i32 = 12;
    /// The same if the profile leaves lines out: gaps then explain too much.
    pub const SAME_PLACE_OF_SOME: i32 = 75;
    pub const BOTH_BLANK: i32 = 10;
    /// Optimised programs lose the code of some lines.
    pub const OLD_CODE: i32 = -50;
    /// Profiles lack some lines.
    pub const NEW_CODE: i32 = -10;
    pub const SAME_CALLS: i32 = 150;
    pub const OTHER_CALLS: i32 = -80;
    pub const SAME_DISCRIMINATORS: i32 = 50;
    pub const GAP: i32 = -180;
    pub const GAP_LINE: i32 = -2;
    /// Gaps must explain this much more than no gap: most functions are as they were.
    pub const DOUBT: i32 = 60;
    /// One of both has more lines at its end.
    pub const END: i32 = -110;
    /// One more: it may be the closing brace, which only debug information has.
    pub const BRACE: i32 = -40;
    pub const NEVER: i32 = i32::MIN / 2;
}

/// What became of each line of `old`. The declaration is where it was: lines are counted from there. Lines before it
/// are only looked for where they were.
pub fn align(old: &Shape, new: &Shape, knows: Knows) -> BTreeMap<i64, Fate> {
    let end = |shape: &Shape| shape.lines.last_key_value().map_or(0, |(&last, _)| last).max(0);
    let (old_end, new_end) = (end(old), end(new));
    let calls_differ = knows.calls && have_other_calls(old, new);
    let is_explained = !calls_differ && is_explained(old, new, knows);
    if is_explained || old_end == 0 || new_end == 0 || old_end.max(new_end) > LONGEST {
        return unchanged(old, new);
    }
    let start = 1;
    let rows = sequence(old, start, old_end);
    let columns = sequence(new, start, new_end);
    let mut table = Table::new(&rows, &columns, knows, Way::Forward);
    let doubt = if calls_differ { 0 } else { score::DOUBT };
    let needed = table.unchanged().saturating_add(doubt);
    if table.most() < needed {
        return unchanged(old, new);
    }
    table.fill();
    if table.best < needed {
        return unchanged(old, new);
    }
    let forward = table.pairs();
    let (rows, columns) = (reversed(&rows), reversed(&columns));
    let mut table = Table::new(&rows, &columns, knows, Way::Backward);
    table.fill();
    let mut backward = table.pairs();
    backward.reverse();
    let last = columns.len() as i64 - 1;
    let behind = old.lines.range(start..);
    let moved = behind.map(|(&line, _)| {
        let row = (line - start) as usize;
        let shift = |column: i64| column - row as i64;
        let one = forward[row].map(|column| shift(column as i64));
        let other = backward[row].map(|column| shift(last - column as i64));
        let fate = match (one, other) {
            (Some(0), Some(0)) => Fate::Same,
            (Some(one), Some(other)) if one == other => Fate::Moved(one),
            (Some(0), Some(other)) | (Some(other), Some(0)) => Fate::Open(other),
            (Some(0), None) | (None, Some(0)) => Fate::Open(0),
            (Some(by), _) | (None, Some(by)) => Fate::Moved(by),
            (None, None) => Fate::Gone,
        };
        (line, fate)
    });
    let mut fates = existing(old, new);
    fates.extend(moved);
    if !knows.profile_is_whole && !calls_differ && found_again(old, new, &fates) < FEWEST_OF_SOME {
        return unchanged(old, new);
    }
    forgive_unlikely(&mut fates, old, new, knows);
    forgive_lost_code(&mut fates, new);
    fates
}

/// Lines that have moved, between lines that are where they were, or behind them, where too few lines and no call show
/// the move. Optimisation that takes the code of some lines is likelier.
fn forgive_unlikely(fates: &mut BTreeMap<i64, Fate>, old: &Shape, new: &Shape, knows: Knows) {
    const FEW: usize = 2;
    let lines: Vec<(i64, Fate)> = fates.iter().map(|(&line, &fate)| (line, fate)).collect();
    let is_same = |(line, fate): &(i64, Fate)| {
        *fate == Fate::Same && (*line == 0 || new.lines.contains_key(line))
    };
    let has_calls = |line: &i64| old.lines.get(line).is_some_and(|line| !line.calls.is_empty());
    let mut runs = lines.split(is_same).peekable();
    while let Some(run) = runs.next() {
        let moved = run.iter().filter(|(_, fate)| matches!(fate, Fate::Moved(_) | Fate::Open(_)));
        let moved: Vec<i64> = moved.map(|&(line, _)| line).collect();
        let is_taken_back = runs.peek().is_some();
        let is_unlikely = match is_taken_back && !knows.profile_is_whole {
            true => Evidence::of(run, old, new).is_weak(),
            false => moved.len() <= FEW && !moved.iter().any(has_calls),
        };
        if is_unlikely {
            fates.extend(run.iter().map(|&(line, _)| (line, Fate::Same)));
        }
    }
}

/// What shows that lines have moved, less what shows that they have not.
#[derive(Default)]
struct Evidence {
    /// Lines with code only where they may have moved to.
    lines: i64,
    /// Lines that make their calls only there.
    calls: i64,
}

impl Evidence {
    /// Whether chance explains it as well. A move that the lines behind take back needs as many lines added as removed.
    /// And a profile that leaves lines out fits some lines of a long function by chance: 10 of 510 in one of Lua's.
    const fn is_weak(&self) -> bool {
        const FEW: i64 = 12;
        self.lines <= FEW && self.calls <= 0
    }

    fn of(run: &[(i64, Fate)], old: &Shape, new: &Shape) -> Self {
        let mut evidence = Self::default();
        for &(line, fate) in run {
            let (Fate::Moved(by) | Fate::Open(by)) = fate else { continue };
            let (here, there) = (new.lines.get(&line), new.lines.get(&(line + by)));
            let calls = |new: Option<&Line>| {
                let calls = old.lines.get(&line).map(|line| &line.calls);
                new.zip(calls).is_some_and(|(new, calls)| !new.calls.is_disjoint(calls))
            };
            evidence.lines += i64::from(there.is_some()) - i64::from(here.is_some());
            evidence.calls += i64::from(calls(there)) - i64::from(calls(here));
        }
        evidence
    }
}

/// Number of lines that have no code where they were, and have some where they may have moved to.
fn found_again(old: &Shape, new: &Shape, fates: &BTreeMap<i64, Fate>) -> usize {
    let is_found = |line: &&i64| {
        let is_moved = matches!(fates.get(*line), Some(Fate::Moved(_) | Fate::Open(_)));
        is_moved && !new.lines.contains_key(*line)
    };
    old.lines.keys().filter(is_found).count()
}

/// Whether no edit is needed to explain the differences: optimisation takes the code of lines away, and profiles that
/// are not whole lack lines.
fn is_explained(old: &Shape, new: &Shape, knows: Knows) -> bool {
    /// Debug information and notes differ in which of the first lines they name.
    const FROM: i64 = 2;
    let end = |shape: &Shape| shape.lines.last_key_value().map(|(&line, _)| line);
    // The program's last line may be the closing brace, which only debug information has.
    let brace = end(new).filter(|&last| Some(last) > end(old));
    let (some, all) = if knows.profile_is_whole { (new, old) } else { (old, new) };
    let mut lines = some.lines.range(FROM..).map(|(&line, _)| line);
    lines.all(|line| all.lines.contains_key(&line) || Some(line) == brace)
}

/// Whether a line that made calls makes only others where it was, or several calls are made by other lines.
fn have_other_calls(old: &Shape, new: &Shape) -> bool {
    const SEVERAL: usize = 2;
    let is_elsewhere = |name: &Vec<u8>| {
        let gained = |(distance, line): (&i64, &Line)| {
            let before = old.lines.get(distance);
            line.calls.contains(name) && !before.is_some_and(|before| before.calls.contains(name))
        };
        new.lines.iter().any(gained)
    };
    let (mut others, mut moved) = (0, 0);
    for (distance, line) in old.lines.iter().filter(|(_, line)| !line.calls.is_empty()) {
        let Some(now) = new.lines.get(distance).filter(|now| !now.calls_others) else { continue };
        if line.calls.is_disjoint(&now.calls) {
            others += usize::from(now.has_calls());
            moved += usize::from(line.calls.iter().any(is_elsewhere));
        }
    }
    others > 0 || moved >= SEVERAL
}

/// The result if no lines were added or removed.
fn unchanged(old: &Shape, new: &Shape) -> BTreeMap<i64, Fate> {
    let mut fates = existing(old, new);
    forgive_lost_code(&mut fates, new);
    fates
}

/// Whether there is a line where each line was.
fn existing(old: &Shape, new: &Shape) -> BTreeMap<i64, Fate> {
    let is_there = |line: &i64| *line == 0 || new.lines.contains_key(line);
    let fate = |line| if is_there(line) { Fate::Same } else { Fate::Gone };
    old.lines.keys().map(|line| (*line, fate(line))).collect()
}

/// Lines without code between lines that are where they were: nothing shows that they have changed.
fn forgive_lost_code(fates: &mut BTreeMap<i64, Fate>, new: &Shape) {
    let lines: Vec<(i64, Fate)> = fates.iter().map(|(&line, &fate)| (line, fate)).collect();
    for (place, &(line, fate)) in lines.iter().enumerate() {
        if fate != Fate::Gone || new.lines.contains_key(&line) {
            continue;
        }
        let (before, behind) = (&lines[..place], &lines[place + 1..]);
        if is_settled(before.iter().rev(), new) && is_settled(behind.iter(), new) {
            fates.insert(line, Fate::Same);
        }
    }
}

/// Whether the next line that has code now is where it was.
fn is_settled<'f>(mut lines: impl Iterator<Item = &'f (i64, Fate)>, new: &Shape) -> bool {
    let next = lines.find(|(line, _)| new.lines.contains_key(line));
    next.is_none_or(|(_, fate)| *fate == Fate::Same)
}

fn reversed<'l>(lines: &[Option<&'l Line>]) -> Vec<Option<&'l Line>> {
    lines.iter().rev().copied().collect()
}

/// The lines from `start` to `end`, `None` for those without code.
fn sequence(shape: &Shape, start: i64, end: i64) -> Vec<Option<&Line>> {
    let mut lines = vec![None; (end - start + 1) as usize];
    for (distance, line) in shape.lines.range(start..) {
        lines[(distance - start) as usize] = Some(line);
    }
    lines
}

/// What the last step to a cell was.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Both lines are one.
    Both = 0,
    /// The old line was removed.
    Removed = 1,
    /// The new line was added.
    Added = 2,
}

/// Whether the lines stand in their order, or the last one first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

const STATES: [State; 3] = [State::Both, State::Removed, State::Added];

/// The best alignment of each beginning of the old lines with each beginning of the new ones, near the diagonal.
struct Table<'t> {
    old: &'t [Option<&'t Line>],
    new: &'t [Option<&'t Line>],
    knows: Knows,
    way: Way,
    /// By how much the columns of lines that are where they were differ from their rows.
    same: i64,
    /// Greatest distance from the diagonal.
    band: usize,
    /// For each cell and state, two bits each: the state before.
    before: Vec<u8>,
    /// The best state in the last cell.
    last: State,
    /// Its score.
    best: i32,
}

type Scores = [i32; 3];

impl<'t> Table<'t> {
    fn new(
        old: &'t [Option<&'t Line>],
        new: &'t [Option<&'t Line>],
        knows: Knows,
        way: Way,
    ) -> Self {
        let same = match way {
            Way::Forward => 0,
            Way::Backward => new.len() as i64 - old.len() as i64,
        };
        let longest = old.len().max(new.len()) + 1;
        let widest = (MOST_CELLS / longest).max(64);
        let difference = old.len().abs_diff(new.len());
        let band = longest.min(widest.max(difference + 16));
        let before = Vec::new();
        let (last, best) = (State::Both, score::NEVER);
        Self { old, new, knows, way, same, band, before, last, best }
    }

    /// The place of a cell, if it is near the diagonal.
    fn cell(&self, row: usize, column: usize) -> Option<usize> {
        let offset = (column + self.band).checked_sub(row)?;
        (offset <= 2 * self.band && column <= self.new.len())
            .then_some(row * (2 * self.band + 1) + offset)
    }

    fn columns(&self, row: usize) -> core::ops::RangeInclusive<usize> {
        row.saturating_sub(self.band)..=(row + self.band).min(self.new.len())
    }

    fn fill(&mut self) {
        self.before = vec![0; (self.old.len() + 1) * (2 * self.band + 1)];
        const NEVER: Scores = [score::NEVER; 3];
        let width = self.new.len() + 1;
        let (mut above, mut own) = (vec![NEVER; width], vec![NEVER; width]);
        for row in 0..=self.old.len() {
            let columns = self.columns(row);
            // The row before the last one was here, up to the cell to the left of this row's first one.
            own[columns.start().saturating_sub(2)..=*columns.end()].fill(NEVER);
            for column in columns {
                own[column] = self.scores(row, column, &above, &own);
            }
            core::mem::swap(&mut above, &mut own);
        }
        (self.best, self.last) = best(above[self.new.len()], None);
    }

    /// The best scores of a cell, by the last step; notes the states before.
    fn scores(&mut self, row: usize, column: usize, above: &[Scores], own: &[Scores]) -> Scores {
        if row == 0 && column == 0 {
            return [0, score::NEVER, score::NEVER];
        }
        let mut scores = [score::NEVER; 3];
        let mut before = 0;
        let mut note = |state: State, (best, from): (i32, State), gain: i32| {
            scores[state as usize] = best.saturating_add(gain).max(score::NEVER);
            before |= (from as u8) << (2 * state as u8);
        };
        if row > 0 && column > 0 {
            let gain = self.gain(row - 1, column - 1);
            note(State::Both, best(above[column - 1], None), gain);
        }
        if row > 0 {
            note(State::Removed, best(above[column], Some(State::Removed)), score::GAP_LINE);
        }
        if column > 0 && self.may_be_brace(row, column) {
            note(State::Added, best(own[column - 1], None), score::BRACE);
        } else if column > 0 {
            note(State::Added, best(own[column - 1], Some(State::Added)), score::GAP_LINE);
        }
        if let Some(cell) = self.cell(row, column) {
            self.before[cell] = before;
        }
        scores
    }

    /// Whether the new line before this cell is the last one of the function, and stands behind all old ones.
    const fn may_be_brace(&self, row: usize, column: usize) -> bool {
        match self.way {
            Way::Forward => row == self.old.len() && column == self.new.len(),
            Way::Backward => row == 0 && column == 1,
        }
    }

    fn same_place(&self) -> i32 {
        match self.knows.profile_is_whole {
            true => score::SAME_PLACE,
            false => score::SAME_PLACE_OF_SOME,
        }
    }

    /// What an old and a new line have in common.
    fn gain(&self, row: usize, column: usize) -> i32 {
        let (old, new) = match (self.old[row], self.new[column]) {
            (Some(old), Some(new)) => (old, new),
            (None, None) => return score::BOTH_BLANK,
            (Some(_), None) => return score::OLD_CODE,
            (None, Some(_)) => return score::NEW_CODE,
        };
        let is_there = column as i64 - row as i64 == self.same;
        let mut gain = score::BOTH_CODE + if is_there { self.same_place() } else { 0 };
        if self.knows.calls && !old.calls.is_empty() {
            let is_same = old.calls.iter().any(|name| new.calls.contains(name));
            gain += match () {
                () if is_same => score::SAME_CALLS,
                () if new.calls_others => 0,
                () => score::OTHER_CALLS,
            };
        }
        let has_several = old.discriminators.iter().any(|number| *number != 0);
        if has_several && old.discriminators == new.discriminators {
            gain += score::SAME_DISCRIMINATORS;
        }
        gain
    }

    /// The score if each line is where it was.
    fn unchanged(&self) -> i32 {
        let both = self.old.len().min(self.new.len());
        let gain = (0..both).map(|line| self.gain(line, line)).fold(0, i32::saturating_add);
        match self.old.len().abs_diff(self.new.len()) {
            0 => gain,
            1 => gain.saturating_add(score::BRACE),
            _ => gain.saturating_add(score::END),
        }
    }

    /// More than any alignment with a gap can score.
    fn most(&self) -> i32 {
        let most = |line: &Option<&Line>| match line {
            None => score::BOTH_BLANK,
            Some(line) => {
                let calls = if line.calls.is_empty() { 0 } else { score::SAME_CALLS };
                let several = line.discriminators.iter().any(|number| *number != 0);
                let discriminators = if several { score::SAME_DISCRIMINATORS } else { 0 };
                score::BOTH_CODE + self.same_place() + calls + discriminators
            }
        };
        self.old.iter().map(most).fold(score::GAP, i32::saturating_add)
    }

    /// For each old line, the new line that it is.
    fn pairs(&self) -> Vec<Option<usize>> {
        let mut pairs = vec![None; self.old.len()];
        let (mut row, mut column, mut state) = (self.old.len(), self.new.len(), self.last);
        while let Some(cell) = self.cell(row, column).filter(|_| row > 0 || column > 0) {
            let from = STATES[usize::from(self.before[cell] >> (2 * state as u8) & 3).min(2)];
            match state {
                State::Both if row > 0 && column > 0 => {
                    (row, column) = (row - 1, column - 1);
                    pairs[row] = Some(column);
                }
                State::Removed if row > 0 => row -= 1,
                State::Added if column > 0 => column -= 1,
                _ => break,
            }
            state = from;
        }
        pairs
    }
}

/// The best way to go on from a cell: all states but `open` start a gap, unless no gap is wanted.
fn best(scores: Scores, open: Option<State>) -> (i32, State) {
    let cost = |state: State| match open {
        Some(open) if open != state => score::GAP,
        _ => 0,
    };
    let ways = STATES.map(|state| (scores[state as usize].saturating_add(cost(state)), state));
    // Of equal ways, the one without a gap.
    ways.into_iter().rev().max_by_key(|&(score, _)| score).unwrap_or((score::NEVER, State::Both))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: Knows = Knows { calls: false, profile_is_whole: true };
    const PROGRAM: Knows = Knows { calls: true, profile_is_whole: true };

    fn shape(lines: &[i64]) -> Shape {
        let mut shape = Shape::default();
        lines.iter().for_each(|&line| _ = shape.line(line));
        shape
    }

    fn fates(old: &Shape, new: &Shape, knows: Knows) -> Vec<Fate> {
        align(old, new, knows).into_values().collect()
    }

    #[test]
    fn the_same_lines_are_the_same() {
        let lines = shape(&[-1, 0, 2, 3, 7]);
        assert_eq!(fates(&lines, &lines, NOTES), [Fate::Same; 5]);
    }

    #[test]
    fn a_line_that_was_added_moves_those_behind_it() {
        let old = shape(&[0, 2, 3, 5, 8, 9, 12, 13, 14, 20]);
        let new = shape(&[0, 2, 3, 6, 9, 10, 13, 14, 15, 21]);
        let [a, b, c, rest @ ..] = &*fates(&old, &new, NOTES) else { panic!() };
        assert_eq!([a, b, c], [&Fate::Same; 3]);
        assert_eq!(rest, [Fate::Moved(1); 7]);
    }

    #[test]
    fn lines_that_were_removed_are_gone() {
        let old = shape(&[0, 2, 3, 5, 8, 9, 12, 14, 17, 20]);
        let new = shape(&[0, 2, 3, 5, 9, 11, 14, 17]);
        let fates = fates(&old, &new, NOTES);
        assert_eq!(fates[..4], [Fate::Same; 4]);
        assert_eq!(fates[6..], [Fate::Moved(-3); 4]);
        assert!(!fates[4..6].contains(&Fate::Same), "{fates:?}");
    }

    /// Every line has code, so only the calls tell where the line was added.
    #[test]
    fn calls_tell_where_a_line_was_added() {
        let call = |shape: &mut Shape, line, name: &[u8]| {
            shape.line(line).calls.insert(name.to_vec());
        };
        let mut old = shape(&(0..12).collect::<Vec<_>>());
        let mut new = shape(&(0..13).collect::<Vec<_>>());
        call(&mut old, 4, b"f");
        call(&mut new, 4, b"f");
        call(&mut old, 6, b"g");
        call(&mut new, 7, b"g");
        call(&mut old, 9, b"h");
        call(&mut new, 10, b"h");
        let fates = fates(&old, &new, PROGRAM);
        assert_eq!(fates[..6], [Fate::Same; 6]);
        assert_eq!(fates[6..], [Fate::Moved(1); 6]);
    }

    #[test]
    fn programs_lose_the_code_of_lines() {
        let (old, new) = (shape(&[0, 1, 2, 3, 5, 6, 8]), shape(&[0, 1, 3, 5, 8]));
        assert_eq!(fates(&old, &new, PROGRAM), [Fate::Same; 7]);
    }

    /// A function of QuickJS, whose profile in version 3 leaves lines 8 to 11 and 18 out. The program lost lines 2 to
    /// 6.
    #[test]
    fn a_few_lines_that_move_away_and_back_are_lost_code() {
        const SOME: Knows = Knows { calls: true, profile_is_whole: false };
        let old = shape(&[0, 2, 3, 5, 6, 7, 13, 14, 15, 16, 19, 21, 22]);
        let new = shape(&[0, 7, 8, 9, 10, 11, 13, 14, 15, 16, 18, 19, 21, 22]);
        assert_eq!(fates(&old, &new, SOME), [Fate::Same; 13]);
    }

    #[test]
    fn functions_without_lines_and_absurd_ones() {
        let (some, none) = (shape(&[0, 1]), shape(&[]));
        assert_eq!(fates(&some, &none, NOTES), [Fate::Same; 2]);
        assert_eq!(fates(&none, &some, NOTES), []);
        let far = shape(&[0, 1 << 30]);
        assert_eq!(fates(&far, &some, NOTES), [Fate::Same; 2]);
    }
}
