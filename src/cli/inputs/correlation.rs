//! Programs that keep their functions in their files alone (`-profile-correlate`): finds them, and completes dumps and
//! raw profiles.
//!
//! The program of a dump is at its recorded path, or where `--binary` or `--path-map` say. A raw profile has a build-id
//! at most. Debug information may have been split off.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::mem;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::{Arc, Mutex, PoisonError};

use object::elf::{PF_R, PF_W, PF_X};
use object::{
    Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, SegmentFlags,
};

use super::debug_file;
use super::input::read_regular;
use super::notes::{Places, display};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::cli::terminal::names::hexadecimal;
use crate::counters::{Variant, name_ref};
use crate::formats::profraw::check::Finding;
use crate::formats::profraw::correlate::{self, Bounds, Functions, of_records, place};
use crate::formats::profraw::image::Image;
use crate::formats::profraw::{Machine, Version, names};
use crate::program::debug::correlation::counted;
use crate::program::debug::uncompressed;
use crate::raw::checksum::crc32;
use crate::raw::dump::{Dump, Module};
use crate::raw::llvm::CorrelatedFunction;
use crate::raw::llvm::version::variant;

/// Where the programs are.
#[derive(Debug)]
pub struct Programs {
    /// The user's choices.
    chosen: Vec<PathBuf>,
    /// How the command takes them.
    advice: &'static str,
    places: Option<Places>,
    /// What has been read of programs, by path.
    known: Mutex<HashMap<PathBuf, Known>>,
}

/// What is known of a program.
#[derive(Clone, Debug)]
struct Known {
    identity: Identity,
    functions: Arc<Functions>,
}

/// What tells programs apart.
#[derive(Clone, Debug)]
struct Identity {
    /// Empty if the linker wrote none.
    build_id: Vec<u8>,
    /// Bytes of all counters.
    counters: u64,
    /// The checksum of the code, of a dump without build-id, and of a file that has its code.
    code: Option<u32>,
}

/// What is wanted of a program.
struct Wanted {
    identity: Identity,
    machine: Machine,
    version: Version,
    variant: Variant,
}

impl Wanted {
    /// Fails if a file is another program, or another build.
    fn check(&self, found: &Identity, path: &Path) -> Result<()> {
        let Identity { build_id, counters, code } = &self.identity;
        if *build_id != found.build_id {
            let [found, expected] = [&found.build_id, build_id].map(|id| match id.is_empty() {
                true => "none".to_owned(),
                false => hexadecimal(id),
            });
            let what = format!("another program or build: build-id {found}, expected {expected}");
            return Err(Error::about(path, what));
        }
        if let (Some(expected), Some(found)) = (code, found.code)
            && *expected != found
        {
            return Err(Error::about(
                path,
                "another program or build: other code than that which ran",
            ));
        }
        if *counters != found.counters {
            let found = found.counters;
            let what =
                format!("another program or build: {found} bytes of counters, expected {counters}");
            return Err(Error::about(path, what));
        }
        Ok(())
    }

    /// Whether a file has the functions in its debug information. The front end says nothing of that.
    fn is_in_debug_info(&self, file: &object::File<'_>) -> bool {
        self.variant.has(Variant::DEBUG_INFO_CORRELATION) || !has(file, RECORDS)
    }

    /// Whether a file may have the functions.
    fn may_be_in(&self, file: &object::File<'_>) -> bool {
        has(file, if self.is_in_debug_info(file) { ".debug_info" } else { RECORDS })
    }

    fn counter_bytes(&self) -> u64 {
        if self.variant.has(Variant::SINGLE_BYTE) { 1 } else { 8 }
    }
}

fn has(file: &object::File<'_>, section: &str) -> bool {
    file.section_by_name(section).is_some()
}

impl Default for Programs {
    /// No programs, for commands that take none.
    fn default() -> Self {
        Self {
            chosen: Vec::new(),
            advice: "name the program with --binary of convert, or --binary-file of profdata merge",
            places: None,
            known: Mutex::default(),
        }
    }
}

impl Programs {
    /// The chosen programs, and where recorded paths have moved to.
    pub fn new(chosen: &[PathBuf], places: &Places) -> Self {
        let (chosen, places) = (chosen.to_vec(), Some(places.clone()));
        Self { chosen, advice: "name the program with --binary", places, ..Self::default() }
    }

    /// The chosen programs alone, as `llvm-profdata` takes them.
    pub fn of(chosen: Vec<PathBuf>) -> Self {
        let advice = "name the program with --binary-file or --debug-info";
        Self { chosen, advice, ..Self::default() }
    }

    /// A dump with all functions.
    pub fn complete_dump<'d>(&self, dump: &'d Dump, name: &Path) -> Result<Cow<'d, Dump>> {
        let is_correlated =
            |module: &Module| module.is_correlated() || module.is_partly_correlated();
        if !dump.modules.iter().any(is_correlated) {
            return Ok(Cow::Borrowed(dump));
        }
        let mut dump = dump.clone();
        let all = mem::take(&mut dump.modules);
        let mut missing = Vec::new();
        for module in all {
            match self.complete_module(module, name) {
                Ok(module) => dump.modules.push(module),
                Err(error) => missing.push(error),
            }
        }
        if dump.modules.is_empty() {
            return Err(missing.swap_remove(0));
        }
        for error in missing {
            say(format_args!("{error}; its counts are left out"));
        }
        Ok(Cow::Owned(dump))
    }

    fn complete_module(&self, module: Module, name: &Path) -> Result<Module> {
        let Some(object) = module.correlated_object() else {
            if module.is_partly_correlated() {
                warn(
                    name,
                    "objects of -profile-correlate beside others in one image; the counts of the former are left out",
                );
            }
            return Ok(module);
        };
        let big_endian = cfg!(target_endian = "big");
        let identity = Identity {
            build_id: module.build_id().to_vec(),
            counters: module.correlated_counter_bytes(),
            code: Some(object.checksum).filter(|&code| code != 0),
        };
        let wanted = Wanted {
            identity,
            machine: Machine { big_endian, pointer: size_of::<usize>() },
            version: Version::from_number(object.version.0).unwrap_or(Version::V10),
            variant: Variant(u64::from(object.stamp) << 32),
        };
        let is_temporal = object.stamp & variant::TEMPORAL != 0;
        if is_temporal && module.has_lost_times() {
            warn(
                name,
                "times of first calls of several runs, or beside bytes, cannot be told apart; left out",
            );
        }
        let path = self.places.as_ref().map_or(module.path.clone(), |at| at.moved(&module.path));
        let functions = self.functions(&wanted, display(&path), name)?;
        module.correlate(&functions.all, &functions.names).about(name)
    }

    /// The bytes of a raw profile with all functions.
    pub fn complete_raw<'b>(&self, bytes: &'b [u8], name: &Path) -> Result<Cow<'b, [u8]>> {
        if !correlate::is_correlated(bytes) {
            return Ok(Cow::Borrowed(bytes));
        }
        let of = |image: &Image<'_>| -> std::result::Result<Functions, Failure> {
            let build_id = image.binary_ids().next().transpose()?.unwrap_or_default().to_vec();
            let identity = Identity { build_id, counters: image.counter_bytes(), code: None };
            let header = &image.header;
            let (machine, version, variant) = (header.machine, header.version, header.variant);
            let wanted = Wanted { identity, machine, version, variant };
            let functions =
                self.functions(&wanted, Path::new(""), name).map_err(Failure::Program)?;
            Ok(Functions::clone(&functions))
        };
        correlate::complete(bytes, of).map(Cow::Owned).map_err(|failure| match failure {
            Failure::Program(error) => error,
            Failure::File(finding) => Error::about(name, finding),
        })
    }

    /// The functions of a program: a chosen one, or the one at its recorded path, or what was split off from it.
    fn functions(&self, wanted: &Wanted, recorded: &Path, name: &Path) -> Result<Arc<Functions>> {
        let is_recorded = !recorded.as_os_str().is_empty();
        let recorded = [recorded.to_owned()].into_iter().filter(|_| is_recorded);
        for path in &self.chosen {
            path.metadata().about(path)?;
        }
        let installed = debug_file::by_build_id(&wanted.identity.build_id);
        let mut why = String::new();
        for path in self.chosen.iter().cloned().chain(recorded).chain(installed) {
            match self.of_program(&path, wanted) {
                Ok(functions) => return Ok(functions),
                Err(error) => why += &format!("; {error}"),
            }
        }
        let what = "the names and places of its counters are in the program (-profile-correlate), not here";
        Err(Error::about(name, format!("{what}; {}{why}", self.advice)))
    }

    fn of_program(&self, path: &Path, wanted: &Wanted) -> Result<Arc<Functions>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Known { identity, functions }) = known.get(path) {
            wanted.check(identity, path)?;
            return Ok(functions.clone());
        }
        let read = read(path, wanted)?;
        let functions = read.functions.clone();
        known.insert(path.to_owned(), read);
        Ok(functions)
    }
}

/// Why a raw profile cannot be completed.
enum Failure {
    Program(Error),
    File(Finding),
}

impl From<Finding> for Failure {
    fn from(finding: Finding) -> Self {
        Self::File(finding)
    }
}

/// What a program has, if it is the one that is wanted.
fn read(path: &Path, wanted: &Wanted) -> Result<Known> {
    let bytes = read_regular(path).about(path)?;
    let file = object::File::parse(&*bytes).about(path)?;
    let build_id = file.build_id().about(path)?.unwrap_or_default().to_vec();
    let code = code_checksum(&file);
    let split_off = debug_file::find_for(path, &file, |file| wanted.may_be_in(file));
    let split_off = split_off.as_deref().map(object::File::parse).transpose().about(path)?;
    let file = split_off.as_ref().unwrap_or(&file);
    let bounds = Bounds { counters: bounds(file, COUNTERS), bitmaps: bounds(file, BITMAPS) };
    let counters = bounds.counters.end.saturating_sub(bounds.counters.start);
    let identity = Identity { build_id, counters, code };
    wanted.check(&identity, path)?;
    let functions = match wanted.is_in_debug_info(file) {
        true => in_debug_info(file, wanted, &bounds, path)?,
        false => in_sections(file, wanted, &bounds, path)?,
    };
    if functions.all.is_empty() {
        let what = "no functions of -profile-correlate in it; was it stripped?";
        return Err(Error::about(path, what));
    }
    warn_of_others(&functions, wanted, path);
    let has_both = wanted.identity.code.is_some() && identity.code.is_some();
    if identity.build_id.is_empty() && !has_both {
        warn(
            path,
            "has no build-id; if it is another build than the one that ran, that is not noticed",
        );
    }
    Ok(Known { identity, functions: Arc::new(functions) })
}

/// Says how many counters belong to no function: those of objects without debug information, for instance. Bytes may
/// have gaps between them.
fn warn_of_others(functions: &Functions, wanted: &Wanted, path: &Path) {
    let all = wanted.identity.counters / 8;
    let known: u64 = functions.all.iter().map(|function| function.counters.len() as u64).sum();
    if wanted.counter_bytes() == 8 && known < all {
        let others = all - known;
        let what =
            format!("{others} of {all} counters belong to no function that it describes; left out");
        warn(path, what);
    }
}

/// What `code_checksum` of the runtime gives when the program runs; `None` if the file has no code, as files of debug
/// information have none.
fn code_checksum(file: &object::File<'_>) -> Option<u32> {
    let is_code = |segment: &object::Segment<'_, '_>| match segment.flags() {
        SegmentFlags::Elf { p_flags, .. } => p_flags & (PF_R | PF_W | PF_X) == PF_R | PF_X,
        _ => false,
    };
    let code = file.segments().filter(is_code).filter_map(|segment| segment.data().ok());
    let mut code = code.filter(|code| !code.is_empty()).peekable();
    code.peek()?;
    Some(code.fold(0, |checksum: u32, code| checksum.rotate_left(1) ^ crc32(code)))
}

const RECORDS: &str = "__llvm_covdata";
const NAMES: &str = "__llvm_covnames";

const COUNTERS: &str = "__llvm_prf_cnts";
const BITMAPS: &str = "__llvm_prf_bits";

/// The addresses of a section. Programs with live counters have it within another one, between symbols.
fn bounds(file: &object::File<'_>, section: &str) -> Range<u64> {
    if let Some(found) = file.section_by_name(section) {
        return found.address()..found.address().saturating_add(found.size());
    }
    let symbol = |name: String| file.symbol_by_name(&name).map(|symbol| symbol.address());
    let start = symbol(format!("__start_{section}"));
    let end = symbol(format!("__stop_{section}"));
    start.unwrap_or(0)..end.unwrap_or(0)
}

fn in_sections(
    file: &object::File<'_>,
    wanted: &Wanted,
    bounds: &Bounds,
    path: &Path,
) -> Result<Functions> {
    let section = |name| {
        let found = file.section_by_name(name).and_then(|found| uncompressed(&found));
        found.ok_or_else(|| Error::about(path, format!("has no section {name}; was it stripped?")))
    };
    let (records, names) = (section(RECORDS)?, section(NAMES)?.into_owned());
    let (machine, version) = (wanted.machine, wanted.version);
    let all = of_records(&records, machine, version, wanted.counter_bytes(), bounds);
    Ok(Functions { all, names })
}

fn in_debug_info(
    file: &object::File<'_>,
    wanted: &Wanted,
    bounds: &Bounds,
    path: &Path,
) -> Result<Functions> {
    let size = wanted.counter_bytes();
    let mut all: Vec<CorrelatedFunction> = Vec::new();
    let mut all_names = Vec::new();
    let mut known = HashSet::new();
    for function in counted(file).about(path)? {
        let bytes = function.counters.saturating_mul(size);
        let Some(range) = place(function.address, bytes, &bounds.counters) else { continue };
        // Many units describe one inline function. The linker has kept one copy of it.
        if range.is_empty() || !known.insert(range.start) {
            continue;
        }
        let size = size as usize;
        all.push(CorrelatedFunction {
            name_ref: name_ref(&function.name),
            hash: function.hash,
            counters: range.start / size..range.end / size,
            bitmap: 0..0,
        });
        all_names.push(function.name);
    }
    let names = names::write(all_names.iter().map(|name| &**name));
    Ok(Functions { all, names })
}
