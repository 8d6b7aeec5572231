//! Adds up files, one function after the other. Memory holds the files, their symbols and the sum as bytes,
//! but never a whole profile.
//!
//! ```
//! # use std::error::Error;
//! use countersink::formats::afdo_v4::encode::Encoding;
//! use countersink::formats::afdo_v4::merge::{File, Merge};
//!
//! /// The sum of two files; the second one counts three times.
//! fn sum(a: &[u8], b: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
//!     let merge = Merge::new(vec![File::open(a, 1)?, File::open(b, 3)?], Encoding::Normal);
//!     // Several threads may share the functions out.
//!     let parts: Result<Vec<_>, _> = (0..merge.functions()).map(|n| merge.part(n)).collect();
//!     Ok(merge.finish(parts?)?)
//! }
//! ```

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use hashbrown::HashMap;

use super::Ids;
use super::encode::{EncodeError, Encoder, Encoding};
use super::number::Output;
use crate::profile::{Body, Function, SymbolId, Symbols, Tally};

pub use super::summand::File;

/// Files to be added, and the shape of the sum.
pub struct Merge<'a> {
    files: Vec<File<'a>>,
    symbols: Symbols,
    ids: Ids,
    encoding: Encoding,
    /// Function, file, and index among the file's functions, ascending.
    functions: Vec<(SymbolId, usize, usize)>,
    /// Where the entries of each function start.
    starts: Vec<usize>,
    change: Option<fn(&Body) -> Body>,
    /// Number of names without a file that several files declare. They stay apart.
    pub ambiguous: usize,
}

/// A function of the sum.
pub struct Part {
    symbol: SymbolId,
    info: Vec<u8>,
    tally: Tally,
}

impl<'a> Merge<'a> {
    /// Prepares the sum of files. A name without a file joins the only function of its name.
    pub fn new(files: Vec<File<'a>>, encoding: Encoding) -> Self {
        Self::of(files, encoding, true)
    }

    /// Prepares a sum to which others will be added. So it decides nothing about names.
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

    /// Number of functions.
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
            // Its defects have been told before.
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
