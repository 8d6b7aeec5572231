//! Writes a profile as a program would have written it, for tools of one version of LLVM.
//!
//! The addresses are made up: each target of a call has one, and each virtual table. A site keeps
//! the 255 values that were seen most, since the format has no room for more. Build-ids are left out of version 5.

use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::{HashMap, HashSet};

pub use super::encode_error::EncodeError;

use super::Word;
use super::bytes::Bytes;
use super::names::{self, SEPARATOR};
use super::{Header, Layout, Machine, Version};
use crate::counters::{Function, Profile, Site, Value, ValueKind, Variant, name_ref};

/// Bytes from one made-up address to the next.
const ADDRESS_STEP: u64 = 16;
/// Made-up addresses of the counters (up to version 7), the functions and the virtual tables.
const COUNTERS_ADDRESS: u64 = 0x1000_0000;
const TARGETS_ADDRESS: u64 = 0x4000_0000;
/// The largest number of values of a site.
const MOST_VALUES: usize = u8::MAX as usize;

/// Writes a profile for a 64-bit little-endian machine.
pub fn encode(profile: &Profile, version: Version) -> Result<Vec<u8>, EncodeError> {
    encode_for(profile, version, Machine::X86_64)
}

/// Writes a profile for a machine.
pub fn encode_for(
    profile: &Profile,
    version: Version,
    machine: Machine,
) -> Result<Vec<u8>, EncodeError> {
    let mut image = Image::new(profile, version, machine)?;
    for function in &profile.functions {
        image.function(function)?;
    }
    image.vtables(profile);
    if let Some((&function, _)) = image.times.iter().find(|(_, times)| !times.is_empty()) {
        return Err(EncodeError::Trace(function));
    }
    image.finish(profile)
}

/// The sections of an image.
struct Image {
    machine: Machine,
    version: Version,
    variant: Variant,
    layout: Layout,
    /// Made-up addresses of targets, by kind and name.
    targets: [HashMap<u64, u64>; ValueKind::ALL.len()],
    /// Times of first calls of the functions of a name, the first one last.
    times: HashMap<u64, Vec<u64>>,
    records: Vec<Record>,
    counters: Bytes,
    bitmaps: Bytes,
    vtables: Bytes,
    values: Bytes,
}

/// What a record says that does not depend on the places of the sections.
struct Record {
    name: u64,
    hash: u64,
    function: u64,
    /// Offset and number of its counters.
    counters: (u64, u32),
    /// Offset and bytes of its bitmap.
    bitmap: (u64, u32),
    sites: [u16; ValueKind::ALL.len()],
}

impl Image {
    fn new(profile: &Profile, version: Version, machine: Machine) -> Result<Self, EncodeError> {
        let names = profile.functions.iter().map(|function| &function.name).chain(&profile.vtables);
        for name in names {
            if name.is_empty() || name.contains(&SEPARATOR) {
                return Err(EncodeError::Name(name.clone()));
            }
        }
        let is_new = |bits: Variant| profile.variant.has(bits) && version < Version::V8;
        if is_new(Variant::SINGLE_BYTE) || is_new(Variant::FUNCTION_ENTRY_ONLY) {
            return Err(EncodeError::SingleByte);
        }
        if version < Version::V8 && !profile.traces.is_empty() {
            return Err(EncodeError::TracesOfOld);
        }
        let elsewhere = Variant::MEMORY_PROFILE.0 | Variant::DEBUG_INFO_CORRELATION.0;
        let temporal = if profile.traces.is_empty() { 0 } else { Variant::TEMPORAL.0 };
        Ok(Self {
            machine,
            version,
            variant: Variant(profile.variant.0 & !elsewhere | temporal),
            layout: Layout::of(version, machine.pointer),
            targets: targets(profile),
            times: times(profile)?,
            records: Vec::with_capacity(profile.functions.len()),
            counters: Bytes::new(machine),
            bitmaps: Bytes::new(machine),
            vtables: Bytes::new(machine),
            values: Bytes::new(machine),
        })
    }

    fn function(&mut self, function: &Function) -> Result<(), EncodeError> {
        let name = name_ref(&function.name);
        let function_address = self.targets[ValueKind::IndirectCall as usize].get(&name).copied();
        let record = Record {
            name,
            hash: function.hash,
            function: function_address.unwrap_or(0),
            counters: self.counters(name, function)?,
            bitmap: self.bitmap(function)?,
            sites: self.sites(function)?,
        };
        self.records.push(record);
        Ok(())
    }

    fn counters(&mut self, name: u64, function: &Function) -> Result<(u64, u32), EncodeError> {
        if function.counters.is_empty() {
            return Err(EncodeError::NoCounters(function.name.clone()));
        }
        let single = self.variant.has(Variant::SINGLE_BYTE);
        let start = self.counters.len();
        if self.variant.has(Variant::TEMPORAL) {
            let time = self.times.get_mut(&name).and_then(Vec::pop);
            self.counters.u64(time.unwrap_or(0));
        }
        for &counter in &function.counters {
            match single {
                true => self.counters.u8(if counter == 0 { 0xff } else { 0 }),
                false => self.counters.u64(counter),
            }
        }
        let bytes = self.counters.len() - start;
        let number = bytes / if single { 1 } else { 8 };
        Ok((start, u32::try_from(number).map_err(|_| EncodeError::Large)?))
    }

    fn bitmap(&mut self, function: &Function) -> Result<(u64, u32), EncodeError> {
        if !function.bitmap.is_empty() && self.layout.bitmap.is_none() {
            return Err(EncodeError::Bitmap(function.name.clone()));
        }
        let start = self.bitmaps.len();
        self.bitmaps.all(&function.bitmap);
        let bytes = u32::try_from(function.bitmap.len()).map_err(|_| EncodeError::Large)?;
        Ok((start, bytes))
    }

    /// Writes the values of a function; gives its numbers of sites.
    fn sites(&mut self, function: &Function) -> Result<[u16; 3], EncodeError> {
        let mut numbers = [0; 3];
        for (number, sites) in numbers.iter_mut().zip(&function.values) {
            let most = usize::from(u16::MAX);
            *number = u16::try_from(sites.len())
                .map_err(|_| EncodeError::Sites { function: function.name.clone(), most })?;
        }
        if numbers.iter().skip(self.version.kinds()).any(|&number| number > 0) {
            return Err(EncodeError::VirtualTables(function.name.clone()));
        }
        let kinds = numbers.iter().filter(|&&number| number > 0).count();
        if kinds == 0 {
            return Ok(numbers);
        }
        let mut block = Bytes::new(self.machine);
        for kind in ValueKind::ALL {
            self.kind(kind, &function.values[kind as usize], &mut block);
        }
        let size = u32::try_from(8 + block.len()).map_err(|_| EncodeError::Large)?;
        self.values.u32(size);
        self.values.u32(kinds as u32);
        self.values.all(block.as_slice());
        Ok(numbers)
    }

    fn kind(&self, kind: ValueKind, sites: &[Site], block: &mut Bytes) {
        if sites.is_empty() {
            return;
        }
        block.u32(kind as u32);
        block.u32(sites.len() as u32);
        sites.iter().for_each(|site| block.u8(site.values.len().min(MOST_VALUES) as u8));
        block.pad();
        for site in sites {
            for value in most_seen(site) {
                block.u64(match kind {
                    ValueKind::MemorySize => value.value,
                    _ => self.targets[kind as usize].get(&value.value).copied().unwrap_or(0),
                });
                block.u64(value.count);
            }
        }
    }

    fn vtables(&mut self, profile: &Profile) {
        if self.version < Version::V10 {
            return;
        }
        for name in &profile.vtables {
            let name = name_ref(name);
            let targets = &self.targets[ValueKind::VirtualTable as usize];
            let address = targets.get(&name).copied().unwrap_or(0);
            self.vtables.u64(name);
            self.vtables.pointer(address);
            self.vtables.u32(ADDRESS_STEP as u32);
            self.vtables.pad();
        }
    }

    /// Puts the sections behind each other.
    fn finish(mut self, profile: &Profile) -> Result<Vec<u8>, EncodeError> {
        let mut known = HashSet::new();
        let functions = profile.functions.iter().map(|function| &function.name[..]);
        let names = names::write(functions.filter(|name| known.insert(*name)));
        let vtable_names = match self.version >= Version::V10 {
            true => names::write(profile.vtables.iter().map(|name| &name[..])),
            false => Vec::new(),
        };
        let header = self.header(names.len(), vtable_names.len(), profile);
        let mut file = Bytes::new(self.machine);
        file.u64(self.machine.magic());
        file.u64(header.version_word());
        self.version.words().for_each(|word| file.u64(header.get(word)));
        self.binary_ids(profile, &mut file);
        self.records(&header, &mut file);
        self.counters.pad();
        self.bitmaps.pad();
        file.all(self.counters.as_slice());
        file.all(self.bitmaps.as_slice());
        file.all(&names);
        file.pad();
        file.all(self.vtables.as_slice());
        file.all(&vtable_names);
        file.pad();
        file.all(self.values.as_slice());
        let is_addressable = self.machine.address(file.len()) == file.len();
        if is_addressable { Ok(file.into_vec()) } else { Err(EncodeError::Large) }
    }

    fn header(&self, names: usize, vtable_names: usize, profile: &Profile) -> Header {
        let mut header = Header::new(self.machine, self.version, self.variant);
        let mut ids = Bytes::new(self.machine);
        self.binary_ids(profile, &mut ids);
        let single = self.variant.has(Variant::SINGLE_BYTE);
        let records = self.records.len() as u64;
        let record_bytes = records * self.layout.stride as u64;
        let (counters, padding) = (self.counters.len(), self.counters.padding());
        header.set(Word::BinaryIds, ids.len());
        header.set(Word::Records, records);
        header.set(Word::Counters, counters / if single { 1 } else { 8 });
        header.set(Word::PadAfterCounters, padding);
        header.set(Word::Bitmaps, self.bitmaps.len());
        header.set(Word::PadAfterBitmaps, self.bitmaps.padding());
        header.set(Word::Names, names as u64);
        if records > 0 {
            let is_relative = self.version >= Version::V8;
            let counters_at = if is_relative { record_bytes } else { COUNTERS_ADDRESS };
            header.set(Word::CountersDelta, counters_at);
        }
        if self.bitmaps.len() > 0 {
            header.set(Word::BitmapDelta, record_bytes + counters + padding);
        }
        let vtables = self.vtables.len() / Layout::vtable_stride(self.machine.pointer) as u64;
        header.set(Word::VTables, vtables);
        header.set(Word::VTableNames, vtable_names as u64);
        header.set(Word::LastKind, self.version.kinds() as u64 - 1);
        header
    }

    fn binary_ids(&self, profile: &Profile, file: &mut Bytes) {
        if self.version < Version::V7 {
            return;
        }
        for id in profile.binary_ids.iter().filter(|id| !id.is_empty()) {
            file.u64(id.len() as u64);
            file.all(id);
            file.pad();
        }
    }

    fn records(&self, header: &Header, file: &mut Bytes) {
        for (place, record) in self.records.iter().enumerate() {
            // Since version 8 pointers count from their record.
            let is_relative = self.version >= Version::V8;
            let moved = if is_relative { place * self.layout.stride } else { 0 } as u64;
            let counters = header.get(Word::CountersDelta).wrapping_sub(moved);
            let bitmaps = header.get(Word::BitmapDelta).wrapping_sub(moved);
            let has_bitmap = record.bitmap.1 > 0;
            file.u64(record.name);
            file.u64(record.hash);
            file.pointer(counters.wrapping_add(record.counters.0));
            if self.version >= Version::V11 {
                file.pointer(0);
            }
            if self.layout.bitmap.is_some() {
                file.pointer(if has_bitmap { bitmaps.wrapping_add(record.bitmap.0) } else { 0 });
            }
            file.pointer(record.function);
            file.pointer(0);
            file.u32(record.counters.1);
            record.sites.iter().take(self.version.kinds()).for_each(|&sites| file.u16(sites));
            if self.version >= Version::V11 {
                file.u16(0);
            }
            if self.layout.bitmap_bytes.is_some() {
                file.align(4);
                file.u32(record.bitmap.1);
            }
            file.pad();
        }
    }
}

/// The values of a site that are written: all, or those seen most.
fn most_seen(site: &Site) -> Vec<Value> {
    let mut values = site.values.clone();
    if values.len() > MOST_VALUES {
        values.sort_by_key(|value| Reverse(value.count));
        values.truncate(MOST_VALUES);
    }
    values
}

/// Addresses for the functions that are targets, and for virtual tables.
fn targets(profile: &Profile) -> [HashMap<u64, u64>; ValueKind::ALL.len()] {
    let address = |place: usize| TARGETS_ADDRESS + ADDRESS_STEP * place as u64;
    let calls = |function: &'_ Function| -> Vec<u64> {
        let sites = &function.values[ValueKind::IndirectCall as usize];
        sites.iter().flat_map(|site| &site.values).map(|value| value.value).collect()
    };
    let called: HashSet<u64> = profile.functions.iter().flat_map(calls).collect();
    let functions = profile.functions.iter().map(|function| name_ref(&function.name)).enumerate();
    let functions = functions.filter(|(_, name)| called.contains(name));
    let vtables = profile.vtables.iter().map(|name| name_ref(name)).enumerate();
    let mut targets = <[HashMap<u64, u64>; ValueKind::ALL.len()]>::default();
    targets[ValueKind::IndirectCall as usize] =
        functions.map(|(place, name)| (name, address(place))).collect();
    targets[ValueKind::VirtualTable as usize] =
        vtables.map(|(place, name)| (name, address(place))).collect();
    targets
}

/// Times of first calls, from 1, by name.
fn times(profile: &Profile) -> Result<HashMap<u64, Vec<u64>>, EncodeError> {
    let mut times = HashMap::<u64, Vec<u64>>::new();
    match &profile.traces[..] {
        [] => {}
        [trace] if trace.weight == 1 => {
            for (place, &name) in trace.functions.iter().enumerate().rev() {
                times.entry(name).or_default().push(place as u64 + 1);
            }
        }
        _ => return Err(EncodeError::Traces),
    }
    Ok(times)
}
