//! Keeps the parts of the Rust object that our symbols reach.
//!
//! In std they reach only the function that tells which instructions the processor has, and the word
//! where it remembers them. The optimizer leaves 240 KiB more, because std exports a part of the panic
//! code and has a constructor.
//!
//! The parts that only LLVM's hooks reach become members of their own, so gcc's programs do not carry them. The hooks
//! that programs call most begin at a line of the cache.

use std::collections::BTreeSet;

use object::Endianness;
use object::build::Id;
use object::build::elf::{Builder, Section, SectionData, SectionId, Sections, Symbol, SymbolId};
use object::elf::{
    FileHeader32, FileHeader64, SHF_EXECINSTR, SHF_MERGE, SHF_WRITE, SHN_UNDEF, SHT_GROUP,
    SHT_PROGBITS, SHT_STRTAB, STB_GLOBAL, STB_LOCAL, STT_FUNC, STT_NOTYPE, STT_SECTION,
    STV_DEFAULT, STV_HIDDEN, SectionHeader32, SectionHeader64,
};
use object::pod::slice_from_bytes_mut;
use object::read::elf::{FileHeader, SectionHeader};

const GOOD: &str = "rustc makes good objects";
/// The hooks that programs call most.
const HOOKS: [&[u8]; 4] = [
    b"__llvm_profile_instrument_memop",
    b"__llvm_profile_instrument_target",
    b"countersink_topn",
    b"countersink_topn_atomic",
];
/// Parts of hooks, as their symbols have them.
const PARTS: [&[u8]; 2] = [b"archive4llvm12count_behind", b"archive4llvm14count_at_lanes"];
/// Bytes of a line of the cache. Elsewhere a hook takes up to a fifth longer.
const LINE: u64 = 64;

/// The object without what programs would carry around for nothing: what nothing of ours reaches,
/// unwind tables, and remnants of debug information. In parts, each with what its file's name ends in: for
/// all programs, for those that LLVM instruments, and for those that write profiles to memory themselves.
pub fn parts(object: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    let mut object = object.to_vec();
    ungroup(&mut object);
    let whole = || {
        let mut builder = Builder::read(&*object).expect(GOOD);
        align_hooks(&mut builder);
        builder
    };
    let builder = whole();
    let is_for = |symbol: &Symbol<'_>, is: fn(&[u8]) -> bool| is(symbol.name.as_slice());
    let llvm = reached(&builder, |symbol| is_for(symbol, is_llvm));
    let buffer = reached(&builder, |symbol| is_for(symbol, is_buffer));
    let core = reached(&builder, |symbol| {
        let is_global = symbol.st_bind() == STB_GLOBAL;
        let name = symbol.name.as_slice();
        let is_of_others = symbol.section.is_some_and(|section| {
            llvm.contains(&section.index()) || buffer.contains(&section.index())
        });
        let is_others = is_llvm(name) || is_buffer(name);
        is_ours(name) && !is_others && (is_global || !is_of_others)
    });
    // Each part may have for itself what linkers may put together.
    let is_shared = |section: &&Section<'_>| {
        let id = section.id().index();
        llvm.contains(&id) && core.contains(&id) && !is_merged(section)
    };
    let shared: Vec<SectionId> =
        builder.sections.iter().filter(is_shared).map(|section| section.id()).collect();
    let is_merged = |id: &usize| {
        builder.sections.iter().any(|section| section.id().index() == *id && is_merged(section))
    };
    let only_llvm = |id: &&usize| !core.contains(id) || is_merged(id);
    let only_llvm: BTreeSet<usize> = llvm.iter().filter(only_llvm).copied().collect();
    let first = part(whole(), &core, &shared);
    if llvm.is_empty() {
        return [("", first), ("_llvm", Vec::new()), ("_llvm_buffer", Vec::new())];
    }
    // A copy of all that it reaches, which nobody writes: it stands without the others.
    let is_written = |section: &Section<'_>| {
        // Only the loader writes the latter, with addresses.
        let is_constant = section.name.as_slice().starts_with(b".data.rel.ro");
        let is_reached = buffer.contains(&section.id().index());
        is_reached && section.sh_flags.contains(SHF_WRITE) && !is_constant
    };
    let written = builder.sections.iter().find(|section| is_written(section));
    let written = written.map(|section| String::from_utf8_lossy(section.name.as_slice()));
    assert_eq!(written, None, "profiles in memory need statics");
    let second = part(whole(), &only_llvm, &shared);
    [("", first), ("_llvm", second), ("_llvm_buffer", part(standing_alone(whole()), &buffer, &[]))]
}

/// Makes symbols local that the other parts have, too, such as memory functions: a program may link several parts.
fn standing_alone(mut builder: Builder<'_>) -> Builder<'_> {
    for symbol in &mut builder.symbols {
        let is_shared = symbol.st_bind() == STB_GLOBAL && symbol.section.is_some();
        if is_shared && !is_buffer(symbol.name.as_slice()) {
            symbol.set_st_info(STB_LOCAL, symbol.st_type());
            symbol.st_other = symbol.st_other.with_visibility(STV_DEFAULT);
        }
    }
    builder
}

/// The part with these sections. Sections that parts share are in one of them, under a name of their own.
fn part(mut builder: Builder<'_>, kept: &BTreeSet<usize>, shared: &[SectionId]) -> Vec<u8> {
    let others = name_shared(&mut builder, kept, shared);
    keep(&mut builder, kept, &others);
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

/// Makes hooks begin at a line of the cache, where there are such lines: not on boards, whose programs have no hooks of
/// LLVM's.
fn align_hooks(builder: &mut Builder<'_>) {
    if builder.symbols.iter().any(|symbol| is_llvm(symbol.name.as_slice())) {
        let hooks = builder.symbols.iter().filter(|symbol| is_hook(symbol.name.as_slice()));
        let sections: Vec<_> = hooks.filter_map(|hook| hook.section).collect();
        for section in sections {
            builder.sections.get_mut(section).sh_addralign = LINE;
        }
    }
}

/// Whether a symbol is one of the hooks that programs call most, or a part of one.
fn is_hook(symbol: &[u8]) -> bool {
    let is_in = |part: &&[u8]| symbol.windows(part.len()).any(|found| found == *part);
    HOOKS.contains(&symbol) || PARTS.iter().any(is_in)
}

/// Gives shared sections hidden symbols, and makes relocations use these where the section is in the other
/// part. Gives the symbols that stand for sections of the other part.
fn name_shared(
    builder: &mut Builder<'_>,
    kept: &BTreeSet<usize>,
    shared: &[SectionId],
) -> BTreeSet<usize> {
    let mut others = BTreeSet::new();
    for (number, &section) in shared.iter().enumerate() {
        let is_here = kept.contains(&section.index());
        // What other images see stays under its own name: the dynamic linker decides whose it is.
        let is_seen = |symbol: &Symbol<'_>| {
            symbol.st_bind() == STB_GLOBAL && symbol.st_other.visibility() == STV_DEFAULT
        };
        if !is_here {
            for symbol in builder.symbols.iter_mut() {
                if symbol.section == Some(section) && is_seen(symbol) {
                    symbol.section = None;
                    symbol.st_shndx = SHN_UNDEF;
                    others.insert(symbol.id().index());
                }
            }
        }
        let places: Vec<(SymbolId, u64)> = builder
            .symbols
            .iter()
            .filter(|symbol| symbol.section == Some(section))
            .map(|symbol| (symbol.id(), symbol.st_value))
            .collect();
        // The lowest bit of a function's symbol tells linkers that its code is Thumb.
        let is_thumb = |symbol: &Symbol<'_>| {
            symbol.section == Some(section) && symbol.st_type() == STT_FUNC && symbol.st_value == 1
        };
        let start = u64::from(builder.symbols.iter().any(is_thumb));
        let is_code = builder.sections.get(section).sh_flags.contains(SHF_EXECINSTR);
        let symbol = builder.symbols.add();
        symbol.name = format!("countersink_part_{number}").into_bytes().into();
        symbol.set_st_info(STB_GLOBAL, if is_code { STT_FUNC } else { STT_NOTYPE });
        symbol.st_value = start;
        symbol.st_other = symbol.st_other.with_visibility(STV_HIDDEN);
        let stands_for_it = symbol.id();
        if is_here {
            symbol.section = Some(section);
            continue;
        }
        symbol.st_shndx = SHN_UNDEF;
        symbol.st_value = 0;
        others.insert(stands_for_it.index());
        for section in &mut builder.sections {
            let SectionData::Relocation(relocations) = &mut section.data else { continue };
            for relocation in relocations {
                let place = places.iter().find(|(id, _)| relocation.symbol == Some(*id));
                if let Some((_, offset)) = place {
                    relocation.symbol = Some(stands_for_it);
                    relocation.r_addend += *offset as i64 - start as i64;
                }
            }
        }
    }
    others
}

/// Turns groups into plain sections, because the builder does not read groups. The only one is for panics.
fn ungroup(object: &mut [u8]) {
    if let Some((endian, place, number)) = sections::<FileHeader64<Endianness>>(object) {
        let (sections, _) =
            slice_from_bytes_mut::<SectionHeader64<Endianness>>(&mut object[place..], number)
                .expect(GOOD);
        for section in sections.iter_mut().filter(|section| section.sh_type(endian) == SHT_GROUP) {
            section.sh_type.set(endian, SHT_PROGBITS);
        }
    }
    if let Some((endian, place, number)) = sections::<FileHeader32<Endianness>>(object) {
        let (sections, _) =
            slice_from_bytes_mut::<SectionHeader32<Endianness>>(&mut object[place..], number)
                .expect(GOOD);
        for section in sections.iter_mut().filter(|section| section.sh_type(endian) == SHT_GROUP) {
            section.sh_type.set(endian, SHT_PROGBITS);
        }
    }
}

/// Where an object of a class has its section headers, and how many.
fn sections<Header: FileHeader<Endian = Endianness>>(
    object: &[u8],
) -> Option<(Endianness, usize, usize)> {
    let header = Header::parse(object).ok()?;
    let endian = header.endian().expect(GOOD);
    let place: u64 = header.e_shoff(endian).into();
    Some((endian, place as usize, header.e_shnum(endian).into()))
}

/// The sections of the program that relocations lead to from some symbols.
fn reached(builder: &Builder<'_>, is_first: impl Fn(&Symbol<'_>) -> bool) -> BTreeSet<usize> {
    let first = builder.symbols.iter().filter(|symbol| is_first(symbol));
    let mut symbols: Vec<SymbolId> = first.map(|symbol| symbol.id()).collect();
    let mut sections = BTreeSet::new();
    while let Some(symbol) = symbols.pop() {
        let Some(section) = builder.symbols.get(symbol).section else { continue };
        if sections.insert(section.index()) {
            symbols.extend(mentioned(builder, section));
        }
    }
    sections
}

/// Drops all sections of the program but these, and symbols that nothing left mentions.
fn keep(builder: &mut Builder<'_>, kept: &BTreeSet<usize>, others: &BTreeSet<usize>) {
    for section in &mut builder.sections {
        let is_of_program = section.is_alloc() || is_remnant(section.name.as_slice());
        section.delete = is_of_program && !kept.contains(&section.id().index());
    }
    let of_program = builder.sections.iter().filter(|section| kept.contains(&section.id().index()));
    let of_program: Vec<SectionId> = of_program.map(|section| section.id()).collect();
    let needed = of_program.iter().flat_map(|&section| mentioned(builder, section));
    let needed: BTreeSet<usize> = needed.map(|symbol| symbol.index()).collect();
    let sections: &Sections<'_> = &builder.sections;
    for symbol in &mut builder.symbols {
        let id = symbol.id().index();
        symbol.delete = match symbol.section {
            // Of a merged section only what is needed stays; see `pack_merged`.
            Some(section) if is_merged(sections.get(section)) => !needed.contains(&id),
            Some(section) => !kept.contains(&section.index()),
            None => !needed.contains(&id) && !others.contains(&id),
        };
    }
    drop_orphans(builder);
}

/// Whether a symbol is of LLVM's interface to profiles in memory.
fn is_buffer(symbol: &[u8]) -> bool {
    let begins = ["begin_", "end_", "get_", "counter_", "write_buffer", "check_", "merge_"];
    let name = symbol.strip_prefix(b"__llvm_profile_").unwrap_or_default();
    begins.iter().any(|begin| name.starts_with(begin.as_bytes()))
}

/// Whether a symbol is of LLVM's interface.
fn is_of_interface(symbol: &[u8]) -> bool {
    symbol.starts_with(b"__llvm_") || symbol.starts_with(b"lprof")
}

/// Whether a symbol is one of LLVM's hooks, or of the module that has them.
fn is_llvm(symbol: &[u8]) -> bool {
    (is_of_interface(symbol) && !is_buffer(symbol))
        || symbol.starts_with(b"countersink_llvm_")
        || symbol.windows(12).any(|part| part == b"archive4llvm")
        || symbol.windows(9).any(|part| part == b"bare4llvm")
}

/// Whether a symbol is of this package, by its name or that of the crate within it.
fn is_ours(symbol: &[u8]) -> bool {
    symbol.starts_with(b"__gcov_")
        || is_of_interface(symbol)
        || symbol.windows(11).any(|part| part == b"countersink")
}

/// Whether a section belongs neither to the program nor to the linker's tables.
fn is_remnant(section: &[u8]) -> bool {
    section.starts_with(b".debug_") || section == b".comment" || section == b".group"
}

/// Whether linkers may merge equal parts of a section. All crates share one such section.
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

/// Keeps only the parts of merged sections that were reached.
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
