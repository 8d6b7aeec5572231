//! Reads names, contexts, functions and summaries from a section's bytes into a profile. The readers of whole files
//! and of single functions share it.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Tell};
use super::names::Names;
use super::words::Words;
use crate::formats::llvm_sample_text::line::frames;
use crate::profile::Cutoff;
use crate::profile::{DEEPEST, Map, Summary, SymbolId};
use crate::samples::{Body, ContextId, Frame, Record, Samples, Site};

/// Reads into a profile. Only names that something refers to become symbols.
pub struct Reader<'n, 'a> {
    names: &'n Names<'a>,
    /// For each name its symbol, if something has referred to it.
    symbols: Vec<Option<SymbolId>>,
    /// The profile.
    pub samples: Samples,
    /// Whether bodies end with types of virtual tables.
    pub has_virtual_tables: bool,
}

/// A body being read.
struct Level {
    body: Body,
    /// Number of inlined copies that follow.
    left: usize,
}

impl<'n, 'a> Reader<'n, 'a> {
    pub fn new(names: &'n Names<'a>, has_virtual_tables: bool) -> Self {
        let symbols = alloc::vec![None; names.len()];
        Self { names, symbols, samples: Samples::default(), has_virtual_tables }
    }

    /// Reads a name.
    pub fn symbol(&mut self, words: &mut Words<'_>) -> Result<SymbolId, Finding> {
        let index = self.names.index(words)?;
        if let Some(symbol) = self.symbols[index] {
            return Ok(symbol);
        }
        let symbol = self.names.with(index, |name| self.samples.symbol(name));
        self.symbols[index] = symbol;
        let defect = Defect::NameIndex(index as u64);
        symbol.ok_or(Finding { offset: words.offset(), defect })
    }

    /// Reads the name of a function with a context, which is the context as text.
    pub fn named_context(&mut self, words: &mut Words<'_>) -> Result<ContextId, Finding> {
        let offset = words.offset();
        let index = self.names.index(words)?;
        let samples = &mut self.samples;
        let context = self.names.with(index, |name| {
            let frames = frames(name)?.into_iter();
            let frame = |(name, site)| Frame { function: samples.symbol(name), site };
            let frames: Vec<Frame> = frames.map(frame).collect();
            samples.contexts.of(&frames)
        });
        context.flatten().ok_or(Finding { offset, defect: Defect::NoFrames })
    }

    /// Reads the frames of a context.
    pub fn context(&mut self, words: &mut Words<'_>) -> Result<ContextId, Finding> {
        let offset = words.offset();
        let frames = words.count(3)?;
        let frame = |_| {
            let function = self.symbol(words)?;
            Ok(Frame { function, site: site(words)? })
        };
        let frames = (0..frames).map(frame).collect::<Result<Vec<Frame>, Finding>>()?;
        let context = self.samples.contexts.of(&frames);
        context.ok_or(Finding { offset, defect: Defect::NoFrames })
    }

    /// Reads a body with its inlined copies.
    pub fn body(&mut self, words: &mut Words<'_>, tell: Tell<'_>) -> Result<Body, Finding> {
        let mut outer: Vec<(Level, (Site, SymbolId), u64)> = Vec::new();
        let mut level = self.level(words, tell)?;
        loop {
            if level.left > 0 {
                level.left -= 1;
                let offset = words.offset();
                if outer.len() >= DEEPEST {
                    return words.fail(Defect::Depth);
                }
                let site = site(words)?;
                let place = (site, self.symbol(words)?);
                let inner = self.level(words, tell)?;
                outer.push((core::mem::replace(&mut level, inner), place, offset));
                continue;
            }
            if self.has_virtual_tables {
                self.virtual_tables(words, tell)?;
            }
            let Some((around, place, offset)) = outer.pop() else { return Ok(level.body) };
            let inner = core::mem::replace(&mut level, around);
            if level.body.inlined.contains_key(&place) {
                tell(Finding { offset, defect: Defect::DuplicateLocation });
            }
            level.body.add_inlined(place, inner.body);
        }
    }

    /// Reads a body up to its inlined copies.
    fn level(&mut self, words: &mut Words<'_>, tell: Tell<'_>) -> Result<Level, Finding> {
        let mut body = Body { total: words.number()?, ..Body::default() };
        let records = words.count(4)?;
        let mut sorted = Vec::with_capacity(records);
        for _ in 0..records {
            let offset = words.offset();
            let site = site(words)?;
            sorted.push((site, self.record(words, tell)?));
            if let [.., (before, _), (site, _)] = &sorted[..]
                && before >= site
            {
                // The record is out of order, or the second one of its site.
                let (site, record) = sorted.pop().unwrap_or_default();
                let mut known = Map::from_sorted_store_unchecked(core::mem::take(&mut sorted));
                if known.contains_key(&site) {
                    tell(Finding { offset, defect: Defect::DuplicateLocation });
                }
                core::mem::swap(&mut body.records, &mut known);
                body.add_record(site, record);
                sorted = core::mem::take(&mut body.records).into_tuple_vec();
            }
        }
        body.records = Map::from_sorted_store_unchecked(sorted);
        let left = words.count(5)?;
        Ok(Level { body, left })
    }

    fn record(&mut self, words: &mut Words<'_>, tell: Tell<'_>) -> Result<Record, Finding> {
        let mut record = Record { count: words.number()?, ..Record::default() };
        for _ in 0..words.count(2)? {
            let offset = words.offset();
            let target = self.symbol(words)?;
            let calls = words.number()?;
            if record.targets.contains_key(&target) {
                tell(Finding { offset, defect: Defect::DuplicateLocation });
            }
            let sum = record.targets.entry(target).or_default();
            *sum = sum.saturating_add(calls);
        }
        Ok(record)
    }

    fn virtual_tables(&mut self, words: &mut Words<'_>, tell: Tell<'_>) -> Result<(), Finding> {
        let offset = words.offset();
        let sites = words.count(3)?;
        if sites > 0 {
            tell(Finding { offset, defect: Defect::VirtualTables });
        }
        for _ in 0..sites {
            site(words)?;
            for _ in 0..words.count(2)? {
                self.symbol(words)?;
                words.number()?;
            }
        }
        Ok(())
    }
}

/// Reads a position.
pub fn site(words: &mut Words<'_>) -> Result<Site, Finding> {
    Ok(Site { line: words.u32()?, discriminator: words.u32()? })
}

/// Reads a summary.
pub fn summary(words: &mut Words<'_>) -> Result<Summary, Finding> {
    let mut summary = Summary {
        total_count: words.number()?,
        max_count: words.number()?,
        max_function_count: words.number()?,
        counts: words.number()?,
        functions: words.number()?,
        cutoffs: Vec::new(),
    };
    for _ in 0..words.count(3)? {
        let share = words.u32()?;
        let (min_count, counts) = (words.number()?, words.number()?);
        summary.cutoffs.push(Cutoff { share, min_count, counts });
    }
    Ok(summary)
}
