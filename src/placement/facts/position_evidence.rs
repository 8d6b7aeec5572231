//! What the machine code shows of one position: its count, as far as that is known.
//!
//! ```c
//! for (int i = 0; i < n; i++)     /* 7 instructions say 10, one says 11: 10, and perhaps 11 */
//! ```
//!
//! Consumes the observations of one position, each of which speaks for the instructions of one place. Which block the
//! position has is not decided here.

use alloc::vec::Vec;

use crate::placement::observe::{Observation, SourcePosition};

/// What the code shows of one position.
#[derive(Clone)]
pub struct PositionEvidence {
    /// The position.
    pub at: SourcePosition,
    /// What is known about its executions.
    pub count: Count,
    /// Counts that may be right instead of `count`. Where a compiler merged the ends of two branches, the
    /// merged code speaks for the sum of both. A mark at the start of a block may stand at the end of the one
    /// before.
    pub others: FewCounts,
    /// Whether it has instructions, and not only a mark in the debug information.
    pub has_instructions: bool,
    /// Whether nothing shows it but a gap between the discriminators of others. It need not have a block.
    pub is_hidden: bool,
}

/// A few counts. Mostly there is one at most, which needs no memory besides.
#[derive(Clone, Default)]
pub struct FewCounts {
    first: Option<i64>,
    more: Vec<i64>,
}

impl FewCounts {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = i64> {
        self.first.into_iter().chain(self.more.iter().copied())
    }

    /// Whether a count is one of them.
    pub fn contains(&self, count: i64) -> bool {
        self.iter().any(|known| known == count)
    }
}

impl FromIterator<i64> for FewCounts {
    fn from_iter<I: IntoIterator<Item = i64>>(counts: I) -> Self {
        let mut counts = counts.into_iter();
        Self { first: counts.next(), more: counts.collect() }
    }
}

/// What observations say about the executions of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// The count of one block.
    Exactly(i64),
    /// This count, and that of other instructions.
    AtLeast(i64),
    Unknown,
}

/// The count of a position is the largest one that has this many fifths of the observations' weight.
const LIKELY_FIFTHS: u32 = 2;
/// A position may also have a block with a count that has this many fifths of the weight.
const NOTABLE_FIFTHS: u32 = 1;
impl PositionEvidence {
    /// Weighs the observations of one position. `tally` is memory for the weight of each count that they name.
    pub fn new(
        observations: &[Observation],
        tally: &mut Vec<(i64, u32)>,
        is_possible: impl Fn(i64) -> bool,
    ) -> Self {
        let unknown = weigh_counts(observations, tally, &is_possible);
        let all: u32 = tally.iter().map(|&(_, weight)| weight).sum();
        let weighty = tally.iter().filter(|&&(_, weight)| 5 * weight >= LIKELY_FIFTHS * all);
        let most = weighty.max().or(tally.iter().max_by_key(|&&(count, weight)| (weight, count)));
        let count = match most {
            Some(&(count, weight)) if weight > unknown => Count::Exactly(count),
            Some(&(count, _)) => Count::AtLeast(count),
            None => Count::Unknown,
        };
        let many = tally
            .iter()
            .filter(|&&(_, weight)| 5 * weight >= NOTABLE_FIFTHS * all)
            .map(|&(count, _)| count);
        let before = observations
            .iter()
            .filter_map(|observation| observation.before.filter(|&count| is_possible(count)));
        let has_instructions = observations.iter().any(|observation| observation.instructions > 0);
        let others = match has_instructions {
            true => many.collect(),
            false => before.collect(),
        };
        Self { at: observations[0].at, count, others, has_instructions, is_hidden: false }
    }

    /// A position that only the discriminators of others show.
    pub fn hidden(at: SourcePosition) -> Self {
        let (count, others) = (Count::Unknown, FewCounts::default());
        Self { at, count, others, has_instructions: false, is_hidden: true }
    }
}

/// Notes the weight of each count that observations name. Gives the weight of those that name none.
fn weigh_counts(
    observations: &[Observation],
    tally: &mut Vec<(i64, u32)>,
    is_possible: impl Fn(i64) -> bool,
) -> u32 {
    tally.clear();
    let mut unknown = 0;
    for observation in observations {
        let count = observation.count.filter(|&count| is_possible(count));
        let weight = 4 * observation.instructions + 1 + u32::from(observation.is_sum);
        match (count, tally.iter_mut().find(|(known, _)| Some(*known) == count)) {
            (None, _) if observation.is_sum => {}
            (None, _) => unknown += weight,
            (Some(_), Some((_, sum))) => *sum += weight,
            (Some(count), None) => tally.push((count, weight)),
        }
    }
    unknown
}

#[cfg(test)]
impl PositionEvidence {
    /// A position of one line, with its discriminator and count.
    pub fn made(discriminator: u16, count: Count) -> Self {
        let file = crate::profile::Symbols::default().file(b"a.c");
        let at = SourcePosition { instance: 0, file, line: 1, discriminator };
        Self { at, count, others: FewCounts::default(), has_instructions: true, is_hidden: false }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    /// Instructions speak for the count of their block. A count that no block has is no observation.
    #[test]
    fn observations() {
        let at = PositionEvidence::made(0, Count::Unknown).at;
        let observation = |count, instructions| Observation {
            at,
            count,
            instructions,
            before: None,
            is_sum: false,
            is_join: false,
        };
        let of = |observations: &[Observation]| {
            PositionEvidence::new(observations, &mut vec![], |count| [1, 10, 11].contains(&count))
                .count
        };
        assert_eq!(of(&[observation(Some(10), 3), observation(Some(1), 1)]), Count::Exactly(10));
        assert_eq!(of(&[observation(Some(7), 3), observation(Some(1), 1)]), Count::AtLeast(1));
        assert_eq!(of(&[observation(Some(7), 3)]), Count::Unknown);
        assert_eq!(of(&[observation(None, 2), observation(Some(11), 9)]), Count::Exactly(11));
        // Two copies of a condition, one of them before the loop.
        let sum = Observation { is_sum: true, ..observation(Some(11), 4) };
        assert_eq!(
            of(&[observation(Some(1), 2), observation(Some(10), 2), sum]),
            Count::Exactly(11)
        );
    }
}
