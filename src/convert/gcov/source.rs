//! What a conversion asks of the world beyond dump and notes: what the machine code of the program shows, the
//! names of functions without notes, and where files have moved.

use alloc::vec::Vec;
use core::fmt;

use super::counted::Counted;
use super::listing::{Listing, Tables};

/// Answers what dump and notes do not tell.
pub trait Sources: Sync {
    /// The path of a source file that a compiler running in `directory` called `name`.
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        source_path(directory, name)
    }

    /// Whether [`Statistics::details`](super::Statistics::details) should name everything that is dropped.
    fn wants_details(&self) -> bool {
        false
    }

    /// Lets an analysis look at the machine code of a module that has the counters of these functions. Passes the
    /// analysis's findings to `take`, unit by unit. Says whether there is any code.
    fn listings<S: Analysis>(
        &self,
        module: usize,
        functions: &[Counted<'_>],
        analysis: &S,
        take: impl FnMut(&Tables, Vec<S::Finding>) + Send,
    ) -> bool {
        let _ = (module, functions, analysis, take);
        false
    }

    /// The name of a global function that no notes know.
    fn function(&self, ident: u32) -> Option<Vec<u8>>;
}

/// Looks at listings.
pub trait Analysis: Sync {
    /// What is known about the files and functions of a unit.
    type Unit: Sync;
    /// What a listing shows.
    type Finding: Send;
    /// Memory that is used for one listing after the other.
    type Memory: Default + Send;

    /// Looks at the files and functions of a unit.
    fn unit(&self, tables: &Tables) -> Self::Unit;

    /// Looks at the code of a function.
    fn listing(
        &self,
        unit: &Self::Unit,
        listing: &Listing,
        memory: &mut Self::Memory,
    ) -> Self::Finding;
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

/// The path of a source file called `name` in `directory`, without `.` and `..`: one spelling for each file, as lcov and LLVM
/// write it.
pub fn source_path(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let directory = if name.starts_with(b"/") { b"" } else { directory };
    let mut path = Vec::with_capacity(directory.len() + name.len() + 2);
    let parts = [directory, name].into_iter().flat_map(|path| path.split(|&byte| byte == b'/'));
    for part in parts.filter(|part| !matches!(*part, b"" | b".")) {
        if part == b".." {
            let parent = path.iter().rposition(|&byte| byte == b'/');
            path.truncate(parent.unwrap_or(0));
            continue;
        }
        path.push(b'/');
        path.extend_from_slice(part);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn paths_of_sources() {
        let path = |directory: &str, name: &str| {
            String::from_utf8(source_path(directory.as_bytes(), name.as_bytes())).unwrap()
        };
        assert_eq!(path("/home/u", "a.c"), "/home/u/a.c");
        assert_eq!(path("/home/u", "./x//a.c"), "/home/u/x/a.c");
        assert_eq!(path("/home/u", "../a.h"), "/home/a.h");
        assert_eq!(path("/home/u", "../../../x/a.h"), "/x/a.h");
        assert_eq!(path("/home/u/..", "a.h"), "/home/a.h");
        assert_eq!(path("/home/u", "/usr/include/a.h"), "/usr/include/a.h");
    }
}
