//! Finds one function without reading the others, as compilers do.
//!
//! Opening reads header and summary. A look-up reads one bucket of the hash table, straight from the bytes,
//! which may be a file mapped into memory.
//!
//! ```
//! # use countersink::formats::profdata::check::Finding;
//! use countersink::formats::profdata::lookup::Profile;
//!
//! /// How often a function was entered, by the hash of its control flow.
//! fn entries(file: &[u8], function: &[u8], hash: u64) -> Result<Option<u64>, Finding> {
//!     let profile = Profile::open(file)?;
//!     let records = profile.function(function)?;
//!     let record = records.iter().find(|record| record.hash == hash);
//!     Ok(record.and_then(|record| record.counters().next()))
//! }
//! ```

use alloc::vec::Vec;

use super::check::Finding;
use super::header::Header;
use super::open::Opened;
use super::record::Record;
use crate::counters::summary::Summary;

/// A file, open for looking functions up.
#[derive(Clone, Debug)]
pub struct Profile<'a>(Opened<'a>);

impl<'a> Profile<'a> {
    /// Opens a file.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Finding> {
        Opened::new(bytes, &mut |_| {}).map(Self)
    }

    /// The header.
    pub const fn header(&self) -> &Header {
        &self.0.header
    }

    /// The summary, which versions before 4 lack.
    pub const fn summary(&self) -> Option<&Summary> {
        self.0.summary.as_ref()
    }

    /// The summary of functions that were counted after inlining, if the profile has them.
    pub const fn context_sensitive_summary(&self) -> Option<&Summary> {
        self.0.late_summary.as_ref()
    }

    /// Number of names in the hash table, as it says itself.
    pub const fn names(&self) -> u64 {
        self.0.entries()
    }

    /// The records of a function, in the order of the file; none if it is not there.
    pub fn function(&self, name: &[u8]) -> Result<Vec<Record<'a>>, Finding> {
        let mut records = Vec::new();
        let Some(mut item) = self.0.find(name)? else { return Ok(records) };
        while let Some(record) = item.next(&self.0.header, &mut |_| {})? {
            records.push(record);
        }
        Ok(records)
    }
}
