//! One function of an image: its counters, bitmap and values.

use core::ops::Range;

use super::Word;
use super::check::{Defect, Finding, Section, Tell};
use super::image::Image;
use super::names::Names;
use super::record::Record;
use super::{Machine, Values, Version};
use crate::counters::Variant;

/// A larger counter is taken for damage.
pub const LARGEST_COUNT: u64 = 1 << 56;

/// A function, as it stands in the file.
#[derive(Clone, Debug)]
pub struct Function<'i> {
    /// Its name.
    pub name: &'i [u8],
    /// Number of the name.
    pub name_ref: u64,
    /// Hash of its control flow.
    pub hash: u64,
    /// Its counters; 1 and 0 with single-byte coverage.
    pub counters: Counters<'i>,
    /// When it was first called, from 1; 0 if it was never called, or if the time is unknown.
    pub first_call: u64,
    /// Its MC/DC bitmap.
    pub bitmap: &'i [u8],
    /// Its value data.
    pub values: Values<'i>,
}

/// Counters of a function, an iterator.
#[derive(Clone, Debug)]
pub struct Counters<'i> {
    bytes: &'i [u8],
    single: bool,
    machine: Machine,
}

impl<'i> Counters<'i> {
    /// The counters as they stand in the file, if they are words of 64 bits, little-endian.
    pub(super) fn words(&self) -> Option<&'i [[u8; 8]]> {
        let is_plain = !self.single && !self.machine.big_endian;
        is_plain.then_some(self.bytes.as_chunks().0)
    }

    /// The first counter that is taken for damage.
    fn too_large(&self) -> Option<u64> {
        // Most have none. All of them together say so faster than one after the other.
        let is_small = |words: &[[u8; 8]]| {
            words.iter().fold(0, |all, &word| all | u64::from_le_bytes(word)) <= LARGEST_COUNT
        };
        match self.words().is_some_and(is_small) {
            true => None,
            false => self.clone().find(|&count| count > LARGEST_COUNT),
        }
    }
}

impl Iterator for Counters<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.single {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            return Some(u64::from(byte == 0));
        }
        let (bytes, rest) = self.bytes.split_first_chunk::<8>()?;
        self.bytes = rest;
        Some(self.machine.u64_at(bytes, 0))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let number = self.bytes.len() / if self.single { 1 } else { 8 };
        (number, Some(number))
    }
}

impl ExactSizeIterator for Counters<'_> {}

impl Image<'_> {
    /// The functions, in the order of the file; `names` are those of this image. Leaves out functions without a
    /// name, and reports them and other tolerated defects.
    pub fn functions<'i, 't>(
        &'i self,
        names: &'i Names,
        tell: &'t mut dyn FnMut(Finding),
    ) -> Functions<'i, 't> {
        Functions::new(self, names, tell)
    }
}

/// The functions of an image, an iterator. It ends behind the first defect that cannot be tolerated.
pub struct Functions<'i, 't> {
    image: &'i Image<'i>,
    /// `None` if nobody asks for names, and all functions have one.
    names: Option<&'i Names>,
    /// `None` if the defects are known.
    tell: Option<Tell<'t>>,
    /// Number of the next record.
    place: usize,
    /// Where its value data starts, if it has any.
    values_at: usize,
}

impl<'i> Iterator for Functions<'i, '_> {
    type Item = Result<Function<'i>, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (offset, record) = self.image.record(self.place)?;
            let function = self.read(offset, &record);
            self.place = if function.is_ok() { self.place + 1 } else { usize::MAX };
            if let Some(function) = function.transpose() {
                return Some(function);
            }
        }
    }
}

impl<'i, 't> Functions<'i, 't> {
    pub(super) fn new(image: &'i Image<'i>, names: &'i Names, tell: Tell<'t>) -> Self {
        let values_at = image.values.start;
        Self { image, names: Some(names), tell: Some(tell), place: 0, values_at }
    }

    /// The functions of an image whose defects are known. Without `names`, all functions must have a name, and it is
    /// left empty.
    pub(super) fn again(image: &'i Image<'i>, names: Option<&'i Names>) -> Self {
        Self { image, names, tell: None, place: 0, values_at: image.values.start }
    }

    fn tell(&mut self, finding: Finding) {
        if let Some(tell) = &mut self.tell {
            tell(finding);
        }
    }

    /// The function of a record. `None` if it has no name.
    fn read(&mut self, offset: usize, record: &Record) -> Result<Option<Function<'i>>, Finding> {
        let at = |defect| Finding { offset: offset as u64, defect };
        let (first_call, counters) = self.counters(record).map_err(at)?;
        let bitmap = self.bitmap(record).map_err(at)?;
        let values = self.values(record)?;
        let Some(name) = self.names.map_or(Some(&[][..]), |names| names.get(record.name)) else {
            self.tell(at(Defect::UnknownName(record.name)));
            return Ok(None);
        };
        if self.tell.is_some()
            && let Some(count) = counters.too_large()
        {
            self.tell(at(Defect::LargeCount(count)));
        }
        let (name_ref, hash) = (record.name, record.hash);
        Ok(Some(Function { name, name_ref, hash, counters, first_call, bitmap, values }))
    }

    /// The time of the first call, and the counters.
    fn counters(&self, record: &Record) -> Result<(u64, Counters<'i>), Defect> {
        let (variant, machine) = (self.image.header.variant, self.image.header.machine);
        let single = variant.has(Variant::SINGLE_BYTE);
        let number = u64::from(record.counters_number);
        let is_relative = self.image.header.version >= Version::V8;
        let delta = self.image.header.get(Word::CountersDelta);
        let delta = if is_relative { self.moved(delta) } else { delta };
        let start = record.counters.wrapping_sub(delta);
        let size = if single { number } else { 8 * number };
        let mut bytes = self.within(Section::Counters, &self.image.counters, start, size)?;
        let mut first_call = 0;
        if variant.has(Variant::TEMPORAL) {
            let (time, rest) = bytes.split_first_chunk::<8>().ok_or(Defect::NoCounters)?;
            bytes = rest;
            first_call = machine.u64_at(time, 0);
        }
        if bytes.is_empty() {
            return Err(Defect::NoCounters);
        }
        // Single-byte counters start with all bits set.
        let first_call = if first_call == u64::MAX { 0 } else { first_call };
        Ok((first_call, Counters { bytes, single, machine }))
    }

    fn bitmap(&self, record: &Record) -> Result<&'i [u8], Defect> {
        if record.bitmap_bytes == 0 {
            return Ok(&[]);
        }
        let delta = self.moved(self.image.header.get(Word::BitmapDelta));
        let start = record.bitmap.wrapping_sub(delta);
        self.within(Section::Bitmaps, &self.image.bitmaps, start, record.bitmap_bytes.into())
    }

    /// The distance from the record to a section, from that of the first record.
    fn moved(&self, delta: u64) -> u64 {
        delta.wrapping_sub(self.place as u64 * self.image.layout.stride as u64)
    }

    /// Bytes of a section. The start is as wide as a pointer.
    fn within(
        &self,
        section: Section,
        range: &Range<usize>,
        start: u64,
        length: u64,
    ) -> Result<&'i [u8], Defect> {
        let machine = self.image.header.machine;
        let bytes = &self.image.file[range.clone()];
        let start = machine.address(start);
        let end = start.checked_add(length).filter(|&end| end <= bytes.len() as u64);
        let Some(end) = end else {
            let signed = if machine.pointer == 8 { start as i64 } else { i64::from(start as i32) };
            let size = bytes.len() as u64;
            return Err(Defect::Outside { section, size, start: signed, length });
        };
        Ok(&bytes[start as usize..end as usize])
    }

    /// The values of a record, which stand behind those of the records before.
    fn values(&mut self, record: &Record) -> Result<Values<'i>, Finding> {
        let (machine, version) = (self.image.header.machine, self.image.header.version);
        if !record.has_sites() {
            return Ok(Values::none(machine));
        }
        let block = self.image.block(self.values_at)?;
        self.values_at = block.end;
        let at = |defect| Finding { offset: block.start as u64, defect };
        let bytes = &self.image.file[block.clone()];
        let values = Values::read(bytes, machine, version.kinds()).map_err(at)?;
        if values.sites_by_kind() != record.sites.map(usize::from) {
            let (expected, found) = (record.all_sites(), values.all_sites());
            self.tell(at(Defect::Sites { expected, found }));
        }
        Ok(values)
    }
}
