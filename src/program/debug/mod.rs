//! The debug information of a program, DWARF 2 to 5. [`units`] has what each run of the compiler wrote,
//! [`line_table`] the lines of instructions, [`functions`] the functions that they were written in,
//! [`declared`] the declarations of those, `entries` what any of them reads, `constructors` how they name
//! constructors, and [`correlation`] the counters of LLVM's functions.

pub mod constructors;
pub mod correlation;
pub mod declared;
mod entries;
pub mod functions;
pub mod line_table;
pub mod producer;
pub mod units;

use std::borrow::Cow;
use std::prelude::v1::*;

use gimli::{Dwarf, DwarfSections, EndianSlice, RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};

/// Bytes of a section.
pub type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// Renames the paths of sources that have moved.
pub type Moved<'m> = &'m (dyn Fn(&[u8]) -> Vec<u8> + Sync);

/// The sections, decompressed.
pub struct Sections<'d> {
    sections: DwarfSections<Cow<'d, [u8]>>,
    endian: RunTimeEndian,
}

impl<'d> Sections<'d> {
    /// The sections of a file. It may lack them.
    pub fn load(file: &object::File<'d>) -> Self {
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: SectionId| -> Result<Cow<'d, [u8]>, core::convert::Infallible> {
            let section = file.section_by_name(id.name());
            // A section that cannot be decompressed counts as missing.
            Ok(section.and_then(|found| uncompressed(&found)).unwrap_or_default())
        };
        let Ok(sections) = DwarfSections::load(load);
        Self { sections, endian }
    }

    /// The sections to read from.
    pub fn borrow(&self) -> Dwarf<Slice<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, self.endian))
    }
}

/// A section may be this many times as large as its compressed form. A larger one is there to use up memory.
const LARGEST_RATIO: u64 = 200;

/// The content of a section, unless it claims to be absurdly large.
pub fn uncompressed<'d>(section: &impl ObjectSection<'d>) -> Option<Cow<'d, [u8]>> {
    let data = section.compressed_data().ok()?;
    let limit = (data.data.len() as u64).saturating_mul(LARGEST_RATIO);
    let is_sane = data.format == CompressionFormat::None || data.uncompressed_size <= limit;
    is_sane.then(|| data.decompress().ok())?
}
