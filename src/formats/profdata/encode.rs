//! Writes indexed profiles, byte for byte as `llvm-profdata merge` of the release with this version does.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::convert::Infallible;
use hashbrown::HashMap;

use super::header::Header;
use super::record::{self, put};
use super::summary;
use super::table::Table;
use super::{Version, order, tail};
use crate::counters::merge::Sum;
use crate::counters::summary::Summary;
use crate::counters::{Function, Profile, ValueKind, Variant, name_ref};
use crate::raw::writer::Sink;

/// Most bytes of values in a record.
const MOST_VALUE_BYTES: usize = u32::MAX as usize;
/// Most names in a bucket.
const MOST_ITEMS: usize = u16::MAX as usize;
/// Bytes of a bucket before its items.
const BUCKET_HEAD: usize = 2;
/// Bytes of an item before its name: hash, length of the name, bytes of its records.
const ITEM_HEAD: usize = 24;
/// About as many bytes are written at once.
const AT_ONCE: usize = 1 << 16;

/// A file, and what it does not hold of the profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// What the version has no place for.
    pub dropped: Dropped,
}

/// What a version has no place for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Functions whose MC/DC bitmap is not in the file.
    pub bitmaps: usize,
    /// Build-ids that are not in the file.
    pub binary_ids: usize,
    /// Traces that are not in the file.
    pub traces: usize,
    /// Names of virtual tables that are not in the file.
    pub vtables: usize,
    /// Functions whose value sites of virtual tables are not in the file.
    pub vtable_sites: usize,
    /// Values behind the 255 largest of a site.
    pub values: usize,
    /// Bits of the variant that readers of the version would not understand.
    pub variant: Variant,
}

/// Why a profile cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A version that is only read.
    #[error("{0} cannot be written; {oldest} is the oldest", oldest = Version::OLDEST_WRITTEN)]
    Version(Version),
    /// The variant has a memory profile, which the model lacks.
    #[error("memory profiles (memprof) cannot be written")]
    MemoryProfile,
    /// More values than a record can hold.
    #[error("{}: more values than a record can hold", .0.escape_ascii())]
    Values(Vec<u8>),
    /// More names of the same hash than a bucket can hold.
    #[error("{0} names have hashes that end alike")]
    Bucket(usize),
    /// Two records have the same name and hash, but cannot be added.
    #[error("{}: two records that cannot be added", .0.escape_ascii())]
    Merge(Vec<u8>),
}

/// Writes a file. Functions that have the same name and hash are added.
pub fn encode(profile: &Profile, version: Version) -> Result<Encoded, EncodeError> {
    let profile = unique(profile)?;
    let encoder = Encoder::new(&profile, version)?;
    let mut bytes = Vec::with_capacity(encoder.size());
    let Ok(()) = encoder.write(&mut bytes).map_err(|error: Infallible| match error {});
    Ok(Encoded { bytes, dropped: encoder.dropped })
}

/// Writes a file part by part. A large one need not be in memory.
pub struct Encoder<'p> {
    version: Version,
    groups: Groups<'p>,
    /// Header and summary.
    head: Vec<u8>,
    /// Bytes of the buckets, with zeros up to a multiple of 8.
    buckets: usize,
    /// What stands behind the hash table.
    tail: Vec<u8>,
    /// What the version has no place for.
    pub dropped: Dropped,
}

impl<'p> Encoder<'p> {
    /// Finds out where everything will be. The profile must have only one function for each name and hash, see
    /// [`unique`].
    pub fn new(profile: &'p Profile, version: Version) -> Result<Self, EncodeError> {
        if version < Version::OLDEST_WRITTEN {
            return Err(EncodeError::Version(version));
        }
        if profile.variant.has(Variant::MEMORY_PROFILE) {
            return Err(EncodeError::MemoryProfile);
        }
        let dropped = dropped(profile, version);
        let unknown = dropped.variant.0 | Variant::DEBUG_INFO_CORRELATION.0;
        let variant = Variant(profile.variant.0 & !unknown);
        let mut header =
            Header { version, variant, table: 0, binary_ids: None, traces: None, vtables: None };
        let mut head = Vec::new();
        header.encode(&mut head);
        summary::encode(&Summary::of(profile), &mut head);
        if variant.has(Variant::CONTEXT_SENSITIVE) {
            summary::encode(&Summary::of_context_sensitive(profile), &mut head);
        }
        let groups = Groups::of(profile, version);
        let buckets = (head.len() + groups.size(version)?).next_multiple_of(8) - head.len();
        let table = head.len() + buckets;
        header.table = table as u64;
        let tail = tail(profile, &mut header, table + groups.table_size());
        let mut start = Vec::with_capacity(version.header_size());
        header.encode(&mut start);
        head[..start.len()].copy_from_slice(&start);
        Ok(Self { version, groups, head, buckets, tail, dropped })
    }

    /// Bytes of the file.
    pub const fn size(&self) -> usize {
        self.head.len() + self.buckets + self.groups.table_size() + self.tail.len()
    }

    /// Writes the file.
    pub fn write<S: Sink>(&self, sink: &mut S) -> Result<(), S::Error> {
        sink.write(&self.head)?;
        self.groups.write(self.head.len(), self.version, sink)?;
        sink.write(&self.tail)
    }
}

/// What stands from `start` on, behind the hash table.
fn tail(profile: &Profile, header: &mut Header, start: usize) -> Vec<u8> {
    let (version, mut bytes) = (header.version, Vec::new());
    let at = |bytes: &Vec<u8>| Some((start + bytes.len()) as u64);
    if version.has_binary_ids() {
        header.binary_ids = at(&bytes);
        tail::encode_binary_ids(profile, &mut bytes);
    }
    if version.has_vtables() {
        header.vtables = at(&bytes);
        tail::encode_vtables(profile, &mut bytes);
    }
    if version.has_traces() && header.variant.has(Variant::TEMPORAL) {
        header.traces = at(&bytes);
        tail::encode_traces(profile, &mut bytes);
    }
    bytes
}

/// The profile with one function for each name and hash.
pub fn unique(profile: &Profile) -> Result<Cow<'_, Profile>, EncodeError> {
    let key = |function: &&Function| (name_ref(&function.name), function.hash);
    let mut keys: Vec<_> = profile.functions.iter().map(|function| key(&function)).collect();
    keys.sort_unstable();
    if keys.is_sorted_by(|one, other| one < other) {
        return Ok(Cow::Borrowed(profile));
    }
    let mut sum = Sum::default();
    let refused = sum.add(profile, 1).unwrap_or_default();
    match refused.into_iter().next() {
        Some(refused) => Err(EncodeError::Merge(refused.name)),
        None => Ok(Cow::Owned(sum.finish())),
    }
}

fn dropped(profile: &Profile, version: Version) -> Dropped {
    let has_vtable_sites =
        |function: &&Function| !function.values[ValueKind::VirtualTable as usize].is_empty();
    let functions = profile.functions.iter();
    let lost = |is_there: bool, number: usize| if is_there { 0 } else { number };
    let values = functions.clone().flat_map(|function| function.values.iter().flatten());
    let mut variant = 0;
    if !version.has_traces() {
        variant |= profile.variant.0 & Variant::TEMPORAL.0;
    }
    if !version.has_vtables() {
        variant |= profile.variant.0 & Variant::LOOP_ENTRIES.0;
    }
    Dropped {
        bitmaps: lost(
            version.has_bitmaps(),
            functions.clone().filter(|function| !function.bitmap.is_empty()).count(),
        ),
        binary_ids: lost(version.has_binary_ids(), profile.binary_ids.len()),
        traces: lost(version.has_traces(), profile.traces.len()),
        vtables: lost(version.has_vtables(), profile.vtables.len()),
        vtable_sites: lost(version.has_vtables(), functions.filter(has_vtable_sites).count()),
        values: values.map(|site| site.values.len().saturating_sub(record::MOST_VALUES)).sum(),
        variant: Variant(variant),
    }
}

/// The functions by name, in the order in which they go into the table, and the table.
struct Groups<'a> {
    functions: Vec<&'a Function>,
    /// Where the functions of each name start, and where the last ones end.
    starts: Vec<usize>,
    /// Of the names.
    hashes: Vec<u64>,
    table: Table,
}

impl<'a> Groups<'a> {
    fn of(profile: &'a Profile, version: Version) -> Self {
        let (names, by_name) = by_name(&profile.functions);
        let (mut functions, mut starts) = (Vec::with_capacity(by_name.len()), Vec::new());
        let of_name = |name: u32| {
            let start = by_name.partition_point(|&(other, _)| other < name);
            by_name[start..].iter().take_while(move |&&(other, _)| other == name)
        };
        for name in order::of_names(&names, version) {
            let own = of_name(name).map(|&(_, place)| &profile.functions[place as usize]);
            let hashes: Vec<u64> = own.clone().map(|function| function.hash).collect();
            starts.push(functions.len());
            let order = order::of_records(&hashes, version).into_iter();
            functions.extend(order.filter_map(|place| own.clone().nth(place as usize)));
        }
        let hash = |&start: &usize| name_ref(&functions[start].name);
        let hashes: Vec<u64> = starts.iter().map(hash).collect();
        starts.push(functions.len());
        let table = Table::of(&hashes);
        Self { functions, starts, hashes, table }
    }

    /// The functions of a name.
    fn group(&self, name: usize) -> &[&'a Function] {
        &self.functions[self.starts[name]..self.starts[name + 1]]
    }

    /// Bytes of the buckets.
    fn size(&self, version: Version) -> Result<usize, EncodeError> {
        let mut size = 0;
        for bucket in self.table.buckets() {
            let items = bucket.clone().count();
            if items > MOST_ITEMS {
                return Err(EncodeError::Bucket(items));
            }
            size += if items == 0 { 0 } else { BUCKET_HEAD };
            for name in bucket {
                let functions = self.group(name);
                let is_large = |function: &&&Function| {
                    record::values_size(function, version) > MOST_VALUE_BYTES
                };
                if let Some(function) = functions.iter().find(is_large) {
                    return Err(EncodeError::Values(function.name.clone()));
                }
                size += ITEM_HEAD + functions[0].name.len() + records_size(functions, version);
            }
        }
        Ok(size)
    }

    /// Bytes of the hash table.
    const fn table_size(&self) -> usize {
        8 * (2 + self.table.number_of_buckets())
    }

    /// Writes the buckets, which start at `start`, and the hash table.
    fn write<S: Sink>(&self, start: usize, version: Version, sink: &mut S) -> Result<(), S::Error> {
        let (mut at, mut bytes) = (start, Vec::with_capacity(2 * AT_ONCE));
        let mut offsets = Vec::with_capacity(self.table.number_of_buckets());
        for bucket in self.table.buckets() {
            let items = bucket.clone().count();
            offsets.push(if items == 0 { 0 } else { (at + bytes.len()) as u64 });
            if items > 0 {
                bytes.extend_from_slice(&(items as u16).to_le_bytes());
            }
            for name in bucket {
                put(self.hashes[name], &mut bytes);
                encode_item(self.group(name), version, &mut bytes);
            }
            if bytes.len() >= AT_ONCE {
                sink.write(&bytes)?;
                at += bytes.len();
                bytes.clear();
            }
        }
        record::pad(at + bytes.len(), &mut bytes);
        put(offsets.len() as u64, &mut bytes);
        put(self.hashes.len() as u64, &mut bytes);
        sink.write(&bytes)?;
        for offsets in offsets.chunks(AT_ONCE / 8) {
            bytes.clear();
            offsets.iter().for_each(|&offset| put(offset, &mut bytes));
            sink.write(&bytes)?;
        }
        Ok(())
    }
}

/// The names of functions in the order in which they came, and the functions by the number of their name.
fn by_name(functions: &[Function]) -> (Vec<&[u8]>, Vec<(u32, u32)>) {
    let (mut names, mut numbers) = (Vec::new(), HashMap::new());
    let mut by_name = Vec::with_capacity(functions.len());
    for (place, function) in functions.iter().enumerate() {
        let name = function.name.as_slice();
        let number = *numbers.entry(name).or_insert(names.len() as u32);
        if number as usize == names.len() {
            names.push(name);
        }
        by_name.push((number, place as u32));
    }
    by_name.sort_unstable();
    (names, by_name)
}

fn records_size(functions: &[&Function], version: Version) -> usize {
    functions.iter().map(|function| record::size(function, version)).sum()
}

/// Writes a name and its functions.
fn encode_item(functions: &[&Function], version: Version, bytes: &mut Vec<u8>) {
    let name = functions[0].name.as_slice();
    put(name.len() as u64, bytes);
    put(records_size(functions, version) as u64, bytes);
    bytes.extend_from_slice(name);
    functions.iter().for_each(|function| record::encode(function, version, bytes));
}
