//! What readers of version 4 and of JSON get: everything as it is.

use super::{HotCalls, Inline, OfBlock, OfSeveral, Reader, Zeros};

/// Takes everything as it is.
pub const READER: Reader = Reader {
    discriminators: true,
    of_several: OfSeveral::Greatest,
    of_block: OfBlock::All,
    zeros: Zeros::Kept,
    inline: Inline::Nested,
    hot_calls: HotCalls::None,
};
