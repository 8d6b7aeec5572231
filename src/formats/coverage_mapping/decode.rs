//! Reads the two sections of a program into a [`Mapping`].

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::check::{Defect, Finding, Indexed, Part};
use super::counter::{Counter, Expression};
use super::file_names::file_names;
use super::numbers::Numbers;
use super::region::{Region, regions};
use crate::counters::name_ref;

/// Bytes of a header of `__llvm_covmap`.
const HEADER: usize = 16;
/// Bytes of a header of `__llvm_covfun`.
const RECORD: usize = 28;
const VERSIONS: core::ops::RangeInclusive<u32> = 4..=7;

/// The sections of a program, or of one object.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a> {
    /// `__llvm_covmap`.
    pub names: &'a [&'a [u8]],
    /// `__llvm_covfun`. An object that is not linked has several of them.
    pub functions: &'a [&'a [u8]],
    /// The machine's byte order.
    pub big_endian: bool,
}

/// The contents of the sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    /// Paths of source files, each once.
    pub files: Vec<Vec<u8>>,
    /// The functions, in the order of the section. A function that several objects have is here several times.
    pub functions: Vec<Function>,
    /// Number of programs whose mappings are here.
    pub programs: u32,
}

/// The mapping of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// [Number of its name](crate::counters::name_ref).
    pub name_ref: u64,
    /// Hash of its control flow, 0 if its object does not use it.
    pub hash: u64,
    /// Number of its program.
    pub program: u32,
    /// Its files, as indexes of [`Mapping::files`]. A file appears once for each of its expansions.
    pub files: Vec<u32>,
    /// The expressions of its counters.
    pub expressions: Vec<Expression>,
    /// Its regions, in the order of the file.
    pub regions: Vec<Region>,
}

impl Function {
    /// Whether its only content is that an object does not use the function.
    pub fn is_dummy(&self) -> bool {
        let is_one = self.files.len() == 1 && self.expressions.is_empty();
        self.hash == 0
            && is_one
            && matches!(&self.regions[..], [region] if region.count == Counter::Zero)
    }
}

impl Mapping {
    /// Reads the sections. The offset of a defect counts from the start of its section.
    pub fn decode(sections: &Sections<'_>) -> Result<Self, Finding> {
        let mut decoder = Decoder { big_endian: sections.big_endian, ..Decoder::default() };
        for section in sections.names {
            decoder.file_names(section)?;
        }
        for section in sections.functions {
            decoder.functions(section)?;
        }
        Ok(Self { programs: 1, ..decoder.mapping })
    }

    /// Adds the mapping of another program, or of a shared object.
    pub fn append(&mut self, other: Self) {
        let known = self.files.iter().zip(0..).map(|(path, place)| (path.clone(), place));
        let mut places: HashMap<Vec<u8>, u32> = known.collect();
        let mut here = Vec::with_capacity(other.files.len());
        for path in other.files {
            here.push(*places.entry(path).or_insert_with_key(|path| {
                self.files.push(path.clone());
                self.files.len() as u32 - 1
            }));
        }
        for mut function in other.functions {
            function.files.iter_mut().for_each(|file| *file = here[*file as usize]);
            function.program += self.programs;
            self.functions.push(function);
        }
        self.programs += other.programs;
    }
}

#[derive(Default)]
struct Decoder {
    mapping: Mapping,
    big_endian: bool,
    /// The index of each path in [`Mapping::files`].
    places: HashMap<Vec<u8>, u32>,
    /// For each reference to file names of an object, the indexes of the paths.
    known: HashMap<u64, Vec<u32>>,
}

impl Decoder {
    fn file_names(&mut self, section: &[u8]) -> Result<(), Finding> {
        let mut at = 0;
        while let Some(header) = section.get(at..).filter(|rest| !is_zero(rest)) {
            let offset = at as u64;
            let fail = |defect| Err(Finding { offset, defect });
            if header.len() < HEADER {
                return fail(Defect::Truncated(Part::Header));
            }
            let version = self.u32_at(header, 12).wrapping_add(1);
            if !VERSIONS.contains(&version) {
                return fail(Defect::Version(version));
            }
            let length = self.u32_at(header, 4) as usize;
            let Some(stored) = header[HEADER..].get(..length) else {
                return fail(Defect::Truncated(Part::FileNames));
            };
            let names = file_names(stored, offset + HEADER as u64, version)?;
            let places = names.into_iter().map(|name| self.place(name)).collect();
            self.known.insert(name_ref(stored), places);
            at = (at + HEADER + length).next_multiple_of(8);
        }
        Ok(())
    }

    /// The index of a path, which this adds if it is new.
    fn place(&mut self, path: Vec<u8>) -> u32 {
        let files = &mut self.mapping.files;
        *self.places.entry(path).or_insert_with_key(|path| {
            files.push(path.clone());
            files.len() as u32 - 1
        })
    }

    fn functions(&mut self, section: &[u8]) -> Result<(), Finding> {
        let mut at = 0;
        while let Some(record) = section.get(at..).filter(|rest| !is_zero(rest)) {
            let offset = at as u64;
            let fail = |defect| Err(Finding { offset, defect });
            if record.len() < RECORD {
                return fail(Defect::Truncated(Part::Function));
            }
            let length = self.u32_at(record, 8) as usize;
            let Some(bytes) = record[RECORD..].get(..length) else {
                return fail(Defect::Truncated(Part::Mapping));
            };
            let number = self.u64_at(record, 20);
            let Some(names) = self.known.get(&number) else {
                return fail(Defect::UnknownFileNames(number));
            };
            let function = Function {
                name_ref: self.u64_at(record, 0),
                hash: self.u64_at(record, 12),
                ..mapping(bytes, offset + RECORD as u64, names)?
            };
            self.mapping.functions.push(function);
            at = (at + RECORD + length).next_multiple_of(8);
        }
        Ok(())
    }

    fn u32_at(&self, bytes: &[u8], at: usize) -> u32 {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let bytes = bytes.unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn u64_at(&self, bytes: &[u8], at: usize) -> u64 {
        let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk()).copied();
        let bytes = bytes.unwrap_or_default();
        if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) }
    }
}

/// Whether the rest of a section is padding.
fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Reads the mapping of a function.
fn mapping(bytes: &[u8], offset: u64, names: &[u32]) -> Result<Function, Finding> {
    let mut numbers = Numbers::new(bytes, offset, Part::Mapping);
    let length = numbers.next_length(1)?;
    let mut files = Vec::with_capacity(length);
    for _ in 0..length {
        let start = numbers;
        let found = numbers.next()?;
        let place = usize::try_from(found).ok().and_then(|place| names.get(place));
        let Some(&place) = place else {
            let (what, number) = (Indexed::FileName, names.len() as u64);
            return start.fail(Defect::Index { what, number, found });
        };
        files.push(place);
    }
    let length = numbers.next_length(2)?;
    let mut expressions = Vec::with_capacity(length);
    for _ in 0..length {
        let mut counter = || Counter::new(numbers.next()?, &numbers);
        let (left, right) = (counter()?, counter()?);
        expressions.push(Expression { left, right });
    }
    let regions = regions(&mut numbers, files.len())?;
    if numbers.left() > 0 {
        return numbers.fail(Defect::Rest(numbers.left() as u64));
    }
    Ok(Function { name_ref: 0, hash: 0, program: 0, files, expressions, regions })
}
