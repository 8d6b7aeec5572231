//! The debug information of a program, DWARF 2 to 5.

use std::borrow::Cow;
use std::prelude::v1::*;

use gimli::{
    AttributeValue, Dwarf, DwarfSections, EndianSlice, Reader as _, RunTimeEndian, SectionId, Unit,
};
use object::{Object, ObjectSection};

use crate::convert::profile::source_path;

/// Bytes of a section.
pub type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// The sections, decompressed.
pub struct Sections<'d> {
    sections: DwarfSections<Cow<'d, [u8]>>,
    endian: RunTimeEndian,
}

impl<'d> Sections<'d> {
    /// Those of a file, which may lack them.
    pub fn load(file: &object::File<'d>) -> Result<Self, gimli::Error> {
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: SectionId| -> Result<Cow<'d, [u8]>, gimli::Error> {
            let section = file.section_by_name(id.name());
            // A section that cannot be decompressed is as good as none.
            Ok(section.and_then(|found| found.uncompressed_data().ok()).unwrap_or_default())
        };
        Ok(Self { sections: DwarfSections::load(load)?, endian })
    }

    /// The sections to read from.
    pub fn borrow(&self) -> Dwarf<Slice<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, self.endian))
    }
}

/// A string, wherever it is kept.
pub fn text<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    value: AttributeValue<Slice<'d>>,
) -> Result<Vec<u8>, gimli::Error> {
    Ok(dwarf.attr_string(unit, value)?.to_slice()?.into_owned())
}

/// The path of a file of a unit's line table.
pub fn path<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    file: u64,
) -> Result<Option<Vec<u8>>, gimli::Error> {
    let Some(program) = &unit.line_program else { return Ok(None) };
    let Some(file) = program.header().file(file) else { return Ok(None) };
    let directory = file.directory(program.header());
    let directory = directory.map(|name| text(dwarf, unit, name)).transpose()?.unwrap_or_default();
    let compilation = unit.comp_dir.map(|name| name.slice().to_vec()).unwrap_or_default();
    let name = text(dwarf, unit, file.path_name())?;
    Ok(Some(source_path(&source_path(&compilation, &directory), &name)))
}
