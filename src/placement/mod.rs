//! How counts get their places: the rules, in their order.
//!
//! The counters give the executions of each block, and the notes give the lines of each block. Several blocks may have
//! one line, several inlined copies may have it, and the compiler removes lines. The rules find the block and the copy
//! of each position. Each rule can be switched off by its name, to see what it is worth.
//!
//! A *position* is a line and a discriminator in a function, or in a *copy* of a function that was inlined. The code
//! *shows* a position if the line table has a row of it, and it shows its count if the instructions there are known to
//! run as often as some counter says. A copy is *entered* as often as control reaches its first block.

pub(crate) mod assignment;
pub mod checker;
pub mod estimate;
pub mod explain;
pub(crate) mod facts;
pub(crate) mod known_positions;
pub mod lost;
pub mod observe;
pub(crate) mod project;
pub mod reader;
mod reasons;
pub(crate) mod rules;
pub mod solve;
pub mod starts;

use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use self::Step::{Place, WhileGathering, Within};
use self::assignment::Assignment;
use self::facts::Facts;
use self::rules::{
    by_count, call_order, discriminators, gaps, lines_in_notes_only, numbering, only_block,
    removed_lines, segments, silent_copies, unrecorded_inlines,
};

/// How a rule is applied.
#[derive(Clone, Copy)]
enum Step {
    /// While the facts are gathered. It never changes the assignment.
    WhileGathering,
    /// By this function.
    Place(for<'a, 'f, 'n> fn(&'a Facts<'f, 'n>, &mut Assignment<'a>)),
    /// As a part of another rule.
    Within(Rule),
}

/// Declares the rules in the order in which they are applied: what a rule goes by, its name, and how it is applied.
macro_rules! rules {
    ($($(#[doc = $what:literal])+ $rule:ident = $name:literal: $step:expr,)+) => {
        /// A rule. The first ones read the machine code, and give counts to its blocks. Then come those that split a
        /// line's blocks by copies, those that give blocks to the positions that the code shows, those for lines that
        /// only the notes have, and those that add positions without blocks.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Rule {
            $($(#[doc = $what])+ $rule,)+
        }

        /// All rules, in the order in which they are applied.
        pub const RULES: [Rule; [$($name),+].len()] = [$(Rule::$rule),+];

        impl Rule {
            /// The name to switch it off by.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }

            /// What it goes by, in a sentence or two.
            pub const fn what(self) -> &'static str {
                match self { $(Self::$rule => concat!($($what),+).trim_ascii_start(),)+ }
            }

            const fn step(self) -> Step {
                match self { $(Self::$rule => $step,)+ }
            }
        }
    };
}

rules! {
    /// What flows into a block of the code flows out of it. Without the rule only blocks that increment counters have
    /// counts.
    Flow = "flow": WhileGathering,
    /// The compiler may have made several blocks of one, so their sum is one more possible count of a position.
    SumsOfBlocks = "sums-of-blocks": WhileGathering,
    /// The start of a `for` may have no block of its own (no preheader): it ran as often as arcs lead into the loop
    /// from outside.
    Preheaders = "preheaders": WhileGathering,
    /// All of an inlined copy was executed as often as the part of it whose count is known, or as its call.
    CountsOfCopies = "counts-of-copies": WhileGathering,
    /// A copy without branches is in the block of its call: the block has the line of the call, then that of the copy.
    /// The rule applies if all copies have such a block.
    CallOrder = "call-order": Place(call_order::place),
    /// gcc numbers the blocks of one inlined copy one after the other, and the copies in the order of their calls.
    Segments = "segments": Place(segments::place),
    /// If only some copies have a block with the line of their call, as in `call-order`, they get it. The other copies
    /// get the blocks that are left.
    SomeCallOrder = "some-call-order": Place(call_order::place_some),
    /// A line with one block and one position in the code: the position has the block.
    OnlyBlock = "only-block": Place(only_block::place),
    /// A line with more than three blocks, and at least three for each position in the code: gcc numbers the blocks of
    /// a line from 0, so their order is that of the discriminators.
    Numbering = "numbering": Place(numbering::place),
    /// The code has no position with some discriminator, but one with a greater one: a block of the line has it.
    Gaps = "gaps": Place(gaps::place),
    /// A position has a block that was executed as often as its instructions. If all blocks that it may have were
    /// executed equally often, any will do.
    Counts = "counts": Place(by_count::place),
    /// The code shows no certain count of a position: positions get blocks in the order of the discriminators and of
    /// the blocks' numbers.
    Order = "order": Within(Rule::Counts),
    /// An inlined copy without a position of a line in the code has a block that was executed as often as the copy was
    /// entered.
    SilentCopies = "silent-copies": Place(silent_copies::place),
    /// A block that has no position, and whose count no position of its line has, gets the next free discriminator.
    Discriminators = "discriminators": Place(discriminators::place),
    /// A line without a position in the code belongs to the function around it, to an inlined copy that was entered as
    /// often as the block was executed, or to the only copy.
    LinesInNotesOnly = "lines-in-notes-only": Place(lines_in_notes_only::place),
    /// A line without a position in the code, of a block with a count that no copy was entered with, goes to any copy
    /// that may have been entered.
    EnteredCopies = "entered-copies": Within(Rule::LinesInNotesOnly),
    /// A block that is left when all copies in the debug information have theirs belongs to a further copy.
    UnrecordedCopies = "unrecorded-copies": Place(unrecorded_inlines::place_copies),
    /// The debug information has no inlined copy of the line's function here: the copy is taken to be called at the
    /// line before it in the block, or else behind it.
    UnrecordedInlines = "unrecorded-inlines": Place(unrecorded_inlines::place),
    /// Of several functions that start on one line, the one whose name is most like the caller's is taken.
    Likeness = "likeness": Within(Rule::UnrecordedInlines),
    /// A line that no block in the notes has, but that instructions have, was executed as often as these instructions.
    RemovedLines = "removed-lines": Place(removed_lines::place),
}

/// Gives the counts of a function's blocks their positions.
pub(crate) fn place<'a>(facts: &'a Facts<'_, '_>) -> Assignment<'a> {
    let mut assignment = Assignment::new(facts);
    for rule in RULES {
        if let Place(apply) = rule.step()
            && facts.rules.has(rule)
        {
            apply(facts, &mut assignment);
        }
    }
    if facts.rules != RuleSet::ALL {
        assignment.lose_the_rest(facts);
    }
    assignment.close();
    assignment
}

impl Rule {
    /// The rule that applies this one as a part of itself.
    pub fn within(self) -> Option<Self> {
        match self.step() {
            Within(rule) => Some(rule),
            _ => None,
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
}
