//! Where the targets of indirect calls stand.
//!
//! The notes do not say which block holds which site; the machine code does ([`Sources::call`]). Where
//! there is none, this much is certain: sites are numbered in the order of their blocks, and a call
//! ends its block. So where a function has as many blocks that end in a call as sites, the k-th block
//! is the k-th site's; and where that block has one line only, that is the line of the call. Sites
//! elsewhere are dropped and counted.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::profile::{Call, Conversion, Counted, Place, Sources};
use crate::formats::gcno::{self, Line};
use crate::profile::{Position, SymbolId};
use crate::raw::dump::{FunctionView, SiteView};
use crate::raw::gcov::Kind;

impl Conversion {
    /// Puts the targets of a function's indirect calls at their lines.
    pub(super) fn targets(
        &mut self,
        view: &FunctionView<'_>,
        module: usize,
        counted: &Counted<'_>,
        sources: &impl Sources,
    ) {
        let sites = view.sites(Kind::INDIRECT_CALL);
        let calls = call_blocks(counted.notes);
        let in_order = calls.len() == sites.len();
        for (number, site) in sites.enumerate().filter(|(_, site)| site.total != 0) {
            let place = match sources.call(module, view, number) {
                Some(call) => self.place_in_code(counted, &call),
                None => calls
                    .get(number)
                    .filter(|_| in_order)
                    .and_then(|&block| self.place_in_order(counted, block, &site)),
            };
            match place {
                Some(place) => self.site(place, &site, sources),
                None => self.unplaced(counted, number, sources),
            }
        }
    }

    fn unplaced(&mut self, counted: &Counted<'_>, number: usize, sources: &impl Sources) {
        self.statistics.sites_unplaced += 1;
        if sources.wants_details() {
            let name = String::from_utf8_lossy(counted.notes.name);
            let what = format!("{name}: line of indirect call {number} is not certain; dropped");
            self.statistics.details.push(what);
        }
    }

    /// The place of a call that was found in the machine code: in the function that the notes name
    /// for its line, or in one that exists only inlined, which they do not know.
    fn place_in_code(&mut self, counted: &Counted<'_>, call: &Call) -> Option<Place> {
        let file = self.profile.symbols.file(&call.at.path);
        let (symbol, position) = match (self.place(counted, file, call.at.line), &call.function) {
            (Some(place), _) => place,
            (None, None) => return None,
            (None, Some(function)) => {
                let symbols = &mut self.profile.symbols;
                let file = symbols.file(&function.path);
                let line = call.at.line.checked_sub(function.line)?;
                (symbols.symbol(&function.name, Some(file)), Position::line(line))
            }
        };
        Some((symbol, Position { discriminator: call.at.discriminator, ..position }))
    }

    /// The place of the call that ends a block, if it is certain.
    fn place_in_order(
        &self,
        counted: &Counted<'_>,
        block: u32,
        site: &SiteView<'_>,
    ) -> Option<Place> {
        // More arrivals than executions: this is not the site's block after all.
        let fits = site.total.checked_abs()? <= counted.flow.blocks[block as usize];
        let line = only_line(counted.notes, block).filter(|_| fits)?;
        self.place(counted, counted.files[line.file], line.line)
    }

    fn site(&mut self, place: Place, site: &SiteView<'_>, sources: &impl Sources) {
        self.statistics.sites += 1;
        self.statistics.calls_lost = self.statistics.calls_lost.saturating_add(site.lost());
        for pair in site.pairs.iter().filter(|pair| pair.count > 0) {
            let Some(target) = self.callee(pair.value, sources) else {
                self.statistics.targets_unnamed += 1;
                continue;
            };
            let sum = self.record(place).targets.entry(target).or_default();
            *sum = sum.saturating_add(pair.count as u64);
        }
    }

    fn callee(&mut self, ident: i64, sources: &impl Sources) -> Option<SymbolId> {
        if let Some(symbol) = self.names.symbol(ident) {
            return Some(symbol);
        }
        let name = sources.function(u32::try_from(ident).ok()?)?;
        Some(self.profile.symbols.symbol(&name, None))
    }
}

/// Blocks that end in a call, ascending: those with a fake arc to the exit.
fn call_blocks(notes: &gcno::Function<'_>) -> Vec<u32> {
    let calls = notes.arcs.iter().filter(|arc| arc.is_fake() && arc.source != 0);
    let mut blocks: Vec<u32> = calls.map(|arc| arc.source).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks
}

/// The line of a block that has only one.
fn only_line<'n>(notes: &gcno::Function<'n>, block: u32) -> Option<Line<'n>> {
    let mut lines = notes.lines.iter().filter(|line| line.block == block);
    match (lines.next(), lines.next()) {
        (Some(line), None) => Some(*line),
        _ => None,
    }
}
