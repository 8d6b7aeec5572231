//! An image's counters as LLVM's raw profile in memory, for programs that keep or send it themselves.
//!
//! The version is that of the image's records. Like LLVM's own runtime it leaves the values out. Each
//! function with value sites says that none were seen, as readers expect. [`crate::formats::profraw`] has the format.
#![allow(unsafe_code)]

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

use super::record::{Record, layout};
use super::{Bounds, Object, Sections};
use crate::raw::llvm::{Layout, MAGICS, Version, Word};

/// First word of a raw profile of this machine.
pub const MAGIC: u64 = if size_of::<usize>() == 8 { MAGICS[0] } else { MAGICS[1] };

/// What an image without a version word says: the version that most compilers share.
const DEFAULT: Version = Version::V10;

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
    /// The one version of all records; `None` if there are several, which no raw profile can hold.
    pub fn one_version(&self) -> Option<Version> {
        if self.data.is_empty() {
            return Some(Version::from_number(self.version as u32).unwrap_or(DEFAULT));
        }
        let object = Object::at(self.data.start, self)?;
        // The last record may lack its padding.
        (object.end().wrapping_add(8) > self.data.end).then_some(object.version)
    }

    /// The version word.
    pub fn version_word(&self) -> u64 {
        match self.version {
            0 => self.one_version().unwrap_or(DEFAULT).number().into(),
            version => version,
        }
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        let number = |version| {
            let stride = layout(version).stride;
            self.data.len().wrapping_add(stride.wrapping_sub(1)).checked_div(stride)
        };
        self.one_version().and_then(number).unwrap_or(0)
    }

    /// Number of counters, or of bytes that serve as counters.
    pub fn counter_count(&self) -> usize {
        self.counters.len().checked_div(self.counter_size()).unwrap_or(0)
    }

    /// Number of virtual tables.
    pub fn table_count(&self) -> usize {
        self.tables.len() / Layout::vtable_stride(size_of::<usize>())
    }

    /// A word of the header.
    fn word(&self, word: Word, version: Version) -> u64 {
        // Without records (`-profile-correlate`) there is no distance, and readers want a 0.
        let has_records = !self.data.is_empty();
        let from_data = |section: &Bounds| match has_records {
            true => section.start.wrapping_sub(self.data.start),
            false => 0,
        };
        let word = match word {
            Word::Records => self.records(),
            Word::Counters => self.counter_count(),
            Word::PadAfterCounters => padding_of_counters(version, self.counters.len()),
            Word::Bitmaps => self.bitmaps.len(),
            Word::PadAfterBitmaps => padding(self.bitmaps.len()),
            Word::Names => self.names.len(),
            Word::CountersDelta if version.has_addresses() && has_records => self.counters.start,
            Word::CountersDelta => from_data(&self.counters),
            Word::BitmapDelta if !self.bitmaps.is_empty() => from_data(&self.bitmaps),
            Word::NamesDelta => self.names.start,
            Word::VTables => self.table_count(),
            Word::VTableNames => self.table_names.len(),
            Word::LastKind => version.kinds().wrapping_sub(1),
            _ => 0,
        };
        word as u64
    }

    /// Writes the profile; `false` if the records have several versions.
    pub fn write(&self, to: &mut impl Take) -> bool {
        let Some(version) = self.one_version() else { return false };
        to.take(&MAGIC.to_ne_bytes());
        to.take(&(u64::from(version.number()) | self.version & !0xffff_ffff).to_ne_bytes());
        version.words().for_each(|word| to.take(&self.word(word, version).to_ne_bytes()));
        to.take(bytes(&self.data));
        let whole = self.records().wrapping_mul(layout(version).stride);
        pad(to, whole.wrapping_sub(self.data.len()));
        to.take(bytes(&self.counters));
        pad(to, padding_of_counters(version, self.counters.len()));
        if version >= Version::V9 {
            put_padded(to, &self.bitmaps);
        }
        put_padded(to, &self.names);
        if version >= Version::V10 {
            put_padded(to, &self.tables);
            put_padded(to, &self.table_names);
        }
        self.for_each_record(version, |record| put_sites(record, to));
        true
    }

    fn for_each_record(&self, version: Version, mut visit: impl FnMut(&Record)) {
        for number in 0..self.records() {
            let place = self.data.start.wrapping_add(number.wrapping_mul(layout(version).stride));
            // SAFETY: the section has as many records of this layout.
            visit(&unsafe { Record::new(place, version) });
        }
    }

    /// Whether a profile in memory is one of this image. Only sizes and records tell: the places of sections may
    /// differ, and another runtime may pad and name build-ids.
    pub fn is_compatible(&self, profile: &[u8]) -> bool {
        const TELLING: [Word; 7] = [
            Word::Records,
            Word::Counters,
            Word::Bitmaps,
            Word::Names,
            Word::VTables,
            Word::VTableNames,
            Word::LastKind,
        ];
        let Some(version) = self.one_version() else { return false };
        let own = u64::from(version.number()) | self.version & !0xffff_ffff;
        let mut telling = version.words().filter(|word| TELLING.contains(word));
        word_at(profile, 0) == Some(MAGIC)
            && word_at(profile, 1) == Some(own)
            && telling
                .all(|word| header_word(profile, word, version) == Some(self.word(word, version)))
            && self.same_records(version, profile).is_some()
    }

    fn same_records(&self, version: Version, profile: &[u8]) -> Option<()> {
        let place = Place::of(version, profile)?;
        let mut at = place.records;
        let mut same = true;
        self.for_each_record(version, |record| {
            let word = |offset: usize| word_at(profile.get(at..).unwrap_or_default(), offset);
            same &= word(0) == Some(record.name_ref()) && word(1) == Some(record.hash());
            at = at.wrapping_add(layout(version).stride);
        });
        let end = place.bitmaps.checked_add(self.bitmaps.len())?;
        (same && end <= profile.len()).then_some(())
    }

    /// Adds the counters of a profile of this image; `false` if it is of another.
    pub fn merge(&self, profile: &[u8]) -> bool {
        let Some(version) = self.one_version() else { return false };
        let Some(place) = Place::of(version, profile).filter(|_| self.is_compatible(profile))
        else {
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
    fn of(version: Version, profile: &[u8]) -> Option<Self> {
        let word = |word| match header_word(profile, word, version) {
            Some(word) => usize::try_from(word).ok(),
            None => Some(0),
        };
        let records = word(Word::BinaryIds)?.checked_add(version.header_bytes())?;
        let counters = word(Word::Records)?.checked_mul(layout(version).stride)?;
        let counters =
            counters.checked_add(records)?.checked_add(word(Word::PadBeforeCounters)?)?;
        let is_single = word_at(profile, 1)? >> 60 & 1 != 0;
        let size = word(Word::Counters)?.checked_mul(if is_single { 1 } else { 8 })?;
        let bitmaps = counters.checked_add(size)?.checked_add(word(Word::PadAfterCounters)?)?;
        Some(Self { records, counters, bitmaps })
    }
}

/// A word of a profile's header; `None` if the version does not have it, or the profile is cut short.
fn header_word(profile: &[u8], word: Word, version: Version) -> Option<u64> {
    let place = version.words().position(|other| other == word)?;
    word_at(profile, place.wrapping_add(2))
}

fn word_at(bytes: &[u8], number: usize) -> Option<u64> {
    let bytes = bytes.get(number.checked_mul(8)?..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

/// Bytes from a length to the next multiple of 8.
const fn padding(length: usize) -> usize {
    length.wrapping_neg() % 8
}

/// Only from version 9 on.
fn padding_of_counters(version: Version, length: usize) -> usize {
    if version < Version::V9 { 0 } else { padding(length) }
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
    let kinds = || record.sites().into_iter().enumerate().filter(|&(_, sites)| sites > 0);
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
