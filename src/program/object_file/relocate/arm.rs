//! Relocations of 32-bit ARM, with those of Thumb.

use object::elf::{self, RelocationType};

use super::at::{At, TABLE};

/// Applies one. Addresses of Thumb's functions are odd.
pub fn apply(kind: RelocationType, mut at: At<'_>) -> Option<()> {
    let in_place = at.number();
    match kind {
        elf::R_ARM_ABS32 | elf::R_ARM_TARGET1 => {
            let value = at.value(in_place)?;
            at.write(&(value as u32).to_le_bytes())
        }
        elf::R_ARM_REL32 => {
            let value = at.value(in_place)?.wrapping_sub(at.place);
            at.write(&(value as u32).to_le_bytes())
        }
        // The symbol is the table.
        elf::R_ARM_GOTPC => {
            let value = TABLE.wrapping_add_signed(at.addend.unwrap_or(in_place));
            at.write(&(value.wrapping_sub(at.place) as u32).to_le_bytes())
        }
        elf::R_ARM_GOTOFF => {
            let value = at.value(in_place)?.wrapping_sub(TABLE);
            at.write(&(value as u32).to_le_bytes())
        }
        elf::R_ARM_CALL | elf::R_ARM_JUMP24 | elf::R_ARM_PC24 => {
            let in_place = i64::from((in_place as i32) << 8 >> 6);
            let distance = (at.value(in_place)? & !1).wrapping_sub(at.place);
            at.insert(0xff_ffff, (distance >> 2) as u32)
        }
        elf::R_ARM_THM_PC22 | elf::R_ARM_THM_JUMP24 => thumb_jump(at),
        elf::R_ARM_MOVW_ABS_NC => half(at, 0, false),
        elf::R_ARM_MOVT_ABS => half(at, 16, false),
        elf::R_ARM_MOVW_PREL_NC => half(at, 0, true),
        elf::R_ARM_MOVT_PREL => half(at, 16, true),
        elf::R_ARM_THM_MOVW_ABS_NC => thumb_half(at, 0, false),
        elf::R_ARM_THM_MOVT_ABS => thumb_half(at, 16, false),
        elf::R_ARM_THM_MOVW_PREL_NC => thumb_half(at, 0, true),
        elf::R_ARM_THM_MOVT_PREL => thumb_half(at, 16, true),
        _ => None,
    }
}

/// Puts the instruction that asks the processor for the thread's memory where code calls a function for that.
pub fn ask_processor(kind: RelocationType, mut at: At<'_>) -> Option<()> {
    const ASKS: u32 = 0xee1d_0f70;
    match kind {
        elf::R_ARM_CALL | elf::R_ARM_JUMP24 | elf::R_ARM_PC24 => at.write(&ASKS.to_le_bytes()),
        elf::R_ARM_THM_PC22 | elf::R_ARM_THM_JUMP24 => write_thumb(&mut at, ASKS),
        _ => None,
    }
}

/// The distance in a call or jump of Thumb: sign, and 24 bits in four parts. Two of them are inverted if the sign
/// is 0.
fn thumb_jump(mut at: At<'_>) -> Option<()> {
    let bits = thumb_bits(&at)?;
    let sign = bits >> 26 & 1;
    let [first, second] = [13, 11].map(|place| !((bits >> place & 1) ^ sign) & 1);
    let found =
        sign << 24 | first << 23 | second << 22 | (bits >> 16 & 0x3ff) << 12 | (bits & 0x7ff) << 1;
    let in_place = i64::from((found as i32) << 7 >> 7);
    let distance = (at.value(in_place)? & !1).wrapping_sub(at.place) as u32;
    let sign = distance >> 24 & 1;
    let [first, second] = [23, 22].map(|place| !((distance >> place & 1) ^ sign) & 1);
    let high = sign << 10 | distance >> 12 & 0x3ff;
    let low = first << 13 | second << 11 | distance >> 1 & 0x7ff;
    write_thumb(&mut at, bits & 0xf800_d000 | high << 16 | low)
}

/// Half of a value, or of the distance to it, in an instruction with four bits of it apart.
fn half(mut at: At<'_>, shift: u32, is_distance: bool) -> Option<()> {
    let bits = at.bits()?;
    let in_place = i64::from((bits >> 4 & 0xf000 | bits & 0xfff) as u16 as i16);
    let value = wanted(&at, in_place, is_distance)? >> shift;
    at.insert(0xf_0fff, (value & 0xf000) << 4 | value & 0xfff)
}

/// The same for Thumb, with 16 bits in four parts.
fn thumb_half(mut at: At<'_>, shift: u32, is_distance: bool) -> Option<()> {
    let bits = thumb_bits(&at)?;
    let found = (bits >> 4 & 0xf000) | (bits >> 15 & 0x800) | (bits >> 4 & 0x700) | bits & 0xff;
    let value = wanted(&at, i64::from(found as u16 as i16), is_distance)? >> shift;
    let parts = (value & 0xf000) << 4 | (value & 0x800) << 15 | (value & 0x700) << 4 | value & 0xff;
    write_thumb(&mut at, bits & !0x040f_70ff | parts)
}

fn wanted(at: &At<'_>, in_place: i64, is_distance: bool) -> Option<u32> {
    let value = at.value(in_place)?;
    Some(if is_distance { value.wrapping_sub(at.place) } else { value } as u32)
}

/// An instruction of Thumb with four bytes, its first half above.
fn thumb_bits(at: &At<'_>) -> Option<u32> {
    at.bits().map(|bits| bits.rotate_left(16))
}

fn write_thumb(at: &mut At<'_>, bits: u32) -> Option<()> {
    at.write(&bits.rotate_left(16).to_le_bytes())
}
