//! What LLVM's readers get: everything, with discriminators where the format has them.

use super::v4;
use crate::placement::reader::Reader;

/// Version 0x3430372a, and sample profiles, with discriminators or without.
pub const fn reader(discriminators: bool) -> Reader {
    Reader { discriminators, ..v4::READER }
}
