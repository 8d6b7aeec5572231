//! Reads the coverage mapping of programs, with the names and declarations of their functions.

use std::path::Path;
use std::prelude::v1::*;
use std::sync::Arc;

use gimli::Reader as _;
use hashbrown::HashMap;
use object::{Object as _, ObjectSection as _};

use super::wasm_module;
use crate::cli::inputs::input::read_regular;
use crate::cli::terminal::error::{Context, Error, Result};
use crate::counters::Profile;
use crate::formats::coverage_mapping::{Mapping, Sections};
use crate::formats::profraw::names::Names;
use crate::program::debug::functions::functions;
use crate::program::debug::units::Units;
use crate::program::debug::{Sections as DebugSections, uncompressed};

const FILE_NAMES: &str = "__llvm_covmap";
const FUNCTIONS: &str = "__llvm_covfun";
const LOADED_NAMES: &str = "__llvm_prf_names";
/// Names that are loaded, or are not (`-profile-correlate=binary`).
const NAMES: [&str; 2] = [LOADED_NAMES, "__llvm_covnames"];
/// Records that are loaded, and those that are not.
const RECORDS: [&str; 2] = ["__llvm_prf_data", "__llvm_covdata"];

/// A declaration's file and line.
type Declared = (Arc<[u8]>, u32);

/// The coverage mapping of programs.
#[derive(Default)]
pub struct Mapped {
    pub mapping: Mapping,
    /// The names of each program.
    pub names: Vec<Names>,
    /// Whether some records are loaded and others are not: memory then tells nothing of the others.
    pub is_partly_correlated: bool,
    /// The counters, if they are not all that there are.
    pub counters: Option<Profile>,
    /// For each name, the declarations of its functions.
    declared: HashMap<Vec<u8>, Vec<Declared>>,
}

impl Mapped {
    /// The mapping of a program or an object.
    pub fn of(path: &Path) -> Result<Self> {
        let mut mapped = Self::default();
        mapped.add(path)?;
        Ok(mapped)
    }

    /// Adds the mapping of another program.
    pub fn append(&mut self, other: Self) {
        self.mapping.append(other.mapping);
        self.names.extend(other.names);
        self.is_partly_correlated |= other.is_partly_correlated;
        for (name, declared) in other.declared {
            self.declared.entry(name).or_default().extend(declared);
        }
    }

    /// Drops the functions that the program does not use, if another program has counters of them.
    pub fn drop_unused(&mut self, is_counted: impl Fn(&[u8]) -> bool) {
        let Self { mapping, names, .. } = self;
        mapping.functions.retain(|function| {
            let name = names.iter().find_map(|names| names.get(function.name_ref));
            !function.is_dummy() || !name.is_some_and(&is_counted)
        });
    }

    fn add(&mut self, path: &Path) -> Result<()> {
        let bytes = read_regular(path).about(path)?;
        let file = object::File::parse(&*bytes).about(path)?;
        let sections = |name: &str| {
            let named = file.sections().filter(|section| section.name() == Ok(name));
            named.filter_map(|section| uncompressed(&section)).collect::<Vec<_>>()
        };
        let (file_names, functions) = (sections(FILE_NAMES), sections(FUNCTIONS));
        if file_names.is_empty() || functions.is_empty() {
            let what = "no coverage mapping; clang writes it with -fcoverage-mapping, rustc with \
                        -Cinstrument-coverage";
            return Err(Error::about(path, what));
        }
        let has = |name| sections(name).iter().any(|section| !section.is_empty());
        self.is_partly_correlated |= RECORDS.into_iter().all(has);
        let file_names: Vec<&[u8]> = file_names.iter().map(|data| &**data).collect();
        let functions: Vec<&[u8]> = functions.iter().map(|data| &**data).collect();
        let big_endian = !file.is_little_endian();
        let sections_of = Sections { names: &file_names, functions: &functions, big_endian };
        self.mapping.append(Mapping::decode(&sections_of).about(path)?);
        for names in NAMES.into_iter().flat_map(sections) {
            self.names.push(Names::read(&names).about(path)?);
        }
        if bytes.starts_with(wasm_module::MAGIC) {
            for names in wasm_module::segments(&bytes, LOADED_NAMES).about(path)? {
                self.names.push(Names::read(names).about(path)?);
            }
        }
        self.add_declarations(&file);
        Ok(())
    }

    /// Adds the declarations in the debug information, if there is any.
    fn add_declarations(&mut self, file: &object::File<'_>) {
        let sections = DebugSections::load(file);
        let (units, _) = Units::new(sections.borrow(), &|path| path.to_vec());
        for (number, unit) in (0..).zip(units.all()) {
            let declarations = functions(&units, number).0.declarations;
            for declaration in declarations.into_iter().filter(|declaration| !declaration.is_local)
            {
                let path = unit.paths.get(declaration.file as usize).cloned().flatten();
                let name = units.text(unit, declaration.name).ok();
                let name = name.and_then(|name| name.to_slice().ok().map(|name| name.into_owned()));
                if let (Some(path), Some(name)) = (path, name) {
                    self.declared.entry(name).or_default().push((path, declaration.line));
                }
            }
        }
    }

    /// The line of this file that declares the function whose body begins at the line `body`.
    pub fn declared(&self, name: &[u8], file: &[u8], body: u32) -> Option<u32> {
        let all = self.declared.get(name)?.iter();
        let here = all.filter(|(path, line)| **path == *file && *line <= body);
        here.map(|&(_, line)| line).max()
    }
}
