//! What a conversion of dumps reads besides them, and the conversion itself: for `convert`, and for commands that take dumps
//! where they want profiles.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use clap::{Args, ValueEnum};

use super::binary::Binaries;
use super::cores::Cores;
use super::error::{Context, Error, Result};
use super::input::{self, Format, Input};
use super::names::warn_of_ambiguous;
use super::notes::{Files, Found, Missing, Places};
use super::{output, warn};
use crate::convert::gcov::{self, HotCalls, Inline, Reader as ProfileReader, Statistics};
use crate::convert::number::Number;
use crate::formats::afdo_v4::encode::{Encoding, FARTHEST_LINE, encode};
use crate::profile::Profile;
use crate::raw::dump::{Dump, Module};

/// Where a conversion finds what is not in the dump.
#[derive(Debug, Args)]
pub struct Sources {
    #[command(flatten)]
    pub places: Places,
    /// The program that wrote the dump, or a shared object of it, if not at its recorded path
    #[arg(long, value_name = "FILE")]
    binary: Vec<PathBuf>,
    /// Where to put the counts of functions that gcc inlined before it inserted counters
    #[arg(long, value_enum, value_name = "WHERE")]
    inline: Option<Inlining>,
    /// Say what was dropped, one line each, the heaviest losses first
    #[arg(short, long)]
    pub verbose: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Inlining {
    /// With the functions themselves
    Flat,
    /// At the calls, and without estimated bodies at other hot calls
    Nested,
}

impl Sources {
    /// Refuses options that are of no use without a dump.
    pub fn check(&self, inputs: &[Input]) -> Result<()> {
        self.given().map_or(Ok(()), |option| needs_dump(option, inputs))
    }

    /// The option that is of no use without a dump, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--notes", self.places.has_notes()),
            ("--binary", !self.binary.is_empty()),
            ("--inline", self.inline.is_some()),
        ];
        given.into_iter().find(|&(_, is_given)| is_given).map(|(option, _)| option)
    }

    /// A profile whose files have their present names.
    pub fn moved(&self, input: Input) -> Result<Input> {
        if !self.moves_files() {
            return Ok(input);
        }
        let mut profile = input.profile()?;
        self.places.move_files(&mut profile);
        let bytes = encode(&profile, Encoding::Compact).about(&input.name)?;
        Ok(Input { bytes, format: Format::V4, ..input })
    }

    /// Whether to give files other names.
    pub fn moves_files(&self) -> bool {
        self.places.moves_files()
    }

    /// The sum of all inputs as a profile. Reports what dumps lose on the way.
    pub fn profile(&self, inputs: Vec<Input>, reader: ProfileReader) -> Result<Profile> {
        Ok(self.convert(inputs, Asked { reader, gcc: None, losses: false })?.0)
    }

    /// The same, with the account of the dumps among the inputs, if there are any.
    pub fn convert(
        &self,
        inputs: Vec<Input>,
        asked: Asked,
    ) -> Result<(Profile, Option<Statistics>)> {
        let is_dump = |input: &Input| input.format == Format::Dump;
        let is_sum = inputs.len() > 1;
        let (dumps, profiles): (Vec<_>, Vec<_>) = inputs.into_iter().partition(is_dump);
        let (mut profile, mut statistics) = (Profile::default(), None);
        if !dumps.is_empty() {
            let name = dumps_name(&dumps);
            let of_dumps;
            (profile, of_dumps) = self.profile_of_dump(added(dumps)?, &name, asked)?;
            statistics = Some(of_dumps);
        }
        for input in profiles {
            let mut other = input.into_profile()?;
            self.places.move_files(&mut other);
            profile.merge(&other, 1);
        }
        if is_sum {
            warn_of_ambiguous(Path::new("the sum"), profile.find_files());
        }
        Ok((profile, statistics))
    }

    fn profile_of_dump(
        &self,
        mut dump: Dump,
        name: &Path,
        asked: Asked,
    ) -> Result<(Profile, Statistics)> {
        let Asked { reader, gcc, losses } = asked;
        if !dump.modules.is_empty() && dump.modules.iter().all(Module::is_llvm) {
            return Err(Error::about(name, input::without_positions("programs of clang or rustc")));
        }
        let others = dump.modules.extract_if(.., |module| module.is_llvm()).count();
        if others > 0 {
            let modules = Number(others as u64, "module");
            warn(name, format!("clang or rustc instrumented {modules}; left out"));
        }
        let dump = &dump;
        if let Some(gcc) = gcc.filter(|_| reader.discriminators) {
            warn_of_other_compilers(dump, name, gcc);
        }
        let files = Files::read(dump, &self.places);
        let Found { notes, chosen, missing } = files.decode();
        let binaries = Binaries::new(dump, &self.places, &self.binary, self.verbose || losses)?;
        let reader = match self.inline {
            None => reader,
            Some(Inlining::Flat) => ProfileReader { inline: Inline::Flat, ..reader },
            Some(Inlining::Nested) => {
                ProfileReader { inline: Inline::Nested, hot_calls: HotCalls::None, ..reader }
            }
        };
        let (mut profile, mut statistics) =
            gcov::profile(dump, &notes, &chosen, &binaries, &Cores, reader);
        statistics.objects_recompiled =
            missing.iter().filter(|why| why.is_other_compilation).count();
        statistics.objects_without_notes =
            statistics.objects_without_notes.saturating_sub(statistics.objects_recompiled);
        self.report(&statistics, name, &missing)?;
        let unnamed = profile.drop_unnamed();
        if unnamed > 0 {
            let unnamed = Number(unnamed as u64, "function");
            warn(
                name,
                format!("{unnamed} left out: damaged names in the notes or the debug information"),
            );
        }
        let dropped = profile.drop_lines_beyond(FARTHEST_LINE);
        if dropped > 0 {
            let dropped = Number(dropped as u64, "position");
            warn(
                name,
                format!("{dropped} dropped: the lines are too far from the start of the function"),
            );
        }
        Ok((profile, statistics))
    }

    fn report(&self, statistics: &Statistics, name: &Path, missing: &[Missing]) -> Result<()> {
        let told = if self.verbose { missing.len() } else { 1 };
        for Missing { file, what, .. } in missing.iter().take(told) {
            warn(file, what);
        }
        if self.verbose {
            statistics.losses.iter().for_each(output::say);
            statistics.details.iter().for_each(output::say);
        }
        let hint = hint(statistics);
        if statistics.functions == 0 {
            return Err(Error::about(
                name,
                format!("nothing could be converted: {statistics}{hint}"),
            ));
        }
        warn(name, format!("{statistics}{hint}"));
        Ok(())
    }
}

/// What is wanted from the conversion of dumps.
#[derive(Clone, Copy)]
pub struct Asked {
    /// What the reader of the profile makes of it.
    pub reader: ProfileReader,
    /// The major version of the gcc that will read the profile.
    pub gcc: Option<u32>,
    /// Whether the account names each loss.
    pub losses: bool,
}

/// Warns that discriminators do not fit: each version of gcc numbers the blocks of a line in its own way.
fn warn_of_other_compilers(dump: &Dump, name: &Path, gcc: u32) {
    let modules = dump.modules.iter().filter(|module| !module.is_llvm());
    let objects = modules.flat_map(|module| &module.objects);
    let others = objects.filter_map(|object| object.version.major()).find(|&major| major != gcc);
    if let Some(other) = others {
        let what = format!(
            "gcc {other} numbered the blocks of lines otherwise than gcc {gcc} does; instrument with gcc {gcc}"
        );
        warn(name, what);
    }
}

/// A name for the dumps among the inputs in messages about their sum.
pub fn dumps_name(inputs: &[Input]) -> PathBuf {
    let mut dumps = inputs.iter().filter(|input| input.format == Format::Dump);
    match (dumps.next(), dumps.count()) {
        (None, _) => PathBuf::new(),
        (Some(only), 0) => only.name.clone(),
        (Some(_), others) => format!("the sum of {} dumps", others + 1).into(),
    }
}

/// Refuses an option that is of no use without a dump.
pub fn needs_dump(option: &str, inputs: &[Input]) -> Result<()> {
    match inputs {
        [input, ..] if inputs.iter().all(|input| input.format != Format::Dump) => {
            let what = format!("{option} is for raw dumps, and this is {}", input.format.name());
            Err(Error::about(&input.name, what))
        }
        _ => Ok(()),
    }
}

/// What a user can do about objects that were left out.
const fn hint(statistics: &Statistics) -> &'static str {
    match statistics {
        Statistics { objects_recompiled: 1.., .. } => {
            "; run the program that was compiled last, or show the notes of the one that ran with \
             --notes; `merge --build PROGRAM` leaves out what older builds have counted"
        }
        Statistics { functions: 1.., .. } => "",
        Statistics { objects: 0, objects_without_notes: 0, .. } => {
            "; no object has registered: constructors do that, which a program without an operating \
             system must call itself, or countersink_register"
        }
        Statistics { objects: 0, .. } => {
            "; notes come with -ftest-coverage and are found with --notes or --path-map"
        }
        _ => "",
    }
}

/// The sum of all dumps; profiles are an error.
pub fn added(inputs: Vec<Input>) -> Result<Dump> {
    let mut sum = Dump::default();
    for input in inputs {
        sum.merge(input.into_dump()?);
    }
    Ok(sum)
}
