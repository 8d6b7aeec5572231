//! Reads all of a file but the counts of its functions. Those are then read one by one.
//!
//! Tells of tolerable defects and reads on; any other defect costs the section it is in. So one pass finds
//! all that is wrong.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::body::body;
use super::check::{Defect, Finding, Part, Tell};
use super::number::{Encoding, Input};
use super::records::Records;
use super::source::{Source, source};
use super::table::{Section, Table};
use super::{NO_INFO, section, trie};
use crate::profile::{Cutoff, Function, Summary, SymbolId, Symbols};

/// A file.
pub struct Opened<'a> {
    bytes: &'a [u8],
    /// The symbols in it.
    pub symbols: Symbols,
    /// The symbols by the ids that records use for them.
    ids: HashMap<u32, SymbolId>,
    /// The summary as it stands in the file.
    pub summary: Summary,
    pub(super) summary_offset: u64,
    /// The functions that have counts.
    pub infos: Vec<Info>,
}

/// Where the counts of a function are.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The function.
    pub symbol: SymbolId,
    section: Section,
}

impl Info {
    /// Start and size of the section with the counts.
    pub(super) const fn extent(&self) -> (u64, u32) {
        (self.section.start, self.section.size as u32)
    }
}

impl<'a> Opened<'a> {
    /// Opens a file and tells all its defects, tolerable or not.
    pub fn open(bytes: &'a [u8], tell: Tell<'_>) -> Result<Self, Finding> {
        let table = Table::decode(bytes, tell)?;
        let mut opener = Opener {
            sections: Vec::new(),
            symbols: Symbols::default(),
            ids: HashMap::new(),
            string_bytes_left: trie::most_bytes(bytes.len()),
            owned: BTreeSet::new(),
            shared_bytes_left: bytes.len() as u64,
            reader: Reader { bytes, tell },
        };
        let summary = opener.reader.section(table.summary, |_, input| summary(input));
        let files = opener.files(table.file_names);
        opener.number_sections(&table, &files);
        let references: Vec<_> = files.iter().flat_map(|file| opener.file(file)).collect();
        let infos = references.into_iter().filter_map(|reference| opener.info(reference)).collect();
        let Opener { symbols, ids, .. } = opener;
        Ok(Self {
            bytes,
            symbols,
            ids,
            summary: summary.unwrap_or_default(),
            summary_offset: table.summary.start,
            infos,
        })
    }

    /// All symbols with the ids that records use for them, by id.
    pub(super) fn by_id(&self) -> Vec<(u32, SymbolId)> {
        let mut ids: Vec<_> = self.ids.iter().map(|(&id, &symbol)| (id, symbol)).collect();
        ids.sort_unstable_by_key(|&(id, _)| id);
        ids
    }

    /// Replaces the file's own symbols by others.
    pub fn replace_symbols(&mut self, of: impl Fn(SymbolId) -> SymbolId) {
        self.ids.values_mut().for_each(|symbol| *symbol = of(*symbol));
        self.infos.iter_mut().for_each(|info| info.symbol = of(info.symbol));
    }

    /// The symbol with an id. The record at `offset` uses that id.
    pub fn symbol(&self, offset: u64, id: u32) -> Result<SymbolId, Finding> {
        let unknown = Finding { offset, defect: Defect::SymbolId(id) };
        self.ids.get(&id).copied().ok_or(unknown)
    }

    /// Reads a function and tells its defects; `None` if it cannot be read.
    pub fn function(&self, info: &Info, tell: Tell<'_>) -> Option<Function> {
        self.records(info, tell, |records, tell| {
            let (head_count, timestamp) = (records.head_count, records.timestamp);
            let body = body(records, tell, |id| self.symbol(0, id))?;
            Ok(Function { head_count, timestamp, body })
        })
    }

    /// Reads the records of a function with `read`, in the same way.
    pub fn records<T>(
        &self,
        info: &Info,
        tell: Tell<'_>,
        read: impl FnOnce(&mut Records<'a>, Tell<'_>) -> Result<T, Finding>,
    ) -> Option<T> {
        let mut reader = Reader { bytes: self.bytes, tell };
        reader.section(info.section, |tell, input| {
            let mut records = Records::new(input.clone())?;
            let value = read(&mut records, tell);
            *input = records.input;
            value
        })
    }
}

/// Reads sections, and tells their defects.
struct Reader<'a, 't> {
    bytes: &'a [u8],
    tell: Tell<'t>,
}

impl<'a> Reader<'a, '_> {
    /// Reads a section with `read`. Tells a defect and gives `None` instead.
    fn section<T>(
        &mut self,
        section: Section,
        read: impl FnOnce(Tell<'_>, &mut Input<'a>) -> Result<T, Finding>,
    ) -> Option<T> {
        let part = Part::Section(section.kind?);
        let (start, end) = (section.start as usize, (section.start + section.size) as usize);
        let mut input = Input::new(self.bytes, part, start + 1, end);
        input.set_encoding(if section.compact { Encoding::Compact } else { Encoding::Normal });
        match read(self.tell, &mut input) {
            Ok(value) => {
                if input.left() > 0 {
                    self.note(input.offset(), Defect::Trailing(input.left() as u64));
                }
                Some(value)
            }
            Err(finding) => {
                (self.tell)(finding);
                None
            }
        }
    }

    fn note(&mut self, offset: u64, defect: Defect) {
        (self.tell)(Finding { offset, defect });
    }
}

/// A symbol's reference to its info section.
struct Reference {
    offset: u64,
    symbol: SymbolId,
    section: u32,
}

struct Opener<'a, 't> {
    reader: Reader<'a, 't>,
    /// By the number that references use.
    sections: Vec<Section>,
    symbols: Symbols,
    ids: HashMap<u32, SymbolId>,
    string_bytes_left: usize,
    /// Starts of the sections that belong to a file or a symbol.
    owned: BTreeSet<u64>,
    /// Bytes of info sections that further symbols may still make us read again (D19).
    shared_bytes_left: u64,
}

impl<'a> Opener<'a, '_> {
    /// The section with a number, if it has the expected type.
    fn find(&mut self, offset: u64, index: u32, expected: u8) -> Option<Section> {
        let defect = match self.sections.get(index as usize) {
            Some(section) if section.kind == Some(expected) => return Some(*section),
            Some(Section { kind: Some(found), .. }) => {
                Defect::SectionType { expected, found: *found }
            }
            // It lies outside the file, and that has been told.
            Some(_) => return None,
            None => Defect::SectionIndex(index),
        };
        self.reader.note(offset, defect);
        None
    }

    /// The same for a section that may belong to one file only.
    fn own(&mut self, offset: u64, index: u32, expected: u8) -> Option<Section> {
        let section = self.find(offset, index, expected)?;
        if self.owned.insert(section.start) {
            return Some(section);
        }
        self.reader.note(offset, Defect::SharedSection(index));
        None
    }

    fn files(&mut self, section: Section) -> Vec<Source<'a>> {
        let files = self.reader.section(section, |_, input| {
            let number = input.count(4, 6)?;
            (0..number).map(|_| source(input)).collect::<Result<Vec<_>, _>>()
        });
        let files = files.unwrap_or_default();
        let mut paths: Vec<&[u8]> = files.iter().map(|file| file.path).collect();
        paths.sort_unstable();
        let offset = section.start;
        if paths.windows(2).any(|pair| pair[0] == pair[1]) {
            self.reader.note(offset, Defect::DuplicateFile);
        }
        if paths.first().is_none_or(|path| !path.is_empty()) && section.kind.is_some() {
            self.reader.note(offset, Defect::NoUnknownFile);
        }
        files
    }

    /// Decides how sections are counted (D1): by rank among all. If some reference then leads to a section of
    /// the wrong type, tries the order of the table behind the two fixed ones, and then the table alone.
    fn number_sections(&mut self, table: &Table, files: &[Source<'_>]) {
        let fixed = [table.summary, table.file_names].into_iter();
        let counts = [
            table.by_offset(),
            fixed.chain(table.entries.iter().copied()).collect(),
            table.entries.clone(),
        ];
        let is = |sections: &[Section], index: u32, kind| {
            sections.get(index as usize).is_some_and(|section| section.kind == Some(kind))
        };
        let fits = |sections: &&Vec<Section>| {
            files.iter().all(|file| {
                is(sections, file.string_table, section::STRING_TABLE)
                    && is(sections, file.symbol_names, section::SYMBOL_NAMES)
            })
        };
        self.sections = counts.iter().find(fits).unwrap_or(&counts[0]).clone();
    }

    /// Reads a file's symbols. Gives the references of those that have an info section.
    fn file(&mut self, file: &Source<'_>) -> Vec<Reference> {
        let strings = self.own(file.offset, file.string_table, section::STRING_TABLE);
        let names = self.own(file.offset, file.symbol_names, section::SYMBOL_NAMES);
        let Self { reader, symbols, ids, string_bytes_left, .. } = self;
        let strings = strings.and_then(|section| {
            reader.section(section, |tell, input| trie::decode(input, string_bytes_left, tell))
        });
        let (Some(strings), Some(names)) = (strings, names) else { return Vec::new() };
        let path = (!file.path.is_empty()).then(|| symbols.file(file.path));
        let references = reader.section(names, |tell, input| {
            let start = input.offset();
            let number = input.count(4, 3)?;
            let (mut references, mut names_seen) = (Vec::new(), BTreeSet::new());
            for _ in 0..number {
                let offset = input.offset();
                let (string, id, info) = (input.u32()?, input.u32()?, input.u32()?);
                let name = match strings.get(string as usize) {
                    Some(name) if name.contains(&0) => {
                        return input.error(offset, Defect::SymbolName);
                    }
                    Some(name) => name,
                    None => return input.error(offset, Defect::StringId(string)),
                };
                if !file.ids.contains(&id) {
                    return input.error(offset, Defect::SymbolRange(id));
                }
                let symbol = symbols.symbol(name, path);
                if !names_seen.insert(string) | ids.insert(id, symbol).is_some() {
                    return input.error(offset, Defect::DuplicateSymbol(id));
                }
                if name.is_empty() {
                    tell(Finding { offset, defect: Defect::NoName });
                }
                if info != NO_INFO {
                    references.push(Reference { offset, symbol, section: info });
                }
            }
            let expected = u64::from(file.ids.end.saturating_sub(file.ids.start));
            if expected != number as u64 {
                let defect = Defect::MissingSymbols { expected, found: number as u64 };
                tell(Finding { offset: start, defect });
            }
            Ok(references)
        });
        references.unwrap_or_default()
    }

    /// Finds an info section. Several symbols may share one, as aliases do, as long as no small file means an
    /// enormous profile (D19).
    fn info(&mut self, reference: Reference) -> Option<Info> {
        let Reference { offset, symbol, section: index } = reference;
        let section = self.find(offset, index, section::SYMBOL_INFO)?;
        if !self.owned.insert(section.start) {
            let Some(left) = self.shared_bytes_left.checked_sub(section.size) else {
                self.reader.note(offset, Defect::SharedSection(index));
                return None;
            };
            self.shared_bytes_left = left;
        }
        Some(Info { symbol, section })
    }
}

pub(super) fn summary(input: &mut Input<'_>) -> Result<Summary, Finding> {
    let mut summary = Summary {
        total_count: input.u64()?,
        max_count: input.u64()?,
        max_function_count: input.u64()?,
        counts: input.u64()?,
        functions: input.u64()?,
        cutoffs: Vec::new(),
    };
    for _ in 0..input.count(8, 3)? {
        let (share, min_count, counts) = (input.u32()?, input.u64()?, input.u64()?);
        summary.cutoffs.push(Cutoff { share, min_count, counts });
    }
    Ok(summary)
}
