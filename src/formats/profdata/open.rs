//! Opens a file: what is before the functions, and the way to each of them.

use alloc::vec::Vec;

use super::check::{Defect, Finding, Part, Tell};
use super::header::Header;
use super::record::Record;
use super::summary;
use super::table::bucket;
use super::words::{Words, word};
use crate::counters::summary::Summary;
use crate::counters::{Variant, name_ref};

/// Bytes of an item before its name.
const ITEM_HEAD: usize = 24;

/// A file whose functions can be read.
#[derive(Clone, Debug)]
pub(super) struct Opened<'a> {
    pub bytes: &'a [u8],
    pub header: Header,
    pub summary: Option<Summary>,
    /// The summary of the functions that were counted after inlining.
    pub late_summary: Option<Summary>,
    /// The smallest offset that a bucket can have.
    first: usize,
    /// Offsets of the buckets, eight bytes each.
    buckets: &'a [u8],
    entries: u64,
    /// Where the hash table ends.
    pub end: usize,
}

/// The records of one name in its bucket.
#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    pub offset: u64,
    pub hash: u64,
    pub name: &'a [u8],
    records: Words<'a>,
}

impl<'a> Item<'a> {
    /// The next record, if there is one.
    pub fn next(&mut self, header: &Header, tell: Tell<'_>) -> Result<Option<Record<'a>>, Finding> {
        match self.records.left() {
            0 => Ok(None),
            _ => Record::decode(&mut self.records, header.version, tell).map(Some),
        }
    }

    pub const fn record_offset(&self) -> u64 {
        self.records.offset()
    }
}

impl<'a> Opened<'a> {
    pub fn new(bytes: &'a [u8], tell: Tell<'_>) -> Result<Self, Finding> {
        let header = Header::decode(bytes, tell)?;
        let table = header.table as usize;
        let mut words = Words::new(bytes, header.version.header_size(), table, Part::Summary);
        let (mut summary, mut late_summary) = (None, None);
        if header.version.has_summary() {
            summary = Some(summary::decode(&mut words, tell)?);
            if header.variant.has(Variant::CONTEXT_SENSITIVE) {
                late_summary = Some(summary::decode(&mut words, tell)?);
            }
        }
        let first = words.at();
        let mut words = Words::new(bytes, table, bytes.len(), Part::Table);
        let offset = words.offset();
        let number = words.u64()?;
        let entries = words.u64()?;
        let most = (words.left() / 8) as u64;
        if number > most {
            let defect = Defect::Count { part: Part::Table, most, found: number };
            return Err(Finding { offset, defect });
        }
        if !number.is_power_of_two() {
            return Err(Finding { offset, defect: Defect::Buckets(number) });
        }
        let buckets = words.take(8 * number as usize)?;
        let end = words.at();
        Ok(Self { bytes, header, summary, late_summary, first, buckets, entries, end })
    }

    /// Reads the functions in the order of the file.
    pub fn items(
        &self,
        tell: Tell<'_>,
        visit: &mut dyn FnMut(Item<'a>, Tell<'_>) -> Result<(), Finding>,
    ) -> Result<(), Finding> {
        let mut offsets = Vec::new();
        for number in 0..self.number_of_buckets() {
            offsets.extend(self.bucket_offset(number)?.map(|offset| (offset, number)));
        }
        offsets.sort_unstable();
        let (mut at, mut found) = (self.first, 0);
        for (start, number) in offsets {
            self.see_gap(at, start, tell)?;
            let mut words = self.words(start);
            for _ in 0..words.u16()? {
                let item = item(&mut words)?;
                self.check(&item, number, tell);
                found += 1;
                visit(item, tell)?;
            }
            at = words.at();
        }
        let table = self.header.table as usize;
        if table - at >= 8 || self.bytes[at..table].iter().any(|&byte| byte != 0) {
            let defect = Defect::Unused((table - at) as u64);
            tell(Finding { offset: at as u64, defect });
        }
        if found != self.entries {
            let defect = Defect::Entries { expected: self.entries, found };
            return Err(Finding { offset: self.header.table + 8, defect });
        }
        Ok(())
    }

    /// The records of this name, if it is in the file.
    pub fn find(&self, name: &[u8]) -> Result<Option<Item<'a>>, Finding> {
        let hash = name_ref(name);
        let Some(start) = self.bucket_offset(bucket(hash, self.number_of_buckets()))? else {
            return Ok(None);
        };
        let mut words = self.words(start);
        for _ in 0..words.u16()? {
            let item = item(&mut words)?;
            if item.hash == hash && item.name == name {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// Number of functions, as the hash table says.
    pub const fn entries(&self) -> u64 {
        self.entries
    }

    const fn number_of_buckets(&self) -> usize {
        self.buckets.len() / 8
    }

    /// Where a bucket is, unless it is empty.
    fn bucket_offset(&self, number: usize) -> Result<Option<usize>, Finding> {
        let found = word(&self.buckets[8 * number..8 * number + 8]);
        let least = self.first as u64;
        match found {
            0 => Ok(None),
            _ if (least..self.header.table).contains(&found) => Ok(Some(found as usize)),
            _ => Err(Finding {
                offset: self.header.table + 16 + 8 * number as u64,
                defect: Defect::Offset { part: Part::Table, least, found },
            }),
        }
    }

    fn words(&self, start: usize) -> Words<'a> {
        Words::new(self.bytes, start, self.header.table as usize, Part::Table)
    }

    fn see_gap(&self, end: usize, start: usize, tell: Tell<'_>) -> Result<(), Finding> {
        let offset = start as u64;
        if start < end {
            return Err(Finding { offset, defect: Defect::Overlap });
        }
        if start > end {
            let defect = Defect::Unused((start - end) as u64);
            tell(Finding { offset: end as u64, defect });
        }
        Ok(())
    }

    fn check(&self, item: &Item<'_>, number: usize, tell: Tell<'_>) {
        let (expected, found) = (name_ref(item.name), item.hash);
        let mut told = |defect| tell(Finding { offset: item.offset, defect });
        if expected != found {
            told(Defect::NameHash { expected, found });
        }
        let expected = bucket(found, self.number_of_buckets());
        if expected != number {
            told(Defect::Bucket { expected: expected as u64, found: number as u64 });
        }
    }
}

fn item<'a>(words: &mut Words<'a>) -> Result<Item<'a>, Finding> {
    let offset = words.offset();
    let head = words.take(ITEM_HEAD)?;
    let (hash, name, records) = (word(&head[..8]), word(&head[8..16]), word(&head[16..]));
    let length = |length: u64| usize::try_from(length).unwrap_or(usize::MAX);
    let name = words.take(length(name))?;
    let records = words.sub(length(records), Part::Records)?;
    Ok(Item { offset, hash, name, records })
}
