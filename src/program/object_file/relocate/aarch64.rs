//! Relocations of AArch64.

use object::elf::{self, RelocationType};

use super::PAGE;
use super::at::At;

const NOP: u32 = 0xd503_201f;

/// Applies one.
pub fn apply(kind: RelocationType, mut at: At<'_>) -> Option<()> {
    if kind == elf::R_AARCH64_TLSDESC_CALL {
        return at.write(&NOP.to_le_bytes());
    }
    let value = at.value(0)?;
    let distance = value.wrapping_sub(at.place);
    // Loads and stores count in units of their size.
    let low = |unit: u32| ((value as u32 & 0xfff) >> unit) << 10;
    match kind {
        elf::R_AARCH64_ABS64 => at.write(&value.to_le_bytes()),
        elf::R_AARCH64_ABS32 => at.write(&(value as u32).to_le_bytes()),
        elf::R_AARCH64_PREL32 => at.write(&(distance as u32).to_le_bytes()),
        elf::R_AARCH64_ADR_PREL_PG_HI21 => {
            let pages = (value & !(PAGE - 1)).wrapping_sub(at.place & !(PAGE - 1)) >> 12;
            at.insert(0x60ff_ffe0, (pages as u32 & 3) << 29 | (pages as u32 >> 2 & 0x7_ffff) << 5)
        }
        elf::R_AARCH64_ADD_ABS_LO12_NC => at.insert(0xfff << 10, low(0)),
        elf::R_AARCH64_LDST32_ABS_LO12_NC => at.insert(0xfff << 10, low(2)),
        elf::R_AARCH64_LDST64_ABS_LO12_NC => at.insert(0xfff << 10, low(3)),
        elf::R_AARCH64_LDST128_ABS_LO12_NC => at.insert(0xfff << 10, low(4)),
        elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
            at.insert(0x3ff_ffff, (distance >> 2) as u32)
        }
        _ => None,
    }
}
