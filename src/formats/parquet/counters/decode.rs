//! Reads rows into a sum, and checks that no dump has a fact twice.
//!
//! The rows may have any order. The first pass reads the layouts of the modules, the second one the counts.

use std::collections::HashMap;
use std::mem;
use std::prelude::v1::*;

use super::kind_of;
use crate::formats::parquet::VERSION;
use crate::formats::parquet::check::{Defect, Fault, Limited};
use crate::formats::parquet::rows::{Batch, Kind as Type, Table, Wanted};
use crate::raw::dump::sum::{Place, Sum, Total};
use crate::raw::dump::{Dump, Module};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Sums;
use crate::raw::merge::Pair;

/// Columns of the first pass.
const LAYOUTS: [Wanted; 4] = [
    ("version", Type::Number),
    ("what", Type::Bytes),
    ("module", Type::Bytes),
    ("content", Type::Bytes),
];

/// Columns of the second pass.
const FACTS: [Wanted; 12] = [
    ("version", Type::Number),
    ("what", Type::Bytes),
    ("module", Type::Bytes),
    ("content", Type::Bytes),
    ("ordinal", Type::Number),
    ("kind", Type::Bytes),
    ("index", Type::Number),
    ("value", Type::Number),
    ("dump", Type::Bytes),
    ("count", Type::Number),
    ("bits", Type::Number),
    ("rank", Type::Number),
];
const VERSION_COLUMN: usize = 0;
const WHAT: usize = 1;
const MODULE: usize = 2;
const CONTENT: usize = 3;
const ORDINAL: usize = 4;
const KIND: usize = 5;
const INDEX: usize = 6;
const VALUE: usize = 7;
const DUMP: usize = 8;
const COUNT: usize = 9;
const BITS: usize = 10;
const RANK: usize = 11;

/// In place of a dump's number: no dump.
const NONE: u32 = u32::MAX;

/// The sum of all dumps of a table, and the counts that are too large for one.
pub fn decode(table: &Table) -> Result<(Dump, Limited), Fault> {
    let mut reading = Reading::default();
    for group in 0..table.groups() {
        if table.least("ordinal", group).is_none_or(|least| least < 0) {
            table.read(group, &LAYOUTS, |batch| reading.layouts(batch))?;
        }
    }
    for group in 0..table.groups() {
        table.read(group, &FACTS, |batch| reading.facts(batch))?;
    }
    let limited = std::mem::take(&mut reading.limited);
    Ok((reading.finish(), limited))
}

#[derive(Default)]
struct Reading {
    sum: Sum,
    modules: HashMap<Vec<u8>, Known>,
    /// The module of the last row.
    last: Option<(Vec<u8>, Known)>,
    seen: Vec<Seen>,
    dumps: HashMap<Vec<u8>, u32>,
    last_dump: (Vec<u8>, u32),
    /// The last dump with a row of its live file.
    live: Option<u32>,
    limited: Limited,
}

/// A module whose layout is known.
#[derive(Clone, Copy)]
struct Known {
    place: usize,
    is_llvm: bool,
}

/// For each fact of a module, the last dump that had a row of it.
#[derive(Default)]
struct Seen {
    counters: Vec<u32>,
    sites: HashMap<(u8, usize, i64), u32>,
    is_used: bool,
}

impl Seen {
    /// Notes a fact of a site or of the module. Whether the dump has had it before.
    fn note(&mut self, what: u8, place: usize, value: i64, dump: u32) -> bool {
        self.is_used = true;
        self.sites.insert((what, place, value), dump) == Some(dump)
    }

    /// Notes a plain counter. Whether the dump has had it before.
    fn note_counter(&mut self, place: usize, dump: u32) -> bool {
        self.is_used = true;
        self.counters.get_mut(place).is_some_and(|last| mem::replace(last, dump) == dump)
    }
}

impl Reading {
    fn layouts(&mut self, batch: &Batch) -> Result<(), Fault> {
        for row in 0..batch.rows() {
            version(batch, row)?;
            if batch.bytes(row, WHAT) == b"layout" {
                self.layout(batch, row)?;
            }
        }
        Ok(())
    }

    fn layout(&mut self, batch: &Batch, row: usize) -> Result<(), Fault> {
        let name = batch.bytes(row, MODULE);
        let fail = |defect| batch.wrong(row, CONTENT, defect);
        let dump = Dump::parse(batch.bytes(row, CONTENT));
        let mut modules = dump.map_err(|damage| fail(Defect::Layout(damage)))?.modules.into_iter();
        let (Some(layout), None) = (modules.next(), modules.next()) else {
            return Err(fail(Defect::NoLayout));
        };
        let layout: Module = layout.layout();
        if self.sum.machine().is_some_and(|machine| machine != layout.machine) {
            return Err(fail(Defect::Machines));
        }
        let counters = layout.counter_count();
        let is_llvm = layout.is_llvm();
        let place = self.sum.place(layout, i64::MIN);
        if place == self.seen.len() {
            self.seen.push(Seen { counters: vec![NONE; counters], ..Seen::default() });
        }
        self.modules.insert(name.to_vec(), Known { place, is_llvm });
        Ok(())
    }

    fn facts(&mut self, batch: &Batch) -> Result<(), Fault> {
        (0..batch.rows()).try_for_each(|row| self.fact(batch, row))
    }

    fn fact(&mut self, batch: &Batch, row: usize) -> Result<(), Fault> {
        version(batch, row)?;
        let dump = self.dump(batch.bytes(row, DUMP));
        match batch.bytes(row, WHAT) {
            b"layout" => return Ok(()),
            b"live" => return self.live(batch, row, dump),
            _ => {}
        }
        let known = self.known(batch, row)?;
        let (found, most) = (batch.number(row, COUNT), i128::from(u64::MAX));
        if found > most {
            self.limited.note(|| batch.wrong(row, COUNT, Defect::Number { most, found }));
        }
        let (Some(total), Some(seen)) =
            (self.sum.module(known.place), self.seen.get_mut(known.place))
        else {
            return Ok(());
        };
        let fact = Fact { batch, row, dump, is_llvm: known.is_llvm };
        let is_repeated = match fact.add_to_module(total, seen)? {
            Some(is_repeated) => is_repeated,
            None => fact.add_to_function(total, seen)?,
        };
        match is_repeated {
            true => Err(batch.wrong(row, WHAT, Defect::Repeated)),
            false => Ok(()),
        }
    }

    /// The number of the dump with this id, which this adds if it is new.
    fn dump(&mut self, id: &[u8]) -> u32 {
        if self.last_dump.0 != id || self.dumps.is_empty() {
            let next = self.dumps.len() as u32;
            let number = match self.dumps.get(id) {
                Some(&number) => number,
                None => *self.dumps.entry(id.to_vec()).or_insert(next),
            };
            self.last_dump = (id.to_vec(), number);
        }
        self.last_dump.1
    }

    fn live(&mut self, batch: &Batch, row: usize, dump: u32) -> Result<(), Fault> {
        let id = batch.bytes(row, CONTENT).try_into();
        let id = id.map_err(|_| text(batch, row, CONTENT, "8 bytes"))?;
        let rank = batch.within(row, RANK, i64::MIN.into(), i64::MAX.into())? as i64;
        self.sum.live(u64::from_le_bytes(id), rank);
        match self.live.replace(dump) == Some(dump) {
            true => Err(batch.wrong(row, WHAT, Defect::Repeated)),
            false => Ok(()),
        }
    }

    fn known(&mut self, batch: &Batch, row: usize) -> Result<Known, Fault> {
        let name = batch.bytes(row, MODULE);
        if let Some((last, known)) = &self.last
            && last == name
        {
            return Ok(*known);
        }
        let Some(&known) = self.modules.get(name) else {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(batch.wrong(row, MODULE, Defect::NoModule(name)));
        };
        self.last = Some((name.to_vec(), known));
        Ok(known)
    }

    /// The sum, without modules that have only a layout.
    fn finish(mut self) -> Dump {
        let mut used = self.seen.iter().map(|seen| seen.is_used);
        self.sum.retain(|| used.next().unwrap_or(false));
        self.sum.finish()
    }
}

/// A row about a module or one of its functions.
struct Fact<'b> {
    batch: &'b Batch,
    row: usize,
    dump: u32,
    is_llvm: bool,
}

impl Fact<'_> {
    /// Adds a fact about the module itself; `None` if the row is about a function. Whether the dump has had the fact
    /// before.
    fn add_to_module(&self, total: &mut Total, seen: &mut Seen) -> Result<Option<bool>, Fault> {
        let &Self { batch, row, dump, .. } = self;
        let rank = self.rank()?;
        let what = match batch.bytes(row, WHAT) {
            b"path" => {
                total.path(batch.bytes(row, CONTENT).to_vec(), rank);
                b'p'
            }
            b"runs" => {
                total.sums(Sums { runs: count(batch, row)?, ..Sums::default() });
                total.rank(rank);
                b'r'
            }
            b"sum_max" => {
                total.sums(Sums { sum_max: count(batch, row)?, ..Sums::default() });
                b's'
            }
            b"dropped" => {
                total.sums(Sums { dropped: count(batch, row)?, ..Sums::default() });
                b'd'
            }
            _ => return Ok(None),
        };
        Ok(Some(seen.note(what, 0, 0, dump)))
    }

    /// Adds a fact about a counter or a site. Whether the dump has had the fact before.
    fn add_to_function(&self, total: &mut Total, seen: &mut Seen) -> Result<bool, Fault> {
        let &Self { batch, row, dump, .. } = self;
        match (batch.bytes(row, WHAT), self.place(total)?) {
            (b"counter", Place::Counter(place, kind, rule)) => {
                total.counter(place, rule, counter(batch, row, kind, rule)?);
                Ok(seen.note_counter(place, dump))
            }
            (b"total", Place::Site(site)) => {
                total.events(site, count(batch, row)?, batch.number(row, BITS) & 1 != 0);
                Ok(seen.note(b't', site, 0, dump))
            }
            (b"error", Place::Site(site)) => {
                total.error(site, count(batch, row)?);
                Ok(seen.note(b'e', site, 0, dump))
            }
            (b"value", Place::Site(site)) => {
                let value = batch.within(row, VALUE, i64::MIN.into(), i64::MAX.into())? as i64;
                let count = count(batch, row)? as i64;
                total.value(site, Pair { value, count }, self.rank()?);
                Ok(seen.note(b'v', site, value, dump))
            }
            (_, Place::Counter(..)) => Err(text(batch, row, WHAT, "'counter'")),
            (_, Place::Site(_)) => Err(text(batch, row, WHAT, "'total', 'error' or 'value'")),
        }
    }

    fn rank(&self) -> Result<i64, Fault> {
        Ok(self.batch.within(self.row, RANK, i64::MIN.into(), i64::MAX.into())? as i64)
    }

    fn place(&self, total: &Total) -> Result<Place, Fault> {
        let &Self { batch, row, .. } = self;
        let kind = kind_of(batch.bytes(row, KIND), self.is_llvm)
            .ok_or_else(|| text(batch, row, KIND, "a kind of counters"))?;
        let (function, index) = (batch.number(row, ORDINAL), batch.number(row, INDEX));
        let numbers = usize::try_from(function).ok().zip(usize::try_from(index).ok());
        let place = numbers.and_then(|(function, index)| total.find(function, kind, index));
        place.ok_or_else(|| batch.wrong(row, INDEX, Defect::Place { function, index }))
    }
}

fn version(batch: &Batch, row: usize) -> Result<(), Fault> {
    match batch.number(row, VERSION_COLUMN) {
        found if found == i128::from(VERSION) => Ok(()),
        found => {
            let defect = Defect::Version { expected: VERSION, found };
            Err(batch.wrong(row, VERSION_COLUMN, defect))
        }
    }
}

/// A count of 64 bits. A larger sum wraps, as in dumps.
fn count(batch: &Batch, row: usize) -> Result<u64, Fault> {
    Ok(batch.within(row, COUNT, 0, i128::MAX)? as u64)
}

/// A plain counter with the limits of its kind.
fn counter(batch: &Batch, row: usize, kind: Kind, rule: Rule) -> Result<i64, Fault> {
    Ok(match rule {
        Rule::Ior | Rule::Bytes => {
            batch.within(row, BITS, i64::MIN.into(), i64::MAX.into())? as i64
        }
        Rule::Saturate => {
            u64::try_from(batch.within(row, COUNT, 0, i128::MAX)?).unwrap_or(u64::MAX) as i64
        }
        Rule::Time => batch.within(row, COUNT, 0, u64::MAX.into())? as i64,
        // Sums of values may be negative, numbers of executions may not.
        Rule::Add if kind != Kind::ARCS => batch.number(row, COUNT) as i64,
        Rule::Add | Rule::TopN => count(batch, row)? as i64,
    })
}

fn text(batch: &Batch, row: usize, column: usize, expected: &'static str) -> Fault {
    let found = String::from_utf8_lossy(batch.bytes(row, column)).into_owned();
    batch.wrong(row, column, Defect::Text { expected, found })
}
