//! From dumps to a profile.

use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::OnceLock;

use super::binary::{Binaries, Details, build_id_in};
use super::coverage;
use super::coverage::counters::Inputs;
use super::input::{Format, Input};
use super::notes::{Files, Found, Missing, NOTES_HINT};
use super::sources::{Inlining, Sources};
use crate::cli::cores::Cores;
use crate::cli::terminal::error::{Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::cli::terminal::names::warn_of_ambiguous;
use crate::convert::gcov::{self, Statistics};
use crate::convert::number::Number;
use crate::formats::afdo_v4::encode::FARTHEST_LINE;
use crate::placement::RuleSet;
use crate::placement::reader::{HotCalls, Inline, OfBlock, Reader as ProfileReader};
use crate::profile::Profile;
use crate::raw::dump::Dump;

/// What is wanted from the conversion of dumps.
#[derive(Clone, Copy)]
pub struct Asked {
    /// What the reader of the profile makes of it.
    pub reader: ProfileReader,
    /// The major version of the gcc that will read the profile.
    pub gcc: Option<u32>,
    /// Whether the account names each loss.
    pub losses: bool,
    /// Whether numbers of pseudo-probes will do as positions: to look at, not for compilers.
    pub probes: bool,
    /// Whether [faults](Statistics::faults) are told.
    pub check: bool,
}

/// The sum of inputs.
#[derive(Default)]
pub struct Converted {
    pub profile: Profile,
    /// What became of the counts of gcc's programs, if there are any.
    pub statistics: Option<Statistics>,
    /// Modules that clang or rustc instrumented, and whose counters have no known places in the source.
    pub left_out: usize,
}

impl Sources {
    /// The sum of all inputs as a profile to look at. Reports what dumps lose on the way.
    pub fn profile(&self, inputs: Vec<Input>, reader: ProfileReader) -> Result<Profile> {
        let asked = Asked { reader, gcc: None, losses: false, probes: true, check: false };
        Ok(self.convert(inputs, asked)?.profile)
    }

    /// The same, with an account of what became of the dumps among the inputs.
    pub fn convert(&self, inputs: Vec<Input>, asked: Asked) -> Result<Converted> {
        let is_counted =
            |input: &Input| input.format == Format::Dump || input.format.is_by_function();
        let is_sum = inputs.len() > 1;
        let (counted, profiles): (Vec<_>, Vec<_>) = inputs.into_iter().partition(is_counted);
        let mut converted = Converted::default();
        if !counted.is_empty() {
            let name = dumps_name(&counted);
            let counted = Inputs::of(counted, self)?;
            let has_llvm = counted.has_llvm();
            if has_llvm {
                converted = self.convert_mapped(&counted, &name)?;
            }
            if !counted.gcc.modules.is_empty() || !has_llvm {
                let binaries = self.binaries_of_gcc(&counted);
                let (of_dump, account) =
                    self.profile_of_dump(counted.gcc, &name, &binaries, asked)?;
                match has_llvm {
                    true => converted.profile.merge(&of_dump, 1),
                    false => converted.profile = of_dump,
                }
                converted.statistics = Some(account);
            }
        }
        let profile = &mut converted.profile;
        for input in profiles {
            let mut other = if asked.probes { input.listing()? } else { input.into_profile()? };
            self.places.move_files(&mut other);
            profile.merge(&other, 1);
        }
        if is_sum {
            warn_of_ambiguous(Path::new("the sum"), profile.find_files());
        }
        Ok(converted)
    }

    /// Converts what clang and rustc instrumented. It is left out without a mapping if there are also modules of gcc.
    fn convert_mapped(&self, counted: &Inputs, name: &Path) -> Result<Converted> {
        match coverage::positions(counted, self, name) {
            Ok(profile) => Ok(Converted { profile, ..Converted::default() }),
            Err(error) => {
                let left_out = counted.leave_out_llvm(error)?;
                Ok(Converted { left_out, ..Converted::default() })
            }
        }
    }

    /// The binaries that `--binary` names, without those of clang and rustc if these counted, too.
    fn binaries_of_gcc(&self, counted: &Inputs) -> Vec<PathBuf> {
        let fits = |path: &&PathBuf| {
            !counted.has_llvm() || build_id_in(path, &counted.gcc.modules).is_ok()
        };
        self.binary.iter().filter(fits).cloned().collect()
    }

    fn profile_of_dump(
        &self,
        dump: Dump,
        name: &Path,
        binaries: &[PathBuf],
        asked: Asked,
    ) -> Result<(Profile, Statistics)> {
        let dump = &dump;
        if let Some(gcc) = asked.gcc.filter(|_| asked.reader.discriminators) {
            warn_of_other_compilers(dump, name, gcc);
        }
        let mut binaries = Binaries::new(dump, &self.places, binaries, self.details(asked))?;
        binaries.explains = self.explains.as_ref();
        let reader = self.with_inlining(asked.reader);
        let files = OnceLock::new();
        let ((mut profile, mut statistics), notes, missing) = rayon::scope(|scope| {
            // Nobody asks for the binaries before the notes are known.
            scope.spawn(|_| binaries.load());
            let files = files.get_or_init(|| Files::read(dump, &self.places));
            let Found { notes, chosen, missing } = files.decode();
            let converted = gcov::profile(dump, &notes, &chosen, &binaries, &Cores, reader);
            (converted, notes, missing)
        });
        statistics.files_left_out = dump.files_left_out;
        statistics.modules_left_out = dump.left_out.len();
        statistics.objects_recompiled =
            missing.iter().filter(|why| why.is_other_compilation).count();
        statistics.objects_without_notes =
            statistics.objects_without_notes.saturating_sub(statistics.objects_recompiled);
        if asked.check {
            statistics.faults.iter().for_each(|fault| warn(name, fault));
        } else {
            debug_assert!(statistics.faults.is_empty(), "{:#?}", statistics.faults);
        }
        self.report(&statistics, name, &missing)?;
        // Giving back the memory takes a core as long as the rest takes the other one.
        let (unnamed, dropped) = rayon::join(
            || (profile.drop_unnamed(), profile.drop_lines_beyond(FARTHEST_LINE)),
            || drop((notes, binaries)),
        )
        .0;
        warn_of_dropped(name, unnamed, dropped);
        Ok((profile, statistics))
    }

    /// What a conversion is to find besides the profile. Builds for tests check every placement.
    fn details(&self, asked: Asked) -> Details {
        let rules = self.without_rules.iter().fold(RuleSet::ALL, |set, &rule| set.without(rule));
        let check = asked.check || cfg!(debug_assertions);
        Details { losses: self.verbose || asked.losses, check, rules }
    }

    /// The reader, with inlined functions where the user wants them.
    fn with_inlining(&self, reader: ProfileReader) -> ProfileReader {
        match self.inline {
            None => reader,
            Some(Inlining::Flat) => {
                ProfileReader { inline: Inline::Flat, of_block: OfBlock::All, ..reader }
            }
            Some(Inlining::Nested) => {
                ProfileReader { inline: Inline::Nested, hot_calls: HotCalls::None, ..reader }
            }
        }
    }

    fn report(&self, statistics: &Statistics, name: &Path, missing: &[Missing]) -> Result<()> {
        let told = if self.verbose { missing.len() } else { 1 };
        for Missing { file, what, .. } in missing.iter().take(told) {
            warn(file, what);
        }
        if self.verbose {
            statistics.losses.iter().for_each(say);
            statistics.details.iter().for_each(say);
        }
        let hint = hint(statistics);
        if statistics.functions == 0 {
            let dropped: Vec<String> =
                statistics.dropped().iter().map(ToString::to_string).collect();
            let why = if dropped.is_empty() { "" } else { ": " };
            let what = format!("nothing could be converted{why}{}{hint}", dropped.join(", "));
            return Err(Error::about(name, what));
        }
        warn(name, format!("{statistics}{hint}"));
        Ok(())
    }
}

/// Warns of functions without a name, and of positions, that the profile lacks.
fn warn_of_dropped(name: &Path, unnamed: usize, positions: usize) {
    if unnamed > 0 {
        let unnamed = Number(unnamed as u64, "function");
        let why = "damaged names in the notes or the debug information";
        warn(name, format!("{unnamed} left out: {why}"));
    }
    warn_of_far_lines(name, positions);
}

/// Warns of positions for which a format has no room.
pub fn warn_of_far_lines(name: &Path, positions: usize) {
    if positions > 0 {
        let dropped = Number(positions as u64, "position");
        let why = "the lines are too far from the start of the function";
        warn(name, format!("{dropped} dropped: {why}"));
    }
}

/// Warns that discriminators do not fit: each version of gcc numbers the blocks of a line in its own way.
fn warn_of_other_compilers(dump: &Dump, name: &Path, gcc: u32) {
    let modules = dump.modules.iter().filter(|module| !module.is_llvm());
    let objects = modules.flat_map(|module| &module.objects);
    let others = objects.filter_map(|object| object.version.major()).find(|&major| major != gcc);
    if let Some(other) = others {
        let what = format!(
            "instrumented with gcc {other}, but gcc {gcc} numbers the blocks of a line differently, so some counts will not \
             match; instrument with gcc {gcc}"
        );
        warn(name, what);
    }
}

/// A name for the dumps among the inputs in messages about their sum.
pub fn dumps_name(inputs: &[Input]) -> PathBuf {
    let is_counted = |input: &&Input| input.format == Format::Dump || input.format.is_by_function();
    let mut dumps = inputs.iter().filter(is_counted);
    match (dumps.next(), dumps.count()) {
        (None, _) => PathBuf::new(),
        (Some(only), 0) => only.name.clone(),
        (Some(_), others) => format!("the sum of {} dumps", others + 1).into(),
    }
}

/// Why a dump may have no objects.
pub const NO_OBJECTS: &str = "no object has registered: constructors do that, which a program without an operating \
     system must call itself, or countersink_register; objects of clang for Linux need -u __llvm_profile_runtime";

/// What a user can do about objects that were left out.
fn hint(statistics: &Statistics) -> String {
    let hint = match statistics {
        Statistics { objects_recompiled: 1.., .. } => {
            "run the program that was compiled last, or name the notes of the one that ran with --notes DIR; \
             `countersink merge FILE --build PROGRAM -o FILE` drops the counts of older builds"
        }
        Statistics { functions: 1.., .. } => return String::new(),
        Statistics { objects: 0, objects_without_notes: 0, .. } => NO_OBJECTS,
        Statistics { objects: 0, .. } => NOTES_HINT,
        _ => return String::new(),
    };
    format!("; {hint}")
}
