//! The debug information of a program, DWARF 2 to 5: `line_table` has the lines of instructions,
//! [`mod@stacks`] the functions they were written in.

pub mod line_table;
pub mod stacks;

use core::fmt;
use std::borrow::Cow;
use std::ops::Range;
use std::prelude::v1::*;
use std::sync::Arc;

use gimli::{
    AttributeValue, DW_AT_producer, Dwarf, DwarfSections, EndianSlice, Reader as _, RunTimeEndian,
    SectionId,
};
use hashbrown::HashSet;
use object::{CompressionFormat, Object, ObjectSection, SectionFlags, elf};

use super::source::{SourceLine, Stack, source_path};
use line_table::Lines;
use stacks::Stacks;

/// Bytes of a section.
pub type Slice<'d> = EndianSlice<'d, RunTimeEndian>;

/// The sections, decompressed.
pub struct Sections<'d> {
    sections: DwarfSections<Cow<'d, [u8]>>,
    endian: RunTimeEndian,
}

impl<'d> Sections<'d> {
    /// Those of a file, which may lack them.
    pub fn load(file: &object::File<'d>) -> Result<Self, gimli::Error> {
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let load = |id: SectionId| -> Result<Cow<'d, [u8]>, gimli::Error> {
            let section = file.section_by_name(id.name());
            // A section that cannot be decompressed is as good as none.
            Ok(section.and_then(|found| uncompressed(&found)).unwrap_or_default())
        };
        Ok(Self { sections: DwarfSections::load(load)?, endian })
    }

    /// The sections to read from.
    pub fn borrow(&self) -> Dwarf<Slice<'_>> {
        self.sections.borrow(|section| EndianSlice::new(section, self.endian))
    }
}

/// Why debug information cannot be used.
#[derive(Debug)]
pub enum Error {
    /// It is damaged.
    Damaged(gimli::Error),
    /// Entries stand in one another deeper than any compiler puts them, and than can be followed.
    Deep,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(error) => write!(f, "{error}"),
            Self::Deep => write!(f, "more than {DEEPEST} entries in one another"),
        }
    }
}

impl core::error::Error for Error {}

impl From<gimli::Error> for Error {
    fn from(error: gimli::Error) -> Self {
        Self::Damaged(error)
    }
}

/// Of entries in one another.
const DEEPEST: isize = 1000;

/// How many times as large as its compressed form a section may be; what is larger is there to use up
/// memory.
const LARGEST_RATIO: u64 = 200;

/// What a section holds, unless it says that it would be absurdly large.
pub fn uncompressed<'d>(section: &impl ObjectSection<'d>) -> Option<Cow<'d, [u8]>> {
    let data = section.compressed_data().ok()?;
    let limit = (data.data.len() as u64).saturating_mul(LARGEST_RATIO);
    let is_sane = data.format == CompressionFormat::None || data.uncompressed_size <= limit;
    is_sane.then(|| data.decompress().ok())?
}

/// Adds the stacks of all instructions of a program that belong to some lines, in the order of the
/// line table. What is damaged has none; the first error is told.
///
/// `file` is the program, or what was split off from it.
pub fn stacks(
    file: &object::File<'_>,
    lines: &Lines<'_>,
    moved: Moved<'_>,
    found: &mut Vec<(SourceLine, Stack)>,
) -> Result<(), Error> {
    let sections = Sections::load(file)?;
    let program = Program::new(file, &sections, moved)?;
    let stacks = Stacks::new(&sections, &program)?;
    let mut known = HashSet::new();
    let mut result = Ok(());
    for (line, address) in program.instructions(lines)? {
        let stack = stacks.frames(address).and_then(|frames| {
            let is_new = known.insert((line.clone(), frames.clone()));
            if is_new { stacks.stack(&frames) } else { Ok(None) }
        });
        match stack {
            Ok(stack) => found.extend(stack.map(|stack| (line, stack))),
            Err(error) => result = result.and(Err(error.into())),
        }
    }
    result
}

/// What renames the paths of sources that have moved.
pub type Moved<'m> = &'m dyn Fn(&[u8]) -> Vec<u8>;

/// All of it.
pub struct Program<'d> {
    dwarf: Dwarf<Slice<'d>>,
    /// In the order of the file.
    units: Vec<Unit<'d>>,
    /// Where code is. There are lines for what the linker has left out, too, from address 0 on.
    code: Vec<Range<u64>>,
}

/// What one run of the compiler wrote.
struct Unit<'d> {
    entries: gimli::Unit<Slice<'d>>,
    /// Paths of the files that its line table numbers.
    paths: Vec<Option<Arc<[u8]>>>,
    /// Whether its discriminators tell copies of the code apart, too.
    tells_copies: bool,
}

impl<'d> Program<'d> {
    /// Finds the units.
    pub fn new(
        file: &object::File<'_>,
        sections: &'d Sections<'_>,
        moved: Moved<'_>,
    ) -> Result<Self, Error> {
        let dwarf = sections.borrow();
        let mut units = Vec::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let entries = dwarf.unit(header)?;
            if is_deep(&entries)? {
                return Err(Error::Deep);
            }
            let paths = paths(&dwarf, &entries, moved)?;
            let tells_copies = tells_copies(&dwarf, &entries)?;
            units.push(Unit { entries, paths, tells_copies });
        }
        let code = file.sections().filter(is_code);
        let code = code.map(|code| code.address()..code.address().saturating_add(code.size()));
        Ok(Self { dwarf, units, code: code.collect() })
    }
}

impl Unit<'_> {
    fn path(&self, file: u64) -> Option<Arc<[u8]>> {
        self.paths.get(usize::try_from(file).ok()?)?.clone()
    }

    /// What profiles have of a discriminator: as it was when the compiler reads them, which is before it
    /// unrolls loops and copies code, and notes in the higher bits how.
    fn discriminator(&self, value: u64) -> u16 {
        let base = if self.tells_copies { value & 0xff } else { value };
        u16::try_from(base).unwrap_or(0)
    }
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

fn is_code<'f>(section: &impl ObjectSection<'f>) -> bool {
    match section.flags() {
        SectionFlags::Elf { sh_flags, .. } => {
            sh_flags.contains(elf::SHF_ALLOC | elf::SHF_EXECINSTR)
        }
        _ => false,
    }
}

fn is_deep(unit: &gimli::Unit<Slice<'_>>) -> Result<bool, gimli::Error> {
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        if let Some(abbreviation) = entries.read_abbreviation()? {
            entries.skip_attributes(abbreviation.attributes())?;
        }
        if entries.next_depth() > DEEPEST {
            return Ok(true);
        }
    }
    Ok(false)
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
    let path = |number| -> Result<Option<Arc<[u8]>>, gimli::Error> {
        let Some(file) = header.file(number) else { return Ok(None) };
        let directory = file.directory(header).map(|name| text(dwarf, unit, name)).transpose()?;
        let name = text(dwarf, unit, file.path_name())?;
        let directory = source_path(&compilation, &directory.unwrap_or_default());
        Ok(Some(moved(&source_path(&directory, &name)).into()))
    };
    (0..=header.file_names().len() as u64).map(path).collect()
}

/// A string, wherever it is kept.
fn text<'d>(
    dwarf: &Dwarf<Slice<'d>>,
    unit: &gimli::Unit<Slice<'d>>,
    value: AttributeValue<Slice<'d>>,
) -> Result<Vec<u8>, gimli::Error> {
    Ok(dwarf.attr_string(unit, value)?.to_slice()?.into_owned())
}
