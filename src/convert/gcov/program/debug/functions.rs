//! Which functions have code, and what is inlined in them: the tree of a function's copies.

use std::ops::Range;
use std::prelude::v1::*;

use gimli::{
    Attribute, AttributeValue, DW_AT_GNU_discriminator, DW_AT_GNU_entry_view,
    DW_AT_abstract_origin, DW_AT_call_column, DW_AT_call_line, DW_AT_decl_file, DW_AT_decl_line,
    DW_AT_entry_pc, DW_AT_high_pc, DW_AT_linkage_name, DW_AT_low_pc, DW_AT_name, DW_AT_ranges,
    DwAt, constants,
};

use super::Slice;
use super::units::{Entry, Unit, Units};

/// Deepest inlining that is followed.
const DEEPEST: usize = 256;

/// A function that has code.
#[derive(Clone, Debug)]
pub struct Function {
    /// The ranges of its code.
    pub ranges: Vec<Range<u64>>,
    /// The function itself, then the copies of functions inlined in it, each behind its caller.
    pub copies: Vec<Inlined>,
}

/// A function, or an inlined copy of one.
#[derive(Clone, Debug)]
pub struct Inlined {
    /// Index of the caller among the copies; 0 for the function itself.
    pub caller: u32,
    /// The function that it is a copy of.
    pub entry: Entry,
    /// Line of the call.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
    /// Discriminator of the call.
    pub discriminator: u16,
    /// The ranges of its code; empty if it has none.
    pub ranges: Vec<Range<u64>>,
    /// Where it is entered, even if it has no code.
    pub entry_point: Option<EntryPoint>,
}

/// Where a copy is entered: at a row of the line table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryPoint {
    /// The address of the row.
    pub address: u64,
    /// Number of rows at that address before it.
    pub view: u32,
}

/// A function that a unit declares outside of functions.
#[derive(Clone, Copy, Debug)]
pub struct Declaration<'d> {
    /// Index of the file in the unit.
    pub file: u32,
    /// The line.
    pub line: u32,
    /// Its name.
    pub name: AttributeValue<Slice<'d>>,
    /// Whether the name is the assembler's.
    pub is_assembler_name: bool,
}

/// What the debug information of a unit says about functions.
#[derive(Debug, Default)]
pub struct Found<'d> {
    /// The functions that have code, in the order of the debug information.
    pub functions: Vec<Function>,
    /// All functions that it names.
    pub declarations: Vec<Declaration<'d>>,
}

/// The functions of a unit. Damage ends the unit.
pub fn functions<'d>(units: &Units<'d>, number: u32) -> (Found<'d>, Option<gimli::Error>) {
    let mut scan = Scan {
        units,
        unit: &units.all()[number as usize],
        number,
        found: Found::default(),
        open: Vec::new(),
        attributes: Vec::new(),
    };
    let error = scan.run().err();
    (scan.found, error)
}

/// An entry whose children are being read.
struct Open {
    /// Depth of its children.
    depth: isize,
    /// The function and the copy that the children belong to; `None` if they belong to no code.
    inside: Option<(usize, u32)>,
    /// Whether the children stand in a function.
    is_local: bool,
}

struct Scan<'u, 'd> {
    units: &'u Units<'d>,
    unit: &'u Unit<'d>,
    number: u32,
    found: Found<'d>,
    open: Vec<Open>,
    attributes: Vec<Attribute<Slice<'d>>>,
}

impl<'d> Scan<'_, 'd> {
    fn run(&mut self) -> Result<(), gimli::Error> {
        let unit = self.unit;
        let mut entries = unit.entries.entries_raw(None)?;
        while !entries.is_empty() {
            let (place, depth) = (entries.next_offset(), entries.next_depth());
            while self.open.last().is_some_and(|open| depth < open.depth) {
                self.open.pop();
            }
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            let tag = abbreviation.tag();
            let inside = self.open.last().and_then(|open| open.inside);
            let mut is_local = self.open.last().is_some_and(|open| open.is_local);
            let inside = match tag {
                constants::DW_TAG_subprogram => {
                    entries.read_attributes(abbreviation.attributes(), &mut self.attributes)?;
                    if !is_local {
                        self.found.declarations.extend(self.declaration());
                    }
                    is_local = true;
                    self.function(place)?
                }
                constants::DW_TAG_inlined_subroutine if inside.is_some() => {
                    entries.read_attributes(abbreviation.attributes(), &mut self.attributes)?;
                    self.inlined(inside)?
                }
                constants::DW_TAG_lexical_block => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    inside
                }
                _ => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    None
                }
            };
            if abbreviation.has_children() && (is_local || !self.open.is_empty()) {
                self.open.push(Open { depth: depth + 1, inside, is_local });
            }
        }
        Ok(())
    }

    /// The entry at hand as a declaration, if it says by itself what it declares.
    fn declaration(&self) -> Option<Declaration<'d>> {
        let linkage = self.attribute(DW_AT_linkage_name);
        let name = linkage.or_else(|| self.attribute(DW_AT_name))?;
        let Some(AttributeValue::FileIndex(file)) = self.attribute(DW_AT_decl_file) else {
            return None;
        };
        let file = u32::try_from(file).ok()?;
        let line = u32::try_from(self.attribute(DW_AT_decl_line)?.udata_value()?).ok()?;
        Some(Declaration { file, line, name, is_assembler_name: linkage.is_some() })
    }

    fn function(&mut self, place: gimli::UnitOffset) -> Result<Option<(usize, u32)>, gimli::Error> {
        let ranges = self.ranges()?;
        if ranges.is_empty() {
            return Ok(None);
        }
        let entry = (self.number, place);
        let itself = Inlined {
            caller: 0,
            entry,
            line: 0,
            column: 0,
            discriminator: 0,
            ranges: ranges.clone(),
            entry_point: None,
        };
        self.found.functions.push(Function { ranges, copies: vec![itself] });
        Ok(Some((self.found.functions.len() - 1, 0)))
    }

    fn inlined(
        &mut self,
        inside: Option<(usize, u32)>,
    ) -> Result<Option<(usize, u32)>, gimli::Error> {
        let Some((function, caller)) = inside.filter(|_| self.open.len() < DEEPEST) else {
            return Ok(None);
        };
        let origin = self.attribute(DW_AT_abstract_origin);
        let entry = origin.and_then(|origin| self.units.follow(self.number, origin));
        let Some(entry) = entry else { return Ok(None) };
        let number = |name| self.attribute(name).and_then(|value| value.udata_value()).unwrap_or(0);
        let copy = Inlined {
            caller,
            entry,
            line: u32::try_from(number(DW_AT_call_line)).unwrap_or(0),
            column: u32::try_from(number(DW_AT_call_column)).unwrap_or(0),
            discriminator: self.unit.discriminator(number(DW_AT_GNU_discriminator)),
            ranges: self.ranges()?,
            entry_point: self.entry_point()?,
        };
        let copies = &mut self.found.functions[function].copies;
        copies.push(copy);
        Ok(Some((function, copies.len() as u32 - 1)))
    }

    fn attribute(&self, name: DwAt) -> Option<AttributeValue<Slice<'d>>> {
        self.attributes.iter().find(|found| found.name() == name).map(Attribute::value)
    }

    /// Where the copy at hand is entered. An address without the number of a row means nothing: the code
    /// there already shows the copy.
    fn entry_point(&self) -> Result<Option<EntryPoint>, gimli::Error> {
        let (dwarf, entries) = (&self.units.dwarf, &self.unit.entries);
        let Some(pc) = self.attribute(DW_AT_entry_pc) else { return Ok(None) };
        let view = self.attribute(DW_AT_GNU_entry_view).and_then(|view| view.udata_value());
        let Some(view) = view.and_then(|view| u32::try_from(view).ok()) else { return Ok(None) };
        let address = dwarf.attr_address(entries, pc)?;
        Ok(address.map(|address| EntryPoint { address, view }))
    }

    /// The code of the entry at hand.
    fn ranges(&self) -> Result<Vec<Range<u64>>, gimli::Error> {
        let (dwarf, entries) = (&self.units.dwarf, &self.unit.entries);
        let address = |name| match self.attribute(name) {
            Some(value) => dwarf.attr_address(entries, value),
            None => Ok(None),
        };
        let mut found = Vec::new();
        if let Some(list) = self.attribute(DW_AT_ranges)
            && let Some(mut list) = dwarf.attr_ranges(entries, list)?
        {
            while let Some(range) = list.next()? {
                if range.begin < range.end {
                    found.push(range.begin..range.end);
                }
            }
            return Ok(found);
        }
        let Some(low) = address(DW_AT_low_pc)? else { return Ok(found) };
        let high = match self.attribute(DW_AT_high_pc) {
            Some(AttributeValue::Udata(size)) => low.checked_add(size),
            _ => address(DW_AT_high_pc)?,
        };
        found.extend(high.filter(|&high| low < high).map(|high| low..high));
        Ok(found)
    }
}
