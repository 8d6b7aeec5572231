//! Lets an analysis look at the listings of a program's functions, unit by unit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;

use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use super::counters::{self, Counters, Sites, Wanted};
use super::excerpt::{self, Excerpts};
use super::image::{self, Image, Symbol};
use super::machine::Machine;
use super::pieces::OfUnit;
use super::walk;
use crate::convert::gcov::listing::Tables;
use crate::convert::gcov::program::debug::declared::Declarations;
use crate::convert::gcov::program::debug::functions::{Declaration, Found, Function, functions};
use crate::convert::gcov::program::debug::line_table::{Row, rows};
use crate::convert::gcov::program::debug::units::Units;
use crate::convert::gcov::source::Analysis;
use crate::formats::afdo_v1_v3::names::without_clones;

/// Number of units with listings in memory at once.
const BATCH: usize = 16;

/// Most functions that a core takes without others being able to take over some.
const AT_ONCE: usize = 8;

/// What is known about a program as a whole.
pub struct Program<'p, 'c, 'd> {
    image: &'c Image<'c>,
    units: &'p Units<'d>,
    symbols: BTreeMap<u64, Symbol>,
    counters: Counters,
    /// The sites of indirect calls, by the addresses of the calls.
    sites: HashMap<u64, (u32, u32)>,
    code: Vec<Range<u64>>,
}

/// A unit: its functions and lines.
struct Read<'d> {
    number: u32,
    found: Found<'d>,
    rows: Vec<Row>,
}

/// What an analysis found in a unit, and the first damage there.
struct Studied<F> {
    tables: Tables,
    findings: Vec<F>,
    error: Option<gimli::Error>,
}

impl<'p, 'c, 'd> Program<'p, 'c, 'd> {
    /// Finds the counters and sites of all functions.
    pub fn new<M: Machine<'c> + Send>(
        image: &'c Image<'c>,
        debug: &object::File<'_>,
        wanted: &[Wanted],
        units: &'p Units<'d>,
    ) -> Self {
        let addresses = counters::find(image, wanted);
        let sites = Sites::new(wanted, &addresses, counters::tables(debug));
        let symbols = image::functions(image, debug);
        let mut site_at = HashMap::new();
        for (&(function, site), calls) in &walk::calls::<M>(image, &symbols, &sites) {
            let site = (function as u32, site as u32);
            site_at.extend(calls.iter().map(|&address| (address, site)));
        }
        let counters = Counters::new(wanted, &addresses);
        Self { image, units, symbols, counters, sites: site_at, code: image.code() }
    }

    /// Shows all listings, and passes what the analysis finds in each unit to `take`. Damaged parts are left
    /// out; gives the first error.
    pub fn show<M: Machine<'c> + Send, S: Analysis>(
        &self,
        analysis: &S,
        mut take: impl FnMut(&Tables, Vec<S::Finding>) + Send,
    ) -> Option<gimli::Error> {
        let mut error = None;
        let mut starts = HashSet::new();
        let mut take_all = |studied: Vec<Studied<S::Finding>>| {
            studied.into_iter().for_each(|unit| take(&unit.tables, unit.findings));
        };
        let numbers: Vec<u32> = (0..self.units.all().len() as u32).collect();
        let mut last = Vec::new();
        for batch in numbers.chunks(BATCH) {
            // While one core takes what is known about the last units, the others study the next ones.
            let (studied, ()) =
                rayon::join(|| self.study::<M, S>(batch, &mut starts, analysis), || take_all(last));
            error = studied.iter().map(|unit| unit.error).fold(error, Option::or);
            last = studied;
        }
        take_all(last);
        error
    }

    /// Studies some units. `starts` has the addresses of the functions in units before them.
    fn study<M: Machine<'c> + Send, S: Analysis>(
        &self,
        units: &[u32],
        starts: &mut HashSet<u64>,
        analysis: &S,
    ) -> Vec<Studied<S::Finding>> {
        let read = units.par_iter().with_max_len(1).map(|&number| self.read(number));
        let mut units: Vec<_> = read.collect();
        // If several objects have a function, the linker keeps the first one. The debug information of
        // all of them says that it is about that one.
        for (unit, _) in &mut units {
            unit.found.functions.retain(|function| starts.insert(function.ranges[0].start));
        }
        let analyse = |(unit, error): (Read<'d>, Option<gimli::Error>)| {
            let studied = self.analyse::<M, S>(unit, analysis);
            Studied { error: error.or(studied.error), ..studied }
        };
        units.into_par_iter().with_max_len(1).map(analyse).collect()
    }

    fn read(&self, number: u32) -> (Read<'d>, Option<gimli::Error>) {
        let ((found, error), rows) = rayon::join(
            || functions(self.units, number),
            || rows(&self.units.all()[number as usize], &self.code),
        );
        let error = error.or(rows.as_ref().err().copied());
        (Read { number, found, rows: rows.unwrap_or_default() }, error)
    }

    fn analyse<M: Machine<'c> + Send, S: Analysis>(
        &self,
        unit: Read<'d>,
        analysis: &S,
    ) -> Studied<S::Finding> {
        let Read { number, found, rows } = unit;
        let excerpts = Excerpts::new(self.image, &self.counters, &self.sites, &rows);
        let mut declarations = Declarations::new(self.units);
        let files = excerpts.files(&self.units.all()[number as usize], &mut declarations);
        let mut error = self.name(&found.functions, &mut declarations);
        let mut declared = Vec::with_capacity(found.functions.len());
        for function in &found.functions {
            match excerpt::declared(function, &mut declarations) {
                Ok(of_copies) => declared.extend(of_copies.map(|of| (function, of))),
                Err(why) => error = error.or(Some(why)),
            }
        }
        let mentioned =
            |declaration: &Declaration<'d>| declarations.mention(number, &files, declaration).err();
        error = found.declarations.iter().map(mentioned).fold(error, Option::or);
        let tables = declarations.tables;
        let of_unit = OfUnit { files: &files, functions: &tables.functions };
        let known = analysis.unit(&tables);
        let look = |machine: &mut M, (function, of_copies): &(&Function, Vec<Option<u32>>)| {
            analysis.listing(&known, &excerpts.listing(machine, function, of_copies, of_unit))
        };
        // One function may be as large as a hundred others.
        let findings = declared.par_iter().with_max_len(AT_ONCE);
        let findings = findings.map_init(|| M::new(self.image), look).collect();
        Studied { tables, findings, error }
    }

    /// Names functions as the linker calls them. Gives the first error.
    fn name(
        &self,
        functions: &[Function],
        declarations: &mut Declarations<'p, 'd>,
    ) -> Option<gimli::Error> {
        let mut error = None;
        for function in functions {
            let Some(symbol) = self.symbols.get(&function.ranges[0].start) else { continue };
            let name = without_clones(symbol.name.as_bytes());
            error = error.or(declarations.name(function.copies[0].entry, name).err());
        }
        error
    }
}
