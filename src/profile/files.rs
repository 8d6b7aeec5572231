//! Finds the file of a function that one profile names without it and another with it.
//!
//! Versions 1 and 2 have no files, and version 3 need not have them. A name without a file means the function
//! of that name, if only one of the profiles' functions has it. If several files declare the name it stays
//! apart, as nobody knows whose counts it has. So this has to be the last step, when all symbols are known:
//! then the order of the profiles does not matter.

use alloc::vec::Vec;

use hashbrown::HashMap;

use super::{Profile, SymbolId, Symbols};

/// What each symbol becomes when all are known.
pub struct Found {
    own: Vec<SymbolId>,
    /// Names without a file that several files declare.
    pub ambiguous: usize,
}

impl Found {
    /// The symbol itself, or the symbol of its name that has a file.
    pub fn of(&self, symbol: SymbolId) -> SymbolId {
        self.own[symbol.index()]
    }

    /// Whether any symbol becomes another one.
    pub fn is_any(&self) -> bool {
        self.own.iter().enumerate().any(|(place, own)| own.index() != place)
    }
}

/// The symbols with a given name that have a file.
enum Declared {
    Once(SymbolId),
    Often,
}

impl Symbols {
    /// Looks for the files of names that have none. Only used symbols count: `used` says which, by their
    /// index.
    pub fn find_files(&self, used: &[bool]) -> Found {
        let mut own: Vec<SymbolId> = self.iter().collect();
        let symbols = || self.iter().filter(|symbol| used[symbol.index()]);
        let lacks_file = |symbol: &SymbolId| self.declared_in(*symbol).is_none();
        let mut named: HashMap<&[u8], Option<Declared>> =
            symbols().filter(lacks_file).map(|symbol| (self.name(symbol), None)).collect();
        for symbol in symbols().filter(|symbol| !lacks_file(symbol)) {
            if let Some(declared) = named.get_mut(self.name(symbol)) {
                *declared = Some(match declared {
                    None => Declared::Once(symbol),
                    Some(_) => Declared::Often,
                });
            }
        }
        let mut ambiguous = 0;
        for symbol in symbols().filter(lacks_file) {
            match named.get(self.name(symbol)) {
                Some(Some(Declared::Once(declared))) => own[symbol.index()] = *declared,
                Some(Some(Declared::Often)) => ambiguous += 1,
                _ => {}
            }
        }
        Found { own, ambiguous }
    }
}

impl Profile {
    /// Gives each name without a file the file of the only function of that name, and adds the two. Gives the
    /// number of names that stay because several files declare them.
    pub fn find_files(&mut self) -> usize {
        let found = self.symbols.find_files(&self.used_symbols());
        if found.is_any() {
            self.replace_symbols(|symbol| found.of(symbol));
        }
        found.ambiguous
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Function, Position, Record};

    #[test]
    fn the_only_function_of_a_name_has_its_file() {
        let mut profile = Profile::default();
        let files = [b"a.c", b"b.c"].map(|path| profile.symbols.file(path));
        let f = profile.symbols.symbol(b"f", None);
        let f_of_a = profile.symbols.symbol(b"f", Some(files[0]));
        let [g, h] = [b"g", b"h"].map(|name| profile.symbols.symbol(name, None));
        let g_of = files.map(|file| profile.symbols.symbol(b"g", Some(file)));
        // Nothing uses this symbol.
        profile.symbols.symbol(b"f", Some(files[1]));
        for (symbol, head_count) in
            [(f, 1), (f_of_a, 2), (g, 4), (h, 8), (g_of[0], 0), (g_of[1], 0)]
        {
            let mut function = Function { head_count, ..Function::default() };
            let targets = [(f, 1), (f_of_a, 1)].into_iter().collect();
            let record = Record { targets, ..Record::default() };
            function.body.positions.insert(Position::line(1), record);
            profile.add(symbol, function);
        }
        assert_eq!(profile.find_files(), 1);
        let heads: Vec<_> = profile.functions.iter().map(|(&s, f)| (s, f.head_count)).collect();
        let calls = |symbol| profile.functions[&symbol].body.positions[&Position::line(1)].clone();
        assert_eq!(heads, [(f_of_a, 3), (g, 4), (h, 8), (g_of[0], 0), (g_of[1], 0)]);
        assert_eq!(calls(f_of_a).targets.iter().collect::<Vec<_>>(), [(&f_of_a, &4)]);
        assert_eq!(calls(h).targets.iter().collect::<Vec<_>>(), [(&f_of_a, &2)]);
        assert_eq!(profile.find_files(), 1);
    }
}
