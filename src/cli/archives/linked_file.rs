//! The object that gives a program the name of its dump at the link: `countersink flags --file`.
//!
//! It defines one exported symbol, and the runtime refers to that symbol weakly (`runtime-c/image.c`). The
//! runtime makes a path of the name. Here is also what reads the name out of a program.

use std::ffi::OsStr;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::prelude::v1::*;

use object::read::archive::ArchiveFile;
use object::write::{self, StandardSection, SymbolSection};
use object::{
    BinaryFormat, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolFlags, SymbolKind,
    SymbolScope,
};

use super::archive::Archive;
use crate::cli::outputs::output;
use crate::cli::terminal::error::{Error, Result};
use crate::runtime::output_path::{LETTERS, LONGEST_PATH};

/// Lets a program's libraries find the program's file, and not only their own.
pub const EXPORTED: &str = "-Wl,--export-dynamic-symbol=countersink_file";

const SYMBOL: &[u8] = b"countersink_file";
/// The same of clang, by `-fprofile-generate=DIR` for instance.
const SYMBOL_OF_LLVM: &[u8] = b"__llvm_profile_filename";
const GOOD: &str = "the tool's own archive is good";

/// The object for a pattern, in the folder of the archive and for its machine.
pub fn object(pattern: &OsStr, archive: &Archive, folder: &Path) -> Result<PathBuf> {
    let pattern = pattern.as_bytes();
    check(pattern)?;
    let mut hasher = DefaultHasher::new();
    pattern.hash(&mut hasher);
    let path = folder.join(format!("file-{:016x}.o", hasher.finish()));
    let bytes = bytes(pattern, archive);
    if std::fs::read(&path).is_ok_and(|found| found == bytes) {
        return Ok(path);
    }
    output::replace(&path, &bytes)?;
    Ok(path)
}

/// The pattern of a program, by `--file`, and else by clang.
pub fn pattern<'d>(program: &object::File<'d>) -> Option<&'d [u8]> {
    let of = |name: &[u8]| {
        let is_it = |symbol: &object::Symbol<'d, '_>| {
            symbol.is_definition() && symbol.name_bytes() == Ok(name)
        };
        let symbol = program.dynamic_symbols().find(is_it);
        let symbol = symbol.or_else(|| program.symbols().find(is_it))?;
        let section = program.section_by_index(symbol.section_index()?).ok()?;
        let start = symbol.address().checked_sub(section.address())?;
        let text = section.data().ok()?.get(usize::try_from(start).ok()?..)?;
        text.split(|&byte| byte == 0).next().filter(|pattern| !pattern.is_empty())
    };
    of(SYMBOL).or_else(|| of(SYMBOL_OF_LLVM))
}

/// Refuses a pattern that the runtime would complain about at each start, or take for no name.
fn check(pattern: &[u8]) -> Result<()> {
    let mut bytes = pattern.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte == b'%' && !bytes.next().is_some_and(|letter| LETTERS.contains(&letter)) {
            let what = "behind % stands none of e, p, h, m and %";
            return Err(Error::about(OsStr::from_bytes(pattern), what));
        }
    }
    match pattern.len() {
        0 => Err(Error::new("--file: an empty name; without the option it is %e.csraw")),
        LONGEST_PATH.. => Err(Error::new("--file: longer than any path of the system")),
        _ => Ok(()),
    }
}

fn bytes(pattern: &[u8], archive: &Archive) -> Vec<u8> {
    let members = ArchiveFile::parse(archive.bytes).expect(GOOD);
    let first = members.members().next().expect(GOOD).expect(GOOD).data(archive.bytes).expect(GOOD);
    let model = object::File::parse(first).expect(GOOD);
    let mut object =
        write::Object::new(BinaryFormat::Elf, model.architecture(), model.endianness());
    // On ARM and RISC-V they tell how calls pass arguments, and linkers refuse what does not fit.
    object.flags = model.flags();
    let symbol = object.add_symbol(write::Symbol {
        name: SYMBOL.to_vec(),
        value: 0,
        size: 0,
        kind: SymbolKind::Data,
        scope: SymbolScope::Dynamic,
        // The flags may appear twice on a line.
        weak: true,
        section: SymbolSection::Undefined,
        flags: SymbolFlags::None,
    });
    let constants = object.section_id(StandardSection::ReadOnlyData);
    object.add_symbol_data(symbol, constants, &[pattern, b"\0"].concat(), 1);
    // Without this section the linker makes the stack executable.
    object.add_section(Vec::new(), b".note.GNU-stack".to_vec(), SectionKind::Other);
    object.write().expect("an object of one string")
}
