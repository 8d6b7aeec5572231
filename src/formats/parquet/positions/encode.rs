//! Writes profiles as rows: collects the rows of a run, sorts them, and fills row groups.

use std::fmt::Write as _;
use std::io;
use std::prelude::v1::*;

use parquet::data_type::ByteArray;

use super::{MARKS, NAME};
use crate::formats::parquet::columns::{Column, Kind as Type, Writer};
use crate::formats::parquet::text::escaped;
use crate::formats::parquet::{GROUP, VERSION};
use crate::profile::{Body, Position, Profile, SymbolId};

/// Least number of rows that are sorted together.
const SORTED: usize = 1 << 20;

const COLUMNS: [(&str, Type); 12] = [
    ("version", Type::Int),
    ("symbol", Type::Text),
    ("file", Type::Text),
    ("path", Type::Text),
    ("line", Type::Long),
    ("discriminator", Type::Int),
    ("what", Type::Text),
    ("rule", Type::Text),
    ("target", Type::Text),
    ("target_file", Type::Text),
    ("profile", Type::Text),
    ("count", Type::Count),
];

/// Writes a table.
pub struct Encoder<'o> {
    writer: Writer<'o>,
    rows: Vec<Row>,
}

/// A row. Rows are sorted by their keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    symbol: Text,
    file: Text,
    path: Text,
    position: Position,
    what: &'static str,
    target: Text,
    target_file: Text,
    profile: Text,
    count: u64,
}

/// Text that many rows share, ordered by its bytes.
#[derive(Clone, PartialEq)]
struct Text(ByteArray);

impl Eq for Text {}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.data().cmp(other.0.data())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl<'o> Encoder<'o> {
    /// Begins a table.
    pub fn new(out: &'o mut dyn io::Write) -> io::Result<Self> {
        Ok(Self { writer: Writer::new(NAME, &COLUMNS, out)?, rows: Vec::new() })
    }

    /// Adds a profile. No two profiles may have the same id.
    pub fn add(&mut self, id: &[u8], profile: &Profile) -> io::Result<()> {
        let texts = profile.symbols.iter().map(|symbol| {
            let file = profile.symbols.declared_in(symbol).unwrap_or_default();
            let name = profile.symbols.name(symbol);
            [name, file].map(|bytes| Text::from(&*escaped(bytes, "")))
        });
        let texts: Vec<[Text; 2]> = texts.collect();
        for (&symbol, function) in &profile.functions {
            let [name, file] = texts[symbol.index()].clone();
            let empty = Text::from("");
            let row = Row {
                symbol: name,
                file,
                path: empty.clone(),
                position: Position::default(),
                what: "head",
                target: empty.clone(),
                target_file: empty,
                profile: Text::from(&*escaped(id, "")),
                count: function.head_count,
            };
            if function.timestamp != 0 {
                self.rows.push(Row { what: "first", count: function.timestamp, ..row.clone() });
            }
            let mut path = String::new();
            Bodies { profile, texts: &texts, rows: &mut self.rows }.body(
                &function.body,
                &row,
                &mut path,
            );
            self.rows.push(row);
            self.write_sorted(SORTED)?;
        }
        Ok(())
    }

    /// Ends the table. Gives the number of its rows.
    pub fn finish(mut self) -> io::Result<u64> {
        self.write_sorted(1)?;
        self.writer.finish()
    }

    /// Writes all rows if there are at least this many.
    fn write_sorted(&mut self, least: usize) -> io::Result<()> {
        if self.rows.len() < least {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_unstable();
        for group in rows.chunks(GROUP) {
            self.write_group(group)?;
        }
        Ok(())
    }

    fn write_group(&mut self, rows: &[Row]) -> io::Result<()> {
        let text = |of: fn(&Row) -> &Text| {
            Column::Bytes(rows.iter().map(|row| of(row).0.clone()).collect())
        };
        let word = |of: fn(&Row) -> &'static str| {
            Column::Bytes(rows.iter().map(|row| of(row).into()).collect())
        };
        let columns = [
            Column::Int(vec![VERSION; rows.len()]),
            text(|row| &row.symbol),
            text(|row| &row.file),
            text(|row| &row.path),
            Column::Long(rows.iter().map(|row| row.position.line.into()).collect()),
            Column::Int(rows.iter().map(|row| row.position.discriminator.into()).collect()),
            word(|row| row.what),
            word(|row| if row.what == "first" { "min" } else { "sum" }),
            text(|row| &row.target),
            text(|row| &row.target_file),
            text(|row| &row.profile),
            Column::Count(rows.iter().map(|row| row.count.into()).collect()),
        ];
        self.writer.write_group(&columns.each_ref())
    }
}

/// Collects the rows of a function's bodies.
struct Bodies<'p> {
    profile: &'p Profile,
    texts: &'p [[Text; 2]],
    rows: &'p mut Vec<Row>,
}

impl Bodies<'_> {
    /// Pushes the rows of a body. `row` has their common columns, `path` is the body's path.
    fn body(&mut self, body: &Body, row: &Row, path: &mut String) {
        if body.positions.is_empty() && !path.is_empty() {
            self.rows.push(Row { what: "inlined", count: 0, ..row.clone() });
        }
        for (&position, record) in body.positions.iter() {
            let row = Row { position, ..row.clone() };
            if let Some(count) = record.count {
                self.rows.push(Row { what: "count", count, ..row.clone() });
            }
            for (&target, &count) in record.targets.iter() {
                let [target, target_file] = self.texts[target.index()].clone();
                self.rows.push(Row { what: "target", target, target_file, count, ..row.clone() });
            }
            if record.target_error != 0 {
                self.rows.push(Row { what: "error", count: record.target_error, ..row.clone() });
            }
            if record.count.is_none() && record.targets.is_empty() && record.inlined.is_empty() {
                self.rows.push(Row { what: "place", count: 0, ..row.clone() });
            }
            for (&callee, inlined) in record.inlined.iter() {
                let length = path.len();
                self.lengthen(path, position, callee);
                let position = Position::default();
                let row = Row { path: Text::from(&**path), position, ..row.clone() };
                self.body(inlined, &row, path);
                path.truncate(length);
            }
        }
    }

    /// Appends an inlined body to a path.
    fn lengthen(
        &self,
        path: &mut String,
        Position { line, discriminator }: Position,
        callee: SymbolId,
    ) {
        let symbols = &self.profile.symbols;
        let separator = if path.is_empty() { "" } else { ";" };
        let name = escaped(symbols.name(callee), MARKS);
        let file = escaped(symbols.declared_in(callee).unwrap_or_default(), MARKS);
        let _ = write!(path, "{separator}{line}.{discriminator}>{name}@{file}");
    }
}
