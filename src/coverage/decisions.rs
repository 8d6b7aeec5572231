//! Decisions: expressions whose conditions are joined by `&&`, `||` and `!`, and what runs have shown of each condition.
//!
//! Modified condition/decision coverage (MC/DC) asks for each condition of a decision: is it shown that the outcome
//! hangs on this condition alone, when it is true, and when it is false? These are its two outcomes.

use alloc::vec::Vec;

use super::{File, Total};

/// A decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Its conditions, in the order of the compiler.
    pub conditions: Vec<Condition>,
}

/// A condition of a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// Whether the outcome is shown to hang on it when it is true.
    pub shown_true: bool,
    /// Whether the outcome is shown to hang on it when it is false.
    pub shown_false: bool,
}

impl Decision {
    /// The outcomes of its conditions.
    pub fn total(&self) -> Total {
        let outcomes = self
            .conditions
            .iter()
            .flat_map(|condition| [condition.shown_true, condition.shown_false].map(u64::from));
        Total::of(outcomes)
    }

    /// Adds what other runs have shown. Both have the same number of conditions.
    fn add(&mut self, other: &Self) {
        for (own, more) in self.conditions.iter_mut().zip(&other.conditions) {
            own.shown_true |= more.shown_true;
            own.shown_false |= more.shown_false;
        }
    }
}

impl File {
    /// Adds a decision of a line with its number there. The same decision of another instance or object is added to it;
    /// one with another number of conditions is put behind all others of the line.
    pub fn add_decision(&mut self, line: u32, number: u32, decision: Decision) {
        let own = self.decisions.entry((line, number)).or_insert_with(|| Decision {
            conditions: alloc::vec![Condition::default(); decision.conditions.len()],
        });
        if own.conditions.len() == decision.conditions.len() {
            return own.add(&decision);
        }
        let of_line = self.decisions.range_mut((line, number)..=(line, u32::MAX));
        let mut last = number;
        for (&(_, number), own) in of_line {
            last = number;
            if own.conditions.len() == decision.conditions.len() {
                return own.add(&decision);
            }
        }
        if let Some(next) = last.checked_add(1) {
            self.decisions.insert((line, next), decision);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn decision(shown: &[(bool, bool)]) -> Decision {
        let condition =
            |&(shown_true, shown_false): &(bool, bool)| Condition { shown_true, shown_false };
        Decision { conditions: shown.iter().map(condition).collect() }
    }

    #[test]
    fn instances_of_a_decision() {
        let mut file = File::default();
        file.add_decision(3, 0, decision(&[(true, false), (false, false)]));
        file.add_decision(3, 0, decision(&[(false, true), (false, false)]));
        file.add_decision(3, 0, decision(&[(true, true)]));
        file.add_decision(3, 0, decision(&[(true, false)]));
        let found: Vec<_> = file.decisions.into_iter().collect();
        let expected = vec![
            ((3, 0), decision(&[(true, true), (false, false)])),
            ((3, 1), decision(&[(true, true)])),
        ];
        assert_eq!(found, expected);
        assert_eq!(expected[0].1.total(), Total { found: 4, hit: 2 });
    }
}
