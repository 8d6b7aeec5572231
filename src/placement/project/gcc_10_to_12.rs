//! What gcc 10 to 12 read: version 1, or 2.
//!
//! They know no discriminators, so a line has one count. They give it to all of its blocks, and then make the counts of
//! the function agree. That only raises counts: what is too small heals, what is too large stays. So they get the
//! smallest count, and none if the blocks have little in common: `shared_lines` has the measurements.
//!
//! They inline a call early if the profile has a body at it, whatever its size. gcc 12 ends with an internal error
//! where it vectorises a loop with a block of count 0: `a_loop_whose_condition_was_never_true` in
//! `tests/placement/positions.rs` compiles such loops.

use crate::placement::reader::{HotCalls, Inline, OfBlock, OfSeveral, Reader, Zeros};

/// gcc 10 to 12.
pub const READER: Reader = Reader {
    discriminators: false,
    of_several: OfSeveral::LeastOfSimilar,
    of_block: OfBlock::All,
    zeros: Zeros::OnesInLoops,
    inline: Inline::Nested,
    hot_calls: HotCalls::Copied,
};
