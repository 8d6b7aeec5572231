//! Reads version 4, in either encoding and in mixtures of both.
//!
//! Sections and locations of unknown type are skipped. What can be tolerated is noted and read all
//! the same; what cannot costs the section it is in, so that one pass finds all that is wrong.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::body::body;
use super::check::{Defect, Finding};
use super::lookup::Source;
use super::number::{Encoding, Input};
use super::records::Records;
use super::table::{Section, Table};
use super::{NO_INFO, section, trie};
use crate::profile::{Cutoff, Function, Profile, Summary, SymbolId};

/// What a file says, and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub profile: Profile,
    /// The summary as it stands in the file.
    pub summary: Summary,
    /// Defects, in the order in which they were found.
    pub findings: Vec<Finding>,
}

/// Reads a file; the first defect that cannot be tolerated is an error.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Finding> {
    let decoded = decode_all(bytes)?;
    match decoded.findings.iter().find(|finding| !finding.defect.is_tolerable()) {
        Some(finding) => Err(*finding),
        None => Ok(decoded),
    }
}

/// Reads as much of a file as can be read.
pub fn decode_all(bytes: &[u8]) -> Result<Decoded, Finding> {
    let mut findings = Vec::new();
    let table = Table::decode(bytes, &mut findings)?;
    let mut decoder = Decoder {
        bytes,
        sections: Vec::new(),
        profile: Profile::default(),
        symbols: HashMap::new(),
        string_bytes_left: trie::most_bytes(bytes.len()),
        owned: BTreeSet::new(),
        findings,
    };
    let summary = decoder.summary(table.summary);
    let files = decoder.files(table.file_names);
    decoder.number_sections(&table, &files);
    let infos: Vec<_> = files.iter().flat_map(|file| decoder.file(file)).collect();
    for info in infos {
        decoder.info(info);
    }
    if summary != decoder.profile.summary() && decoder.is_whole() {
        let offset = table.summary.start;
        decoder.findings.push(Finding { offset, defect: Defect::Summary });
    }
    Ok(Decoded { profile: decoder.profile, summary, findings: decoder.findings })
}

/// A symbol's reference to its info section.
struct Info {
    offset: u64,
    symbol: SymbolId,
    section: u32,
}

struct Decoder<'a> {
    bytes: &'a [u8],
    /// By the number they are referred to with.
    sections: Vec<Section>,
    profile: Profile,
    symbols: HashMap<u32, SymbolId>,
    string_bytes_left: usize,
    /// Where sections start that belong to a file or a symbol.
    owned: BTreeSet<u64>,
    findings: Vec<Finding>,
}

impl<'a> Decoder<'a> {
    /// Whether everything so far could be read.
    fn is_whole(&self) -> bool {
        let skipped = |finding: &Finding| {
            !finding.defect.is_tolerable() || matches!(finding.defect, Defect::UnknownLocation(_))
        };
        !self.findings.iter().any(skipped)
    }

    /// Reads a section with `read`; a defect of it is noted, and `None` given.
    fn section<T>(
        &mut self,
        section: Section,
        read: impl FnOnce(&mut Self, &mut Input<'a>) -> Result<T, Finding>,
    ) -> Option<T> {
        section.kind?;
        let (start, end) = (section.start as usize, (section.start + section.size) as usize);
        let mut input = Input::new(self.bytes, start + 1, end);
        input.set_encoding(if section.compact { Encoding::Compact } else { Encoding::Normal });
        match read(self, &mut input) {
            Ok(value) => {
                if input.left() > 0 {
                    let defect = Defect::Trailing(input.left() as u64);
                    self.findings.push(Finding { offset: input.offset(), defect });
                }
                Some(value)
            }
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    /// The section with a number, if it has the type due.
    fn find(&mut self, offset: u64, index: u32, expected: u8) -> Option<Section> {
        let defect = match self.sections.get(index as usize) {
            Some(section) if section.kind == Some(expected) => return Some(*section),
            Some(Section { kind: Some(found), .. }) => {
                Defect::SectionType { expected, found: *found }
            }
            // Outside the file, which has been said.
            Some(_) => return None,
            None => Defect::SectionIndex(index),
        };
        self.findings.push(Finding { offset, defect });
        None
    }

    /// The same, for the one that it belongs to (D19).
    fn own(&mut self, offset: u64, index: u32, expected: u8) -> Option<Section> {
        let section = self.find(offset, index, expected)?;
        if self.owned.insert(section.start) {
            return Some(section);
        }
        self.findings.push(Finding { offset, defect: Defect::SharedSection(index) });
        None
    }

    fn summary(&mut self, section: Section) -> Summary {
        self.section(section, |_, input| summary(input)).unwrap_or_default()
    }

    fn files(&mut self, section: Section) -> Vec<Source<'a>> {
        let files = self.section(section, |_, input| {
            let number = input.count(4, 6)?;
            (0..number).map(|_| source(input)).collect::<Result<Vec<_>, _>>()
        });
        let files = files.unwrap_or_default();
        let mut paths: Vec<&[u8]> = files.iter().map(|file| file.path).collect();
        paths.sort_unstable();
        let offset = section.start;
        if paths.windows(2).any(|pair| pair[0] == pair[1]) {
            self.findings.push(Finding { offset, defect: Defect::DuplicateFile });
        }
        if paths.first().is_none_or(|path| !path.is_empty()) && section.kind.is_some() {
            self.findings.push(Finding { offset, defect: Defect::NoUnknownFile });
        }
        files
    }

    /// Decides how sections are counted (D1): by rank among all; else, if only that makes every
    /// reference one to a section of the type due, by the table behind the two fixed ones, or by
    /// the table alone.
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

    /// Reads a file's symbols; gives the references of those that have an info section.
    fn file(&mut self, file: &Source<'_>) -> Vec<Info> {
        let strings = self.own(file.offset, file.string_table, section::STRING_TABLE);
        let names = self.own(file.offset, file.symbol_names, section::SYMBOL_NAMES);
        let strings = strings.and_then(|section| {
            self.section(section, |decoder, input| {
                trie::decode(input, &mut decoder.string_bytes_left, &mut decoder.findings)
            })
        });
        let (Some(strings), Some(names)) = (strings, names) else { return Vec::new() };
        let path = (!file.path.is_empty()).then(|| self.profile.symbols.file(file.path));
        self.section(names, |decoder, input| {
            let start = input.offset();
            let number = input.count(4, 3)?;
            let (mut infos, mut names_seen) = (Vec::new(), BTreeSet::new());
            for _ in 0..number {
                let offset = input.offset();
                let (string, id, info) = (input.u32()?, input.u32()?, input.u32()?);
                let name = match strings.get(string as usize) {
                    Some(name) if name.is_empty() || name.contains(&0) => {
                        return input.error(offset, Defect::SymbolName);
                    }
                    Some(name) => name,
                    None => return input.error(offset, Defect::StringId(string)),
                };
                if !file.ids.contains(&id) {
                    return input.error(offset, Defect::SymbolRange(id));
                }
                let symbol = decoder.profile.symbols.symbol(name, path);
                let known =
                    !names_seen.insert(string) | decoder.symbols.insert(id, symbol).is_some();
                if known {
                    return input.error(offset, Defect::DuplicateSymbol(id));
                }
                if info != NO_INFO {
                    infos.push(Info { offset, symbol, section: info });
                }
            }
            let expected = u64::from(file.ids.end.saturating_sub(file.ids.start));
            if expected != number as u64 {
                let defect = Defect::MissingSymbols { expected, found: number as u64 };
                decoder.findings.push(Finding { offset: start, defect });
            }
            Ok(infos)
        })
        .unwrap_or_default()
    }

    fn info(&mut self, info: Info) {
        let Some(section) = self.own(info.offset, info.section, section::SYMBOL_INFO) else {
            return;
        };
        let function = self.section(section, |decoder, input| {
            let mut records = Records::new(input.clone())?;
            let (head_count, timestamp) = (records.head_count, records.timestamp);
            let Decoder { symbols, findings, .. } = decoder;
            let body = body(&mut records, findings, |id| {
                let unknown = Finding { offset: 0, defect: Defect::SymbolId(id) };
                symbols.get(&id).copied().ok_or(unknown)
            });
            findings.append(&mut records.findings);
            *input = records.input;
            Ok(Function { head_count, timestamp, body: body? })
        });
        if let Some(function) = function {
            self.profile.functions.insert(info.symbol, function);
        }
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

pub(super) fn source<'a>(input: &mut Input<'a>) -> Result<Source<'a>, Finding> {
    let offset = input.offset();
    let length = input.u32()?;
    let path = match input.take(length as usize)? {
        [path @ .., 0] if !path.contains(&0) => path,
        _ => return input.error(offset, Defect::FileName),
    };
    let (string_table, symbol_names) = (input.u32()?, input.u32()?);
    let ids = input.u32()?..input.u32()?;
    Ok(Source { path, ids, offset, string_table, symbol_names })
}
