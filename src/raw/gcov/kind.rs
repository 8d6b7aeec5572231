//! Counter kinds and merge rules.

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
}

impl Rule {
    const fn from_nibble(nibble: u64) -> Option<Self> {
        Some(match nibble {
            1 => Self::Add,
            2 => Self::TopN,
            3 => Self::Ior,
            4 => Self::Time,
            _ => return None,
        })
    }
}

/// Index of a counter kind, 0 to 15, as in the merge slots of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(pub u8);

impl Kind {
    /// Executions of instrumented arcs.
    pub const ARCS: Self = Self(0);
    /// Values of divisions, moduli and string functions.
    pub const TOPN: Self = Self(3);
    /// Targets of indirect calls.
    pub const INDIRECT_CALL: Self = Self(4);
    /// Order of first execution.
    pub const TIME: Self = Self(7);

    /// Name as `gcov-dump` prints it.
    pub const fn name(self) -> &'static str {
        match self.0 {
            0 => "arcs",
            1 => "interval",
            2 => "pow2",
            3 => "topn",
            4 => "indirect_call",
            5 => "average",
            6 | 9 => "ior",
            7 => "time_profiler",
            8 => "conditions",
            _ => "unknown",
        }
    }

    /// The rule that GCC's own table gives the kind. For objects with an unknown merge function.
    pub const fn usual_rule(self) -> Rule {
        match self.0 {
            3 | 4 => Rule::TopN,
            6 | 8 | 9 => Rule::Ior,
            7 => Rule::Time,
            _ => Rule::Add,
        }
    }

    /// The kind's bit among the kinds that a function has counters of.
    pub const fn bit(self) -> u32 {
        1 << (self.0 & 15)
    }

    /// Tag of the kind's record in a `.gcda` file.
    pub const fn tag(self) -> u32 {
        0x01a1_0000 + ((self.0 as u32) << 17)
    }

    /// The kind whose record has this tag.
    pub const fn from_tag(tag: u32) -> Option<Self> {
        let distance = tag.wrapping_sub(0x01a1_0000);
        if distance & 0x1_ffff != 0 || distance >> 17 >= Rules::SLOTS as u32 {
            return None;
        }
        Some(Self((distance >> 17) as u8))
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
    fn tags_of_the_data_file() {
        let tags: [u32; 10] = [
            0x01a1_0000,
            0x01a3_0000,
            0x01a5_0000,
            0x01a7_0000,
            0x01a9_0000,
            0x01ab_0000,
            0x01ad_0000,
            0x01af_0000,
            0x01b1_0000,
            0x01b3_0000,
        ];
        for (slot, tag) in tags.into_iter().enumerate() {
            assert_eq!(Kind(slot as u8).tag(), tag);
            assert_eq!(Kind::from_tag(tag), Some(Kind(slot as u8)));
        }
        assert_eq!(Kind::from_tag(0x01a2_0000), None);
        assert_eq!(Kind::from_tag(0xa100_0000), None);
    }

    #[test]
    fn rules_are_kept_per_kind() {
        let rules = Rules::default()
            .with(Kind::ARCS, Rule::Add)
            .with(Kind::TIME, Rule::Time)
            .with(Kind(15), Rule::Ior);
        assert_eq!(rules.iter().count(), 3);
        assert_eq!(rules.rule(Kind::TIME), Some(Rule::Time));
        assert_eq!(rules.rule(Kind::TOPN), None);
        assert!(rules.is_valid());
        assert!(!Rules(0xf0).is_valid());
    }
}
