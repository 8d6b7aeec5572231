//! Source lines of instructions.

use std::ops::Range;
use std::prelude::v1::*;

use super::units::Unit;

/// A row of the line table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where the code of the row starts.
    pub address: u64,
    /// Index of the file in the unit.
    pub file: u32,
    /// The line, 0 if there is none.
    pub line: u32,
    /// The discriminator.
    pub discriminator: u16,
    /// Whether a statement begins here. Other rows are about instructions, wherever these have been moved.
    pub is_statement: bool,
    /// Whether the code ends here. The row then has no code.
    pub is_end: bool,
}

/// The rows of a unit with code in some ranges, by address.
///
/// Rows at one address stand in the order of the table. The last one is about the instruction; those before
/// it are about statements that have left no instruction there.
pub fn rows(unit: &Unit<'_>, code: &[Range<u64>]) -> Result<Vec<Row>, gimli::Error> {
    let mut found = Vec::new();
    let Some(program) = unit.entries.line_program.clone() else { return Ok(found) };
    let mut rows = program.rows();
    // Code that the linker has left out has rows, too, from address 0 on.
    let mut is_kept = None;
    let mut is_sorted = true;
    while let Some((_, row)) = rows.next_row()? {
        let address = row.address();
        let inside = || code.iter().any(|code| code.contains(&address));
        let kept = *is_kept.get_or_insert_with(inside);
        if row.end_sequence() {
            is_kept = None;
        }
        if !kept {
            continue;
        }
        is_sorted &= found.last().is_none_or(|last: &Row| last.address <= address);
        found.push(Row {
            address,
            file: u32::try_from(row.file_index()).unwrap_or(u32::MAX),
            line: row.line().and_then(|line| u32::try_from(line.get()).ok()).unwrap_or(0),
            discriminator: unit.discriminator(row.discriminator()),
            is_statement: row.is_stmt(),
            is_end: row.end_sequence(),
        });
    }
    if !is_sorted {
        // Each sequence stays whole: its last statements may stand where the next sequence starts.
        let mut sequences: Vec<&[Row]> = found.split_inclusive(|row| row.is_end).collect();
        sequences
            .sort_by_key(|rows| rows.first().zip(rows.last()).map(|(a, b)| (a.address, b.address)));
        found = sequences.concat();
    }
    Ok(found)
}
