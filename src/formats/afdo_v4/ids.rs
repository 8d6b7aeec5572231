//! Numbers for the symbols and files of a profile, as binary and text form share them.

use alloc::vec;
use alloc::vec::Vec;

use crate::profile::{Body, Profile, SymbolId};

/// The symbols a profile speaks of, in canonical order; their place plus 1 is their id.
pub struct Ids<'p> {
    profile: &'p Profile,
    order: Vec<SymbolId>,
    /// By the place of the symbol; 0 if the profile does not speak of it.
    ids: Vec<u32>,
}

/// The symbols that one file declares.
pub struct FileSymbols<'p> {
    /// Path of the file, `None` for the unknown one.
    pub path: Option<&'p [u8]>,
    /// Its symbols with their ids, ascending.
    pub symbols: Vec<(u32, SymbolId)>,
}

impl<'p> Ids<'p> {
    /// Numbers all functions, inlined functions and call targets.
    pub fn new(profile: &'p Profile) -> Self {
        let mut ids = vec![0; profile.symbols.iter().count()];
        for (&symbol, function) in &profile.functions {
            ids[symbol.index()] = 1;
            collect(&function.body, &mut ids);
        }
        let is_used = |symbol: &SymbolId| ids[symbol.index()] != 0;
        let mut order: Vec<SymbolId> = profile.symbols.iter().filter(is_used).collect();
        profile.symbols.sort(&mut order);
        for (id, symbol) in (1..).zip(&order) {
            ids[symbol.index()] = id;
        }
        Self { profile, order, ids }
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
    pub fn files(&self) -> Vec<FileSymbols<'p>> {
        let mut files = Vec::<FileSymbols<'p>>::new();
        for (id, symbol) in self.symbols() {
            let path = self.profile.symbols.declared_in(symbol);
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

fn collect(body: &Body, ids: &mut [u32]) {
    for record in body.positions.values() {
        record.targets.keys().for_each(|target| ids[target.index()] = 1);
        for (callee, body) in &record.inlined {
            ids[callee.index()] = 1;
            collect(body, ids);
        }
    }
}
