//! The locations of a function, read one after the other and without a copy.

use alloc::vec::Vec;
use core::mem;

use super::check::{Defect, Finding, Findings, Part, Tell};
use super::number::Input;
use super::table::encoding;
use super::{HIGH, location, section};
use crate::profile::{DEEPEST, Position};

/// A function's counts, as the bytes of its section.
///
/// The items are the function's records in the order of the file. The records of an inlined body follow the
/// record that announces it, and are one level deeper. An error ends the items.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    /// Times the function was entered.
    pub head_count: u64,
    /// Rank by first execution, 0 if unknown.
    pub timestamp: u64,
    /// Defects that were tolerated so far.
    pub findings: Findings,
    pub(super) input: Input<'a>,
    /// Locations still to come, of the function and of each open body.
    left: Vec<usize>,
    /// Where targets are still to come, and how many.
    targets: Option<(Position, usize)>,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Where the record starts in the file.
    pub offset: u64,
    /// Number of inlined bodies around the record.
    pub depth: usize,
    /// The record's place in the source of the innermost body.
    pub position: Position,
    /// What the record says.
    pub what: What,
}

/// What a record says of its position. Symbols are ids of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It was executed this many times.
    Count(u64),
    /// A function was called.
    Target {
        /// The function.
        symbol: u32,
        /// Number of calls.
        calls: u64,
    },
    /// A function was inlined; its records follow.
    Inlined(u32),
}

impl<'a> Records<'a> {
    /// The records in an info section, its first byte included. Places are those in the section.
    pub fn of_section(section: &'a [u8]) -> Result<Self, Finding> {
        let kind = Part::Section(section::SYMBOL_INFO);
        let mut input = Input::new(section, kind, 0, section.len());
        let first = input.byte()?;
        if first & !HIGH != section::SYMBOL_INFO {
            let (expected, found) = (section::SYMBOL_INFO, first & !HIGH);
            return input.error(0, Defect::SectionType { expected, found });
        }
        input.set_encoding(encoding(first));
        Self::new(input)
    }

    /// Starts after the first byte of an info section.
    pub(super) fn new(mut input: Input<'a>) -> Result<Self, Finding> {
        let (head_count, timestamp) = (input.u64()?, input.u64()?);
        let left = Vec::from([input.count(4, 2)?]);
        Ok(Self {
            head_count,
            timestamp,
            findings: Findings::default(),
            input,
            left,
            targets: None,
        })
    }

    /// The next record. Tells of tolerated defects instead of noting them.
    pub(super) fn next_or_tell(&mut self, tell: Tell<'_>) -> Option<Result<Record, Finding>> {
        let record = self.read(tell);
        if record.is_err() {
            (self.left, self.targets) = (Vec::new(), None);
        }
        record.transpose()
    }

    fn read(&mut self, tell: Tell<'_>) -> Result<Option<Record>, Finding> {
        loop {
            if let Some((position, left)) = self.targets.take_if(|(_, left)| *left > 0) {
                self.targets = Some((position, left - 1));
                return self.target(position).map(Some);
            }
            while self.left.last() == Some(&0) {
                self.left.pop();
            }
            let Some(left) = self.left.last_mut() else { return Ok(None) };
            *left -= 1;
            if let Some(record) = self.location(tell)? {
                return Ok(Some(record));
            }
        }
    }

    /// Reads a location up to what is inlined there; `None` if targets follow, or if its type is unknown.
    fn location(&mut self, tell: Tell<'_>) -> Result<Option<Record>, Finding> {
        let offset = self.input.offset();
        let mut note = |defect| tell(Finding { offset, defect });
        let first = self.input.byte()?;
        let line = self.input.u24()?;
        let discriminator = if first & HIGH != 0 { self.input.u16()? } else { 0 };
        if first & HIGH != 0 && discriminator == 0 {
            note(Defect::ZeroDiscriminator);
        }
        let position = Position { line, discriminator };
        let what = match first & !HIGH {
            location::ZERO => What::Count(0),
            // In compact form a large count is no harm (D31).
            location::NORMAL if self.input.is_compact() => What::Count(self.input.u64()?),
            location::NORMAL => What::Count(self.input.u32()?.into()),
            location::WIDE => What::Count(self.input.u64()?),
            location::CALLED => return self.target(position).map(Some),
            location::CALLED_SEVERAL => {
                let number = self.input.count(4, 2)?;
                if number < 2 {
                    note(Defect::Targets(number as u32));
                }
                self.targets = Some((position, number));
                return Ok(None);
            }
            location::INLINED => return self.inlined(offset, position).map(Some),
            kind => {
                let size = self.input.u32()?;
                self.input.take(size as usize)?;
                note(Defect::UnknownLocation(kind));
                return Ok(None);
            }
        };
        Ok(Some(Record { offset, depth: self.depth(), position, what }))
    }

    fn target(&mut self, position: Position) -> Result<Record, Finding> {
        let offset = self.input.offset();
        let what = What::Target { symbol: self.input.u32()?, calls: self.input.u64()? };
        Ok(Record { offset, depth: self.depth(), position, what })
    }

    fn inlined(&mut self, offset: u64, position: Position) -> Result<Record, Finding> {
        let (depth, what) = (self.depth(), What::Inlined(self.input.u32()?));
        if depth >= DEEPEST {
            return self.input.error(offset, Defect::Depth);
        }
        self.left.push(self.input.count(4, 2)?);
        Ok(Record { offset, depth, position, what })
    }

    fn depth(&self) -> usize {
        self.left.len() - 1
    }
}

impl Iterator for Records<'_> {
    type Item = Result<Record, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut findings = mem::take(&mut self.findings);
        let record = self.next_or_tell(&mut |finding| _ = findings.note(finding));
        self.findings = findings;
        record
    }
}
