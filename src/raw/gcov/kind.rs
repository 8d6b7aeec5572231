//! GCC's counter kinds.

use crate::raw::kind::{Kind, Rule, Rules};

impl Kind {
    /// Executions of instrumented arcs.
    pub const ARCS: Self = Self(0);
    /// Values of divisions, moduli and string functions.
    pub const TOPN: Self = Self(3);
    /// Targets of indirect calls.
    pub const INDIRECT_CALL: Self = Self(4);
    /// Order of first execution.
    pub const TIME: Self = Self(7);
    /// What is shown of conditions: for each decision two sets of bits, for conditions that are true and false.
    pub const CONDITIONS: Self = Self(8);
    /// Which prime paths were taken: a bit for each.
    pub const PATHS: Self = Self(9);

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
}
