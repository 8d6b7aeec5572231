//! Finds the records of instrumented functions in debug information (`-profile-correlate=debug-info`).
//!
//! clang describes the counters of a function as a variable in it, whose name begins with `__profc_`. The variable has
//! its address, and below it entries of `DW_TAG_LLVM_annotation`, each with a name and a constant:
//!
//! | name | constant |
//! |---|---|
//! | `Function Name` | name of the function in profiles |
//! | `CFG Hash` | hash of its control flow |
//! | `Num Counters` | how many counters it has |

use std::prelude::v1::*;

use gimli::{
    AttributeValue, DW_AT_const_value, DW_AT_location, DW_AT_name, DW_TAG_variable, DwTag, Dwarf,
    Operation, Unit,
};

use super::{Sections, Slice};

/// LLVM's tag of annotations.
const ANNOTATION: DwTag = DwTag(0x6000);
const COUNTERS: &[u8] = b"__profc_";

/// What debug information says about the counters of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Its name in profiles.
    pub name: Vec<u8>,
    /// Hash of its control flow.
    pub hash: u64,
    /// Address of its first counter.
    pub address: u64,
    /// Number of its counters.
    pub counters: u64,
}

/// All functions with counters, in the order of the file.
pub fn counted(debug: &object::File<'_>) -> Result<Vec<Counted>, gimli::Error> {
    let sections = Sections::load(debug);
    let dwarf = sections.borrow();
    let mut found = Vec::new();
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        add(&dwarf, &dwarf.unit(header)?, &mut found)?;
    }
    Ok(found)
}

/// Adds the functions of a unit.
fn add<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    found: &mut Vec<Counted>,
) -> Result<(), gimli::Error> {
    let mut entries = unit.entries();
    // The variable at hand, and its depth.
    let mut variable: Option<(isize, Partial)> = None;
    while let Some(entry) = entries.next_dfs()? {
        let depth = entry.depth();
        if variable.as_ref().is_some_and(|(of_variable, _)| depth <= *of_variable) {
            found.extend(variable.take().and_then(|(_, partial)| partial.whole()));
        }
        let name = match entry.attr_value(DW_AT_name) {
            Some(name) => dwarf.attr_string(unit, name)?.slice(),
            None => continue,
        };
        if entry.tag() == DW_TAG_variable && name.starts_with(COUNTERS) {
            let location = entry.attr_value(DW_AT_location);
            let address = location.map_or(Ok(None), |at| address(dwarf, unit, at))?;
            variable = Some((depth, Partial { address, ..Partial::default() }));
        } else if entry.tag() == ANNOTATION
            && let Some((_, partial)) = &mut variable
            && let Some(value) = entry.attr_value(DW_AT_const_value)
        {
            partial.note(name, value, dwarf, unit)?;
        }
    }
    found.extend(variable.and_then(|(_, partial)| partial.whole()));
    Ok(())
}

/// What has been read of a function.
#[derive(Default)]
struct Partial {
    name: Option<Vec<u8>>,
    hash: Option<u64>,
    address: Option<u64>,
    counters: Option<u64>,
}

impl Partial {
    fn note<'d>(
        &mut self,
        name: &[u8],
        value: AttributeValue<Slice<'d>>,
        dwarf: &Dwarf<Slice<'d>>,
        unit: &Unit<Slice<'d>>,
    ) -> Result<(), gimli::Error> {
        match name {
            b"Function Name" => {
                self.name = Some(dwarf.attr_string(unit, value)?.slice().to_vec());
            }
            b"CFG Hash" => self.hash = number(&value),
            b"Num Counters" => self.counters = number(&value),
            _ => {}
        }
        Ok(())
    }

    /// The function, if everything is known. The linker leaves those that it has dropped no address.
    fn whole(self) -> Option<Counted> {
        let Self { name, hash, address, counters } = self;
        Some(Counted { name: name?, hash: hash?, address: address?, counters: counters? })
    }
}

/// A constant of any form.
fn number(value: &AttributeValue<Slice<'_>>) -> Option<u64> {
    value.udata_value().or_else(|| value.sdata_value().map(|value| value as u64))
}

/// The address that a location is.
fn address<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &Unit<Slice<'d>>,
    location: AttributeValue<Slice<'d>>,
) -> Result<Option<u64>, gimli::Error> {
    let Some(expression) = location.exprloc_value() else { return Ok(None) };
    Ok(match expression.operations(unit.encoding()).next()? {
        Some(Operation::Address { address }) => Some(address),
        Some(Operation::AddressIndex { index }) => Some(dwarf.address(unit, index)?),
        _ => None,
    })
}
