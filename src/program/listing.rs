//! What the machine code of one function shows: its basic blocks, the counters that they increment, and the
//! functions and lines in which their instructions were written.
//!
//! `disassembly` makes them. [`crate::placement::observe`] finds out what they say about counts.

use alloc::sync::Arc;
use alloc::vec::Vec;

/// The files and functions that listings refer to by index.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Paths of source files, as [`super::source_path::source_path`] makes them.
    pub files: Vec<Arc<[u8]>>,
    /// Functions as they are declared.
    pub functions: Vec<Declared>,
    /// Other functions declared in these files, outside of functions. They need not have left any code.
    pub mentioned: Vec<Declared>,
}

/// A function as it is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Assembler name, or the name in the source.
    pub name: Arc<[u8]>,
    /// Whether the name is the assembler's. Debug information omits that for functions that no other object
    /// can call.
    pub is_assembler_name: bool,
    /// Index of the file in [`Tables::files`].
    pub file: u32,
    /// The line.
    pub line: u32,
    /// Whether the debug information tells the place. For a function that the compiler made out of another one's code,
    /// the place is that of its first instruction.
    pub has_place: bool,
}

/// The machine code of one function.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Address of its start.
    pub address: u64,
    /// The function itself, then the copies of functions that are inlined there, each behind the copy it is
    /// inlined in.
    pub copies: Vec<Copy>,
    /// Basic blocks.
    pub blocks: Vec<Block>,
    /// Ways from one block to another: from, to.
    pub edges: Vec<(u32, u32)>,
    /// Pieces of source that the blocks' instructions belong to, by block.
    pub pieces: Vec<Piece>,
    /// Counters that blocks increment, by block.
    pub increments: Vec<Increment>,
    /// Calls that the blocks make.
    pub calls: Vec<Call>,
    /// The places of calls of computed addresses, and of jumps that may be such calls.
    pub indirect_calls: Vec<Piece>,
}

/// A function, or an inlined copy of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Index of the copy that this one is inlined in; the function itself has its own.
    pub caller: u32,
    /// Index in [`Tables::functions`] of the function that it is a copy of.
    pub function: u32,
    /// Line of the inlined call, in the caller's file.
    pub line: u32,
    /// Column of that call, 0 if unknown.
    pub column: u32,
    /// Discriminator of that call.
    pub discriminator: u16,
    /// Whether it has instructions.
    pub has_code: bool,
}

/// A basic block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Control may come in on other ways than [`Listing::edges`].
    pub more_into: bool,
    /// Control may go out on other ways than [`Listing::edges`].
    pub more_out: bool,
    /// Its line continues that of the code before it, and may belong to anything.
    pub inherits: bool,
}

/// A piece of the source in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The block.
    pub block: u32,
    /// Index in [`Listing::copies`] of the copy that the instructions were written in.
    pub copy: u32,
    /// Index of the file in [`Tables::files`].
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The discriminator, 0 if there is none.
    pub discriminator: u16,
    /// Number of instructions; 0 for a statement that has left none here.
    pub instructions: u32,
    /// The fall-through predecessor at whose end it may stand instead.
    pub before: Option<u32>,
    /// Whether it is nothing but the jump that ends the block.
    pub is_jump: bool,
}

/// A counter that is incremented whenever a block is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Increment {
    /// The block.
    pub block: u32,
    /// Index in [`Listing::copies`] of the copy around the instruction.
    pub copy: u32,
    /// Index, among the functions that were asked for, of the function that has the counter.
    pub function: u32,
    /// Number of the counter.
    pub counter: u32,
    /// Whether the block also writes the counter to its place in memory. If not, the addition to its value
    /// may serve some other purpose.
    pub is_in_place: bool,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The place of the call.
    pub piece: Piece,
    /// What is called.
    pub callee: Callee,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The function that starts at this address of the program.
    Address(u64),
    /// Any target of a site: the index, among the functions that were asked for, of the function that has the
    /// site, and the site's number.
    Site(u32, u32),
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

    /// Whether to look at the code of a function. `copies` has that function and those that are inlined there, by their
    /// indexes in [`Tables::functions`]; `None` for unknown ones.
    fn wants(&self, unit: &Self::Unit, copies: &[Option<u32>]) -> bool {
        let _ = (unit, copies);
        true
    }

    /// Looks at the code of a function.
    fn listing(
        &self,
        unit: &Self::Unit,
        listing: &Listing,
        memory: &mut Self::Memory,
    ) -> Self::Finding;
}
