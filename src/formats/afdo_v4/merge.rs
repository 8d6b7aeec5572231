//! Adds up files, one function after the other: in memory are the files, their symbols and the sum as
//! bytes, but never a whole profile.
//!
//! ```
//! # use std::error::Error;
//! use countersink::formats::afdo_v4::encode::Encoding;
//! use countersink::formats::afdo_v4::merge::{File, Merge};
//!
//! /// The sum of two files, of which the second one counts three times.
//! fn sum(a: &[u8], b: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
//!     let merge = Merge::new(vec![File::open(a, 1)?, File::open(b, 3)?], Encoding::Normal);
//!     // Several threads may share them out.
//!     let parts: Result<Vec<_>, _> = (0..merge.functions()).map(|n| merge.part(n)).collect();
//!     Ok(merge.finish(parts?)?)
//! }
//! ```

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use hashbrown::HashMap;

use super::Ids;
use super::check::{Defect, Finding, Findings};
use super::decode::is_loss;
use super::encode::{EncodeError, Encoder, Encoding};
use super::number::Output;
use super::open::Opened;
use super::records::{Record, What};
use crate::profile::{Audit, Body, Function, Position, SymbolId, Symbols, Tally};

/// A file that is to be added.
pub struct File<'a> {
    opened: Opened<'a>,
    weight: u64,
    /// Whether functions speak of a symbol, by its place.
    used: Vec<bool>,
    /// Whether any of its positions has a discriminator.
    pub has_discriminators: bool,
    /// What was tolerated.
    pub findings: Findings,
}

impl<'a> File<'a> {
    /// Opens a file, whose counts weigh `weight` times as much. All of it is read once; the first
    /// defect that cannot be tolerated is an error.
    pub fn open(bytes: &'a [u8], weight: u64) -> Result<Self, Finding> {
        let mut findings = Findings::default();
        let opened = Opened::open(bytes, &mut |finding| _ = findings.note(finding))?;
        let used = vec![false; opened.symbols.iter().count()];
        let mut file = Self { opened, weight, used, has_discriminators: false, findings };
        file.scan();
        match file.findings.fatal() {
            Some(finding) => Err(finding),
            None => Ok(file),
        }
    }

    /// Bytes of its names, which are in memory.
    pub const fn name_bytes(&self) -> usize {
        self.opened.symbols.name_bytes()
    }

    /// Reads all functions, and keeps of them which symbols they speak of.
    fn scan(&mut self) {
        let Self { opened, used, has_discriminators, findings, .. } = self;
        let mut note = |finding| _ = findings.note(finding);
        let mut audit = Audit::new(&opened.summary);
        for info in &opened.infos {
            used[info.symbol.index()] = true;
            let (mut order, mut counts) = (Order::default(), Vec::new());
            opened.records(info, &mut note, |records, tell| {
                audit.function(records.head_count);
                while let Some(record) = records.next_or_tell(tell) {
                    let record = record?;
                    *has_discriminators |= record.position.discriminator != 0;
                    order.see(&record);
                    match record.what {
                        What::Count(count) => counts.push(count),
                        What::Target { symbol: id, .. } | What::Inlined(id) => {
                            used[opened.symbol(record.offset, id)?.index()] = true;
                        }
                    }
                }
                Ok(())
            });
            if order.is_canonical {
                counts.into_iter().for_each(|count| audit.count(count));
                continue;
            }
            // What is there twice counts as one; all else has been told.
            let mut note_twice = |finding: Finding| {
                if finding.defect == Defect::DuplicateLocation {
                    note(finding);
                }
            };
            let function = opened.function(info, &mut note_twice).unwrap_or_default();
            function.body.for_each_record(&mut |record| {
                record.count.into_iter().for_each(|count| audit.count(count));
            });
        }
        let is_right = audit.is_right();
        if !is_right && !findings.iter().any(is_loss) {
            findings.note(Finding { offset: opened.summary_offset, defect: Defect::Summary });
        }
    }
}

/// Whether the records of a function are in canonical order, so that none is there twice.
struct Order {
    is_canonical: bool,
    /// The last one of the function, and of each body that is open.
    last: Vec<Option<Key>>,
}

/// Position, kind and symbol of a record.
type Key = (Position, u8, u32);

impl Default for Order {
    fn default() -> Self {
        Self { is_canonical: true, last: Vec::new() }
    }
}

impl Order {
    fn see(&mut self, record: &Record) {
        let (kind, symbol) = match record.what {
            What::Count(_) => (0, 0),
            What::Target { symbol, .. } => (1, symbol),
            What::Inlined(symbol) => (2, symbol),
        };
        let key = Some((record.position, kind, symbol));
        self.last.resize(record.depth + 1, None);
        self.is_canonical &= self.last[record.depth] < key;
        self.last[record.depth] = key;
    }
}

/// Files that are added, and what the sum will be like.
pub struct Merge<'a> {
    files: Vec<File<'a>>,
    symbols: Symbols,
    ids: Ids,
    encoding: Encoding,
    /// Function, file, and place among the functions of the file, ascending.
    functions: Vec<(SymbolId, usize, usize)>,
    /// Where the entries of each function start.
    starts: Vec<usize>,
    change: Option<fn(&Body) -> Body>,
    /// Names without a file that several files declare, which stay apart.
    pub ambiguous: usize,
}

/// A function of the sum.
pub struct Part {
    symbol: SymbolId,
    info: Vec<u8>,
    tally: Tally,
}

impl<'a> Merge<'a> {
    /// Prepares the sum of files. Names without a file become those of the only function of their name.
    pub fn new(files: Vec<File<'a>>, encoding: Encoding) -> Self {
        Self::of(files, encoding, true)
    }

    /// Prepares a sum to which others will be added, so that nothing is decided of names.
    pub fn unfinished(files: Vec<File<'a>>) -> Self {
        Self::of(files, Encoding::Compact, false)
    }

    fn of(mut files: Vec<File<'a>>, encoding: Encoding, find_files: bool) -> Self {
        let mut symbols = Symbols::default();
        let adopt = |file: &mut File<'_>| symbols.adopt_all(&mem::take(&mut file.opened.symbols));
        let adopted: Vec<_> = files.iter_mut().map(adopt).collect();
        let mut used = vec![false; symbols.iter().count()];
        for (file, adopted) in files.iter().zip(&adopted) {
            for ((_, symbol), is_used) in adopted.symbols().zip(&file.used) {
                used[symbol.index()] |= is_used;
            }
        }
        let found = find_files.then(|| symbols.find_files(&used));
        let mut functions = Vec::new();
        for (place, (file, adopted)) in files.iter_mut().zip(adopted).enumerate() {
            let find = |symbol| found.as_ref().map_or(symbol, |found| found.of(symbol));
            file.opened.replace_symbols(|symbol| find(adopted.of(symbol)));
            let infos = file.opened.infos.iter().enumerate();
            functions.extend(infos.map(|(number, info)| (info.symbol, place, number)));
        }
        let ambiguous = found.as_ref().map_or(0, |found| found.ambiguous);
        if let Some(found) = found {
            symbols.iter().filter(|&s| found.of(s) != s).for_each(|s| used[s.index()] = false);
        }
        functions.sort_unstable();
        let is_start = |&n: &usize| n == 0 || functions[n - 1].0 != functions[n].0;
        let starts = (0..functions.len()).filter(is_start).collect();
        let ids = Ids::of(&symbols, &used);
        Self { files, symbols, ids, encoding, functions, starts, change: None, ambiguous }
    }

    /// Changes bodies before they are added.
    pub fn changed(mut self, change: fn(&Body) -> Body) -> Self {
        self.change = Some(change);
        self
    }

    /// Bytes of the names of the sum.
    pub const fn name_bytes(&self) -> usize {
        self.symbols.name_bytes()
    }

    /// How many functions there are.
    pub fn functions(&self) -> usize {
        self.starts.len()
    }

    /// Adds up one of the functions.
    pub fn part(&self, number: usize) -> Result<Part, EncodeError> {
        let end = self.starts.get(number + 1).copied().unwrap_or(self.functions.len());
        let summands = &self.functions[self.starts[number]..end];
        let (symbol, mut sum) = (summands[0].0, None);
        for &(_, place, info) in summands {
            let file = &self.files[place];
            let info = &file.opened.infos[info];
            // What is wrong with it has been told.
            let function = file.opened.function(info, &mut |_| {});
            let Some(mut function) = function else { continue };
            if let Some(change) = self.change {
                function.body = change(&function.body);
            }
            match &mut sum {
                None if file.weight == 1 => sum = Some(function),
                _ => sum.get_or_insert_default().add(&function, file.weight),
            }
        }
        let sum: Function = sum.unwrap_or_default();
        let mut tally = Tally::default();
        tally.add(&sum);
        let mut info = Output::new(self.encoding);
        self.encoder().info(symbol, &sum, &mut info)?;
        Ok(Part { symbol, info: info.bytes, tally })
    }

    /// Puts the functions together.
    pub fn finish(mut self, parts: Vec<Part>) -> Result<Vec<u8>, EncodeError> {
        self.files.clear();
        let mut tally = Tally::default();
        let info = |part: Part| {
            tally.append(part.tally);
            (part.symbol, part.info)
        };
        let mut infos: HashMap<SymbolId, Vec<u8>> = parts.into_iter().map(info).collect();
        let write = |_, info: Vec<u8>, output: &mut Output| {
            output.bytes.extend_from_slice(&info);
            Ok(())
        };
        self.encoder().file(&tally.summary(), |symbol| infos.remove(&symbol), write)
    }

    fn encoder(&self) -> Encoder<'_> {
        Encoder { symbols: &self.symbols, ids: &self.ids, encoding: self.encoding }
    }
}
