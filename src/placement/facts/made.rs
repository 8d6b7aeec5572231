//! Made-up functions, for the tests of rules.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::{Facts, preheaders};
use crate::formats::gcno::{self, Arc, Notes};
use crate::placement::assignment::Assignment;
use crate::placement::observe::{InlineInstance, Observation, SourcePosition};
use crate::placement::solve::counted::{self, Counted};
use crate::placement::solve::flow::Flow;
use crate::placement::starts::{Start, Starts};
use crate::placement::{self, Rule, RuleSet};
use crate::profile::{FileId, Position, SymbolId, Symbols};

/// Lines of the function `main` in `a.c`.
pub const LINES: [u32; 2] = [100, 199];
/// The line of `copy` in `a.h`.
pub const COPY: u32 = 10;

/// A position as rules place it: copy, line, discriminator, block, count, rule.
pub type Placed = (u32, u32, u16, u32, u64, Rule);

/// A function, and what the code shows of it.
pub struct Made {
    function: Counted<'static>,
    flow: Flow,
    starts: Starts,
    symbols: Symbols,
    pub files: [FileId; 2],
    instances: Vec<InlineInstance>,
    observations: Vec<Observation>,
}

impl Made {
    /// `main`, with lines of these blocks: block, index of the file, line. Blocks 0 and 1 are entry and exit.
    pub fn new(lines: &[(u32, u32, u32)], arcs: &[(u32, u32)], counts: &[i64]) -> Self {
        let arcs = arcs.iter().map(|&(from, to)| Arc::new(from, to, 0)).collect();
        let line = |&(block, file, line)| gcno::Line { block, file, line, ends: 0 };
        let lines = lines.iter().map(line).collect();
        let blocks = counts.len() as u32;
        let notes = Notes::of_one(b"main", LINES, blocks, arcs, lines, vec![b"a.c", b"a.h"]);
        let notes: &'static Notes<'static> = Box::leak(Box::new(notes));
        let mut symbols = Symbols::default();
        let files = [b"a.c", b"a.h"].map(|file| symbols.file(file));
        let symbol = symbols.symbol(b"main", Some(files[0]));
        let mut starts = Starts::default();
        let [start, end] = LINES;
        let start = Start { line: start, symbol, end: Some(end), is_outer: false };
        starts.add(files[0], start);
        let known = counted::Known::new(notes, vec![symbol], files.to_vec());
        let flow = Flow { blocks: counts.to_vec(), arcs: Vec::new(), mended: false };
        let function = Counted::made(Box::leak(Box::new(known)), flow.clone());
        let instances = vec![InlineInstance::itself(symbol, LINES[0], files[0])];
        Self { function, flow, starts, symbols, files, instances, observations: Vec::new() }
    }

    fn inlined(&mut self, name: &[u8]) -> SymbolId {
        let symbol = self.symbols.symbol(name, Some(self.files[1]));
        let start = Start { line: COPY, symbol, end: None, is_outer: false };
        self.starts.add(self.files[1], start);
        symbol
    }

    /// Adds a copy of the function `copy`, which `main` calls at a line.
    pub fn copy(&mut self, line: u32) -> u32 {
        self.instance(b"copy", line)
    }

    /// Adds a copy of another function that is declared at the place of `copy`, as instances of a template are.
    pub fn instance(&mut self, name: &[u8], line: u32) -> u32 {
        let (symbol, file) = (self.inlined(name), self.files[1]);
        let call = Position::line(line - LINES[0]);
        let instance =
            InlineInstance { caller: 0, call, symbol, start: COPY, file, calls: 1, column: 0 };
        self.instances.push(instance);
        self.instances.len() as u32 - 1
    }

    /// A function `copy` that is known, and not known to be inlined.
    pub fn declare(&mut self) {
        let symbol = self.inlined(b"copy");
        let end = Some(COPY + 20);
        self.starts.add(self.files[1], Start { line: COPY, symbol, end, is_outer: false });
    }

    /// Instructions of a position that were executed so often, if that is known.
    pub fn observe(&mut self, instance: u32, line: u32, discriminator: u16, count: Option<i64>) {
        let file = self.files[usize::from(instance != 0)];
        let at = SourcePosition { instance, file, line, discriminator };
        let observation =
            Observation { at, count, before: None, instructions: 2, is_sum: false, is_join: false };
        self.observations.push(observation);
    }

    /// The code of a position is at a join.
    pub fn observe_at_join(&mut self, line: u32, count: i64) {
        self.observe(0, line, 0, Some(count));
        self.observations.last_mut().unwrap().is_join = true;
    }

    /// What these rules find, sorted.
    pub fn place(mut self, rules: RuleSet) -> Vec<Placed> {
        self.starts.sort();
        self.observations.sort_by_key(|observation| {
            let SourcePosition { instance, file, line, discriminator } = observation.at;
            (file, line, instance, discriminator)
        });
        let known = (&*self.instances, &*self.observations);
        let about = (&self.starts, &self.symbols);
        let mut memory = preheaders::LoopMemory::default();
        let (function, flow) = (&self.function, &self.flow);
        let facts = Facts::gather(function, flow, known, about, rules, &mut memory);
        let Assignment { placed, .. } = placement::place(&facts);
        let placed = placed.iter().map(|placed| {
            let SourcePosition { instance, line, discriminator, .. } = placed.at;
            (instance, line, discriminator, placed.block, placed.count, placed.rule)
        });
        let mut placed: Vec<Placed> = placed.collect();
        placed.sort_unstable();
        placed
    }
}
