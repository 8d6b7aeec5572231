//! Reads `.gcno` files.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::MAGIC;
use crate::formats::words::{WordDefect, WordError, Words};
use crate::raw::gcov::Version;

const FUNCTION: u32 = 0x0100_0000;
const BLOCKS: u32 = 0x0141_0000;
const ARCS: u32 = 0x0143_0000;
/// Bytes of tag, length and source block.
const SMALLEST_ARCS: u64 = 12;
const LINES: u32 = 0x0145_0000;
const CONDITIONS: u32 = 0x0147_0000;
const PATHS: u32 = 0x0149_0000;
/// GCC observes decisions with up to this many conditions, the bits of a counter.
const MOST_CONDITIONS: u32 = 64;

/// Notes have roughly this many bytes for each arc and each line. There is room for these from the start.
const BYTES_PER_ARC: usize = 40;
const BYTES_PER_LINE: usize = 32;

/// The notes of one object.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    /// Compiler that wrote them.
    pub version: Version,
    /// Time of compilation, equal in the object.
    pub stamp: u32,
    /// Directory in which the compiler ran.
    pub directory: &'a [u8],
    /// In the order of the object. Some of them the object does not have.
    pub functions: Vec<Function<'a>>,
    /// Source files as the compiler was given them, each once.
    pub files: Vec<&'a [u8]>,
    /// The arcs of all functions.
    arcs: Vec<Arc>,
    /// The lines of all functions.
    lines: Vec<Line>,
    /// The decisions of all functions.
    decisions: Vec<DecisionNote>,
}

/// The notes of one function.
#[derive(Clone, Debug)]
pub struct Function<'a> {
    /// Number of the function, unique in its object.
    pub ident: u32,
    /// Checksum of name and place.
    pub lineno_checksum: u32,
    /// Checksum of the control-flow graph.
    pub cfg_checksum: u32,
    /// Assembler name.
    pub name: &'a [u8],
    /// Whether the compiler made it up.
    pub artificial: bool,
    /// Index of its source file in [`Notes::files`].
    pub file: u32,
    /// Line of its declaration. AutoFDO counts lines from here.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Number of blocks, entry and exit included.
    pub blocks: u32,
    /// Number of prime paths that have bits; 0 if none has.
    pub paths: u32,
    /// Indexes of its arcs in the notes.
    arcs: Range<u32>,
    /// Indexes of its lines in the notes.
    lines: Range<u32>,
    /// Indexes of its decisions in the notes.
    decisions: Range<u32>,
}

/// An arc of the control-flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// Block it leaves.
    pub source: u32,
    /// Block it enters.
    pub destination: u32,
    flags: u32,
}

/// A source line with code in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The block.
    pub block: u32,
    /// Index of its source file in [`Notes::files`].
    pub file: u32,
    /// Line number, from 1.
    pub line: u32,
    /// How many runs of lines of one file end here. Within a run none does. Behind it there may be runs without a line.
    pub ends: u32,
}

/// A decision whose conditions have counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionNote {
    /// The block of its first condition.
    pub block: u32,
    /// How many conditions it has, at most 64.
    pub conditions: u32,
}

impl Arc {
    /// An arc with the flags of the format.
    pub const fn new(source: u32, destination: u32, flags: u32) -> Self {
        Self { source, destination, flags }
    }

    /// Whether it has no counter.
    pub const fn is_on_tree(&self) -> bool {
        self.flags & 1 != 0
    }

    /// Whether no jump takes it: it stands for a call that may not come back, or for an entry from elsewhere.
    pub const fn is_fake(&self) -> bool {
        self.flags & 2 != 0
    }

    /// Whether it leads to the next block without a jump.
    pub const fn is_fall_through(&self) -> bool {
        self.flags & 4 != 0
    }

    /// The outcome of the condition that it stands for, if it is one. From gcc 15 on.
    pub const fn outcome(&self) -> Option<bool> {
        match self.flags & 24 {
            8 => Some(true),
            16 => Some(false),
            _ => None,
        }
    }
}

impl<'a> Notes<'a> {
    /// Reads a file.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, WordError> {
        let mut words = Words::open(bytes, MAGIC)?;
        let mut decoder = Decoder::new(&mut words)?;
        while !words.is_at_end() {
            decoder.record(&mut words)?;
        }
        Ok(decoder.notes)
    }

    /// Arcs of a function in the order of the file, which is the order of their counters.
    pub fn arcs(&self, function: &Function<'_>) -> &[Arc] {
        let Range { start, end } = function.arcs;
        self.arcs.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Lines of all blocks of a function, in the order of the file.
    pub fn lines(&self, function: &Function<'_>) -> &[Line] {
        let Range { start, end } = function.lines;
        self.lines.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The decisions of a function in the order of the file, which is the order of their counters.
    pub fn decisions(&self, function: &Function<'_>) -> &[DecisionNote] {
        let Range { start, end } = function.decisions;
        self.decisions.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The source file that declares a function.
    pub fn source(&self, function: &Function<'_>) -> &'a [u8] {
        self.files.get(function.file as usize).copied().unwrap_or_default()
    }
}

/// Notes as far as they have been read.
struct Decoder<'a> {
    notes: Notes<'a>,
    /// Indexes of source files.
    places: HashMap<&'a [u8], u32>,
}

impl<'a> Decoder<'a> {
    fn new(words: &mut Words<'a>) -> Result<Self, WordError> {
        let stamp = words.word()?;
        if words.version.counts_bytes() {
            words.word()?;
        }
        let directory = words.string()?;
        words.word()?;
        let (version, functions, files) = (words.version, Vec::new(), Vec::new());
        let arcs = Vec::with_capacity(words.left() / BYTES_PER_ARC);
        let lines = Vec::with_capacity(words.left() / BYTES_PER_LINE);
        let decisions = Vec::new();
        let notes = Notes { version, stamp, directory, functions, files, arcs, lines, decisions };
        Ok(Self { notes, places: HashMap::new() })
    }

    fn record(&mut self, words: &mut Words<'a>) -> Result<(), WordError> {
        let start = words.offset();
        let tag = words.tag()?;
        let found = words.length()?;
        let length = usize::try_from(found)
            .map_err(|_| words.error_at(start, WordDefect::Length { tag, found: found as u64 }))?;
        let mut record = words.record(tag, length)?;
        let orphan = record.error_at(start, WordDefect::Order(tag));
        match tag {
            FUNCTION => self.function(&mut record)?,
            BLOCKS => {
                let blocks = record.word()?;
                // Every block but the exit has a record of arcs, even if it is empty.
                if u64::from(blocks.saturating_sub(1)) * SMALLEST_ARCS > words.left() as u64 {
                    let defect = WordDefect::Length { tag, found: u64::from(blocks) };
                    return Err(record.error_at(start, defect));
                }
                let function = self.last().ok_or(orphan)?;
                // A second BLOCKS could take away blocks that arcs and lines use.
                if function.blocks != 0 {
                    return Err(orphan);
                }
                function.blocks = blocks;
            }
            ARCS => {
                let blocks = self.last().ok_or(orphan)?.blocks;
                self.arcs(&mut record, blocks)?;
            }
            LINES => {
                let &mut Function { blocks, file, .. } = self.last().ok_or(orphan)?;
                self.lines(&mut record, blocks, file)?;
            }
            CONDITIONS => {
                let blocks = self.last().ok_or(orphan)?.blocks;
                self.decisions(&mut record, blocks)?;
            }
            PATHS => self.last().ok_or(orphan)?.paths = record.word()?,
            _ => {}
        }
        Ok(())
    }

    fn last(&mut self) -> Option<&mut Function<'a>> {
        self.notes.functions.last_mut()
    }

    fn function(&mut self, record: &mut Words<'a>) -> Result<(), WordError> {
        let ident = record.word()?;
        let lineno_checksum = record.word()?;
        let cfg_checksum = record.word()?;
        let name = record.string()?;
        let artificial = record.word()? != 0;
        let source = record.string()?;
        let start_line = record.word()?;
        let _start_column = record.word()?;
        let end_line = record.word()?;
        let _end_column = record.word()?;
        let (arcs, lines) = (self.notes.arcs.len() as u32, self.notes.lines.len() as u32);
        let decisions = self.notes.decisions.len() as u32;
        let function = Function {
            ident,
            lineno_checksum,
            cfg_checksum,
            name,
            artificial,
            file: self.file(source),
            start_line,
            end_line,
            blocks: 0,
            paths: 0,
            arcs: arcs..arcs,
            lines: lines..lines,
            decisions: decisions..decisions,
        };
        self.notes.functions.push(function);
        Ok(())
    }

    fn arcs(&mut self, record: &mut Words<'a>, blocks: u32) -> Result<(), WordError> {
        let source = block(record, blocks)?;
        while !record.is_at_end() {
            let destination = block(record, blocks)?;
            self.notes.arcs.push(Arc::new(source, destination, record.word()?));
        }
        let end = self.notes.arcs.len() as u32;
        self.last().into_iter().for_each(|function| function.arcs.end = end);
        Ok(())
    }

    fn lines(
        &mut self,
        record: &mut Words<'a>,
        blocks: u32,
        mut file: u32,
    ) -> Result<(), WordError> {
        let block = block(record, blocks)?;
        let start = self.notes.lines.len();
        loop {
            match record.word()? {
                0 => {
                    if let Some(last) = self.notes.lines[start..].last_mut() {
                        last.ends += 1;
                    }
                    match record.string()? {
                        b"" => break,
                        name => file = self.file(name),
                    }
                }
                line => self.notes.lines.push(Line { block, file, line, ends: 0 }),
            }
        }
        let end = self.notes.lines.len() as u32;
        self.last().into_iter().for_each(|function| function.lines.end = end);
        Ok(())
    }

    fn decisions(&mut self, record: &mut Words<'_>, blocks: u32) -> Result<(), WordError> {
        while !record.is_at_end() {
            let block = block(record, blocks)?;
            let (offset, conditions) = (record.offset(), record.word()?);
            if conditions > MOST_CONDITIONS {
                return Err(record.error_at(offset, WordDefect::Conditions(conditions)));
            }
            self.notes.decisions.push(DecisionNote { block, conditions });
        }
        let end = self.notes.decisions.len() as u32;
        self.last().into_iter().for_each(|function| function.decisions.end = end);
        Ok(())
    }

    /// The index of a source file; mostly it is that of the function at hand.
    fn file(&mut self, name: &'a [u8]) -> u32 {
        let last = self.notes.functions.last().map(|function| function.file);
        if let Some(last) = last.filter(|&last| self.notes.files[last as usize] == name) {
            return last;
        }
        let files = &mut self.notes.files;
        *self.places.entry(name).or_insert_with(|| {
            files.push(name);
            files.len() as u32 - 1
        })
    }
}

fn block(record: &mut Words<'_>, blocks: u32) -> Result<u32, WordError> {
    let (offset, found) = (record.offset(), record.word()?);
    if found >= blocks {
        return Err(record.error_at(offset, WordDefect::Block { blocks, found }));
    }
    Ok(found)
}

#[cfg(test)]
impl<'a> Notes<'a> {
    /// Notes of one function in the first of these files, for tests.
    pub(crate) fn of_one(
        name: &'a [u8],
        [start_line, end_line]: [u32; 2],
        blocks: u32,
        arcs: Vec<Arc>,
        lines: Vec<Line>,
        files: Vec<&'a [u8]>,
    ) -> Self {
        let function = Function {
            ident: 1,
            lineno_checksum: 0,
            cfg_checksum: 0,
            name,
            artificial: false,
            file: 0,
            start_line,
            end_line,
            blocks,
            paths: 0,
            arcs: 0..arcs.len() as u32,
            lines: 0..lines.len() as u32,
            decisions: 0..0,
        };
        let (version, functions) = (Version(0), [function].into());
        let decisions = Vec::new();
        Self { version, stamp: 0, directory: b"", functions, files, arcs, lines, decisions }
    }
}
