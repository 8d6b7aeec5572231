//! Reads a function's instance, with those inlined in it, as a body of the profile model.

use alloc::vec::Vec;

use super::INDIRECT_CALL;
use super::check::{Defect, Finding, Tell};
use super::words::Words;
use crate::profile::{Body, DEEPEST, LARGEST_COUNT, Position, Record, SymbolId};

pub struct Instances<'r, 'a> {
    words: &'r mut Words<'a>,
    symbols: &'r [Option<SymbolId>],
    tell: Tell<'r>,
}

/// An instance being read.
struct Level {
    symbol: SymbolId,
    body: Body,
    /// Call sites still to come.
    left: usize,
}

/// Where an inlined body belongs.
struct Place {
    offset: u64,
    position: Position,
}

impl<'r, 'a> Instances<'r, 'a> {
    pub fn new(words: &'r mut Words<'a>, symbols: &'r [Option<SymbolId>], tell: Tell<'r>) -> Self {
        Self { words, symbols, tell }
    }

    /// Reads an instance and the instances inlined in it.
    pub fn read(&mut self) -> Result<(SymbolId, Body), Finding> {
        let mut outer: Vec<(Level, Place)> = Vec::new();
        let mut level = self.level()?;
        loop {
            if level.left > 0 {
                level.left -= 1;
                let offset = self.words.offset();
                if outer.len() >= DEEPEST {
                    return self.words.error(offset, Defect::Depth);
                }
                let place = Place { offset, position: self.location()? };
                let inner = self.level()?;
                outer.push((core::mem::replace(&mut level, inner), place));
                continue;
            }
            level.body.shrink();
            let Some((around, place)) = outer.pop() else { return Ok((level.symbol, level.body)) };
            let inner = core::mem::replace(&mut level, around);
            let record = level.body.positions.entry(place.position).or_default();
            if record.inlined.contains_key(&inner.symbol) {
                self.note(place.offset, Defect::DuplicateLocation);
            }
            record.inline(inner.symbol, inner.body);
        }
    }

    /// Reads an instance up to its call sites.
    fn level(&mut self) -> Result<Level, Finding> {
        let offset = self.words.offset();
        let name = self.words.word()?;
        let symbol = self.symbol(offset, name.into())?;
        let positions = self.words.count(16)?;
        let left = self.words.count(16)?;
        let mut body = Body::default();
        for _ in 0..positions {
            self.position(&mut body)?;
        }
        Ok(Level { symbol, body, left })
    }

    fn position(&mut self, body: &mut Body) -> Result<(), Finding> {
        let offset = self.words.offset();
        let position = self.location()?;
        let targets = self.words.word()?;
        let count = self.count()?;
        let record = body.positions.entry(position).or_default();
        if record.count.is_some() {
            self.note(offset, Defect::DuplicateLocation);
        }
        let sum = record.count.get_or_insert(0);
        *sum = sum.saturating_add(count);
        (0..targets).try_for_each(|_| self.target(record))
    }

    fn target(&mut self, record: &mut Record) -> Result<(), Finding> {
        let offset = self.words.offset();
        let kind = self.words.word()?;
        if kind != INDIRECT_CALL {
            self.note(offset, Defect::TargetType(kind));
        }
        let name = self.words.value()?;
        let target = self.symbol(offset + 4, name)?;
        let calls = self.count()?;
        if record.targets.contains_key(&target) {
            self.note(offset, Defect::DuplicateLocation);
        }
        let sum = record.targets.entry(target).or_default();
        *sum = sum.saturating_add(calls);
        Ok(())
    }

    fn location(&mut self) -> Result<Position, Finding> {
        let location = self.words.word()?;
        Ok(Position { line: location >> 16, discriminator: location as u16 })
    }

    fn count(&mut self) -> Result<u64, Finding> {
        let offset = self.words.offset();
        let count = self.words.value()?;
        if count > LARGEST_COUNT {
            self.note(offset, Defect::LargeCount(count));
        }
        Ok(count)
    }

    fn symbol(&self, offset: u64, index: u64) -> Result<SymbolId, Finding> {
        let place = usize::try_from(index).ok().and_then(|index| self.symbols.get(index));
        match place {
            Some(&Some(symbol)) => Ok(symbol),
            _ => self.words.error(offset, Defect::NameIndex(index)),
        }
    }

    fn note(&mut self, offset: u64, defect: Defect) {
        (self.tell)(Finding { offset, defect });
    }
}
