//! The header: version, variant, where the parts are.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Part, Tell};
use super::words::Words;
use super::{MAGIC, Version};
use crate::counters::Variant;

/// All bits of a variant that have a meaning in an indexed profile.
const KNOWN: u64 = 0x1ff << 55;

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Version of the format.
    pub version: Version,
    /// How the program was instrumented.
    pub variant: Variant,
    /// Where the hash table is, behind its buckets.
    pub table: u64,
    /// Where build-ids are.
    pub binary_ids: Option<u64>,
    /// Where traces are.
    pub traces: Option<u64>,
    /// Where names of virtual tables are.
    pub vtables: Option<u64>,
}

impl Header {
    /// Reads the header of a file, and checks that its offsets are in the file.
    pub fn decode(bytes: &[u8], tell: Tell<'_>) -> Result<Self, Finding> {
        let mut words = Words::new(bytes, 0, bytes.len(), Part::Header);
        let magic = words.take(MAGIC.len());
        if magic.is_ok_and(|magic| magic != MAGIC) || !MAGIC.starts_with(magic.unwrap_or(bytes)) {
            return Err(Finding { offset: 0, defect: Defect::Magic });
        }
        magic?;
        let word = words.u64()?;
        let error = |offset, defect| Err(Finding { offset, defect });
        let Some(version) = Version::new(word as u32) else {
            return error(8, Defect::Version(word as u32));
        };
        let variant = Variant(word & Variant::MASK);
        if variant.0 & !KNOWN != 0 {
            tell(Finding { offset: 8, defect: Defect::Variant(variant.0 & !KNOWN) });
        }
        if words.u64()? != 0 {
            tell(Finding { offset: 16, defect: Defect::Padding(Part::Header) });
        }
        match words.u64()? {
            0 => {}
            kind => return error(24, Defect::HashKind(kind)),
        }
        let table = offset(&mut words, version, Part::Table)?;
        if version.has_memory_profile() && words.u64()? != 0 || variant.has(Variant::MEMORY_PROFILE)
        {
            return error(40, Defect::MemoryProfile);
        }
        let mut optional = |part, is_there: bool| match is_there {
            true => offset(&mut words, version, part),
            false => Ok(None),
        };
        let binary_ids = optional(Part::BinaryIds, version.has_binary_ids())?;
        let traces = optional(Part::Traces, version.has_traces())?;
        let vtables = optional(Part::VTables, version.has_vtables())?;
        let Some(table) = table else {
            let least = version.header_size() as u64;
            return error(32, Defect::Offset { part: Part::Table, least, found: 0 });
        };
        Ok(Self { version, variant, table, binary_ids, traces, vtables })
    }

    /// Writes the header.
    pub fn encode(&self, output: &mut Vec<u8>) {
        let Self { version, variant, .. } = *self;
        output.extend_from_slice(&MAGIC);
        let mut put = |number: u64| output.extend_from_slice(&number.to_le_bytes());
        put(u64::from(version.number()) | variant.0);
        put(0);
        put(0);
        put(self.table);
        let offsets = [
            (version.has_memory_profile(), None),
            (version.has_binary_ids(), self.binary_ids),
            (version.has_traces(), self.traces),
            (version.has_vtables(), self.vtables),
        ];
        for (is_there, offset) in offsets {
            if is_there {
                put(offset.unwrap_or(0));
            }
        }
    }
}

/// The offset of a part, if there is one.
fn offset(words: &mut Words<'_>, version: Version, part: Part) -> Result<Option<u64>, Finding> {
    let (offset, least) = (words.offset(), version.header_size() as u64);
    match words.u64()? {
        0 => Ok(None),
        found if found < least || found > words.end() => {
            Err(Finding { offset, defect: Defect::Offset { part, least, found } })
        }
        found => Ok(Some(found)),
    }
}
