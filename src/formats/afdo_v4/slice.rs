//! A part of a profile for one compilation: the functions that it may look up, with their counts.
//!
//! gcc 16 reads more: where a function of another source has an inlined copy of one that this compilation has, too,
//! it adds the copy's counts to the function itself. So the part has these functions as well, with nothing but the
//! copies and the calls around them. Their order and nesting stay: gcc matches copies with the calls in the source
//! one by one, and the sum of all copies in one place led to other code. Older versions drop such copies.

use alloc::format;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::body::body;
use super::catalogue::{Catalogue, Listed, Store};
use super::check::{Defect, Finding, Findings};
use super::records::Records;
use crate::profile::{Body, Function, Profile, SymbolId};

/// How much of the order of first executions a part keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// That of its own functions, and whether others come between two of them.
    Near,
    /// That among all functions of the program, which LTO compares.
    Whole,
}

impl<S: Store> Catalogue<S> {
    /// Adds functions that are nothing but a rank, and numbers the ranks anew. gcc 16 counts ranks and knows no gaps,
    /// and gives a function split off the next rank, which is another function's if there is no gap.
    pub fn keep_order(&self, part: &mut Profile, order: Order) {
        /// Functions split off twice are rare enough.
        const GAP: usize = 2;
        let mut own: Vec<u64> =
            part.functions.values().map(|function| function.timestamp).collect();
        own.sort_unstable();
        own.dedup();
        let mut ranks = Vec::with_capacity(own.len());
        let (mut rank, mut before) = (0, None::<usize>);
        for &timestamp in &own {
            let place = self.earlier(timestamp);
            rank = match (order, before) {
                // 0 stands for none.
                (Order::Whole, _) => place + usize::from(self.earlier(1) == 0),
                (Order::Near, None) => usize::from(timestamp > 0),
                (Order::Near, Some(before)) => rank + (place - before).clamp(1, GAP + 1),
            };
            ranks.push(rank as u64);
            before = Some(place);
        }
        for function in part.functions.values_mut() {
            let place = own.binary_search(&function.timestamp);
            function.timestamp = place.map_or(0, |place| ranks[place]);
        }
        for filler in (1..=rank as u64).filter(|rank| ranks.binary_search(rank).is_err()) {
            // No function has a number for a name.
            let symbol = part.symbols.symbol(format!("{filler}").as_bytes(), None);
            part.add(symbol, Function { timestamp: filler, ..Function::default() });
        }
    }
}

/// A part that is being put together.
pub struct Slice<'c, S> {
    catalogue: &'c Catalogue<S>,
    paths: &'c [Vec<u8>],
    profile: Profile,
    /// By id.
    symbols: HashMap<u32, SymbolId>,
    /// The place of each symbol of the part in the catalogue.
    places: Vec<usize>,
    findings: Findings,
}

impl<'c, S: Store> Slice<'c, S> {
    /// Has nothing yet. `paths` are those of the catalogue.
    pub fn new(catalogue: &'c Catalogue<S>, paths: &'c [Vec<u8>]) -> Self {
        Self {
            catalogue,
            paths,
            profile: Profile::default(),
            symbols: HashMap::new(),
            places: Vec::new(),
            findings: Findings::default(),
        }
    }

    /// Adds a function: its place in the catalogue, and the bytes of its section.
    pub fn add(&mut self, symbol: usize, section: &[u8]) -> Result<(), Finding> {
        let function = self.function(symbol, section)?;
        self.add_function(symbol, function);
        Ok(())
    }

    /// Adds what a function of another source has inlined of the symbols that are `wanted`.
    pub fn add_inlined(
        &mut self,
        symbol: usize,
        section: &[u8],
        wanted: &impl Fn(usize) -> bool,
    ) -> Result<(), Finding> {
        let mut function = self.function(symbol, section)?;
        function.body = self.wanted_of(function.body, wanted);
        self.add_function(symbol, function);
        Ok(())
    }

    /// The part.
    pub fn finish(self) -> Profile {
        self.profile
    }

    fn add_function(&mut self, symbol: usize, function: Function) {
        if let Some(listed) = self.catalogue.listed(symbol) {
            let own = self.own(&listed);
            self.profile.add(own, function);
        }
    }

    /// A body with the outermost wanted bodies in it, and what is around them.
    fn wanted_of(&self, body: Body, wanted: &impl Fn(usize) -> bool) -> Body {
        let mut left = Body::default();
        for (position, record) in body.positions {
            for (callee, body) in record.inlined {
                let is_wanted = wanted(self.places[callee.index()]);
                let body = if is_wanted { body } else { self.wanted_of(body, wanted) };
                if is_wanted || !body.positions.is_empty() {
                    left.positions.entry(position).or_default().inline(callee, body);
                }
            }
        }
        left
    }

    /// Decodes a section. Places of defects are those in the whole file.
    fn function(&mut self, symbol: usize, section: &[u8]) -> Result<Function, Finding> {
        let start = self.catalogue.section(symbol).map_or(0, |section| section.start);
        let moved = |finding: Finding| Finding { offset: start + finding.offset, ..finding };
        let mut records = Records::of_section(section).map_err(moved)?;
        let (head_count, timestamp) = (records.head_count, records.timestamp);
        let mut findings = core::mem::take(&mut self.findings);
        let mut note = |finding| _ = findings.note(moved(finding));
        let body = body(&mut records, &mut note, |id| self.symbol(id)).map_err(moved)?;
        self.findings = findings;
        Ok(Function { head_count, timestamp, body })
    }

    fn symbol(&mut self, id: u32) -> Result<SymbolId, Finding> {
        if let Some(&known) = self.symbols.get(&id) {
            return Ok(known);
        }
        let unknown = Finding { offset: 0, defect: Defect::SymbolId(id) };
        let listed = self.catalogue.with_id(id).ok_or(unknown)?;
        let own = self.own(&listed);
        self.symbols.insert(id, own);
        Ok(own)
    }

    /// The part's own symbol for one of the catalogue.
    fn own(&mut self, listed: &Listed) -> SymbolId {
        let symbols = &mut self.profile.symbols;
        let path = self.paths.get(listed.source).filter(|path| !path.is_empty());
        let file = path.map(|path| symbols.file(path));
        let own = symbols.symbol(&listed.name, file);
        if own.index() == self.places.len() {
            self.places.push(listed.symbol);
        }
        own
    }
}
