//! Names of functions and of the files that declare them.

use alloc::vec::Vec;
use core::cmp::Ordering;

use hashbrown::HashMap;

/// A symbol of one [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(u32);

impl SymbolId {
    /// Its place among the symbols.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file of one [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// All symbols of a profile, each once, known by name and declaring file.
///
/// Names are bytes: assembler names in whatever encoding the compiler used.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    files: Vec<Vec<u8>>,
    file_ids: HashMap<Vec<u8>, FileId>,
    symbols: Vec<(Vec<u8>, Option<FileId>)>,
    symbol_ids: HashMap<(Vec<u8>, Option<FileId>), SymbolId>,
}

impl Symbols {
    /// The file with this path.
    pub fn file(&mut self, path: &[u8]) -> FileId {
        if let Some(&id) = self.file_ids.get(path) {
            return id;
        }
        let id = FileId(self.files.len() as u32);
        self.files.push(path.to_vec());
        self.file_ids.insert(path.to_vec(), id);
        id
    }

    /// The symbol with this name, declared in `file`, or in a file nobody knows.
    pub fn symbol(&mut self, name: &[u8], file: Option<FileId>) -> SymbolId {
        let key = (name.to_vec(), file);
        if let Some(&id) = self.symbol_ids.get(&key) {
            return id;
        }
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(key.clone());
        self.symbol_ids.insert(key, id);
        id
    }

    /// Path of a file.
    pub fn path(&self, file: FileId) -> &[u8] {
        &self.files[file.0 as usize]
    }

    /// Name of a symbol.
    pub fn name(&self, symbol: SymbolId) -> &[u8] {
        &self.symbols[symbol.0 as usize].0
    }

    /// Path of the file that declares a symbol, `None` if unknown.
    pub fn declared_in(&self, symbol: SymbolId) -> Option<&[u8]> {
        self.symbols[symbol.0 as usize].1.map(|file| self.path(file))
    }

    /// All symbols, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = SymbolId> + use<> {
        (0..self.symbols.len() as u32).map(SymbolId)
    }

    /// All files, in no particular order.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..self.files.len() as u32).map(FileId)
    }

    /// The order of canonical output: by file, symbols without one last, then by name; bytewise.
    pub fn canonical_order(&self, a: SymbolId, b: SymbolId) -> Ordering {
        let files = match (self.declared_in(a), self.declared_in(b)) {
            (Some(a), Some(b)) => a.cmp(b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        };
        files.then_with(|| self.name(a).cmp(self.name(b)))
    }

    /// Takes in all symbols of another collection; gives those that stand for them here.
    pub fn adopt_all(&mut self, other: &Self) -> Adopted {
        let adopt = |symbol| {
            let file = other.declared_in(symbol).map(|path| self.file(path));
            self.symbol(other.name(symbol), file)
        };
        Adopted(other.iter().map(adopt).collect())
    }
}

/// What the symbols of one collection are in another.
pub struct Adopted(Vec<SymbolId>);

impl Adopted {
    /// What a symbol is there.
    pub fn of(&self, symbol: SymbolId) -> SymbolId {
        self.0[symbol.index()]
    }
}
