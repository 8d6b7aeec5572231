//! How counts get their places: the rules, in their order.
//!
//! The counters give the executions of each block, and the notes give the lines of each block. Several blocks may have
//! one line, several inlined copies may have it, and the compiler removes lines. The rules find the block and the copy
//! of each position. Each rule can be switched off by its name, to see what it is worth.

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

/// A rule. The first ones read the machine code, and give counts to its blocks. Then come those that split a line's
/// blocks by copies, those that give blocks to the positions that the code shows, those for lines that only the notes
/// have, and those that add positions without blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Rule {
    /// What flows into a block of the code flows out of it. Without the rule only blocks that increment counters have
    /// counts.
    Flow,
    /// An addition that does not write its counter may increment it all the same, unless that contradicts other
    /// counts.
    DoubtfulIncrements,
    /// The compiler may have made several blocks of one, so their sum is one more possible count of a position.
    SumsOfBlocks,
    /// A loop that is entered without a block of its own is entered as often as control comes from outside.
    Preheaders,
    /// All of an inlined copy was executed as often as what is known about it, or as its call.
    CountsOfCopies,
    /// A copy's line stands behind the line of the copy's call, in the block that has both. All copies must have such
    /// blocks.
    CallOrder,
    /// The blocks of one copy stand together, in the order of the calls.
    Segments,
    /// Where only some copies have blocks behind their calls, these have them, and the others what is left.
    SomeCallOrder,
    /// A line with one block and one position in the code: the position has the block.
    OnlyBlock,
    /// A line that the code hardly shows has discriminators in the order of its blocks.
    Numbering,
    /// A discriminator that is missing between others belongs to a block of the line.
    Gaps,
    /// A position has a block that was executed as often as its instructions.
    Counts,
    /// Positions without a certain count get blocks in their order.
    Order,
    /// A copy that shows nothing of a line has a block that was executed as often as the copy was entered.
    SilentCopies,
    /// Blocks that are left get discriminators behind those before them.
    Discriminators,
    /// A line that the code does not show belongs to the function around it, to a copy that was entered as often, or
    /// to the only copy.
    LinesInNotesOnly,
    /// Blocks of such a line whose count no copy has go to any copy that may have been entered.
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

/// All rules, in the order in which they are applied.
const STEPS: [(Rule, Step); 21] = [
    (Rule::Flow, WhileGathering),
    (Rule::DoubtfulIncrements, WhileGathering),
    (Rule::SumsOfBlocks, WhileGathering),
    (Rule::Preheaders, WhileGathering),
    (Rule::CountsOfCopies, WhileGathering),
    (Rule::CallOrder, Place(call_order::place)),
    (Rule::Segments, Place(segments::place)),
    (Rule::SomeCallOrder, Place(call_order::place_some)),
    (Rule::OnlyBlock, Place(only_block::place)),
    (Rule::Numbering, Place(numbering::place)),
    (Rule::Gaps, Place(gaps::place)),
    (Rule::Counts, Place(by_count::place)),
    (Rule::Order, Within(Rule::Counts)),
    (Rule::SilentCopies, Place(silent_copies::place)),
    (Rule::Discriminators, Place(discriminators::place)),
    (Rule::LinesInNotesOnly, Place(lines_in_notes_only::place)),
    (Rule::EnteredCopies, Within(Rule::LinesInNotesOnly)),
    (Rule::UnrecordedCopies, Place(unrecorded_inlines::place_copies)),
    (Rule::UnrecordedInlines, Place(unrecorded_inlines::place)),
    (Rule::Likeness, Within(Rule::UnrecordedInlines)),
    (Rule::RemovedLines, Place(removed_lines::place)),
];

/// All rules, in the order in which they are applied.
pub const RULES: [Rule; STEPS.len()] = {
    let mut rules = [Rule::Flow; STEPS.len()];
    let mut place = 0;
    while place < STEPS.len() {
        rules[place] = STEPS[place].0;
        place += 1;
    }
    rules
};

/// Gives the counts of a function's blocks their positions.
pub(crate) fn place<'a>(facts: &'a Facts<'_, '_>) -> Assignment<'a> {
    let mut assignment = Assignment::new(facts);
    for (rule, step) in STEPS {
        if let Place(apply) = step
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
            Self::SomeCallOrder => "some-call-order",
            Self::OnlyBlock => "only-block",
            Self::Numbering => "numbering",
            Self::Gaps => "gaps",
            Self::Counts => "counts",
            Self::Order => "order",
            Self::SilentCopies => "silent-copies",
            Self::Discriminators => "discriminators",
            Self::LinesInNotesOnly => "lines-in-notes-only",
            Self::EnteredCopies => "entered-copies",
            Self::UnrecordedCopies => "unrecorded-copies",
            Self::UnrecordedInlines => "unrecorded-inlines",
            Self::Likeness => "likeness",
            Self::RemovedLines => "removed-lines",
        }
    }

    /// What it goes by, in a sentence.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Flow => {
                "What flows into a block of the code flows out of it. Without the rule only blocks that \
                 increment counters have counts."
            }
            Self::DoubtfulIncrements => {
                "An addition that does not write its counter may increment it all the same, unless that \
                 contradicts other counts."
            }
            Self::SumsOfBlocks => {
                "The compiler may have made several blocks of one, so their sum is one more possible count \
                 of a position."
            }
            Self::Preheaders => {
                "A loop that is entered without a block of its own is entered as often as control comes \
                 from outside."
            }
            Self::CountsOfCopies => {
                "All of an inlined copy was executed as often as what is known about it, or as its call."
            }
            Self::CallOrder => {
                "A copy's line stands behind the line of the copy's call, in the block that has both. All \
                 copies must have such blocks."
            }
            Self::Segments => "The blocks of one copy stand together, in the order of the calls.",
            Self::SomeCallOrder => {
                "Where only some copies have blocks behind their calls, these have them, and the others \
                 what is left."
            }
            Self::OnlyBlock => {
                "A line with one block and one position in the code: the position has the block."
            }
            Self::Numbering => {
                "A line that the code hardly shows has discriminators in the order of its blocks."
            }
            Self::Gaps => {
                "A discriminator that is missing between others belongs to a block of the line."
            }
            Self::Counts => {
                "A position has a block that was executed as often as its instructions."
            }
            Self::Order => "Positions without a certain count get blocks in their order.",
            Self::SilentCopies => {
                "A copy that shows nothing of a line has a block that was executed as often as the copy \
                 was entered."
            }
            Self::Discriminators => {
                "Blocks that are left get discriminators behind those before them."
            }
            Self::LinesInNotesOnly => {
                "A line that the code does not show belongs to the function around it, to a copy that was \
                 entered as often, or to the only copy."
            }
            Self::EnteredCopies => {
                "Blocks of such a line whose count no copy has go to any copy that may have been entered."
            }
            Self::UnrecordedCopies => {
                "A block that is left when all copies have theirs belongs to a copy that the debug \
                 information lacks."
            }
            Self::UnrecordedInlines => {
                "A line of a function that left no trace is inlined where the line before it in its block \
                 stands."
            }
            Self::Likeness => {
                "Of several functions that start on one line, the one is inlined whose name is most like \
                 the caller's."
            }
            Self::RemovedLines => {
                "A line that the compiler removed from all blocks was executed as often as the code that \
                 it left."
            }
        }
    }

    /// The rule that applies this one as a part of itself.
    pub fn within(self) -> Option<Self> {
        match STEPS[self as usize].1 {
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

    #[test]
    fn the_list_has_each_rule_once() {
        assert!(RULES.is_sorted_by(|a, b| a < b));
    }
}
