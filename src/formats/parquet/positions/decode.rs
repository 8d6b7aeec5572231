//! Reads rows into a profile, and checks that no profile has a key twice.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::prelude::v1::*;

use crate::formats::afdo_v4::encode::FARTHEST_LINE;
use crate::formats::parquet::VERSION;
use crate::formats::parquet::check::{Defect, Fault, Limited};
use crate::formats::parquet::rows::{Batch, Kind as Type, Table, Wanted};
use crate::formats::parquet::text::unescaped;
use crate::profile::{DEEPEST, LARGEST_COUNT, Position, Profile, SymbolId};

const COLUMNS: [Wanted; 11] = [
    ("version", Type::Number),
    ("symbol", Type::Bytes),
    ("file", Type::Bytes),
    ("path", Type::Bytes),
    ("line", Type::Number),
    ("discriminator", Type::Number),
    ("what", Type::Bytes),
    ("target", Type::Bytes),
    ("target_file", Type::Bytes),
    ("profile", Type::Bytes),
    ("count", Type::Number),
];
const VERSION_COLUMN: usize = 0;
const SYMBOL: usize = 1;
const FILE: usize = 2;
const PATH: usize = 3;
const LINE: usize = 4;
const DISCRIMINATOR: usize = 5;
const WHAT: usize = 6;
const TARGET: usize = 7;
const TARGET_FILE: usize = 8;
const PROFILE: usize = 9;
const COUNT: usize = 10;

/// What names and files must be. Compilers' names end at a NUL.
const NO_NUL: &str = "text without a NUL";

/// The sum of all profiles of a table, and its counts that are too large for a profile.
pub fn decode(table: &Table) -> Result<(Profile, Limited), Fault> {
    let mut reading = Reading::default();
    for group in 0..table.groups() {
        table.read(group, &COLUMNS, |batch| {
            (0..batch.rows()).try_for_each(|row| reading.row(batch, row))
        })?;
    }
    Ok((reading.profile, reading.limited))
}

#[derive(Default)]
struct Reading {
    profile: Profile,
    /// For the hash of each key, the hash of the last profile's id that had it.
    seen: HashMap<u64, u64>,
    limited: Limited,
}

impl Reading {
    fn row(&mut self, batch: &Batch, row: usize) -> Result<(), Fault> {
        let found = batch.number(row, VERSION_COLUMN);
        if found != i128::from(VERSION) {
            let defect = Defect::Version { expected: VERSION, found };
            return Err(batch.wrong(row, VERSION_COLUMN, defect));
        }
        let symbol = self.symbol(batch, row, (SYMBOL, FILE))?;
        let what = batch.bytes(row, WHAT);
        let most = if what == b"first" { u64::MAX.into() } else { i128::MAX };
        let count = u64::try_from(batch.within(row, COUNT, 0, most)?).unwrap_or(u64::MAX);
        let path = self.path(batch, row)?;
        let position = position(batch, row)?;
        let target = match what {
            b"target" => Some(self.symbol(batch, row, (TARGET, TARGET_FILE))?),
            _ => None,
        };
        let limited = &mut self.limited;
        let mut add = |sum: &mut u64| {
            let before = *sum;
            *sum = before.saturating_add(count);
            if before <= LARGEST_COUNT && *sum > LARGEST_COUNT {
                limited.note(|| too_large(batch, row, before));
            }
        };
        let function = self.profile.functions.entry(symbol).or_default();
        match what {
            b"head" => add(&mut function.head_count),
            b"first" => {
                function.timestamp = match function.timestamp {
                    0 => count,
                    known if count == 0 => known,
                    known => known.min(count),
                }
            }
            _ => {
                let mut body = &mut function.body;
                for (place, callee) in path {
                    let record = body.positions.entry(place).or_default();
                    body = record.inlined.entry(callee).or_default();
                }
                if what == b"inlined" {
                    return self.note(batch, row);
                }
                let record = body.positions.entry(position).or_default();
                let sum = match (what, target) {
                    (b"count", _) => record.count.get_or_insert(0),
                    (_, Some(target)) => record.targets.entry(target).or_default(),
                    (b"error", _) => &mut record.target_error,
                    (b"place", _) => return self.note(batch, row),
                    _ => {
                        let expected =
                            "'head', 'first', 'count', 'target', 'error', 'place' or 'inlined'";
                        return Err(text(batch, row, WHAT, expected));
                    }
                };
                add(sum);
            }
        }
        self.note(batch, row)
    }

    /// Notes the key of a row. No profile may have it twice.
    fn note(&mut self, batch: &Batch, row: usize) -> Result<(), Fault> {
        let mut key = DefaultHasher::new();
        for column in [SYMBOL, FILE, PATH, WHAT, TARGET, TARGET_FILE] {
            batch.bytes(row, column).hash(&mut key);
        }
        [LINE, DISCRIMINATOR].map(|column| batch.number(row, column)).hash(&mut key);
        let mut profile = DefaultHasher::new();
        batch.bytes(row, PROFILE).hash(&mut profile);
        match self.seen.insert(key.finish(), profile.finish()) == Some(profile.finish()) {
            true => Err(batch.wrong(row, WHAT, Defect::Repeated)),
            false => Ok(()),
        }
    }

    fn symbol(
        &mut self,
        batch: &Batch,
        row: usize,
        (name, file): (usize, usize),
    ) -> Result<SymbolId, Fault> {
        let bytes = |column| {
            let found = unescaped(batch.bytes(row, column));
            let found = found.ok_or_else(|| wrong_escape(batch, row, column))?;
            match found.contains(&0) {
                true => Err(text(batch, row, column, NO_NUL)),
                false => Ok(found),
            }
        };
        let (symbol, file) = (bytes(name)?, bytes(file)?);
        if symbol.is_empty() {
            return Err(text(batch, row, name, "a name"));
        }
        Ok(self.known(&symbol, &file))
    }

    fn known(&mut self, name: &[u8], file: &[u8]) -> SymbolId {
        let symbols = &mut self.profile.symbols;
        let file = (!file.is_empty()).then(|| symbols.file(file));
        symbols.symbol(name, file)
    }

    /// The inlined bodies down to a row's position, the outermost first.
    fn path(&mut self, batch: &Batch, row: usize) -> Result<Vec<(Position, SymbolId)>, Fault> {
        let path = batch.bytes(row, PATH);
        if path.is_empty() {
            return Ok(Vec::new());
        }
        let mut steps = Vec::new();
        for step in path.split(|&byte| byte == b';') {
            if steps.len() >= DEEPEST {
                return Err(batch.wrong(row, PATH, Defect::Depth(DEEPEST)));
            }
            let (position, name, file) = parse(step).ok_or_else(|| {
                text(
                    batch,
                    row,
                    PATH,
                    "LINE.DISCRIMINATOR>SYMBOL@FILE, several with ; between them",
                )
            })?;
            steps.push((position, self.known(&name, &file)));
        }
        Ok(steps)
    }
}

/// The defect of a count that makes a sum too large. `before` is the sum of the rows before.
fn too_large(batch: &Batch, row: usize, before: u64) -> Fault {
    let found = batch.number(row, COUNT).saturating_add(before.into());
    batch.wrong(row, COUNT, Defect::Number { most: LARGEST_COUNT.into(), found })
}

/// A step of a path: position, name and file of the callee. `None` if no profile can have it.
fn parse(step: &[u8]) -> Option<(Position, Vec<u8>, Vec<u8>)> {
    let split = |bytes: &[u8], mark: u8| {
        let at = bytes.iter().position(|&byte| byte == mark)?;
        Some((bytes[..at].to_vec(), bytes[at + 1..].to_vec()))
    };
    let (position, callee) = split(step, b'>')?;
    let (line, discriminator) = split(&position, b'.')?;
    let (name, file) = split(&callee, b'@')?;
    let number = |digits: Vec<u8>| String::from_utf8(digits).ok();
    let line = number(line)?.parse().ok()?;
    let discriminator = number(discriminator)?.parse().ok()?;
    let (name, file) = (unescaped(&name)?, unescaped(&file)?);
    let is_sound = line <= FARTHEST_LINE
        && !name.is_empty()
        && ![&name, &file].iter().any(|text| text.contains(&0));
    is_sound.then_some((Position { line, discriminator }, name, file))
}

fn position(batch: &Batch, row: usize) -> Result<Position, Fault> {
    let line = batch.within(row, LINE, 0, FARTHEST_LINE.into())? as u32;
    let discriminator = batch.within(row, DISCRIMINATOR, 0, u16::MAX.into())? as u16;
    Ok(Position { line, discriminator })
}

fn wrong_escape(batch: &Batch, row: usize, column: usize) -> Fault {
    text(batch, row, column, "two hexadecimal digits behind %")
}

fn text(batch: &Batch, row: usize, column: usize, expected: &'static str) -> Fault {
    let found = String::from_utf8_lossy(batch.bytes(row, column)).into_owned();
    batch.wrong(row, column, Defect::Text { expected, found })
}
