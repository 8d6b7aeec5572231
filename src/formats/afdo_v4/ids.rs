//! Numbers for the symbols and files of a profile. The binary and the text form share them.

use alloc::vec;
use alloc::vec::Vec;

use crate::profile::{Profile, SymbolId, Symbols};
use crate::workers::{Alone, Workers};

/// The symbols that a profile uses, in canonical order. A symbol's id is its place plus 1.
pub struct Ids {
    order: Vec<SymbolId>,
    /// By symbol index; 0 if the profile does not use the symbol.
    ids: Vec<u32>,
}

/// The symbols that one file declares.
pub struct FileSymbols<'s> {
    /// Path of the file, `None` for the unknown one.
    pub path: Option<&'s [u8]>,
    /// Its symbols with their ids, ascending.
    pub symbols: Vec<(u32, SymbolId)>,
}

impl Ids {
    /// Numbers all functions, inlined functions and call targets.
    pub fn new(profile: &Profile) -> Self {
        Self::with(profile, &Alone)
    }

    /// The same with these workers.
    pub fn with(profile: &Profile, workers: &impl Workers) -> Self {
        Self::of(&profile.symbols, &profile.used_symbols_with(workers))
    }

    /// Numbers the symbols that are used: `used` says which, by their index.
    pub fn of(symbols: &Symbols, used: &[bool]) -> Self {
        let is_used = |symbol: &SymbolId| used[symbol.index()];
        let mut order: Vec<SymbolId> = symbols.iter().filter(is_used).collect();
        symbols.sort(&mut order);
        let mut ids = vec![0; used.len()];
        for (id, symbol) in (1..).zip(&order) {
            ids[symbol.index()] = id;
        }
        Self { order, ids }
    }

    /// Id of a symbol.
    pub fn id(&self, symbol: SymbolId) -> u32 {
        self.ids.get(symbol.index()).copied().unwrap_or(0)
    }

    /// The symbols in the order of their ids, which start at 1.
    pub fn symbols(&self) -> impl Iterator<Item = (u32, SymbolId)> {
        (1..).zip(self.order.iter().copied())
    }

    /// The files bytewise, the unknown one last even if it has no symbols.
    pub fn files<'s>(&self, symbols: &'s Symbols) -> Vec<FileSymbols<'s>> {
        let mut files = Vec::<FileSymbols<'s>>::new();
        for (id, symbol) in self.symbols() {
            let path = symbols.declared_in(symbol);
            match files.last_mut() {
                Some(file) if file.path == path => file.symbols.push((id, symbol)),
                _ => files.push(FileSymbols { path, symbols: [(id, symbol)].into() }),
            }
        }
        if files.last().is_none_or(|file| file.path.is_some()) {
            files.push(FileSymbols { path: None, symbols: Vec::new() });
        }
        files
    }
}
