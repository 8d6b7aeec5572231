//! The model of LLVM's sample profiles: counts by source position, of functions in contexts.
//!
//! It is close to [`crate::profile`], and holds what only LLVM's formats say: totals as they stand in a file,
//! checksums of pseudo-probes, attributes, discriminators of 32 bits, and contexts: a function that was called along
//! a chain of call sites has counts of its own. Names are in [`Symbols`], all without a file. A name that is known
//! only by its MD5 is that number in decimal. Byte layouts belong to [`crate::formats`].

pub mod contexts;
pub mod layout;
pub mod merge;
mod order;
pub mod positions;
pub mod preinline;
pub mod sizes;
pub(crate) mod sum;
mod summary;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

pub use contexts::{ContextId, Contexts, Frame};
pub use order::Ranks;

use crate::counters::name_ref;
use crate::profile::{Map, RareMap, SymbolId, Symbols};

/// A sample profile.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Names of everything in the profile.
    pub symbols: Symbols,
    /// The contexts of all functions.
    pub contexts: Contexts,
    /// Functions by their context. One without a caller in its context is the function itself.
    pub functions: BTreeMap<ContextId, Body>,
    /// All symbols of the program, so that a compiler can tell cold functions from new ones. Sorted, each once.
    pub symbol_list: Vec<Vec<u8>>,
    /// What holds for all functions.
    pub traits: Traits,
}

/// What holds for all functions of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Functions have contexts, if only empty ones.
    pub contexts: bool,
    /// Positions are numbers of pseudo-probes, and functions have checksums.
    pub probes: bool,
    /// Discriminators are those that code generation adds to.
    pub flow_sensitive: bool,
    /// Samples are those of a part of the program's work: what is missing need not be cold.
    pub partial: bool,
    /// A pre-inliner has decided what is to be inlined.
    pub preinlined: bool,
}

/// Attribute of a context: it was inlined when the samples were taken.
pub const WAS_INLINED: u32 = 1;

/// Attribute of a context: the pre-inliner wants it inlined.
pub const SHOULD_BE_INLINED: u32 = 2;

/// Counts of a function in a context, or of a copy inlined into another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// Times it was entered; 0 for inlined copies.
    pub head: u64,
    /// All of its samples. Samples are those of instructions, so this may be more than the sum of the counts.
    pub total: u64,
    /// Checksum of the function's control flow; 0 without pseudo-probes.
    pub checksum: u64,
    /// Attributes of its context.
    pub attributes: u32,
    /// Counts by position.
    pub records: Map<Site, Record>,
    /// Copies of functions inlined here, by position and function.
    pub inlined: Map<(Site, SymbolId), Body>,
}

/// A place in the source, relative to its function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// Lines from the function's line, modulo 2^16; or the number of a pseudo-probe.
    pub line: u32,
    /// Discriminator, 0 if there is none.
    pub discriminator: u32,
}

/// What is known about a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Samples.
    pub count: u64,
    /// Functions called from here, with the number of calls.
    pub targets: RareMap<SymbolId, u64>,
}

impl Site {
    /// A position without discriminator.
    pub const fn line(line: u32) -> Self {
        Self { line, discriminator: 0 }
    }
}

impl Body {
    /// Adds what is known about a position.
    pub fn add_record(&mut self, site: Site, record: Record) {
        match self.records.get_mut(&site) {
            Some(known) => known.add(&record),
            None => _ = self.records.insert(site, record),
        }
    }

    /// Adds an inlined copy.
    pub fn add_inlined(&mut self, place: (Site, SymbolId), body: Self) {
        match self.inlined.get_mut(&place) {
            Some(known) => known.add(&body),
            None => _ = self.inlined.insert(place, body),
        }
    }

    /// Sum of all counts, those of inlined copies included.
    pub fn sum(&self) -> u64 {
        let mut sum = 0u64;
        self.for_each_body(&mut |body| {
            let counts = body.records.values().map(|record| record.count);
            sum = counts.fold(sum, u64::saturating_add);
        });
        sum
    }

    /// Times it was entered, as far as its counts tell: what stands at its first position.
    pub fn entries(&self) -> u64 {
        if self.head > 0 {
            return self.head;
        }
        let record = self.records.iter().next();
        let inlined = self.inlined.iter().next();
        match (record, inlined) {
            (Some((site, record)), Some((&(first, _), _))) if *site <= first => record.count,
            (Some((_, record)), None) => record.count,
            (_, Some((&(first, _), _))) => {
                let here = self.inlined.iter().take_while(|&(&(site, _), _)| site == first);
                here.map(|(_, body)| body.entries()).fold(0, u64::saturating_add)
            }
            (None, None) => 0,
        }
    }

    /// Visits this body and all that are inlined in it.
    pub fn for_each_body<'b>(&'b self, visit: &mut impl FnMut(&'b Self)) {
        visit(self);
        self.inlined.values().for_each(|body| body.for_each_body(visit));
    }

    /// Whether copies are inlined into each other to more levels than this.
    pub fn is_deeper_than(&self, levels: usize) -> bool {
        let is_deeper = |body: &Self| levels == 0 || body.is_deeper_than(levels - 1);
        self.inlined.values().any(is_deeper)
    }
}

impl Samples {
    /// The symbol of a name.
    pub fn symbol(&mut self, name: &[u8]) -> SymbolId {
        self.symbols.symbol(name, None)
    }

    /// Whether a context wants to be inlined because a pre-inliner said so.
    pub fn has_preinlined(&self) -> bool {
        let mut found = self.traits.preinlined;
        for body in self.functions.values() {
            body.for_each_body(&mut |body| found |= body.attributes & SHOULD_BE_INLINED != 0);
        }
        found
    }
}

/// The number that stands for a name: the low half of its MD5, or the name itself if it is such a number.
pub fn name_number(name: &[u8]) -> u64 {
    number(name).unwrap_or_else(|| name_ref(name))
}

/// The number that a name without text is.
pub fn number(name: &[u8]) -> Option<u64> {
    if name.is_empty() || name.len() > 1 && name[0] == b'0' {
        return None;
    }
    name.iter().try_fold(0u64, |number, &digit| {
        let digit = char::from(digit).to_digit(10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}
