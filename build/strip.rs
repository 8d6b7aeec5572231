//! What of the object made from Rust goes into an archive: what our symbols reach.
//!
//! Of std that is the function that tells which instructions the processor has, with the word it
//! remembers that in. The optimizer leaves 240 KiB more: std exports a part of what panics need, and
//! has a constructor.

use std::mem;

use object::Endianness;
use object::build::elf::{Builder, Section, SectionData, SectionId, Symbol, SymbolId};
use object::elf::{
    FileHeader64, SHF_MERGE, SHT_GROUP, SHT_PROGBITS, SHT_STRTAB, STT_SECTION, SectionHeader64,
};
use object::pod::slice_from_bytes_mut;
use object::read::elf::{FileHeader, SectionHeader};

const GOOD: &str = "rustc makes good objects";

/// The object without what programs would carry around for nothing: what nothing of ours reaches,
/// unwind tables, and remnants of debug information.
pub fn strip(object: &[u8]) -> Vec<u8> {
    let mut object = object.to_vec();
    ungroup(&mut object);
    let mut builder = Builder::read(&*object).expect(GOOD);
    keep_reached(&mut builder);
    pack_merged(&mut builder);
    // LLVM keeps names of symbols and sections in one table, the builder in two.
    let names = builder.sections.add();
    names.name = ".shstrtab".into();
    names.sh_type = SHT_STRTAB;
    names.data = SectionData::SectionString;
    let mut stripped = Vec::new();
    builder.write(&mut stripped).expect("what was read can be written");
    stripped
}

/// Makes plain sections of groups, which the builder does not read. The only one is for panics.
fn ungroup(object: &mut [u8]) {
    let Ok(header) = FileHeader64::<Endianness>::parse(&*object) else { return };
    let endian = header.endian().expect(GOOD);
    let (place, number) = (header.e_shoff(endian) as usize, header.e_shnum(endian) as usize);
    let (sections, _) =
        slice_from_bytes_mut::<SectionHeader64<Endianness>>(&mut object[place..], number)
            .expect(GOOD);
    for section in sections.iter_mut().filter(|section| section.sh_type(endian) == SHT_GROUP) {
        section.sh_type.set(endian, SHT_PROGBITS);
    }
}

/// Drops all parts of the program but those that relocations lead to from ours.
fn keep_reached(builder: &mut Builder<'_>) {
    let ours = builder.symbols.iter().filter(|symbol| is_ours(symbol.name.as_slice()));
    let mut reached: Vec<SymbolId> = ours.map(|symbol| symbol.id()).collect();
    for symbol in &mut builder.symbols {
        let section = symbol.section.map(|section| builder.sections.get(section));
        symbol.delete = section.is_none_or(is_merged);
    }
    for section in &mut builder.sections {
        section.delete = section.is_alloc() || is_remnant(section.name.as_slice());
    }
    while let Some(symbol) = reached.pop() {
        let symbol = builder.symbols.get_mut(symbol);
        symbol.delete = false;
        let Some(section) = symbol.section else { continue };
        if mem::take(&mut builder.sections.get_mut(section).delete) {
            reached.extend(mentioned(builder, section));
        }
    }
    drop_orphans(builder);
}

/// Whether a symbol is of this package, by its name or that of the crate within it.
fn is_ours(symbol: &[u8]) -> bool {
    symbol.starts_with(b"__gcov_") || symbol.windows(11).any(|part| part == b"countersink")
}

/// Whether a section is neither of the program nor a table of the linker's.
fn is_remnant(section: &[u8]) -> bool {
    section.starts_with(b".debug_") || section == b".comment" || section == b".group"
}

/// Whether linkers may put equal parts of a section together, which is why it is one for all crates.
fn is_merged(section: &Section<'_>) -> bool {
    section.sh_flags.contains(SHF_MERGE)
}

/// The symbols in a section's relocations.
fn mentioned<'a>(builder: &'a Builder<'_>, id: SectionId) -> impl Iterator<Item = SymbolId> + 'a {
    let about_it = move |section: &&Section<'_>| section.sh_info_section == Some(id);
    let relocations = builder.sections.iter().filter(about_it).filter_map(|section| {
        let SectionData::Relocation(relocations) = &section.data else { return None };
        Some(relocations)
    });
    relocations.flatten().filter_map(|relocation| relocation.symbol)
}

/// Drops relocations and symbols of sections that were dropped.
fn drop_orphans(builder: &mut Builder<'_>) {
    let left: Vec<SectionId> = builder.sections.iter().map(|section| section.id()).collect();
    for section in &mut builder.sections {
        let about_left = section.sh_info_section.is_some_and(|section| left.contains(&section));
        section.delete = matches!(section.data, SectionData::Relocation(_)) && !about_left;
    }
    builder.delete_orphan_symbols();
}

/// Leaves of merged sections the parts that were reached.
fn pack_merged(builder: &mut Builder<'_>) {
    for section in builder.sections.iter_mut().filter(|section| is_merged(section)) {
        let SectionData::Data(bytes) = &section.data else { continue };
        let of_it = |symbol: &&mut Symbol<'_>| symbol.section == Some(section.id());
        let mut parts: Vec<_> = builder.symbols.iter_mut().filter(of_it).collect();
        if parts.iter().any(|part| part.st_type() == STT_SECTION) {
            continue;
        }
        parts.sort_by_key(|part| part.st_value);
        let mut packed = Vec::new();
        for part in parts {
            let (place, size) = (part.st_value as usize, part.st_size.max(section.sh_entsize));
            part.st_value = packed.len() as u64;
            packed.extend_from_slice(&bytes[place..][..size as usize]);
        }
        section.data = SectionData::Data(packed.into());
    }
}
