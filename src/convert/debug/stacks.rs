//! Which functions an instruction was written in: the one that has it, and those that are inlined
//! there, which may have no notes and no counters of their own.

use std::cell::RefCell;
use std::prelude::v1::*;
use std::sync::Arc;

use addr2line::Context;
use gimli::{
    AttributeValue, DW_AT_GNU_discriminator, DW_AT_abstract_origin, DW_AT_decl_file,
    DW_AT_decl_line, DW_AT_linkage_name, DW_AT_name, DW_AT_specification, UnitOffset,
};
use hashbrown::HashMap;

use super::{Program, Sections, Slice, Unit, text};
use crate::convert::source::{Declared, Inlined, SourceLine, Stack};

/// Longest chain from a copy to the declaration.
const LONGEST: usize = 8;

/// More functions are not inlined into one another.
const DEEPEST: usize = 256;

/// An entry of a function or of a copy of one: number of the unit, and place in it.
type Entry = (usize, UnitOffset);

/// The stacks of a program's instructions.
pub struct Stacks<'d> {
    context: Context<Slice<'d>>,
    program: &'d Program<'d>,
    declared: RefCell<HashMap<Entry, Option<Arc<Declared>>>>,
}

/// A function, and where control is in it: at the call of the next one, or at the instruction, of which
/// the place does not matter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    entry: Entry,
    line: u32,
    column: u32,
}

impl<'d> Stacks<'d> {
    /// Those of a program.
    pub fn new(sections: &'d Sections<'_>, program: &'d Program<'d>) -> Result<Self, gimli::Error> {
        let context = Context::from_dwarf(sections.borrow())?;
        Ok(Self { context, program, declared: RefCell::default() })
    }

    /// The stack of an instruction, if all its functions are known.
    pub fn stack(&self, frames: &[Frame]) -> Result<Option<Stack>, gimli::Error> {
        let Some((last, within)) = frames.split_last() else { return Ok(None) };
        let Some(outermost) = self.declared(last.entry)? else { return Ok(None) };
        let mut inlined = Vec::with_capacity(within.len());
        let mut caller = last;
        for frame in within.iter().rev() {
            let Some(function) = self.declared(frame.entry)? else { return Ok(None) };
            let discriminator = self.discriminator(frame.entry)?;
            let Frame { line, column, .. } = *caller;
            inlined.push(Inlined { line, column, discriminator, function });
            caller = frame;
        }
        Ok(Some(Stack { outermost, inlined }))
    }

    /// The functions of an instruction, innermost first; none if they are too many.
    pub fn frames(&self, address: u64) -> Result<Vec<Frame>, gimli::Error> {
        let unit = self.context.find_dwarf_and_unit(address).skip_all_loads();
        let start = unit.map(|unit| unit.header.offset());
        let units = &self.program.units;
        let unit = units.binary_search_by_key(&start, |unit| Some(unit.entries.header.offset()));
        let Ok(unit) = unit else { return Ok(Vec::new()) };
        let mut found = self.context.find_frames(address).skip_all_loads()?;
        let mut frames = Vec::new();
        while let Some(frame) = found.next()? {
            let place = frame.location.filter(|_| !frames.is_empty());
            let line = place.as_ref().and_then(|place| place.line).unwrap_or(0);
            let column = place.and_then(|place| place.column).unwrap_or(0);
            let entry = frame.dw_die_offset.map(|place| (unit, place));
            frames.extend(entry.map(|entry| Frame { entry, line, column }));
            if frames.len() > DEEPEST {
                return Ok(Vec::new());
            }
        }
        Ok(frames)
    }

    /// Which of several calls of the same line a copy is for.
    fn discriminator(&self, (unit, place): Entry) -> Result<u16, gimli::Error> {
        let unit = &self.program.units[unit];
        let entry = unit.entries.entry(place)?;
        let value = entry.attr(DW_AT_GNU_discriminator).and_then(|value| value.udata_value());
        Ok(unit.discriminator(value.unwrap_or(0)))
    }

    fn declared(&self, entry: Entry) -> Result<Option<Arc<Declared>>, gimli::Error> {
        if let Some(known) = self.declared.borrow().get(&entry) {
            return Ok(known.clone());
        }
        let declared = self.program.declared(entry)?.map(Arc::new);
        self.declared.borrow_mut().insert(entry, declared.clone());
        Ok(declared)
    }
}

impl<'d> Program<'d> {
    /// Follows a function's entry to where it is declared.
    fn declared(&self, (unit, mut place): Entry) -> Result<Option<Declared>, gimli::Error> {
        let mut unit = &self.units[unit];
        let (mut name, mut path, mut line) = (None, None, None);
        for _ in 0..LONGEST {
            let entry = unit.entries.entry(place)?;
            let linkage = entry.attr_value(DW_AT_linkage_name);
            if let Some(value) = linkage.or_else(|| entry.attr_value(DW_AT_name)) {
                let found = text(&self.dwarf, &unit.entries, value)?;
                // The name for the linker may stand further on than the one in the source.
                if name.is_none() || linkage.is_some() {
                    name = Some(complete(found));
                }
            }
            if let (None, Some(AttributeValue::FileIndex(file))) =
                (&path, entry.attr_value(DW_AT_decl_file))
            {
                path = unit.path(file);
            }
            line = line.or(entry.attr(DW_AT_decl_line).and_then(|line| line.udata_value()));
            let origin = entry.attr_value(DW_AT_abstract_origin);
            let next = origin.or_else(|| entry.attr_value(DW_AT_specification));
            match next.and_then(|next| self.follow(unit, next)) {
                Some(next) => (unit, place) = next,
                None => break,
            }
        }
        let line = line.and_then(|line| u32::try_from(line).ok());
        let at = path.zip(line).map(|(path, line)| SourceLine { path, line });
        Ok(name.zip(at).map(|(name, at)| Declared { name, at }))
    }

    /// The entry that an attribute refers to.
    fn follow<'p>(
        &'p self,
        unit: &'p Unit<'d>,
        to: AttributeValue<Slice<'d>>,
    ) -> Option<(&'p Unit<'d>, UnitOffset)> {
        match to {
            AttributeValue::UnitRef(place) => Some((unit, place)),
            AttributeValue::DebugInfoRef(place) => {
                let after = self
                    .units
                    .partition_point(|unit| unit.entries.header.debug_info_offset() <= Some(place));
                let unit = self.units.get(after.checked_sub(1)?)?;
                Some((unit, place.to_unit_offset(&unit.entries.header)?))
            }
            _ => None,
        }
    }
}

/// The name of a constructor or destructor in C++ that a compiler works with: entries of what all its
/// variants have in common have a name of their own, of variant 4, instead of 2, the base object's.
fn complete(mut name: Vec<u8>) -> Vec<u8> {
    let mut place = if name.starts_with(b"_Z") { 2 } else { name.len() };
    while let Some(rest) = name.get(place..).filter(|rest| !rest.is_empty()) {
        if matches!(rest, [b'C' | b'D', b'4', b'E', ..]) {
            name[place + 1] = b'2';
            break;
        }
        // An identifier stands behind its length; a literal, `Lj4E`, is no length.
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length = std::str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
        place = match (length, rest) {
            (Some(length), _) => place.saturating_add(digits).saturating_add(length),
            (None, [b'L', b'a'..=b'z', ..]) => {
                place + rest.iter().position(|&byte| byte == b'E').unwrap_or(rest.len())
            }
            _ => place + 1,
        };
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_have_the_name_of_a_variant() {
        let complete = |name: &str| String::from_utf8(complete(name.into())).unwrap();
        assert_eq!(complete("_ZN1BC4Ei"), "_ZN1BC2Ei");
        assert_eq!(complete("_ZN3FC4C4E3C4E"), "_ZN3FC4C2E3C4E");
        assert_eq!(complete("_ZN1AILj12EED4Ev"), "_ZN1AILj12EED2Ev");
        assert_eq!(complete("_ZN4FC4E1fEv"), "_ZN4FC4E1fEv");
        assert_eq!(complete("C4E"), "C4E");
    }
}
