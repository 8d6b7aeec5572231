//! The names that a compilation of C or C++ can define, by its preprocessed source.
//!
//! gcc looks a function up by its name in the object file. The identifiers that such a name is made of stand in the
//! source after preprocessing, whichever header or macro they come from: `_ZN5store3addEi` needs `store` and `add`.
//! So a function whose identifiers are not all there cannot be looked up. [`Identifiers::may_define`] errs on one
//! side: where a name says too little, it may be defined.

use std::hash::{BuildHasherDefault, Hasher};
use std::prelude::v1::*;

use hashbrown::HashSet;

/// Identifiers of one or several preprocessed sources, and the files that they were in.
#[derive(Debug, Default)]
pub struct Identifiers {
    /// Hashes of the identifiers.
    words: HashSet<u64, BuildHasherDefault<AsItIs>>,
    /// Base names of the files that line markers name.
    files: HashSet<Vec<u8>>,
}

/// The hash of something that is one.
#[derive(Debug, Default)]
struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Identifiers {
    /// Adds those of a preprocessed source.
    pub fn add(&mut self, text: &[u8]) {
        for line in text.split(|&byte| byte == b'\n') {
            if let Some(path) = marked(line) {
                self.files.insert(base_name(path).to_vec());
                continue;
            }
            // Strings may have names, too: those of `__asm__("name")`.
            let words = line.split(|&byte| !is_of_word(byte)).filter(|word| !word.is_empty());
            self.words.extend(words.map(hash));
        }
    }

    /// Whether a function of this name may be defined.
    pub fn may_define(&self, name: &[u8]) -> bool {
        parts(name).all(|part| self.words.contains(&hash(part)))
    }

    /// Whether the source, or a file that it includes, has the base name of this path.
    pub fn come_from(&self, path: &[u8]) -> bool {
        self.files.contains(base_name(path))
    }
}

/// The key of a function's name, to find it in a list: a hash of the longest identifier in it, which few others have.
/// It is the same with suffixes of copies (`f.part.0`).
pub fn key(name: &[u8]) -> u64 {
    parts(name).max_by_key(|part| part.len()).map_or(0, hash)
}

/// The path in a line marker: `# 12 "a.h" 1`.
fn marked(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(b"# ")?;
    let quoted = rest.iter().position(|&byte| byte == b'"')?;
    let is_number = rest[..quoted].trim_ascii_end().iter().all(u8::is_ascii_digit);
    let path = &rest[quoted + 1..];
    let end = path.iter().rposition(|&byte| byte == b'"')?;
    is_number.then_some(&path[..end])
}

/// The last part of a path.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
}

const fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

/// FNV-1a, whose results are kept in files.
fn hash(word: &[u8]) -> u64 {
    word.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Names that the compiler makes up, and no source has.
const MADE_UP: [&[u8]; 5] =
    [b"_GLOBAL_", b"__static_init", b"__tcf_", b"__cxx_global", b"__va_list"];

/// The identifiers that a source must have to define this name.
fn parts(name: &[u8]) -> Parts<'_> {
    if let Some(rest) = name.strip_prefix(b"_Z") {
        // Of a static function. Elsewhere the letter begins a literal.
        return Parts::Mangled(Mangled(rest.strip_prefix(b"L").unwrap_or(rest)));
    }
    // What follows stands for copies (`f.isra.0`) or template arguments (`f<int>`).
    let end = name.iter().position(|&byte| !is_of_word(byte)).unwrap_or(name.len());
    let word = &name[..end];
    let starts = word.first().is_some_and(|first| !first.is_ascii_digit());
    // Sources may spell other letters as numbers.
    let is_plain = starts && word.is_ascii() && !is_made_up(word);
    Parts::Plain(is_plain.then_some(word))
}

fn is_made_up(word: &[u8]) -> bool {
    MADE_UP.iter().any(|start| word.starts_with(start))
}

enum Parts<'n> {
    Plain(Option<&'n [u8]>),
    Mangled(Mangled<'n>),
}

impl<'n> Iterator for Parts<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        match self {
            Self::Plain(word) => word.take(),
            Self::Mangled(rest) => rest.next(),
        }
    }
}

/// What is left of a mangled name of the Itanium C++ ABI. Ends at the first thing whose digits may mean something else
/// than the length of an identifier: a literal, an expression, a lambda, a thunk.
struct Mangled<'n>(&'n [u8]);

impl<'n> Mangled<'n> {
    /// Takes letters while they are of this kind.
    fn skip_while(&mut self, is_one: impl Fn(u8) -> bool) {
        let end = self.0.iter().position(|&byte| !is_one(byte)).unwrap_or(self.0.len());
        self.0 = &self.0[end..];
    }

    /// Takes an identifier behind its length.
    fn identifier(&mut self) -> Option<&'n [u8]> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let length: usize = str::from_utf8(&self.0[..digits]).ok()?.parse().ok()?;
        let (identifier, rest) = self.0[digits..].split_at_checked(length)?;
        self.0 = rest;
        Some(identifier)
    }

    /// The next identifier, behind whatever stands before it.
    fn advance(&mut self) -> Option<&'n [u8]> {
        loop {
            let &first = self.0.first()?;
            if first.is_ascii_digit() {
                let identifier = self.identifier()?;
                if identifier.is_ascii() && !is_made_up(identifier) {
                    return Some(identifier);
                }
                continue;
            }
            self.0 = &self.0[1..];
            match first {
                // Substitutions and parameters: `S_`, `S1_`, `St`, `T0_`.
                b'S' | b'T' => match self.0.first()? {
                    b'_' | b'0'..=b'9' | b'A'..=b'Z' => {
                        self.skip_while(|byte| byte != b'_');
                        self.0 = self.0.get(1..)?;
                    }
                    b'a' | b'b' | b'd' | b'i' | b'o' | b's' | b't' => self.0 = &self.0[1..],
                    _ => return None,
                },
                // Constructors, and destructors and other types of two letters.
                b'C' | b'D' => match self.0.first()? {
                    b'1'..=b'5' | b'0' | b'a' | b'n' | b'p' | b'i' | b's' | b'u' => {
                        self.0 = &self.0[1..];
                    }
                    _ => return None,
                },
                // Tags and types of vendors need not be in the source.
                b'B' | b'u' if self.0.first()?.is_ascii_digit() => _ = self.identifier()?,
                // Namespaces, templates, qualifiers, pointers, and what has no digits behind it.
                b'N' | b'I' | b'J' | b'K' | b'V' | b'P' | b'R' | b'O' | b'E' | b'F' | b'Z'
                | b'M' => {}
                // Numbers of functions' own names: `E_0`, `E__10_`.
                b'_' => self.skip_while(|byte| byte == b'_' || byte.is_ascii_digit()),
                // Builtin types and operators.
                b'a'..=b'z' if !matches!(first, b'f' | b'g') => {}
                b'f' if !matches!(self.0.first(), Some(b'p' | b'L')) => {}
                _ => return None,
            }
        }
    }
}

impl<'n> Iterator for Mangled<'n> {
    type Item = &'n [u8];

    fn next(&mut self) -> Option<&'n [u8]> {
        let next = self.advance();
        if next.is_none() {
            self.0 = &[];
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<&str> {
        parts(name.as_bytes()).map(|part| str::from_utf8(part).unwrap()).collect()
    }

    #[test]
    fn identifiers_of_names() {
        for (name, expected) in [
            ("main", &["main"][..]),
            ("f.isra.0", &["f"]),
            ("f<main()::<lambda(int)> >", &["f"]),
            ("<lambda(int)>", &[]),
            ("_GLOBAL__sub_I_first", &[]),
            ("_Z41__static_initialization_and_destruction_0v", &[]),
            ("_ZN5store3addEi", &["store", "add"]),
            ("_ZN12_GLOBAL__N_13addEv", &["add"]),
            ("_ZNSt6vectorI5ThingSaIS0_EE9push_backERKS0_", &["vector", "Thing", "push_back"]),
            ("_ZNK3Foo3barB5cxx11Ev", &["Foo", "bar"]),
            ("_ZN3FooC2ERKS_", &["Foo"]),
            ("_ZN3FooD0Ev", &["Foo"]),
            // A number behind a literal is its value.
            ("_ZN5ArrayILi3EE3getEi", &["Array"]),
            ("_ZN1AIL4Enum2EE1fEv", &["A"]),
            ("_ZZ4mainE4once_0", &["main", "once"]),
            ("_ZZ4mainENKUlvE_clEv", &["main"]),
            ("_ZThn8_N3Foo1fEv", &[]),
            ("_ZL4helpPKc", &["help"]),
            ("_ZlsRSoRK5Point", &["Point"]),
            ("_ZN6Logger4LogvEPKcP13__va_list_tag", &["Logger", "Logv"]),
            ("_Z1fA10_c", &["f"]),
            ("_Z1fDv4_f3Bar", &["f"]),
        ] {
            assert_eq!(of(name), expected, "{name}");
        }
    }

    #[test]
    fn what_a_source_may_define() {
        let mut identifiers = Identifiers::default();
        let text = b"# 1 \"src/a.c\"\n# 1 \"include/a b.h\" 1\nint f(void); int g(void) __asm__(\"real\");\n";
        identifiers.add(text);
        for (name, may) in
            [("f", true), ("f.part.0", true), ("real", true), ("h", false), ("", true)]
        {
            assert_eq!(identifiers.may_define(name.as_bytes()), may, "{name}");
        }
        assert!(identifiers.come_from(b"/other/a b.h") && identifiers.come_from(b"a.c"));
        assert!(!identifiers.come_from(b"b.h"));
    }
}
