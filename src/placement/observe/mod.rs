//! What machine code says about a function's blocks: the executions of each position in each early inlined
//! copy.
//!
//! A compiler inlines twice: early, before it lays the counters out, and late. The counters of the function
//! around count what came early; what came late brings its own. So within another function's code, each late
//! copy is code of its own function and shows the same blocks. All such copies are treated alike, each by its
//! own counters (`flow_solver`).
//!
//! | a copy came | if |
//! |---|---|
//! | early | its function has no counters, or the notes of the function around it have most of its lines |
//! | late | otherwise, and whenever its blocks increment counters of its function |
//! | never | it is inside its own function and has no code: GCC guessed the target of an indirect call, and took that back |

mod adjacency;
mod candidates;
mod finding;
mod flow_solver;
mod gather;
mod late;
mod late_inline_cfg;
mod members;

use alloc::vec::Vec;

use hashbrown::HashMap;

use crate::profile::{FileId, Position, SymbolId};

pub use candidates::{Candidates, Unit};
pub use finding::Finding;
pub use gather::take;

/// What machine code tells about one function.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Copies that were inlined early, each behind the copy it is inlined in. The first one stands for the
    /// function itself.
    pub instances: Vec<InlineInstance>,
    /// The pieces of the source that each listing shows; see [`Observations`].
    found: Vec<Vec<Observation>>,
    /// The places of the calls of its sites.
    pub sites: Vec<(u32, SourcePosition)>,
    /// The functions that it calls, and the places of the calls.
    pub calls: Vec<(Callee, SourcePosition)>,
}

/// The observations of one function after the other, in the same memory.
#[derive(Debug, Default)]
pub struct Observations {
    /// What to sort by, with the indexes of the listing and of the observation there.
    order: Vec<(u128, u32, u32)>,
    sorted: Vec<Observation>,
}

/// A place in the code of a module. Objects that are not linked, and shared objects, have equal addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeAddress {
    /// The number of the program or object.
    pub image: u32,
    /// The address there.
    pub address: u64,
}

/// A function that another one calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Callee {
    /// By its index.
    Function(u32),
    /// By the place of its code.
    At(CodeAddress),
}

/// What listings say about all functions of a module.
#[derive(Debug, Default)]
pub struct Findings {
    /// For each function, by its index.
    pub evidence: Vec<Evidence>,
    /// Functions by the addresses of their code.
    pub addresses: HashMap<CodeAddress, u32>,
}

/// A copy of a function, inlined early. Calls of one function that share line and discriminator share one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InlineInstance {
    /// The copy it is inlined in; 0 for the function itself.
    pub caller: u32,
    /// Where the caller calls it.
    pub call: Position,
    /// The function.
    pub symbol: SymbolId,
    /// Line of its declaration.
    pub start: u32,
    /// The file of its declaration.
    pub file: FileId,
    /// The number of calls that share it.
    pub calls: u32,
    /// Column of the first of these, 0 if unknown.
    pub column: u32,
}

impl InlineInstance {
    /// The function itself.
    pub fn itself(symbol: SymbolId, start: u32, file: FileId) -> Self {
        Self { caller: 0, call: Position::default(), symbol, start, file, calls: 1, column: 0 }
    }

    /// The same with one call at no column, to look it up.
    pub const fn once(self) -> Self {
        Self { calls: 1, column: 0, ..self }
    }
}

/// A piece of the source: in a copy, at a line, with a discriminator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourcePosition {
    /// Index of the copy in [`Evidence::instances`].
    pub instance: u32,
    /// The file.
    pub file: FileId,
    /// The line.
    pub line: u32,
    /// The discriminator.
    pub discriminator: u16,
}

/// How often machine code of a piece of the source was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The piece.
    pub at: SourcePosition,
    /// Executions, if they are known.
    pub count: Option<i64>,
    /// Executions of the block before, if a mark may stand at that block's end.
    pub before: Option<i64>,
    /// Number of instructions that say so.
    pub instructions: u32,
    /// Whether it is the sum of several blocks. The compiler may have made copies of one block: of a loop's
    /// condition, for instance, one copy stands before the loop.
    pub is_sum: bool,
    /// Whether several blocks lead to this one, and none of its lines has a block that was executed as often. It may be
    /// the merged end of several lines.
    pub is_join: bool,
}
