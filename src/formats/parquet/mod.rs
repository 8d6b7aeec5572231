//! Tables of a fleet: dumps and profiles as rows of Parquet files, for engines that merge them.
//!
//! A merge groups rows by their keys and sums the other columns; any engine can do that. The result is a table
//! of the same form, and becomes a dump or a profile again. This module is responsible for rows and columns, not for
//! the bytes of Parquet, which belong to the crate of that name, nor for the meaning of the counts, which belongs to
//! [`crate::raw`] and [`crate::profile`].
//!
//! Each of the two tables has a folder: [`counters`] has all facts of dumps, and [`positions`] has profiles by source
//! position.
//!
//! **Version.** The column `version` holds [`VERSION`] in each row, because engines do not keep the metadata of files.
//! The metadata have it as `countersink.version`, and the table's name as `countersink.table`.
//!
//! **Counts** have the type `DECIMAL(20,0)`, which holds every 64-bit number, signed or unsigned. Engines give its sums
//! more digits (DuckDB 38, Spark 30), so `SUM` is exact in each of them. Sums of 64-bit integers are exact only in
//! DuckDB: Spark stops or wraps, ClickHouse wraps. The reader takes sums of up to 38 digits, and then limits them by
//! the rule of the counter: to 64 bits in dumps, to 63 in profiles. It notes those that are larger. A smallest number
//! of more than 64 bits is a defect, because no dump has it. **Bits** are 64-bit integers, for `BIT_OR`.
//!
//! **Text** must be UTF-8 in Parquet, but names and paths are bytes: [`text`] escapes them.

pub mod check;
pub mod columns;
pub mod counters;
mod pages;
pub mod positions;
pub mod rows;
pub mod text;

use std::prelude::v1::*;

use parquet::file::reader::ChunkReader;

pub use check::{Defect, Fault, Limited};
use rows::Table;

/// Version of both tables.
pub const VERSION: i32 = 1;

/// The key of the table's name in the metadata of a file.
const TABLE: &str = "countersink.table";

/// The key of the version in the metadata of a file.
const VERSION_KEY: &str = "countersink.version";

/// The first and the last four bytes of a file.
pub const MAGIC: [u8; 4] = *b"PAR1";

/// Number of rows of a full row group that the encoders write.
pub const GROUP: usize = 1 << 17;

/// The sum of a table's rows.
pub enum Content {
    /// The sum of the dumps in a table of counters.
    Dump(crate::raw::dump::Dump),
    /// The sum of the profiles in a table of positions.
    Profile(crate::profile::Profile),
}

/// Reads a table in memory.
pub fn decode_bytes(bytes: Vec<u8>) -> Result<Content, Fault> {
    decode(bytes::Bytes::from(bytes))
}

/// Reads a table, row group by row group. Needs memory for the sum and for about one row group.
pub fn decode<R: ChunkReader + 'static>(source: R) -> Result<Content, Fault> {
    decode_and_note(source).map(|(content, _)| content)
}

/// Reads a table like [`decode`], and notes the sums that are too large.
pub fn decode_and_note<R: ChunkReader + 'static>(source: R) -> Result<(Content, Limited), Fault> {
    rows::without_panic(|| {
        let table = Table::open(source)?;
        if positions::is_it(&table) {
            let (profile, limited) = positions::decode::decode(&table)?;
            return Ok((Content::Profile(profile), limited));
        }
        let (dump, limited) = counters::decode::decode(&table)?;
        Ok((Content::Dump(dump), limited))
    })
}
