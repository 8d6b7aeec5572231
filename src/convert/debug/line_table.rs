//! Source lines of instructions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::prelude::v1::*;
use std::sync::Arc;

use gimli::LineRow;
use hashbrown::{HashMap, HashSet};

use super::{Program, Unit};
use crate::convert::source::SourceLine;

/// A line, and which of several pieces of code of the line, 0 if there is only one.
pub type Piece = (SourceLine, u16);

/// Lines that are looked for, by file and number.
pub struct Lines<'l>(HashMap<&'l [u8], HashMap<u32, &'l SourceLine>>);

impl<'l> From<&'l BTreeSet<SourceLine>> for Lines<'l> {
    fn from(lines: &'l BTreeSet<SourceLine>) -> Self {
        let mut of_paths: HashMap<&[u8], HashMap<u32, &SourceLine>> = HashMap::new();
        for line in lines {
            of_paths.entry(&*line.path).or_default().insert(line.line, line);
        }
        Self(of_paths)
    }
}

impl<'d> Program<'d> {
    /// The lines of instructions at these addresses, where the table has them.
    pub fn lines(&self, addresses: &BTreeSet<u64>) -> Result<BTreeMap<u64, Piece>, gimli::Error> {
        let mut found = BTreeMap::new();
        let addresses: Vec<u64> = addresses.iter().copied().collect();
        self.for_each_row(|unit, instructions, row| {
            let first = addresses.partition_point(|&address| address < instructions.start);
            let inside = addresses[first..].iter().take_while(|at| instructions.contains(at));
            for &address in inside {
                match piece(unit, row) {
                    Some(piece) => found.insert(address, piece),
                    None => found.remove(&address),
                };
            }
        })?;
        Ok(found)
    }

    /// Addresses of instructions that belong to these lines: the first of each row of the table.
    pub fn instructions(&self, lines: &Lines<'_>) -> Result<Vec<(SourceLine, u64)>, gimli::Error> {
        let mut found = Vec::new();
        // Units have few files, and rows are many.
        let (mut files, mut of) = (Vec::new(), None);
        self.for_each_row(|unit, instructions, row| {
            if !of.is_some_and(|of| core::ptr::eq(of, unit)) {
                let wanted = |path: &Option<Arc<[u8]>>| lines.0.get(&**path.as_ref()?);
                files = unit.paths.iter().map(wanted).collect();
                of = Some(unit);
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            let of_file =
                usize::try_from(row.file_index()).ok().and_then(|file| *files.get(file)?);
            if let (Some(line), Some(of_file)) = (line, of_file)
                && let Some(&line) = of_file.get(&line)
            {
                found.push((line.clone(), instructions.start));
            }
        })?;
        Ok(found)
    }

    /// Visits the rows that have instructions.
    ///
    /// Of a function that several objects have the linker keeps the first, and all their tables say
    /// that they are about that: so of sequences that start alike only the first is.
    fn for_each_row<'p>(
        &'p self,
        mut visit: impl FnMut(&'p Unit<'d>, Range<u64>, &LineRow),
    ) -> Result<(), gimli::Error> {
        let mut starts = HashSet::new();
        for unit in &self.units {
            let Some(program) = unit.entries.line_program.clone() else { continue };
            let mut rows = program.rows();
            let mut before: Option<LineRow> = None;
            let mut is_kept = true;
            while let Some((_, row)) = rows.next_row()? {
                match before.take() {
                    None => is_kept = self.is_code(row.address()) && starts.insert(row.address()),
                    Some(before) if is_kept && before.address() < row.address() => {
                        visit(unit, before.address()..row.address(), &before);
                    }
                    Some(_) => {}
                }
                before = (!row.end_sequence()).then_some(*row);
            }
        }
        Ok(())
    }

    fn is_code(&self, address: u64) -> bool {
        self.code.iter().any(|code| code.contains(&address))
    }
}

fn piece(unit: &Unit<'_>, row: &LineRow) -> Option<Piece> {
    let line = u32::try_from(row.line()?.get()).ok()?;
    let discriminator = unit.discriminator(row.discriminator());
    Some((SourceLine { path: unit.path(row.file_index())?, line }, discriminator))
}
