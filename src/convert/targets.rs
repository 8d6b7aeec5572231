//! Where the targets of indirect calls stand.
//!
//! The notes do not say which block holds which site; the machine code does ([`Sources::call`]). Where
//! there is none, this much is certain: sites are numbered in the order of their blocks, and a call
//! ends its block. So where a function has as many blocks that end in a call as sites, the k-th block
//! is the k-th site's; and where that block has one line only, that is the line of the call. Sites
//! elsewhere are dropped and counted.
//!
//! Notes do not tell discriminators apart, the machine code does. So the count of a position with one
//! is what its calls say themselves; and no count is smaller than that.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::copies::{self, Chain};
use super::lines::{Home, Owner};
use super::positions::Place;
use super::profile::{Conversion, Counted};
use super::source::{Call, Sources, Unplaced};
use crate::formats::gcno::{Arc, Line};
use crate::profile::{Position, SymbolId};
use crate::raw::dump::{FunctionView, SiteView};
use crate::raw::gcov::Kind;

/// Executions that calls tell of, by place and by the chains to the copy of the code.
type Executions = BTreeMap<Place, BTreeMap<Vec<Chain>, u64>>;

impl Conversion {
    /// Puts the targets of a function's indirect calls at their lines, of which some have got counts.
    pub(super) fn targets(
        &mut self,
        view: &FunctionView<'_>,
        module: usize,
        counted: &Counted<'_>,
        credited: Vec<(Place, u64)>,
        sources: &impl Sources,
    ) {
        let sites = view.sites(Kind::INDIRECT_CALL);
        if sites.clone().all(|site| site.total == 0) {
            return;
        }
        let calls = call_blocks(counted.arcs());
        let in_order = calls.len() == sites.len();
        let mut executions = Executions::new();
        for (number, site) in sites.enumerate().filter(|(_, site)| site.total != 0) {
            let in_code = sources.call(module, view, number);
            let place = match in_code.and_then(|call| self.place_in_code(counted, &call)) {
                Err(why) if why != Unplaced::SeveralLines && in_order => calls
                    .get(number)
                    .and_then(|&block| self.place_in_order(counted, block, &site))
                    .map(|place| (place, Vec::new()))
                    .ok_or(why),
                place => place,
            };
            match place {
                Ok((place, copy)) => {
                    self.site(&place, &site, sources);
                    let most = executions.entry(place).or_default().entry(copy).or_default();
                    *most = site.total.unsigned_abs().max(*most);
                }
                Err(why) => self.unplaced(counted, number, why, sources),
            }
        }
        self.executed(executions, &credited.into_iter().collect());
    }

    /// A place was executed at least as often as the busiest call there, in each copy of the code.
    fn executed(&mut self, executions: Executions, credited: &BTreeMap<Place, u64>) {
        for (place, copies) in executions {
            let least = copies.into_values().fold(0, u64::saturating_add);
            let known = credited.get(&place).copied().unwrap_or(0);
            let count = self.record(&place).count.get_or_insert(0);
            *count = count.saturating_add(least.saturating_sub(known));
        }
    }

    fn unplaced(
        &mut self,
        counted: &Counted<'_>,
        number: usize,
        why: Unplaced,
        sources: &impl Sources,
    ) {
        *self.statistics.sites_unplaced.entry(why).or_default() += 1;
        if sources.wants_details() {
            let name = String::from_utf8_lossy(counted.notes.name);
            let what = format!("{name}: indirect call {number} {why}; dropped");
            self.statistics.details.push(what);
        }
    }

    /// The place of a call that was found in the machine code, in the function that has its line or
    /// in the one that the debug information names; and the chains to the copies it stands in.
    fn place_in_code(
        &mut self,
        counted: &Counted<'_>,
        call: &Call,
    ) -> Result<(Place, Vec<Chain>), Unplaced> {
        let symbols = &mut self.profile.symbols;
        let file = symbols.file(&call.at.path);
        let mut copies = Vec::new();
        for stack in &call.stacks {
            let chains = copies::chains(stack, symbols).into_iter();
            let chains = chains.filter(|(from, _)| *from == counted.extent.symbol);
            copies.extend(chains.map(|(_, chain)| chain));
        }
        copies.sort();
        copies.dedup();
        let home = match self.owner(counted, file, call.at.line) {
            Owner::One(home) => home,
            Owner::Nobody | Owner::Several => {
                self.declared(counted, call).ok_or(Unplaced::NoFunction)?
            }
        };
        let line = call.at.line.checked_sub(home.start).ok_or(Unplaced::NoFunction)?;
        let position = Position { line, discriminator: call.discriminator };
        Ok((self.place(counted, home, position), copies))
    }

    /// The function that the debug information names for a call.
    fn declared(&mut self, counted: &Counted<'_>, call: &Call) -> Option<Home> {
        let function = call.stacks.first()?.innermost();
        // Notes and debug information may name files differently.
        counted.noted(&function.name, function.at.line).or_else(|| {
            let is_its_line = function.at.path == call.at.path;
            is_its_line.then(|| copies::home(function, &mut self.profile.symbols).0)
        })
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
        let line = only_line(counted.lines(), block).filter(|_| fits)?;
        match self.owner(counted, counted.file(line), line.line) {
            Owner::One(home) => {
                Some(self.place(counted, home, Position::line(line.line - home.start)))
            }
            Owner::Nobody | Owner::Several => None,
        }
    }

    fn site(&mut self, place: &Place, site: &SiteView<'_>, sources: &impl Sources) {
        self.statistics.sites += 1;
        self.statistics.calls_lost = self.statistics.calls_lost.saturating_add(site.lost());
        let error = &mut self.record(place).target_error;
        *error = error.saturating_add(site.error.unsigned_abs());
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
