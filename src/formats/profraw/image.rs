//! One profile of a file, its functions and its targets, without copies of them.
//!
//! Merging many profiles of one program needs no more than this: [`Image::same_names`] tells whether the names
//! read from another file serve again.

use core::ops::Range;

use super::check::{Defect, Finding, Section, Tell};
use super::header::Word;
use super::names::Names;
use super::record::Record;
use super::{Header, Layout, Values};
use crate::counters::Variant;

/// Counters beyond this are not believed.
pub const LARGEST_COUNT: u64 = 1 << 56;

/// One profile of a file.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The header.
    pub header: Header,
    /// The layout of its records.
    pub layout: Layout,
    file: &'a [u8],
    start: usize,
    binary_ids: Range<usize>,
    records: Range<usize>,
    counters: Range<usize>,
    bitmaps: Range<usize>,
    names: Range<usize>,
    pub(super) vtables: Range<usize>,
    vtable_names: Range<usize>,
    values: Range<usize>,
}

/// The profiles of a file, one after another.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Images<'a> {
    /// Starts with the first one.
    pub const fn new(file: &'a [u8]) -> Self {
        Self { file, at: 0 }
    }
}

impl<'a> Iterator for Images<'a> {
    type Item = Result<Image<'a>, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        let rest = &self.file[self.at..];
        if self.at > 0 {
            self.at += rest.iter().position(|&byte| byte != 0)? & !7;
        } else if rest.is_empty() {
            return None;
        }
        let image = Image::read(self.file, self.at);
        self.at = image.as_ref().map_or(self.file.len(), Image::end);
        Some(image)
    }
}

impl<'a> Image<'a> {
    /// Reads the profile that starts at byte `at` of a file: its header, and where its sections are.
    pub fn read(file: &'a [u8], at: usize) -> Result<Self, Finding> {
        let header = Header::read(file, at)?;
        let (machine, version) = (header.machine, header.version);
        let layout = Layout::of(version, machine);
        let mut cut = Cut { file, at: at + version.header_bytes() };
        let counter_bytes = if header.variant.has(Variant::SINGLE_BYTE) { 1 } else { 8 };
        let mut take = |section, number, size| cut.take(section, header.get(number), size);
        let binary_ids = take(Section::BinaryIds, Word::BinaryIds, 1)?;
        let records = take(Section::Records, Word::Records, layout.stride)?;
        take(Section::Counters, Word::PadBeforeCounters, 1)?;
        let counters = take(Section::Counters, Word::Counters, counter_bytes)?;
        take(Section::Counters, Word::PadAfterCounters, 1)?;
        let bitmaps = take(Section::Bitmaps, Word::Bitmaps, 1)?;
        take(Section::Bitmaps, Word::PadAfterBitmaps, 1)?;
        take(Section::Uniform, Word::Uniform, counter_bytes)?;
        take(Section::Uniform, Word::PadAfterUniform, 1)?;
        let names = take(Section::Names, Word::Names, 1)?;
        cut.pad(Section::Names, names.len())?;
        let vtables =
            cut.take(Section::VTables, header.get(Word::VTables), Layout::vtable_stride(machine))?;
        let vtable_names = cut.take(Section::VTableNames, header.get(Word::VTableNames), 1)?;
        cut.pad(Section::VTableNames, vtable_names.len())?;
        let values = cut.at..cut.at;
        let mut image = Self {
            header,
            layout,
            file,
            start: at,
            binary_ids,
            records,
            counters,
            bitmaps,
            names,
            vtables,
            vtable_names,
            values,
        };
        image.refuse_correlation(at)?;
        image.values.end = image.end_of_values()?;
        Ok(image)
    }

    /// Whether the records are elsewhere.
    fn refuse_correlation(&self, at: usize) -> Result<(), Finding> {
        let fail = |defect| Err(Finding { offset: at as u64, defect });
        if self.header.variant.has(Variant::DEBUG_INFO_CORRELATION) {
            return fail(Defect::DebugInfoCorrelation);
        }
        let has_counters = !self.counters.is_empty() || !self.bitmaps.is_empty();
        match self.records.is_empty() && has_counters {
            true => fail(Defect::BinaryCorrelation),
            false => Ok(()),
        }
    }

    /// Where the values of the last function end.
    fn end_of_values(&self) -> Result<usize, Finding> {
        let mut at = self.values.start;
        for (_, record) in self.records() {
            if record.has_sites() {
                at = self.block(at)?.end;
            }
        }
        Ok(at)
    }

    /// The block of values that starts at `at`.
    fn block(&self, at: usize) -> Result<Range<usize>, Finding> {
        let fail = |defect| Err(Finding { offset: at as u64, defect });
        let left = self.file.len() - at;
        let size = self.header.machine.u32_at(self.file, at) as usize;
        if left < 8 || left < size {
            let (expected, found) = (size.max(8) as u64, left as u64);
            return fail(Defect::Truncated { section: Section::Values, expected, found });
        }
        match size >= 8 && size.is_multiple_of(8) {
            true => Ok(at..at + size),
            false => fail(Defect::Values { expected: size as u64, found: 8 }),
        }
    }

    /// Where the profile starts in the file.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// Where the profile ends in the file.
    pub const fn end(&self) -> usize {
        self.values.end
    }

    /// Build-ids, in their order.
    pub fn binary_ids(&self) -> impl Iterator<Item = Result<&'a [u8], Finding>> {
        let mut left = self.binary_ids.clone();
        core::iter::from_fn(move || {
            if left.is_empty() {
                return None;
            }
            let bytes = &self.file[left.clone()];
            let length = self.header.machine.u64_at(bytes, 0);
            let found = (bytes.len() as u64).saturating_sub(8);
            if bytes.len() < 8 || length > found || length == 0 {
                let offset = left.start as u64;
                left = 0..0;
                let section = Section::BinaryIds;
                let defect = Defect::Truncated { section, expected: length.max(1), found };
                return Some(Err(Finding { offset, defect }));
            }
            left.start = (left.start + 8 + (length as usize).next_multiple_of(8)).min(left.end);
            Some(Ok(&bytes[8..8 + length as usize]))
        })
    }

    /// Reads the names of the functions.
    pub fn names(&self) -> Result<Names, Finding> {
        self.named(&self.names)
    }

    /// Reads the names of the virtual tables.
    pub fn vtable_names(&self) -> Result<Names, Finding> {
        self.named(&self.vtable_names)
    }

    fn named(&self, section: &Range<usize>) -> Result<Names, Finding> {
        let place = |finding: Finding| {
            let offset = section.start as u64 + finding.offset;
            Finding { offset, ..finding }
        };
        Names::read(&self.file[section.clone()]).map_err(place)
    }

    /// Whether another image has the same names, byte for byte.
    pub fn same_names(&self, other: &Image<'_>) -> bool {
        self.file[self.names.clone()] == other.file[other.names.clone()]
    }

    /// The records with their offsets in the file.
    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = (usize, Record)> {
        let (layout, machine) = (self.layout, self.header.machine);
        let kinds = self.header.version.kinds();
        let records = self.file[self.records.clone()].chunks_exact(layout.stride);
        let start = self.records.start;
        records.enumerate().map(move |(place, bytes)| {
            (start + place * layout.stride, Record::read(bytes, &layout, machine, kinds))
        })
    }

    /// The bytes of the virtual tables' records.
    pub(super) fn vtables(&self) -> impl Iterator<Item = &'a [u8]> {
        self.file[self.vtables.clone()].chunks_exact(Layout::vtable_stride(self.header.machine))
    }

    /// The functions, in the order of the file, told apart from `names`, which are those of this image.
    /// Functions without a name are left out. Tells tolerated defects. Ends behind the first one that is not.
    pub fn functions<'i, 't>(
        &'i self,
        names: &'i Names,
        tell: Tell<'t>,
    ) -> impl Iterator<Item = Result<Function<'i>, Finding>> {
        let mut values_at = self.values.start;
        let functions = self.records().enumerate().filter_map(move |(place, (offset, record))| {
            let function = self.function(place, offset, &record, &mut values_at, names, tell);
            function.transpose()
        });
        let mut failed = false;
        functions.take_while(move |function| !core::mem::replace(&mut failed, function.is_err()))
    }

    fn function<'i>(
        &'i self,
        place: usize,
        offset: usize,
        record: &Record,
        values_at: &mut usize,
        names: &'i Names,
        tell: &mut dyn FnMut(Finding),
    ) -> Result<Option<Function<'i>>, Finding> {
        let at = |defect| Finding { offset: offset as u64, defect };
        let counters = self.counters_of(place, record).map_err(at)?;
        let bitmap = self.bitmap_of(place, record).map_err(at)?;
        let values = self.values_of(record, values_at, tell)?;
        let Some(name) = names.get(record.name) else {
            tell(at(Defect::UnknownName(record.name)));
            return Ok(None);
        };
        let large = counters.clone().find(|&count| count > LARGEST_COUNT);
        if let Some(count) = large {
            tell(at(Defect::LargeCount(count)));
        }
        let first_call = counters.first_call;
        let (name_ref, hash) = (record.name, record.hash);
        Ok(Some(Function { name, name_ref, hash, counters, first_call, bitmap, values }))
    }

    fn counters_of(&self, place: usize, record: &Record) -> Result<Counters<'_>, Defect> {
        let single = self.header.variant.has(Variant::SINGLE_BYTE);
        let number = u64::from(record.counters_number);
        let size = if single { number } else { 8 * number };
        let delta = self.header.get(Word::CountersDelta);
        let is_relative = self.header.version >= super::Version::V8;
        let moved = if is_relative { place as u64 * self.layout.stride as u64 } else { 0 };
        let start = record.counters.wrapping_sub(delta.wrapping_sub(moved));
        let bytes = self.within(Section::Counters, &self.counters, start, size)?;
        if number == 0 {
            return Err(Defect::NoCounters);
        }
        let mut counters = Counters { bytes, single, machine: self.header.machine, first_call: 0 };
        if self.header.variant.has(Variant::TEMPORAL) {
            let Some((time, rest)) = bytes.split_first_chunk::<8>() else {
                return Err(Defect::NoCounters);
            };
            counters.bytes = rest;
            counters.first_call = match self.header.machine.u64_at(time, 0) {
                u64::MAX => 0,
                time => time,
            };
        }
        match counters.bytes.is_empty() {
            true => Err(Defect::NoCounters),
            false => Ok(counters),
        }
    }

    fn bitmap_of(&self, place: usize, record: &Record) -> Result<&[u8], Defect> {
        if record.bitmap_bytes == 0 {
            return Ok(&[]);
        }
        let moved = place as u64 * self.layout.stride as u64;
        let delta = self.header.get(Word::BitmapDelta).wrapping_sub(moved);
        let start = record.bitmap.wrapping_sub(delta);
        self.within(Section::Bitmaps, &self.bitmaps, start, record.bitmap_bytes.into())
    }

    /// Bytes of a section. The start is as wide as a pointer.
    fn within(
        &self,
        section: Section,
        range: &Range<usize>,
        start: u64,
        length: u64,
    ) -> Result<&[u8], Defect> {
        let bytes = &self.file[range.clone()];
        let start = self.header.machine.address(start);
        let end = start.checked_add(length).filter(|&end| end <= bytes.len() as u64);
        match end {
            Some(end) => Ok(&bytes[start as usize..end as usize]),
            None => {
                let signed = match self.header.machine.pointer {
                    8 => start as i64,
                    _ => i64::from(start as i32),
                };
                let size = bytes.len() as u64;
                Err(Defect::Outside { section, size, start: signed, length })
            }
        }
    }

    fn values_of(
        &self,
        record: &Record,
        values_at: &mut usize,
        tell: &mut dyn FnMut(Finding),
    ) -> Result<Values<'_>, Finding> {
        let machine = self.header.machine;
        if !record.has_sites() {
            return Ok(Values::none(machine));
        }
        let block = self.block(*values_at)?;
        let at = |defect| Finding { offset: block.start as u64, defect };
        *values_at = block.end;
        let kinds = self.header.version.kinds();
        let values = Values::read(&self.file[block.clone()], machine, kinds).map_err(at)?;
        if values.sites_by_kind() != record.sites.map(usize::from) {
            let (expected, found) = (record.all_sites(), values.all_sites());
            tell(at(Defect::Sites { expected, found }));
        }
        Ok(values)
    }
}

/// Takes sections off a file.
struct Cut<'a> {
    file: &'a [u8],
    at: usize,
}

impl Cut<'_> {
    /// Takes this number of things of this size.
    fn take(
        &mut self,
        section: Section,
        number: u64,
        size: usize,
    ) -> Result<Range<usize>, Finding> {
        let found = (self.file.len() - self.at) as u64;
        let expected = number.saturating_mul(size as u64);
        if expected > found {
            let defect = Defect::Truncated { section, expected, found };
            return Err(Finding { offset: self.at as u64, defect });
        }
        let start = self.at;
        self.at += expected as usize;
        Ok(start..self.at)
    }

    /// Takes the padding behind a section of this size.
    fn pad(&mut self, section: Section, size: usize) -> Result<(), Finding> {
        let padding = size.next_multiple_of(8) - size;
        self.take(section, padding as u64, 1).map(drop)
    }
}

/// A function, as it stands in the file.
#[derive(Clone, Debug)]
pub struct Function<'i> {
    /// Its name.
    pub name: &'i [u8],
    /// Number of the name.
    pub name_ref: u64,
    /// Hash of its control flow.
    pub hash: u64,
    /// Its counters; 1 and 0 in a profile of single bytes.
    pub counters: Counters<'i>,
    /// When it was first called, from 1; 0 if it was not, or if that is not known.
    pub first_call: u64,
    /// Bits of conditions.
    pub bitmap: &'i [u8],
    /// Values of its sites.
    pub values: Values<'i>,
}

/// Counters of a function, an iterator.
#[derive(Clone, Debug)]
pub struct Counters<'i> {
    bytes: &'i [u8],
    single: bool,
    machine: super::Machine,
    first_call: u64,
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
