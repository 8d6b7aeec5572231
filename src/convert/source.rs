//! What a conversion asks of the world outside dump and notes: where calls are made, which functions
//! are inlined where, what functions are called.

use alloc::collections::BTreeSet;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::raw::dump::FunctionView;

/// Answers what dump and notes do not tell.
pub trait Sources {
    /// The path of a source file that the compiler, running in `directory`, called by `name`.
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        source_path(directory, name)
    }

    /// Whether [`Statistics::details`](super::Statistics::details) should name everything that is
    /// dropped.
    fn wants_details(&self) -> bool {
        false
    }

    /// Where a module's machine code makes the call of an indirect-call site.
    fn call(
        &self,
        module: usize,
        function: &FunctionView<'_>,
        site: usize,
    ) -> Result<Call, Unplaced> {
        let _ = (module, function, site);
        Err(Unplaced::NoCode)
    }

    /// The stacks of all of a module's instructions that belong to these lines, which are collected if
    /// there is anything to ask.
    fn stacks(
        &self,
        module: usize,
        lines: impl FnOnce() -> BTreeSet<SourceLine>,
    ) -> Vec<(SourceLine, Stack)> {
        let _ = (module, lines);
        Vec::new()
    }

    /// The name of a global function that no notes know.
    fn function(&self, ident: u32) -> Option<Vec<u8>>;
}

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// Path of the file, as [`source_path`] makes it.
    pub path: Arc<[u8]>,
    /// Line, from 1.
    pub line: u32,
}

/// A function as its declaration names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Declared {
    /// Assembler name.
    pub name: Vec<u8>,
    /// Where it is declared.
    pub at: SourceLine,
}

/// The functions that an instruction was written in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stack {
    /// The one that has the instruction.
    pub outermost: Arc<Declared>,
    /// What is inlined into it, and into that.
    pub inlined: Vec<Inlined>,
}

/// A function inlined into another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inlined {
    /// Line of the call, in the file of the caller.
    pub line: u32,
    /// Column of the call, 0 if unknown.
    pub column: u32,
    /// Which of several calls of the line, 0 if there is only one.
    pub discriminator: u16,
    /// The function that was called.
    pub function: Arc<Declared>,
}

impl Stack {
    /// The function in whose source the instruction stands.
    pub fn innermost(&self) -> &Declared {
        self.inlined.last().map_or(&self.outermost, |inlined| &inlined.function)
    }
}

/// An indirect call in the machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its line.
    pub at: SourceLine,
    /// Which of several pieces of code of the line, 0 if there is only one.
    pub discriminator: u16,
    /// Those of all its copies; none without debug information about functions.
    pub stacks: Vec<Stack>,
}

/// Why the place of an indirect call is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unplaced {
    /// There is no machine code to look into, or it cannot be followed.
    NoCode,
    /// The machine code does not show which call it is, or has it no more.
    NoCall,
    /// The debug information has no line for the call.
    NoLine,
    /// Copies of the code have different lines.
    SeveralLines,
    /// The line lies in no known function.
    NoFunction,
}

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoCode => "without machine code to look into",
            Self::NoCall => "whose call was not found",
            Self::NoLine => "whose call has no line",
            Self::SeveralLines => "at several lines",
            Self::NoFunction => "in no known function",
        })
    }
}

/// The path of a source file called by `name` in `directory`, without `.` components.
pub fn source_path(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let whole = match name.starts_with(b"/") {
        true => name.to_vec(),
        false => [directory, b"/", name].concat(),
    };
    // What `..` leads to is only known if no link is in the way; as in compilers, it stays.
    let parts = whole.split(|&byte| byte == b'/').filter(|part| !matches!(*part, b"" | b"."));
    parts.flat_map(|part| [b"/", part].concat()).collect()
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
        assert_eq!(path("/home/u", "../a.h"), "/home/u/../a.h");
        assert_eq!(path("/home/u", "/usr/include/a.h"), "/usr/include/a.h");
    }
}
