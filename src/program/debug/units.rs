//! What each run of the compiler wrote about itself: the names of its files, how to read its discriminators,
//! and how entries refer to those of other units.

use std::prelude::v1::*;
use std::sync::Arc;

use gimli::{AttributeValue, DW_AT_producer, Dwarf, UnitOffset};
use hashbrown::{HashMap, hash_map};
use object::Object as _;
use rayon::prelude::*;

use super::{Moved, Sections, Slice};
use crate::program::source_path::source_path;

/// All units of a program.
pub struct Units<'d> {
    pub(super) dwarf: Dwarf<Slice<'d>>,
    /// In the order of the file.
    units: Vec<Unit<'d>>,
}

/// What one run of the compiler wrote.
pub struct Unit<'d> {
    pub(super) entries: gimli::Unit<Slice<'d>>,
    /// Paths of the files that its line table numbers.
    pub paths: Vec<Option<Arc<[u8]>>>,
    /// Whether its discriminators also distinguish copies of the code.
    tells_copies: bool,
}

/// An entry: number of the unit, and offset in it.
pub type Entry = (u32, UnitOffset);

impl<'d> Units<'d> {
    /// Finds the units. Damaged units are left out, and the first error is given, too.
    pub fn new(mut dwarf: Dwarf<Slice<'d>>, moved: Moved<'_>) -> (Self, Option<gimli::Error>) {
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let mut headers = Vec::new();
        let mut all = dwarf.units();
        let mut error = None;
        loop {
            match all.next() {
                Ok(Some(header)) => headers.push(header),
                Ok(None) => break,
                Err(why) => {
                    error = Some(why);
                    break;
                }
            }
        }
        let units: Vec<_> =
            headers.into_par_iter().map(|header| Unit::new(&dwarf, header, moved)).collect();
        let mut sound = Vec::with_capacity(units.len());
        for unit in units {
            match unit {
                Ok(unit) => sound.push(unit),
                Err(why) => error = error.or(Some(why)),
            }
        }
        (Self { dwarf, units: sound }, error)
    }

    /// All units.
    pub fn all(&self) -> &[Unit<'d>] {
        &self.units
    }

    /// The entry that an attribute of a unit refers to.
    pub(super) fn follow(&self, unit: u32, to: AttributeValue<Slice<'d>>) -> Option<Entry> {
        match to {
            AttributeValue::UnitRef(place) => Some((unit, place)),
            AttributeValue::DebugInfoRef(place) => {
                let offset = |unit: &Unit<'_>| unit.entries.header.debug_info_offset();
                let after = self.units.partition_point(|unit| offset(unit) <= Some(place));
                let number = after.checked_sub(1)?;
                let place = place.to_unit_offset(&self.units[number].entries.header)?;
                Some((number as u32, place))
            }
            _ => None,
        }
    }

    /// A string, wherever it is stored.
    pub fn text(
        &self,
        unit: &Unit<'d>,
        value: AttributeValue<Slice<'d>>,
    ) -> Result<Slice<'d>, gimli::Error> {
        self.dwarf.attr_string(&unit.entries, value)
    }
}

impl<'d> Unit<'d> {
    fn new(
        dwarf: &Dwarf<Slice<'d>>,
        header: gimli::UnitHeader<Slice<'d>>,
        moved: Moved<'_>,
    ) -> Result<Self, gimli::Error> {
        let entries = dwarf.unit(header)?;
        let paths = paths(dwarf, &entries, moved)?;
        let tells_copies = tells_copies(dwarf, &entries)?;
        Ok(Self { entries, paths, tells_copies })
    }

    /// The part of a discriminator that profiles have. The compiler reads profiles before it unrolls loops
    /// and copies code, and the higher bits note these copies.
    pub fn discriminator(&self, value: u64) -> u16 {
        let base = if self.tells_copies { value & 0xff } else { value };
        u16::try_from(base).unwrap_or(0)
    }
}

/// Number of units that have most of their debug information in another file (`.dwo`). Damaged units do not count.
pub fn split_units(file: &object::File<'_>) -> usize {
    // Such a unit refers to this section for its addresses.
    if file.section_by_name(".debug_addr").is_none() {
        return 0;
    }
    let sections = Sections::load(file);
    let dwarf = sections.borrow();
    let (mut all, mut split) = (dwarf.units(), 0);
    while let Ok(Some(header)) = all.next() {
        let unit = dwarf.unit(header);
        split += usize::from(unit.is_ok_and(|unit| matches!(unit.dwo_name(), Ok(Some(_)))));
    }
    split
}

/// Whether a unit was compiled by GCC 16 or later: "GNU C17 16.2.0 -mtune=generic ...".
fn tells_copies<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &gimli::Unit<Slice<'d>>,
) -> Result<bool, gimli::Error> {
    let entry = unit.entry(unit.header.root_offset())?;
    let Some(producer) = entry.attr_value(DW_AT_producer) else { return Ok(false) };
    let producer = dwarf.attr_string(unit, producer)?;
    let Some(rest) = producer.slice().strip_prefix(b"GNU ") else { return Ok(false) };
    let words = rest.split(|&byte| byte == b' ');
    let version = words.filter_map(|word| str::from_utf8(word).ok()?.split_once('.'));
    let major = version.filter_map(|(major, _)| major.parse::<u32>().ok()).next();
    Ok(major.is_some_and(|major| major >= 16))
}

/// Version 5 counts files from 0, versions before from 1.
fn paths(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &gimli::Unit<Slice<'_>>,
    moved: Moved<'_>,
) -> Result<Vec<Option<Arc<[u8]>>>, gimli::Error> {
    let Some(program) = &unit.line_program else { return Ok(Vec::new()) };
    let header = program.header();
    let compilation = unit.comp_dir.map(|name| name.slice().to_vec()).unwrap_or_default();
    let text = |value| Ok::<_, gimli::Error>(dwarf.attr_string(unit, value)?.slice());
    // Few directories have all the files.
    let mut directories = HashMap::<u64, Vec<u8>>::new();
    let mut path = |number| -> Result<Option<Arc<[u8]>>, gimli::Error> {
        let Some(file) = header.file(number) else { return Ok(None) };
        let directory = match directories.entry(file.directory_index()) {
            hash_map::Entry::Occupied(known) => known.into_mut(),
            hash_map::Entry::Vacant(unknown) => {
                let directory = file.directory(header).map(text).transpose()?;
                unknown.insert(source_path(&compilation, directory.unwrap_or_default()))
            }
        };
        let name = text(file.path_name())?;
        Ok(Some(moved(&source_path(directory, name)).into()))
    };
    (0..=header.file_names().len() as u64).map(&mut path).collect()
}
