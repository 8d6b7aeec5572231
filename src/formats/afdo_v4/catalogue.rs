//! What a file of version 4 has, and where: made once for a file, so that parts of it can be cut without reading the
//! rest.
//!
//! A compiler looks functions up by their names, while the file lists them by source. So the catalogue has the
//! symbols of all sources in one list, each with the place of its counts, and a second list that is sorted by a key
//! of the name. Of each symbol it also knows the functions that have inlined copies of it, which gcc 16 reads as
//! well. The file can be of any writer, normal or compact. Catalogues are private: each release of this library reads
//! its own ones only.
//!
//! | part | contents |
//! |---|---|
//! | head | magic, the summary's five numbers, the lengths of the parts |
//! | cutoffs | of the summary: share, smallest count, number of counts |
//! | sources | the end of each path, its symbols |
//! | symbols | by id: id, source, end of the name, place of the counts, first of its holders, counts in copies |
//! | keys | ascending: key, symbol |
//! | holders | functions with inlined copies of a symbol, by symbol |
//! | timestamps | of all functions, ascending, each once |
//! | names, paths | their bytes |

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::ops::Range;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::check::{Defect, Finding, Findings, Tell};
use super::open::Opened;
use super::records::{Record, What};
use crate::profile::{Cutoff, Position, Summary};

/// The layout's number is its last byte.
const MAGIC: [u8; 8] = *b"csparts\x03";

/// The catalogue of a file. Only what is asked for is read.
#[derive(Clone, Debug)]
pub struct Catalogue<S> {
    store: S,
    head: Head,
    parts: Parts,
}

/// Where the bytes of a catalogue are.
pub trait Store {
    /// Their number.
    fn length(&self) -> usize;

    /// Reads these bytes, which there are. What cannot be read is 0, and the store remembers it.
    fn read(&self, at: usize, into: &mut [u8]);
}

impl Store for Vec<u8> {
    fn length(&self) -> usize {
        self.len()
    }

    fn read(&self, at: usize, into: &mut [u8]) {
        into.copy_from_slice(&self[at..at + into.len()]);
    }
}

/// A symbol in the list of all.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its place in the list.
    pub symbol: usize,
    /// Its name.
    pub name: Vec<u8>,
    /// The place of the file that declares it among the sources.
    pub source: usize,
    /// Sum of the counts in its inlined copies.
    pub inlined: u64,
}

#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
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
    inlined: U64,
}

impl SymbolEntry {
    fn add_inlined(&mut self, count: u64) {
        self.inlined = self.inlined.get().saturating_add(count).into();
    }
}

/// A source, and the symbols that it declares.
#[derive(Clone, Copy, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct SourceEntry {
    path_end: U32,
    first_symbol: U32,
    behind_symbols: U32,
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
            sources: part(head.sources, size_of::<SourceEntry>())?,
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

/// Makes the catalogue of a file, and tells the defects that were tolerated. `key` gives the key of a name.
///
/// # Errors
///
/// The first defect anywhere in the file that cannot be tolerated.
pub fn make(bytes: &[u8], key: impl Fn(&[u8]) -> u64) -> Result<(Vec<u8>, Findings), Finding> {
    let mut findings = Findings::default();
    let mut note = |finding| _ = findings.note(finding);
    let opened = Opened::open(bytes, &mut note)?;
    let mut listing = Listing::of(&opened, key);
    listing.inlined(&opened, &mut note);
    match findings.fatal() {
        Some(fatal) => Err(fatal),
        None => Ok((listing.bytes(&opened.summary), findings)),
    }
}

impl<S: Store> Catalogue<S> {
    /// The catalogue in these bytes; `None` if it is damaged, or of another release.
    pub fn of(store: S) -> Option<Self> {
        let mut head = [0; size_of::<Head>()];
        if store.length() < head.len() {
            return None;
        }
        store.read(0, &mut head);
        let head = Head::read_from_bytes(&head).ok().filter(|head| head.magic == MAGIC)?;
        let parts = Parts::of(&head, store.length())?;
        Some(Self { store, head, parts })
    }

    /// Where its bytes are.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// The summary of the file.
    pub fn summary(&self) -> Summary {
        let [total_count, max_count, max_function_count, counts, functions] =
            self.head.summary.map(U64::get);
        let cutoff = |cutoff: CutoffEntry| Cutoff {
            share: cutoff.share.get(),
            min_count: cutoff.min_count.get(),
            counts: cutoff.counts.get(),
        };
        let cutoffs =
            self.all::<CutoffEntry>(&self.parts.cutoffs).into_iter().map(cutoff).collect();
        Summary { total_count, max_count, max_function_count, counts, functions, cutoffs }
    }

    /// The paths of all sources. That of unknown ones is empty.
    pub fn paths(&self) -> Vec<Vec<u8>> {
        let paths = self.all::<u8>(&self.parts.paths);
        let mut start = 0;
        let path = |source: SourceEntry| {
            let end = source.path_end.get() as usize;
            let path = paths.get(start..end).unwrap_or_default().to_vec();
            start = end;
            path
        };
        self.all::<SourceEntry>(&self.parts.sources).into_iter().map(path).collect()
    }

    /// The symbols that a source declares.
    pub fn declared(&self, source: usize) -> Vec<Listed> {
        let Some(entry) = self.one::<SourceEntry>(&self.parts.sources, source) else {
            return Vec::new();
        };
        let range = entry.first_symbol.get() as usize..entry.behind_symbols.get() as usize;
        range
            .map_while(|symbol| self.listed(symbol))
            .filter(|listed| listed.source == source)
            .collect()
    }

    /// The symbols whose names have a key.
    pub fn with_key(&self, key: u64) -> Vec<Listed> {
        let mut place = self.partition::<KeyEntry>(&self.parts.keys, |entry| entry.key.get() < key);
        let mut listed = Vec::new();
        while let Some(entry) = self.one::<KeyEntry>(&self.parts.keys, place)
            && entry.key.get() == key
        {
            listed.extend(self.listed(entry.symbol.get() as usize));
            place += 1;
        }
        listed
    }

    /// Where the file has a symbol's counts, if it has any.
    pub fn section(&self, symbol: usize) -> Option<Range<u64>> {
        let entry = self.entry(symbol).filter(|entry| entry.size.get() > 0)?;
        Some(entry.start.get()..entry.start.get().saturating_add(entry.size.get().into()))
    }

    /// The functions that have inlined copies of a symbol.
    pub fn holders(&self, symbol: usize) -> Vec<usize> {
        let first = |symbol| self.entry(symbol).map(|entry| entry.first_holder.get() as usize);
        let Some(start) = first(symbol) else { return Vec::new() };
        let end = first(symbol + 1).unwrap_or(self.head.holders.get() as usize);
        let holder = |place| self.one::<U32>(&self.parts.holders, place);
        (start..end).map_while(holder).map(|holder| holder.get() as usize).collect()
    }

    /// The symbol that records call by this id.
    pub fn with_id(&self, id: u32) -> Option<Listed> {
        let symbols = &self.parts.symbols;
        let place = self.partition::<SymbolEntry>(symbols, |entry| entry.id.get() < id);
        self.entry(place).filter(|entry| entry.id.get() == id)?;
        self.listed(place)
    }

    /// The number of timestamps of all functions, each counted once, that are smaller than this one.
    pub(super) fn earlier(&self, timestamp: u64) -> usize {
        self.partition::<U64>(&self.parts.timestamps, |other| other.get() < timestamp)
    }

    /// A symbol by its place in the list.
    pub fn listed(&self, symbol: usize) -> Option<Listed> {
        let entry = self.entry(symbol)?;
        let before = symbol.checked_sub(1).and_then(|before| self.entry(before));
        let start = before.map_or(0, |before| before.name_end.get() as usize);
        let name = self.bytes(&self.parts.names, start, entry.name_end.get() as usize);
        let (source, inlined) = (entry.source.get() as usize, entry.inlined.get());
        Some(Listed { symbol, name, source, inlined })
    }

    fn entry(&self, symbol: usize) -> Option<SymbolEntry> {
        self.one(&self.parts.symbols, symbol)
    }

    /// The place of the first entry that is not before. The entries are sorted.
    fn partition<T: FromBytes + IntoBytes>(
        &self,
        part: &Range<usize>,
        is_before: impl Fn(T) -> bool,
    ) -> usize {
        let (mut start, mut end) = (0, part.len() / size_of::<T>());
        while start < end {
            let middle = start.midpoint(end);
            match self.one(part, middle).is_some_and(&is_before) {
                true => start = middle + 1,
                false => end = middle,
            }
        }
        start
    }

    /// An entry of a part.
    fn one<T: FromBytes + IntoBytes>(&self, part: &Range<usize>, place: usize) -> Option<T> {
        let start = part.start.checked_add(place.checked_mul(size_of::<T>())?)?;
        let end = start.checked_add(size_of::<T>())?;
        if end > part.end {
            return None;
        }
        let mut entry = T::new_zeroed();
        self.store.read(start, entry.as_mut_bytes());
        Some(entry)
    }

    /// All entries of a part.
    fn all<T: FromBytes>(&self, part: &Range<usize>) -> Vec<T> {
        let bytes = self.bytes(part, 0, part.len());
        bytes
            .chunks_exact(size_of::<T>())
            .filter_map(|entry| T::read_from_bytes(entry).ok())
            .collect()
    }

    /// Bytes of a part; none if it ends before.
    fn bytes(&self, part: &Range<usize>, start: usize, end: usize) -> Vec<u8> {
        if start >= end || end > part.len() {
            return Vec::new();
        }
        let mut bytes = alloc::vec![0; end - start];
        self.store.read(part.start + start, &mut bytes);
        bytes
    }
}

/// The inlined copies around the records of a function.
#[derive(Default)]
struct Copies {
    /// Their symbols, the outermost first.
    around: Vec<usize>,
    /// The depth and the position of the last record with a count.
    counted: Option<(usize, Position)>,
}

impl Copies {
    /// The copy that has a record, and the executions that the record adds to it: a position without a count was
    /// executed as often as it called.
    fn executions(&mut self, record: &Record) -> Option<(usize, u64)> {
        self.around.truncate(record.depth);
        let place = Some((record.depth, record.position));
        let executions = match record.what {
            What::Count(count) => count,
            What::Target { calls, .. } if self.counted != place => calls,
            What::Target { .. } => return None,
            What::Inlined(_) => {
                self.counted = None;
                return None;
            }
        };
        if matches!(record.what, What::Count(_)) {
            self.counted = place;
        }
        self.around.last().map(|&copy| (copy, executions))
    }
}

/// The parts of a catalogue that is being made.
#[derive(Default)]
struct Listing {
    sources: Vec<SourceEntry>,
    symbols: Vec<SymbolEntry>,
    keys: Vec<(u64, u32)>,
    holders: Vec<U32>,
    timestamps: Vec<U64>,
    names: Vec<u8>,
    paths: Vec<u8>,
}

impl Listing {
    /// Lists the symbols of a file.
    fn of(opened: &Opened<'_>, key: impl Fn(&[u8]) -> u64) -> Self {
        let (mut listing, symbols) = (Self::default(), &opened.symbols);
        let unknown = symbols.files().count();
        for path in symbols.files().map(|file| symbols.path(file)).chain([&b""[..]]) {
            listing.paths.extend_from_slice(path);
            let path_end = (listing.paths.len() as u32).into();
            let (first_symbol, behind_symbols) = (u32::MAX.into(), 0.into());
            listing.sources.push(SourceEntry { path_end, first_symbol, behind_symbols });
        }
        let mut places = alloc::vec![(0, 0); symbols.iter().count()];
        for info in &opened.infos {
            places[info.symbol.index()] = info.extent();
        }
        for (place, (id, symbol)) in (0u32..).zip(opened.by_id()) {
            let source = symbols.file_index(symbol).map_or(unknown, |file| file as usize);
            let declaring = &mut listing.sources[source];
            declaring.first_symbol = declaring.first_symbol.get().min(place).into();
            declaring.behind_symbols = (place + 1).into();
            let (name, (start, size)) = (symbols.name(symbol), places[symbol.index()]);
            listing.names.extend_from_slice(name);
            listing.symbols.push(SymbolEntry {
                id: id.into(),
                source: (source as u32).into(),
                name_end: (listing.names.len() as u32).into(),
                size: U32::new(size),
                start: U64::new(start),
                first_holder: 0.into(),
                inlined: 0.into(),
            });
            listing.keys.push((key(name), place));
        }
        listing.keys.sort_unstable();
        listing
    }

    /// Adds what only the counts tell: who has inlined whom, how hot the copies are, and the timestamps.
    fn inlined(&mut self, opened: &Opened<'_>, note: Tell<'_>) {
        let ids = opened.by_id();
        let symbol_of = |id: u32| ids.binary_search_by_key(&id, |&(known, _)| known).ok();
        let mut of_symbol = alloc::vec![0u32; opened.symbols.iter().count()];
        for (place, (_, symbol)) in (0..).zip(&ids) {
            of_symbol[symbol.index()] = place;
        }
        let (mut held, mut timestamps) = (BTreeSet::new(), BTreeSet::new());
        for info in &opened.infos {
            let holder = of_symbol[info.symbol.index()];
            let mut copies = Copies::default();
            opened.records(info, note, |records, tell| {
                timestamps.insert(records.timestamp);
                while let Some(record) = records.next_or_tell(tell) {
                    let record = record?;
                    if let Some((copy, executions)) = copies.executions(&record) {
                        self.symbols[copy].add_inlined(executions);
                    }
                    let (id, is_inlined) = match record.what {
                        What::Count(_) => continue,
                        What::Target { symbol, .. } => (symbol, false),
                        What::Inlined(symbol) => (symbol, true),
                    };
                    let unknown = Finding { offset: record.offset, defect: Defect::SymbolId(id) };
                    let symbol = symbol_of(id).ok_or(unknown)?;
                    if is_inlined {
                        copies.around.push(symbol);
                        held.insert((symbol as u32, holder));
                    }
                }
                Ok(())
            });
        }
        self.timestamps = timestamps.into_iter().map(U64::new).collect();
        self.set_holders(held);
    }

    /// Sets the holders of all symbols, given pairs of a symbol and a holder.
    fn set_holders(&mut self, held: BTreeSet<(u32, u32)>) {
        let mut held = held.into_iter().peekable();
        for (place, entry) in (0..).zip(&mut self.symbols) {
            entry.first_holder = (self.holders.len() as u32).into();
            while let Some((_, holder)) = held.next_if(|&(symbol, _)| symbol == place) {
                self.holders.push(holder.into());
            }
        }
    }

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
