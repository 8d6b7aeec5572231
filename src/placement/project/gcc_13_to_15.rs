//! What gcc 13 to 15 read: version 2 with discriminators.
//!
//! They find each block of a line by its discriminator. Where positions share one all the same, they get the smallest
//! count, as gcc 12 does.

use super::gcc_10_to_12;
use crate::placement::reader::{OfSeveral, Reader};

/// gcc 13 to 15.
pub const READER: Reader =
    Reader { discriminators: true, of_several: OfSeveral::Least, ..gcc_10_to_12::READER };
