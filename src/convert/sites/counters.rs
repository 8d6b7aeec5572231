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
//! Ident and checksums are looked for in all data, so no symbol is needed. A function of a header has
//! counters in every object that compiled it, of which the code uses some.
//!
//! Source: `gcov-io.h` and `coverage.cc` of GCC 10 to 16, and the objects they make.

use std::collections::BTreeMap;
use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use object::{Object as _, ObjectSymbol};

use super::image::Image;
use crate::raw::dump::{FunctionView, Module, Object};
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

/// The functions of objects of a module that have indirect calls, each once.
pub fn wanted(module: &Module, objects: &[Object]) -> Vec<Wanted> {
    let mut wanted = Vec::new();
    let mut known = HashSet::new();
    for object in objects {
        let stride = if object.version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE };
        for function in module.functions(object).filter(|function| !function.is_absent()) {
            let slot = function.kinds().position(|(kind, _)| kind == Kind::INDIRECT_CALL);
            let sites = function.sites(Kind::INDIRECT_CALL).len();
            let function = FunctionKey::of(&function);
            if let Some(slot) = slot.filter(|_| sites > 0 && known.insert(function)) {
                wanted.push(Wanted { function, slot, sites, stride });
            }
        }
    }
    wanted
}

/// Counters of a site, in bytes of the program.
const COUNTER: u64 = 8;

/// Whether a program has all of these objects, of these very compilations, by what the compiler wrote
/// about each into its data, `gcov_info`: version at offset 0, stamp at 16.
pub fn has_objects(image: &Image<'_>, objects: &[Object]) -> bool {
    let mut missing: HashSet<(u32, u32)> =
        objects.iter().map(|object| (object.version.0, object.stamp)).collect();
    let versions: HashSet<u32> = objects.iter().map(|object| object.version.0).collect();
    for (_, data) in image.data() {
        for (place, bytes) in data.as_chunks::<8>().0.iter().enumerate() {
            let version = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if !versions.contains(&version) {
                continue;
            }
            let stamp = data.get(8 * place + 16..).and_then(|rest| rest.first_chunk());
            stamp.map(|stamp| missing.remove(&(version, u32::from_le_bytes(*stamp))));
        }
    }
    missing.is_empty()
}

/// Addresses of the first counters of the functions: none, one, or one for each object.
pub fn find(image: &Image<'_>, wanted: &[Wanted]) -> Vec<Vec<u64>> {
    let mut by_ident = HashMap::<u32, Vec<usize>>::new();
    for (place, function) in wanted.iter().enumerate() {
        by_ident.entry(function.function.ident).or_default().push(place);
    }
    let mut found = vec![Vec::new(); wanted.len()];
    for (address, data) in image.data() {
        for (word, bytes) in data.as_chunks::<4>().0.iter().enumerate() {
            let Some(candidates) = by_ident.get(&u32::from_le_bytes(*bytes)) else { continue };
            let ident = address.wrapping_add(4 * word as u64);
            for &place in candidates {
                found[place].extend(counters(image, ident, &wanted[place]));
            }
        }
    }
    found
}

/// The counters' address, if this is the ident in a function's information.
fn counters(image: &Image<'_>, ident: u64, wanted: &Wanted) -> Option<u64> {
    let (section, offset) = image.place(ident)?;
    let (numbers, _) = section.get(offset..)?.as_chunks::<4>();
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

/// Names of the counters of indirect calls start so.
const TABLE: &[u8] = b"__gcov4.";

/// Where a symbol table says that counters of indirect calls are: from, to.
pub fn tables(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let tables = file.symbols().filter(|symbol| {
        symbol.name_bytes().is_ok_and(|name| name.starts_with(TABLE)) && symbol.is_definition()
    });
    tables.map(|table| (table.address(), table.address().saturating_add(table.size()))).collect()
}

/// The sites of a program by the addresses of their counters.
#[derive(Debug, Default)]
pub struct Sites {
    /// Of other sites, too: copies of functions that are inlined, of which another object's own
    /// copy has the information.
    tables: BTreeMap<u64, u64>,
    /// Place of the function in the list, and number of the site in it.
    by_address: HashMap<u64, (usize, usize)>,
    /// From the page before the first to the last.
    around: (u64, u64),
}

/// Code may take an address in steps, from a page of this size to an anchor in it or the next one.
const PAGE: u64 = 4096;

impl Sites {
    /// The sites of functions at these addresses.
    pub fn new(wanted: &[Wanted], addresses: &[Vec<u64>], tables: BTreeMap<u64, u64>) -> Self {
        let mut by_address = HashMap::new();
        for (place, (wanted, addresses)) in wanted.iter().zip(addresses).enumerate() {
            for (address, site) in addresses.iter().flat_map(|a| (0..wanted.sites).map(|s| (*a, s)))
            {
                let counters = (site * wanted.stride) as u64 * COUNTER;
                by_address.insert(address.wrapping_add(counters), (place, site));
            }
        }
        let (first, last) = (by_address.keys().min(), by_address.keys().max());
        let page = |first: &u64| (first & !(PAGE - 1)).saturating_sub(PAGE);
        let around = first.zip(last).map_or((1, 0), |(first, last)| (page(first), *last));
        Self { tables, by_address, around }
    }

    /// Whether an address may be a step on the way to a site.
    pub fn are_near(&self, address: u64) -> bool {
        self.around.0 <= address && address <= self.around.1
    }

    /// Number of sites whose counters are known.
    pub fn known(&self) -> usize {
        self.by_address.values().collect::<HashSet<_>>().len()
    }

    /// Whether counters of any site start here.
    pub fn has(&self, address: u64) -> bool {
        let in_table =
            || self.tables.range(..=address).next_back().is_some_and(|(_, &end)| address < end);
        self.by_address.contains_key(&address) || in_table()
    }

    /// The site whose counters start here.
    pub fn get(&self, address: u64) -> Option<(usize, usize)> {
        self.by_address.get(&address).copied()
    }
}
