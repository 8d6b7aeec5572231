//! Lays an object file out as if it were a program, so that its code and debug information can be read as a
//! program's: gives sections addresses, and writes into them what the linker would write.
//!
//! It writes only what leads to counters, calls and lines: addresses in data, code and debug information, for
//! x86-64 and AArch64. Thread-local variables and the global offset table stay as they are. Calls that ask
//! for the place of a variable are removed, as linkers of programs remove them.

use std::prelude::v1::*;

use super::debug::uncompressed;
use object::build::Bytes;
use object::build::elf::{Builder, Relocation, Section, SectionData};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, Object, elf};

/// Where the first section lies. No small number looks like this address.
const START: u64 = 0x10_0000;
/// Least distance between sections. An object has parts of pages, not pages.
const PAGE: u64 = 4096;

/// Lays an object file out. `None` if it is no object file.
pub fn lay_out(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(bytes).ok()?;
    if file.kind() != object::ObjectKind::Relocatable || !file.is_64() {
        return None;
    }
    let bytes = without_groups(bytes)?;
    let mut builder = Builder::read(&*bytes).ok()?;
    decompress(&mut builder, &file);
    place(&mut builder)?;
    relocate(&mut builder);
    builder.header.e_type = elf::ET_DYN;
    let mut laid_out = Vec::new();
    builder.write(&mut laid_out).ok()?;
    Some(laid_out)
}

/// Turns groups into plain data: they tell the linker which sections to keep together, and [`Builder`] does
/// not know them.
fn without_groups(bytes: &[u8]) -> Option<Vec<u8>> {
    let header = elf::FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.section_headers(endian, bytes).ok()?;
    let start = usize::try_from(header.e_shoff(endian)).ok()?;
    let groups = sections
        .iter()
        .enumerate()
        .filter(|(_, section)| section.sh_type(endian) == elf::SHT_GROUP);
    let mut patched = bytes.to_vec();
    for (place, section) in groups {
        let mut section = *section;
        section.sh_type.set(endian, elf::SHT_PROGBITS);
        section.sh_link.set(endian, 0);
        section.sh_info.set(endian, 0);
        let section = object::bytes_of(&section);
        patched
            .get_mut(start + place * section.len()..)?
            .get_mut(..section.len())?
            .copy_from_slice(section);
    }
    Some(patched)
}

/// Debug information may be compressed. It can only be relocated afterwards.
fn decompress(builder: &mut Builder<'_>, file: &object::File<'_>) {
    for section in &mut builder.sections {
        if !section.sh_flags.contains(elf::SHF_COMPRESSED) {
            continue;
        }
        let found = file.section_by_name_bytes(&section.name);
        if let Some(data) = found.and_then(|found| uncompressed(&found)) {
            section.sh_flags.remove(elf::SHF_COMPRESSED);
            section.data = SectionData::Data(Bytes::from(data.into_owned()));
        }
    }
}

/// Gives sections and symbols their addresses.
fn place(builder: &mut Builder<'_>) -> Option<()> {
    let mut next = START;
    for section in &mut builder.sections {
        // The file is padded to this alignment.
        section.sh_addralign = section.sh_addralign.clamp(1, PAGE);
    }
    for section in builder.sections.iter_mut().filter(|section| section.is_alloc()) {
        section.sh_addr = next.checked_next_multiple_of(section.sh_addralign)?;
        let end = section.sh_addr.checked_add(section.sh_size)?;
        next = end.checked_next_multiple_of(PAGE)?;
    }
    for symbol in &mut builder.symbols {
        let Some(section) = symbol.section else { continue };
        symbol.st_value = symbol.st_value.wrapping_add(builder.sections.get(section).sh_addr);
    }
    Some(())
}

/// Writes addresses into sections, and drops the sections that told where.
fn relocate(builder: &mut Builder<'_>) {
    let mut relocations = Vec::new();
    for section in &mut builder.sections {
        if let (SectionData::Relocation(found), Some(target)) =
            (&section.data, section.sh_info_section)
        {
            relocations.push((target, found.clone()));
            section.delete = true;
        }
    }
    let machine = builder.header.e_machine;
    for (target, relocations) in relocations {
        let section = builder.sections.get_mut(target);
        for relocation in relocations {
            take_away(section, &relocation, machine);
            let symbol = relocation.symbol.map(|symbol| builder.symbols.get(symbol));
            // A symbol that is defined elsewhere has no address.
            if let Some(symbol) = symbol.filter(|symbol| symbol.section.is_some()) {
                apply(section, &relocation, machine, symbol.st_value);
            }
        }
    }
}

/// Replaces by nothing an indirect call that asks for the place of a thread-local variable.
fn take_away(
    section: &mut Section<'_>,
    relocation: &Relocation,
    machine: elf::Machine,
) -> Option<()> {
    let nothing: &[u8] = match (machine, relocation.r_type) {
        (elf::EM_X86_64, elf::R_X86_64_TLSDESC_CALL) => &[0x66, 0x90],
        (elf::EM_AARCH64, elf::R_AARCH64_TLSDESC_CALL) => &0xd503_201f_u32.to_le_bytes(),
        _ => return None,
    };
    write(contents(section, relocation.r_offset)?, nothing)
}

/// The rest of a section from an offset on.
fn contents<'s>(section: &'s mut Section<'_>, offset: u64) -> Option<&'s mut [u8]> {
    let SectionData::Data(data) = &mut section.data else { return None };
    data.to_mut().get_mut(usize::try_from(offset).ok()?..)
}

fn apply(
    section: &mut Section<'_>,
    relocation: &Relocation,
    machine: elf::Machine,
    symbol: u64,
) -> Option<()> {
    let value = symbol.wrapping_add_signed(relocation.r_addend);
    let place = section.sh_addr.wrapping_add(relocation.r_offset);
    let distance = value.wrapping_sub(place);
    let at = contents(section, relocation.r_offset)?;
    match (machine, relocation.r_type) {
        (elf::EM_X86_64, elf::R_X86_64_64) | (elf::EM_AARCH64, elf::R_AARCH64_ABS64) => {
            write(at, &value.to_le_bytes())
        }
        (elf::EM_X86_64, elf::R_X86_64_32 | elf::R_X86_64_32S)
        | (elf::EM_AARCH64, elf::R_AARCH64_ABS32) => write(at, &(value as u32).to_le_bytes()),
        (elf::EM_X86_64, elf::R_X86_64_PC32 | elf::R_X86_64_PLT32)
        | (elf::EM_AARCH64, elf::R_AARCH64_PREL32) => write(at, &(distance as u32).to_le_bytes()),
        (elf::EM_AARCH64, elf::R_AARCH64_ADR_PREL_PG_HI21) => {
            let pages = (value & !(PAGE - 1)).wrapping_sub(place & !(PAGE - 1)) >> 12;
            insert(at, (pages as u32 & 3) << 29 | (pages as u32 >> 2 & 0x7_ffff) << 5)
        }
        (elf::EM_AARCH64, elf::R_AARCH64_ADD_ABS_LO12_NC) => {
            insert(at, (value as u32 & 0xfff) << 10)
        }
        (elf::EM_AARCH64, elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26) => {
            insert(at, (distance >> 2) as u32 & 0x3ff_ffff)
        }
        _ => None,
    }
}

fn write(at: &mut [u8], bytes: &[u8]) -> Option<()> {
    at.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(())
}

/// Puts bits into an instruction that has zeros in their place.
fn insert(at: &mut [u8], bits: u32) -> Option<()> {
    let instruction = at.first_chunk_mut()?;
    *instruction = (u32::from_le_bytes(*instruction) | bits).to_le_bytes();
    Some(())
}
