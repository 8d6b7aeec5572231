//! Chooses the functions that have room on a page, those that have room for their lines, and the symbols and source
//! lines that they need. It estimates their bytes in the JSON.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::prelude::v1::*;

use hashbrown::HashSet;
use rayon::prelude::*;

use super::letters;
use super::sources::Ranges;
use crate::cli::terminal::names::{Names, text};
use crate::profile::{Body, Profile, SymbolId, Symbols};

/// Most functions of a page.
const MOST_FUNCTIONS: usize = 100_000;
/// Bytes of a page, without the parts that all pages share.
const ALL: usize = 27 << 20;
/// Most bytes of rows and names of functions.
const MOST_ROWS: usize = 18 << 20;
/// In place of a number: the page does not name the symbol.
const NONE: u32 = u32::MAX;
/// Most letters of a name in a table.
const ROOM: usize = 56;

/// The choice for a page.
pub struct Outline<'p> {
    /// The symbols of all sides.
    pub symbols: &'p Symbols,
    /// The profile of each side.
    pub profiles: Vec<&'p Profile>,
    /// The symbols that the page names: its functions, the one with the largest total first, and behind them others.
    pub named: Vec<SymbolId>,
    /// Their names as the page shows them.
    pub names: Vec<Shown>,
    /// Number of functions.
    pub functions: usize,
    /// The number of functions without room, and their share of all counts of the last profile.
    pub left_out: (usize, f64),
    /// Number of functions with lines on the page. They come first.
    pub detailed: usize,
    /// The source lines of these functions, by file.
    pub ranges: BTreeMap<Vec<u8>, Ranges>,
    /// Number of bytes left for sources.
    pub room: usize,
    /// For each symbol, its place in `named`, or [`NONE`].
    places: Vec<u32>,
    /// Paths of the files of the named symbols.
    paths: HashSet<&'p [u8]>,
}

impl<'p> Outline<'p> {
    /// The outline of a page with these profiles.
    pub fn new(symbols: &'p Symbols, profiles: Vec<&'p Profile>) -> Self {
        let places = vec![NONE; symbols.iter().count()];
        let ranges = BTreeMap::new();
        let mut outline = Self {
            symbols,
            profiles,
            named: Vec::new(),
            names: Vec::new(),
            functions: 0,
            left_out: (0, 0.0),
            detailed: 0,
            ranges,
            room: ALL,
            places,
            paths: HashSet::new(),
        };
        outline.add_functions();
        outline.add_lines();
        outline
    }

    /// The number by which the page knows a symbol.
    pub fn number(&self, symbol: SymbolId) -> u32 {
        self.places[symbol.index()]
    }

    /// Chooses the functions with the largest totals.
    fn add_functions(&mut self) {
        let mut totals: BTreeMap<SymbolId, Vec<u128>> = BTreeMap::new();
        for (side, profile) in self.profiles.iter().enumerate() {
            for (&symbol, function) in &profile.functions {
                let of = totals.entry(symbol).or_insert_with(|| vec![0; self.profiles.len()]);
                of[side] = function.body.total();
            }
        }
        let mut canonical: Vec<SymbolId> = totals.keys().copied().collect();
        self.symbols.sort(&mut canonical);
        canonical.sort_by_key(|symbol| Reverse(totals[symbol].iter().max()));
        let candidates = &canonical[..canonical.len().min(MOST_FUNCTIONS)];
        let shown: Vec<Shown> =
            candidates.par_iter().map(|&symbol| Shown::new(self.symbols, symbol)).collect();
        let mut left = 0;
        let mut shown = shown.into_iter();
        for &symbol in &canonical {
            let row = self.row_bytes(symbol, &totals[&symbol]);
            let cost = |shown: &Shown| self.bytes(symbol, shown) + row;
            let shown = shown.next().map(|shown| (cost(&shown), shown));
            match shown.filter(|(cost, _)| ALL - MOST_ROWS + cost <= self.room) {
                Some((cost, shown)) => {
                    self.room -= cost;
                    self.name(symbol, shown);
                }
                None => left += totals[&symbol].last().copied().unwrap_or(0),
            }
        }
        self.functions = self.named.len();
        let all: u128 = totals.values().filter_map(|of| of.last()).sum();
        let number = canonical.len() - self.functions;
        self.left_out = (number, left as f64 / (all.max(1)) as f64);
    }

    /// Bytes of a function besides its name.
    fn row_bytes(&self, symbol: SymbolId, totals: &[u128]) -> usize {
        const BETWEEN: usize = 20;
        const CALLS: usize = 90;
        let of_side = |(profile, &total): (&&Profile, &u128)| {
            let Some(function) = profile.functions.get(&symbol) else { return BETWEEN };
            let mut has_calls = false;
            function.body.for_each_record(&mut |record| has_calls |= !record.targets.is_empty());
            let numbers = [total, function.head_count.into(), function.timestamp.into()];
            BETWEEN + CALLS * usize::from(has_calls) + numbers.map(digits).iter().sum::<usize>()
        };
        self.profiles.iter().zip(totals).map(of_side).sum()
    }

    /// Chooses as many functions with lines as there is room for. If there may be sources, they keep half of the room.
    fn add_lines(&mut self) {
        let is_declared = |&symbol: &SymbolId| self.symbols.declaration_line(symbol).is_some();
        let for_sources = match self.named.iter().any(is_declared) {
            true => self.room / 2,
            false => 0,
        };
        for number in 0..self.functions {
            let symbol = self.named[number];
            let functions = self.profiles.iter().map(|profile| profile.functions.get(&symbol));
            let bodies: Vec<&'p Body> =
                functions.flatten().map(|function| &function.body).collect();
            let mut new = BTreeMap::new();
            bodies.iter().for_each(|body| self.add_new(body, &mut new));
            let counts: usize = bodies.iter().map(|body| bytes(body)).sum();
            let names = new.iter().map(|(&symbol, shown)| self.bytes(symbol, shown));
            let cost = counts + names.sum::<usize>();
            if cost + for_sources > self.room {
                return;
            }
            self.room -= cost;
            new.into_iter().for_each(|(symbol, shown)| self.name(symbol, shown));
            bodies.into_iter().for_each(|body| self.add_ranges(symbol, body));
            self.detailed = number + 1;
        }
    }

    /// Collects the symbols of a body that the page does not name yet.
    fn add_new(&self, body: &Body, new: &mut BTreeMap<SymbolId, Shown>) {
        body.for_each_record(&mut |record| {
            for &symbol in record.targets.keys().chain(record.inlined.keys()) {
                if self.number(symbol) == NONE {
                    new.entry(symbol).or_insert_with(|| Shown::new(self.symbols, symbol));
                }
            }
        });
    }

    /// Adds the source lines of a body, and of the bodies inlined in it.
    fn add_ranges(&mut self, function: SymbolId, body: &Body) {
        self.add_range(function, body);
        for record in body.positions.values() {
            for (&callee, inner) in &record.inlined {
                self.add_ranges(callee, inner);
            }
        }
    }

    fn add_range(&mut self, function: SymbolId, body: &Body) {
        let declared = self.symbols.declaration_line(function);
        let file = self.symbols.declared_in(function);
        let (Some(declared), Some(file)) = (declared, file) else { return };
        let lines = body.positions.keys().map(|position| position.signed_line());
        let last = lines.max().unwrap_or(0);
        if !self.ranges.contains_key(file) {
            self.ranges.insert(file.to_vec(), Ranges::default());
        }
        if let Some(ranges) = self.ranges.get_mut(file) {
            ranges.add(declared, last);
        }
    }

    /// Bytes of a symbol that the page does not name yet.
    fn bytes(&self, symbol: SymbolId, shown: &Shown) -> usize {
        const A_PLACE: usize = 12;
        let path = self.symbols.declared_in(symbol).filter(|path| !self.paths.contains(path));
        A_PLACE + shown.bytes() + path.map_or(0, |path| letters::bytes(&letters::name(&text(path))))
    }

    /// Adds a symbol to those that the page names.
    fn name(&mut self, symbol: SymbolId, shown: Shown) {
        self.paths.extend(self.symbols.declared_in(symbol));
        self.places[symbol.index()] = self.named.len() as u32;
        self.named.push(symbol);
        self.names.push(shown);
    }
}

/// A name as the page shows it.
pub struct Shown {
    pub whole: String,
    /// The name without parameters and template arguments, if it has many letters.
    pub short: Option<String>,
}

impl Shown {
    fn new(symbols: &Symbols, symbol: SymbolId) -> Self {
        let names = Names::as_asked(true);
        let whole = letters::name(&names.name(symbols, symbol));
        let short = || letters::name(&names.short(&text(symbols.name(symbol)), "", Some(ROOM)));
        let short = (whole.len() > ROOM).then(short).filter(|short| *short != whole);
        Self { whole, short }
    }

    fn bytes(&self) -> usize {
        let short = self.short.as_ref().map_or(0, |short| letters::bytes(short) + 10);
        letters::bytes(&self.whole) + short
    }
}

/// Bytes of a body on the page.
fn bytes(body: &Body) -> usize {
    const A_RECORD: usize = 10;
    const A_TARGET: usize = 24;
    const A_BODY: usize = 12;
    let mut bytes = A_BODY;
    body.for_each_record(&mut |record| {
        bytes += A_RECORD + digits(record.count.unwrap_or(0).into());
        bytes += A_TARGET * record.targets.len() + A_BODY * record.inlined.len();
    });
    bytes
}

/// Number of characters of a count. A long count is text with quotation marks.
fn digits(number: u128) -> usize {
    const LONG_COUNT: usize = 16;
    const MARKS: usize = 4;
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    if digits < LONG_COUNT { digits } else { digits + MARKS }
}
