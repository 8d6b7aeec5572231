//! Lays an object file out as if it were a program, so that its code and debug information can be read as a
//! program's: gives sections addresses, and writes into them what the linker would write.
//!
//! It writes only what leads to counters, calls and lines: addresses in data, code and debug information. There is
//! a file for the relocations of each machine. Thread-local variables and the global offset table stay as they
//! are. Calls that ask for the place of a variable are removed, as linkers of programs remove them.

mod aarch64;
mod arm;
mod at;
mod riscv;
mod x86;

use std::prelude::v1::*;

use crate::program::debug::uncompressed;
use crate::program::object_file::image::ASKS_FOR_THREAD;
use at::At;
use hashbrown::HashMap;
use object::build::Bytes;
use object::build::elf::{Builder, Relocation, SectionData};
use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, Object, elf};

/// Where the first section lies. No small number looks like this address.
const START: u64 = 0x10_0000;
/// Least distance between sections. An object has parts of pages, not pages.
const PAGE: u64 = 4096;

/// Lays an object file out. `None` if it is no object file.
pub fn relocate(bytes: &[u8]) -> Option<Vec<u8>> {
    let file = object::File::parse(bytes).ok()?;
    if file.kind() != object::ObjectKind::Relocatable {
        return None;
    }
    let bytes = match file.is_64() {
        true => without_notes_to_linkers::<elf::FileHeader64<Endianness>>(bytes)?,
        false => without_notes_to_linkers::<elf::FileHeader32<Endianness>>(bytes)?,
    };
    let mut builder = Builder::read(&*bytes).ok()?;
    decompress(&mut builder, &file);
    place(&mut builder)?;
    // Nobody reads code of the other order.
    if file.is_little_endian() {
        write_addresses(&mut builder);
    }
    builder.header.e_type = elf::ET_DYN;
    let mut laid_out = Vec::new();
    builder.write(&mut laid_out).ok()?;
    Some(laid_out)
}

/// Turns what only linkers read into plain data: groups of sections, which [`Builder`] does not know, and the
/// attributes of ARM, AArch64 and RISC-V, which come in kinds that it does not know either.
fn without_notes_to_linkers<H: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Option<Vec<u8>> {
    /// Where the kind stands in the header of a section, and what else the section refers to.
    const KIND: usize = 4;
    let header = H::parse(bytes).ok()?;
    let links = if header.is_type_64() { 40 } else { 24 };
    let endian = header.endian().ok()?;
    let sections = header.section_headers(endian, bytes).ok()?;
    let start = usize::try_from(header.e_shoff(endian).into()).ok()?;
    // The number is the same on these machines.
    let notes = [elf::SHT_GROUP, elf::SHT_ARM_ATTRIBUTES];
    let notes =
        sections.iter().enumerate().filter(|(_, section)| notes.contains(&section.sh_type(endian)));
    let progbits = match endian {
        Endianness::Little => elf::SHT_PROGBITS.0.to_le_bytes(),
        Endianness::Big => elf::SHT_PROGBITS.0.to_be_bytes(),
    };
    let mut patched = bytes.to_vec();
    for (place, section) in notes {
        let section = patched.get_mut(start + place * size_of_val(section)..)?;
        section.get_mut(KIND..)?.get_mut(..4)?.copy_from_slice(&progbits);
        section.get_mut(links..)?.get_mut(..8)?.fill(0);
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
fn write_addresses(builder: &mut Builder<'_>) {
    let mut relocations = Vec::new();
    for section in &mut builder.sections {
        if let (SectionData::Relocation(found), Some(target)) =
            (&section.data, section.sh_info_section)
        {
            let has_addends = section.sh_type == elf::SHT_RELA;
            relocations.push((target, has_addends, found.clone()));
            section.delete = true;
        }
    }
    let machine = builder.header.e_machine;
    let symbols = &builder.symbols;
    // A symbol that is defined elsewhere has no address.
    let symbol = |relocation: &Relocation| {
        let symbol = symbols.get(relocation.symbol?);
        symbol.section.is_some().then_some(symbol.st_value)
    };
    for (target, has_addends, relocations) in relocations {
        let section = builder.sections.get_mut(target);
        let start = section.sh_addr;
        let SectionData::Data(data) = &mut section.data else { continue };
        let uppers = uppers(machine, start, &relocations, symbol);
        let data = data.to_mut();
        for relocation in relocations {
            let offset = usize::try_from(relocation.r_offset).ok();
            let Some(bytes) = offset.and_then(|offset| data.get_mut(offset..)) else { continue };
            let name = relocation.symbol.map(|symbol| symbols.get(symbol).name.as_slice());
            let asks = machine == elf::EM_ARM && name == Some(ASKS_FOR_THREAD);
            let at = At {
                bytes,
                place: start.wrapping_add(relocation.r_offset),
                symbol: symbol(&relocation),
                addend: has_addends.then_some(relocation.r_addend),
            };
            match machine {
                elf::EM_X86_64 => x86::apply_64(relocation.r_type, at),
                elf::EM_386 => x86::apply_32(relocation.r_type, at),
                elf::EM_AARCH64 => aarch64::apply(relocation.r_type, at),
                elf::EM_ARM if asks => arm::ask_processor(relocation.r_type, at),
                elf::EM_ARM => arm::apply(relocation.r_type, at),
                elf::EM_RISCV => {
                    riscv::apply(relocation.r_type, at, |place| uppers.get(&place).copied())
                }
                _ => None,
            };
        }
    }
}

/// The distances whose upper parts RISC-V's instructions at these addresses have.
fn uppers(
    machine: elf::Machine,
    start: u64,
    relocations: &[Relocation],
    symbol: impl Fn(&Relocation) -> Option<u64>,
) -> HashMap<u64, u64> {
    if machine != elf::EM_RISCV {
        return HashMap::new();
    }
    let upper = relocations.iter().filter(|found| found.r_type == elf::R_RISCV_PCREL_HI20);
    let distance = |found: &Relocation| {
        let place = start.wrapping_add(found.r_offset);
        Some((place, symbol(found)?.wrapping_add_signed(found.r_addend).wrapping_sub(place)))
    };
    upper.filter_map(distance).collect()
}
