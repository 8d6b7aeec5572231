//! Names as the readers of each version see them.
//!
//! GCC 10 to 15 know functions by name alone, cut at the first dot. GCC 16 strips what it appends to the
//! names of clones, and also asks for the base name of the declaring file. If two files have one base name,
//! it forgets the first. It adds up functions of equal name even if their files differ, unless `.lto_priv.N`
//! keeps them apart. But it does not find inlined copies of a function whose name ends so, and then inlines
//! the function as if the profile had no copy. So of functions with one name, the one with the hottest copies
//! keeps it:
//!
//! ```text
//! parse of a.c, copies executed 1000 times        parse
//! parse of b.c, copies executed 10 times          parse.lto_priv.1
//! ```

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use crate::profile::{Body, Profile, Summary, SymbolId, Symbols};

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
    pub fn of_profile(profile: &Profile, old: &[SymbolId], rule: Names) -> Self {
        let whole = match rule {
            Names::WithFiles => OfWhole::of(profile, old),
            Names::Whole | Names::CutAtDot => OfWhole::default(),
        };
        Self::of_part(&profile.symbols, old, &whole, rule)
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

    /// The new symbol of an old one that was given for renaming. Any other one stays.
    pub fn of(&self, old: SymbolId) -> SymbolId {
        self.of.get(old.index()).copied().flatten().unwrap_or(old)
    }

    fn with_files(&mut self, symbols: &Symbols, old: &[SymbolId], of_whole: &OfWhole<'_>) {
        let files = Files::new(symbols, old, of_whole);
        for &symbol in old {
            let name = without_clones(symbols.name(symbol));
            let declared = &files.declaring[name];
            let hottest = hottest(declared);
            let file = symbols.declared_in(symbol).map(|path| files.first_alike(path));
            let file = file.or(hottest);
            let is_known = |file: &&[u8]| declared.len() > 1 || files.is_alone(file);
            let known = file.filter(is_known).map(|file| self.symbols.file(file));
            let number = file.and_then(|file| declared.keys().position(|&other| other == file));
            let new = match number.filter(|_| file != hottest) {
                Some(number) => {
                    let name = [name, format!(".lto_priv.{number}").as_bytes()].concat();
                    self.symbols.symbol(&name, known)
                }
                None => self.symbols.symbol(name, known),
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
    /// All functions that have names of the part.
    pub namesakes: Vec<Namesake<'w>>,
}

/// A function that may share its name with others.
#[derive(Clone, Copy, Debug)]
pub struct Namesake<'w> {
    /// The name.
    pub name: &'w [u8],
    /// The source that declares it; empty if that is unknown.
    pub path: &'w [u8],
    /// Sum of the counts in its inlined copies.
    pub inlined: u64,
}

impl<'w> OfWhole<'w> {
    /// The functions of a whole profile. Summary and paths are taken from the profile later.
    pub fn of(profile: &'w Profile, used: &[SymbolId]) -> Self {
        let mut inlined = vec![0; profile.symbols.iter().count()];
        for function in profile.functions.values() {
            add_inlined(&function.body, None, &mut inlined);
        }
        let namesake = |&symbol: &SymbolId| Namesake {
            name: profile.symbols.name(symbol),
            path: profile.symbols.declared_in(symbol).unwrap_or_default(),
            inlined: inlined[symbol.index()],
        };
        Self { namesakes: used.iter().map(namesake).collect(), ..Self::default() }
    }
}

/// Adds the counts of a body, which is that of an inlined copy of `of`, and of those inlined there.
fn add_inlined(body: &Body, of: Option<SymbolId>, sums: &mut [u64]) {
    for record in body.positions.values() {
        if let Some(of) = of {
            let sum = &mut sums[of.index()];
            *sum = sum.saturating_add(record.executions().unwrap_or(0));
        }
        for (&callee, inlined) in &record.inlined {
            add_inlined(inlined, Some(callee), sums);
        }
    }
}

/// The file whose function has the hottest inlined copies, the first of equal ones.
fn hottest<'s>(declaring: &BTreeMap<&'s [u8], u64>) -> Option<&'s [u8]> {
    let last_of_equals = declaring.iter().rev().max_by_key(|&(_, inlined)| inlined);
    last_of_equals.map(|(&file, _)| file)
}

/// Files. Those of one base name count as one, and the first stands for all.
struct Files<'s> {
    /// By base name.
    alike: BTreeMap<&'s [u8], BTreeSet<&'s [u8]>>,
    /// Files that declare a name, and the sum of the counts in inlined copies of their functions.
    declaring: BTreeMap<&'s [u8], BTreeMap<&'s [u8], u64>>,
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
        for &symbol in old {
            let path = symbols.declared_in(symbol).unwrap_or_default();
            files.declare(Namesake { name: symbols.name(symbol), path, inlined: 0 });
        }
        of_whole.namesakes.iter().for_each(|&namesake| files.declare(namesake));
        files
    }

    fn declare(&mut self, Namesake { name, path, inlined }: Namesake<'s>) {
        let path = self.first_alike(path);
        let declaring = self.declaring.entry(without_clones(name)).or_default();
        if !path.is_empty() {
            let sum = declaring.entry(path).or_default();
            *sum = sum.saturating_add(inlined);
        }
    }

    /// Whether no other file has its base name.
    fn is_alone(&self, file: &[u8]) -> bool {
        self.alike.get(base_name(file)).is_none_or(|files| files.len() == 1)
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
