//! Makes the profile of a dump, with the help of the compiler's notes.
//!
//! * [`crate::placement`] gives the counts of a function's blocks their positions. A projection of that is what a
//!   reader is given.
//! * The head count is the sum of the arcs that leave the entry, except those that lead back into the middle,
//!   as after `setjmp` or through computed gotos.
//! * The timestamp is the time counter, the smallest of all copies.
//! * Call targets stand at the line of the call where that line is certain, see `targets`.
//!
//! The profile has functions that were never executed, with zeros for the lines of their own: that is known, too.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hashbrown::HashMap;

use super::names::Names;
use super::program_reader::ProgramReader;
use super::projected::{Projected, Projecting, Wanted};
use super::statistics::{EstimatedLine, Loss, Statistics};
use super::targets::{Callees, Sites};
use crate::formats::gcno::{self, Notes};
use crate::placement::RuleSet;
use crate::placement::estimate::Estimate;
use crate::placement::lost::Lost;
use crate::placement::observe::{self, Candidates, Evidence, Findings};
use crate::placement::project::hot_calls::Calls;
use crate::placement::project::{Credit, body_behind, gcc_16_17};
use crate::placement::reader::{Reader, Zeros};
use crate::placement::solve::counted::{self, Counted, Known, Line};
use crate::placement::solve::flow::Flow;
use crate::placement::starts::{Start, Starts};
use crate::profile::{FileId, Profile, Record, SymbolId};
use crate::raw::dump::{Dump, Module};
use crate::raw::gcov::Kind;
use crate::workers::Workers;

/// Makes the profile of a dump for a reader.
///
/// `notes` has each file of notes once. `chosen` has for each module's objects the index of their notes, if
/// any fit: those with the same stamp. The number of `workers` makes no difference to the result.
pub fn profile(
    dump: &Dump,
    notes: &[Notes<'_>],
    chosen: &[Vec<Option<usize>>],
    program: &impl ProgramReader,
    workers: &impl Workers,
    reader: Reader,
) -> (Profile, Statistics) {
    let verbose = program.wants_details();
    let rules = program.rules();
    let mut conversion = Conversion { reader, rules, verbose, ..Conversion::default() };
    let known: Vec<_> = notes.iter().map(|notes| conversion.known(notes, program)).collect();
    for (number, (module, chosen)) in dump.modules.iter().zip(chosen).enumerate() {
        conversion.module(module, number, (&known, chosen), program, workers);
    }
    let dropped = dump.modules.iter().map(|module| module.sums.dropped);
    conversion.statistics.events_dropped = dropped.fold(0, u64::saturating_add);
    conversion.starts.declare(&mut conversion.profile.symbols);
    conversion.calls.insert(&mut conversion.profile, reader.hot_calls, workers);
    if reader.zeros == Zeros::Ones {
        gcc_16_17::zeros_as_ones(&mut conversion.profile);
    }
    conversion.statistics.losses = conversion.losses();
    conversion.statistics.estimates = conversion.estimates();
    (conversion.profile, conversion.statistics)
}

/// What has been found so far.
#[derive(Default)]
struct Conversion {
    profile: Profile,
    statistics: Statistics,
    names: Names,
    starts: Starts,
    reader: Reader,
    rules: RuleSet,
    calls: Calls,
    /// Executions that are not in the profile, by line, function and reason.
    losses: HashMap<(FileId, u32, SymbolId, Lost), u64>,
    /// Estimated executions, by function, line from its start, and how the place was inferred.
    estimates: HashMap<(SymbolId, u32, Estimate), u64>,
    /// Whether to name everything that is dropped.
    verbose: bool,
}

impl Conversion {
    /// Takes the names and places of an object's functions.
    fn known<'n>(&mut self, notes: &'n Notes<'n>, program: &impl ProgramReader) -> Known<'n> {
        let symbols = &mut self.profile.symbols;
        let path = |file: &&[u8]| symbols.file(&program.path(notes.directory, file));
        let files: Vec<_> = notes.files.iter().map(path).collect();
        let symbol = |function: &gcno::Function<'n>| {
            let file = files[function.file as usize];
            let name = function.name.strip_prefix(b"*").unwrap_or(function.name);
            let symbol = self.profile.symbols.symbol(name, Some(file));
            self.names.add(function.ident, symbol);
            let (line, end) = (function.start_line, Some(function.end_line));
            match function.artificial {
                true => self.starts.add_artificial(symbol, line),
                false => self.starts.add(file, Start { line, symbol, end, is_outer: false }),
            }
            let of_files = notes.lines(function).chunk_by(|a, b| a.file == b.file);
            for lines in of_files.filter(|lines| lines[0].file != function.file) {
                self.starts.add_user(files[lines[0].file as usize], symbol);
            }
            symbol
        };
        let symbols = notes.functions.iter().map(symbol).collect();
        Known::new(notes, symbols, files)
    }

    /// Adds the counts of a module.
    fn module(
        &mut self,
        module: &Module,
        number: usize,
        (known, chosen): (&[Known<'_>], &[Option<usize>]),
        program: &impl ProgramReader,
        workers: &impl Workers,
    ) {
        let functions = self.solved(module, (known, chosen), workers);
        let (Findings { evidence, addresses }, has_code) =
            self.observed(number, &functions, program);
        // All functions are looked at with the symbols and starts that are known now.
        let mut symbols = core::mem::take(&mut self.profile.symbols);
        let starts = core::mem::take(&mut self.starts);
        let wanted = self.wanted(program);
        let known = Projecting {
            functions: &functions,
            addresses: &addresses,
            starts: &starts,
            symbols: &symbols,
            wanted,
        };
        let project = |place: usize, memory: &mut _, projected: &mut _| {
            known.function(place, &evidence[place], memory, projected);
        };
        let mut callees = Callees::new(program, &symbols);
        let take = |projected: &mut Projected| {
            let place = projected.place;
            let seen = (&evidence[place], has_code);
            self.function(&functions[place], seen, projected, &starts, &mut callees);
        };
        workers.pass(0..functions.len(), project, take);
        let names = callees.names();
        symbols.add(names);
        (self.profile.symbols, self.starts) = (symbols, starts);
    }

    /// The functions of a module, with the counts of their blocks.
    fn solved<'m, 'n: 'm>(
        &mut self,
        module: &'m Module,
        (known, chosen): (&'m [Known<'n>], &[Option<usize>]),
        workers: &impl Workers,
    ) -> Vec<Counted<'m>> {
        let mut objects = Vec::new();
        for (object, chosen) in module.objects.iter().zip(chosen) {
            let Some(known) = chosen.and_then(|chosen| known.get(chosen)) else {
                self.statistics.objects_without_notes += 1;
                continue;
            };
            self.statistics.objects += 1;
            let views = module.functions(object).filter(|view| !view.is_absent());
            objects.push((object, known, views.collect()));
        }
        let (mut functions, unknown) = counted::counted(objects);
        self.statistics.functions_without_notes += unknown;
        let runs = i64::try_from(module.sums.runs).unwrap_or(i64::MAX);
        counted::solve(&mut functions, runs, workers);
        functions
    }

    /// What the machine code of a module says about its functions, and whether there is any.
    fn observed(
        &mut self,
        number: usize,
        functions: &[Counted<'_>],
        program: &impl ProgramReader,
    ) -> (Findings, bool) {
        let mut findings = Findings::default();
        findings.evidence.resize_with(functions.len(), Evidence::default);
        let candidates = Candidates::new(functions, &self.profile.symbols, self.rules);
        let (symbols, starts) = (&mut self.profile.symbols, &mut self.starts);
        let has_code = program.listings(number, functions, &candidates, |image, tables, found| {
            observe::take(image, tables, found, symbols, &mut findings, starts);
        });
        self.starts.sort();
        (findings, has_code)
    }

    /// What is wanted of each function.
    fn wanted<'s>(&self, program: &'s impl ProgramReader) -> Wanted<'s> {
        Wanted {
            reader: self.reader,
            rules: self.rules,
            details: self.verbose,
            check: program.wants_check(),
            line: program.explains(),
        }
    }

    fn function(
        &mut self,
        function: &Counted<'_>,
        (evidence, has_code): (&Evidence, bool),
        projected: &mut Projected,
        starts: &Starts,
        callees: &mut Callees<'_, impl ProgramReader>,
    ) {
        let flow = match &function.flow {
            Ok(flow) => flow,
            Err(error) => {
                self.statistics.functions_impossible += function.views.len();
                let name = String::from_utf8_lossy(function.notes.name);
                for (_, object) in &function.views {
                    let path = String::from_utf8_lossy(&object.path);
                    self.statistics.details.push(format!("{path}: {name}: {error}; not used"));
                }
                return;
            }
        };
        self.statistics.faults.append(&mut projected.faults);
        self.statistics.explanations.append(&mut projected.explanations);
        self.statistics.functions += function.views.len();
        self.statistics.counters += function.views.len() * function.counters.len();
        self.statistics.functions_mended += usize::from(flow.mended);
        self.head(function, flow);
        self.credit(function.symbol, projected);
        self.account(function.symbol, projected);
        self.calls.add(function.symbol, function.size(), &mut projected.calls);
        self.sites().add((function, flow), (evidence, has_code), starts, callees);
    }

    fn sites(&mut self) -> Sites<'_> {
        let Self { profile, statistics, names, reader, verbose, .. } = self;
        Sites { profile, statistics, names, reader: *reader, verbose: *verbose }
    }

    fn head(&mut self, counted: &Counted<'_>, flow: &Flow) {
        let function = self.profile.functions.entry(counted.symbol).or_default();
        let entries = flow.entries(counted.arcs()).max(0) as u64;
        function.head_count = function.head_count.saturating_add(entries);
        for (view, _) in &counted.views {
            let first = view.counters(Kind::TIME).first().copied().unwrap_or(0).max(0) as u64;
            if first != 0 && (function.timestamp == 0 || first < function.timestamp) {
                function.timestamp = first;
            }
        }
    }

    /// Adds the counts of a function's lines to the profile.
    fn credit(&mut self, function: SymbolId, projected: &Projected) {
        for (credited, within, counts) in projected.credited.iter() {
            let lines = match credited == function {
                true if within.is_empty() => &mut self.statistics.lines,
                true => &mut self.statistics.lines_nested,
                false => &mut self.statistics.lines_inlined,
            };
            *lines += counts.len();
            // A copy without counts has no body.
            if counts.is_empty() {
                continue;
            }
            let outer = &mut self.profile.functions.entry(credited).or_default().body;
            let body = body_behind(outer, within);
            if body.positions.is_empty() {
                let record = |&Credit { position, count, is_estimate }: &Credit| {
                    (position, Record { count: Some(count), is_estimate, ..Record::default() })
                };
                body.positions = counts.iter().map(record).collect();
                continue;
            }
            for &Credit { position, count, is_estimate } in counts {
                let record = body.positions.entry(position).or_default();
                record.is_estimate |= is_estimate;
                let sum = record.count.get_or_insert(0);
                *sum = sum.saturating_add(count);
            }
        }
    }

    /// Adds the executions of a function's lines to the account.
    fn account(&mut self, function: SymbolId, projected: &Projected) {
        let Projected { lost, executions, estimated, .. } = projected;
        let of_lost = lost.iter().fold(0u64, |sum, (_, count, _)| sum.saturating_add(*count));
        let statistics = &mut self.statistics;
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut statistics.executions, *executions);
        let placed = executions.saturating_sub(of_lost);
        add(&mut statistics.executions_placed, placed);
        statistics.estimated.merge(estimated, placed);
        if !self.verbose {
            return;
        }
        for &(Line { file, line, .. }, count, why) in lost {
            let sum = self.losses.entry((file, line, function, why)).or_default();
            *sum = sum.saturating_add(count);
        }
        for &(at, count) in &projected.estimates {
            let sum = self.estimates.entry(at).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// The lines with estimates, the heaviest first.
    fn estimates(&mut self) -> Vec<EstimatedLine> {
        let symbols = &self.profile.symbols;
        let line = |((function, line, how), executions)| EstimatedLine {
            function: String::from_utf8_lossy(symbols.name(function)).into_owned(),
            line,
            how,
            executions,
        };
        let mut lines: Vec<EstimatedLine> =
            core::mem::take(&mut self.estimates).into_iter().map(line).collect();
        lines.sort_by(|a, b| {
            let position = |line: &EstimatedLine| (line.function.clone(), line.line, line.how);
            b.executions.cmp(&a.executions).then_with(|| position(a).cmp(&position(b)))
        });
        lines
    }

    /// The lost lines, the heaviest first.
    fn losses(&mut self) -> Vec<Loss> {
        let symbols = &self.profile.symbols;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let loss = |((file, line, function, why), executions)| Loss {
            path: text(symbols.path(file)),
            line,
            function: text(symbols.name(function)),
            executions,
            why,
        };
        let mut losses: Vec<Loss> =
            core::mem::take(&mut self.losses).into_iter().map(loss).collect();
        losses.sort_by(|a, b| {
            let position =
                |loss: &Loss| (loss.path.clone(), loss.line, loss.function.clone(), loss.why);
            b.executions.cmp(&a.executions).then_with(|| position(a).cmp(&position(b)))
        });
        losses
    }
}
