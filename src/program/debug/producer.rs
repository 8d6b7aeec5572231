//! Which compiler compiled each source, and with which options, as the compiler recorded it.
//!
//! | record | of |
//! |---|---|
//! | `DW_AT_producer` of a unit: `GNU C17 12.2.0 -mtune=generic -march=x86-64 -g -O2` | each source, with `-g` |
//! | `.GCC.command.line`: the same text, once for all sources that have it | gcc with `-frecord-gcc-switches` |
//!
//! gcc records neither defines nor warnings, clang only its version unless `-grecord-command-line` asks for more.

use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use gimli::{DW_AT_comp_dir, DW_AT_name, DW_AT_producer};
use object::{Object, ObjectSection};

use super::Sections;
use crate::program::source_path::source_path;

/// A run of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilation {
    /// The path of the source; none if it is not recorded.
    pub source: Option<Vec<u8>>,
    /// The compiler and its version.
    pub compiler: String,
    /// The options that change what becomes of the code, the last `-O` alone.
    pub options: BTreeSet<String>,
}

/// Beginnings of options that name files, say what to record, or belong to profiles.
const OF_NO_CODE: [&str; 22] = [
    "-fprofile",
    "-ftest-coverage",
    "--coverage",
    "-fauto-profile",
    "-fbranch-probabilities",
    "-g",
    "-dump",
    "-auxbase",
    "-fdebug-",
    "-ffile-prefix-map",
    "-fmacro-prefix-map",
    "-fdiagnostics",
    "-frandom-seed",
    "-frecord-gcc-switches",
    "-fverbose-asm",
    "-grecord-command-line",
    "-L",
    "-l",
    "-Wl,",
    "-o",
    "-c",
    "-I",
];

impl Compilation {
    fn new(source: Option<Vec<u8>>, producer: &str) -> Self {
        // Behind the version clang names itself, and files between its options.
        let end = [" -", " /"].into_iter().filter_map(|start| producer.find(start)).min();
        let (compiler, options) = producer.split_at(end.unwrap_or(producer.len()));
        let words = options.split_whitespace().filter(|word| word.starts_with('-'));
        let of_code = |word: &&str| !OF_NO_CODE.iter().any(|start| word.starts_with(start));
        let level = words.clone().rfind(|word| word.starts_with("-O"));
        let options = words.filter(of_code).filter(|word| !word.starts_with("-O")).chain(level);
        let options = options.map(ToString::to_string).collect();
        Self { source, compiler: compiler.trim().to_string(), options }
    }
}

/// The compilations of a program, by source, or else those of `.GCC.command.line`.
pub fn compilations(file: &object::File<'_>) -> Vec<Compilation> {
    let of_units = of_units(file);
    if !of_units.is_empty() {
        return of_units;
    }
    let section = file.section_by_name(".GCC.command.line");
    let text = section.and_then(|section| section.data().ok()).unwrap_or_default();
    let lines = text.split(|&byte| byte == 0).filter(|line| !line.is_empty());
    lines.map(|line| Compilation::new(None, &String::from_utf8_lossy(line))).collect()
}

fn of_units(file: &object::File<'_>) -> Vec<Compilation> {
    let sections = Sections::load(file);
    let dwarf = sections.borrow();
    let (mut found, mut units) = (Vec::new(), dwarf.units());
    // Units behind a damaged one cannot be found.
    while let Ok(Some(header)) = units.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        let Ok(root) = unit.entry(unit.header.root_offset()) else { continue };
        let text = |name| {
            let text = dwarf.attr_string(&unit, root.attr_value(name)?).ok()?;
            Some(text.slice())
        };
        if let (Some(name), Some(producer)) = (text(DW_AT_name), text(DW_AT_producer)) {
            let path = source_path(text(DW_AT_comp_dir).unwrap_or_default(), name);
            found.push(Compilation::new(Some(path), &String::from_utf8_lossy(producer)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_producer() {
        let text = "GNU C17 12.2.0 -mtune=generic -O1 -g -O2 -fprofile-generate -fno-inline -ftest-coverage";
        let found = Compilation::new(None, text);
        assert_eq!(found.compiler, "GNU C17 12.2.0");
        let options: Vec<_> = found.options.iter().map(String::as_str).collect();
        assert_eq!(options, ["-O2", "-fno-inline", "-mtune=generic"]);
        let found = Compilation::new(None, "clang LLVM (rustc version 1.95.0)");
        assert_eq!(
            (found.compiler.as_str(), found.options.len()),
            ("clang LLVM (rustc version 1.95.0)", 0)
        );
    }
}
