//! Lets an analysis look at the listings of a program's functions, unit by unit.

use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;
use std::sync::Arc;

use gimli::AttributeValue;
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;

use crate::formats::afdo_v1_v3::names::without_clones;
use crate::pool::{Pool, PoolGuard};
use crate::program::counters::{Counters, Sites};
use crate::program::dataflow::abstract_state::Addresses;
use crate::program::debug::declared::Declarations;
use crate::program::debug::functions::{Declaration, Found, Function, functions};
use crate::program::debug::line_table::{Row, rows};
use crate::program::debug::units::Units;
use crate::program::decode::Machine;
use crate::program::disassembly::excerpt::{self, Disassembler, Excerpts};
use crate::program::disassembly::pieces::OfUnit;
use crate::program::listing::{Analysis, Tables};
use crate::program::object_file::image::{Image, Symbol};

/// Most units with listings in memory at once.
const BATCH: u32 = 16;

/// Most functions that a core takes without others being able to take over some.
const AT_ONCE: usize = 8;

/// What is known about a program as a whole.
pub struct Program<'p, 'c, 'd> {
    image: &'c Image<'c>,
    units: &'p Units<'d>,
    symbols: BTreeMap<u64, Symbol>,
    counters: Counters,
    sites: Sites,
    code: Vec<Range<u64>>,
}

/// A unit, and the first damage there.
type OrDamaged<'d> = (Read<'d>, Option<gimli::Error>);

/// A unit: its functions and lines.
struct Read<'d> {
    number: u32,
    found: Found<'d>,
    rows: Vec<Row>,
    /// For each file of the unit: whether any row has it.
    is_used: Vec<bool>,
}

/// What earlier units have said.
#[derive(Default)]
struct SeenBefore<'p> {
    /// Where their functions start.
    starts: HashSet<u64>,
    /// The functions that they declare: file, line, and the place of the name in the table of strings.
    declared: HashSet<(u32, u32, usize)>,
    /// The numbers of these files, by their paths.
    files: HashMap<&'p [u8], u32>,
}

/// What an analysis found in a unit, and the first damage there.
struct UnitResult<F> {
    tables: Tables,
    findings: Vec<F>,
    error: Option<gimli::Error>,
}

/// An analysis, with what makes listings for it on some cores.
struct AnalysisPool<'a, M, S: Analysis> {
    analysis: &'a S,
    idle: Pool<(Disassembler<M>, S::Memory)>,
}

/// Divides that many units. The last batches are small, since nothing goes on while what is known about the last one is
/// taken.
fn batches(units: u32) -> impl Iterator<Item = Range<u32>> {
    let mut next = 0;
    core::iter::from_fn(move || {
        let first = next;
        next += BATCH.min((units - first).div_ceil(2));
        (first < next).then_some(first..next)
    })
}

impl<'p, 'c, 'd> Program<'p, 'c, 'd> {
    /// A program with these functions and counters.
    pub fn new(
        image: &'c Image<'c>,
        symbols: BTreeMap<u64, Symbol>,
        (counters, sites): (Counters, Sites),
        units: &'p Units<'d>,
    ) -> Self {
        Self { image, units, symbols, counters, sites, code: image.code() }
    }

    /// Shows all listings, and passes what the analysis finds in each unit to `take`. Damaged parts are left
    /// out; gives the first error.
    pub fn show<M: Machine<'c> + Send, S: Analysis>(
        &self,
        analysis: &S,
        mut take: impl FnMut(&Tables, Vec<S::Finding>) + Send,
    ) -> Option<gimli::Error> {
        let mut error = None;
        let mut seen = SeenBefore::default();
        let mut take_all = |studied: Vec<UnitResult<S::Finding>>| {
            studied.into_iter().for_each(|unit| take(&unit.tables, unit.findings));
        };
        let mut batches = batches(self.units.all().len() as u32);
        let pool = AnalysisPool { analysis, idle: Pool::default() };
        let mut read = batches.next().map(|batch| self.read_all(batch));
        let mut last = Vec::new();
        while let Some(units) = read.take() {
            // While one core takes what is known about the last units, the others study these and read the next ones.
            let batch = batches.next();
            let study = || self.study::<M, S>(units, &mut seen, &pool);
            let study = || rayon::join(study, || batch.map(|batch| self.read_all(batch)));
            let ((studied, next), ()) = rayon::join(study, || take_all(last));
            read = next;
            error = studied.iter().map(|unit| unit.error).fold(error, Option::or);
            last = studied;
        }
        take_all(last);
        error
    }

    fn addresses(&self) -> Addresses<'_, 'c> {
        let Self { image, counters, sites, symbols, .. } = self;
        Addresses { image, counters, sites, functions: symbols }
    }

    fn read_all(&self, units: Range<u32>) -> Vec<OrDamaged<'d>> {
        units.into_par_iter().with_max_len(1).map(|number| self.read(number)).collect()
    }

    /// Studies some units. Units before them may have said something about these.
    fn study<M: Machine<'c> + Send, S: Analysis>(
        &self,
        mut units: Vec<OrDamaged<'d>>,
        seen: &mut SeenBefore<'p>,
        pool: &AnalysisPool<'_, M, S>,
    ) -> Vec<UnitResult<S::Finding>> {
        // If several objects have a function, the linker keeps the first one. The debug information of
        // all of them says that it is about that one.
        for (unit, _) in &mut units {
            unit.found.functions.retain(|function| seen.starts.insert(function.ranges[0].start));
            self.drop_repetitions(unit, seen);
        }
        let analyse = |(unit, error): OrDamaged<'d>| {
            let studied = self.analyse(unit, pool);
            UnitResult { error: error.or(studied.error), ..studied }
        };
        units.into_par_iter().with_max_len(1).map(analyse).collect()
    }

    /// Drops the declarations that are of no use, and those that earlier units have, too: mostly those of headers.
    fn drop_repetitions(&self, unit: &mut Read<'d>, seen: &mut SeenBefore<'p>) {
        let SeenBefore { declared, files, .. } = seen;
        let number = |(path, &is_used): (&'p Option<Arc<[u8]>>, &bool)| {
            let next = files.len() as u32;
            let path = path.as_deref().filter(|_| is_used)?;
            Some(*files.entry(path).or_insert(next))
        };
        let paths = &self.units.all()[unit.number as usize].paths;
        let numbers: Vec<Option<u32>> = paths.iter().zip(&unit.is_used).map(number).collect();
        unit.found.declarations.retain(|declaration| {
            let file = numbers.get(declaration.file as usize).copied().flatten();
            file.is_some_and(|file| match declaration.name {
                AttributeValue::DebugStrRef(name) => {
                    declared.insert((file, declaration.line, name.0))
                }
                _ => true,
            })
        });
    }

    fn read(&self, number: u32) -> OrDamaged<'d> {
        let ((found, error), rows) = rayon::join(
            || functions(self.units, number),
            || rows(&self.units.all()[number as usize], &self.code),
        );
        let error = error.or(rows.as_ref().err().copied());
        let rows = rows.unwrap_or_default();
        let mut is_used = vec![false; self.units.all()[number as usize].paths.len()];
        for row in &rows {
            is_used.get_mut(row.file as usize).into_iter().for_each(|used| *used = true);
        }
        (Read { number, found, rows, is_used }, error)
    }

    fn analyse<M: Machine<'c> + Send, S: Analysis>(
        &self,
        unit: Read<'d>,
        pool: &AnalysisPool<'_, M, S>,
    ) -> UnitResult<S::Finding> {
        let Read { number, found, rows, is_used } = unit;
        let excerpts = Excerpts::new(self.addresses(), &rows);
        let mut declarations = Declarations::new(self.units, number, &found.members);
        let files = excerpt::files(&self.units.all()[number as usize], &is_used, &mut declarations);
        let mut error = self.name(&found.functions, &mut declarations);
        let beginning = |code: &Range<u64>| self.beginning(number, &rows, code);
        let mut declared = Vec::with_capacity(found.functions.len());
        for function in &found.functions {
            match excerpt::declared(function, &mut declarations, beginning) {
                Ok(of_copies) => declared.extend(of_copies.map(|of| (function, of))),
                Err(why) => error = error.or(Some(why)),
            }
        }
        let mentioned =
            |declaration: &Declaration<'d>| declarations.mention(&files, declaration).err();
        let outside = found.declarations.iter().filter(|declaration| !declaration.is_local);
        error = outside.map(mentioned).fold(error, Option::or);
        let tables = declarations.tables;
        let of_unit = OfUnit { files: &files, functions: &tables.functions };
        let known = pool.analysis.unit(&tables);
        declared.retain(|(_, of_copies)| pool.analysis.wants(&known, of_copies));
        let look = |using: &mut PoolGuard<'_, (Disassembler<M>, S::Memory)>,
                    found: &(&Function, _)| {
            let (disassembler, memory) = &mut **using;
            let (function, of_copies): &(_, Vec<Option<u32>>) = found;
            let listing = excerpts.listing(disassembler, function, of_copies, of_unit);
            pool.analysis.listing(&known, &listing, memory)
        };
        // One function may be as large as a hundred others.
        let findings = declared.par_iter().with_max_len(AT_ONCE);
        let new = || (Disassembler::new(self.image), S::Memory::default());
        let using = || pool.idle.lend(new);
        let findings = findings.map_init(using, look).collect();
        UnitResult { tables, findings, error }
    }

    /// The file and the line on which code begins.
    fn beginning(&self, unit: u32, rows: &[Row], code: &Range<u64>) -> Option<(Arc<[u8]>, u32)> {
        let first = rows.partition_point(|row| row.address < code.start);
        let mut rows = rows[first..].iter().take_while(|row| row.address < code.end);
        let row = rows.find(|row| row.line != 0)?;
        let path = self.units.all()[unit as usize].paths.get(row.file as usize)?.clone()?;
        Some((path, row.line))
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
            let names: Vec<&[u8]> =
                symbol.names.iter().map(|name| without_clones(name.as_bytes())).collect();
            error = error.or(declarations.name(function.copies[0].entry, &names).err());
        }
        error
    }
}
