//! Says how the counts of one line got their places: for people who ask which rule it was.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::Rule;
use super::assignment::{Assignment, Certainty, Elsewhere, NO_BLOCK, PlacedPosition};
use super::facts::Facts;
use super::lost::Lost;
use super::reasons::reasons;
use super::solve::counted::{Counted, Line};
use crate::profile::{FileId, SymbolId, Symbols};

/// A line of a source file. The file is its path, or the end of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// How a line got a count in one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The path and the line.
    pub at: (String, u32),
    /// Assembler name of the function that has the counters.
    pub function: String,
    /// The copies around the line, the outermost first: the function that is inlined, and the line of its call.
    pub within: Vec<(String, u32)>,
    /// The block, if there is one.
    pub block: Option<u32>,
    /// The discriminator, if the line has a place.
    pub discriminator: Option<u16>,
    /// Executions.
    pub count: u64,
    /// Where they went.
    pub way: Way,
    /// What the rule went by, a clause each.
    pub reasons: Vec<String>,
}

/// Where the count of a line went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A rule gave it the place.
    Placed {
        /// The rule.
        rule: Rule,
        /// What of the place is exact.
        certainty: Certainty,
        /// The rule that gave the copy the block, if that is another one.
        copy_by: Option<Rule>,
    },
    /// This block was executed as often, and the line has one place for both.
    As(u32),
    /// To the function that has the line, which is not known to be inlined here.
    Elsewhere,
    /// It is not in the profile.
    Lost(Lost),
    /// The function was never executed, so its lines have zeros.
    NeverExecuted,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at: (path, line), function, within, block, discriminator, count, way, reasons } =
            self;
        write!(f, "{path}:{line}, in {function}")?;
        for (callee, line) in within {
            write!(f, ", in {callee} that line {line} calls")?;
        }
        match block {
            Some(block) => write!(f, ": block {block}")?,
            None => f.write_str(": no block")?,
        }
        if let Some(discriminator) = discriminator {
            write!(f, ", discriminator {discriminator}")?;
        }
        match way {
            Way::Placed { rule, certainty, copy_by } => {
                write!(f, ", count {count} by {rule}")?;
                if let Some(copy_by) = copy_by {
                    write!(f, " in the copy by {copy_by}")?;
                }
                write!(f, ": {certainty}")?;
            }
            Way::As(other) => write!(f, ", count {count} as block {other}, at its place")?,
            Way::Elsewhere => {
                write!(f, ", count {count} to the function that has the line, an estimate")?;
            }
            Way::Lost(why) => write!(f, ", count {count} lost: {why}")?,
            Way::NeverExecuted => write!(f, ", count {count}: the function was never executed")?,
        }
        if !reasons.is_empty() {
            write!(f, "\n  {}", reasons.join("; "))?;
        }
        Ok(())
    }
}

impl Explanation {
    /// A line of a function, without a place.
    fn new((file, line): (FileId, u32), function: SymbolId, symbols: &Symbols) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            at: (text(symbols.path(file)), line),
            function: text(symbols.name(function)),
            within: Vec::new(),
            block: None,
            discriminator: None,
            count: 0,
            way: Way::Elsewhere,
            reasons: Vec::new(),
        }
    }
}

impl SourceLine {
    /// Whether this is a line of a file with such a path.
    pub fn is(&self, path: &[u8], line: u32) -> bool {
        let rest = path.strip_suffix(self.file.as_bytes());
        line == self.line && rest.is_some_and(|rest| matches!(rest.last(), None | Some(b'/')))
    }
}

/// That a line has no count in a function, which was never executed.
pub fn never_executed(
    wanted: &SourceLine,
    function: &Counted<'_>,
    symbols: &Symbols,
) -> Vec<Explanation> {
    let is_it = |line: &&Line| wanted.is(symbols.path(line.file), line.line);
    let explanation = |line: &Line| Explanation {
        block: Some(line.block),
        way: Way::NeverExecuted,
        ..Explanation::new((line.file, line.line), function.symbol, symbols)
    };
    function.lines.iter().filter(is_it).map(explanation).collect()
}

/// How a line got its counts in a function.
pub fn explain(
    wanted: &SourceLine,
    facts: &Facts<'_, '_>,
    assignment: &Assignment<'_>,
) -> Vec<Explanation> {
    let is_it = |file: FileId, line| wanted.is(facts.symbols.path(file), line);
    let explanation = |at| Explanation::new(at, facts.function.symbol, facts.symbols);
    let by_rule = |placed: &PlacedPosition| Explanation {
        within: within(facts, assignment, placed.at.instance),
        block: (placed.block != NO_BLOCK).then_some(placed.block),
        discriminator: Some(placed.at.discriminator),
        count: placed.count,
        way: Way::Placed {
            rule: placed.rule,
            certainty: placed.certainty(),
            copy_by: placed.copy_by,
        },
        reasons: reasons(facts, placed),
        ..explanation((placed.at.file, placed.at.line))
    };
    let lost = |&(Line { file, line, block }, count, why): &(Line, u64, Lost)| Explanation {
        block: Some(block),
        count,
        way: Way::Lost(why),
        ..explanation((file, line))
    };
    let elsewhere = |&(Elsewhere { of, .. }, count): &(Elsewhere, u64)| Explanation {
        count,
        ..explanation(of)
    };
    let placed = assignment.placed.iter().filter(|placed| is_it(placed.at.file, placed.at.line));
    let losses = assignment.lost.iter().filter(|(line, ..)| is_it(line.file, line.line));
    let others = assignment.elsewhere.iter().filter(|(at, _)| is_it(at.of.0, at.of.1));
    let mut all: Vec<Explanation> = placed.map(by_rule).collect();
    all.sort_by_key(|found| (found.within.clone(), found.block, found.discriminator));
    all.extend(losses.map(lost).chain(others.map(elsewhere)));
    let with_others = facts.function.lines.iter().filter(|line| is_it(line.file, line.line));
    let with_others = with_others.filter_map(|line| {
        let (count, by) = (facts.count(line).max(0) as u64, with_other(line, facts, assignment)?);
        let explanation = explanation((line.file, line.line));
        Some(Explanation { block: Some(line.block), count, way: Way::As(by), ..explanation })
    });
    all.extend(with_others);
    all
}

/// The block that shares its place with a block of a line, if the latter has none of its own.
fn with_other(line: &Line, facts: &Facts<'_, '_>, assignment: &Assignment<'_>) -> Option<u32> {
    let count = facts.count(line).max(0) as u64;
    let places = || {
        let of_line = |placed: &&PlacedPosition| {
            (placed.at.file, placed.at.line) == (line.file, line.line) && placed.block != NO_BLOCK
        };
        assignment.placed.iter().filter(of_line)
    };
    if places().any(|placed| placed.block == line.block) {
        return None;
    }
    places().find(|placed| placed.count == count).map(|placed| placed.block)
}

/// The copies that lead to one, the outermost first.
fn within(
    facts: &Facts<'_, '_>,
    assignment: &Assignment<'_>,
    mut instance: u32,
) -> Vec<(String, u32)> {
    let mut within = Vec::new();
    while instance != 0 {
        let copy = &assignment.instances[instance as usize];
        let caller = &assignment.instances[copy.caller as usize];
        let name = String::from_utf8_lossy(facts.symbols.name(copy.symbol)).into_owned();
        within.push((name, caller.start.wrapping_add(copy.call.line) & 0xffff));
        instance = copy.caller;
    }
    within.reverse();
    within
}

impl core::str::FromStr for SourceLine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let has_column = |file: &str| {
            let last = file.rsplit_once(':').map(|(_, last)| last);
            last.is_some_and(|last| !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit()))
        };
        let text = text.trim_start_matches("./");
        let parts = text.rsplit_once(':');
        let parts = parts.filter(|(file, _)| !file.is_empty() && !has_column(file));
        let line = parts.and_then(|(file, line)| Some((file.into(), line.parse().ok()?)));
        let line = line.map(|(file, line)| Self { file, line });
        line.ok_or_else(|| format!("expected FILE:LINE, such as prog.c:33, found {text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_the_end_of_its_path() {
        let wanted: SourceLine = "src/prog.c:33".parse().unwrap();
        assert!(wanted.is(b"/home/you/src/prog.c", 33) && wanted.is(b"src/prog.c", 33));
        assert!(!wanted.is(b"/home/you/xsrc/prog.c", 33) && !wanted.is(b"src/prog.c", 34));
        for wrong in ["prog.c", ":33", "prog.c:", "prog.c:x", "prog.c:33:5"] {
            assert!(wrong.parse::<SourceLine>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_explanation_names_copy_block_count_and_rule() {
        let mut found = Explanation {
            at: ("/a.c".into(), 7),
            function: "main".into(),
            within: [("step".into(), 20)].into(),
            block: Some(4),
            discriminator: Some(2),
            count: 62,
            way: Way::Placed {
                rule: Rule::Order,
                certainty: Certainty::Line,
                copy_by: Some(Rule::Segments),
            },
            reasons: ["one".into(), "two".into()].into(),
        };
        let expected = "/a.c:7, in main, in step that line 20 calls: block 4, discriminator 2, count 62 by order in the copy by segments: which block of the line has this discriminator is an estimate\n  one; two";
        assert_eq!(alloc::string::ToString::to_string(&found), expected);
        found = Explanation {
            within: Vec::new(),
            discriminator: None,
            way: Way::Lost(Lost::NoFunction),
            reasons: Vec::new(),
            ..found
        };
        let expected = "/a.c:7, in main: block 4, count 62 lost: no known function has this line";
        assert_eq!(alloc::string::ToString::to_string(&found), expected);
    }
}
