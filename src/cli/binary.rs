//! The binary that a dump was written by: its machine code tells where indirect calls stand, its
//! debug information what is inlined where, its symbol table names targets without notes.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use hashbrown::HashMap;
use object::{Object as _, ObjectSymbol};

use super::debug_file;
use super::error::{Context, Error, Result};
use super::input::read_regular;
use super::notes::{Places, display};
use super::output;
use crate::convert::debug::{Moved, stacks};
use crate::convert::names::ident;
use crate::convert::sites::counters::{FunctionKey, wanted};
use crate::convert::sites::{Place, locate};
use crate::convert::source::{SourceLine, Sources, Stack, Unplaced, source_path};
use crate::raw::dump::{Dump, FunctionView, Module};

/// Answers what a conversion asks, from the command line's places and the binaries.
pub struct World<'c> {
    dump: &'c Dump,
    places: &'c Places,
    /// The user's choice, instead of the recorded path, and its build-id.
    binary: Option<(&'c Path, Vec<u8>)>,
    verbose: bool,
    /// Of each module what its binary tells; read when the first is asked for.
    binaries: OnceCell<Vec<Binary>>,
}

/// What a binary tells.
#[derive(Default)]
struct Binary {
    path: PathBuf,
    /// The file with symbols and debug information: the binary, or what was split off from it.
    debug: Vec<u8>,
    /// Names of its global functions by ident.
    names: HashMap<u32, Vec<u8>>,
    /// Lines of the indirect calls of its functions.
    calls: HashMap<FunctionKey, Vec<Place>>,
}

const NOT_USED: &str = "not used for indirect calls and inlined functions";

impl<'c> World<'c> {
    /// `binary` is the user's choice, instead of the recorded path; it must fit one module.
    pub fn new(
        dump: &'c Dump,
        places: &'c Places,
        binary: Option<&'c Path>,
        verbose: bool,
    ) -> Result<Self> {
        let chosen = |path: &'c Path| -> Result<_> {
            let bytes = read_regular(path).about(path)?;
            let file = object::File::parse(&*bytes).about(path)?;
            Ok((path, fitting_build_id(path, &file, &dump.modules)?.to_vec()))
        };
        let binary = binary.map(chosen).transpose()?;
        Ok(Self { dump, places, binary, verbose, binaries: OnceCell::new() })
    }

    fn binaries(&self) -> &[Binary] {
        self.binaries.get_or_init(|| {
            let modules = self.dump.modules.iter();
            modules.map(|module| self.read(module).unwrap_or_default()).collect()
        })
    }

    /// Reads the binary of a module: the one chosen, if it is this module's, or the recorded one.
    fn read(&self, module: &Module) -> Option<Binary> {
        let moved = self.places.moved(&module.path);
        let path = match &self.binary {
            Some((path, build_id)) if build_id == module.build_id() => path,
            _ if module.path.is_empty() => return None,
            _ => display(&moved),
        };
        let told = |error| output::say(format_args!("{error}; {NOT_USED}"));
        Binary::read(path, module, &|path| self.places.moved(path)).map_err(told).ok()
    }
}

impl Sources for World<'_> {
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        self.places.moved(&source_path(directory, name))
    }

    fn wants_details(&self) -> bool {
        self.verbose
    }

    fn call(&self, module: usize, function: &FunctionView<'_>, site: usize) -> Place {
        let calls = self.binaries().get(module).map(|binary| &binary.calls);
        let sites = calls.and_then(|calls| calls.get(&FunctionKey::of(function)));
        sites.and_then(|sites| sites.get(site)).cloned().unwrap_or(Err(Unplaced::NoCode))
    }

    fn stacks(&self, module: usize, lines: &BTreeSet<SourceLine>) -> Vec<(SourceLine, Stack)> {
        let Some(binary) = self.binaries().get(module) else { return Vec::new() };
        binary.stacks(lines, &|path| self.places.moved(path))
    }

    fn function(&self, ident: u32) -> Option<Vec<u8>> {
        self.binaries().iter().find_map(|binary| binary.names.get(&ident)).cloned()
    }
}

impl Binary {
    /// Reads a binary, which must be the module's.
    fn read(path: &Path, module: &Module, moved: Moved<'_>) -> Result<Self> {
        let bytes = read_regular(path).about(path)?;
        let file = object::File::parse(&*bytes).about(path)?;
        fitting_build_id(path, &file, std::slice::from_ref(module))?;
        let split_off = debug_file::find(path, &file);
        let debug = split_off.as_deref().map(object::File::parse).transpose().about(path)?;
        let debug = debug.as_ref().unwrap_or(&file);
        if debug.symbols().next().is_none() {
            return Err(Error::about(path, "has no symbol table"));
        }
        let wanted = wanted(module);
        let places = locate(&file, debug, &wanted, moved).unwrap_or_else(|error| {
            output::say(format_args!("{}: {error}; {NOT_USED}", path.display()));
            Vec::new()
        });
        let calls = wanted.into_iter().map(|wanted| wanted.function).zip(places).collect();
        let names = names_in(debug);
        Ok(Self { path: path.into(), debug: split_off.unwrap_or(bytes), names, calls })
    }

    /// What its debug information says of some lines.
    fn stacks(&self, lines: &BTreeSet<SourceLine>, moved: Moved<'_>) -> Vec<(SourceLine, Stack)> {
        let mut found = Vec::new();
        let Ok(file) = object::File::parse(&*self.debug) else { return found };
        if let Err(error) = stacks(&file, lines, moved, &mut found) {
            let path = self.path.display();
            output::say(format_args!("{path}: debug information: {error}; {NOT_USED}"));
        }
        found
    }
}

/// Names by ident of the global functions of a binary.
fn names_in(file: &object::File<'_>) -> HashMap<u32, Vec<u8>> {
    let functions = file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    functions
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| symbol.name_bytes().ok().map(|name| (ident(name), name.to_vec())))
        .collect()
}

/// The build-id of a binary, which must be that of one of these modules.
fn fitting_build_id<'d>(
    path: &Path,
    file: &object::File<'d>,
    modules: &[Module],
) -> Result<&'d [u8]> {
    let found = file.build_id().about(path)?.unwrap_or_default();
    match modules.iter().any(|module| module.build_id() == found) {
        true => Ok(found),
        false => Err(Error::about(path, rebuilt(found, modules))),
    }
}

fn rebuilt(found: &[u8], modules: &[Module]) -> String {
    let ids: Vec<String> = modules.iter().map(|module| hexadecimal(module.build_id())).collect();
    let (expected, found) = (ids.join(" or "), hexadecimal(found));
    format!("build-id: expected {expected}, found {found}: the binary has been rebuilt")
}

/// Bytes in hexadecimal, for messages.
pub fn hexadecimal(bytes: &[u8]) -> String {
    match bytes {
        [] => "none".into(),
        bytes => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
