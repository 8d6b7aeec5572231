//! Which function an instruction was written in: the innermost one that is inlined there, which may
//! have no notes and no counters of its own.

use std::prelude::v1::*;

use addr2line::Context;
use gimli::{
    AttributeValue, DW_AT_abstract_origin, DW_AT_decl_file, DW_AT_decl_line, DW_AT_linkage_name,
    DW_AT_name, DW_AT_specification, Dwarf, Unit, UnitOffset,
};

use super::debug::{self, Sections, Slice};
use crate::convert::profile::Declared;

/// Longest chain from a copy to the declaration.
const LONGEST: usize = 8;

/// The functions of a program.
pub struct Inlining<'d> {
    context: Context<Slice<'d>>,
    dwarf: Dwarf<Slice<'d>>,
    units: Vec<Unit<Slice<'d>>>,
}

impl<'d> Inlining<'d> {
    /// Reads what there is.
    pub fn new(sections: &'d Sections<'_>) -> Result<Self, gimli::Error> {
        let dwarf = sections.borrow();
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            units.push(dwarf.unit(header)?);
        }
        Ok(Self { context: Context::from_dwarf(sections.borrow())?, dwarf, units })
    }

    /// The innermost function at an address.
    pub fn function(&self, address: u64) -> Result<Option<Declared>, gimli::Error> {
        let frames = self.context.find_frames(address).skip_all_loads()?.next()?;
        let place = frames.and_then(|frame| frame.dw_die_offset);
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let (Some(place), Some(unit)) = (place, unit) else { return Ok(None) };
        let start = unit.header.offset();
        // In the order of the file.
        match self.units.binary_search_by_key(&start, |unit| unit.header.offset()) {
            Ok(unit) => self.declared(&self.units[unit], place),
            Err(_) => Ok(None),
        }
    }

    /// Follows a function's entry to where it is declared.
    fn declared(
        &self,
        unit: &Unit<Slice<'d>>,
        place: UnitOffset,
    ) -> Result<Option<Declared>, gimli::Error> {
        let (mut unit, mut place) = (unit, place);
        let (mut name, mut path, mut line) = (None, None, None);
        for _ in 0..LONGEST {
            let entry = unit.entry(place)?;
            let linkage = entry.attr_value(DW_AT_linkage_name);
            if let Some(value) = linkage.or_else(|| entry.attr_value(DW_AT_name)) {
                let found = debug::text(&self.dwarf, unit, value)?;
                // The name for the linker may stand further on than the one in the source.
                if name.is_none() || entry.attr_value(DW_AT_linkage_name).is_some() {
                    name = Some(found);
                }
            }
            if let (None, Some(AttributeValue::FileIndex(file))) =
                (&path, entry.attr_value(DW_AT_decl_file))
            {
                path = debug::path(&self.dwarf, unit, file)?;
            }
            line = line.or(entry.attr(DW_AT_decl_line).and_then(|line| line.udata_value()));
            let origin = entry.attr_value(DW_AT_abstract_origin);
            match origin.or_else(|| entry.attr_value(DW_AT_specification)) {
                Some(AttributeValue::UnitRef(next)) => place = next,
                Some(AttributeValue::DebugInfoRef(next)) => {
                    let Some((other, next)) = self
                        .units
                        .iter()
                        .find_map(|unit| Some((unit, next.to_unit_offset(&unit.header)?)))
                    else {
                        break;
                    };
                    (unit, place) = (other, next);
                }
                _ => break,
            }
        }
        let line = line.and_then(|line| u32::try_from(line).ok());
        let declared = name.zip(path).zip(line);
        Ok(declared.map(|((name, path), line)| Declared { name, path, line }))
    }
}
