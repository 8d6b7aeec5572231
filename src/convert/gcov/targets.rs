//! Finds where the targets of indirect calls stand.
//!
//! The notes do not say which block holds which site; the machine code does ([`crate::placement::observe`]). Without
//! machine code this much is certain: sites are numbered in the order of their blocks, and a call ends its
//! block. So if a function has as many sites as blocks that end in a call, the k-th block is the k-th site's.
//! If that block has only one line, this is the line of the call. Other sites are dropped and counted.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use hashbrown::HashMap;

use super::names::Names;
use super::program_reader::{ProgramReader, Unplaced};
use super::statistics::Statistics;
use crate::convert::number::Number;
use crate::formats::gcno::Arc;
use crate::placement::assignment::Assignment;
use crate::placement::observe::{Evidence, SourcePosition};
use crate::placement::project::ProfilePosition;
use crate::placement::reader::Reader;
use crate::placement::solve::counted::{Counted, Line};
use crate::placement::solve::flow::Flow;
use crate::placement::starts::Starts;
use crate::profile::{FileId, Newcomers, Position, Profile, SymbolId, Symbols};
use crate::raw::dump::SiteView;
use crate::raw::gcov::Kind;

/// The functions that no notes know, by their names in the binaries.
pub(super) struct Callees<'c, S> {
    program: &'c S,
    symbols: &'c Symbols,
    newcomers: Newcomers<'c>,
    /// By ident.
    known: HashMap<u32, Option<SymbolId>>,
}

impl<'c, S: ProgramReader> Callees<'c, S> {
    /// Those that are called come to these symbols.
    pub(super) fn new(program: &'c S, symbols: &'c Symbols) -> Self {
        let newcomers = Newcomers::beside(symbols);
        Self { program, symbols, newcomers, known: HashMap::new() }
    }

    /// The names of the new symbols.
    pub(super) fn names(self) -> Vec<Vec<u8>> {
        self.newcomers.names()
    }

    fn symbol(&mut self, ident: u32) -> Option<SymbolId> {
        let Self { program, newcomers, known, .. } = self;
        let named = || program.function(ident).map(|name| newcomers.symbol(name));
        *known.entry(ident).or_insert_with(named)
    }
}

/// A place in the profile, and the line in a file that it is.
struct Located {
    place: ProfilePosition,
    file: FileId,
    line: u32,
}

/// What the sites of indirect calls are added to.
pub(super) struct Sites<'c> {
    pub(super) profile: &'c mut Profile,
    pub(super) statistics: &'c mut Statistics,
    /// The functions that notes know.
    pub(super) names: &'c Names,
    pub(super) reader: Reader,
    /// Whether to name everything that is dropped.
    pub(super) verbose: bool,
}

impl Sites<'_> {
    /// Puts the targets of a function's indirect calls at their lines.
    pub(super) fn add(
        &mut self,
        (function, flow): (&Counted<'_>, &Flow),
        (evidence, has_code): (&Evidence, bool),
        starts: &Starts,
        callees: &mut Callees<'_, impl ProgramReader>,
    ) {
        for (view, _) in &function.views {
            let sites = view.sites(Kind::INDIRECT_CALL);
            if sites.clone().all(|site| site.total == 0) {
                continue;
            }
            let calls = call_blocks(function.arcs());
            let in_order = calls.len() == sites.len();
            for (number, site) in sites.enumerate().filter(|(_, site)| site.total != 0) {
                let place = match self.in_code(function, evidence, number as u32, has_code) {
                    Err(why) if why != Unplaced::SeveralLines && in_order => calls
                        .get(number)
                        .and_then(|&block| self.in_order((function, flow), starts, block, &site))
                        .ok_or(why),
                    place => place,
                };
                let block = calls.get(number).filter(|_| in_order).copied();
                match place {
                    Ok(located) => self.site(&located, &site, callees),
                    Err(why) => {
                        self.unplaced(function, block, (number, &site), why, callees.symbols);
                    }
                }
            }
        }
    }

    fn in_code(
        &self,
        function: &Counted<'_>,
        evidence: &Evidence,
        site: u32,
        has_code: bool,
    ) -> Result<Located, Unplaced> {
        let mut places: Vec<SourcePosition> =
            evidence.sites.iter().filter(|(of, _)| *of == site).map(|(_, at)| *at).collect();
        places.sort_unstable();
        let Some(&first) = places.first() else {
            return Err(if has_code { Unplaced::NoCall } else { Unplaced::NoCode });
        };
        if places.iter().any(|at| (at.file, at.line) != (first.file, first.line)) {
            return Err(Unplaced::SeveralLines);
        }
        let assignment = Assignment::of(evidence.instances.clone());
        let start = assignment.instances[first.instance as usize].start;
        let line = first.line.wrapping_sub(start) & 0xffff;
        let discriminator = if self.reader.discriminators { first.discriminator } else { 0 };
        let position = Position { line, discriminator };
        let place =
            assignment.place_of(function.symbol, first.instance, position, self.reader.inline);
        Ok(Located { place, file: first.file, line: first.line })
    }

    /// Drops a site. Its block tells the line, if the block is known.
    fn unplaced(
        &mut self,
        function: &Counted<'_>,
        block: Option<u32>,
        (number, site): (usize, &SiteView<'_>),
        why: Unplaced,
        symbols: &Symbols,
    ) {
        *self.statistics.sites_unplaced.entry(why).or_default() += 1;
        let line = block.and_then(|block| function.lines_in_order(block).next_back());
        let (file, line) = line.unwrap_or((function.file, function.start()));
        let name = String::from_utf8_lossy(function.notes.name);
        let calls = Number(site.total.unsigned_abs(), "call");
        self.tell(symbols, file, line, format_args!("{calls} in {name}, site {number}, {why}"));
    }

    /// Tells what is dropped and where, if that is asked for.
    fn tell(&mut self, symbols: &Symbols, file: FileId, line: u32, what: fmt::Arguments<'_>) {
        if self.verbose {
            let path = String::from_utf8_lossy(symbols.path(file));
            self.statistics.details.push(format!("{path}:{line}: {what}; dropped"));
        }
    }

    /// The place of the call that ends a block, if it is certain.
    fn in_order(
        &self,
        (function, flow): (&Counted<'_>, &Flow),
        starts: &Starts,
        block: u32,
        site: &SiteView<'_>,
    ) -> Option<Located> {
        // More events than executions: this is not the site's block after all.
        let fits = site.total.checked_abs()? <= flow.blocks[block as usize];
        let line = only_line(&function.lines, block).filter(|_| fits)?;
        let range = function.start()..=function.notes.end_line;
        let is_own = line.file == function.file && range.contains(&line.line);
        if !is_own && !function.has_by_home(line, starts) {
            return None;
        }
        let position = Position::line(line.line.wrapping_sub(function.start()) & 0xffff);
        let place = ProfilePosition { function: function.symbol, within: Vec::new(), position };
        Some(Located { place, file: line.file, line: line.line })
    }

    fn site(
        &mut self,
        &Located { ref place, file, line }: &Located,
        site: &SiteView<'_>,
        callees: &mut Callees<'_, impl ProgramReader>,
    ) {
        self.statistics.sites += 1;
        self.statistics.calls_lost = self.statistics.calls_lost.saturating_add(site.lost());
        if site.lost() > 0 {
            let calls = Number(site.lost(), "call");
            self.tell(callees.symbols, file, line, format_args!("{calls} of a full site"));
        }
        let record = place.record(self.profile);
        record.target_error = record.target_error.saturating_add(site.error.unsigned_abs());
        let least = record.count.get_or_insert(0);
        *least = site.total.unsigned_abs().max(*least);
        for pair in site.pairs.iter().filter(|pair| pair.count > 0) {
            let Some(target) = self.callee(pair.value, callees) else {
                self.statistics.targets_unnamed += 1;
                let calls = Number(pair.count as u64, "call");
                let what = "of a function without a name";
                self.tell(callees.symbols, file, line, format_args!("{calls} {what}"));
                continue;
            };
            let record = place.record(self.profile);
            let sum = record.targets.entry(target).or_default();
            *sum = sum.saturating_add(pair.count as u64);
            // Calls of several sites may stand here, each executed as often as it calls.
            let all = record.targets.values().fold(0u64, |sum, &calls| sum.saturating_add(calls));
            record.count = record.count.max(Some(all));
        }
    }

    fn callee(
        &self,
        ident: i64,
        callees: &mut Callees<'_, impl ProgramReader>,
    ) -> Option<SymbolId> {
        self.names.symbol(ident).or_else(|| callees.symbol(u32::try_from(ident).ok()?))
    }
}

/// Blocks that end in a call, ascending: those with a fake arc to the exit.
fn call_blocks(arcs: &[Arc]) -> Vec<u32> {
    let calls = arcs.iter().filter(|arc| arc.is_fake() && arc.source != 0);
    let mut blocks: Vec<u32> = calls.map(|arc| arc.source).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The line of a block that has only one.
fn only_line(lines: &[Line], block: u32) -> Option<&Line> {
    let mut lines = lines.iter().filter(|line| line.block == block);
    match (lines.next(), lines.next()) {
        (Some(line), None) => Some(line),
        _ => None,
    }
}
