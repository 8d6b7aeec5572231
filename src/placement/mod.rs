//! How counts get their places: the rules, in their order.
//!
//! The counters give the executions of each block, and the notes give the lines of each block. Several blocks may have one line, several inlined
//! copies may have it, and the compiler removes lines. The rules find the block and the copy of each position. Each rule can be switched off
//! by its name, to see what it is worth.

pub(crate) mod assignment;
pub mod checker;
pub mod observe;
pub(crate) mod project;
mod rules;
pub mod solve;
pub mod starts;

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// A rule. Those of the first phase read the machine code, and give counts to its blocks. Those of the second phase give blocks to the positions
/// that the code shows, those of the third phase to lines that only the notes have. Those of the last phase add positions without blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// What flows into a block of the code flows out of it. Without the rule only blocks that increment counters have counts.
    Flow,
    /// An addition that does not write its counter may increment it all the same, unless that contradicts other counts.
    DoubtfulIncrements,
    /// The compiler may have made several blocks of one, so their sum is one more possible count of a position.
    SumsOfBlocks,
    /// A loop that is entered without a block of its own is entered as often as control comes from outside.
    Preheaders,
    /// All of an inlined copy was executed as often as what is known about it, or as its call.
    CountsOfCopies,
    /// A copy's line stands behind the line of the copy's call, in the block that has both.
    CallOrder,
    /// The blocks of one copy stand together, in the order of the calls.
    Segments,
    /// A line that the code hardly shows has discriminators in the order of its blocks.
    Numbering,
    /// Positions without a certain count get blocks in their order.
    Order,
    /// A discriminator that is missing between others belongs to a block of the line.
    Gaps,
    /// A copy that shows nothing of a line has a block that was executed as often as the copy was entered.
    SilentCopies,
    /// Blocks that are left get discriminators behind those before them.
    Discriminators,
    /// A line that only the notes have belongs to copies that were entered as often, or else to any of them.
    EnteredCopies,
    /// A block that is left when all copies have theirs belongs to a copy that the debug information lacks.
    UnrecordedCopies,
    /// A line of a function that left no trace is inlined where the line before it in its block stands.
    UnrecordedInlines,
    /// Of several functions that start on one line, the one is inlined whose name is most like the caller's.
    Likeness,
    /// A line that the compiler removed from all blocks was executed as often as the code that it left.
    RemovedLines,
}

/// All rules, in the order in which they are applied.
pub const RULES: [Rule; 17] = [
    Rule::Flow,
    Rule::DoubtfulIncrements,
    Rule::SumsOfBlocks,
    Rule::Preheaders,
    Rule::CountsOfCopies,
    Rule::CallOrder,
    Rule::Segments,
    Rule::Numbering,
    Rule::Order,
    Rule::Gaps,
    Rule::SilentCopies,
    Rule::Discriminators,
    Rule::EnteredCopies,
    Rule::UnrecordedCopies,
    Rule::UnrecordedInlines,
    Rule::Likeness,
    Rule::RemovedLines,
];

impl Rule {
    /// The name to switch it off by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flow => "flow",
            Self::DoubtfulIncrements => "doubtful-increments",
            Self::SumsOfBlocks => "sums-of-blocks",
            Self::Preheaders => "preheaders",
            Self::CountsOfCopies => "counts-of-copies",
            Self::CallOrder => "call-order",
            Self::Segments => "segments",
            Self::Numbering => "numbering",
            Self::Order => "order",
            Self::Gaps => "gaps",
            Self::SilentCopies => "silent-copies",
            Self::Discriminators => "discriminators",
            Self::EnteredCopies => "entered-copies",
            Self::UnrecordedCopies => "unrecorded-copies",
            Self::UnrecordedInlines => "unrecorded-inlines",
            Self::Likeness => "likeness",
            Self::RemovedLines => "removed-lines",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No rule has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRule(pub String);

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no rule has the name \"{}\"; there are", self.0)?;
        RULES.iter().try_for_each(|rule| write!(f, " {rule}"))
    }
}

impl core::error::Error for UnknownRule {}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, UnknownRule> {
        let found = RULES.into_iter().find(|rule| rule.name() == name);
        found.ok_or_else(|| UnknownRule(name.to_string()))
    }
}

/// The rules that are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet(u32);

impl RuleSet {
    /// All rules.
    pub const ALL: Self = Self((1 << RULES.len()) - 1);
    /// None of them.
    pub const NONE: Self = Self(0);

    /// The same without one rule.
    pub const fn without(self, rule: Rule) -> Self {
        Self(self.0 & !(1 << rule as u8))
    }

    /// The same with one more rule.
    pub const fn with(self, rule: Rule) -> Self {
        Self(self.0 | 1 << rule as u8)
    }

    /// Whether a rule is applied.
    pub const fn has(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }
}

impl Default for RuleSet {
    fn default() -> Self {
        Self::ALL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_switched_off_by_name() {
        let set = RuleSet::ALL.without("segments".parse().unwrap());
        assert!(!set.has(Rule::Segments) && set.with(Rule::Segments) == RuleSet::ALL);
        let off = RULES.into_iter().fold(RuleSet::ALL, RuleSet::without);
        assert_eq!(off, RuleSet::NONE);
        let unknown = "segment".parse::<Rule>().unwrap_err();
        assert!(
            unknown.to_string().starts_with("no rule has the name \"segment\"; there are flow ")
        );
    }

    #[test]
    fn the_list_has_each_rule_once() {
        assert!(RULES.is_sorted_by(|a, b| a < b));
    }
}
