//! What a conversion asks of the world beyond dump and notes: what the machine code of the program shows, the
//! names of functions without notes, and where files have moved.

use alloc::vec::Vec;
use core::fmt;

use crate::placement::RuleSet;
use crate::placement::explain::SourceLine;
use crate::placement::solve::counted::Counted;
use crate::program::listing::{Analysis, Tables};
use crate::program::source_path::source_path;

/// Answers what dump and notes do not tell.
pub trait ProgramReader: Sync {
    /// The path of a source file that a compiler running in `directory` called `name`.
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        source_path(directory, name)
    }

    /// Whether [`Statistics::details`](super::Statistics::details) should name everything that is dropped.
    fn wants_details(&self) -> bool {
        false
    }

    /// The rules that give counts their places.
    fn rules(&self) -> RuleSet {
        RuleSet::ALL
    }

    /// Whether each function's counts are checked, and [`Statistics::faults`](super::Statistics::faults) are wanted.
    fn wants_check(&self) -> bool {
        false
    }

    /// The line whose [explanations](super::Statistics::explanations) are wanted.
    fn explains(&self) -> Option<&SourceLine> {
        None
    }

    /// Lets an analysis look at the machine code of a module that has the counters of these functions. Passes the
    /// analysis's findings to `take`, unit by unit, with the number of the program or object that they are of. Says
    /// whether there is any code.
    fn listings<S: Analysis>(
        &self,
        module: usize,
        functions: &[Counted<'_>],
        analysis: &S,
        take: impl FnMut(u32, &Tables, Vec<S::Finding>) + Send,
    ) -> bool {
        let _ = (module, functions, analysis, take);
        false
    }

    /// The name of a global function that no notes know.
    fn function(&self, ident: u32) -> Option<Vec<u8>>;
}

/// Why the place of an indirect call is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unplaced {
    /// There is no machine code to look into, or it cannot be followed.
    NoCode,
    /// The machine code does not show which call it is, or no longer has it, or the debug information has no
    /// line for it.
    NoCall,
    /// Copies of the code have different lines.
    SeveralLines,
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCode => "without machine code to look into",
            Self::NoCall => "whose call was not found",
            Self::SeveralLines => "at several lines",
        })
    }
}
