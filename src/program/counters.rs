//! Finds a function's counters of arcs and of indirect calls. The compiler wrote their addresses into the
//! program's data, in its `gcov_fn_info`.
//!
//! | offset, 64 bits | 32 bits | size | field |
//! |---|---|---|---|
//! | 0 | 0 | a word | the object's own information |
//! | 8 | 4 | 4 | ident |
//! | 12 | 8 | 4 | checksum of the function's place in the source |
//! | 16 | 12 | 4 | checksum of the control-flow graph |
//! | 24 | 16 | two words each | per kind in use: number of counters (4 bytes), padding, address of the counters |
//!
//! Ident and checksums are looked for in all data, so no symbol is needed. A function of a header has
//! counters in every object that compiled it, and the code uses some of these.
//!
//! Source: `gcov-io.h` and `coverage.cc` of GCC 10 to 16, and the objects they make.

use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use object::{Object as _, ObjectSymbol};

use crate::program::object_file::image::Image;
use crate::raw::dump::{FunctionView, Object, Values};
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::kind::Kind;
use crate::raw::site::LISTED_SITE;

/// What distinguishes a function from all others of a program.
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
    /// The key of a function of a dump.
    pub fn of(function: &FunctionView<'_>) -> Self {
        Self {
            ident: function.ident(),
            lineno_checksum: function.lineno_checksum(),
            cfg_checksum: function.cfg_checksum(),
        }
    }
}

/// A function that counters are wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The function.
    pub function: FunctionKey,
    /// The counters of its arcs.
    pub arcs: Array,
    /// The counters of its indirect calls.
    pub calls: Array,
    /// Number of counters of one indirect call.
    pub stride: usize,
}

/// The counters of one kind of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Array {
    /// Index of the kind among those in use.
    pub slot: usize,
    /// Number of counters.
    pub counters: usize,
}

impl Wanted {
    /// What is wanted for a function of an object.
    pub fn of(object: &Object, function: &FunctionView<'_>) -> Self {
        let stride = if object.version.has_fixed_topn() { FIXED_SITE } else { LISTED_SITE };
        let (mut arcs, mut calls) = (Array::default(), Array::default());
        for (slot, (kind, values)) in function.kinds().enumerate() {
            match (kind, values) {
                (Kind::ARCS, Values::Counters(found)) => {
                    arcs = Array { slot, counters: found.len() };
                }
                (Kind::INDIRECT_CALL, Values::Sites(sites)) => {
                    calls = Array { slot, counters: sites.len() * stride };
                }
                _ => {}
            }
        }
        Self { function: FunctionKey::of(function), arcs, calls, stride }
    }

    /// Number of indirect calls.
    pub const fn sites(&self) -> usize {
        self.calls.counters / self.stride
    }
}

/// Bytes of a counter in the program.
const COUNTER: u64 = 8;

/// Whether a program has all of these objects, from these very compilations. The compiler wrote a `gcov_info`
/// about each into the data: version at offset 0, stamp behind two words.
pub fn missing_objects(image: &Image<'_>, objects: &[Object]) -> HashSet<(u32, u32)> {
    let mut missing: HashSet<(u32, u32)> =
        objects.iter().map(|object| (object.version.0, object.stamp)).collect();
    let versions: HashSet<u32> = objects.iter().map(|object| object.version.0).collect();
    let word = usize::from(image.word);
    for (_, data) in image.data() {
        for (place, bytes) in data.chunks_exact(word).enumerate() {
            let Some(version) = image.number(bytes).filter(|found| versions.contains(found)) else {
                continue;
            };
            // A pointer to the next object stands between.
            let stamp = data.get(word * (place + 2)..).and_then(|rest| image.number(rest));
            stamp.map(|stamp| missing.remove(&(version, stamp)));
        }
    }
    missing
}

/// Addresses of the first counter of a function's arcs, and of its indirect calls: none, one, or one for each
/// object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// For arcs.
    pub arcs: Vec<u64>,
    /// For indirect calls.
    pub calls: Vec<u64>,
}

/// Finds the counters of functions.
pub fn find(image: &Image<'_>, wanted: &[Wanted]) -> Vec<Addresses> {
    let mut by_ident = HashMap::<u32, Vec<usize>>::new();
    for (place, function) in wanted.iter().enumerate() {
        by_ident.entry(function.function.ident).or_default().push(place);
    }
    let mut found = vec![Addresses::default(); wanted.len()];
    for (address, data) in image.data() {
        for (word, bytes) in data.as_chunks::<4>().0.iter().enumerate() {
            let ident = image.number(bytes);
            let Some(candidates) = ident.and_then(|ident| by_ident.get(&ident)) else { continue };
            let ident = address.wrapping_add(4 * word as u64);
            for &place in candidates {
                let wanted = &wanted[place];
                if is_information(image, ident, wanted.function) {
                    found[place].arcs.extend(counters(image, ident, wanted.arcs));
                    found[place].calls.extend(counters(image, ident, wanted.calls));
                }
            }
        }
    }
    found
}

/// Whether the ident at this address begins the key in the information on a function.
fn is_information(image: &Image<'_>, ident: u64, function: FunctionKey) -> bool {
    let Some((section, offset)) = image.place(ident) else { return false };
    let numbers = section.get(offset..).unwrap_or_default().as_chunks::<4>().0;
    let FunctionKey { ident, lineno_checksum, cfg_checksum } = function;
    let expected = [ident, lineno_checksum, cfg_checksum];
    numbers.iter().filter_map(|bytes| image.number(bytes)).take(3).eq(expected)
}

/// The address of the counters, if their number is the expected one.
fn counters(image: &Image<'_>, ident: u64, array: Array) -> Option<u64> {
    let word = u64::from(image.word);
    let first = (3 * 4u64).next_multiple_of(word);
    let kind = ident.wrapping_add(first + 2 * word * array.slot as u64);
    let number = image.half_word(kind)? as usize;
    (array.counters > 0 && number == array.counters).then(|| image.word(kind.wrapping_add(word)))?
}

/// The counters of a program's arcs, by address.
#[derive(Debug, Default)]
pub struct Counters {
    /// First address, address behind the last, and function; by address.
    arrays: Vec<(u64, u64, u32)>,
}

impl Counters {
    /// The counters of functions at these addresses.
    pub fn new(wanted: &[Wanted], addresses: &[Addresses]) -> Self {
        let mut arrays = Vec::new();
        for (place, (wanted, addresses)) in wanted.iter().zip(addresses).enumerate() {
            let length = wanted.arcs.counters as u64 * COUNTER;
            let array = |&start: &u64| (start, start.saturating_add(length), place as u32);
            arrays.extend(addresses.arcs.iter().map(array));
        }
        arrays.sort_unstable();
        Self { arrays }
    }

    /// Whether there is no counter.
    pub fn is_empty(&self) -> bool {
        self.arrays.is_empty()
    }

    /// The counter at an address: its function, and its number.
    pub fn at(&self, address: u64) -> Option<(u32, u32)> {
        let (first, last) = (self.arrays.first()?, self.arrays.last()?);
        if address < first.0 || last.1 <= address {
            return None;
        }
        let behind = self.arrays.partition_point(|&(start, ..)| start <= address);
        let &(start, end, function) = self.arrays.get(behind.checked_sub(1)?)?;
        let offset = address - start;
        (address < end && offset.is_multiple_of(COUNTER))
            .then_some((function, (offset / COUNTER) as u32))
    }
}

/// Names of the counters of indirect calls begin with this.
const TABLE: &[u8] = b"__gcov4.";

/// Where a symbol table has counters of indirect calls: from, to.
pub fn tables(file: &object::File<'_>) -> BTreeMap<u64, u64> {
    let tables = file.symbols().filter(|symbol| {
        symbol.name_bytes().is_ok_and(|name| name.starts_with(TABLE)) && symbol.is_definition()
    });
    tables.map(|table| (table.address(), table.address().saturating_add(table.size()))).collect()
}

/// The sites of a program, by the addresses of their counters.
#[derive(Debug, Default)]
pub struct Sites {
    /// Tables of other sites, too: for inlined copies of a function, the information may be in another
    /// object, with that object's own copy.
    tables: BTreeMap<u64, u64>,
    /// Index of the function in the list, and number of the site in it.
    by_address: HashMap<u64, (u32, u32)>,
    /// From the first address to the last one.
    range: Range<u64>,
    /// Words of the program's data that hold such addresses.
    stored: HashMap<u64, u64>,
}

/// Code may take an address in steps: first a page of this size, or a nearer one, then an anchor up to a page away.
const PAGE: u64 = 4096;

impl Sites {
    /// The sites of functions at these addresses.
    pub fn new(
        image: &Image<'_>,
        wanted: &[Wanted],
        addresses: &[Addresses],
        tables: BTreeMap<u64, u64>,
    ) -> Self {
        let mut by_address = HashMap::new();
        for (place, (wanted, addresses)) in wanted.iter().zip(addresses).enumerate() {
            let sites = |&first: &u64| (0..wanted.sites()).map(move |site| (first, site));
            for (address, site) in addresses.calls.iter().flat_map(sites) {
                let counters = (site * wanted.stride) as u64 * COUNTER;
                by_address.insert(address.wrapping_add(counters), (place as u32, site as u32));
            }
        }
        if by_address.is_empty() {
            return Self::default();
        }
        let firsts = || by_address.keys().chain(tables.keys()).copied();
        let ends = by_address.keys().map(|&address| address + 1).chain(tables.values().copied());
        let range = firsts().min().unwrap_or(0)..ends.max().unwrap_or(0);
        let mut sites = Self { tables, by_address, range, stored: HashMap::new() };
        sites.stored = image.words_with(|word| sites.has(word)).into_iter().collect();
        sites
    }

    /// Whether there is no site.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    /// Whether an address may be a step on the way to a site: from the page before the first site to a page behind the
    /// last one.
    pub fn is_near(&self, address: u64) -> bool {
        let first = (self.range.start & !(PAGE - 1)).saturating_sub(PAGE);
        !self.is_empty() && (first..=self.range.end.saturating_add(PAGE)).contains(&address)
    }

    /// Whether counters of any site start here.
    pub fn has(&self, address: u64) -> bool {
        let in_table =
            || self.tables.range(..=address).next_back().is_some_and(|(_, &end)| address < end);
        self.range.contains(&address) && (self.by_address.contains_key(&address) || in_table())
    }

    /// The site that has its counters here.
    pub fn get(&self, address: u64) -> Option<(u32, u32)> {
        let in_range = Some(address).filter(|address| self.range.contains(address));
        in_range.and_then(|address| self.by_address.get(&address).copied())
    }

    /// The address of a site that is stored at an address.
    pub fn stored_at(&self, address: u64) -> Option<u64> {
        self.stored.get(&address).copied()
    }
}
