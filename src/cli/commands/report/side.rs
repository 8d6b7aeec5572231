//! One side of a page: the sum of some inputs, and the facts about them that the page shows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::time::SystemTime;

use super::by_counter::by_position;
use super::files::Covered;
use crate::cli::inputs::conversion::{Asked, Converted, dumps_name};
use crate::cli::inputs::coverage::counters::Inputs;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::notes::{Files, Found, Places, display};
use crate::cli::inputs::source_text::{SourceTexts, modified};
use crate::cli::inputs::sources::Sources;
use crate::cli::inputs::{coverage, program};
use crate::cli::terminal::error::Result;
use crate::convert::gcov::Statistics;
use crate::counters::Variant;
use crate::coverage::Coverage;
use crate::formats::afdo_v1_v3::names::Names;
use crate::placement::reader::Reader;
use crate::profile::Profile;
use crate::program::source_path::source_path;
use crate::raw::dump::Dump;
use crate::staleness::outline::{Outline, Place};

/// The sum of some inputs.
pub struct Side {
    /// The first input.
    pub file: PathBuf,
    /// Its name on the page.
    pub label: String,
    /// The formats of the inputs, in words.
    pub kinds: Vec<String>,
    /// The sum.
    pub profile: Profile,
    /// Number of runs in the dumps; 0 without dumps.
    pub runs: u64,
    /// Number of modules of clang or rustc in the dumps without known lines, which the profile leaves out.
    pub left_out: usize,
    /// Number of functions of files that are not chosen.
    pub functions_left_out: usize,
    /// What was executed of files, if the lines of all inputs are known.
    pub coverage: Option<Coverage>,
    /// The account of the conversion of dumps.
    pub statistics: Option<Statistics>,
    /// The part of names that the inputs keep.
    pub names: Names,
    /// Why the counts belong to counters and not to lines, if they do.
    pub by_function: Option<String>,
    /// Whether a count of 1 means one or more executions.
    pub is_coverage: bool,
    /// Whether an input has the lines of declarations.
    pub has_declarations: bool,
    /// The oldest known time of the inputs and their programs. Sources that are newer have changed.
    pub counted: Option<SystemTime>,
    /// The same for each source of gcc's programs, whose notes name it.
    pub counted_of: HashMap<Vec<u8>, SystemTime>,
}

impl Side {
    /// The sum of dumps of gcc's programs and of profiles by position.
    pub fn by_position(inputs: Vec<Input>, sources: &Sources) -> Result<Self> {
        let mut side = Self::about(&inputs);
        let asked =
            Asked { reader: Reader::EXACT, gcc: None, losses: false, probes: false, check: false };
        for input in inputs.iter().filter(|input| input.format == Format::Dump) {
            let dump = input.dump()?;
            side.runs += dump.modules.iter().map(|module| module.sums.runs).max().unwrap_or(0);
            let programs = dump.modules.iter().map(|module| display(&module.path));
            side.built_before(programs);
            side.count_files(&dump, &input.name, &sources.places);
        }
        if inputs.iter().all(|input| input.format == Format::Dump) {
            let counted = Inputs::of(inputs.clone(), sources)?;
            side.coverage = counted.lines(sources, &side.file, &|_, _| {}).ok();
        }
        let converted = sources.convert(inputs, asked)?;
        Converted { profile: side.profile, statistics: side.statistics, left_out: side.left_out } =
            converted;
        if !side.has_declarations && !sources.binary.is_empty() {
            side.declare(&program::of_programs(&sources.binary, &sources.places)?);
        }
        Ok(side)
    }

    /// Leaves out the functions of files that are not chosen, and those whose file is unknown.
    pub fn choose(&mut self, chooses: impl Fn(&[u8]) -> bool) {
        let Profile { functions, symbols, .. } = &mut self.profile;
        let all = functions.len();
        functions.retain(|&symbol, _| symbols.declared_in(symbol).is_some_and(&chooses));
        self.functions_left_out = all - functions.len();
    }

    /// Takes the places of functions from a program.
    fn declare(&mut self, program: &Outline) {
        self.profile.declare(|name, file| match program.find(name, file)? {
            Place::Here(function) => Some((function.file.clone(), function.declared)),
            Place::Elsewhere(_) => None,
        });
        self.has_declarations = true;
    }

    fn about(inputs: &[Input]) -> Self {
        let names = inputs.iter().map(|input| input.format.names()).max();
        let mut kinds: Vec<String> =
            inputs.iter().map(|input| input.format.name().to_owned()).collect();
        kinds.dedup();
        let file = inputs.first().map(|input| input.name.clone()).unwrap_or_default();
        let mut side = Self {
            label: label(&file, inputs.len()),
            file,
            kinds,
            profile: Profile::default(),
            runs: 0,
            left_out: 0,
            functions_left_out: 0,
            coverage: None,
            statistics: None,
            names: names.unwrap_or(Names::Whole),
            by_function: None,
            is_coverage: false,
            has_declarations: inputs.iter().any(|input| input.format == Format::Dump),
            counted: None,
            counted_of: HashMap::new(),
        };
        side.counted_before(inputs.iter().map(|input| &*input.name));
        side
    }

    /// The coverage, if the lines are known, with the sources that it is about.
    pub fn take_covered(&mut self) -> Option<Covered> {
        let coverage = self.coverage.take()?;
        // What reads the lines of functions names the files that have changed.
        let texts = SourceTexts::counted_at(self.counted).with_files(self.counted_of.clone());
        Some(Covered { coverage, name: self.file.clone(), texts: texts.silent() })
    }

    /// Notes for each source of a dump's programs how old its program is.
    fn count_files(&mut self, dump: &Dump, input: &Path, places: &Places) {
        let files = Files::read(dump, places);
        let Found { notes, chosen, .. } = files.decode();
        for (module, chosen) in dump.modules.iter().zip(&chosen) {
            let times = [input, display(&module.path)].into_iter().filter_map(modified);
            let Some(time) = times.min() else { continue };
            for notes in chosen.iter().flatten().map(|&place| &notes[place]) {
                for file in &notes.files {
                    let path = places.moved(&source_path(notes.directory, file));
                    let oldest = self.counted_of.entry(path).or_insert(time);
                    *oldest = time.min(*oldest);
                }
            }
        }
    }

    /// Adds files that are no older than the sources of the program.
    fn counted_before<'p>(&mut self, files: impl Iterator<Item = &'p Path>) {
        self.counted = files.filter_map(modified).chain(self.counted).min();
    }

    /// Adds the images of a dump. A library may be older than sources of the program that uses it, so the newest
    /// counts.
    fn built_before<'p>(&mut self, images: impl Iterator<Item = &'p Path>) {
        let newest = images.filter_map(modified).max();
        self.counted = newest.into_iter().chain(self.counted).min();
    }
}

/// The sum of LLVM's profiles, and of dumps of programs that clang or rustc instrumented.
pub struct ByFunction {
    side: Side,
    counted: Inputs,
    /// The counts of lines, if the coverage mapping of the programs is at hand.
    lines: Result<Profile>,
}

impl ByFunction {
    /// Adds up the inputs. Without coverage mapping, options that are about it are an error.
    pub fn of(inputs: Vec<Input>, sources: &Sources) -> Result<Self> {
        let mut side = Side::about(&inputs);
        let name = dumps_name(&inputs);
        let counted = Inputs::of(inputs, sources)?;
        side.is_coverage = counted.llvm.variant.has(Variant::SINGLE_BYTE);
        side.runs = counted.modules.iter().map(|module| module.sums.runs).max().unwrap_or(0);
        side.built_before(counted.modules.iter().map(|module| display(&module.path)));
        let lines = coverage::positions(&counted, sources, &name);
        if lines.is_ok() {
            side.coverage = counted.lines(sources, &name, &|_, _| {}).ok();
        }
        match lines {
            Err(error) if !sources.binary.is_empty() || sources.moves_files() => Err(error),
            lines => Ok(Self { side, counted, lines }),
        }
    }

    /// Whether the places of the counters in the source are known.
    pub const fn has_lines(&self) -> bool {
        self.lines.is_ok()
    }

    /// The side with counts of lines, or of counters.
    pub fn side(self, with_lines: bool) -> Side {
        let Self { mut side, counted, lines } = self;
        match lines {
            Ok(profile) if with_lines => {
                side.profile = profile;
                side.has_declarations = true;
            }
            lines => {
                let why = lines.err().map(|error| error.to_string());
                side.by_function = Some(why.unwrap_or_default());
                side.profile = by_position(&counted.llvm);
            }
        }
        side
    }
}

fn label(file: &Path, inputs: usize) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
    match inputs {
        0 | 1 => name.into_owned(),
        more => format!("{name} and {} more", more - 1),
    }
}
