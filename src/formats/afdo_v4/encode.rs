//! Writes version 4 in canonical form.

use alloc::vec::Vec;
use core::fmt;

use super::ids::FileSymbols;
use super::number::Output;
use super::{HIGH, Ids, NO_INFO, location, section, table, trie};
use crate::profile::{Body, Function, LARGEST_COUNT, Position, Profile, Record, Summary, SymbolId};

pub use super::number::Encoding;

/// Farthest line that fits (D34).
const FARTHEST_LINE: u32 = (1 << 24) - 1;

/// Why a profile cannot be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A symbol or file has an empty name, or one with a NUL inside.
    Name(Vec<u8>),
    /// A position is too far from the start of its function.
    Line {
        /// The function.
        function: Vec<u8>,
        /// The line.
        line: u32,
    },
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                write!(f, "the name \"{}\" cannot be written", name.escape_ascii())
            }
            Self::Line { function, line } => {
                write!(f, "{}: line {line} cannot be written", function.escape_ascii())
            }
        }
    }
}

impl core::error::Error for EncodeError {}

/// The file of a profile, with the summary of its counts.
pub fn encode(profile: &Profile, encoding: Encoding) -> Result<Vec<u8>, EncodeError> {
    encode_with_summary(profile, &profile.summary(), encoding)
}

/// The file of a profile with a given summary.
pub fn encode_with_summary(
    profile: &Profile,
    summary: &Summary,
    encoding: Encoding,
) -> Result<Vec<u8>, EncodeError> {
    let encoder = Encoder { profile, ids: Ids::new(profile), encoding };
    Ok(table::assemble(&encoder.sections(summary)?, encoding))
}

struct Encoder<'p> {
    profile: &'p Profile,
    ids: Ids<'p>,
    encoding: Encoding,
}

impl Encoder<'_> {
    /// All sections in the order of the file.
    fn sections(&self, summary: &Summary) -> Result<Vec<Vec<u8>>, EncodeError> {
        let files = self.ids.files();
        let mut sections = Vec::from([self.summary(summary), Vec::new()]);
        let mut names = self.section(section::FILE_NAMES);
        names.u32(files.len() as u32);
        let mut next_id = 1;
        for file in &files {
            let first = next_id;
            next_id += file.symbols.len() as u32;
            let path = file.path.unwrap_or_default();
            if path.contains(&0) || (path.is_empty() && file.path.is_some()) {
                return Err(EncodeError::Name(path.to_vec()));
            }
            names.u32(path.len() as u32 + 1);
            names.bytes.extend_from_slice(path);
            names.byte(0);
            names.u32(sections.len() as u32);
            names.u32(sections.len() as u32 + 1);
            names.u32(first);
            names.u32(next_id);
            self.file(file, &mut sections)?;
        }
        sections[1] = names.bytes;
        Ok(sections)
    }

    /// Appends the sections of a file: string table, symbol names, infos.
    fn file(&self, file: &FileSymbols<'_>, sections: &mut Vec<Vec<u8>>) -> Result<(), EncodeError> {
        let mut strings = Vec::with_capacity(file.symbols.len());
        for &(_, symbol) in &file.symbols {
            let name = self.profile.symbols.name(symbol);
            if name.is_empty() || name.contains(&0) {
                return Err(EncodeError::Name(name.to_vec()));
            }
            strings.push(name);
        }
        let mut string_table = self.section(section::STRING_TABLE);
        trie::encode(&strings, &mut string_table);
        let mut names = self.section(section::SYMBOL_NAMES);
        names.u32(file.symbols.len() as u32);
        let mut infos = Vec::new();
        let first_info = sections.len() as u32 + 2;
        for (string, &(id, symbol)) in (0..).zip(&file.symbols) {
            names.u32(string);
            names.u32(id);
            match self.profile.functions.get(&symbol) {
                Some(function) => {
                    names.u32(first_info + infos.len() as u32);
                    infos.push(self.info(symbol, function)?);
                }
                None => names.u32(NO_INFO),
            }
        }
        sections.extend([string_table.bytes, names.bytes]);
        sections.append(&mut infos);
        Ok(())
    }

    fn summary(&self, summary: &Summary) -> Vec<u8> {
        let mut output = self.section(section::SUMMARY);
        output.u64(summary.total_count);
        output.u64(summary.max_count);
        output.u64(summary.max_function_count);
        output.u64(summary.counts);
        output.u64(summary.functions);
        output.u64(summary.cutoffs.len() as u64);
        for cutoff in &summary.cutoffs {
            output.u32(cutoff.share);
            output.u64(cutoff.min_count);
            output.u64(cutoff.counts);
        }
        output.bytes
    }

    fn info(&self, symbol: SymbolId, function: &Function) -> Result<Vec<u8>, EncodeError> {
        let mut output = self.section(section::SYMBOL_INFO);
        output.u64(function.head_count.min(LARGEST_COUNT));
        output.u64(function.timestamp.min(LARGEST_COUNT));
        self.body(symbol, &function.body, &mut output)?;
        Ok(output.bytes)
    }

    fn body(&self, of: SymbolId, body: &Body, output: &mut Output) -> Result<(), EncodeError> {
        let number: usize = body.positions.values().map(locations).sum();
        output.u32(number as u32);
        for (position, record) in &body.positions {
            if position.line > FARTHEST_LINE {
                let function = self.profile.symbols.name(of).to_vec();
                return Err(EncodeError::Line { function, line: position.line });
            }
            self.record(*position, record, output)?;
        }
        Ok(())
    }

    fn record(
        &self,
        position: Position,
        record: &Record,
        output: &mut Output,
    ) -> Result<(), EncodeError> {
        match record.count.map(|count| count.min(LARGEST_COUNT)) {
            None => {}
            Some(0) => head(location::ZERO, position, output),
            Some(count) => match u32::try_from(count) {
                Ok(count) => {
                    head(location::NORMAL, position, output);
                    output.u32(count);
                }
                Err(_) => {
                    head(location::WIDE, position, output);
                    output.u64(count);
                }
            },
        }
        self.targets(position, record, output);
        for (callee, body) in self.by_id(record.inlined.iter()) {
            head(location::INLINED, position, output);
            output.u32(self.ids.id(*callee));
            self.body(*callee, body, output)?;
        }
        Ok(())
    }

    fn targets(&self, position: Position, record: &Record, output: &mut Output) {
        let targets = self.by_id(record.targets.iter());
        match targets.len() {
            0 => return,
            1 => head(location::CALLED, position, output),
            number => {
                head(location::CALLED_SEVERAL, position, output);
                output.u32(number as u32);
            }
        }
        for (target, calls) in targets {
            output.u32(self.ids.id(*target));
            output.u64((*calls).min(LARGEST_COUNT));
        }
    }

    fn by_id<'m, T>(
        &self,
        symbols: impl Iterator<Item = (&'m SymbolId, &'m T)>,
    ) -> Vec<(&'m SymbolId, &'m T)> {
        let mut sorted: Vec<_> = symbols.collect();
        sorted.sort_by_key(|(symbol, _)| self.ids.id(**symbol));
        sorted
    }

    fn section(&self, kind: u8) -> Output {
        let mut output = Output::new(self.encoding);
        output.byte(if self.encoding == Encoding::Compact { HIGH | kind } else { kind });
        output
    }
}

/// How many locations a record takes.
fn locations(record: &Record) -> usize {
    usize::from(record.count.is_some())
        + usize::from(!record.targets.is_empty())
        + record.inlined.len()
}

fn head(kind: u8, position: Position, output: &mut Output) {
    let with_discriminator = position.discriminator != 0;
    output.byte(if with_discriminator { HIGH | kind } else { kind });
    output.u24(position.line);
    if with_discriminator {
        output.u16(position.discriminator);
    }
}
