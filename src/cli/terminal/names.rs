//! Names of symbols as the tool shows them.

use std::fmt;
use std::path::Path;
use std::prelude::v1::*;

use regex::Regex;

use super::message::warn;
use super::visible::visible;

use super::style;
use crate::convert::number::Number;
use crate::profile::{SymbolId, Symbols};

/// How to show names.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// As in the source, not as in the object file.
    demangle: bool,
    /// In as few letters as a terminal has room for.
    shorten: bool,
}

impl Names {
    /// On a terminal, names are short and as in the source; elsewhere they are as in the object file, unless the
    /// user wants them demangled.
    pub fn chosen(demangle: bool) -> Self {
        let shorten = style::is_terminal();
        Self { demangle: demangle || shorten, shorten }
    }

    /// Names as the user wants them, for other programs.
    pub const fn as_asked(demangle: bool) -> Self {
        Self { demangle, shorten: false }
    }

    /// The name of a symbol with its file, in at most this many letters if there is a limit.
    pub fn fitting(self, symbols: &Symbols, symbol: SymbolId, room: Option<usize>) -> String {
        let file = symbols.declared_in(symbol).map(text);
        let file = file.as_deref().map(|path| if self.shorten { file_name(path) } else { path });
        let file = file.map_or_else(String::new, |file| format!(" ({})", visible(file)));
        self.short(&text(symbols.name(symbol)), &file, room)
    }

    /// A name with something behind it, in at most this many letters if there is a limit.
    pub fn short(self, name: &str, behind: &str, room: Option<usize>) -> String {
        let whole = visible(&self.of(name));
        let Some(room) = room else { return whole + behind };
        let without_parameters = plain(name);
        let without_arguments = without_template_arguments(&without_parameters);
        let shorter = [Some(without_parameters), without_arguments].into_iter().flatten();
        let shorter = shorter.map(|name| visible(&name));
        let mut names: Vec<String> = std::iter::once(whole).chain(shorter).collect();
        let fits = |name: &String| name.chars().count() + behind.chars().count() <= room;
        match names.iter().position(fits) {
            Some(place) => names.swap_remove(place) + behind,
            None => cut(&names.pop().unwrap_or_default(), room),
        }
    }

    /// The name of a symbol.
    pub fn name(self, symbols: &Symbols, symbol: SymbolId) -> String {
        self.of(&text(symbols.name(symbol)))
    }

    /// A name from the object file, or one of LLVM's.
    pub fn of(self, name: &str) -> String {
        let in_source = || demangled(name).or_else(|| local(name));
        self.demangle.then(in_source).flatten().unwrap_or_else(|| name.to_owned())
    }

    /// The name of a symbol, and the file that declares it, for people.
    pub fn with_file(self, symbols: &Symbols, symbol: SymbolId) -> String {
        let name = visible(&self.name(symbols, symbol));
        match symbols.declared_in(symbol) {
            Some(path) => format!("{name} ({})", visible(&text(path))),
            None => name,
        }
    }
}

/// The end of a name, which tells more than its beginning.
fn cut(name: &str, room: usize) -> String {
    match name.chars().count().checked_sub(room) {
        None | Some(0) => name.to_owned(),
        Some(more) => "…".chars().chain(name.chars().skip(more + 1)).collect(),
    }
}

/// The identifier in a name of the object file or of the debug information: without scopes, parameters, template
/// arguments and qualifiers.
pub fn identifier(name: &str) -> String {
    let plain = plain(name);
    let mut own = plain.as_str();
    while let Some(shorter) =
        [" const", " volatile", " &", " &&"].iter().find_map(|q| own.strip_suffix(q))
    {
        own = shorter;
    }
    let bare = without_template_arguments(own).unwrap_or_else(|| own.to_owned());
    bare.rsplit("::").next().unwrap_or(&bare).to_owned()
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Warns that symbols which may be the same have stayed apart.
pub fn warn_of_ambiguous(file: &Path, number: usize) {
    if number > 0 {
        let names = Number(number as u64, "name");
        let what = "without a file kept apart, because several files have such a function";
        warn(file, format!("{names} {what}"));
    }
}

/// The longest beginning of a text with at most this many bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Bytes as text.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bytes in hexadecimal, for messages.
pub fn hexadecimal(bytes: &[u8]) -> String {
    match bytes {
        [] => "none".into(),
        bytes => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A function's name as given by a user.
///
/// It is the name in the object file; or the name in the source, with or without parameters and template
/// arguments; or the end of that, without namespaces or classes. A name with `*` is a pattern for any of
/// these.
#[derive(Clone, Debug)]
pub struct Wanted {
    name: String,
    pattern: Option<Regex>,
    /// What names in object files must hold, so that few of a large profile's need be demangled.
    part: Option<String>,
}

impl Wanted {
    /// A name.
    pub fn new(name: &str) -> Self {
        let pattern = name.contains('*').then(|| regex::escape(name).replace(r"\*", ".*"));
        let pattern = pattern.and_then(|pattern| Regex::new(&format!("^(?s:{pattern})$")).ok());
        Self { name: name.to_owned(), pattern, part: spelt_part(name).map(str::to_owned) }
    }

    /// The ways to understand a name, the most exact first. The first way that finds any function decides.
    pub const WAYS: [Way; 3] = [Way::Whole, Way::Source, Way::End];

    /// Whether it is this function's name, understood in this way.
    pub fn is(&self, name: &[u8], way: Way) -> bool {
        if way == Way::Whole {
            return name == self.name.as_bytes();
        }
        if let Some(part) = &self.part
            && memchr::memmem::find(name, part.as_bytes()).is_none()
        {
            return false;
        }
        let name = text(name);
        let bare = without_parameters(&name).or_else(|| demangled(&name));
        let plain = bare.as_deref().and_then(without_template_arguments);
        let general = bare.as_deref().and_then(without_own_arguments);
        let source = [demangled(&name), bare, general, plain, Some(name)];
        source.into_iter().flatten().any(|name| match (way, &self.pattern) {
            (Way::End, Some(pattern)) => pattern.is_match(&name),
            (Way::End, None) => {
                name.strip_suffix(&self.name).is_some_and(|before| before.ends_with("::"))
            }
            _ => name == self.name,
        })
    }

    /// The functions among these that it means.
    pub fn of(&self, symbols: &Symbols, functions: &[SymbolId]) -> Vec<SymbolId> {
        let found = |&way: &Way| -> Vec<SymbolId> {
            let is = |symbol: &&SymbolId| self.is(symbols.name(**symbol), way);
            functions.iter().filter(is).copied().collect()
        };
        Self::WAYS.iter().map(found).find(|found| !found.is_empty()).unwrap_or_default()
    }
}

/// The part of a name that object files spell out: the last identifier before its arguments. `None` for operators,
/// lambdas, patterns and constructors of the standard library's strings and streams, whose classes have abbreviations.
///
/// For example `Shape::area(int) const` gives `area`, and its object file has `_ZNK5Shape4areaEi`.
fn spelt_part(name: &str) -> Option<&str> {
    const ABBREVIATED: [&str; 5] = ["allocator", "string", "istream", "ostream", "iostream"];
    let before = name.split(['(', '<']).next()?;
    let last = before.rsplit("::").next()?;
    let last = last.strip_prefix('~').unwrap_or(last);
    let spells = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_spelt = !last.is_empty() && last.chars().all(spells) && !before.contains("operator");
    let class = last.strip_prefix("basic_").unwrap_or(last);
    (is_spelt && !ABBREVIATED.contains(&class)).then_some(last)
}

/// A way to understand the name of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the name in the object file.
    Whole,
    /// As the name in the source.
    Source,
    /// The end of that, or a pattern.
    End,
}

/// The name in the source of a function that is local to a file, and the file: LLVM writes `file;symbol`, up to
/// version 16 and in the front end `file:symbol`.
fn local(name: &str) -> Option<String> {
    let (file, symbol) = name.rsplit_once([';', ':'])?;
    Some(format!("{} ({file})", demangled(symbol)?))
}

/// A name as in the source, without parameters.
pub fn plain(name: &str) -> String {
    without_parameters(name).or_else(|| demangled(name)).unwrap_or_else(|| name.to_owned())
}

/// A name without the template arguments at its end, if there are any.
fn without_own_arguments(name: &str) -> Option<String> {
    let mut open = 0;
    for (place, bracket) in name.rmatch_indices(['<', '>']) {
        match bracket {
            ">" if name[..place].ends_with('-') => {}
            ">" => open += 1,
            _ => open -= 1,
        }
        if open <= 0 {
            let general = name[..place].trim_end();
            return name.ends_with('>').then(|| general.to_owned());
        }
    }
    None
}

/// A name without anything between angle brackets, if there are any.
fn without_template_arguments(name: &str) -> Option<String> {
    const OPERATORS: [&str; 11] =
        ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"];
    let (mut plain, mut open, mut rest) = (String::new(), 0usize, name);
    while let Some(next) = rest.chars().next() {
        let is_operator = open == 0 && plain.ends_with("operator");
        let operator =
            OPERATORS.iter().find(|operator| is_operator && rest.starts_with(**operator));
        let length = operator.map_or(next.len_utf8(), |operator| operator.len());
        let (taken, behind) = rest.split_at(length);
        match taken {
            // What a function in the name returns, or a member.
            "-" if open > 0 && behind.starts_with('>') => {
                rest = &behind[1..];
                continue;
            }
            "<" if operator.is_none() => {
                open += 1;
                // Rust writes `name::<argument>`.
                let shorter = plain.strip_suffix("::").map(str::len).filter(|_| open == 1);
                plain.truncate(shorter.unwrap_or(plain.len()));
            }
            ">" if operator.is_none() => open = open.checked_sub(1)?,
            _ if open == 0 => plain += taken,
            _ => {}
        }
        rest = behind;
    }
    let plain = plain.trim_end();
    (open == 0 && plain.len() < name.len()).then(|| plain.to_owned())
}

/// The name of a C++ function without its parameters and return type.
fn without_parameters(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type();
    demangled_cpp(name, &options)
}

/// A name of Rust or C++. What compilers append to names of clones stays.
fn demangled(name: &str) -> Option<String> {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return Some(format!("{rust:#}"));
    }
    if !name.starts_with("_Z") {
        return None;
    }
    demangled_cpp(name, &cpp_demangle::DemangleOptions::new())
}

fn demangled_cpp(name: &str, options: &cpp_demangle::DemangleOptions) -> Option<String> {
    let mut source = Short(String::new());
    cpp_demangle::Symbol::new(name).ok()?.structured_demangle(&mut source, options).ok()?;
    Some(source.0)
}

/// A name that people can read. Substitutions can make millions of letters of a few.
struct Short(String);

impl fmt::Write for Short {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        const LONGEST_NAME: usize = 64 << 10;
        if self.0.len() + part.len() > LONGEST_NAME {
            return Err(fmt::Error);
        }
        self.0.push_str(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_llvm() {
        let names = Names::as_asked(true);
        for (name, shown) in [
            ("a.cc;_ZL3twoi", "two(int) (a.cc)"),
            ("dir/a.cc:_ZL3twoi", "two(int) (dir/a.cc)"),
            ("g.9b2a-cgu.0;_RNvCsdjWSHz6dZOB_7generic3ask", "generic::ask (g.9b2a-cgu.0)"),
            ("g-cgu.0;_ZN7generic3ask17h05af221e174051e9E", "generic::ask (g-cgu.0)"),
            ("a.c;two", "a.c;two"),
            ("_Z3twoi", "two(int)"),
        ] {
            assert_eq!(names.of(name), shown);
        }
        assert_eq!(Names::as_asked(false).of("a.cc;_ZL3twoi"), "a.cc;_ZL3twoi");
    }

    #[test]
    fn spelt_parts() {
        for (name, part) in [
            ("Shape::area(int) const", Some("area")),
            ("ns::A<int>::f", Some("A")),
            ("Shape::~Shape()", Some("Shape")),
            ("core::fmt::Formatter::pad", Some("pad")),
            ("std::string::string", None),
            ("ns::operator==(A, A)", None),
            ("A::operator bool() const", None),
            ("void f<int>(int)", None),
            ("(anonymous namespace)::f()", None),
            ("f*", None),
        ] {
            assert_eq!(spelt_part(name), part, "{name}");
        }
    }

    #[test]
    fn template_arguments() {
        for (name, plain) in [
            ("foo<int>", Some("foo")),
            ("ns::A<std::pair<int, char> >::foo<3, &g>", Some("ns::A::foo")),
            ("A<(x)->y>::operator-><int>", Some("A::operator->")),
            ("operator<< <char>", Some("operator<<")),
            ("operator+<char>", Some("operator+")),
            ("f::<fn(i32) -> i32>::{closure#0}", Some("f::{closure#0}")),
            ("<T as U>::run", Some("::run")),
            ("operator<", None),
            ("operator<=>", None),
            ("foo", None),
            ("foo<int", None),
            ("foo>", None),
        ] {
            assert_eq!(without_template_arguments(name).as_deref(), plain, "{name}");
        }
    }
}
