//! What the machine code of one function shows: its basic blocks, which counters they increment, and in
//! which functions and lines their instructions were written.
//!
//! Whoever can read programs makes listings ([`super::source::Sources::listings`]); what they say of
//! counts is found out by [`super::evidence`].

use alloc::sync::Arc;
use alloc::vec::Vec;

/// The files and functions that listings speak of, by their places.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Paths of source files, as [`super::source::source_path`] makes them.
    pub files: Vec<Arc<[u8]>>,
    /// Functions as they are declared.
    pub functions: Vec<Declared>,
    /// Functions outside of others that are declared in these files, too, and need not have left any code.
    pub mentioned: Vec<Declared>,
}

/// A function as it is declared.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Declared {
    /// Assembler name, or the name in the source.
    pub name: Arc<[u8]>,
    /// Whether it is the assembler's. Debug information leaves that out for functions that no other object can
    /// call.
    pub is_assembler_name: bool,
    /// The file, by its place in [`Tables::files`].
    pub file: u32,
    /// The line.
    pub line: u32,
}

/// The machine code of one function.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Where it starts.
    pub address: u64,
    /// The function itself, and behind it the copies of functions that are inlined there, each behind
    /// the one that it is inlined in.
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
}

/// A function, or a copy of one that is inlined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The place of the copy that this one is inlined in; its own for the function itself.
    pub caller: u32,
    /// What it is a copy of, by its place in [`Tables::functions`].
    pub function: u32,
    /// Line of the call that was inlined, in the caller's file.
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
    /// Control may come from elsewhere than over [`Listing::edges`].
    pub more_into: bool,
    /// Control may go elsewhere than over [`Listing::edges`].
    pub more_out: bool,
    /// Its line continues that of the code before it, and may be anybody's.
    pub inherits: bool,
}

/// A piece of the source in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Piece {
    /// The block.
    pub block: u32,
    /// The copy that the instructions were written in, by its place in [`Listing::copies`].
    pub copy: u32,
    /// The file, by its place in [`Tables::files`].
    pub file: u32,
    /// The line.
    pub line: u32,
    /// The discriminator, 0 if there is none.
    pub discriminator: u16,
    /// Number of instructions; 0 for a statement that has left none here.
    pub instructions: u32,
}

/// A counter that is incremented whenever a block is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Increment {
    /// The block.
    pub block: u32,
    /// The copy around the instruction, by its place in [`Listing::copies`].
    pub copy: u32,
    /// The function that has the counter, by its place among those that were asked for.
    pub function: u32,
    /// Number of the counter.
    pub counter: u32,
    /// Whether the counter is in its place in memory before and after. If not, its value may have been added to
    /// for something else.
    pub is_in_place: bool,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Where it is made.
    pub piece: Piece,
    /// What is called.
    pub callee: Callee,
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// The function that starts at this address of the program.
    Address(u64),
    /// Whatever the targets of a site are: the function that has it, by its place among those that were
    /// asked for, and its number.
    Site(u32, u32),
}
