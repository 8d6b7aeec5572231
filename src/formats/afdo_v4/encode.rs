//! Writes version 4 in canonical form.

use alloc::vec::Vec;
use core::iter;

use super::ids::FileSymbols;
use super::number::Output;
use super::{HIGH, Ids, NO_INFO, location, section, table, trie};
use crate::profile::{
    Body, DEEPEST, Function, LARGEST_COUNT, Position, Profile, Record, Summary, SymbolId, Symbols,
};
use crate::workers::{Alone, Workers};

pub use super::number::Encoding;
pub use crate::formats::EncodeError;

/// Farthest line that fits. Drop farther ones before writing (D34).
pub const FARTHEST_LINE: u32 = (1 << 24) - 1;

/// Result of writing.
pub type Result<T> = core::result::Result<T, EncodeError>;

/// The file of a profile, with the summary of its counts.
pub fn encode(profile: &Profile, encoding: Encoding) -> Result<Vec<u8>> {
    encode_with_summary(profile, &profile.summary(), encoding)
}

/// The file of a profile with a given summary.
pub fn encode_with_summary(
    profile: &Profile,
    summary: &Summary,
    encoding: Encoding,
) -> Result<Vec<u8>> {
    encode_with(profile, summary, encoding, &Alone)
}

/// The same with these workers.
pub fn encode_with(
    profile: &Profile,
    summary: &Summary,
    encoding: Encoding,
    workers: &impl Workers,
) -> Result<Vec<u8>> {
    let (symbols, ids) = (&profile.symbols, &Ids::with(profile, workers));
    let encoder = Encoder { symbols, ids, encoding };
    let functions: Vec<_> = ids
        .symbols()
        .filter_map(|(_, symbol)| Some((symbol, profile.functions.get(&symbol)?)))
        .collect();
    let parts: Vec<_> = functions.chunks(FUNCTIONS_AT_ONCE).collect();
    let infos = workers.map(&parts, |functions| encoder.infos(functions));
    let infos = infos.into_iter().collect::<Result<Vec<_>>>()?;
    let mut infos = infos.iter().flat_map(Infos::iter);
    // The functions of the files have the same order.
    let write = |_, _, output: &mut Output| {
        output.bytes.extend_from_slice(infos.next().unwrap_or_default());
        Ok(())
    };
    encoder.file(summary, |symbol| profile.functions.get(&symbol), write)
}

/// Functions that one worker writes: each takes about a microsecond.
const FUNCTIONS_AT_ONCE: usize = 64;

/// The info sections of functions without their first bytes.
struct Infos {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Infos {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }
}

/// The sections of all files, one after the other.
struct Sections {
    output: Output,
    sizes: Vec<usize>,
    /// Bytes of the sections before the one at hand.
    ended: usize,
}

impl Sections {
    const fn new(encoding: Encoding) -> Self {
        Self { output: Output::new(encoding), sizes: Vec::new(), ended: 0 }
    }

    /// The number of the section at hand in the header, behind summary and file names.
    fn number(&self) -> u32 {
        self.sizes.len() as u32 + 2
    }

    /// Starts a section.
    fn start(&mut self, kind: u8) -> &mut Output {
        self.output.kind(kind);
        &mut self.output
    }

    /// Ends the section at hand.
    fn end(&mut self) {
        self.sizes.push(self.output.bytes.len() - self.ended);
        self.ended = self.output.bytes.len();
    }
}

/// Writes functions that use these symbols.
pub(super) struct Encoder<'p> {
    pub symbols: &'p Symbols,
    pub ids: &'p Ids,
    pub encoding: Encoding,
}

impl Encoder<'_> {
    /// The file of the functions that `find` finds. `write` writes each of them.
    pub fn file<F>(
        &self,
        summary: &Summary,
        find: impl FnMut(SymbolId) -> Option<F>,
        write: impl FnMut(SymbolId, F, &mut Output) -> Result<()>,
    ) -> Result<Vec<u8>> {
        let mut names = Output::new(self.encoding);
        let mut rest = Sections::new(self.encoding);
        self.files(&mut names, &mut rest, find, write)?;
        let first = [self.summary(summary).bytes, names.bytes];
        let sizes = first.iter().map(Vec::len).chain(rest.sizes.iter().copied());
        let header = table::header(&sizes.collect::<Vec<_>>(), self.encoding);
        Ok([&header[..], &first[0], &first[1], &rest.output.bytes].concat())
    }

    /// Writes the file names, and the sections of all files.
    fn files<F>(
        &self,
        names: &mut Output,
        sections: &mut Sections,
        mut find: impl FnMut(SymbolId) -> Option<F>,
        mut write: impl FnMut(SymbolId, F, &mut Output) -> Result<()>,
    ) -> Result<()> {
        let files = self.ids.files(self.symbols);
        let tables = files.iter().map(|file| self.strings(file)).collect::<Result<Vec<_>>>()?;
        let tables = trie::encode_all(&tables, self.encoding);
        names.kind(section::FILE_NAMES);
        names.u32(files.len() as u32);
        let mut next_id = 1;
        for (file, table) in files.iter().zip(tables) {
            let first = next_id;
            next_id += file.symbols.len() as u32;
            let path = file.path.unwrap_or_default();
            if path.contains(&0) || (path.is_empty() && file.path.is_some()) {
                return Err(EncodeError::Name(path.to_vec()));
            }
            names.u32(path.len() as u32 + 1);
            names.bytes.extend_from_slice(path);
            names.byte(0);
            names.u32(sections.number());
            names.u32(sections.number() + 1);
            names.u32(first);
            names.u32(next_id);
            sections.output.bytes.extend_from_slice(&table);
            sections.end();
            self.source(file, sections, &mut find, &mut write)?;
        }
        Ok(())
    }

    /// The names of a file's symbols.
    fn strings(&self, file: &FileSymbols<'_>) -> Result<Vec<&[u8]>> {
        let name = |&(_, symbol): &(u32, SymbolId)| match self.symbols.name(symbol) {
            name if name.is_empty() || name.contains(&0) => Err(EncodeError::Name(name.to_vec())),
            name => Ok(name),
        };
        file.symbols.iter().map(name).collect()
    }

    /// Appends the sections of a file that follow its string table: symbol names, infos.
    fn source<F>(
        &self,
        file: &FileSymbols<'_>,
        sections: &mut Sections,
        find: &mut impl FnMut(SymbolId) -> Option<F>,
        write: &mut impl FnMut(SymbolId, F, &mut Output) -> Result<()>,
    ) -> Result<()> {
        let functions: Vec<_> = file.symbols.iter().map(|&(_, symbol)| find(symbol)).collect();
        let mut info = sections.number() + 1;
        let names = sections.start(section::SYMBOL_NAMES);
        names.u32(file.symbols.len() as u32);
        for ((string, &(id, _)), function) in (0..).zip(&file.symbols).zip(&functions) {
            names.u32(string);
            names.u32(id);
            names.u32(if function.is_some() { info } else { NO_INFO });
            info += u32::from(function.is_some());
        }
        sections.end();
        for (&(_, symbol), function) in file.symbols.iter().zip(functions) {
            if let Some(function) = function {
                write(symbol, function, sections.start(section::SYMBOL_INFO))?;
                sections.end();
            }
        }
        Ok(())
    }

    fn infos(&self, functions: &[(SymbolId, &Function)]) -> Result<Infos> {
        let (mut output, mut ends) = (Output::new(self.encoding), Vec::new());
        for (symbol, function) in functions {
            self.info(*symbol, function, &mut output)?;
            ends.push(output.bytes.len());
        }
        Ok(Infos { bytes: output.bytes, ends })
    }

    fn summary(&self, summary: &Summary) -> Output {
        let mut output = Output::new(self.encoding);
        output.kind(section::SUMMARY);
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
        output
    }

    /// Writes the info section of a function after its first byte.
    pub fn info(&self, symbol: SymbolId, function: &Function, output: &mut Output) -> Result<()> {
        if function.body.is_deeper_than(DEEPEST) {
            return Err(EncodeError::depth(self.symbols, symbol));
        }
        output.u64(function.head_count.min(LARGEST_COUNT));
        output.u64(function.timestamp.min(LARGEST_COUNT));
        self.body(symbol, &function.body, output)
    }

    fn body(&self, of: SymbolId, body: &Body, output: &mut Output) -> Result<()> {
        let number: usize = body.positions.values().map(locations).sum();
        output.u32(number as u32);
        for (position, record) in &body.positions {
            if position.line > FARTHEST_LINE {
                let function = self.symbols.name(of).to_vec();
                return Err(EncodeError::Line { function, line: position.line });
            }
            self.record(*position, record, output)?;
        }
        Ok(())
    }

    fn record(&self, position: Position, record: &Record, output: &mut Output) -> Result<()> {
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
