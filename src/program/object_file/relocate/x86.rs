//! Relocations of x86, in 64 and 32 bits.

use object::elf::{self, RelocationType};

use super::at::{At, TABLE};

/// Applies one of x86-64.
pub fn apply_64(kind: RelocationType, mut at: At<'_>) -> Option<()> {
    if kind == elf::R_X86_64_TLSDESC_CALL {
        return at.write(&[0x66, 0x90]);
    }
    let value = at.value(0)?;
    match kind {
        elf::R_X86_64_64 => at.write(&value.to_le_bytes()),
        elf::R_X86_64_32 | elf::R_X86_64_32S => at.write(&(value as u32).to_le_bytes()),
        elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => {
            at.write(&(value.wrapping_sub(at.place) as u32).to_le_bytes())
        }
        _ => None,
    }
}

/// Applies one of 32 bits.
pub fn apply_32(kind: RelocationType, mut at: At<'_>) -> Option<()> {
    let in_place = at.number();
    let value = match kind {
        elf::R_386_TLS_DESC_CALL => return at.write(&[0x66, 0x90]),
        elf::R_386_32 => at.value(in_place)?,
        elf::R_386_PC32 | elf::R_386_PLT32 => at.value(in_place)?.wrapping_sub(at.place),
        elf::R_386_GOTOFF => at.value(in_place)?.wrapping_sub(TABLE),
        // The symbol is the table.
        elf::R_386_GOTPC => {
            let addend = at.addend.unwrap_or(in_place);
            TABLE.wrapping_add_signed(addend).wrapping_sub(at.place)
        }
        _ => return None,
    };
    at.write(&(value as u32).to_le_bytes())
}
