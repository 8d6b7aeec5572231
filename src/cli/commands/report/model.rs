//! The JSON of a page. The page's scripts draw it; [`super::outline`] chooses the functions and lines that have room.
//!
//! Functions have numbers: 0 has the largest total of any side. The numbers behind the functions in `names` and the
//! lists beside it are symbols that are only inlined or called. Lists by function number keep the JSON small.

use std::collections::{BTreeMap, HashMap};
use std::prelude::v1::*;
use std::time::SystemTime;

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::changes::Changes;
use super::curve::Curve;
use super::files::FileTable;
use super::letters;
use super::outline::Outline;
use super::rows::{Count, Rows, targets};
use super::side::Side;
use super::sources::{Note, Source, source};
use crate::cli::commands::diff::markdown::first_targets;
use crate::cli::inputs::source_text::SourceTexts;
use crate::cli::terminal::names::text;
use crate::convert::gcov::Statistics;
use crate::convert::number::Number;
use crate::profile::overlap::{Comparison, Pair};
use crate::profile::{Function, Map, Profile, Symbols};

/// Most targets of a function in the table of functions.
const MOST_TARGETS: usize = 3;

/// The content of a page.
#[derive(Debug, Serialize)]
pub struct Model {
    format: &'static str,
    version: u32,
    /// Whether the lines are counters, without places in the source.
    pub by_function: bool,
    /// Paths of files.
    files: Vec<String>,
    names: Vec<String>,
    /// For each long name, its number, and the name without parameters and template arguments.
    shorts: Vec<(usize, String)>,
    /// For each name, the number of its file, and the line of the declaration; -1 and 0 if unknown.
    declared: Vec<(i64, u32)>,
    /// Number of functions of the table. Their names come first.
    pub functions: usize,
    /// Number of functions with lines. They come first.
    detailed: usize,
    /// The profile; in a comparison the one before and the one now.
    pub sides: Vec<SideModel>,
    sources: Vec<Source>,
    pub changes: Option<Changes>,
    /// The table of files, if their lines are known.
    pub coverage: Option<FileTable>,
    /// Notes for the reader, each in whole sentences.
    pub notes: Vec<String>,
    /// Bytes that are left for texts.
    #[serde(skip)]
    pub room: usize,
}

/// One side.
#[derive(Debug, Serialize)]
pub struct SideModel {
    pub label: String,
    #[serde(skip)]
    pub kinds: Vec<String>,
    #[serde(skip)]
    pub runs: u64,
    #[serde(skip)]
    pub statistics: Option<Statistics>,
    pub total: Count,
    /// Number of functions in the profile.
    pub functions: usize,
    pub curve: Curve,
    /// By function; null if the side does not have it.
    totals: Vec<Option<Count>>,
    heads: Vec<Count>,
    first: Vec<u64>,
    places: Vec<u32>,
    calls: Vec<Calls>,
    bodies: Bodies,
}

/// The indirect calls of a function: its number, the number of sites, the sum of their targets' counts, the most
/// frequent targets.
type Calls = (usize, usize, Count, Vec<(u32, Count)>);

/// Lists of records, as JSON.
#[derive(Debug)]
struct Bodies(Vec<Option<String>>);

impl Model {
    /// The content of a page about one profile.
    pub fn of(mut side: Side) -> Self {
        let profile = std::mem::take(&mut side.profile);
        Self::new(vec![side], &profile.symbols, vec![&profile], None)
    }

    /// The content of a page about two profiles. The profiles of the sides are in `pair`.
    pub fn comparing(sides: [Side; 2], pair: Pair, comparison: &Comparison) -> Self {
        let Pair { symbols, mut profiles, .. } = pair;
        let profiles_of = profiles.each_mut().map(|profile| {
            profile.symbols = symbols.clone();
            &*profile
        });
        Self::new(sides.into(), &symbols, profiles_of.to_vec(), Some(comparison))
    }

    fn new(
        sides: Vec<Side>,
        symbols: &Symbols,
        profiles: Vec<&Profile>,
        comparison: Option<&Comparison>,
    ) -> Self {
        let outline = Outline::new(symbols, profiles);
        let (files, declared) = files(&outline);
        let names = outline.names.iter().map(|shown| shown.whole.clone());
        let shorts = outline.names.iter().enumerate();
        let shorts = shorts.filter_map(|(number, shown)| Some((number, shown.short.clone()?)));
        let changes = comparison.map(|comparison| {
            let targets = [0, 1].map(|side| first_targets(outline.profiles[side]));
            Changes::new(&outline, comparison, &targets)
        });
        let counted = sides.iter().filter_map(|side| side.counted).min();
        let mut of_files = HashMap::<Vec<u8>, SystemTime>::new();
        for (file, &time) in sides.iter().flat_map(|side| &side.counted_of) {
            let oldest = of_files.entry(file.clone()).or_insert(time);
            *oldest = time.min(*oldest);
        }
        let mut texts = SourceTexts::counted_at(counted).with_files(of_files);
        let mut room = outline.room;
        let sources = outline.ranges.iter();
        let sources: Vec<Source> = sources
            .map(|(path, ranges)| source(files[&**path], path, ranges, &mut texts, &mut room))
            .collect();
        let by_function = sides.iter().all(|side| side.by_function.is_some());
        let notes = notes(&sides, &outline, &sources);
        let sides = sides.into_iter().enumerate();
        let mut paths: Vec<(usize, String)> =
            files.iter().map(|(path, &file)| (file, letters::name(&text(path)))).collect();
        paths.sort();
        Self {
            format: "countersink-report",
            version: 1,
            by_function,
            files: paths.into_iter().map(|(_, path)| path).collect(),
            names: names.collect(),
            shorts: shorts.collect(),
            declared,
            functions: outline.functions,
            detailed: outline.detailed,
            sides: sides.map(|(place, side)| SideModel::new(side, &outline, place)).collect(),
            sources,
            changes,
            coverage: None,
            notes,
            room,
        }
    }

    /// A title of the names of the inputs.
    pub fn title(&self) -> String {
        let labels: Vec<&str> = self.sides.iter().rev().map(|side| &*side.label).collect();
        labels.join(" against ")
    }
}

impl SideModel {
    fn new(side: Side, outline: &Outline<'_>, place: usize) -> Self {
        let profile = outline.profiles[place];
        let functions: Vec<Option<&Function>> = outline.named[..outline.functions]
            .iter()
            .map(|symbol| profile.functions.get(symbol))
            .collect();
        let total = |function: &Function| Count(function.body.total());
        let by_function = |of: &dyn Fn(&Function) -> u64| -> Vec<u64> {
            functions.iter().map(|function| function.map_or(0, of)).collect()
        };
        let heads = by_function(&|function| function.head_count);
        let bodies = functions[..outline.detailed].par_iter().map(|function| {
            let body = &(*function)?.body;
            serde_json::to_string(&Rows { outline, body }).ok()
        });
        let calls = functions.iter().enumerate();
        Self {
            label: letters::name(&side.label),
            kinds: side.kinds,
            runs: side.runs,
            statistics: side.statistics,
            total: Count(profile.functions.values().map(|function| function.body.total()).sum()),
            functions: profile.functions.len(),
            curve: Curve::of(profile),
            totals: functions.iter().map(|function| function.map(total)).collect(),
            heads: heads.into_iter().map(|head| Count(head.into())).collect(),
            first: by_function(&|function| function.timestamp),
            places: functions.iter().map(|function| function.map_or(0, places)).collect(),
            calls: calls.filter_map(|(number, of)| calls_of(outline, number, (*of)?)).collect(),
            bodies: Bodies(bodies.collect()),
        }
    }
}

/// Number of counted places of a function.
fn places(function: &Function) -> u32 {
    let mut places = 0;
    function.body.for_each_record(&mut |record| places += u32::from(record.count.is_some()));
    places
}

fn calls_of(outline: &Outline<'_>, number: usize, function: &Function) -> Option<Calls> {
    let (mut sum, mut calls, mut sites) = (Map::default(), 0, 0);
    function.body.for_each_record(&mut |record| {
        sites += usize::from(!record.targets.is_empty());
        for (&target, &number) in &record.targets {
            let of: &mut u64 = sum.entry(target).or_insert(0);
            *of = of.saturating_add(number);
            calls += u128::from(number);
        }
    });
    let mut first = targets(outline, &sum);
    // The page does not name all symbols of functions without lines.
    first.retain(|&(target, _)| (target as usize) < outline.named.len());
    first.truncate(MOST_TARGETS);
    (sites > 0).then_some((number, sites, Count(calls), first))
}

/// The number of each file, by path.
type Files<'p> = BTreeMap<&'p [u8], usize>;

/// The numbers of the files that declare the page's symbols; and for each symbol the file and line of its declaration.
fn files<'p>(outline: &'p Outline<'_>) -> (Files<'p>, Vec<(i64, u32)>) {
    let mut files = BTreeMap::new();
    let mut declared = Vec::with_capacity(outline.named.len());
    for &symbol in &outline.named {
        let line = outline.symbols.declaration_line(symbol).unwrap_or(0);
        let file = outline.symbols.declared_in(symbol).map(|path| {
            let next = files.len();
            *files.entry(path).or_insert(next) as i64
        });
        declared.push((file.unwrap_or(-1), line));
    }
    (files, declared)
}

fn notes(sides: &[Side], outline: &Outline<'_>, sources: &[Source]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(why) = sides.iter().filter_map(|side| side.by_function.as_deref()).max() {
        notes.push(format!(
            "The page shows counters by number, because their lines are not known. {why}"
        ));
    } else if sides.iter().any(|side| !side.has_declarations) {
        notes.push(
            "A profile counts lines from the declaration of a function and does not have its place. \
             The page of a raw dump, or a page with --binary PROGRAM, shows the source."
                .into(),
        );
    }
    if sides.iter().any(|side| side.is_coverage) {
        notes.push(
            "The program recorded whether code was executed, not how often: a count of 1 means once or more."
                .into(),
        );
    }
    let others: usize = sides.iter().map(|side| side.functions_left_out).sum();
    if others > 0 {
        let others = Number(others as u64, "function");
        notes.push(format!("The page leaves out {others} of files that were not chosen."));
    }
    let modules: usize = sides.iter().map(|side| side.left_out).sum();
    if modules > 0 {
        let modules = Number(modules as u64, "module");
        notes.push(format!(
            "The page leaves out {modules} of clang or rustc, because the lines of their counters are not known."
        ));
    }
    let (left_out, share) = outline.left_out;
    if left_out > 0 {
        let percent = share * 100.0;
        let left_out = Number(left_out as u64, "function");
        notes.push(format!(
            "There was no room for {left_out} with the smallest totals, {percent:.2} % of all counts."
        ));
    }
    let without = outline.functions - outline.detailed;
    if without > 0 {
        notes.push(format!(
            "There was room for the lines of {} functions with the largest totals, not for those of {without} others.",
            outline.detailed
        ));
    }
    let with = |note| sources.iter().filter(|source| source.note == Some(note)).count();
    let (missing, newer) = (with(Note::Missing), with(Note::Newer));
    if missing > 0 {
        notes.push(format!("Source files that are missing: {missing} of {}.", sources.len()));
    }
    if newer > 0 {
        notes.push(format!(
            "Source files that have changed since the program was made or ran: {newer}. The counts may belong to other \
             lines."
        ));
    }
    notes
}

impl Serialize for Bodies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Each list stays text. The page parses only the lists that it shows.
        self.0.serialize(serializer)
    }
}
