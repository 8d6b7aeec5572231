//! The binary that wrote a dump: its machine code tells where indirect calls stand, its debug information
//! what is inlined where, and its symbol table the names of targets without notes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;
use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};
use object::{Object as _, ObjectSymbol};

use super::debug_file;
use super::input::read_regular;
use super::notes::{Places, display};
use crate::cli::terminal::error::{Context, Error, Result};
use crate::cli::terminal::message::say;
use crate::cli::terminal::names::{hexadecimal, text};
use crate::cli::terminal::visible::visible;
use crate::convert::gcov::names::ident;
use crate::convert::gcov::program_reader::ProgramReader;
use crate::convert::number::Number;
use crate::formats::gcno::Notes;
use crate::placement::RuleSet;
use crate::placement::explain::SourceLine;
use crate::placement::solve::counted::Counted;
use crate::program::counters::Wanted;
use crate::program::debug::units::split_units;
use crate::program::disassembly::{self, is_of, listings, objects_in};
use crate::program::listing::{Analysis, Tables};
use crate::program::object_file::relocate;
use crate::program::source_path::source_path;
use crate::raw::dump::{Dump, Module, Object};

/// Answers what a conversion asks, from the places on the command line and from the binaries.
pub struct Binaries<'c> {
    dump: &'c Dump,
    places: &'c Places,
    /// The user's choices in place of the recorded paths, and their build-ids.
    chosen: Vec<(&'c Path, Vec<u8>)>,
    asked: Details,
    /// The line whose counts are explained.
    pub explains: Option<&'c SourceLine>,
    /// What the binary of each module tells; read when the first one is asked for.
    binaries: OnceLock<Vec<Binary>>,
}

/// What is wanted of a conversion.
#[derive(Clone, Copy)]
pub struct Details {
    /// Whether it names all that is dropped.
    pub losses: bool,
    /// Whether the placement of counts is checked.
    pub check: bool,
    /// The rules that place them.
    pub rules: RuleSet,
}

/// What the machine code and the symbols of a module tell.
#[derive(Default)]
struct Binary {
    /// Names of the module's global functions, by ident.
    names: HashMap<u32, Vec<u8>>,
    /// The module's program, or its objects.
    code: Vec<Code>,
}

/// A program or an object.
struct Code {
    path: PathBuf,
    program: Vec<u8>,
    /// The file split off from it: symbols and debug information.
    split_off: Option<Vec<u8>>,
}

const NOT_USED: &str = "not used for indirect calls and inlined functions";
const BY_BINARY: &str = "; name the program that ran with --binary";

impl<'c> Binaries<'c> {
    /// `chosen` are the user's choices in place of the recorded paths. Each must fit a module.
    pub fn new(
        dump: &'c Dump,
        places: &'c Places,
        chosen: &'c [PathBuf],
        asked: Details,
    ) -> Result<Self> {
        let with_id = |path: &'c PathBuf| Ok((&**path, build_id_in(path, &dump.modules)?));
        let chosen = chosen.iter().map(with_id).collect::<Result<_>>()?;
        Ok(Self { dump, places, chosen, asked, explains: None, binaries: OnceLock::new() })
    }

    /// Reads the binaries.
    pub fn load(&self) {
        self.binaries();
    }

    fn binaries(&self) -> &[Binary] {
        self.binaries.get_or_init(|| {
            let mut unused = BTreeMap::new();
            let modules = self.dump.modules.iter();
            let binaries: Vec<Binary> =
                modules.map(|module| self.read(module, &mut unused)).collect();
            let used = binaries.iter().flat_map(|binary| &binary.code);
            used.for_each(|code| _ = unused.remove(&*code.path));
            unused.values().for_each(|error| say(format_args!("{error}; {NOT_USED}")));
            binaries
        })
    }

    /// Reads the binary of a module: the chosen one, if it is this module's, or the recorded one. If it does
    /// not tell lines, its objects may. A module of an unknown image takes all that are chosen;
    /// `unused` gets why it cannot take one.
    fn read(&self, module: &Module, unused: &mut BTreeMap<&'c Path, Error>) -> Binary {
        if module.is_of_unknown_image() && !self.chosen.is_empty() {
            return self.read_chosen(module, unused);
        }
        let recorded = self.places.moved(&module.path);
        let is_its = |(_, id): &&(&Path, Vec<u8>)| id == module.build_id();
        let chosen = self.chosen.iter().find(is_its).map(|(path, _)| *path);
        let path = chosen.unwrap_or(display(&recorded));
        let mut binary = Binary::default();
        let result = match path.as_os_str().is_empty() {
            true => Ok(()),
            false => binary.read(path, module),
        };
        if result.is_ok() && binary.has_lines() {
            return binary;
        }
        let objects = self.read_objects(module.objects.iter(), &mut binary);
        match result {
            Err(error) if objects == 0 => {
                let hint = if chosen.is_none() { BY_BINARY } else { "" };
                say(format_args!("{error}; {NOT_USED}{hint}"));
            }
            Err(error) => {
                let objects = Number(objects as u64, "object");
                say(format_args!("{error}; {objects} used instead"));
            }
            Ok(()) => {}
        }
        binary
    }

    /// Reads all binaries that are chosen and have objects of this module. Objects whose lines no binary tells are read
    /// themselves. A binary that another module names by its build-id belongs to that module alone.
    fn read_chosen(&self, module: &Module, unused: &mut BTreeMap<&'c Path, Error>) -> Binary {
        let mut binary = Binary::default();
        let mut is_found = vec![false; module.objects.len()];
        let is_anothers = |id: &[u8]| {
            !id.is_empty() && self.dump.modules.iter().any(|other| other.build_id() == id)
        };
        for (path, _) in self.chosen.iter().filter(|(_, id)| !is_anothers(id)) {
            match binary.read_part(path, &module.objects) {
                Ok(has) => is_found.iter_mut().zip(has).for_each(|(found, has)| *found |= has),
                Err(error) => _ = unused.insert(path, error),
            }
        }
        let objects = module.objects.iter().zip(&is_found);
        let others = objects.filter(|(_, found)| !**found).map(|(object, _)| object);
        self.read_objects(others, &mut binary);
        binary
    }

    /// Reads objects of a module; gives the number of those that tell anything.
    fn read_objects<'o>(
        &self,
        objects: impl Iterator<Item = &'o Object>,
        binary: &mut Binary,
    ) -> usize {
        let objects = objects.filter(|object| {
            let Some((path, bytes)) = self.places.read_object(object) else { return false };
            let Some(bytes) = relocate(&bytes) else { return false };
            let objects = std::slice::from_ref(*object);
            let added = binary.add(&path, bytes, None, objects);
            if self.asked.losses
                && let Err(error) = &added
            {
                say(format_args!("{error}; {NOT_USED}"));
            }
            added.is_ok()
        });
        objects.count()
    }
}

impl Binaries<'_> {
    /// The source files of these functions, by their present names.
    fn noted_files(&self, functions: &[Counted<'_>]) -> HashSet<Vec<u8>> {
        let mut notes: Vec<_> = functions.iter().map(|function| function.known.notes).collect();
        notes.dedup_by(|a, b| std::ptr::eq(*a, *b));
        let paths = |notes: &Notes<'_>| -> Vec<Vec<u8>> {
            notes.files.iter().map(|name| self.path(notes.directory, name)).collect()
        };
        notes.into_iter().flat_map(paths).collect()
    }
}

impl ProgramReader for Binaries<'_> {
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        self.places.moved(&source_path(directory, name))
    }

    fn wants_details(&self) -> bool {
        self.asked.losses
    }

    fn rules(&self) -> RuleSet {
        self.asked.rules
    }

    fn wants_check(&self) -> bool {
        self.asked.check
    }

    fn explains(&self) -> Option<&SourceLine> {
        self.explains
    }

    fn listings<S: Analysis>(
        &self,
        module: usize,
        functions: &[Counted<'_>],
        analysis: &S,
        mut take: impl FnMut(u32, &Tables, Vec<S::Finding>) + Send,
    ) -> bool {
        let binary = self.binaries().get(module);
        let Some(binary) = binary.filter(|binary| !binary.code.is_empty()) else { return false };
        let wanted = |function: &Counted<'_>| {
            let (view, object) = &function.views[0];
            Wanted::of(object, view)
        };
        let wanted: Vec<Wanted> = functions.iter().map(wanted).collect();
        let noted = self.noted_files(functions);
        let ends = Ends::new(&noted);
        let moved = |path: &[u8]| ends.whole(self.places.moved(path));
        let (mut any, mut names_files, mut knows_files) = (false, false, false);
        let mut take = |image, tables: &Tables, findings| {
            names_files |= !tables.files.is_empty();
            knows_files |= tables.files.iter().any(|path| noted.contains(&**path));
            take(image, tables, findings);
        };
        // Objects of one program are of one machine.
        let mut is_told = false;
        for (image, Code { path, program, split_off }) in binary.code.iter().enumerate() {
            let Ok(program) = object::File::parse(program.as_slice()) else { continue };
            let debug = split_off.as_deref().and_then(|bytes| object::File::parse(bytes).ok());
            let debug = debug.as_ref().unwrap_or(&program);
            warn_of_split_units(path, debug);
            let take = |tables: &Tables, findings| take(image as u32, tables, findings);
            let result = listings(&program, debug, &wanted, &moved, analysis, take);
            any |= result.is_ok();
            match result {
                Err(disassembly::Error::Architecture(..))
                    if core::mem::replace(&mut is_told, true) => {}
                Err(error) => {
                    say(format_args!("{}: {error}; {NOT_USED}", path.display()));
                }
                Ok(()) => {}
            }
        }
        if any && !names_files && !functions.is_empty() {
            let path = binary.code.first().map_or(Path::new(""), |code| &code.path).display();
            let what =
                "no debug information, so inlined functions and indirect calls are not placed";
            say(format_args!(
                "{path}: {what}; compile with -g, or name the program that has it with --binary"
            ));
        }
        if names_files && !knows_files && !noted.is_empty() {
            let path = binary.code.first().map_or(Path::new(""), |code| &code.path).display();
            let what = "debug information knows none of the notes' source files";
            say(format_args!("{path}: {what}; {NOT_USED}, but --path-map may help"));
            return false;
        }
        any
    }

    fn function(&self, ident: u32) -> Option<Vec<u8>> {
        self.binaries().iter().find_map(|binary| binary.names.get(&ident)).cloned()
    }
}

/// Warns that `-gsplit-dwarf` has moved what is inlined where into files that are not read.
fn warn_of_split_units(path: &Path, debug: &object::File<'_>) {
    let units = split_units(debug);
    if units > 0 {
        let units = Number(units as u64, "unit");
        let what =
            "is in .dwo files, which are not read, so the profile lacks lines of inlined functions";
        say(format_args!(
            "{}: debug information of {units} {what}; compile without -gsplit-dwarf",
            path.display()
        ));
    }
}

/// The source files of notes by their names. `-ffile-prefix-map` may leave the debug information only the
/// end of a path.
struct Ends<'n> {
    noted: &'n HashSet<Vec<u8>>,
    by_name: HashMap<&'n [u8], Vec<&'n Vec<u8>>>,
}

impl<'n> Ends<'n> {
    fn new(noted: &'n HashSet<Vec<u8>>) -> Self {
        let mut by_name = HashMap::<_, Vec<_>>::new();
        for path in noted {
            by_name.entry(file_name(path)).or_default().push(path);
        }
        Self { noted, by_name }
    }

    /// The only noted file whose path ends with this one, which starts with a slash; else the path itself.
    fn whole(&self, path: Vec<u8>) -> Vec<u8> {
        if self.noted.contains(&path) {
            return path;
        }
        let of_name = self.by_name.get(file_name(&path)).into_iter().flatten();
        let mut whole = of_name.filter(|noted| noted.ends_with(&path));
        match (whole.next(), whole.next()) {
            (Some(only), None) => (*only).clone(),
            _ => path,
        }
    }
}

fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

impl Binary {
    /// Reads a binary, which must be the module's.
    fn read(&mut self, path: &Path, module: &Module) -> Result<()> {
        let bytes = read_regular(path).about(path)?;
        let file = object::File::parse(&*bytes).about(path)?;
        fitting_build_id(path, &file, std::slice::from_ref(module))?;
        let split_off = debug_file::find(path, &file);
        self.add(path, bytes, split_off, &module.objects)
    }

    /// Reads a binary that may have some of these objects. Gives for each whether the binary tells its lines.
    fn read_part(&mut self, path: &Path, objects: &[Object]) -> Result<Vec<bool>> {
        let bytes = read_regular(path).about(path)?;
        let file = object::File::parse(&*bytes).about(path)?;
        let has = objects_in(&file, objects).about(path)?;
        if !has.contains(&true) {
            return Err(Error::about(path, disassembly::Error::Other));
        }
        let split_off = debug_file::find(path, &file);
        self.push(path, bytes, split_off)?;
        let has_lines = self.code.last().is_some_and(Code::has_lines);
        Ok(has.into_iter().map(|has| has && has_lines).collect())
    }

    /// Adds what a program tells about objects of a module, with the file split off from it.
    fn add(
        &mut self,
        path: &Path,
        program: Vec<u8>,
        split_off: Option<Vec<u8>>,
        objects: &[Object],
    ) -> Result<()> {
        let file = object::File::parse(&*program).about(path)?;
        is_of(&file, objects).about(path)?;
        self.push(path, program, split_off)
    }

    fn push(&mut self, path: &Path, program: Vec<u8>, split_off: Option<Vec<u8>>) -> Result<()> {
        let file = object::File::parse(&*program).about(path)?;
        let debug = split_off.as_deref().map(object::File::parse).transpose().about(path)?;
        let debug = debug.as_ref().unwrap_or(&file);
        if debug.symbols().next().is_none() {
            return Err(Error::about(path, "stripped: it has no symbol table"));
        }
        self.names.extend(names_in(debug));
        self.code.push(Code { path: path.into(), program, split_off });
        Ok(())
    }

    fn has_lines(&self) -> bool {
        self.code.iter().any(Code::has_lines)
    }
}

impl Code {
    fn has_lines(&self) -> bool {
        let debug = self.split_off.as_ref().unwrap_or(&self.program);
        let file = object::File::parse(debug.as_slice());
        file.is_ok_and(|file| file.section_by_name(".debug_line").is_some())
    }
}

/// Names of the global functions of a binary, by ident.
fn names_in(file: &object::File<'_>) -> HashMap<u32, Vec<u8>> {
    let functions = file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    functions
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| symbol.name_bytes().ok().map(|name| (ident(name), name.to_vec())))
        .collect()
}

/// The build-id in a file, which must be that of one of these modules.
pub fn build_id_in(path: &Path, modules: &[Module]) -> Result<Vec<u8>> {
    let bytes = read_regular(path).about(path)?;
    let file = object::File::parse(&*bytes).about(path)?;
    fitting_build_id(path, &file, modules).map(<[u8]>::to_vec)
}

/// The build-id of a binary, which must be that of one of these modules.
fn fitting_build_id<'d>(
    path: &Path,
    file: &object::File<'d>,
    modules: &[Module],
) -> Result<&'d [u8]> {
    let found = file.build_id().about(path)?.unwrap_or_default();
    let is_its = |module: &Module| module.is_of_unknown_image() || module.build_id() == found;
    match modules.iter().any(is_its) {
        true => Ok(found),
        false => Err(Error::about(path, rebuilt(found, modules))),
    }
}

fn rebuilt(found: &[u8], modules: &[Module]) -> String {
    let of_module = |module: &Module| {
        format!("{} of {}", hexadecimal(module.build_id()), visible(&text(&module.path)))
    };
    let expected: Vec<String> = modules.iter().map(of_module).collect();
    let (expected, found) = (expected.join(" or "), hexadecimal(found));
    format!("the binary has been rebuilt, or is another: build-id {found}, expected {expected}")
}
