//! What the arguments of gcc ask for: which sources are compiled, and how their preprocessed text is got.
//!
//! Knows the options that take a value of their own, since a value is no source. All else that begins with a dash is
//! passed by. Response files are read as gcc reads them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::prelude::v1::*;

/// A compilation that a profile can help.
#[derive(Debug, PartialEq, Eq)]
pub struct Compilation {
    /// Whether all of its sources are C or C++, so that their text has the names of their functions.
    pub has_names_in_text: bool,
    /// Whether it is for LTO.
    pub lto: bool,
    /// The arguments that choose the machine.
    pub machine: Vec<String>,
    /// The arguments that print the preprocessed sources, if there are any others than those that follow.
    pub preprocessing: Option<Vec<OsString>>,
    /// Sources that are preprocessed already: gcc -E prints nothing for them.
    pub preprocessed: Vec<OsString>,
}

/// What a file is to gcc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// C or C++.
    C,
    /// The same, preprocessed.
    Preprocessed,
    /// Another one that is optimised.
    Other,
    /// No source that a profile is for: assembler, a header to precompile, an object, a library.
    None,
}

/// Options whose values are arguments of their own.
const WITH_VALUE: [&str; 42] = [
    "-A",
    "-B",
    "-D",
    "-G",
    "-I",
    "-L",
    "-MF",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xassembler",
    "-Xlinker",
    "-Xpreprocessor",
    "-arch",
    "-aux-info",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-e",
    "-idirafter",
    "-imacros",
    "-imultiarch",
    "-imultilib",
    "-include",
    "-iplugindir",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-l",
    "-o",
    "-u",
    "-wrapper",
    "-x",
    "-z",
    "--entry",
    "--output",
    "--param",
    "--sysroot",
];

/// Options of compilations that have a profile already, make one, or are none.
const WITHOUT_PROFILE: [&str; 17] = [
    "-E",
    "-M",
    "-MM",
    "-###",
    "-fsyntax-only",
    "-fauto-profile",
    "-fno-auto-profile",
    "-fprofile-generate",
    "-fprofile-arcs",
    "-fprofile-use",
    "-fbranch-probabilities",
    "--coverage",
    "-coverage",
    "-pg",
    // gcc 12 ends with an internal error where it has a sample profile, too.
    "-ftest-coverage",
    "--preprocess",
    "--help",
];

/// Options that lead preprocessing elsewhere: to objects, to rules of make, to macros instead of text.
const NOT_FOR_PREPROCESSING: [&str; 12] = [
    "-c",
    "-S",
    "-MD",
    "-MMD",
    "-MP",
    "-MG",
    "-P",
    "-fdirectives-only",
    "-fpch-preprocess",
    "-save-temps",
    "-dD",
    "-dM",
];

impl Compilation {
    /// What these arguments ask for; `None` if a profile is of no use.
    pub fn of(arguments: &[OsString]) -> Option<Self> {
        let arguments = expanded(arguments, 0);
        let (mut preprocessing, mut languages) = (Vec::new(), Vec::new());
        let (mut preprocessed, mut machine) = (Vec::new(), Vec::new());
        let (mut chosen, mut is_optimised, mut lto) = (None, false, false);
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let text = argument.to_string_lossy();
            if WITHOUT_PROFILE.iter().any(|option| is_option(&text, option)) {
                return None;
            }
            if WITH_VALUE.contains(&&*text) {
                let value = rest.next()?;
                match &*text {
                    "-o" | "--output" | "-MF" | "-MQ" | "-MT" | "-dumpbase" | "-dumpbase-ext"
                    | "-dumpdir" => continue,
                    "-x" => chosen = language_named(value),
                    _ => {}
                }
                preprocessing.extend([argument.clone(), value.clone()]);
                continue;
            }
            match &*text {
                "-" => return None,
                option if option.starts_with("-O") => is_optimised = option != "-O0",
                option if option.starts_with("-x") => {
                    chosen = language_named(OsStr::new(&option[2..]))
                }
                option if option.starts_with("-flto") => lto = true,
                "-fno-lto" => lto = false,
                option if option.starts_with("-fmodules") => languages.push(Language::Other),
                option if option.starts_with("-m") => machine.push(option.to_owned()),
                option if option.starts_with('-') => {}
                // A pipe would be empty when the compiler reads it.
                _ if fs::metadata(argument).is_ok_and(|found| !found.is_file()) => return None,
                _ => {
                    let language = chosen.unwrap_or_else(|| language_of(Path::new(argument)));
                    languages.push(language);
                    if language == Language::Preprocessed {
                        preprocessed.push(argument.clone());
                        continue;
                    }
                }
            }
            if !leads_elsewhere(&text) {
                preprocessing.push(argument.clone());
            }
        }
        languages.retain(|&language| language != Language::None);
        if languages.is_empty() || !is_optimised {
            return None;
        }
        preprocessing.push("-E".into());
        let has_text = |language: &Language| *language != Language::Other;
        let has_names_in_text = languages.iter().all(has_text);
        let preprocessing = languages.contains(&Language::C).then_some(preprocessing);
        Some(Self { has_names_in_text, lto, machine, preprocessing, preprocessed })
    }
}

/// Whether an argument is this option, also with a value behind `=`.
fn is_option(argument: &str, option: &str) -> bool {
    let rest = argument.strip_prefix(option);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

fn leads_elsewhere(argument: &str) -> bool {
    NOT_FOR_PREPROCESSING.iter().any(|option| is_option(argument, option))
        || ["-o", "-MF", "-MQ", "-MT", "-Wp,-M"].iter().any(|start| argument.starts_with(start))
}

/// The language that `-x` names; `None` if the names of files decide again.
fn language_named(name: &OsStr) -> Option<Language> {
    match name.to_str().unwrap_or_default() {
        "none" => None,
        "c" | "c++" => Some(Language::C),
        "cpp-output" | "c++-cpp-output" => Some(Language::Preprocessed),
        name if name.starts_with("assembler") || name.ends_with("-header") => Some(Language::None),
        _ => Some(Language::Other),
    }
}

fn language_of(path: &Path) -> Language {
    match path.extension().and_then(OsStr::to_str).unwrap_or_default() {
        "i" | "ii" => Language::Preprocessed,
        "c" | "cc" | "cp" | "cxx" | "cpp" | "CPP" | "c++" | "C" => Language::C,
        "m" | "mi" | "mm" | "M" | "mii" | "adb" | "ads" | "d" | "go" | "mod" | "cob" | "rs" => {
            Language::Other
        }
        extension if extension.to_ascii_lowercase().starts_with('f') => Language::Other,
        _ => Language::None,
    }
}

/// The arguments with those of response files in their places. gcc takes a name of no file as it is.
fn expanded(arguments: &[OsString], depth: usize) -> Vec<OsString> {
    /// Response files name each other, but not for ever.
    const DEEPEST: usize = 20;
    let mut all = Vec::with_capacity(arguments.len());
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth < DEEPEST);
        match file.and_then(|file| fs::read(OsStr::from_bytes(file)).ok()) {
            Some(text) => all.extend(expanded(&words(&text), depth + 1)),
            None => all.push(argument.clone()),
        }
    }
    all
}

/// The words of a response file. A backslash takes away the meaning of the next byte everywhere.
fn words(text: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<u8>>, None);
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            _ if quote == Some(byte) => quote = None,
            _ if quote.is_some() => word.get_or_insert_default().push(byte),
            b'\'' | b'"' => {
                word.get_or_insert_default();
                quote = Some(byte);
            }
            _ if byte.is_ascii_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &str) -> Option<Compilation> {
        let words: Vec<OsString> = arguments.split(' ').map(OsString::from).collect();
        Compilation::of(&words)
    }

    #[test]
    fn compilations() {
        let preprocessing = |arguments: &str| {
            let words = of(arguments).unwrap().preprocessing.unwrap();
            words.join(OsStr::new(" ")).into_string().unwrap()
        };
        for (arguments, expected) in [
            ("-O2 -c a.c -o a.o", "-O2 a.c -E"),
            ("-O2 -MD -MF a.d -MT a.o -Wp,-MMD,b.d -DX=1 -I inc -S a.c", "-O2 -DX=1 -I inc a.c -E"),
            (
                "-include config.h -Os a.c b.cc main.o -lm -oprog",
                "-include config.h -Os a.c b.cc main.o -lm -E",
            ),
            ("-O0 -O3 -x c++ a.inc", "-O0 -O3 -x c++ a.inc -E"),
        ] {
            assert_eq!(preprocessing(arguments), expected);
            assert!(of(arguments).unwrap().has_names_in_text, "{arguments}");
        }
        let ready = of("-O2 -c a.i").unwrap();
        assert_eq!((ready.preprocessing, ready.preprocessed), (None, vec!["a.i".into()]));
        assert!(of("-O2 -flto=auto -c a.c").unwrap().lto);
        assert!(!of("-O2 -flto -fno-lto -c a.c").unwrap().lto);
        assert!(!of("-O2 -c a.c b.f90").unwrap().has_names_in_text);
        assert_eq!(
            of("-O2 -march=x86-64-v3 -c a.c -mavx").unwrap().machine,
            ["-march=x86-64-v3", "-mavx"]
        );
    }

    #[test]
    fn what_needs_no_profile() {
        for arguments in [
            "-O2 a.o b.a -o prog -lm",
            "-O2 -c a.s",
            "-O2 -c a.S",
            "-O2 -E a.c",
            "-O2 -MM a.c",
            "-c a.c",
            "-O2 -O0 -c a.c",
            "-O2 -fauto-profile=x -c a.c",
            "-O2 -fprofile-use -c a.c",
            "-O2 --coverage -c a.c",
            "-O2 -x c -",
            "-O2 -x assembler a.c",
            "-O2 -x c-header a.h",
            "-O2 -c a.h",
            "--version",
            "-O2 -c -o a.c",
            "-O2 -c -o",
        ] {
            assert_eq!(of(arguments), None, "{arguments}");
        }
    }

    #[test]
    fn words_of_response_files() {
        let text = br#"-O2 'a b.c' "-DX=\"y z\"" c\ d
            '' -c"#;
        let expected = ["-O2", "a b.c", "-DX=\"y z\"", "c d", "", "-c"];
        assert_eq!(words(text), expected.map(OsString::from));
    }

    #[test]
    fn response_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all");
        fs::write(&path, format!("-O2 a.c @{}", path.display())).unwrap();
        let arguments = [OsString::from(format!("@{}", path.display()))];
        // It names itself, which gcc refuses.
        assert!(Compilation::of(&arguments).is_some());
        assert_eq!(Compilation::of(&["@none.c".into()]), None);
    }
}
