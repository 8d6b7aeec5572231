//! Writes indexed profiles, byte for byte as `llvm-profdata merge` of the release with this version does.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;

use hashbrown::HashMap;

use super::header::Header;
use super::record::{self, put};
use super::summary;
use super::table::Table;
use super::{Version, order, tail};
use crate::counters::merge::Sum;
use crate::counters::summary::Summary;
use crate::counters::{Function, Profile, ValueKind, Variant, name_ref};

/// Most bytes of values in a record.
const MOST_VALUE_BYTES: usize = u32::MAX as usize;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// A version that is only read.
    Version(Version),
    /// The variant has a memory profile, which the model lacks.
    MemoryProfile,
    /// More values than a record can hold.
    Values(Vec<u8>),
    /// More names of the same hash than a bucket can hold.
    Bucket(usize),
    /// Two records have the same name and hash, but cannot be added.
    Merge(Vec<u8>),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => {
                write!(f, "{version} cannot be written; {} is the oldest", Version::OLDEST_WRITTEN)
            }
            Self::MemoryProfile => f.write_str("memory profiles (memprof) cannot be written"),
            Self::Values(name) => {
                write!(f, "{}: more values than a record can hold", name.escape_ascii())
            }
            Self::Bucket(names) => write!(f, "{names} names have hashes that end alike"),
            Self::Merge(name) => {
                write!(f, "{}: two records that cannot be added", name.escape_ascii())
            }
        }
    }
}

impl core::error::Error for EncodeError {}

/// Writes a file. Functions that have the same name and hash are added.
pub fn encode(profile: &Profile, version: Version) -> Result<Encoded, EncodeError> {
    if version < Version::OLDEST_WRITTEN {
        return Err(EncodeError::Version(version));
    }
    if profile.variant.has(Variant::MEMORY_PROFILE) {
        return Err(EncodeError::MemoryProfile);
    }
    let profile = unique(profile)?;
    let groups = Groups::of(&profile, version);
    let dropped = dropped(&profile, version);
    let mut bytes = Vec::new();
    let mut header = Header {
        version,
        variant: Variant(
            profile.variant.0 & !dropped.variant.0 & !Variant::DEBUG_INFO_CORRELATION.0,
        ),
        table: 0,
        binary_ids: None,
        traces: None,
        vtables: None,
    };
    header.encode(&mut bytes);
    summary::encode(&Summary::of(&profile), &mut bytes);
    if header.variant.has(Variant::CONTEXT_SENSITIVE) {
        summary::encode(&Summary::of_context_sensitive(&profile), &mut bytes);
    }
    header.table = groups.encode(version, &mut bytes)?;
    if version.has_binary_ids() {
        header.binary_ids = Some(bytes.len() as u64);
        tail::encode_binary_ids(&profile, &mut bytes);
    }
    if version.has_vtables() {
        header.vtables = Some(bytes.len() as u64);
        tail::encode_vtables(&profile, &mut bytes);
    }
    if version.has_traces() && header.variant.has(Variant::TEMPORAL) {
        header.traces = Some(bytes.len() as u64);
        tail::encode_traces(&profile, &mut bytes);
    }
    let mut start = Vec::with_capacity(version.header_size());
    header.encode(&mut start);
    bytes[..start.len()].copy_from_slice(&start);
    Ok(Encoded { bytes, dropped })
}

/// The profile with one function for each name and hash.
fn unique(profile: &Profile) -> Result<Cow<'_, Profile>, EncodeError> {
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

/// The functions by name, in the order in which they go into the table.
struct Groups<'a> {
    functions: Vec<&'a Function>,
    /// Where the functions of each name start, and where the last ones end.
    starts: Vec<usize>,
}

impl<'a> Groups<'a> {
    fn of(profile: &'a Profile, version: Version) -> Self {
        let mut numbers = HashMap::new();
        let (mut names, mut heads) = (Vec::new(), Vec::<Vec<&Function>>::new());
        for function in &profile.functions {
            let name = function.name.as_slice();
            let number = *numbers.entry(name).or_insert(names.len());
            if number == names.len() {
                names.push(name);
                heads.push(Vec::with_capacity(1));
            }
            heads[number].push(function);
        }
        let mut groups = Self { functions: Vec::new(), starts: Vec::new() };
        for name in order::of_names(&names, version) {
            let own = &heads[name as usize];
            let hashes: Vec<u64> = own.iter().map(|function| function.hash).collect();
            groups.starts.push(groups.functions.len());
            let order = order::of_records(&hashes, version).into_iter();
            groups.functions.extend(order.map(|place| own[place as usize]));
        }
        groups.starts.push(groups.functions.len());
        groups
    }

    /// Writes the buckets and the hash table; gives the table's offset.
    fn encode(&self, version: Version, bytes: &mut Vec<u8>) -> Result<u64, EncodeError> {
        let name = |&start: &usize| self.functions[start].name.as_slice();
        let names = self.starts.len() - 1;
        let hashes: Vec<u64> =
            self.starts[..names].iter().map(|start| name_ref(name(start))).collect();
        let table = Table::of(&hashes);
        let mut offsets = Vec::with_capacity(table.buckets().len());
        for bucket in table.buckets() {
            let items = bucket.clone().count();
            let at = if items == 0 { 0 } else { bytes.len() };
            offsets.push(at as u64);
            if items == 0 {
                continue;
            }
            let items = u16::try_from(items).map_err(|_| EncodeError::Bucket(items))?;
            bytes.extend_from_slice(&items.to_le_bytes());
            for item in bucket {
                put(hashes[item], bytes);
                self.item(
                    &self.functions[self.starts[item]..self.starts[item + 1]],
                    version,
                    bytes,
                )?;
            }
        }
        record::pad(bytes.len(), bytes);
        let start = bytes.len() as u64;
        put(offsets.len() as u64, bytes);
        put(names as u64, bytes);
        offsets.into_iter().for_each(|offset| put(offset, bytes));
        Ok(start)
    }

    fn item(
        &self,
        functions: &[&Function],
        version: Version,
        bytes: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        let name = functions[0].name.as_slice();
        put(name.len() as u64, bytes);
        let size = |function: &&Function| record::size(function, version);
        put(functions.iter().map(size).sum::<usize>() as u64, bytes);
        bytes.extend_from_slice(name);
        for function in functions {
            if record::values_size(function, version) > MOST_VALUE_BYTES {
                return Err(EncodeError::Values(name.into()));
            }
            record::encode(function, version, bytes);
        }
        Ok(())
    }
}
