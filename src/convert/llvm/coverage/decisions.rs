//! Decisions of a function, and which of their conditions are shown to decide alone (MC/DC).
//!
//! A decision has a bit in the bitmap for each way through its conditions that ends it: each condition that is
//! evaluated is true or false, the others do not matter. From LLVM 19 on the mapping has the number of the bit behind
//! the decision's last one, and a way's bit is the sum of numbers along it:
//!
//! ```text
//! a && (b || c)       ways: a=F; a=T b=T; a=T b=F c=T; a=T b=F c=F
//! ```
//!
//! A condition is entered by as many ways as all edges into it bring. An edge to a condition has the number of ways
//! that earlier edges bring there. The edges are taken condition by condition, each when all edges into it are known,
//! false before true. An edge that ends the decision has the sum of the ways that other ends have: those with more ways
//! come first.
//!
//! A condition is shown if there are two ways with different results that differ in nothing else that both of them
//! evaluate. The result of a way is the value of its last condition. LLVM does not tell which of the two values was
//! shown: it is both or none.
//!
//! LLVM 18 has the number of the decision's first byte, and a way's bit is its values as a binary number: bit *n* is
//! the value of condition *n*, 0 if it is not evaluated. `a=T b=F c=T` is bit 0b101. Its functions are recognised by
//! their first decision, whose number is 0: no decision of a later LLVM ends before its first bit.

use alloc::vec;
use alloc::vec::Vec;

use crate::coverage::decisions::{Condition, Decision};
use crate::formats::coverage_mapping::{Counter, Function, Kind, Place, Region};

/// A decision with more ways that occurred is left out: all pairs of them would take too long.
const MOST_WAYS: usize = 1 << 14;

/// A decision and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedDecision {
    /// Its file: place in [`Function::files`].
    pub file: u32,
    /// Its first character.
    pub start: Place,
    /// What is shown of its conditions, without those whose value the compiler knows.
    pub decision: Decision,
}

/// The decisions of a function. `None` if its bitmap does not fit them, or if there is none although the function ran.
pub fn decisions(function: &Function, bitmap: &[u8], has_run: bool) -> Option<Vec<PlacedDecision>> {
    let numbering = Numbering::of(function);
    let mut found = Vec::new();
    for Group { region, steps, in_text } in grouped(function) {
        let Kind::Decision { bitmap: number, .. } = region.kind else { continue };
        let ways = Ways::of(&steps)?;
        let bits = match numbering {
            Numbering::BySums => {
                (number as usize).checked_sub(ways.number as usize)?..number as usize
            }
            Numbering::ByValues => {
                let first = (number as usize).checked_mul(8)?;
                let bits = 1usize.checked_shl(steps.len() as u32)?;
                first..first.checked_add(bits)?
            }
        };
        if bits.end > bitmap.len() * 8 && (has_run || !bitmap.is_empty()) {
            return None;
        }
        let is_set =
            |bit: usize| bitmap.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
        let first = bits.start;
        let occurred: Vec<usize> = match bitmap {
            // The function never ran.
            [] => Vec::new(),
            _ => bits.filter(|&bit| is_set(bit)).map(|bit| bit - first).collect(),
        };
        if occurred.len() > MOST_WAYS {
            continue;
        }
        let back = ways.back();
        let shown = shown(
            steps.len(),
            occurred.into_iter().filter_map(|way| match numbering {
                Numbering::BySums => ways.values(way as u32, &back),
                Numbering::ByValues => values_of_bits(&steps, way),
            }),
        );
        let open = in_text.into_iter().filter(|&step| !steps[step].is_constant);
        let condition =
            |step: usize| Condition { shown_true: shown[step], shown_false: shown[step] };
        let conditions = open.map(condition);
        let decision = Decision { conditions: conditions.collect() };
        found.push(PlacedDecision { file: region.file, start: region.start, decision });
    }
    Some(found)
}

/// How the bits of a decision are numbered.
#[derive(Clone, Copy)]
enum Numbering {
    /// By the sum of numbers along a way, from LLVM 19 on.
    BySums,
    /// By the values of the conditions, in LLVM 18.
    ByValues,
}

impl Numbering {
    fn of(function: &Function) -> Self {
        let is_first = |region: &Region| matches!(region.kind, Kind::Decision { bitmap: 0, .. });
        if function.regions.iter().any(is_first) { Self::ByValues } else { Self::BySums }
    }
}

/// A condition: where each of its values leads.
#[derive(Clone, Copy)]
struct Step {
    /// The index of the next condition, if it is false and if it is true.
    next: [Option<usize>; 2],
    /// Whether the compiler knows its value.
    is_constant: bool,
}

/// A decision with its conditions.
struct Group<'f> {
    region: &'f Region,
    /// By their numbers.
    steps: Vec<Step>,
    /// Their indexes in the order of the mapping, which is that of the text. The one that is evaluated first is the
    /// first.
    in_text: Vec<usize>,
}

/// The decisions with all their conditions. Others are left out.
fn grouped(function: &Function) -> Vec<Group<'_>> {
    let mut expansions: Vec<Option<&Region>> = vec![None; function.files.len()];
    for region in &function.regions {
        if let Kind::Expansion(file) = region.kind {
            expansions[file as usize] = Some(region);
        }
    }
    let all = function.regions.iter().filter_map(|region| match region.kind {
        Kind::Decision { conditions, .. } => Some((region, conditions as usize)),
        _ => None,
    });
    let all: Vec<(&Region, usize)> = all.collect();
    let mut found: Vec<Vec<(usize, Step)>> = vec![Vec::new(); all.len()];
    for region in &function.regions {
        let Kind::Condition(other, place) = region.kind else { continue };
        let Some(decision) = decision_of(region, &all, &expansions) else { continue };
        let next = [place.if_false, place.if_true].map(|next| (next as usize).checked_sub(1));
        let is_constant = region.count == Counter::Zero && other == Counter::Zero;
        found[decision].push((place.number as usize, Step { next, is_constant }));
    }
    let mut whole = Vec::new();
    for ((region, number), mut steps) in all.into_iter().zip(found) {
        // Conditions of a fold expression are all at one character, in any order.
        steps.sort_by_key(|&(number, _)| number != 1);
        let in_text = steps.iter().map(|&(number, _)| number.saturating_sub(1)).collect();
        steps.sort_by_key(|&(number, _)| number);
        if steps.iter().map(|&(number, _)| number).eq(1..=number) {
            let steps = steps.into_iter().map(|(_, step)| step).collect();
            whole.push(Group { region, steps, in_text });
        }
    }
    whole
}

/// The smallest decision around a condition, in its text or where the macro with its text is used.
fn decision_of(
    condition: &Region,
    all: &[(&Region, usize)],
    expansions: &[Option<&Region>],
) -> Option<usize> {
    let mut inner = condition;
    for _ in 0..=expansions.len() {
        let around = all.iter().enumerate().filter(|(_, (decision, _))| {
            decision.file == inner.file
                && decision.start <= inner.start
                && inner.end <= decision.end
        });
        let smallest =
            around.max_by(|(_, (a, _)), (_, (b, _))| a.start.cmp(&b.start).then(b.end.cmp(&a.end)));
        if let Some((place, _)) = smallest {
            return Some(place);
        }
        inner = expansions[inner.file as usize]?;
    }
    None
}

/// The ways through a decision.
struct Ways<'s> {
    steps: &'s [Step],
    /// The number of each edge, false and true.
    numbers: Vec<[u32; 2]>,
    /// How many ways enter each condition.
    entries: Vec<u32>,
    /// How many there are.
    number: u32,
}

impl<'s> Ways<'s> {
    /// `None` if the conditions lead in a circle, or there are too many ways.
    fn of(steps: &'s [Step]) -> Option<Self> {
        let mut unknown = vec![0u32; steps.len()];
        for next in steps.iter().flat_map(|step| step.next).flatten() {
            *unknown.get_mut(next)? += 1;
        }
        let mut ways = Self {
            steps,
            numbers: vec![[0; 2]; steps.len()],
            entries: vec![0; steps.len()],
            number: 0,
        };
        *ways.entries.first_mut()? = 1;
        let (mut open, mut ends) = (vec![0], Vec::new());
        let mut taken = 0;
        while let Some(&step) = open.get(taken) {
            taken += 1;
            for value in [0, 1] {
                let Some(next) = steps[step].next[value] else {
                    ends.push((step, value));
                    continue;
                };
                ways.numbers[step][value] = ways.entries[next];
                ways.entries[next] = ways.entries[next].checked_add(ways.entries[step])?;
                unknown[next] = unknown[next].checked_sub(1)?;
                if unknown[next] == 0 {
                    open.push(next);
                }
            }
        }
        if taken != steps.len() {
            return None;
        }
        ends.sort_by_key(|&(step, _)| core::cmp::Reverse(ways.entries[step]));
        for (step, value) in ends {
            ways.numbers[step][value] = ways.number;
            ways.number = ways.number.checked_add(ways.entries[step])?;
        }
        Some(ways)
    }

    /// For each condition the edges into it.
    fn back(&self) -> Vec<Vec<(usize, usize)>> {
        let mut back = vec![Vec::new(); self.steps.len()];
        for (step, edges) in self.steps.iter().enumerate() {
            for (value, next) in edges.next.iter().enumerate() {
                if let Some(next) = next {
                    back[*next].push((step, value));
                }
            }
        }
        back
    }

    /// The values of the conditions on a way, and its result.
    fn values(&self, way: u32, back: &[Vec<(usize, usize)>]) -> Option<(Values, usize)> {
        let holds = |&(step, value): &(usize, usize), way: u32| {
            let first = self.numbers[step][value];
            way >= first && way - first < self.entries[step]
        };
        let all = self.steps.iter().enumerate();
        let mut ends = all.flat_map(|(place, step)| {
            [0, 1].into_iter().filter(|&value| step.next[value].is_none()).map(move |v| (place, v))
        });
        let end = ends.find(|end| holds(end, way))?;
        let mut values = Values::new(self.steps.len());
        let (mut edge, mut rest) = (end, way);
        loop {
            let (step, value) = edge;
            values.set(step, value);
            rest -= self.numbers[step][value];
            if step == 0 {
                return Some((values, end.1));
            }
            edge = *back[step].iter().find(|edge| holds(edge, rest))?;
        }
    }
}

/// The values on the way that takes these ones, a bit for each condition, and its result. `None` if the conditions lead
/// in a circle, or if a condition has a value that is not evaluated.
fn values_of_bits(steps: &[Step], bits: usize) -> Option<(Values, usize)> {
    let mut values = Values::new(steps.len());
    let (mut step, mut rest) = (0, bits);
    for _ in steps {
        let value = bits >> step & 1;
        values.set(step, value);
        rest &= !(1 << step);
        match steps.get(step)?.next[value] {
            Some(next) => step = next,
            None if rest == 0 => return Some((values, value)),
            None => return None,
        }
    }
    None
}

/// Whether each condition is shown by the ways with these values and results.
fn shown(conditions: usize, ways: impl Iterator<Item = (Values, usize)>) -> Vec<bool> {
    let mut sides = [Vec::new(), Vec::new()];
    for (values, result) in ways {
        sides[result].push(values);
    }
    let mut shown = vec![false; conditions];
    let [on_false, on_true] = sides;
    for a in &on_true {
        for b in &on_false {
            if let Some(condition) = a.only_difference(b) {
                shown[condition] = true;
            }
        }
    }
    shown
}

/// Values of the conditions of a decision, as far as they are evaluated.
struct Values {
    known: Vec<u64>,
    values: Vec<u64>,
}

impl Values {
    fn new(conditions: usize) -> Self {
        let words = conditions.div_ceil(64);
        Self { known: vec![0; words], values: vec![0; words] }
    }

    fn set(&mut self, condition: usize, value: usize) {
        self.known[condition / 64] |= 1 << (condition % 64);
        self.values[condition / 64] |= (value as u64) << (condition % 64);
    }

    /// The only condition that both evaluate, and that differs.
    fn only_difference(&self, other: &Self) -> Option<usize> {
        let mut only = None;
        for word in 0..self.known.len() {
            let both = self.known[word] & other.known[word];
            let differing = (self.values[word] ^ other.values[word]) & both;
            match (differing.count_ones(), only) {
                (0, _) => {}
                (1, None) => only = Some(word * 64 + differing.trailing_zeros() as usize),
                _ => return None,
            }
        }
        only
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(if_false: Option<usize>, if_true: Option<usize>) -> Step {
        Step { next: [if_false, if_true], is_constant: false }
    }

    #[test]
    fn ways_of_a_decision() {
        // a && (b || c)
        let steps = [step(None, Some(1)), step(Some(2), None), step(None, None)];
        let ways = Ways::of(&steps).unwrap();
        assert_eq!((ways.number, &*ways.entries), (4, &[1, 1, 1][..]));
        let all = [0, 1, 2, 3].map(|way| {
            let (values, result) = ways.values(way, &ways.back()).unwrap();
            (values.known[0], values.values[0], result)
        });
        // a is false; b is true; c is false; c is true.
        assert_eq!(all, [(1, 0, 0), (0b11, 0b11, 1), (0b111, 0b001, 0), (0b111, 0b101, 1)]);
        let shown_by = |numbers: &[u32]| {
            let back = ways.back();
            shown(3, numbers.iter().map(|&way| ways.values(way, &back).unwrap()))
        };
        assert_eq!(shown_by(&[0, 1]), [true, false, false]);
        assert_eq!(shown_by(&[0, 1, 2, 3]), [true, true, true]);
        assert_eq!(shown_by(&[]), [false, false, false]);
    }

    #[test]
    fn ways_by_the_values_of_conditions() {
        // a && (b || c)
        let steps = [step(None, Some(1)), step(Some(2), None), step(None, None)];
        let found = |bits| {
            values_of_bits(&steps, bits)
                .map(|(values, result)| (values.known[0], values.values[0], result))
        };
        let ways = [0b000, 0b011, 0b001, 0b101].map(|bits| found(bits).unwrap());
        assert_eq!(ways, [(1, 0, 0), (0b11, 0b11, 1), (0b111, 0b001, 0), (0b111, 0b101, 1)]);
        // c has a value though a is false, or though b is true.
        assert_eq!([0b100, 0b111, 0b110].map(found), [None; 3]);
        let circle = [step(Some(1), None), step(Some(0), None)];
        assert!(values_of_bits(&circle, 0).is_none());
    }

    #[test]
    fn conditions_in_a_circle() {
        assert!(Ways::of(&[step(Some(1), None), step(Some(0), None)]).is_none());
        assert!(Ways::of(&[step(Some(7), None)]).is_none());
        assert!(Ways::of(&[]).is_none());
        // Each doubles the ways.
        let mut steps: Vec<Step> = (1..40).map(|next| step(Some(next), Some(next))).collect();
        steps.push(step(None, None));
        assert!(Ways::of(&steps).is_none());
    }
}
