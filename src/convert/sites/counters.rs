//! Where the counters of a function's indirect calls are, by what the compiler wrote about the
//! function into the program's data: `gcov_fn_info`.
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 8 | the object's own information |
//! | 8 | 4 | ident |
//! | 12 | 4 | checksum of the function's place in the source |
//! | 16 | 4 | checksum of the control-flow graph |
//! | 24 | 16 each | per kind in use: number of counters (4), padding, address of the counters (8) |
//!
//! Ident and checksums are looked for in all data, so no symbol is needed.
//!
//! Source: `gcov-io.h` and `coverage.cc` of GCC 10 to 16, and the objects they make.

use std::collections::HashMap;
use std::prelude::v1::*;

use super::image::Image;
use crate::raw::dump::{FunctionView, Module};
use crate::raw::gcov::Kind;
use crate::raw::gcov::record::{FIXED_SITE, LISTED_SITE};

/// What tells a function from all others of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FunctionKey {
    /// Number of the function.
    pub ident: u32,
    /// Checksum of name and place.
    pub lineno_checksum: u32,
    /// Checksum of the control-flow graph.
    pub cfg_checksum: u32,
}

impl FunctionKey {
    /// That of a function of a dump.
    pub fn of(function: &FunctionView<'_>) -> Self {
        Self {
            ident: function.ident(),
            lineno_checksum: function.lineno_checksum(),
            cfg_checksum: function.cfg_checksum(),
        }
    }
}

/// A function whose sites are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which one.
    pub function: FunctionKey,
    /// Place of indirect calls among the kinds in use.
    pub slot: usize,
    /// Number of sites.
    pub sites: usize,
    /// Counters of a site.
    pub stride: usize,
}

/// The functions of a module that have indirect calls.
pub fn wanted(module: &Module) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    for object in &module.objects {
        let stride = if object.version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE };
        for function in module.functions(object).filter(|function| !function.is_absent()) {
            let slot = function.kinds().position(|(kind, _)| kind == Kind::INDIRECT_CALL);
            let sites = function.sites(Kind::INDIRECT_CALL).len();
            if let Some(slot) = slot.filter(|_| sites > 0) {
                let function = FunctionKey::of(&function);
                wanted.push(Wanted { function, slot, sites, stride });
            }
        }
    }
    wanted
}

/// Counters of a site, in bytes of the program.
const COUNTER: u64 = 8;

/// Addresses of the first counters of the functions, where they are found.
pub fn find(image: &Image<'_>, wanted: &[Wanted]) -> Vec<Option<u64>> {
    let mut by_ident = HashMap::<u32, Vec<usize>>::new();
    for (place, function) in wanted.iter().enumerate() {
        by_ident.entry(function.function.ident).or_default().push(place);
    }
    let mut found = vec![None; wanted.len()];
    for (address, data) in image.data() {
        for (word, bytes) in data.as_chunks::<4>().0.iter().enumerate() {
            let Some(candidates) = by_ident.get(&u32::from_le_bytes(*bytes)) else { continue };
            let ident = address.wrapping_add(4 * word as u64);
            for &place in candidates {
                found[place] = found[place].or_else(|| counters(image, ident, &wanted[place]));
            }
        }
    }
    found
}

/// The counters' address, if this is the ident in a function's information.
fn counters(image: &Image<'_>, ident: u64, wanted: &Wanted) -> Option<u64> {
    let (numbers, _) = image.bytes(ident)?.as_chunks::<4>();
    let FunctionKey { ident: number, lineno_checksum, cfg_checksum } = wanted.function;
    let expected = [number, lineno_checksum, cfg_checksum];
    if !numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).take(3).eq(expected) {
        return None;
    }
    let kind = ident.wrapping_add(16 + 16 * wanted.slot as u64);
    let number = image.word(kind)? as u32 as usize;
    (Some(number) == wanted.sites.checked_mul(wanted.stride))
        .then(|| image.word(kind.wrapping_add(8)))?
}

/// The sites of a program by the addresses of their counters.
#[derive(Debug, Default)]
pub struct Sites {
    /// Place of the function in the list, and number of the site in it.
    by_address: HashMap<u64, (usize, usize)>,
    /// From the page before the first to the last.
    around: (u64, u64),
}

/// Code may take an address in steps, from a page of this size to an anchor in it or the next one.
const PAGE: u64 = 4096;

impl Sites {
    /// The sites of functions at these addresses.
    pub fn new(wanted: &[Wanted], addresses: &[Option<u64>]) -> Self {
        let mut by_address = HashMap::new();
        for (place, (wanted, address)) in wanted.iter().zip(addresses).enumerate() {
            let Some(address) = address else { continue };
            for site in 0..wanted.sites {
                let counters = (site * wanted.stride) as u64 * COUNTER;
                by_address.insert(address.wrapping_add(counters), (place, site));
            }
        }
        let (first, last) = (by_address.keys().min(), by_address.keys().max());
        let page = |first: &u64| (first & !(PAGE - 1)).saturating_sub(PAGE);
        let around = first.zip(last).map_or((1, 0), |(first, last)| (page(first), *last));
        Self { by_address, around }
    }

    /// Whether an address may be a step on the way to a site.
    pub fn are_near(&self, address: u64) -> bool {
        self.around.0 <= address && address <= self.around.1
    }

    /// Number of sites.
    pub fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// The site whose counters start here.
    pub fn get(&self, address: u64) -> Option<(usize, usize)> {
        self.by_address.get(&address).copied()
    }
}
