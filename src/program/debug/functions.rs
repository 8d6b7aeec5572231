//! Which functions have code, and what is inlined in them: the tree of a function's copies.

use std::ops::Range;
use std::prelude::v1::*;

use gimli::{
    Abbreviation, AttributeValue, DW_AT_GNU_discriminator, DW_AT_GNU_entry_view,
    DW_AT_abstract_origin, DW_AT_call_column, DW_AT_call_line, DW_AT_decl_file, DW_AT_decl_line,
    DW_AT_entry_pc, DW_AT_high_pc, DW_AT_linkage_name, DW_AT_low_pc, DW_AT_name, DW_AT_ranges,
    DwAt, DwTag, UnitOffset, constants,
};

use super::Slice;
use super::entries::{Attributes, Entries, Head, has};
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
    /// The ranges of all copies, in their order.
    of_copies: Vec<Range<u64>>,
}

impl Function {
    /// The ranges of a copy's code; none if it has no code.
    pub fn ranges_of(&self, copy: &Inlined) -> &[Range<u64>] {
        &self.of_copies[copy.ranges.start as usize..copy.ranges.end as usize]
    }
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
    /// See [`Function::ranges_of`].
    ranges: Range<u32>,
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

/// A function that a unit declares.
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
    /// Whether the declaration stands in a function, as those of lambdas do.
    pub is_local: bool,
}

/// Where a class is declared, as far as its unit tells: number of the file, and line.
pub type ClassPlace = (Option<u64>, Option<u64>);

/// What the debug information of a unit says about functions.
#[derive(Debug, Default)]
pub struct Found<'d> {
    /// The functions that have code, in the order of the debug information.
    pub functions: Vec<Function>,
    /// All functions that it names.
    pub declarations: Vec<Declaration<'d>>,
    /// The entries of functions without a place of their own, in their order, with the places of their classes. These
    /// are functions that compilers add, and the code of lambdas with `auto` parameters. Compilers use the place of the
    /// class for them.
    pub members: Vec<(UnitOffset, ClassPlace)>,
}

/// The functions of a unit. Damage ends the unit.
pub fn functions<'d>(units: &Units<'d>, number: u32) -> (Found<'d>, Option<gimli::Error>) {
    let mut scan = Scan {
        units,
        unit: &units.all()[number as usize],
        number,
        found: Found::default(),
        classes: Vec::new(),
        open: Vec::new(),
        attributes: Attributes::default(),
        ranges: Vec::new(),
    };
    let error = scan.run().err();
    (scan.found, error)
}

/// An entry whose children are being read.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Depth of its children.
    depth: isize,
    /// The function and the copy that the children belong to; `None` if they belong to no code.
    inside: Option<Inside>,
    /// Whether the children stand in a function.
    is_local: bool,
    /// Index among the classes, if it is one.
    class: Option<u32>,
}

/// Index of a function, and of a copy among its copies.
type Inside = (u32, u32);

struct Scan<'u, 'd> {
    units: &'u Units<'d>,
    unit: &'u Unit<'d>,
    number: u32,
    found: Found<'d>,
    classes: Vec<ClassPlace>,
    open: Vec<Open>,
    /// Of the entry at hand.
    attributes: Attributes<'d>,
    /// Its code.
    ranges: Vec<Range<u64>>,
}

impl<'d> Scan<'_, 'd> {
    fn run(&mut self) -> Result<(), gimli::Error> {
        let mut entries = Entries::of(&self.unit.entries, is_wanted)?;
        while let Some(head) = entries.next()? {
            while self.open.last().is_some_and(|open| head.depth < open.depth) {
                self.open.pop();
            }
            if let Some(open) = self.entry(&mut entries, &head)?
                && head.has_children
                && (open.is_local || open.class.is_some() || !self.open.is_empty())
            {
                self.open.push(open);
            }
        }
        Ok(())
    }

    /// Reads an entry. `None` if its children have been passed.
    fn entry(
        &mut self,
        entries: &mut Entries<'_, 'd>,
        head: &Head,
    ) -> Result<Option<Open>, gimli::Error> {
        let around = self.open.last().copied().unwrap_or_default();
        let mut open = Open { depth: head.depth + 1, inside: None, class: None, ..around };
        match head.tag {
            constants::DW_TAG_subprogram => {
                entries.read(head, &mut self.attributes)?;
                self.found.declarations.extend(self.declaration(around.is_local));
                if let Some(class) = around.class.filter(|_| self.number(DW_AT_decl_line).is_none())
                {
                    self.found.members.push((head.place, self.classes[class as usize]));
                }
                open.is_local = true;
                // The children of a mere declaration are its parameters.
                if head.is_declaration && entries.skip_children(head, &self.attributes) {
                    return Ok(None);
                }
                open.inside = self.function(head.place)?;
            }
            constants::DW_TAG_inlined_subroutine if around.inside.is_some() => {
                entries.read(head, &mut self.attributes)?;
                open.inside = self.inlined(around.inside)?;
            }
            constants::DW_TAG_class_type | constants::DW_TAG_structure_type => {
                entries.read(head, &mut self.attributes)?;
                open.class = Some(self.classes.len() as u32);
                self.classes.push(self.class());
            }
            constants::DW_TAG_lexical_block => {
                entries.skip(head)?;
                open.inside = around.inside;
            }
            tag if is_without_functions(tag) => {
                entries.read(head, &mut self.attributes)?;
                if entries.skip_children(head, &self.attributes) {
                    return Ok(None);
                }
            }
            _ => entries.skip(head)?,
        }
        Ok(Some(open))
    }

    /// The place of the class at hand.
    fn class(&self) -> ClassPlace {
        let file = match self.attributes.value(DW_AT_decl_file) {
            Some(AttributeValue::FileIndex(file)) => Some(file),
            _ => None,
        };
        (file, self.number(DW_AT_decl_line))
    }

    /// The entry at hand as a declaration, if it says by itself what it declares.
    fn declaration(&self, is_local: bool) -> Option<Declaration<'d>> {
        let linkage = self.attribute(DW_AT_linkage_name);
        let name = linkage.or_else(|| self.attribute(DW_AT_name))?;
        let Some(AttributeValue::FileIndex(file)) = self.attribute(DW_AT_decl_file) else {
            return None;
        };
        let file = u32::try_from(file).ok()?;
        let line = u32::try_from(self.number(DW_AT_decl_line)?).ok()?;
        let is_assembler_name = linkage.is_some();
        Some(Declaration { file, line, name, is_assembler_name, is_local })
    }

    fn function(&mut self, place: gimli::UnitOffset) -> Result<Option<Inside>, gimli::Error> {
        self.find_ranges()?;
        if self.ranges.is_empty() {
            return Ok(None);
        }
        let (entry, ranges) = ((self.number, place), self.ranges.clone());
        let itself = Inlined {
            caller: 0,
            entry,
            line: 0,
            column: 0,
            discriminator: 0,
            ranges: 0..ranges.len() as u32,
            entry_point: None,
        };
        let of_copies = ranges.clone();
        self.found.functions.push(Function { ranges, copies: vec![itself], of_copies });
        Ok(Some((self.found.functions.len() as u32 - 1, 0)))
    }

    fn inlined(&mut self, inside: Option<Inside>) -> Result<Option<Inside>, gimli::Error> {
        let Some((function, caller)) = inside.filter(|_| self.open.len() < DEEPEST) else {
            return Ok(None);
        };
        let origin = self.attribute(DW_AT_abstract_origin);
        let entry = origin.and_then(|origin| self.units.follow(self.number, origin));
        let Some(entry) = entry else { return Ok(None) };
        self.find_ranges()?;
        let entry_point = self.entry_point()?;
        let number = |name| self.attributes.number(name).unwrap_or(0);
        let Function { copies, of_copies, .. } = &mut self.found.functions[function as usize];
        let first = of_copies.len() as u32;
        of_copies.extend_from_slice(&self.ranges);
        let copy = Inlined {
            caller,
            entry,
            line: u32::try_from(number(DW_AT_call_line)).unwrap_or(0),
            column: u32::try_from(number(DW_AT_call_column)).unwrap_or(0),
            discriminator: self.unit.discriminator(number(DW_AT_GNU_discriminator)),
            ranges: first..of_copies.len() as u32,
            entry_point,
        };
        copies.push(copy);
        Ok(Some((function, copies.len() as u32 - 1)))
    }

    fn attribute(&self, name: DwAt) -> Option<AttributeValue<Slice<'d>>> {
        self.attributes.value(name)
    }

    fn number(&self, name: DwAt) -> Option<u64> {
        self.attributes.number(name)
    }

    /// Where the copy at hand is entered. An address without the number of a row means nothing: the code
    /// there already shows the copy.
    fn entry_point(&self) -> Result<Option<EntryPoint>, gimli::Error> {
        let (dwarf, entries) = (&self.units.dwarf, &self.unit.entries);
        let Some(pc) = self.attribute(DW_AT_entry_pc) else { return Ok(None) };
        let view = self.number(DW_AT_GNU_entry_view).and_then(|view| u32::try_from(view).ok());
        let Some(view) = view else { return Ok(None) };
        let address = dwarf.attr_address(entries, pc)?;
        Ok(address.map(|address| EntryPoint { address, view }))
    }

    /// Finds the code of the entry at hand.
    fn find_ranges(&mut self) -> Result<(), gimli::Error> {
        let (dwarf, entries) = (&self.units.dwarf, &self.unit.entries);
        let Self { attributes, ranges, .. } = self;
        let address = |name| match attributes.value(name) {
            Some(value) => dwarf.attr_address(entries, value),
            None => Ok(None),
        };
        ranges.clear();
        if let Some(list) = attributes.value(DW_AT_ranges)
            && let Some(mut list) = dwarf.attr_ranges(entries, list)?
        {
            while let Some(range) = list.next()? {
                if range.begin < range.end {
                    ranges.push(range.begin..range.end);
                }
            }
            return Ok(());
        }
        let Some(low) = address(DW_AT_low_pc)? else { return Ok(()) };
        let high = match attributes.value(DW_AT_high_pc) {
            Some(AttributeValue::Udata(size)) => low.checked_add(size),
            _ => address(DW_AT_high_pc)?,
        };
        ranges.extend(high.filter(|&high| low < high).map(|high| low..high));
        Ok(())
    }
}

/// Whether an attribute of an entry tells anything.
fn is_wanted(abbreviation: &Abbreviation, name: DwAt) -> bool {
    match abbreviation.tag() {
        // The name for the linker suffices.
        constants::DW_TAG_subprogram if name == DW_AT_name => {
            !has(abbreviation, DW_AT_linkage_name)
        }
        constants::DW_TAG_subprogram => is_of_function(name),
        constants::DW_TAG_inlined_subroutine => is_of_copy(name),
        constants::DW_TAG_class_type | constants::DW_TAG_structure_type => is_of_class(name),
        tag => name == constants::DW_AT_sibling && is_without_functions(tag),
    }
}

/// Whether an attribute of a function has its assembler name, its declaration or its code.
fn is_of_function(name: DwAt) -> bool {
    matches!(
        name,
        constants::DW_AT_linkage_name
            | constants::DW_AT_decl_file
            | constants::DW_AT_decl_line
            | constants::DW_AT_sibling
    ) || is_of_code(name)
}

/// The same of an inlined copy.
fn is_of_copy(name: DwAt) -> bool {
    matches!(
        name,
        constants::DW_AT_abstract_origin
            | constants::DW_AT_call_line
            | constants::DW_AT_call_column
            | constants::DW_AT_GNU_discriminator
            | constants::DW_AT_GNU_entry_view
            | constants::DW_AT_entry_pc
    ) || is_of_code(name)
}

/// The same of the place of a class.
fn is_of_class(name: DwAt) -> bool {
    matches!(name, constants::DW_AT_decl_file | constants::DW_AT_decl_line)
}

/// The same of code.
fn is_of_code(name: DwAt) -> bool {
    matches!(name, constants::DW_AT_low_pc | constants::DW_AT_high_pc | constants::DW_AT_ranges)
}

/// Whether no function stands within such an entry.
fn is_without_functions(tag: DwTag) -> bool {
    matches!(
        tag,
        constants::DW_TAG_array_type
            | constants::DW_TAG_call_site
            | constants::DW_TAG_enumeration_type
            | constants::DW_TAG_GNU_call_site
            | constants::DW_TAG_subroutine_type
    )
}
