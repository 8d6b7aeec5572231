//! Source lines of instructions.

use std::collections::BTreeMap;
use std::prelude::v1::*;

use gimli::{Dwarf, LineRow, Unit};

use super::debug::{self, Slice};
use crate::convert::profile::SourceLine;

/// The lines of instructions at these addresses, where the table has them.
pub fn lines(
    dwarf: &Dwarf<Slice<'_>>,
    addresses: impl IntoIterator<Item = u64>,
) -> Result<BTreeMap<u64, SourceLine>, gimli::Error> {
    let mut found: BTreeMap<u64, Option<SourceLine>> =
        addresses.into_iter().map(|address| (address, None)).collect();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        unit_lines(dwarf, &dwarf.unit(header)?, &mut found)?;
    }
    Ok(found.into_iter().filter_map(|(address, line)| Some((address, line?))).collect())
}

fn unit_lines<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    found: &mut BTreeMap<u64, Option<SourceLine>>,
) -> Result<(), gimli::Error> {
    let Some(program) = unit.line_program.clone() else { return Ok(()) };
    let mut rows = program.rows();
    let mut before: Option<LineRow> = None;
    while let Some((_, row)) = rows.next_row()? {
        if let Some(before) = before.filter(|before| before.address() < row.address()) {
            for (_, line) in found.range_mut(before.address()..row.address()) {
                *line = source_line(dwarf, unit, &before)?;
            }
        }
        before = (!row.end_sequence()).then_some(*row);
    }
    Ok(())
}

fn source_line<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    row: &LineRow,
) -> Result<Option<SourceLine>, gimli::Error> {
    let Some(line) = row.line().and_then(|line| u32::try_from(line.get()).ok()) else {
        return Ok(None);
    };
    let discriminator = u16::try_from(row.discriminator()).unwrap_or(u16::MAX);
    let path = debug::path(dwarf, unit, row.file_index())?;
    Ok(path.map(|path| SourceLine { path, line, discriminator }))
}
