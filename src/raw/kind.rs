//! Kinds of counters of an object, and how two runs' counters of a kind become one.
//!
//! What the kinds of a compiler's family are stands with the family: [`super::gcov::kind`] and
//! [`super::llvm::kind`].

/// How two runs' counters of a kind become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rule {
    /// Sum.
    Add = 1,
    /// By value, see [`crate::raw::merge::Site`].
    TopN = 2,
    /// Bitwise or.
    Ior = 3,
    /// Smallest value that is not 0.
    Time = 4,
    /// Sum without sign, at most the largest number.
    Saturate = 5,
    /// Bitwise or, of bytes: eight counters a word.
    Bytes = 6,
}

impl Rule {
    /// Words that this many counters take in a dump, if they are not top-N sites.
    #[inline(always)]
    pub const fn words(self, counters: usize) -> usize {
        match self {
            Self::Bytes => counters.div_ceil(8),
            _ => counters,
        }
    }

    const fn from_nibble(nibble: u64) -> Option<Self> {
        Some(match nibble {
            1 => Self::Add,
            2 => Self::TopN,
            3 => Self::Ior,
            4 => Self::Time,
            5 => Self::Saturate,
            6 => Self::Bytes,
            _ => return None,
        })
    }
}

/// Index of a counter kind, 0 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(pub u8);

impl Kind {
    /// The kind's bit among the kinds that a function has counters of.
    pub const fn bit(self) -> u32 {
        1 << (self.0 & 15)
    }
}

/// The kinds that an object uses, and how each merges: four bits a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules(pub u64);

impl Rules {
    /// Kinds that can be told apart.
    pub const SLOTS: usize = 16;

    /// Adds a kind.
    pub const fn with(self, kind: Kind, rule: Rule) -> Self {
        Self(self.0 | (rule as u64) << (4 * (kind.0 & 15)))
    }

    /// The rule of a kind, `None` if the object does not use it.
    pub const fn rule(self, kind: Kind) -> Option<Rule> {
        Rule::from_nibble(self.0 >> (4 * (kind.0 & 15)) & 15)
    }

    /// The kinds in use, ascending, with their rules.
    pub fn iter(self) -> impl Iterator<Item = (Kind, Rule)> + Clone {
        let mut left = self.0;
        core::iter::from_fn(move || {
            while left != 0 {
                let kind = Kind((left.trailing_zeros() / 4) as u8);
                left &= !(15 << (4 * kind.0));
                if let Some(rule) = self.rule(kind) {
                    return Some((kind, rule));
                }
            }
            None
        })
    }

    /// A [`Kind::bit`] for each kind in use.
    pub fn bits(self) -> u32 {
        self.iter().fold(0, |bits, (kind, _)| bits | kind.bit())
    }

    /// Whether every used slot holds a rule of the format.
    pub fn is_valid(self) -> bool {
        (0..Self::SLOTS as u8)
            .all(|slot| self.0 >> (4 * slot) & 15 == 0 || self.rule(Kind(slot)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_kept_per_kind() {
        let rules = Rules::default()
            .with(Kind(0), Rule::Add)
            .with(Kind(7), Rule::Time)
            .with(Kind(15), Rule::Ior);
        assert_eq!(rules.iter().count(), 3);
        assert_eq!(rules.rule(Kind(7)), Some(Rule::Time));
        assert_eq!(rules.rule(Kind(3)), None);
        assert!(rules.is_valid());
        assert!(!Rules(0xf0).is_valid());
    }
}
