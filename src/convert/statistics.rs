//! The account of a conversion: what was used, what was not, and why.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::source::Unplaced;

/// What became of a dump's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Objects whose notes were used.
    pub objects: usize,
    /// Objects without notes that fit.
    pub objects_without_notes: usize,
    /// Objects of which the notes are of another compilation; the tool's to tell from the former.
    pub objects_recompiled: usize,
    /// Functions whose counts were used.
    pub functions: usize,
    /// Functions of used objects that the notes do not know, or know differently.
    pub functions_without_notes: usize,
    /// Functions that processes left in the middle, whose counts may be off by the number of runs.
    pub functions_mended: usize,
    /// Functions whose counts are impossible.
    pub functions_impossible: usize,
    /// Arc counters of used functions.
    pub counters: usize,
    /// Line counts credited to the function they stand in.
    pub lines: usize,
    /// Line counts credited to a function that was inlined where they were counted.
    pub lines_inlined: usize,
    /// Line counts credited to the one copy of a function in another one.
    pub lines_nested: usize,
    /// Executed line counts dropped because they lie in no known function.
    pub lines_outside: usize,
    /// Executed line counts dropped because several functions share the lines.
    pub lines_ambiguous: usize,
    /// Indirect-call sites with events whose line is certain.
    pub sites: usize,
    /// Indirect-call sites with events dropped because it is not, and why.
    pub sites_unplaced: BTreeMap<Unplaced, usize>,
    /// Calls at placed sites that no kept target accounts for.
    pub calls_lost: u64,
    /// Targets dropped because no notes name them.
    pub targets_unnamed: usize,
    /// Events lost at run time because the runtime's node region was full.
    pub events_dropped: u64,
    /// Details, one line each, for whoever wants to know.
    pub details: Vec<String>,
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { objects, functions, counters, lines, lines_nested, sites, .. } = self;
        let inlined = self.lines_inlined + lines_nested;
        write!(f, "{objects} objects, {functions} functions, {counters} arc counters; ")?;
        write!(f, "{lines} lines and {inlined} of inlined functions")?;
        if *lines_nested > 0 {
            write!(f, " ({lines_nested} at their calls)")?;
        }
        write!(f, ", {sites} indirect-call sites")?;
        if self.functions_mended > 0 {
            write!(f, "; {} functions left in the middle", self.functions_mended)?;
        }
        let mut separator = "; dropped: ";
        for (number, what) in self.dropped().into_iter().filter(|&(number, _)| number > 0) {
            write!(f, "{separator}{number} {what}")?;
            separator = ", ";
        }
        Ok(())
    }
}

impl Statistics {
    /// What was dropped, with numbers.
    fn dropped(&self) -> Vec<(u64, String)> {
        let before = [
            (self.objects_without_notes as u64, "objects without notes"),
            (self.objects_recompiled as u64, "objects with the notes of another compilation"),
            (self.functions_without_notes as u64, "functions without notes"),
            (self.functions_impossible as u64, "functions with impossible counts"),
            (self.lines_outside as u64, "lines in no known function"),
            (self.lines_ambiguous as u64, "lines that several functions share"),
        ];
        let sites = self.sites_unplaced.iter();
        let sites = sites.map(|(why, &sites)| (sites as u64, format!("indirect-call sites {why}")));
        let after = [
            (self.targets_unnamed as u64, "call targets without a name"),
            (self.calls_lost, "calls of full sites"),
            (self.events_dropped, "events without room in the runtime"),
        ];
        let named = |(number, what): (u64, &str)| (number, what.to_string());
        before.into_iter().map(named).chain(sites).chain(after.into_iter().map(named)).collect()
    }
}
