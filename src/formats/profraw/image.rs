//! One profile of a file, its functions and its targets, without copies of them.
//!
//! Merging many profiles of one program needs no more than this: [`Image::same_names`] says whether the names that
//! were read from another file can be used again.

use core::ops::Range;

use super::Word;
use super::check::{Defect, Finding, Section};
use super::names::Names;
use super::record::Record;
use super::{Header, Layout};
use crate::counters::Variant;

/// One profile of a file.
#[derive(Clone, Debug)]
pub struct Image<'a> {
    /// The header.
    pub header: Header,
    /// The layout of its records.
    pub layout: Layout,
    pub(super) file: &'a [u8],
    start: usize,
    binary_ids: Range<usize>,
    records: Range<usize>,
    pub(super) counters: Range<usize>,
    pub(super) bitmaps: Range<usize>,
    names: Range<usize>,
    vtables: Range<usize>,
    vtable_names: Range<usize>,
    pub(super) values: Range<usize>,
}

/// The profiles of a file, one after another.
#[derive(Clone, Debug)]
pub struct Images<'a> {
    file: &'a [u8],
    at: usize,
    /// Whether profiles without their functions are given, too.
    with_correlated: bool,
}

impl<'a> Images<'a> {
    /// Starts with the first one.
    pub const fn new(file: &'a [u8]) -> Self {
        Self { file, at: 0, with_correlated: false }
    }

    /// Gives profiles without their functions, too.
    pub(super) const fn uncorrelated(file: &'a [u8]) -> Self {
        Self { file, at: 0, with_correlated: true }
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
        let image = match self.with_correlated {
            true => Image::whole_or_correlated(self.file, self.at),
            false => Image::read(self.file, self.at),
        };
        self.at = image.as_ref().map_or(self.file.len(), Image::end);
        Some(image)
    }
}

impl<'a> Image<'a> {
    /// Bytes of all counters.
    pub fn counter_bytes(&self) -> u64 {
        self.counters.len() as u64
    }

    /// Reads the profile that starts at byte `at` of a file: its header, and where its sections are. A profile without
    /// its functions ([`super::correlate`]) is an error.
    pub fn read(file: &'a [u8], at: usize) -> Result<Self, Finding> {
        let image = Self::whole_or_correlated(file, at)?;
        let fail = |defect| Err(Finding { offset: at as u64, defect });
        match image.is_correlated() {
            false => Ok(image),
            true if image.header.variant.has(Variant::DEBUG_INFO_CORRELATION) => {
                fail(Defect::DebugInfoCorrelation)
            }
            true => fail(Defect::BinaryCorrelation),
        }
    }

    /// Reads the profile that starts at byte `at` of a file, also one without its functions.
    fn whole_or_correlated(file: &'a [u8], at: usize) -> Result<Self, Finding> {
        let header = Header::read(file, at)?;
        let (machine, version) = (header.machine, header.version);
        let layout = Layout::of(version, machine.pointer);
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
        let vtables = cut.take(
            Section::VTables,
            header.get(Word::VTables),
            Layout::vtable_stride(machine.pointer),
        )?;
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
        image.values.end = image.end_of_values()?;
        Ok(image)
    }

    /// Whether the functions are not in the file, but in the program or its debug information.
    pub fn is_correlated(&self) -> bool {
        let has_counters = !self.counters.is_empty() || !self.bitmaps.is_empty();
        self.header.variant.has(Variant::DEBUG_INFO_CORRELATION)
            || self.records.is_empty() && has_counters
    }

    /// The bytes of the build-ids.
    pub(super) fn stored_binary_ids(&self) -> &'a [u8] {
        &self.file[self.binary_ids.clone()]
    }

    /// The bytes of counters and bitmaps with the zeros around them.
    pub(super) fn between_records_and_names(&self) -> &'a [u8] {
        &self.file[self.records.end..self.names.start]
    }

    /// The bytes behind the names and their padding.
    pub(super) fn behind_names(&self) -> &'a [u8] {
        &self.file[self.vtables.start..self.end()]
    }

    /// Where the value data of the last function ends.
    fn end_of_values(&self) -> Result<usize, Finding> {
        let mut at = self.values.start;
        let (sites, kinds) = (self.layout.sites, self.header.version.kinds());
        for record in self.records() {
            if record[sites..sites + 2 * kinds].iter().any(|&byte| byte != 0) {
                at = self.block(at)?.end;
            }
        }
        Ok(at)
    }

    /// The block of value data that starts at `at`.
    pub(super) fn block(&self, at: usize) -> Result<Range<usize>, Finding> {
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

    /// The bytes of the functions' names.
    pub fn stored_names(&self) -> &'a [u8] {
        &self.file[self.names.clone()]
    }

    /// Whether another image has the same names, byte for byte.
    pub fn same_names(&self, other: &Image<'_>) -> bool {
        self.stored_names() == other.stored_names()
    }

    /// A record and its offset in the file.
    pub(super) fn record(&self, place: usize) -> Option<(usize, Record)> {
        let start = self.layout.stride.checked_mul(place)?;
        let bytes = self.file[self.records.clone()].get(start..start + self.layout.stride)?;
        let kinds = self.header.version.kinds();
        let record = Record::read(bytes, &self.layout, self.header.machine, kinds);
        Some((self.records.start + start, record))
    }

    /// The bytes of the records.
    pub(super) fn records(&self) -> impl ExactSizeIterator<Item = &'a [u8]> {
        self.file[self.records.clone()].chunks_exact(self.layout.stride)
    }

    /// The bytes of the virtual tables' records.
    pub(super) fn vtables(&self) -> impl Iterator<Item = &'a [u8]> {
        self.file[self.vtables.clone()]
            .chunks_exact(Layout::vtable_stride(self.header.machine.pointer))
    }
}

/// Takes one section after the other from a file.
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
