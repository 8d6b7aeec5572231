//! The account of a conversion: what was used, what was not, and why.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::program_reader::Unplaced;
use crate::convert::number::Number;
use crate::placement::checker::Fault;
use crate::placement::estimate::Estimate;
use crate::placement::explain::Explanation;
use crate::placement::lost::Lost;

/// What became of a dump's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Objects whose notes were used.
    pub objects: usize,
    /// Objects without fitting notes.
    pub objects_without_notes: usize,
    /// Objects with notes from another compilation. The tool tells these apart from the former.
    pub objects_recompiled: usize,
    /// Functions whose counts were used.
    pub functions: usize,
    /// Functions of used objects that the notes do not know, or know differently.
    pub functions_without_notes: usize,
    /// Functions that processes left in the middle. Their counts may be off by the number of runs.
    pub functions_mended: usize,
    /// `.gcda` files that could not be read.
    pub files_left_out: usize,
    /// Modules of the dump that cannot be right.
    pub modules_left_out: usize,
    /// Functions whose counts are impossible.
    pub functions_impossible: usize,
    /// Arc counters of used functions.
    pub counters: usize,
    /// Line counts credited to the function they stand in.
    pub lines: usize,
    /// Line counts credited to a function that was inlined where they were counted.
    pub lines_inlined: usize,
    /// Line counts credited to a copy of a function, at the call where it was inlined.
    pub lines_nested: usize,
    /// Executions of lines: each block's, for each of its lines.
    pub executions: u64,
    /// Executions that are in the profile.
    pub executions_placed: u64,
    /// Executions in the profile whose place is an estimate.
    pub estimated: Estimated,
    /// Indirect-call sites that have events and a certain line.
    pub sites: usize,
    /// Indirect-call sites that were dropped because their line is not certain, and why.
    pub sites_unplaced: BTreeMap<Unplaced, usize>,
    /// Calls at placed sites that no kept target accounts for.
    pub calls_lost: u64,
    /// Targets dropped because no notes name them.
    pub targets_unnamed: usize,
    /// Events lost at run time because the runtime's node region was full.
    pub events_dropped: u64,
    /// Executed lines that are not in the profile, the heaviest first, if details are wanted.
    pub losses: Vec<Loss>,
    /// Counts that break a law, if they were to be checked.
    pub faults: Vec<Fault>,
    /// Lines whose place is an estimate, the heaviest first, if details are wanted.
    pub estimates: Vec<EstimatedLine>,
    /// How the counts of the line got their places that
    /// [`ProgramReader::explains`](super::program_reader::ProgramReader::explains) names.
    pub explanations: Vec<Explanation>,
    /// Other details, one line each.
    pub details: Vec<String>,
}

/// Executions whose place is an estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimated {
    /// By [`Estimate::ALL`].
    executions: [u64; Estimate::ALL.len()],
}

impl Estimated {
    /// Adds executions of one line.
    pub fn add(&mut self, how: Estimate, executions: u64) {
        let sum = &mut self.executions[how as usize];
        *sum = sum.saturating_add(executions);
    }

    /// Adds those of a function, which has no more than `placed` executions.
    pub fn merge(&mut self, other: &Self, placed: u64) {
        let mut left = placed;
        for (sum, executions) in self.executions.iter_mut().zip(other.executions).rev() {
            let executions = executions.min(left);
            left -= executions;
            *sum = sum.saturating_add(executions);
        }
    }

    /// Executions by how their place was inferred.
    pub fn iter(&self) -> impl Iterator<Item = (Estimate, u64)> {
        Estimate::ALL.into_iter().zip(self.executions)
    }

    /// All of them.
    pub fn all(&self) -> u64 {
        self.executions.iter().fold(0, |sum: u64, executions| sum.saturating_add(*executions))
    }

    /// Those at wrong places, if estimates are as good as they were measured to be.
    pub fn misplaced(&self) -> u64 {
        let of_each = self.iter().map(|(how, executions)| how.misplaced(executions));
        of_each.fold(0, u64::saturating_add)
    }
}

/// An executed line whose place is an estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EstimatedLine {
    /// Assembler name of the function that has it.
    pub function: String,
    /// Lines from the start of the function.
    pub line: u32,
    /// How its place was inferred.
    pub how: Estimate,
    /// Executions of all blocks that have it.
    pub executions: u64,
}

/// An executed line that is not in the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Its file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// Assembler name of the function that counted it.
    pub function: String,
    /// Executions of all blocks that have it.
    pub executions: u64,
    /// Why it is not in the profile.
    pub why: Lost,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, function, executions, why } = self;
        write!(f, "{path}:{line}: {} in {function} lost: {why}", Executions(*executions))
    }
}

/// A number of executions in a readable form: 812, 13.9 k, 264.0 M.
#[derive(Clone, Copy, Debug)]
pub struct Amount(pub u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1_000_000_000_000, "T"), (1_000_000_000, "G"), (1_000_000, "M"), (1000, "k")];
        match units.into_iter().find(|&(unit, _)| self.0 >= unit) {
            Some((unit, letter)) => write!(f, "{:.1} {letter}", self.0 as f64 / unit as f64),
            None => write!(f, "{}", self.0),
        }
    }
}

/// The same with its unit.
struct Executions(u64);

impl fmt::Display for Executions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = if self.0 == 1 { "" } else { "s" };
        write!(f, "{} execution{ending}", Amount(self.0))
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { objects, functions, counters, lines, lines_nested, sites, .. } = self;
        let inlined = self.lines_inlined + lines_nested;
        if self.executions > 0 {
            let share = |part: u64| format_share(part, self.executions);
            let (placed, all) = (share(self.well_placed()), Executions(self.executions));
            let estimated = share(self.estimated.all());
            write!(f, "placed {placed} % of {all}, {estimated} % by estimate; ")?;
        }
        let (objects, functions) = (number(*objects, "object"), number(*functions, "function"));
        let (counters, lines) = (number(*counters, "arc counter"), number(*lines, "line"));
        write!(
            f,
            "{objects}, {functions}, {counters}; {lines} and {inlined} of inlined functions"
        )?;
        if *lines_nested > 0 {
            write!(f, " ({lines_nested} at their calls)")?;
        }
        write!(f, ", {}", number(*sites, "indirect-call site"))?;
        if self.functions_mended > 0 {
            let mended = number(self.functions_mended, "function");
            write!(f, "; {mended} left in the middle")?;
        }
        let mut separator = "; dropped: ";
        for dropped in self.dropped() {
            write!(f, "{separator}{dropped}")?;
            separator = ", ";
        }
        Ok(())
    }
}

/// A share in percent with one digit behind the point. 100 means all, and 0 means nothing.
fn format_share(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 1000 + u128::from(all) / 2) / u128::from(all.max(1));
    let tenths = match tenths {
        1000 if part < all => 999,
        0 if part > 0 => 1,
        tenths => tenths,
    };
    format!("{}.{}", tenths / 10, tenths % 10)
}

impl Statistics {
    /// Executions in the profile, less those that stand at wrong places if estimates are as good as they were measured
    /// to be.
    pub fn well_placed(&self) -> u64 {
        self.executions_placed.saturating_sub(self.estimated.misplaced())
    }

    /// The share of executions that are [well placed](Self::well_placed), in percent; 100 if there are none.
    pub fn placed_percent(&self) -> f64 {
        match self.executions {
            0 => 100.0,
            all => self.well_placed() as f64 * 100.0 / all as f64,
        }
    }

    /// Whether the profile has everything that was in the dump.
    pub fn is_complete(&self) -> bool {
        self.executions_placed >= self.executions && self.dropped().is_empty()
    }

    /// What was dropped.
    pub fn dropped(&self) -> Vec<Dropped> {
        let before = [
            (self.files_left_out as u64, ".gcda file", "that could not be read"),
            (self.modules_left_out as u64, "module", "that cannot be right"),
            (self.objects_without_notes as u64, "object", "without notes"),
            (self.objects_recompiled as u64, "object", "with the notes of another compilation"),
            (self.functions_without_notes as u64, "function", "without notes"),
            (self.functions_impossible as u64, "function", "with impossible counts"),
        ];
        let sites = self.sites_unplaced.iter().map(|(why, &sites)| Dropped {
            number: sites as u64,
            noun: "indirect-call site",
            which: why.to_string(),
        });
        let after = [
            (self.targets_unnamed as u64, "call target", "without a name"),
            (self.calls_lost, "call", "of full sites"),
            (self.events_dropped, "event", "without room in the runtime"),
        ];
        let dropped = |(number, noun, which): (u64, _, &str)| Dropped {
            number,
            noun,
            which: which.to_string(),
        };
        let all =
            before.into_iter().map(dropped).chain(sites).chain(after.into_iter().map(dropped));
        all.filter(|dropped| dropped.number > 0).collect()
    }
}

/// The number of things of one kind that the profile lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// How many.
    pub number: u64,
    /// What one of them is: an object, a function, ...
    noun: &'static str,
    /// Which of these, or why.
    which: String,
}

impl Dropped {
    /// What they are, in the plural.
    pub fn what(&self) -> String {
        format!("{}s {}", self.noun, self.which)
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", Number(self.number, self.noun), self.which)
    }
}

fn number(number: usize, noun: &str) -> Number<'_> {
    Number(number as u64, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_is_all() {
        assert_eq!(format_share(1000, 1000), "100.0");
        assert_eq!(format_share(999_999, 1_000_000), "99.9");
        assert_eq!(format_share(992, 1000), "99.2");
        assert_eq!(format_share(1, 1_000_000), "0.1");
        assert_eq!(format_share(0, 1000), "0.0");
        assert_eq!(format_share(u64::MAX, u64::MAX), "100.0");
    }

    #[test]
    fn amounts_have_four_digits_at_most() {
        let text = |amount| Amount(amount).to_string();
        assert_eq!([text(0), text(999), text(1000)], ["0", "999", "1.0 k"]);
        assert_eq!(text(264_040_000), "264.0 M");
    }
}
