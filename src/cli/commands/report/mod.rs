//! `countersink report`: options, inputs and output.
//!
//! [`model`] builds the JSON of a page from the inputs, and [`page`] writes the HTML around it. The folder `page` has
//! the styles and scripts.

mod by_counter;
mod changes;
mod curve;
mod files;
mod letters;
mod model;
mod outline;
mod page;
mod rows;
mod side;
mod sources;

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::Args;

use self::files::FileTable;
use self::model::Model;
use self::side::{ByFunction, Side};
use crate::cli::commands::diff::coarsen;
use crate::cli::inputs::binary::build_id_in;
use crate::cli::inputs::coverage::selection::Selection;
use crate::cli::inputs::data_files::read_all;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::sources::{Sources, needs_dump};
use crate::cli::inputs::{folder, input};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::output::{self, Content};
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::warn;
use crate::cli::terminal::names;
use crate::formats::afdo_v1_v3::names::Names;
use crate::profile::Profile;
use crate::profile::overlap::{Comparison, Pair};
use crate::raw::dump::Module;

/// Write a page to look at: the counts of a program, or what has changed
///
/// The page is one file and loads nothing else. It shows the totals, how few lines carry most counts, a
/// map of files and functions, a table of functions to sort and search, and the order in which functions started.
/// The page of a raw dump shows the source with its counts, if the source is there. Profiles do not
/// say at which line a function is declared; --binary names a program with -g that does. LLVM's counters have lines if
/// the program has a coverage mapping. A table of files has the shares of lines, branches and functions that were
/// executed, as `convert --to lcov` counts them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink report prog.csraw -o prog.html
  # The sum of two runs
  countersink report day.csraw night.csraw -o all.html
  # What differs at night, with the counts of both sides
  countersink report night.csraw --against day.csraw -o night.html

The command adds up the files without an option, and those of --against. A folder means the dumps and raw profiles \
below it, or its profiles if it has none.

A comparison uses the share of each count in all counts of its side, as `diff` does. The page is never larger than \
30 MB: if there is no room, it leaves out the lines of functions with small totals, and says so.")]
pub struct Report {
    /// Raw dumps, .gcda files, or profiles of AutoFDO or LLVM of any version, and folders with these below; - is
    /// standard input
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Compare with this dump or profile; repeat it to compare with a sum
    #[arg(long, value_name = "FILE")]
    against: Vec<PathBuf>,
    /// Write here, and make the folders of the path; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The title of the page, in place of the names of the files
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    selection: Selection,
}

impl Report {
    pub fn run(&self) -> Result<Outcome> {
        let all = || self.against.iter().chain(&self.inputs);
        input::refuse_twice(all().map(|path| &**path))?;
        let expand = |paths| folder::expand(paths, Some(&self.output));
        let [now, before] = [expand(&self.inputs)?, expand(&self.against)?];
        keep_inputs(&self.output, now.iter().chain(&before))?;
        let [now, before] = [read_all(&now, Input::read)?, read_all(&before, Input::read)?];
        let sides: Vec<_> = [before, now].into_iter().filter(|side| !side.is_empty()).collect();
        let mut sides = self.sides(sides)?;
        self.choose(&mut sides)?;
        let covered = sides.last_mut().and_then(Side::take_covered);
        let mut model = match <[Side; 2]>::try_from(sides) {
            Ok(both) => self.comparison(both),
            Err(mut one) => one.pop().map(Model::of).ok_or_else(|| Error::new("no inputs"))?,
        };
        if let Some(covered) = covered {
            model.coverage = FileTable::of(covered, &self.selection, model.room)?;
        }
        let title = self.title.as_deref().map_or_else(|| model.title(), letters::name);
        let page = page::page(&model, &title)?;
        output::write(Some(&self.output), &page, Content::Text)?;
        self.sources.places.warn_of_unused();
        Ok(Outcome::Done)
    }

    /// Leaves out the functions of files that are not chosen.
    fn choose(&self, sides: &mut [Side]) -> Result<()> {
        let Some(chooses) = self.selection.chooses()? else { return Ok(()) };
        sides.iter_mut().for_each(|side| side.choose(&chooses));
        match sides.iter().all(|side| side.profile.functions.is_empty()) {
            true => Err(Error::new(
                "no function is left: --source-root, --include and --exclude choose files",
            )),
            false => Ok(()),
        }
    }

    /// The sides of the page. All have counts of lines, or all have those of counters.
    fn sides(&self, sides: Vec<Vec<Input>>) -> Result<Vec<Side>> {
        if !is_by_function(sides.iter().flatten())? {
            sides.iter().try_for_each(|inputs| self.check_options(inputs))?;
            let all = self.sources_of(&sides)?;
            let side = |(inputs, sources)| Side::by_position(inputs, &sources);
            return sides.into_iter().zip(all).map(side).collect();
        }
        if let Some(option) = self.sources.only_for_gcc() {
            let what = "is of no use here: clang and rustc write no notes, and the mapping has no inlined bodies";
            return Err(Error::new(format!("{option} {what}")));
        }
        let all = self.sources_of(&sides)?;
        let sides = sides.into_iter().zip(all);
        let sides = sides.map(|(inputs, sources)| ByFunction::of(inputs, &sources));
        let sides: Vec<_> = sides.collect::<Result<_>>()?;
        let have_lines = sides.iter().all(ByFunction::has_lines);
        Ok(sides.into_iter().map(|side| side.side(have_lines)).collect())
    }

    /// The sources of each side. A program may be that of one side only; one that is of neither stays with both, whose
    /// errors name it.
    fn sources_of(&self, sides: &[Vec<Input>]) -> Result<Vec<Sources>> {
        let modules: Vec<Option<Vec<Module>>> =
            sides.iter().map(|inputs| modules(inputs)).collect::<Result<_>>()?;
        let fits = |path: &Path, side: &Option<Vec<Module>>| {
            side.as_ref().is_none_or(|modules| build_id_in(path, modules).is_ok())
        };
        let mut all = Vec::new();
        for (inputs, side) in sides.iter().zip(&modules) {
            let mut sources = self.sources.clone();
            sources.binary.retain(|path| {
                let stays = fits(path, side) || !modules.iter().any(|other| fits(path, other));
                if !stays {
                    let what = "is not the program of this file, which goes on without it";
                    let file = inputs.first().map_or(Path::new(""), |input| &input.name);
                    warn(file, format!("{} {what}", path.display()));
                }
                stays
            });
            all.push(sources);
        }
        Ok(all)
    }

    /// Refuses options that are of no use for these inputs. `--binary` also says where the functions of profiles are
    /// declared.
    fn check_options(&self, inputs: &[Input]) -> Result<()> {
        match self.sources.only_for_gcc() {
            Some(option) => needs_dump(option, inputs),
            None => Ok(()),
        }
    }

    fn comparison(&self, mut sides: [Side; 2]) -> Model {
        let coarsest = Ord::max(sides[0].names, sides[1].names);
        let mut profiles = sides.each_mut().map(|side| std::mem::take(&mut side.profile));
        if coarsest != Names::Whole || sides[0].by_function.is_none() {
            coarsen(&mut profiles, coarsest);
        }
        let [first, second]: [Profile; 2] = profiles;
        let pair = Pair::new(first, second);
        names::warn_of_ambiguous(&sides[1].file, pair.ambiguous);
        let comparison = Comparison::of(&pair);
        Model::comparing(sides, pair, &comparison)
    }
}

/// The modules of dumps, or nothing if there are also profiles, which do not say what program they are of.
fn modules(inputs: &[Input]) -> Result<Option<Vec<Module>>> {
    let mut modules = Vec::new();
    for input in inputs {
        if input.format != Format::Dump {
            return Ok(None);
        }
        modules.extend(input.dump()?.modules);
    }
    Ok(Some(modules))
}

/// Whether all inputs have counters by function.
fn is_by_function<'i>(mut inputs: impl Iterator<Item = &'i Input>) -> Result<bool> {
    inputs.try_fold(true, |are, input| Ok(are && input.is_by_function()?))
}

/// Refuses an output that is one of the inputs, under whatever name.
fn keep_inputs<'p>(output: &Path, mut inputs: impl Iterator<Item = &'p PathBuf>) -> Result<()> {
    let target = input::Target::of(output);
    let is_it = |path: &PathBuf| output.as_os_str() != "-" && target.is(path);
    match inputs.any(is_it) {
        true => Err(Error::about(output, "is an input, too; write the page to another file")),
        false => Ok(()),
    }
}
