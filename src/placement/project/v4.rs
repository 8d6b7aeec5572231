//! What readers of version 4 and of JSON get: everything as it is.

use crate::placement::reader::Reader;

/// Takes everything as it is.
pub const READER: Reader = Reader::EXACT;
