//! What a file of version 4 has, and where: made once for a file, so that parts of it can be cut without reading the
//! rest.
//!
//! A compiler looks functions up by their names, while the file lists them by source. So the catalogue has the symbols
//! of all sources in one list, each with the place of its counts, and a second list that is sorted by a key of the name.
//! Of each symbol it also knows the functions that have inlined copies of it, which gcc 16 reads as well. The file can be
//! of any writer, normal or compact. Catalogues are private: each release of this library reads its own ones only.
//!
//! | part | contents |
//! |---|---|
//! | head | magic, the summary's five numbers, the lengths of the parts |
//! | cutoffs | of the summary: share, smallest count, number of counts |
//! | sources | the end of each path |
//! | symbols | by id: id, source, end of the name, place of the counts, first of its holders |
//! | keys | ascending: key, symbol |
//! | holders | functions with inlined copies of a symbol, by symbol |
//! | timestamps | of all functions, ascending, each once |
//! | names, paths | their bytes |

use alloc::vec::Vec;
use core::ops::Range;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::check::{Defect, Finding, Findings};
use super::open::Opened;
use super::records::What;
use crate::profile::{Cutoff, Summary};

/// The layout's number is its last byte.
const MAGIC: [u8; 8] = *b"csparts\x01";

/// The catalogue of a file.
#[derive(Clone, Debug)]
pub struct Catalogue {
    bytes: Vec<u8>,
    parts: Parts,
}

/// A symbol in the list of all.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'c> {
    /// Its place in the list.
    pub symbol: usize,
    /// Its name.
    pub name: &'c [u8],
    /// The file that declares it; empty if nobody knows.
    pub path: &'c [u8],
    /// Whether it has counts of its own.
    pub has_counts: bool,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    summary: [U64; 5],
    cutoffs: U32,
    sources: U32,
    symbols: U32,
    keys: U32,
    holders: U32,
    timestamps: U32,
    names: U32,
    paths: U32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct CutoffEntry {
    share: U32,
    min_count: U64,
    counts: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct SymbolEntry {
    id: U32,
    source: U32,
    name_end: U32,
    /// 0 if it has no counts.
    size: U32,
    start: U64,
    first_holder: U32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct KeyEntry {
    key: U64,
    symbol: U32,
}

/// Where the parts are in the bytes.
#[derive(Clone, Debug)]
struct Parts {
    cutoffs: Range<usize>,
    sources: Range<usize>,
    symbols: Range<usize>,
    keys: Range<usize>,
    holders: Range<usize>,
    timestamps: Range<usize>,
    names: Range<usize>,
    paths: Range<usize>,
}

impl Parts {
    /// `None` if they do not fill this number of bytes.
    fn of(head: &Head, bytes: usize) -> Option<Self> {
        let mut at = size_of::<Head>();
        let mut part = |number: U32, size: usize| {
            let start = at;
            at = at.checked_add((number.get() as usize).checked_mul(size)?)?;
            Some(start..at)
        };
        let parts = Self {
            cutoffs: part(head.cutoffs, size_of::<CutoffEntry>())?,
            sources: part(head.sources, size_of::<U32>())?,
            symbols: part(head.symbols, size_of::<SymbolEntry>())?,
            keys: part(head.keys, size_of::<KeyEntry>())?,
            holders: part(head.holders, size_of::<U32>())?,
            timestamps: part(head.timestamps, size_of::<U64>())?,
            names: part(head.names, 1)?,
            paths: part(head.paths, 1)?,
        };
        (at == bytes).then_some(parts)
    }
}

impl Catalogue {
    /// Makes the catalogue of a file, and tells the defects that were tolerated. `key` gives the key of a name.
    ///
    /// # Errors
    ///
    /// The first defect anywhere in the file that cannot be tolerated.
    pub fn new(bytes: &[u8], key: impl Fn(&[u8]) -> u64) -> Result<(Self, Findings), Finding> {
        let mut findings = Findings::default();
        let mut note = |finding| _ = findings.note(finding);
        let opened = Opened::open(bytes, &mut note)?;
        let ids = opened.by_id();
        let symbol_of = |id: u32| ids.binary_search_by_key(&id, |&(known, _)| known).ok();
        let mut places = alloc::vec![(0, 0); opened.symbols.iter().count()];
        let mut held: Vec<(u32, u32)> = Vec::new();
        let mut of_symbol = alloc::vec![0u32; places.len()];
        for (place, (_, symbol)) in ids.iter().enumerate() {
            of_symbol[symbol.index()] = place as u32;
        }
        let mut timestamps = Vec::with_capacity(opened.infos.len());
        for info in &opened.infos {
            places[info.symbol.index()] = info.extent();
            let holder = of_symbol[info.symbol.index()];
            opened.records(info, &mut note, |records, tell| {
                timestamps.push(records.timestamp);
                let start = held.len();
                while let Some(record) = records.next_or_tell(tell) {
                    let record = record?;
                    let id = match record.what {
                        What::Count(_) => continue,
                        What::Target { symbol, .. } | What::Inlined(symbol) => symbol,
                    };
                    let unknown = Finding { offset: record.offset, defect: Defect::SymbolId(id) };
                    let symbol = symbol_of(id).ok_or(unknown)?;
                    if matches!(record.what, What::Inlined(_)) {
                        held.push((symbol as u32, holder));
                    }
                }
                held[start..].sort_unstable();
                dedup_from(&mut held, start);
                Ok(())
            });
        }
        if let Some(fatal) = findings.fatal() {
            return Err(fatal);
        }
        held.sort_unstable();
        let mut listing = Listing::default();
        let paths: Vec<&[u8]> =
            opened.symbols.files().map(|file| opened.symbols.path(file)).collect();
        let unknown = paths.len() as u32;
        for path in paths.iter().copied().chain([&b""[..]]) {
            listing.paths.extend_from_slice(path);
            listing.sources.push(U32::new(listing.paths.len() as u32));
        }
        let mut next = 0;
        for (place, &(id, symbol)) in ids.iter().enumerate() {
            let name = opened.symbols.name(symbol);
            listing.names.extend_from_slice(name);
            let (start, size): (u64, u32) = places[symbol.index()];
            listing.symbols.push(SymbolEntry {
                id: id.into(),
                source: opened.symbols.file_index(symbol).unwrap_or(unknown).into(),
                name_end: (listing.names.len() as u32).into(),
                size: size.into(),
                start: start.into(),
                first_holder: (next as u32).into(),
            });
            listing.keys.push((key(name), place as u32));
            next += held[next..].partition_point(|&(held, _)| held as usize <= place);
        }
        listing.keys.sort_unstable();
        listing.holders = held.into_iter().map(|(_, holder)| holder.into()).collect();
        timestamps.sort_unstable();
        timestamps.dedup();
        listing.timestamps = timestamps.into_iter().map(U64::new).collect();
        let bytes = listing.bytes(&opened.summary);
        let catalogue = Self::of(bytes).ok_or(Finding { offset: 0, defect: Defect::Magic })?;
        Ok((catalogue, findings))
    }

    /// The catalogue in these bytes; `None` if it is damaged, or of another release.
    pub fn of(bytes: Vec<u8>) -> Option<Self> {
        let (head, _) = Head::ref_from_prefix(&bytes).ok()?;
        if head.magic != MAGIC {
            return None;
        }
        let parts = Parts::of(head, bytes.len())?;
        Some(Self { bytes, parts })
    }

    /// The bytes, to keep them.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The summary of the file.
    pub fn summary(&self) -> Summary {
        let numbers = Head::ref_from_prefix(&self.bytes).map(|(head, _)| head.summary);
        let [total_count, max_count, max_function_count, counts, functions] =
            numbers.unwrap_or_default().map(U64::get);
        let cutoff = |cutoff: &CutoffEntry| Cutoff {
            share: cutoff.share.get(),
            min_count: cutoff.min_count.get(),
            counts: cutoff.counts.get(),
        };
        let cutoffs = self.part::<CutoffEntry>(&self.parts.cutoffs).iter().map(cutoff).collect();
        Summary { total_count, max_count, max_function_count, counts, functions, cutoffs }
    }

    /// The paths of all sources. That of unknown ones is empty.
    pub fn paths(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.part::<U32>(&self.parts.sources).len()).map(|source| self.path(source))
    }

    /// All symbols.
    pub fn symbols(&self) -> impl Iterator<Item = Listed<'_>> {
        (0..self.entries().len()).map(|symbol| self.listed(symbol))
    }

    /// The symbols whose names have a key that `wanted` accepts. It is asked once for each key.
    pub fn with_keys(
        &self,
        mut wanted: impl FnMut(u64) -> bool,
    ) -> impl Iterator<Item = Listed<'_>> {
        let keys = self.part::<KeyEntry>(&self.parts.keys).chunk_by(|a, b| a.key == b.key);
        let keys = keys.filter(move |same| wanted(same[0].key.get())).flatten();
        keys.map(|entry| self.listed(entry.symbol.get() as usize))
    }

    /// Where the file has a symbol's counts, if it has any.
    pub fn section(&self, symbol: usize) -> Option<Range<u64>> {
        let entry = self.entries().get(symbol).filter(|entry| entry.size.get() > 0)?;
        Some(entry.start.get()..entry.start.get().saturating_add(entry.size.get().into()))
    }

    /// The functions that have inlined copies of a symbol.
    pub fn holders(&self, symbol: usize) -> impl Iterator<Item = usize> {
        let (entries, holders) = (self.entries(), self.part::<U32>(&self.parts.holders));
        let start = entries[symbol].first_holder.get() as usize;
        let next = entries.get(symbol + 1).map(|next| next.first_holder.get() as usize);
        let range = start..next.unwrap_or(holders.len());
        holders.get(range).unwrap_or_default().iter().map(|holder| holder.get() as usize)
    }

    /// The timestamps of all functions, ascending, each once.
    pub(super) fn timestamps(&self) -> &[U64] {
        self.part(&self.parts.timestamps)
    }

    /// The symbol that records call by this id.
    pub fn with_id(&self, id: u32) -> Option<Listed<'_>> {
        let place = self.entries().binary_search_by_key(&id, |entry| entry.id.get()).ok()?;
        Some(self.listed(place))
    }

    pub(super) fn listed(&self, symbol: usize) -> Listed<'_> {
        let entries = self.entries();
        let entry = &entries[symbol];
        let before = symbol.checked_sub(1).map_or(0, |before| entries[before].name_end.get());
        let names = &self.bytes[self.parts.names.clone()];
        let name = names.get(before as usize..entry.name_end.get() as usize).unwrap_or_default();
        let path = self.path(entry.source.get() as usize);
        Listed { symbol, name, path, has_counts: entry.size.get() > 0 }
    }

    fn path(&self, source: usize) -> &[u8] {
        let ends = self.part::<U32>(&self.parts.sources);
        let end = |source: usize| ends.get(source).map_or(0, |end| end.get() as usize);
        let range = source.checked_sub(1).map_or(0, end)..end(source);
        self.bytes[self.parts.paths.clone()].get(range).unwrap_or_default()
    }

    fn entries(&self) -> &[SymbolEntry] {
        self.part(&self.parts.symbols)
    }

    fn part<T: FromBytes + Immutable + KnownLayout + Unaligned>(
        &self,
        part: &Range<usize>,
    ) -> &[T] {
        <[T]>::ref_from_bytes(&self.bytes[part.clone()]).unwrap_or_default()
    }
}

/// Removes equal neighbours from this place on.
fn dedup_from(held: &mut Vec<(u32, u32)>, start: usize) {
    let mut last = start;
    for place in start + 1..held.len() {
        if held[place] != held[last] {
            last += 1;
            held[last] = held[place];
        }
    }
    held.truncate(held.len().min(last + 1));
}

/// The parts of a catalogue that is being made.
#[derive(Default)]
struct Listing {
    sources: Vec<U32>,
    symbols: Vec<SymbolEntry>,
    keys: Vec<(u64, u32)>,
    holders: Vec<U32>,
    timestamps: Vec<U64>,
    names: Vec<u8>,
    paths: Vec<u8>,
}

impl Listing {
    fn bytes(&self, summary: &Summary) -> Vec<u8> {
        let Summary { total_count, max_count, max_function_count, counts, functions, cutoffs } =
            summary;
        let length = |number: usize| U32::new(number as u32);
        let head = Head {
            magic: MAGIC,
            summary: [total_count, max_count, max_function_count, counts, functions]
                .map(|&number| number.into()),
            cutoffs: length(cutoffs.len()),
            sources: length(self.sources.len()),
            symbols: length(self.symbols.len()),
            keys: length(self.keys.len()),
            holders: length(self.holders.len()),
            timestamps: length(self.timestamps.len()),
            names: length(self.names.len()),
            paths: length(self.paths.len()),
        };
        let cutoffs: Vec<CutoffEntry> = cutoffs.iter().map(CutoffEntry::of).collect();
        let key = |&(key, symbol): &(u64, u32)| KeyEntry { key: key.into(), symbol: symbol.into() };
        let keys: Vec<KeyEntry> = self.keys.iter().map(key).collect();
        let parts: [&[u8]; 9] = [
            head.as_bytes(),
            cutoffs.as_bytes(),
            self.sources.as_bytes(),
            self.symbols.as_bytes(),
            keys.as_bytes(),
            self.holders.as_bytes(),
            self.timestamps.as_bytes(),
            &self.names,
            &self.paths,
        ];
        parts.concat()
    }
}

impl CutoffEntry {
    fn of(cutoff: &Cutoff) -> Self {
        let Cutoff { share, min_count, counts } = *cutoff;
        Self { share: share.into(), min_count: min_count.into(), counts: counts.into() }
    }
}
