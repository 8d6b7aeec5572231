//! Relocations of RISC-V. The assembler leaves nearly all distances to the linker, which makes code shorter.
//! Nothing is made shorter here.

use object::elf::{self, RelocationType};

use super::at::At;

/// Applies one. The lower part of a distance belongs to the place of the upper part; `upper` gives the distance
/// from there.
pub fn apply(
    kind: RelocationType,
    mut at: At<'_>,
    upper: impl Fn(u64) -> Option<u64>,
) -> Option<()> {
    let value = at.value(0)?;
    let distance = value.wrapping_sub(at.place);
    match kind {
        elf::R_RISCV_64 => at.write(&value.to_le_bytes()),
        elf::R_RISCV_32 | elf::R_RISCV_SET32 => at.write(&(value as u32).to_le_bytes()),
        elf::R_RISCV_32_PCREL => at.write(&(distance as u32).to_le_bytes()),
        elf::R_RISCV_SET16 => at.write(&(value as u16).to_le_bytes()),
        elf::R_RISCV_SET8 => at.write(&[value as u8]),
        elf::R_RISCV_ADD64 => add(&mut at, 8, value),
        elf::R_RISCV_ADD32 => add(&mut at, 4, value),
        elf::R_RISCV_ADD16 => add(&mut at, 2, value),
        elf::R_RISCV_ADD8 => add(&mut at, 1, value),
        elf::R_RISCV_SUB64 => add(&mut at, 8, value.wrapping_neg()),
        elf::R_RISCV_SUB32 => add(&mut at, 4, value.wrapping_neg()),
        elf::R_RISCV_SUB16 => add(&mut at, 2, value.wrapping_neg()),
        elf::R_RISCV_SUB8 => add(&mut at, 1, value.wrapping_neg()),
        elf::R_RISCV_SET_ULEB128 => set_length(&mut at, value),
        elf::R_RISCV_SUB_ULEB128 => {
            let before = length(&at);
            set_length(&mut at, before.wrapping_sub(value))
        }
        elf::R_RISCV_HI20 => high(&mut at, value),
        elf::R_RISCV_PCREL_HI20 => high(&mut at, distance),
        elf::R_RISCV_LO12_I => low(&mut at, value),
        elf::R_RISCV_LO12_S => low_of_store(&mut at, value),
        elf::R_RISCV_PCREL_LO12_I => low(&mut at, upper(value)?),
        elf::R_RISCV_PCREL_LO12_S => low_of_store(&mut at, upper(value)?),
        elf::R_RISCV_CALL | elf::R_RISCV_CALL_PLT => {
            high(&mut at, distance)?;
            low(&mut At { bytes: at.bytes.get_mut(4..)?, ..at }, distance)
        }
        elf::R_RISCV_BRANCH => at.insert(0xfe00_0f80, branch(distance as u32)),
        elf::R_RISCV_JAL => at.insert(0xffff_f000, jump(distance as u32)),
        elf::R_RISCV_RVC_BRANCH => short(&mut at, 0x1c7c, short_branch(distance as u16)),
        elf::R_RISCV_RVC_JUMP => short(&mut at, 0x1ffc, short_jump(distance as u16)),
        _ => None,
    }
}

fn add(at: &mut At<'_>, size: usize, value: u64) -> Option<()> {
    let mut bytes = [0; 8];
    bytes.get_mut(..size)?.copy_from_slice(at.bytes.get(..size)?);
    let sum = u64::from_le_bytes(bytes).wrapping_add(value).to_le_bytes();
    at.write(sum.get(..size)?)
}

/// A number of seven bits a byte.
fn length(at: &At<'_>) -> u64 {
    let mut number = 0;
    for (place, byte) in at.bytes.iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f).checked_shl(7 * place as u32).unwrap_or(0);
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

/// Writes such a number into as many bytes as there are.
fn set_length(at: &mut At<'_>, mut number: u64) -> Option<()> {
    for byte in at.bytes.iter_mut().take(10) {
        let is_last = *byte & 0x80 == 0;
        *byte = *byte & 0x80 | (number & 0x7f) as u8;
        number >>= 7;
        if is_last {
            break;
        }
    }
    Some(())
}

/// The lower part is signed, so the upper one is rounded.
fn high(at: &mut At<'_>, value: u64) -> Option<()> {
    at.insert(0xffff_f000, (value as u32).wrapping_add(0x800))
}

fn low(at: &mut At<'_>, value: u64) -> Option<()> {
    at.insert(0xfff0_0000, (value as u32) << 20)
}

fn low_of_store(at: &mut At<'_>, value: u64) -> Option<()> {
    at.insert(0xfe00_0f80, (value as u32 >> 5) << 25 | (value as u32 & 31) << 7)
}

const fn branch(distance: u32) -> u32 {
    (distance >> 12 & 1) << 31
        | (distance >> 5 & 0x3f) << 25
        | (distance >> 1 & 0xf) << 8
        | (distance >> 11 & 1) << 7
}

const fn jump(distance: u32) -> u32 {
    (distance >> 20 & 1) << 31
        | (distance >> 1 & 0x3ff) << 21
        | (distance >> 11 & 1) << 20
        | (distance >> 12 & 0xff) << 12
}

const fn short_branch(distance: u16) -> u16 {
    (distance >> 8 & 1) << 12
        | (distance >> 3 & 3) << 10
        | (distance >> 6 & 3) << 5
        | (distance >> 1 & 3) << 3
        | (distance >> 5 & 1) << 2
}

const fn short_jump(distance: u16) -> u16 {
    (distance >> 11 & 1) << 12
        | (distance >> 4 & 1) << 11
        | (distance >> 8 & 3) << 9
        | (distance >> 10 & 1) << 8
        | (distance >> 6 & 1) << 7
        | (distance >> 7 & 1) << 6
        | (distance >> 1 & 7) << 3
        | (distance >> 5 & 1) << 2
}

fn short(at: &mut At<'_>, mask: u16, bits: u16) -> Option<()> {
    let before = u16::from_le_bytes(*at.bytes.first_chunk()?);
    at.write(&(before & !mask | bits & mask).to_le_bytes())
}
