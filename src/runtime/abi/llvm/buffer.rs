//! An image's counters as LLVM's raw profile in memory, for programs that keep or send it themselves.
//!
//! The version is that of the image's records. As with LLVM's own runtime there are no values in it; but each
//! function with sites says so, and readers want that. [`crate::raw::llvm::version`] has the records; before them
//! stands the header, 64-bit words:
//!
//! | 7, 8 | 9 | 10 | 11 | word |
//! |---|---|---|---|---|
//! | 0 | 0 | 0 | 0 | magic |
//! | 1 | 1 | 1 | 1 | version word |
//! | 2 | 2 | 2 | 2 | bytes of build-ids, here 0 |
//! | 3 | 3 | 3 | 3 | number of records |
//! | 4 | 4 | 4 | 4 | bytes between records and counters, 0 |
//! | 5 | 5 | 5 | 5 | number of counters |
//! | 6 | 6 | 6 | 6 | bytes behind the counters |
//! | | 7 | 7 | 7 | bytes of bitmaps |
//! | | 8 | 8 | 8 | bytes behind the bitmaps |
//! | | | | 9 to 11 | uniform counters, 0 |
//! | 7 | 9 | 9 | 12 | bytes of names |
//! | 8 | 10 | 10 | 13 | distance from records to counters; in 7 the address of the counters |
//! | | 11 | 11 | 14 | distance from records to bitmaps |
//! | 9 | 12 | 12 | 15 | address of the names |
//! | | | 13, 14 | 16, 17 | number of virtual tables, bytes of their names |
//! | 10 | 13 | 15 | 18 | last kind of values |
#![allow(unsafe_code)]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use super::record::{Record, stride};
use super::{Bounds, Object, Sections};
use crate::raw::llvm::Layout;

/// First word of a raw profile of this machine.
pub const MAGIC: u64 = {
    let width = if size_of::<usize>() == 8 { b'r' } else { b'R' };
    u64::from_be_bytes([0xff, b'l', b'p', b'r', b'o', b'f', width, 0x81])
};

/// Words of the longest header.
const WORDS: usize = 19;

/// What an image without a version word says: the newest layout that most compilers share.
const DEFAULT: Layout = Layout::V10;

/// Takes the bytes of a profile one after the other.
pub trait Take {
    /// Takes the next bytes.
    fn take(&mut self, bytes: &[u8]);
}

/// Counts bytes.
#[derive(Debug, Default)]
pub struct Size(pub u64);

impl Take for Size {
    fn take(&mut self, bytes: &[u8]) {
        self.0 = self.0.wrapping_add(bytes.len() as u64);
    }
}

impl Sections {
    /// The one layout of all records; `None` if there are several, which no raw profile can hold.
    pub fn layout(&self) -> Option<Layout> {
        if self.data.is_empty() {
            return Some(Layout::from_number(self.version as u32).unwrap_or(DEFAULT));
        }
        let object = Object::at(self.data.start, self)?;
        // The last record may lack its padding.
        (object.end().wrapping_add(8) > self.data.end).then_some(object.layout)
    }

    /// The version word.
    pub fn version_word(&self) -> u64 {
        match self.version {
            0 => self.layout().unwrap_or(DEFAULT).number().into(),
            version => version,
        }
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        let number = |layout| {
            let last = stride(layout).wrapping_sub(1);
            self.data.len().wrapping_add(last).checked_div(stride(layout))
        };
        self.layout().and_then(number).unwrap_or(0)
    }

    /// Number of counters, or of bytes that serve as counters.
    pub fn counter_count(&self) -> usize {
        self.counters.len().checked_div(self.counter_size()).unwrap_or(0)
    }

    /// Number of virtual tables.
    pub fn table_count(&self) -> usize {
        self.tables.len() / super::module::TABLE
    }

    /// The header; gives its number of words, too.
    fn header(&self, layout: Layout) -> ([u64; WORDS], usize) {
        let mut words = [0; WORDS];
        let mut free = words.iter_mut();
        let mut used = 0usize;
        let mut put = |word: u64| {
            free.next().into_iter().for_each(|free| *free = word);
            used = used.wrapping_add(1);
        };
        let has_bitmaps = layout >= Layout::V9;
        put(MAGIC);
        put(u64::from(layout.number()) | self.version & !0xffff_ffff);
        put(0);
        put(self.records() as u64);
        put(0);
        put(self.counter_count() as u64);
        put(padding_of_counters(layout, self.counters.len()) as u64);
        if has_bitmaps {
            put(self.bitmaps.len() as u64);
            put(padding(self.bitmaps.len()) as u64);
        }
        if layout >= Layout::V11 {
            (0..3).for_each(|_| put(0));
        }
        put(self.names.len() as u64);
        let from_data = |section: &Bounds| section.start.wrapping_sub(self.data.start) as u64;
        put(match layout {
            Layout::V7 => self.counters.start as u64,
            _ => from_data(&self.counters),
        });
        if has_bitmaps {
            put(if self.bitmaps.is_empty() { 0 } else { from_data(&self.bitmaps) });
        }
        put(self.names.start as u64);
        if layout >= Layout::V10 {
            put(self.table_count() as u64);
            put(self.table_names.len() as u64);
        }
        put(if layout >= Layout::V10 { 2 } else { 1 });
        (words, used)
    }

    /// Writes the profile; `false` if the records have several layouts.
    pub fn write(&self, to: &mut impl Take) -> bool {
        let Some(layout) = self.layout() else { return false };
        let (words, used) = self.header(layout);
        words.iter().take(used).for_each(|word| to.take(&word.to_ne_bytes()));
        to.take(bytes(&self.data));
        pad(to, self.records().wrapping_mul(stride(layout)).wrapping_sub(self.data.len()));
        to.take(bytes(&self.counters));
        pad(to, padding_of_counters(layout, self.counters.len()));
        if layout >= Layout::V9 {
            put_padded(to, &self.bitmaps);
        }
        put_padded(to, &self.names);
        if layout >= Layout::V10 {
            put_padded(to, &self.tables);
            put_padded(to, &self.table_names);
        }
        self.for_each_record(layout, |record| put_sites(record, to));
        true
    }

    fn for_each_record(&self, layout: Layout, mut visit: impl FnMut(&Record)) {
        for number in 0..self.records() {
            let place = self.data.start.wrapping_add(number.wrapping_mul(stride(layout)));
            // SAFETY: the section has as many records of this layout.
            visit(&unsafe { Record::new(place, layout) });
        }
    }

    /// Whether a profile in memory is one of this image. Only sizes and records tell.
    pub fn is_compatible(&self, profile: &[u8]) -> bool {
        let Some(layout) = self.layout() else { return false };
        let (words, used) = self.header(layout);
        // The places of sections may differ, and another runtime may pad and name build-ids.
        let ignored = |word: usize| matches!(word, 2 | 4 | 6 | 8) || word >= distances(layout);
        let same = |(number, &word): (usize, &u64)| {
            ignored(number) || word_at(profile, number) == Some(word)
        };
        let last = used.wrapping_sub(1);
        let mut words = words.iter().take(used).enumerate();
        words.all(same)
            && word_at(profile, last) == Some(if layout >= Layout::V10 { 2 } else { 1 })
            && self.same_records(layout, profile).is_some()
    }

    fn same_records(&self, layout: Layout, profile: &[u8]) -> Option<()> {
        let place = Place::of(layout, profile)?;
        let mut at = place.records;
        let mut same = true;
        self.for_each_record(layout, |record| {
            let word = |offset: usize| word_at(profile.get(at..).unwrap_or_default(), offset);
            same &= word(0) == Some(record.name_ref()) && word(1) == Some(record.hash());
            at = at.wrapping_add(stride(layout));
        });
        let end = place.bitmaps.checked_add(self.bitmaps.len())?;
        (same && end <= profile.len()).then_some(())
    }

    /// Adds the counters of a profile of this image; `false` if it is of another.
    pub fn merge(&self, profile: &[u8]) -> bool {
        let Some(layout) = self.layout() else { return false };
        let Some(place) = Place::of(layout, profile).filter(|_| self.is_compatible(profile)) else {
            return false;
        };
        let counters = profile.get(place.counters..).unwrap_or_default();
        if self.has_single_bytes() {
            change(&self.counters, counters, |now, more| now & more);
        } else {
            add_words(&self.counters, counters);
        }
        let bitmaps = profile.get(place.bitmaps..).unwrap_or_default();
        change(&self.bitmaps, bitmaps, |now, more| now | more);
        true
    }
}

/// Where the parts of a profile are.
struct Place {
    records: usize,
    counters: usize,
    bitmaps: usize,
}

impl Place {
    fn of(layout: Layout, profile: &[u8]) -> Option<Self> {
        let word = |number| word_at(profile, number).and_then(|word| usize::try_from(word).ok());
        let header = 8 * match layout {
            Layout::V7 | Layout::V8 => 11,
            Layout::V9 => 14,
            Layout::V10 => 16,
            Layout::V11 => 19,
        };
        let records = word(2)?.checked_add(header)?;
        let counters = word(3)?.checked_mul(stride(layout))?.checked_add(records)?;
        let counters = counters.checked_add(word(4)?)?;
        let is_single = word_at(profile, 1)? >> 60 & 1 != 0;
        let size = word(5)?.checked_mul(if is_single { 1 } else { 8 })?;
        let bitmaps = counters.checked_add(size)?.checked_add(word(6)?)?;
        Some(Self { records, counters, bitmaps })
    }
}

/// The first word of the header that says where sections are.
const fn distances(layout: Layout) -> usize {
    match layout {
        Layout::V7 | Layout::V8 => 8,
        Layout::V9 | Layout::V10 => 10,
        Layout::V11 => 13,
    }
}

fn word_at(bytes: &[u8], number: usize) -> Option<u64> {
    let bytes = bytes.get(number.checked_mul(8)?..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

/// Bytes from a length to the next multiple of 8.
const fn padding(length: usize) -> usize {
    length.wrapping_neg() % 8
}

const fn padding_of_counters(layout: Layout, length: usize) -> usize {
    match layout {
        Layout::V7 | Layout::V8 => 0,
        _ => padding(length),
    }
}

fn pad(to: &mut impl Take, length: usize) {
    to.take([0; 8].get(..length.min(8)).unwrap_or_default());
}

fn put_padded(to: &mut impl Take, section: &Bounds) {
    to.take(bytes(section));
    pad(to, padding(section.len()));
}

/// Says that no values were seen at the sites of a function.
fn put_sites(record: &Record, to: &mut impl Take) {
    let kinds =
        || (0..3usize).map(|kind| (kind, record.sites(kind))).filter(|&(_, sites)| sites > 0);
    let size = |sites: usize| 8usize.wrapping_add(sites).next_multiple_of(8);
    let total = kinds().map(|(_, sites)| size(sites)).sum::<usize>();
    if total == 0 {
        return;
    }
    to.take(&(total as u32).wrapping_add(8).to_ne_bytes());
    to.take(&(kinds().count() as u32).to_ne_bytes());
    for (kind, sites) in kinds() {
        to.take(&(kind as u32).to_ne_bytes());
        to.take(&(sites as u32).to_ne_bytes());
        (0..size(sites).wrapping_sub(8) / 8).for_each(|_| to.take(&[0; 8]));
    }
}

/// The bytes of a section. The program may count meanwhile; then the newest counts may be missing.
fn bytes(section: &Bounds) -> &'static [u8] {
    match section.len() {
        0 => &[],
        // SAFETY: the linker says where the section is, and it stays as long as the image.
        length => unsafe {
            core::slice::from_raw_parts(with_exposed_provenance(section.start), length)
        },
    }
}

/// Changes each byte of a section by one of a profile.
fn change(section: &Bounds, by: &[u8], change: impl Fn(u8, u8) -> u8) {
    for (place, &more) in section.clone().zip(by) {
        let byte = with_exposed_provenance_mut::<u8>(place);
        // SAFETY: a byte of the section.
        let now = unsafe { byte.read() };
        // SAFETY: as above; the section may be written.
        unsafe { byte.write(change(now, more)) };
    }
}

/// Adds to each counter of a section one of a profile.
fn add_words(section: &Bounds, words: &[u8]) {
    let mut place = section.start;
    for &more in words.as_chunks().0.iter().take(section.len() / 8) {
        let counter = with_exposed_provenance_mut::<u64>(place);
        // SAFETY: a counter of the section.
        let now = unsafe { counter.read() };
        // SAFETY: as above; the section may be written.
        unsafe { counter.write(now.saturating_add(u64::from_ne_bytes(more))) };
        place = place.wrapping_add(8);
    }
}
