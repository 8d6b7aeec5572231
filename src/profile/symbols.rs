//! Names of functions and of the files that declare them.

use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::hash::BuildHasher;
use core::mem;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::RareMap;

/// A symbol of one [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(u32);

impl SymbolId {
    /// The symbol's index among the symbols.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file of one [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

impl FileId {
    /// The file's index among the files.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All symbols of a profile, each once, known by name and declaring file.
///
/// Names are bytes: assembler names in whatever encoding the compiler used.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    files: Vec<Vec<u8>>,
    file_ids: HashTable<FileId>,
    /// The names of all symbols, one after the other.
    names: Vec<u8>,
    symbols: Vec<Symbol>,
    symbol_ids: HashTable<SymbolId>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    /// Where this symbol's name ends and the next one's starts.
    end: usize,
    file: Option<FileId>,
    /// Line of the declaration, 0 if unknown. Not part of what the symbol is known by.
    line: u32,
}

/// Names symbols without a known file while others read those that there are. [`Symbols::add`] adds them in the end.
#[derive(Debug)]
pub struct Newcomers<'s> {
    known: &'s Symbols,
    names: Vec<Vec<u8>>,
    ids: HashMap<Vec<u8>, SymbolId>,
}

impl<'s> Newcomers<'s> {
    /// None yet, beside these symbols.
    pub fn beside(known: &'s Symbols) -> Self {
        Self { known, names: Vec::new(), ids: HashMap::new() }
    }

    /// The symbol that this name has, or will have.
    pub fn symbol(&mut self, name: Vec<u8>) -> SymbolId {
        if let Some(id) = self.known.find(&name) {
            return id;
        }
        let next = SymbolId((self.known.symbols.len() + self.names.len()) as u32);
        *self.ids.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }

    /// The names for [`Symbols::add`].
    pub fn names(self) -> Vec<Vec<u8>> {
        self.names
    }
}

impl Symbols {
    /// The file with this path.
    pub fn file(&mut self, path: &[u8]) -> FileId {
        let hash = self.hasher.hash_one(path);
        if let Some(&id) = self.file_ids.find(hash, |&id| self.path(id) == path) {
            return id;
        }
        let id = FileId(self.files.len() as u32);
        self.files.push(path.to_vec());
        let mut ids = mem::take(&mut self.file_ids);
        ids.insert_unique(hash, id, |&id| self.hasher.hash_one(self.path(id)));
        self.file_ids = ids;
        id
    }

    /// The symbol with this name, declared in `file`, or in a file nobody knows.
    pub fn symbol(&mut self, name: &[u8], file: Option<FileId>) -> SymbolId {
        let hash = self.hasher.hash_one((name, file));
        let is_it = |&id: &SymbolId| (self.name(id), self.symbols[id.index()].file) == (name, file);
        if let Some(&id) = self.symbol_ids.find(hash, is_it) {
            return id;
        }
        let id = SymbolId(self.symbols.len() as u32);
        self.names.extend_from_slice(name);
        self.symbols.push(Symbol { end: self.names.len(), file, line: 0 });
        let mut ids = mem::take(&mut self.symbol_ids);
        ids.insert_unique(hash, id, |&id| {
            self.hasher.hash_one((self.name(id), self.symbols[id.index()].file))
        });
        self.symbol_ids = ids;
        id
    }

    /// The symbol with this name and no known file, if there is one.
    fn find(&self, name: &[u8]) -> Option<SymbolId> {
        let hash = self.hasher.hash_one((name, None::<FileId>));
        let is_it =
            |&id: &SymbolId| self.name(id) == name && self.symbols[id.index()].file.is_none();
        self.symbol_ids.find(hash, is_it).copied()
    }

    /// Adds newcomers to the symbols that they were named beside.
    pub fn add(&mut self, names: Vec<Vec<u8>>) {
        for name in names {
            self.symbol(&name, None);
        }
    }

    /// Path of a file.
    pub fn path(&self, file: FileId) -> &[u8] {
        &self.files[file.index()]
    }

    /// Name of a symbol.
    pub fn name(&self, symbol: SymbolId) -> &[u8] {
        let before = symbol.index().checked_sub(1);
        let start = before.map_or(0, |before| self.symbols[before].end);
        &self.names[start..self.symbols[symbol.index()].end]
    }

    /// Path of the file that declares a symbol, `None` if unknown.
    pub fn declared_in(&self, symbol: SymbolId) -> Option<&[u8]> {
        self.symbols[symbol.index()].file.map(|file| self.path(file))
    }

    /// The place of that file among the files.
    pub(crate) fn file_index(&self, symbol: SymbolId) -> Option<u32> {
        self.symbols[symbol.index()].file.map(|file| file.0)
    }

    /// The line of the file that declares a symbol at which it does so, `None` if unknown. No format has it: a
    /// profile knows it only if it was just made from a dump.
    pub fn declaration_line(&self, symbol: SymbolId) -> Option<u32> {
        Some(self.symbols[symbol.index()].line).filter(|&line| line != 0)
    }

    /// Says at which line a symbol is declared.
    pub fn set_declaration_line(&mut self, symbol: SymbolId, line: u32) {
        self.symbols[symbol.index()].line = line;
    }

    /// Bytes of all names.
    pub const fn name_bytes(&self) -> usize {
        self.names.len()
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

    /// Sorts symbols into the order of canonical output. For many symbols this is faster than comparing
    /// paths.
    pub fn sort(&self, symbols: &mut [SymbolId]) {
        let mut files: Vec<FileId> = self.files().collect();
        files.sort_unstable_by_key(|&file| self.path(file));
        let mut ranks = vec![0; files.len()];
        for (rank, file) in files.into_iter().enumerate() {
            ranks[file.index()] = rank;
        }
        symbols.sort_unstable_by_key(|&symbol| {
            let file = self.symbols[symbol.index()].file;
            (file.map_or(usize::MAX, |file| ranks[file.index()]), self.name(symbol))
        });
    }

    /// The entries of a map, in the order of canonical output.
    pub fn sorted<'m, T>(&self, map: &'m RareMap<SymbolId, T>) -> Vec<(SymbolId, &'m T)> {
        let mut sorted: Vec<_> = map.iter().map(|(&symbol, value)| (symbol, value)).collect();
        sorted.sort_by(|a, b| self.canonical_order(a.0, b.0));
        sorted
    }

    /// Takes in all symbols of another collection; says which symbols stand for them here.
    pub fn adopt_all(&mut self, other: &Self) -> Adopted {
        let adopt = |symbol| {
            let file = other.declared_in(symbol).map(|path| self.file(path));
            let here = self.symbol(other.name(symbol), file);
            if let Some(line) = other.declaration_line(symbol) {
                self.set_declaration_line(here, line);
            }
            here
        };
        Adopted(other.iter().map(adopt).collect())
    }
}

/// Which symbols of one collection stand for those of another.
pub struct Adopted(Vec<SymbolId>);

impl Adopted {
    /// The symbol that stands for this one.
    pub fn of(&self, symbol: SymbolId) -> SymbolId {
        self.0[symbol.index()]
    }

    /// The symbols of the other collection, each with the symbol that stands for it.
    pub fn symbols(&self) -> impl Iterator<Item = (SymbolId, SymbolId)> {
        (0..).map(SymbolId).zip(self.0.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_known_by_name_and_file() {
        let mut symbols = Symbols::default();
        let files = [None, Some(symbols.file(b"z.c")), Some(symbols.file(b"a.c"))];
        assert_eq!(symbols.file(b"z.c"), files[1].unwrap());
        let mut all = Vec::new();
        for name in [b"run".as_slice(), b"", b"r", b"unrelated"] {
            for file in files {
                let symbol = symbols.symbol(name, file);
                assert_eq!(symbols.symbol(name, file), symbol);
                assert_eq!(symbols.name(symbol), name);
                assert_eq!(symbols.declared_in(symbol), file.map(|file| symbols.path(file)));
                all.push(symbol);
            }
        }
        assert_eq!(symbols.iter().count(), 12);
        let mut sorted = all.clone();
        symbols.sort(&mut sorted);
        all.sort_by(|&a, &b| symbols.canonical_order(a, b));
        assert_eq!(sorted, all);
        assert_eq!(symbols.declared_in(sorted[0]), Some(b"a.c".as_slice()));
        assert_eq!(symbols.declared_in(sorted[11]), None);
    }

    /// Functions of two files may have one name.
    #[test]
    fn newcomers_of_one_name_are_one_symbol() {
        let mut symbols = Symbols::default();
        let known = symbols.symbol(b"known", None);
        let mut newcomers = Newcomers::beside(&symbols);
        let named = [b"one", b"two", b"one"].map(|name| newcomers.symbol(name.to_vec()));
        assert_eq!(newcomers.symbol(b"known".to_vec()), known);
        assert_eq!(named[0], named[2]);
        let names = newcomers.names();
        symbols.add(names);
        assert_eq!(named.map(|id| symbols.name(id)), [b"one", b"two", b"one"]);
    }
}
