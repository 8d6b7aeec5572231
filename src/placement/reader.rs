//! What a reader of profiles makes of counts, and so what it is given. The files of `project` say which compiler is
//! which reader, and why.

/// Where to put the counts of functions that were inlined before the counters were laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inline {
    /// To the functions themselves.
    Flat,
    /// At the calls, as bodies of their own.
    #[default]
    Nested,
}

/// The count of a position that several blocks have with different counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfSeveral {
    /// The smallest, of blocks that show in the code if there are any. A compiler gives this count to all the
    /// blocks, and then makes the counts of the function agree. That only raises counts: what is too small
    /// heals, what is too large stays.
    #[default]
    Least,
    /// The smallest, or none if the greatest is more than four times as large. A reader without
    /// discriminators asks for blocks of a line that have nothing in common. Without a count their
    /// neighbours tell more about them than each other's count would. A large one all the same, if a loop, a copy or
    /// the function would have no count: see `project::shared_lines`.
    LeastOfSimilar,
    /// The greatest, as in profiles of samples.
    Greatest,
}

/// The positions of a block that a reader is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OfBlock {
    /// All.
    #[default]
    All,
    /// Only the final branch's position, if any. GCC 16 would take others for those of further blocks.
    BranchOnly,
}

/// What a reader is given for 0 in functions that were executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zeros {
    /// 0.
    #[default]
    Kept,
    /// 1 in loops without calls: GCC 12 ends with an internal error where it vectorises a loop that has a
    /// block with 0.
    OnesInLoops,
    /// 1: GCC 16 takes 0 for unknown, and guesses.
    Ones,
}

/// What a reader is given at hot calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HotCalls {
    /// Nothing.
    #[default]
    None,
    /// Bodies besides those of the functions that are called.
    Copied,
    /// Bodies whose counts are taken from the functions themselves, which keep half. The reader gives back what it does
    /// not inline.
    Moved,
}

/// What a reader makes of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// Whether it uses discriminators to distinguish positions of a line.
    pub discriminators: bool,
    /// What it is given where the blocks of a position differ.
    pub of_several: OfSeveral,
    /// What it is given where a block has several positions.
    pub of_block: OfBlock,
    /// What it is given for 0 in functions that were executed.
    pub zeros: Zeros,
    /// Where it looks for inlined functions.
    pub inline: Inline,
    /// How it is told to inline functions that hot calls call.
    pub hot_calls: HotCalls,
}

impl Reader {
    /// Takes everything as it is.
    pub const EXACT: Self = Self {
        discriminators: true,
        of_several: OfSeveral::Greatest,
        of_block: OfBlock::All,
        zeros: Zeros::Kept,
        inline: Inline::Nested,
        hot_calls: HotCalls::None,
    };
}
