//! Finds where the functions of a program are declared, and what the linker calls them.

use std::prelude::v1::*;
use std::sync::Arc;

use gimli::{
    AttributeValue, DW_AT_decl_file, DW_AT_decl_line, DW_AT_linkage_name, DW_AT_name, DwAt,
    UnitOffset, constants,
};
use hashbrown::{HashMap, hash_map};

use super::constructors::{base_object, is_base_object};
use super::entries::{Attributes, Entries};
use super::functions::{ClassPlace, Declaration, functions};
use super::units::{Entry, Units};
use crate::program::listing::{Declared, Tables};

/// Longest chain from a copy to the declaration.
const MOST_REFERENCES: usize = 8;

/// Functions without a place of their own, by their entries, and the places of their classes.
type Members = [(UnitOffset, ClassPlace)];

/// The file and the line of a class, as far as they are known.
type OfClass = (Option<Arc<[u8]>>, Option<u64>);

/// The functions that entries stand for. Each entry is looked up once.
pub struct Declarations<'u, 'd> {
    units: &'u Units<'d>,
    /// The unit whose entries are looked up.
    number: u32,
    members: &'u Members,
    /// The files and functions found so far, for the caller to take in the end.
    pub tables: Tables,
    known: HashMap<Entry, Option<u32>>,
    /// Assembler names of functions, by their entries. They come from the symbols at the functions' code.
    symbols: HashMap<Entry, Arc<[Vec<u8>]>>,
    /// The files and lines of the first instructions of functions.
    first_lines: HashMap<Entry, (Arc<[u8]>, u32)>,
    files: HashMap<Arc<[u8]>, u32>,
    functions: HashMap<Declared, u32>,
    /// The members of other units.
    others: HashMap<u32, Vec<(UnitOffset, ClassPlace)>>,
    /// The entries of each unit that was asked.
    entries: HashMap<u32, Entries<'u, 'd>>,
    /// Of the entry at hand.
    attributes: Attributes<'d>,
}

impl<'u, 'd> Declarations<'u, 'd> {
    /// The declarations of a unit, which has these functions without a place.
    pub fn new(units: &'u Units<'d>, number: u32, members: &'u Members) -> Self {
        Self {
            units,
            number,
            members,
            tables: Tables::default(),
            known: HashMap::new(),
            symbols: HashMap::new(),
            first_lines: HashMap::new(),
            files: HashMap::new(),
            functions: HashMap::new(),
            others: HashMap::new(),
            entries: HashMap::new(),
            attributes: Attributes::default(),
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

    /// Notes which symbols the code of an entry has. All entries that it refers to have one of these names, too.
    pub fn name(&mut self, entry: Entry, symbols: &[&[u8]]) -> Result<(), gimli::Error> {
        let names: Arc<[Vec<u8>]> = symbols.iter().map(|symbol| symbol.to_vec()).collect();
        let mut at = entry;
        for _ in 0..MOST_REFERENCES {
            self.symbols.insert(at, names.clone());
            self.read(at)?;
            let (number, _) = at;
            let next = self.attributes.origin();
            match next.and_then(|next| self.units.follow(number, next)) {
                Some(next) => at = next,
                None => break,
            }
        }
        Ok(())
    }

    /// Notes the line of the first instruction of an entry's code. It stands for the function's place if the entry has
    /// none.
    pub fn begins(&mut self, entry: Entry, path: Arc<[u8]>, line: u32) {
        self.first_lines.insert(entry, (path, line));
        self.known.remove(&entry);
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
        files: &[Option<u32>],
        declaration: &Declaration<'d>,
    ) -> Result<(), gimli::Error> {
        let Declaration { file, line, name, is_assembler_name, .. } = *declaration;
        let Some(file) = files.get(file as usize).copied().flatten() else { return Ok(()) };
        let name = self.units.text(&self.units.all()[self.number as usize], name)?;
        let name = (&*base_object(name.slice())).into();
        let declared = Declared { name, is_assembler_name, file, line, has_place: true };
        self.tables.mentioned.push(declared);
        Ok(())
    }

    /// Reads the attributes of an entry.
    fn read(&mut self, (number, place): Entry) -> Result<(), gimli::Error> {
        let entries = match self.entries.entry(number) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(unknown) => {
                let unit = &self.units.all()[number as usize].entries;
                unknown.insert(Entries::of(unit, |_, name| is_of_declaration(name))?)
            }
        };
        entries.read_at(place, &mut self.attributes)
    }

    /// The place of a function's class, for a function without a place of its own.
    fn class(&mut self, number: u32, function: UnitOffset) -> Option<OfClass> {
        let members = match number == self.number {
            true => self.members,
            false => {
                let members = || functions(self.units, number).0.members;
                self.others.entry(number).or_insert_with(members)
            }
        };
        let place = members.binary_search_by_key(&function, |&(member, _)| member).ok()?;
        let (file, line) = members[place].1;
        let file = file.and_then(|file| usize::try_from(file).ok());
        let paths = &self.units.all()[number as usize].paths;
        Some((file.and_then(|file| paths.get(file)?.clone()), line))
    }

    /// Follows an entry to where its function is declared.
    fn look_up(&mut self, entry: Entry) -> Result<Option<Declared>, gimli::Error> {
        let units = self.units;
        let (mut number, mut place) = entry;
        let symbols = self.symbols.get(&entry).cloned();
        let mut is_assembler_name = false;
        let (mut name, mut path, mut line) = (None, None, None);
        for _ in 0..MOST_REFERENCES {
            let unit = &units.all()[number as usize];
            self.read((number, place))?;
            let entry = &self.attributes;
            let linkage = entry.value(DW_AT_linkage_name);
            if let Some(value) = linkage.or_else(|| entry.value(DW_AT_name)) {
                // The name for the linker may come later in the chain than the name in the source.
                is_assembler_name |= linkage.is_some();
                if name.is_none() || linkage.is_some() {
                    name = Some(base_object(units.text(unit, value)?.slice()));
                }
            }
            if let (None, Some(AttributeValue::FileIndex(file))) =
                (&path, entry.value(DW_AT_decl_file))
            {
                path = usize::try_from(file).ok().and_then(|file| unit.paths.get(file)?.clone());
            }
            line = line.or_else(|| entry.number(DW_AT_decl_line));
            match entry.origin().and_then(|next| units.follow(number, next)) {
                Some(next) => (number, place) = next,
                None => break,
            }
        }
        if line.is_none()
            && let Some((file, of_class)) = self.class(number, place)
        {
            (path, line) = (path.or(file), of_class);
        }
        let line = line.and_then(|line| u32::try_from(line).ok());
        let place = path.zip(line);
        let has_place = place.is_some();
        let place = place.or_else(|| self.first_lines.get(&entry).cloned());
        let (Some(name), Some((path, line))) = (name, place) else { return Ok(None) };
        let symbols = symbols.as_deref().filter(|_| !is_assembler_name);
        let symbol = symbols.and_then(|symbols| own_name(symbols, &name));
        is_assembler_name |= symbol.is_some();
        let name = symbol.unwrap_or(&name).into();
        Ok(Some(Declared { name, is_assembler_name, file: self.file(&path), line, has_place }))
    }
}

/// The name of a function among the symbols of its code. The others are aliases, or other variants of a constructor.
fn own_name<'s>(symbols: &'s [Vec<u8>], in_source: &[u8]) -> Option<&'s [u8]> {
    let own = symbols.iter().find(|symbol| *symbol == in_source);
    let base = || symbols.iter().find(|symbol| is_base_object(symbol));
    own.or_else(base).or(symbols.last()).map(Vec::as_slice)
}

/// Whether an attribute has the name or the declaration of a function, or refers to the entry that has them.
fn is_of_declaration(name: DwAt) -> bool {
    matches!(
        name,
        constants::DW_AT_name
            | constants::DW_AT_linkage_name
            | constants::DW_AT_decl_file
            | constants::DW_AT_decl_line
            | constants::DW_AT_abstract_origin
            | constants::DW_AT_specification
    )
}
