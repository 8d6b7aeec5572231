//! The counts in a page's JSON.
//!
//! A body is a list of records: `[line, discriminator, count, targets, error, inlined]`, without empty fields at the
//! end. The line counts from the declaration. A count that is an estimate is text behind `~`. Targets are `[symbol,
//! calls]`, the most frequent first; inlined are
//! `[symbol, body]`.

use std::cmp::Reverse;
use std::prelude::v1::*;

use serde::ser::{SerializeSeq, SerializeTuple};
use serde::{Serialize, Serializer};

use super::outline::Outline;
use crate::profile::{Body, Position, RareMap, Record, SymbolId};

/// The largest number that JavaScript holds with all digits.
const LARGEST_NUMBER: u128 = 1 << 53;

/// A count: a number, or text if it has too many digits for JavaScript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count(pub u128);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            count if count <= LARGEST_NUMBER => serializer.serialize_u64(count as u64),
            count => serializer.collect_str(&count),
        }
    }
}

/// A body in the JSON.
pub struct Rows<'p> {
    pub outline: &'p Outline<'p>,
    pub body: &'p Body,
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.body.positions.len()))?;
        for (&position, record) in &self.body.positions {
            rows.serialize_element(&Row { outline: self.outline, position, record })?;
        }
        rows.end()
    }
}

struct Row<'p> {
    outline: &'p Outline<'p>,
    position: Position,
    record: &'p Record,
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { outline, position, record } = self;
        let fields = match (record.inlined.is_empty(), record.targets.is_empty()) {
            (false, _) => 6,
            (true, false) if record.target_error > 0 => 5,
            (true, false) => 4,
            (true, true) => 3,
        };
        let mut row = serializer.serialize_tuple(fields)?;
        row.serialize_element(&position.signed_line())?;
        row.serialize_element(&position.discriminator)?;
        match (record.count, record.is_estimate) {
            (Some(count), true) => row.serialize_element(&format_args!("~{count}"))?,
            (count, _) => row.serialize_element(&count.map(|count| Count(count.into())))?,
        }
        if fields > 3 {
            row.serialize_element(&targets(outline, &record.targets))?;
        }
        if fields > 4 {
            row.serialize_element(&Count(record.target_error.into()))?;
        }
        if fields > 5 {
            row.serialize_element(&Inlined { outline, bodies: &record.inlined })?;
        }
        row.end()
    }
}

/// Targets of calls, by their numbers on the page, the most frequent first.
pub fn targets(outline: &Outline<'_>, targets: &RareMap<SymbolId, u64>) -> Vec<(u32, Count)> {
    let mut sorted = outline.symbols.sorted(targets);
    sorted.sort_by_key(|&(_, calls)| Reverse(*calls));
    let target = |(symbol, &calls): (SymbolId, &u64)| (outline.number(symbol), Count(calls.into()));
    sorted.into_iter().map(target).collect()
}

struct Inlined<'p> {
    outline: &'p Outline<'p>,
    bodies: &'p RareMap<SymbolId, Body>,
}

impl Serialize for Inlined<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sorted = serializer.serialize_seq(Some(self.bodies.len()))?;
        for (symbol, body) in self.outline.symbols.sorted(self.bodies) {
            let rows = Rows { outline: self.outline, body };
            sorted.serialize_element(&(self.outline.number(symbol), rows))?;
        }
        sorted.end()
    }
}
