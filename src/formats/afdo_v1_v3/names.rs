//! Names as the readers of each version see them.
//!
//! GCC 10 to 15 know functions by name alone, cut at the first dot. GCC 16 strips what it appends to the
//! names of clones, and also asks for the base name of the declaring file. If two files have one base name,
//! it forgets the first. It adds up functions of equal name even if their files differ, unless `.lto_priv.N`
//! keeps them apart.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::profile::{Summary, SymbolId, Symbols};

/// What GCC 16 strips from names, with the number behind it.
const CLONES: [&[u8]; 5] = [b".isra", b".constprop", b".lto_priv", b".part", b".cold"];

/// What a reader makes of names. The first rule tells most of them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Names {
    /// It takes them as they are.
    Whole,
    /// It strips suffixes of clones and compares files.
    WithFiles,
    /// It cuts them at the first dot.
    CutAtDot,
}

impl Names {
    /// The part of a name that the reader compares.
    pub fn of(self, name: &[u8]) -> &[u8] {
        match self {
            Self::CutAtDot => cut(name),
            Self::WithFiles => without_clones(name),
            Self::Whole => name,
        }
    }
}

/// A name without the number that makes it the only one in its object, such as that in `add.5`.
pub fn without_number(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    match name[..name.len() - digits].split_last() {
        Some((b'.', before)) if digits > 0 => before,
        _ => name,
    }
}

/// Symbols of a profile, renamed for a reader.
pub struct Renaming {
    /// The new symbols.
    pub symbols: Symbols,
    /// The new symbol of each old one, by the old one's index.
    of: Vec<Option<SymbolId>>,
}

impl Renaming {
    /// Renames the symbols `old` of a profile.
    pub fn new(symbols: &Symbols, old: &[SymbolId], rule: Names) -> Self {
        Self::of_part(symbols, old, &OfWhole::default(), rule)
    }

    /// The same for a part of a profile.
    pub fn of_part(
        symbols: &Symbols,
        old: &[SymbolId],
        of_whole: &OfWhole<'_>,
        rule: Names,
    ) -> Self {
        let indexes = old.iter().map(|symbol| symbol.index() + 1).max().unwrap_or(0);
        let mut renaming = Self { symbols: Symbols::default(), of: vec![None; indexes] };
        let plain = |name: fn(&[u8]) -> &[u8], renaming: &mut Self| {
            for &symbol in old {
                let new = renaming.symbols.symbol(name(symbols.name(symbol)), None);
                renaming.of[symbol.index()] = Some(new);
            }
        };
        match rule {
            Names::Whole => plain(|name| name, &mut renaming),
            Names::CutAtDot => plain(cut, &mut renaming),
            Names::WithFiles => renaming.with_files(symbols, old, of_whole),
        }
        renaming
    }

    /// The new symbol of an old one that was given to [`Renaming::new`]. Any other one stays.
    pub fn of(&self, old: SymbolId) -> SymbolId {
        self.of.get(old.index()).copied().flatten().unwrap_or(old)
    }

    fn with_files(&mut self, symbols: &Symbols, old: &[SymbolId], of_whole: &OfWhole<'_>) {
        let files = Files::new(symbols, old, of_whole);
        for &symbol in old {
            let name = without_clones(symbols.name(symbol));
            let declared = &files.declaring[name];
            let file = symbols.declared_in(symbol).map(|path| files.first_alike(path));
            // A name without a file stands for that of the only file with such a name.
            let file = file.or(declared.first().copied().filter(|_| declared.len() == 1));
            let new = match file.and_then(|file| declared.iter().position(|&other| other == file)) {
                Some(number) if declared.len() > 1 => {
                    let name = [name, format!(".lto_priv.{number}").as_bytes()].concat();
                    let file = file.map(|file| self.symbols.file(file));
                    self.symbols.symbol(&name, file)
                }
                _ => {
                    let file = file.filter(|file| files.alike[base_name(file)].len() == 1);
                    let file = file.map(|file| self.symbols.file(file));
                    self.symbols.symbol(name, file)
                }
            };
            self.of[symbol.index()] = Some(new);
        }
    }
}

/// What a part of a profile has from the whole one.
#[derive(Clone, Debug, Default)]
pub struct OfWhole<'w> {
    /// The summary.
    pub summary: Summary,
    /// Paths of sources. A reader that knows them by base names alone cannot tell some of them apart.
    pub paths: Vec<&'w [u8]>,
    /// Functions of other sources that have names of the part, and these sources.
    pub namesakes: Vec<(&'w [u8], &'w [u8])>,
}

/// Files. Those of one base name count as one, and the first stands for all.
struct Files<'s> {
    /// By base name.
    alike: BTreeMap<&'s [u8], BTreeSet<&'s [u8]>>,
    /// Files that declare a name.
    declaring: BTreeMap<&'s [u8], BTreeSet<&'s [u8]>>,
}

impl<'s> Files<'s> {
    /// The files of these symbols, and those of the whole profile.
    fn new(symbols: &'s Symbols, old: &[SymbolId], of_whole: &OfWhole<'s>) -> Self {
        let mut files = Self { alike: BTreeMap::new(), declaring: BTreeMap::new() };
        let of_old = old.iter().filter_map(|&symbol| symbols.declared_in(symbol));
        let more = of_whole.paths.iter().copied().filter(|path| !path.is_empty());
        for path in of_old.chain(more) {
            files.alike.entry(base_name(path)).or_default().insert(path);
        }
        let own = old.iter().map(|&symbol| (symbols.name(symbol), symbols.declared_in(symbol)));
        let of_its_name = of_whole.namesakes.iter().map(|&(name, path)| (name, Some(path)));
        for (name, path) in own.chain(of_its_name) {
            let path = path.filter(|path| !path.is_empty()).map(|path| files.first_alike(path));
            files.declaring.entry(without_clones(name)).or_default().extend(path);
        }
        files
    }

    fn first_alike(&self, path: &'s [u8]) -> &'s [u8] {
        self.alike.get(base_name(path)).and_then(BTreeSet::first).copied().unwrap_or(path)
    }
}

fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

/// A name cut at its first dot, but not at one that begins it: that would leave an empty name, which kills
/// the readers.
pub fn cut(name: &[u8]) -> &[u8] {
    let dot = name.iter().skip(1).position(|&byte| byte == b'.');
    &name[..dot.map_or(name.len(), |dot| dot + 1)]
}

/// A name without the suffixes of clones.
pub fn without_clones(mut name: &[u8]) -> &[u8] {
    while let Some(shorter) = CLONES.iter().find_map(|suffix| without(name, suffix)) {
        name = shorter;
    }
    name
}

/// A name without the number that keeps it apart from equal names of other files.
pub fn without_lto_priv(name: &[u8]) -> &[u8] {
    without(name, b".lto_priv").unwrap_or(name)
}

/// A name without a suffix and its number; `.cold` also comes without a number.
fn without<'n>(name: &'n [u8], suffix: &[u8]) -> Option<&'n [u8]> {
    let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let numbered = name[..name.len() - digits].strip_suffix(b".").filter(|_| digits > 0);
    let shorter = numbered.unwrap_or(name).strip_suffix(suffix)?;
    let is_clone = numbered.is_some() || suffix == b".cold";
    (is_clone && !shorter.is_empty()).then_some(shorter)
}

/// The symbols in the order of name tables: by name, then by file, those without one last.
pub fn sort(symbols: &Symbols, order: &mut [SymbolId]) {
    let key = |&symbol: &SymbolId| {
        let file = symbols.declared_in(symbol);
        (symbols.name(symbol), file.is_none(), file)
    };
    order.sort_by(|a, b| key(a).cmp(&key(b)));
}

/// Paths of the files of symbols, bytewise.
pub fn files<'s>(symbols: &'s Symbols, of: &[SymbolId]) -> Vec<&'s [u8]> {
    let files: BTreeSet<&[u8]> = of.iter().filter_map(|&s| symbols.declared_in(s)).collect();
    files.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes() {
        for (name, stripped, cut_off) in [
            ("f", "f", "f"),
            ("f.constprop.0", "f", "f"),
            ("f.constprop.0.isra.12", "f", "f"),
            ("f.isra.0.cold", "f", "f"),
            ("f.cold.7", "f", "f"),
            ("f.part", "f.part", "f"),
            ("f.llvm.123", "f.llvm.123", "f"),
            ("f.constprop.", "f.constprop.", "f"),
            (".isra.0", ".isra.0", ".isra"),
            ("a.b.lto_priv.3", "a.b", "a"),
        ] {
            assert_eq!(without_clones(name.as_bytes()), stripped.as_bytes());
            assert_eq!(cut(name.as_bytes()), cut_off.as_bytes());
        }
    }
}
