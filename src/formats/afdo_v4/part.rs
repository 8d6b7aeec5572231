//! A part of a file as a profile: some of its functions, and only the symbols that they use.

use alloc::vec::Vec;
use core::mem;

use hashbrown::{HashMap, HashSet};

use super::body::body;
use super::check::{Defect, Finding, Findings};
use super::lookup::{self, Source};
use super::records::Records;
use super::trie;
use crate::profile::{Function, Profile, Summary, SymbolId};

/// Functions of a file.
#[derive(Clone, Debug)]
pub struct Part {
    /// The profile with these functions alone.
    pub profile: Profile,
    /// The summary of the whole file, as it stands there.
    pub summary: Summary,
    /// Defects that were tolerated.
    pub findings: Findings,
}

/// Reads the functions that `wanted` accepts, from the sources that `from` accepts.
pub fn decode(
    bytes: &[u8],
    from: impl Fn(&[u8]) -> bool,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<Part, Finding> {
    let file = lookup::Profile::open(bytes)?;
    let mut owned = HashSet::new();
    for source in file.sources() {
        for section in [source.string_table, source.symbol_names] {
            if !owned.insert(section) {
                let defect = Defect::SharedSection(section);
                return Err(Finding { offset: source.offset, defect });
            }
        }
    }
    let mut reader = Reader {
        file: &file,
        profile: Profile::default(),
        symbols: HashMap::new(),
        owned,
        shared_bytes_left: bytes.len() as u64,
        string_bytes_left: trie::most_bytes(bytes.len()),
        findings: Findings::default(),
    };
    for source in file.sources().iter().filter(|source| from(source.path)) {
        reader.source(source, &wanted)?;
    }
    let (profile, findings) = (reader.profile, reader.findings);
    Ok(Part { profile, summary: file.summary()?, findings })
}

struct Reader<'a> {
    file: &'a lookup::Profile<'a>,
    profile: Profile,
    /// By id. It has all symbols of a source or none.
    symbols: HashMap<u32, SymbolId>,
    /// Sections that belong to a source or a function.
    owned: HashSet<u32>,
    /// Bytes of info sections that further symbols may still make us read again (D19).
    shared_bytes_left: u64,
    string_bytes_left: usize,
    findings: Findings,
}

impl<'a> Reader<'a> {
    fn source(
        &mut self,
        source: &Source<'a>,
        wanted: &impl Fn(&[u8]) -> bool,
    ) -> Result<(), Finding> {
        let (mut strings, mut numbers) = (self.file.strings(source)?, Vec::new());
        while let Some((number, name)) = strings.next()? {
            if wanted(name) {
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        if numbers.is_empty() {
            return Ok(());
        }
        for symbol in self.file.symbols(source)? {
            let symbol = symbol?;
            let Some(info) = symbol.info.filter(|_| numbers.binary_search(&symbol.string).is_ok())
            else {
                continue;
            };
            let function_symbol = self.symbol(symbol.id)?;
            self.own(source.offset, info)?;
            let records = self.file.records(info)?;
            let function = self.function(records)?;
            self.profile.add(function_symbol, function);
        }
        Ok(())
    }

    /// Several symbols may share a section, as aliases do, but not without limit.
    fn own(&mut self, offset: u64, info: u32) -> Result<(), Finding> {
        if !self.owned.insert(info) {
            let left = self.shared_bytes_left.checked_sub(self.file.size(info));
            let shared = Finding { offset, defect: Defect::SharedSection(info) };
            self.shared_bytes_left = left.ok_or(shared)?;
        }
        Ok(())
    }

    fn function(&mut self, mut records: Records<'_>) -> Result<Function, Finding> {
        let (head_count, timestamp) = (records.head_count, records.timestamp);
        let mut findings = mem::take(&mut self.findings);
        let mut note = |finding| _ = findings.note(finding);
        let body = body(&mut records, &mut note, |id| self.symbol(id))?;
        self.findings = findings;
        Ok(Function { head_count, timestamp, body })
    }

    /// The symbol with an id. All symbols of its source become known at once.
    fn symbol(&mut self, id: u32) -> Result<SymbolId, Finding> {
        if let Some(&symbol) = self.symbols.get(&id) {
            return Ok(symbol);
        }
        let unknown = Finding { offset: 0, defect: Defect::SymbolId(id) };
        let source = self.file.source_of(id).ok_or(unknown)?;
        let (mut strings, mut names) = (self.file.strings(source)?, HashMap::new());
        while let Some((number, name)) = strings.next()? {
            let left = self.string_bytes_left.checked_sub(name.len());
            let bomb = Finding { offset: source.offset, defect: Defect::Trie };
            self.string_bytes_left = left.ok_or(bomb)?;
            names.insert(number, name.to_vec());
        }
        let path = (!source.path.is_empty()).then(|| self.profile.symbols.file(source.path));
        for symbol in self.file.symbols(source)? {
            let symbol = symbol?;
            if let Some(name) = names.get(&symbol.string) {
                let own = self.profile.symbols.symbol(name, path);
                self.symbols.insert(symbol.id, own);
            }
        }
        self.symbols.get(&id).copied().ok_or(unknown)
    }
}
