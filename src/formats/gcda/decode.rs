//! Reads `.gcda` files.

use alloc::vec::Vec;

use super::{FUNCTION, OBJECT_SUMMARY};
use crate::formats::words::{WordDefect, WordError, Words};
use crate::raw::gcov::Version;
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Order;
use crate::raw::merge::Pair;

/// The counters of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The order of bytes of the machine that wrote it.
    pub order: Order,
    /// Compiler that determines the format.
    pub version: Version,
    /// Time of compilation of the object.
    pub stamp: u32,
    /// Checksum over the object's functions; 0 before GCC 12.
    pub checksum: u32,
    /// Runs and sum of their largest arc counters, if the file says so.
    pub summary: Option<(u32, u32)>,
    /// The functions, `None` for places without one.
    pub functions: Vec<Option<Function>>,
}

/// The counters of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Number of the function, unique in its object.
    pub ident: u32,
    /// Checksum of name and place.
    pub lineno_checksum: u32,
    /// Checksum of the control-flow graph.
    pub cfg_checksum: u32,
    /// Counters of each kind.
    pub counters: Vec<(Kind, Counters)>,
}

/// Counters of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counters {
    /// Plain counters.
    Plain(Vec<i64>),
    /// Plain counters, all zero, as the file says in one word: their number.
    Zeros(u64),
    /// Total and values of each top-N site.
    Sites(Vec<(i64, Vec<Pair>)>),
}

impl Data {
    /// Reads a file.
    pub fn decode(bytes: &[u8]) -> Result<Self, WordError> {
        let mut words = Words::open(bytes, *b"gcda")?;
        let version = words.version;
        let stamp = words.word()?;
        let checksum = if version.counts_bytes() { words.word()? } else { 0 };
        let order = words.order();
        let mut data =
            Self { order, version, stamp, checksum, summary: None, functions: Vec::new() };
        loop {
            let start = words.offset();
            match words.tag()? {
                // libgcov does not cut files, and leaves old bytes behind the end. That is no defect.
                0 => return Ok(data),
                tag => data.record(&mut words, start, tag)?,
            }
        }
    }

    fn record(&mut self, words: &mut Words<'_>, start: u64, tag: u32) -> Result<(), WordError> {
        let length = words.length()?;
        let zeros = length < 0;
        let bytes = length.unsigned_abs();
        let mut record = words.record(tag, if zeros { 0 } else { bytes as usize })?;
        let wrong = record.error_at(start, WordDefect::Length { tag, found: bytes });
        match (tag, Kind::from_tag(tag)) {
            (OBJECT_SUMMARY, _) => self.summary = Some((record.word()?, record.word()?)),
            (FUNCTION, _) if bytes == 0 => self.functions.push(None),
            (FUNCTION, _) => self.functions.push(Some(Function::decode(&mut record)?)),
            (_, Some(kind)) => {
                let orphan = record.error_at(start, WordDefect::Order(tag));
                let function = self.functions.last_mut().and_then(Option::as_mut).ok_or(orphan)?;
                let counters = match kind.usual_rule() {
                    Rule::TopN => sites(&mut record)?,
                    _ if bytes % 8 != 0 => return Err(wrong),
                    _ if zeros => Counters::Zeros(bytes / 8),
                    _ => Counters::Plain(values(&mut record)?),
                };
                function.counters.push((kind, counters));
            }
            _ => {}
        }
        Ok(())
    }
}

impl Function {
    fn decode(record: &mut Words<'_>) -> Result<Self, WordError> {
        Ok(Self {
            ident: record.word()?,
            lineno_checksum: record.word()?,
            cfg_checksum: record.word()?,
            counters: Vec::new(),
        })
    }
}

fn values(record: &mut Words<'_>) -> Result<Vec<i64>, WordError> {
    let mut values = Vec::with_capacity(record.left() / 8);
    while !record.is_at_end() {
        values.push(record.value()?);
    }
    Ok(values)
}

fn sites(record: &mut Words<'_>) -> Result<Counters, WordError> {
    let mut sites = Vec::new();
    while !record.is_at_end() {
        let total = record.value()?;
        let pairs = match record.version.has_fixed_topn() {
            true => (FIXED_SITE as i64 - 1) / 2,
            false => record.value()?,
        };
        let pairs = (0..pairs)
            .map(|_| Ok(Pair { value: record.value()?, count: record.value()? }))
            .collect::<Result<_, WordError>>()?;
        sites.push((total, pairs));
    }
    Ok(Counters::Sites(sites))
}
