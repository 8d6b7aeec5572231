//! Reads only what is asked for: for compilers, which want the functions of one source file, and for anyone
//! who looks at one function.
//!
//! Opening reads the header with its section table, and the file names. Everything else is read when asked
//! for, straight from the bytes; these may be a file mapped into memory. Nothing is decoded in advance, and
//! only one name of a function is in memory at a time. Sections are counted by their place in the file (D1).
//!
//! ```
//! # use countersink::formats::afdo_v4::check::Finding;
//! use countersink::formats::afdo_v4::lookup::Profile;
//! use countersink::formats::afdo_v4::records::What;
//!
//! /// The largest count of a function.
//! fn largest(file: &[u8], source: &[u8], function: &[u8]) -> Result<Option<u64>, Finding> {
//!     let profile = Profile::open(file)?;
//!     let Some(source) = profile.source(source) else { return Ok(None) };
//!     let Some(records) = profile.function(source, function)? else { return Ok(None) };
//!     let mut largest = None;
//!     for record in records {
//!         if let What::Count(count) = record?.what {
//!             largest = largest.max(Some(count));
//!         }
//!     }
//!     Ok(largest)
//! }
//! ```

use alloc::vec::Vec;
use core::ops::Range;

use super::check::{Defect, Finding, Part};
use super::number::Input;
use super::records::Records;
use super::source::source;
use super::table::{Extent, Extents, encoding};
use super::trie::Strings;
use super::{HIGH, NO_INFO, open, section};
use crate::profile::Summary;

pub use super::source::Source;

/// A file of version 4, open for looking things up.
#[derive(Clone, Debug)]
pub struct Profile<'a> {
    bytes: &'a [u8],
    summary: Range<u64>,
    /// By place in the file.
    sections: Vec<Range<u64>>,
    sources: Vec<Source<'a>>,
    /// The sources that have symbols, in the order of their ids.
    by_ids: Vec<usize>,
}

/// A symbol as the file has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The id that records use for it.
    pub id: u32,
    /// The number of its name among the strings of its source file.
    pub string: u32,
    /// The section with its counts, if it has any.
    pub info: Option<u32>,
}

impl Source<'_> {
    /// The section with the names of its symbols, by place in the file.
    pub const fn string_table(&self) -> u32 {
        self.string_table
    }

    /// The section that lists its symbols, by place in the file.
    pub const fn symbol_names(&self) -> u32 {
        self.symbol_names
    }
}

impl<'a> Profile<'a> {
    /// Opens a file. Reads only header, section table and file names.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Finding> {
        let Extents { summary, file_names, entries, .. } = Extents::decode(bytes)?;
        let mut sections = Vec::with_capacity(2 + entries.len());
        sections.extend([summary.range(), file_names.range()]);
        sections.extend(entries.iter().map(Extent::range));
        if !sections.is_sorted_by_key(|section| section.start) {
            sections.sort_by_key(|section| section.start);
        }
        let mut profile = Self {
            bytes,
            summary: summary.range(),
            sections,
            sources: Vec::new(),
            by_ids: Vec::new(),
        };
        let mut input = profile.input(file_names.range(), section::FILE_NAMES)?;
        let number = input.count(4, 6)?;
        let sources = (0..number).map(|_| source(&mut input));
        profile.sources = sources.collect::<Result<_, _>>()?;
        let has_symbols = |&place: &usize| !profile.sources[place].ids.is_empty();
        profile.by_ids = (0..profile.sources.len()).filter(has_symbols).collect();
        profile.by_ids.sort_by_key(|&place| profile.sources[place].ids.start);
        Ok(profile)
    }

    /// The summary.
    pub fn summary(&self) -> Result<Summary, Finding> {
        open::summary(&mut self.input(self.summary.clone(), section::SUMMARY)?)
    }

    /// All source files.
    pub fn sources(&self) -> &[Source<'a>] {
        &self.sources
    }

    /// The source file with this path; the unknown one's is empty.
    pub fn source(&self, path: &[u8]) -> Option<&Source<'a>> {
        self.sources.iter().find(|source| source.path == path)
    }

    /// The source file that declares the symbol with this id.
    pub fn source_of(&self, id: u32) -> Option<&Source<'a>> {
        let behind = self.by_ids.partition_point(|&place| self.sources[place].ids.start <= id);
        let last = &self.sources[*self.by_ids[..behind].last()?];
        last.ids.contains(&id).then_some(last)
    }

    /// The names of the symbols that a file declares, with their numbers.
    pub fn strings(&self, source: &Source<'a>) -> Result<Strings<'a>, Finding> {
        let extent = self.section(source.offset, source.string_table)?;
        Strings::new(self.input(extent, section::STRING_TABLE)?)
    }

    /// The symbols that a file declares.
    pub fn symbols(
        &self,
        source: &Source<'a>,
    ) -> Result<impl Iterator<Item = Result<Symbol, Finding>> + use<'a>, Finding> {
        let extent = self.section(source.offset, source.symbol_names)?;
        let mut input = self.input(extent, section::SYMBOL_NAMES)?;
        let number = input.count(4, 3)?;
        Ok((0..number).map(move |_| {
            let (string, id, info) = (input.u32()?, input.u32()?, input.u32()?);
            Ok(Symbol { id, string, info: (info != NO_INFO).then_some(info) })
        }))
    }

    /// The counts of a function, if it has any.
    pub fn function(
        &self,
        source: &Source<'a>,
        name: &[u8],
    ) -> Result<Option<Records<'a>>, Finding> {
        let mut strings = self.strings(source)?;
        let string = loop {
            match strings.next()? {
                Some((number, string)) if string == name => break number,
                Some(_) => {}
                None => return Ok(None),
            }
        };
        for symbol in self.symbols(source)? {
            let symbol = symbol?;
            if symbol.string == string {
                return symbol.info.map(|info| self.records(info)).transpose();
            }
        }
        Ok(None)
    }

    /// The name of the symbol with this id, if there is one.
    pub fn name(&self, id: u32) -> Result<Option<Vec<u8>>, Finding> {
        let Some(source) = self.source_of(id) else { return Ok(None) };
        let mut symbols = self.symbols(source)?;
        let found = symbols.find(|symbol| symbol.as_ref().is_ok_and(|symbol| symbol.id == id));
        let Some(symbol) = found.transpose()? else { return Ok(None) };
        let mut strings = self.strings(source)?;
        while let Some((number, string)) = strings.next()? {
            if number == symbol.string {
                return Ok(Some(string.to_vec()));
            }
        }
        Ok(None)
    }

    /// The counts in a symbol's section.
    pub fn records(&self, info: u32) -> Result<Records<'a>, Finding> {
        Records::new(self.input(self.section(0, info)?, section::SYMBOL_INFO)?)
    }

    /// Length of a section.
    pub(super) fn size(&self, index: u32) -> u64 {
        self.sections.get(index as usize).map_or(0, |section| section.end - section.start)
    }

    fn section(&self, offset: u64, index: u32) -> Result<Range<u64>, Finding> {
        let section = self.sections.get(index as usize).cloned();
        section.ok_or(Finding { offset, defect: Defect::SectionIndex(index) })
    }

    /// A section after its first byte, which must give this type.
    fn input(&self, section: Range<u64>, expected: u8) -> Result<Input<'a>, Finding> {
        let (start, end) = (section.start as usize, section.end as usize);
        let mut input = Input::new(self.bytes, Part::Section(expected), start, end);
        let first = input.byte()?;
        if first & !HIGH != expected {
            let found = first & !HIGH;
            return input.error(section.start, Defect::SectionType { expected, found });
        }
        input.set_encoding(encoding(first));
        Ok(input)
    }
}
