//! Finds where the functions of a program are declared, and what the linker calls them.

use std::prelude::v1::*;
use std::sync::Arc;

use gimli::{
    Attribute, AttributeValue, DW_AT_abstract_origin, DW_AT_decl_file, DW_AT_decl_line,
    DW_AT_linkage_name, DW_AT_name, DW_AT_specification, Reader as _, UnitOffset, constants,
};
use hashbrown::HashMap;

use super::constructors::base_object;
use super::functions::Declaration;
use super::units::{Entry, Unit, Units};
use crate::convert::gcov::listing::{Declared, Tables};

/// Longest chain from a copy to the declaration.
const LONGEST: usize = 8;

/// The functions that entries stand for. Each entry is looked up once.
pub struct Declarations<'u, 'd> {
    units: &'u Units<'d>,
    /// The files and functions found so far, for the caller to take in the end.
    pub tables: Tables,
    known: HashMap<Entry, Option<u32>>,
    /// Assembler names of functions, by their entries. They come from the symbols at the functions' code.
    symbols: HashMap<Entry, Arc<[u8]>>,
    files: HashMap<Arc<[u8]>, u32>,
    functions: HashMap<Declared, u32>,
    /// By unit.
    classes: HashMap<u32, HashMap<UnitOffset, Place>>,
}

/// A file number and a line.
type Place = (Option<u64>, Option<u64>);

impl<'u, 'd> Declarations<'u, 'd> {
    /// The declarations of a program.
    pub fn new(units: &'u Units<'d>) -> Self {
        Self {
            units,
            tables: Tables::default(),
            known: HashMap::new(),
            symbols: HashMap::new(),
            files: HashMap::new(),
            functions: HashMap::new(),
            classes: HashMap::new(),
        }
    }

    /// The index of a file in the tables.
    pub fn file(&mut self, path: &Arc<[u8]>) -> u32 {
        let files = &mut self.tables.files;
        *self.files.entry(path.clone()).or_insert_with(|| {
            files.push(path.clone());
            files.len() as u32 - 1
        })
    }

    /// Notes that the code of an entry has a symbol. All entries that it refers to have this name, too.
    pub fn name(&mut self, entry: Entry, symbol: &[u8]) -> Result<(), gimli::Error> {
        let name: Arc<[u8]> = symbol.into();
        let mut at = entry;
        for _ in 0..LONGEST {
            self.symbols.insert(at, name.clone());
            let (number, place) = at;
            let entry = self.units.all()[number as usize].entries.entry(place)?;
            let origin = entry.attr_value(DW_AT_abstract_origin);
            let next = origin.or_else(|| entry.attr_value(DW_AT_specification));
            match next.and_then(|next| self.units.follow(number, next)) {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// The index of an entry's function in the tables, if its name and place are known.
    pub fn function(&mut self, entry: Entry) -> Result<Option<u32>, gimli::Error> {
        if let Some(&known) = self.known.get(&entry) {
            return Ok(known);
        }
        let declared = self.look_up(entry)?;
        let functions = &mut self.tables.functions;
        let place = declared.map(|declared| {
            *self.functions.entry(declared).or_insert_with_key(|declared| {
                functions.push(declared.clone());
                functions.len() as u32 - 1
            })
        });
        self.known.insert(entry, place);
        Ok(place)
    }

    /// Adds a declaration that nothing refers to, if its file is in these tables.
    pub fn mention(
        &mut self,
        number: u32,
        files: &[Option<u32>],
        declaration: &Declaration<'d>,
    ) -> Result<(), gimli::Error> {
        let Declaration { file, line, name, is_assembler_name } = *declaration;
        let Some(file) = files.get(file as usize).copied().flatten() else { return Ok(()) };
        let name = self.units.text(&self.units.all()[number as usize], name)?;
        let name = base_object(name.to_slice()?.into_owned()).into();
        self.tables.mentioned.push(Declared { name, is_assembler_name, file, line });
        Ok(())
    }

    /// The place of a function's class, for a function without a place of its own.
    fn class(&mut self, number: u32, function: UnitOffset) -> Option<Place> {
        let unit = &self.units.all()[number as usize];
        let classes = self.classes.entry(number).or_insert_with(|| classes(unit));
        classes.get(&function).copied()
    }

    /// Follows an entry to where its function is declared.
    fn look_up(&mut self, (unit, mut place): Entry) -> Result<Option<Declared>, gimli::Error> {
        let units = self.units;
        let mut number = unit;
        let symbol = self.symbols.get(&(unit, place)).cloned();
        let mut is_assembler_name = false;
        let (mut name, mut path, mut line) = (None, None, None);
        for _ in 0..LONGEST {
            let unit = &units.all()[number as usize];
            let entry = unit.entries.entry(place)?;
            let linkage = entry.attr_value(DW_AT_linkage_name);
            if let Some(value) = linkage.or_else(|| entry.attr_value(DW_AT_name)) {
                // The name for the linker may come later in the chain than the name in the source.
                is_assembler_name |= linkage.is_some();
                if name.is_none() || linkage.is_some() {
                    let found = units.text(unit, value)?;
                    name = Some(base_object(found.to_slice()?.into_owned()));
                }
            }
            if let (None, Some(AttributeValue::FileIndex(file))) =
                (&path, entry.attr_value(DW_AT_decl_file))
            {
                path = usize::try_from(file).ok().and_then(|file| unit.paths.get(file)?.clone());
            }
            line = line.or(entry.attr(DW_AT_decl_line).and_then(|line| line.udata_value()));
            let origin = entry.attr_value(DW_AT_abstract_origin);
            let next = origin.or_else(|| entry.attr_value(DW_AT_specification));
            match next.and_then(|next| units.follow(number, next)) {
                Some(next) => (number, place) = next,
                None => break,
            }
        }
        if line.is_none()
            && let Some((file, of_class)) = self.class(number, place)
        {
            let file = file.and_then(|file| usize::try_from(file).ok());
            let file = file.and_then(|file| units.all()[number as usize].paths.get(file)?.clone());
            (path, line) = (path.or(file), of_class);
        }
        let line = line.and_then(|line| u32::try_from(line).ok());
        let (Some(name), Some(path), Some(line)) = (name, path, line) else { return Ok(None) };
        let name = match symbol {
            Some(symbol) if !is_assembler_name => {
                is_assembler_name = true;
                symbol
            }
            _ => name.into(),
        };
        Ok(Some(Declared { name, is_assembler_name, file: self.file(&path), line }))
    }
}

/// Where classes are declared, by those of their functions that have no place of their own: functions that
/// compilers add, and the code of lambdas with `auto` parameters. Compilers use the place of the class for
/// them. Damage ends the unit.
fn classes(unit: &Unit<'_>) -> HashMap<UnitOffset, Place> {
    let mut found = HashMap::new();
    let Ok(mut entries) = unit.entries.entries_raw(None) else { return found };
    // Depths of the entries around, and the places of those that are classes.
    let mut around: Vec<(isize, Option<Place>)> = Vec::new();
    let mut attributes = Vec::new();
    while !entries.is_empty() {
        let (place, depth) = (entries.next_offset(), entries.next_depth());
        around.truncate(around.partition_point(|&(outer, _)| outer < depth));
        let Ok(abbreviation) = entries.read_abbreviation() else { break };
        let Some(abbreviation) = abbreviation else { continue };
        let outer = around.last().and_then(|&(_, class)| class);
        let is_class = matches!(
            abbreviation.tag(),
            constants::DW_TAG_class_type | constants::DW_TAG_structure_type
        );
        let is_member = abbreviation.tag() == constants::DW_TAG_subprogram && outer.is_some();
        let mut class = None;
        if is_class || is_member {
            if entries.read_attributes(abbreviation.attributes(), &mut attributes).is_err() {
                break;
            }
            let all: &[Attribute<_>] = &attributes;
            let find = |name| all.iter().find(|found| found.name() == name);
            let file = match find(DW_AT_decl_file).map(Attribute::value) {
                Some(AttributeValue::FileIndex(file)) => Some(file),
                _ => None,
            };
            let line = find(DW_AT_decl_line).and_then(Attribute::udata_value);
            match outer {
                Some(outer) if is_member && line.is_none() => _ = found.insert(place, outer),
                _ if is_class => class = Some((file, line)),
                _ => {}
            }
        } else if entries.skip_attributes(abbreviation.attributes()).is_err() {
            break;
        }
        if abbreviation.has_children() {
            around.push((depth, class));
        }
    }
    found
}
