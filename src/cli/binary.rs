//! The binary that a dump was written by: the symbol table that names call targets without notes.

use std::cell::OnceCell;
use std::path::Path;
use std::prelude::v1::*;

use hashbrown::HashMap;
use object::{Object as _, ObjectSymbol};

use super::error::{Context, Error, Result};
use super::input::read_regular;
use super::notes::{Places, display};
use super::output;
use crate::convert::names::ident;
use crate::convert::profile::Sources;
use crate::raw::dump::{Dump, Module};

/// Answers what a conversion asks, from the command line's places and the binaries.
pub struct World<'c> {
    dump: &'c Dump,
    places: &'c Places,
    verbose: bool,
    /// Read when the first name is missing.
    names: OnceCell<HashMap<u32, Vec<u8>>>,
}

impl<'c> World<'c> {
    /// `binary` is the user's choice, instead of the recorded path; it must fit.
    pub fn new(
        dump: &'c Dump,
        places: &'c Places,
        binary: Option<&'c Path>,
        verbose: bool,
    ) -> Result<Self> {
        let world = Self { dump, places, verbose, names: OnceCell::new() };
        if let Some(binary) = binary {
            let names = names_in(binary, &dump.modules)?;
            world.names.get_or_init(|| names);
        }
        Ok(world)
    }

    fn names(&self) -> HashMap<u32, Vec<u8>> {
        let mut names = HashMap::new();
        for module in self.dump.modules.iter().filter(|module| !module.path.is_empty()) {
            let path = self.places.moved(&module.path);
            match names_in(display(&path), std::slice::from_ref(module)) {
                Ok(found) => names.extend(found),
                Err(error) => output::say(format_args!("{error}; not used for call targets")),
            }
        }
        names
    }
}

impl Sources for World<'_> {
    fn path(&self, directory: &[u8], name: &[u8]) -> Vec<u8> {
        self.places.moved(&crate::convert::profile::source_path(directory, name))
    }

    fn wants_details(&self) -> bool {
        self.verbose
    }

    fn function(&self, ident: u32) -> Option<Vec<u8>> {
        self.names.get_or_init(|| self.names()).get(&ident).cloned()
    }
}

/// Names by ident of the global functions of a binary, which must be one of the modules'.
fn names_in(path: &Path, modules: &[Module]) -> Result<HashMap<u32, Vec<u8>>> {
    let bytes = read_regular(path).about(path)?;
    let file = object::File::parse(&*bytes).about(path)?;
    let found = file.build_id().about(path)?.unwrap_or_default();
    if !modules.iter().any(|module| module.build_id() == found) {
        return Err(Error::about(path, rebuilt(found, modules)));
    }
    let functions = file.symbols().filter(|symbol| symbol.is_global() && symbol.is_definition());
    let names: HashMap<u32, Vec<u8>> = functions
        .filter(|symbol| symbol.kind() == object::SymbolKind::Text)
        .filter_map(|symbol| symbol.name_bytes().ok().map(|name| (ident(name), name.to_vec())))
        .collect();
    match names.is_empty() {
        true => Err(Error::about(path, "has no symbol table")),
        false => Ok(names),
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
