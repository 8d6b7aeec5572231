//! `countersink merge`.

use std::io::Write;
use std::path::PathBuf;
use std::prelude::v1::*;
use std::sync::LazyLock;

use crate::cli::inputs::binary::build_id_in;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::data_files::{as_dump, joined};
use crate::cli::inputs::folder::is_data_file;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::instr_profiles::queue::Listed;
use crate::cli::inputs::notes::display;
use crate::cli::inputs::{folder, input, instr_profiles, live_files};
use crate::cli::outcome::Outcome;
use crate::cli::outputs::instr_profile::{self, Wish};
use crate::cli::outputs::output::{self, Content, Out};
use crate::cli::outputs::profile::{ProfileFormat, ReaderOptions, Target};
use crate::cli::outputs::{samples, sum};
use crate::cli::terminal::error::{Error, Result};
use crate::convert::number::Number;
use crate::raw::dump::sum::Sum;
use crate::raw::dump::{Dump, Module};
use crate::raw::layout::Machine;
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};

/// Add dumps to a dump, or profiles to a profile
///
/// Dumps of one build are added just as its runs add their counts. Dumps of different builds stand side by side. In
/// profiles, counts, head counts and call targets are added, and the earliest timestamp stays. Profiles may have any
/// version. The output has the version of the first one, unless --to or --for-gcc say otherwise. LLVM's profiles
/// (.profraw, .profdata, .proftext) of any versions are added as llvm-profdata adds them, to an indexed profile, or to
/// text if the first one is text. A name without a file, as in versions 1 and 2, means the only function of this name,
/// if there is only one. Names and discriminators stay as they are. If a compiler takes several names for one function,
/// it adds their counts when it reads the output; with --for-gcc, the output has them added. Live files (FILE.live.N)
/// are read as the dumps of their processes, and stay: `fold` and the next start of their program add them to FILE.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Example:
  countersink merge run1.csraw run2.csraw -o all.csraw
  # Night counts three times
  countersink merge day.csraw --weight 3=night.csraw -o all.csraw
  # Programs of clang and rustc, for the compiler that is installed
  countersink merge *.profraw -o prog.profdata
  # Without the counts of older builds
  countersink merge prog.csraw --build prog -o prog.csraw

A program that was linked again adds its counts beside those of the old build. --build leaves out the counts \
of other builds of a program or shared object: modules with its file name and another build-id. Modules with \
another file name stay. Use it only while no process of the program runs, because a process could add counts \
in between.")]
pub struct Merge {
    /// Raw dumps, .gcda files or profiles, or folders with these below; - is standard input
    #[arg(value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// A file whose counts are multiplied
    #[arg(long, value_name = "W=FILE", value_parser = weighted)]
    weight: Vec<(u32, PathBuf)>,
    /// Write here; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Leave out the counts of other builds of this program or shared object
    #[arg(long, value_name = "PROGRAM")]
    build: Vec<PathBuf>,
    /// What to write
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<MergeTarget>,
    #[command(flatten)]
    reader: ReaderOptions,
    #[command(flatten)]
    wish: Wish,
}

/// Formats of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MergeTarget {
    Profile(Target),
    /// A profile of LLVM.
    ByFunction(instr_profile::Target),
}

impl ValueEnum for MergeTarget {
    fn value_variants<'a>() -> &'a [Self] {
        static VARIANTS: LazyLock<Vec<MergeTarget>> = LazyLock::new(|| {
            let profiles = Target::value_variants().iter().copied().map(MergeTarget::Profile);
            let by_function = instr_profile::Target::value_variants().iter().copied();
            profiles.chain(by_function.map(MergeTarget::ByFunction)).collect()
        });
        &VARIANTS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Self::Profile(target) => target.to_possible_value(),
            Self::ByFunction(target) => target.to_possible_value(),
        }
    }
}

fn weighted(text: &str) -> std::result::Result<(u32, PathBuf), String> {
    let given = text.split_once('=').filter(|(_, file)| !file.is_empty());
    let (weight, file) = given.ok_or("expected W=FILE")?;
    let weight = weight
        .parse()
        .map_err(|_| format!("expected a number up to {}, found {weight}", u32::MAX))?;
    Ok((weight, file.into()))
}

impl Merge {
    pub fn run(&self) -> Result<Outcome> {
        let (to, by_function) = match self.to {
            None => (None, None),
            Some(MergeTarget::Profile(target)) => (Some(target), None),
            Some(MergeTarget::ByFunction(target)) => (None, Some(target)),
        };
        let chosen = self.reader.format(to)?;
        let paths = folder::expand(&self.inputs, Some(&self.output))?;
        let plain = paths.iter().map(|path| (1, path));
        let weighted = self.weight.iter().map(|(weight, path)| (*weight, path));
        let inputs: Vec<(u32, &PathBuf)> = plain.chain(weighted).collect();
        let Some(&(weight, path)) = inputs.first() else {
            return Err(Error::new("no files to merge"));
        };
        self.refuse(&inputs)?;
        let first = Input::open(path)?;
        let is_counted = matches!(first.format, Format::Dump | Format::Gcda);
        if is_counted && (chosen.is_some() || by_function.is_some()) {
            return Err(Error::new(
                "dumps are merged to a dump; `convert` makes a profile of them",
            ));
        }
        if first.format.is_by_function() || by_function.is_some() {
            if chosen.is_some() || !self.build.is_empty() {
                // Says why there is none.
                first.profile()?;
            }
            return self.by_function(by_function, first, &inputs);
        }
        if let Some(option) = self.wish.given() {
            let what =
                format!("{option} is for LLVM's profiles, and this is {}", first.format.name());
            return Err(Error::about(&first.name, what));
        }
        if is_counted {
            self.dumps(weight, first, &inputs[1..])?;
        } else {
            self.profiles(chosen, first, &inputs)?;
        }
        Ok(Outcome::Done)
    }

    /// Refuses inputs that would count twice, now or with the program's next start.
    fn refuse(&self, inputs: &[(u32, &PathBuf)]) -> Result<()> {
        input::refuse_twice(inputs.iter().map(|(_, path)| &***path))?;
        if let Some((_, live)) =
            inputs.iter().find(|(_, path)| live_files::is_beside(path, &self.output))
        {
            let what = "would be added again by the program's next start; use `countersink fold`";
            return Err(Error::about(live, what));
        }
        Ok(())
    }
}

impl Merge {
    /// Adds dumps and `.gcda` files.
    fn dumps(&self, weight: u32, first: Input, others: &[(u32, &PathBuf)]) -> Result<()> {
        if is_data_file(&self.output) {
            let what = "the sum is a raw dump; `convert --to gcda` makes .gcda files of it";
            return Err(Error::about(&self.output, what));
        }
        let mut sum = sum_of(weight, first, others)?;
        keep_builds(&mut sum, &self.build)?;
        input::warn_of_modules(&self.output, &sum);
        let fill = |out: &mut dyn Write| sum.write_to(Out(out)).map(drop);
        output::write_with(Some(&self.output), Content::Binary, &fill)
    }

    /// Adds profiles by position.
    fn profiles(
        &self,
        chosen: Option<ProfileFormat>,
        first: Input,
        inputs: &[(u32, &PathBuf)],
    ) -> Result<()> {
        if !self.build.is_empty() {
            let what = "--build: a profile does not tell builds apart";
            return Err(Error::about(first.name, what));
        }
        let (bytes, content) = match chosen.unwrap_or_else(|| ProfileFormat::of(&first)) {
            ProfileFormat::Sample(format) if first.format.is_sample() => {
                format.file_of(samples::sum(vec![first], inputs)?, &self.output)?
            }
            format => sum::file(vec![first], inputs, format, &self.output)?,
        };
        output::write(Some(&self.output), &bytes, content)
    }

    /// Adds LLVM's profiles by function.
    fn by_function(
        &self,
        target: Option<instr_profile::Target>,
        first: Input,
        inputs: &[(u32, &PathBuf)],
    ) -> Result<Outcome> {
        let target = target.unwrap_or(match first.format {
            Format::Proftext => instr_profile::Target::Proftext,
            _ => instr_profile::Target::Profdata,
        });
        let chosen = self.wish.chosen(target)?;
        let listed = |&(weight, path): &(u32, &PathBuf)| Listed {
            path: path.clone(),
            weight: weight.into(),
        };
        let inputs = inputs.iter().map(listed).collect();
        let (profile, origins) =
            instr_profiles::sum::of(inputs, Some(first), &Programs::default())?;
        chosen.write(profile, origins, Some(&self.output))?;
        Ok(Outcome::Done)
    }
}

fn sum_of(weight: u32, first: Input, others: &[(u32, &PathBuf)]) -> Result<Dump> {
    let (mut sum, mut data_files) = (Sum::default(), Vec::new());
    let others = others.iter().map(|&(weight, path)| (weight, Input::open(path)));
    for (weight, input) in std::iter::once((weight, Ok(first))).chain(others) {
        match (weight, input?) {
            // Those of one program become one module.
            (1, input) if input.format == Format::Gcda => data_files.push(input),
            (weight, input) => add(&mut sum, weight, as_dump(input)?)?,
        }
    }
    joined(data_files)?.into_iter().try_for_each(|input| add(&mut sum, 1, input))?;
    Ok(sum.finish())
}

fn add(sum: &mut Sum, weight: u32, input: Input) -> Result<()> {
    let name = input.name.clone();
    let mut dump = input.into_dump()?;
    dump.scale(weight);
    if let Some(what) = other_machine(sum.machine(), &dump) {
        return Err(Error::about(name, what));
    }
    sum.add(dump);
    Ok(())
}

/// How the machine of a dump differs from that of the sum, if it does. A file has only one.
fn other_machine(expected: Option<Machine>, dump: &Dump) -> Option<String> {
    let (expected, found) = (expected?, dump.modules.first()?.machine);
    if found.order != expected.order {
        return Some("of a machine with another order of bytes".into());
    }
    let (expected, found) = (expected.pointer_width, found.pointer_width);
    (found != expected)
        .then(|| format!("has pointers of {found} bytes, the dumps before of {expected}"))
}

/// Leaves out the modules of other builds of these programs.
fn keep_builds(dump: &mut Dump, programs: &[PathBuf]) -> Result<()> {
    let id = |path: &PathBuf| match build_id_in(path, &dump.modules)? {
        none if none.is_empty() => {
            Err(Error::about(path, "has no build-id, which tells builds apart"))
        }
        id => Ok(id),
    };
    let ids = programs.iter().map(id).collect::<Result<Vec<_>>>()?;
    let is_wanted = |module: &Module| {
        let path = display(&module.path);
        let is_named = programs.iter().any(|program| program.file_name() == path.file_name());
        !is_named || ids.iter().any(|id| id == module.build_id())
    };
    for other in dump.modules.iter().filter(|module| !is_wanted(module)) {
        let runs = Number(other.sums.runs, "run");
        let what = format!("the counts of another build are left out: {runs}");
        crate::cli::terminal::message::warn(display(&other.path), what);
    }
    dump.modules.retain(is_wanted);
    Ok(())
}
