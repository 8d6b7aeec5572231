//! Adds up the counters of all inputs, and finds the programs that have their coverage mapping.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use super::Tell;
use super::mapping::Mapped;
use crate::cli::inputs::binary::build_id_in;
use crate::cli::inputs::correlation::Programs;
use crate::cli::inputs::input::{Format, Input};
use crate::cli::inputs::instr_profiles::read::{Counted, counted, of_dump};
use crate::cli::inputs::instr_profiles::sum::add_model;
use crate::cli::inputs::notes::display;
use crate::cli::inputs::sources::Sources;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::{say, warn};
use crate::convert::number::Number;
use crate::counters::merge::Sum;
use crate::counters::{Profile, Variant};
use crate::raw::dump::{Dump, Module};

/// A program, and the modules that counted in it.
type Program<'m> = (Mapped, Vec<&'m Module>);

/// The sums of all inputs.
#[derive(Default)]
pub struct Inputs {
    /// The modules that gcc instrumented.
    pub gcc: Dump,
    /// The counters that clang and rustc inserted.
    pub llvm: Profile,
    /// The modules that clang and rustc instrumented.
    pub modules: Vec<Module>,
    /// The counters of profiles alone, if there are also modules.
    of_profiles: Profile,
    /// Whether some counts come from profiles, which do not name their programs.
    has_profiles: bool,
}

impl Inputs {
    /// Adds up all inputs. Programs of `sources` have the functions that they may lack.
    pub fn of(inputs: Vec<Input>, sources: &Sources) -> Result<Self> {
        let programs = Programs::new(&sources.binary, &sources.places);
        let mut all = Self::default();
        let mut empty = None;
        let (mut of_modules, mut of_profiles) = (Sum::default(), Sum::default());
        for input in inputs {
            let name = input.name.clone();
            let Counted { warnings, .. } = match input.format {
                Format::Dump => {
                    let mut dump = input.into_dump()?;
                    let of_gcc = |module: &mut Module| !module.is_llvm();
                    let modules: Vec<Module> = dump.modules.extract_if(.., of_gcc).collect();
                    all.gcc.merge(Dump { modules, ..Dump::default() });
                    all.gcc.left_out.append(&mut dump.left_out);
                    all.gcc.files_left_out += dump.files_left_out;
                    // An image without counters has no lines.
                    let images = dump.modules.len();
                    dump.modules.retain(|module| !module.objects.is_empty());
                    if dump.modules.is_empty() {
                        empty = empty.or_else(|| Some(name).filter(|_| images > 0));
                        continue;
                    }
                    dump = programs.complete_dump(&dump, &name)?.into_owned();
                    let counted = of_dump(&dump, &name, &programs)?;
                    add_model(&mut of_modules, &counted.profile, &name)?;
                    all.modules.extend(dump.modules);
                    counted
                }
                format if format.is_by_function() => {
                    all.has_profiles = true;
                    let counted = counted(&input, &programs)?;
                    add_model(&mut of_profiles, &counted.profile, &name)?;
                    counted
                }
                other => {
                    let what = format!("line coverage needs dumps, found {}", other.name());
                    return Err(Error::about(name, what));
                }
            };
            warnings.iter().for_each(|warning| warn(&name, warning));
        }
        if let Some(name) = empty.filter(|_| all.gcc.modules.is_empty() && !all.has_llvm()) {
            return Err(Error::about(name, "no function was instrumented"));
        }
        (all.llvm, all.of_profiles) = (of_modules.finish(), of_profiles.finish());
        if all.modules.is_empty() {
            std::mem::swap(&mut all.llvm, &mut all.of_profiles);
        } else if all.has_profiles {
            let mut sum = Sum::default();
            for part in [&all.llvm, &all.of_profiles] {
                add_model(&mut sum, part, Path::new("the sum"))?;
            }
            all.llvm = sum.finish();
        }
        Ok(all)
    }

    /// Whether clang or rustc instrumented anything.
    pub fn has_llvm(&self) -> bool {
        self.has_profiles || !self.modules.is_empty()
    }

    /// Leaves out what clang and rustc instrumented, and says why, if there are also modules of gcc. Gives the number
    /// of modules.
    pub fn leave_out_llvm(&self, why: Error) -> Result<usize> {
        if self.gcc.modules.is_empty() {
            return Err(why);
        }
        let left_out = self.modules.len();
        let what = match left_out {
            0 => "the profiles".to_owned(),
            modules => Number(modules as u64, "module").to_string(),
        };
        say(format_args!("{why}; left out: {what} of clang or rustc"));
        Ok(left_out)
    }

    /// The programs of clang and rustc with their coverage mapping: the programs that `--binary` names, and those of
    /// the other modules at their recorded paths. Each has its own counters, as functions of equal names may differ.
    /// Profiles do not say which program they are of, so with profiles all programs are one.
    pub fn mapped(&self, sources: &Sources, name: &Path, tell: Tell<'_>) -> Result<Vec<Mapped>> {
        if self.llvm.variant.has(Variant::IR) {
            let what = "the optimiser inserted its counters (-fprofile-generate), and these have no places in the source: \
                        clang and rustc read them as --to profdata; for places, compile with \
                        -fprofile-instr-generate -fcoverage-mapping";
            return Err(Error::about(name, what));
        }
        let (mut programs, ids) = self.named(&sources.binary)?;
        let mut missing = Vec::new();
        for modules in self.others(&ids) {
            match at_recorded_path(modules[0], sources, name) {
                Ok(mapped) => programs.push((mapped, modules)),
                Err(error) => missing.push(error),
            }
        }
        if programs.is_empty() {
            let what = "the program's coverage mapping has the places of its counters; name the program with --binary";
            let error = missing.into_iter().next();
            return Err(error.unwrap_or_else(|| Error::about(name, what)));
        }
        for error in &missing {
            let what = "the counts of this program are left out; --binary names it elsewhere";
            tell(name, format!("{error}; {what}"));
        }
        let mixed =
            |(mapped, modules): &Program<'_>| mapped.is_partly_correlated && !modules.is_empty();
        if programs.iter().any(mixed) {
            let what = "a program has objects of -profile-correlate=binary beside others; the counts of the former are not \
                        in the dump, and their lines are not known; compile all of it in one way";
            return Err(Error::about(name, what));
        }
        self.with_counters(programs, !missing.is_empty(), name)
    }

    /// The programs that `--binary` names, and their build-ids.
    fn named(&self, paths: &[PathBuf]) -> Result<(Vec<Program<'_>>, Vec<Vec<u8>>)> {
        let (mut programs, mut ids) = (Vec::new(), Vec::new());
        for path in paths {
            let mut modules = Vec::new();
            match build_id_in(path, &self.modules) {
                Ok(id) => {
                    modules.extend(self.modules.iter().filter(|module| is_of(module, &id)));
                    ids.push(id);
                }
                Err(_) if self.has_profiles => {}
                // It may be the program of a module that gcc instrumented.
                Err(_) if build_id_in(path, &self.gcc.modules).is_ok() => continue,
                Err(error) => return Err(error),
            }
            programs.push((Mapped::of(path)?, modules));
        }
        Ok((programs, ids))
    }

    /// The modules of all programs but those with these build-ids, by program. Many dumps may be of one program, and
    /// programs may have no build-id.
    fn others(&self, ids: &[Vec<u8>]) -> Vec<Vec<&Module>> {
        let mut programs: Vec<Vec<&Module>> = Vec::new();
        let mut places = HashMap::new();
        let has_id = |module: &&Module| ids.iter().any(|id| is_of(module, id));
        for module in self.modules.iter().filter(|module| !has_id(module)) {
            let place = *places.entry((module.build_id(), &module.path)).or_insert(programs.len());
            match programs.get_mut(place) {
                Some(modules) => modules.push(module),
                None => programs.push(vec![module]),
            }
        }
        programs
    }

    /// Gives programs their counters.
    fn with_counters(
        &self,
        programs: Vec<Program<'_>>,
        is_part: bool,
        name: &Path,
    ) -> Result<Vec<Mapped>> {
        if self.has_profiles || (programs.len() == 1 && !is_part) {
            let modules = programs.iter().flat_map(|(_, modules)| modules.iter().copied());
            let counters = is_part.then(|| self.sum_with(modules, name)).transpose()?;
            let mut all = Mapped::default();
            programs.into_iter().for_each(|(mapped, _)| all.append(mapped));
            all.counters = counters;
            return Ok(vec![all]);
        }
        let mut all = Vec::with_capacity(programs.len());
        for (mut mapped, modules) in programs {
            mapped.counters = Some(self.sum_with(modules.into_iter(), name)?);
            all.push(mapped);
        }
        let counted = all.iter().filter_map(|mapped| mapped.counters.as_ref());
        let functions = counted.flat_map(|counters| &counters.functions);
        let counted: HashSet<Vec<u8>> = functions.map(|function| function.name.clone()).collect();
        all.iter_mut().for_each(|mapped| mapped.drop_unused(|name| counted.contains(name)));
        Ok(all)
    }

    /// The counters of a program, or of all.
    pub fn counters<'i>(&'i self, mapped: &'i Mapped) -> &'i Profile {
        mapped.counters.as_ref().unwrap_or(&self.llvm)
    }

    /// The sum of the profiles and of some modules.
    fn sum_with<'m>(
        &self,
        modules: impl Iterator<Item = &'m Module>,
        name: &Path,
    ) -> Result<Profile> {
        let mut sum = Sum::default();
        sum.add(&self.of_profiles, 1).about(name)?;
        let dump = Dump { modules: modules.cloned().collect(), ..Dump::default() };
        if !dump.modules.is_empty() {
            sum.add(&of_dump(&dump, name, &Programs::default())?.profile, 1).about(name)?;
        }
        Ok(sum.finish())
    }
}

/// Whether a module may be of the program with this build-id.
fn is_of(module: &Module, id: &[u8]) -> bool {
    module.is_of_unknown_image() || id == module.build_id()
}

/// The program of a module of this dump, at the path that the module records.
fn at_recorded_path(module: &Module, sources: &Sources, dump: &Path) -> Result<Mapped> {
    let recorded = sources.places.moved(&module.path);
    let path = display(&recorded);
    if path.as_os_str().is_empty() {
        let what = "the dump does not name its program, as those of boards; name it with --binary";
        return Err(Error::about(dump, what));
    }
    build_id_in(path, std::slice::from_ref(module))?;
    Mapped::of(path)
}
