//! Reads `.gcno` files.

use alloc::vec::Vec;

use super::MAGIC;
use crate::formats::words::{WordDefect, WordError, Words};
use crate::raw::gcov::Version;

const FUNCTION: u32 = 0x0100_0000;
const BLOCKS: u32 = 0x0141_0000;
const ARCS: u32 = 0x0143_0000;
/// Bytes of tag, length and source block.
const SMALLEST_ARCS: u64 = 12;
const LINES: u32 = 0x0145_0000;

/// The notes of one object.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    /// Compiler that wrote them.
    pub version: Version,
    /// Time of compilation, equal in the object.
    pub stamp: u32,
    /// Directory in which the compiler ran.
    pub directory: &'a [u8],
    /// In the order of the object, with some that the object does not have.
    pub functions: Vec<Function<'a>>,
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
    /// Source file, as it was spelled to the compiler.
    pub source: &'a [u8],
    /// Line of its declaration, from which AutoFDO counts.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Number of blocks, entry and exit included.
    pub blocks: u32,
    /// Arcs in the order of the file, which is that of their counters.
    pub arcs: Vec<Arc>,
    /// Lines of all blocks, in the order of the file.
    pub lines: Vec<Line<'a>>,
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
pub struct Line<'a> {
    /// The block.
    pub block: u32,
    /// Source file.
    pub file: &'a [u8],
    /// Line number, from 1.
    pub line: u32,
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

    /// Whether no jump takes it: a call that may not come back, or an entry from elsewhere.
    pub const fn is_fake(&self) -> bool {
        self.flags & 2 != 0
    }
}

impl<'a> Notes<'a> {
    /// Reads a file.
    pub fn decode(bytes: &'a [u8]) -> Result<Self, WordError> {
        let mut words = Words::open(bytes, MAGIC)?;
        let stamp = words.word()?;
        if words.version.counts_bytes() {
            words.word()?;
        }
        let directory = words.string()?;
        words.word()?;
        let version = words.version;
        let mut notes = Self { version, stamp, directory, functions: Vec::new() };
        while !words.is_at_end() {
            notes.record(&mut words)?;
        }
        Ok(notes)
    }

    fn record(&mut self, words: &mut Words<'a>) -> Result<(), WordError> {
        let start = words.offset();
        let tag = words.word()?;
        let found = words.length()?;
        let length = usize::try_from(found)
            .map_err(|_| words.error_at(start, WordDefect::Length { tag, found: found as u64 }))?;
        let mut record = words.record(length)?;
        let orphan = record.error_at(start, WordDefect::Order(tag));
        match tag {
            FUNCTION => self.functions.push(Function::decode(&mut record)?),
            BLOCKS => {
                let blocks = record.word()?;
                // Every block but the exit has a record of arcs, if an empty one.
                if u64::from(blocks.saturating_sub(1)) * SMALLEST_ARCS > words.left() as u64 {
                    let defect = WordDefect::Length { tag, found: u64::from(blocks) };
                    return Err(record.error_at(start, defect));
                }
                let function = self.last(orphan)?;
                // Blocks that arcs and lines speak of cannot be taken back.
                if function.blocks != 0 {
                    return Err(orphan);
                }
                function.blocks = blocks;
            }
            ARCS => self.last(orphan)?.decode_arcs(&mut record)?,
            LINES => self.last(orphan)?.decode_lines(&mut record)?,
            _ => {}
        }
        Ok(())
    }

    fn last(&mut self, orphan: WordError) -> Result<&mut Function<'a>, WordError> {
        self.functions.last_mut().ok_or(orphan)
    }
}

impl<'a> Function<'a> {
    fn decode(record: &mut Words<'a>) -> Result<Self, WordError> {
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
        Ok(Self {
            ident,
            lineno_checksum,
            cfg_checksum,
            name,
            artificial,
            source,
            start_line,
            end_line,
            blocks: 0,
            arcs: Vec::new(),
            lines: Vec::new(),
        })
    }

    fn decode_arcs(&mut self, record: &mut Words<'a>) -> Result<(), WordError> {
        let source = self.block(record)?;
        while !record.is_at_end() {
            let destination = self.block(record)?;
            self.arcs.push(Arc::new(source, destination, record.word()?));
        }
        Ok(())
    }

    fn decode_lines(&mut self, record: &mut Words<'a>) -> Result<(), WordError> {
        let block = self.block(record)?;
        let mut file = self.source;
        loop {
            match record.word()? {
                0 => match record.string()? {
                    b"" => return Ok(()),
                    name => file = name,
                },
                line => self.lines.push(Line { block, file, line }),
            }
        }
    }

    fn block(&self, record: &mut Words<'a>) -> Result<u32, WordError> {
        let (offset, found) = (record.offset(), record.word()?);
        if found >= self.blocks {
            let defect = WordDefect::Block { blocks: self.blocks, found };
            return Err(record.error_at(offset, defect));
        }
        Ok(found)
    }
}
