//! Instructions of 32-bit ARM: those of four bytes (A32), and Thumb's of two or four (T32). Symbols tell which
//! are where.

use std::prelude::v1::*;

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv7::{ConditionCode, InstDecoder, Instruction, Opcode, Operand};

use super::{Effect, Instruction as Decoded, Machine, Memory, Next, Register};
use crate::program::object_file::image::Image;

/// The state of the decoder between instructions.
pub struct Arm<'c> {
    image: &'c Image<'c>,
    /// How many of Thumb's instructions, from an address on, an instruction before them has made conditional.
    conditional: (u64, u32),
}

const RESULT: Register = 0;
const STACK: Register = 13;
const RETURN: Register = 14;
const PLACE: Register = 15;
const WORD: i64 = 4;
const NOPS: [&[u8]; 4] =
    [&[0x00, 0xbf], &[0xaf, 0xf3, 0x00, 0x80], &[0, 0xf0, 0x20, 0xe3], &[0, 0, 0xa0, 0xe1]];
/// Conditions from this one on are none.
const ALWAYS: u8 = ConditionCode::AL as u8;

impl<'c> Machine<'c> for Arm<'c> {
    const STACK: Register = STACK;
    /// The registers of results. Others may outlive a call of a function whose code the compiler knew.
    const CHANGED_BY_CALLS: &'static [Register] = &[0, 1];
    const WORD: u8 = WORD as u8;

    fn new(image: &'c Image<'c>) -> Self {
        Self { image, conditional: (0, 0) }
    }

    fn decode(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
        found: &mut Decoded,
    ) -> Option<()> {
        let is_thumb = self.image.is_thumb(address);
        let code = section.get(offset..)?;
        let bits = bits(code, is_thumb)?;
        let length = if is_thumb && bits >> 16 == 0 { 2 } else { 4 };
        let at = At { address, is_thumb, section, offset };
        found.start(length, Next::Following);
        found.is_filler = NOPS.iter().any(|nop| code.starts_with(nop));
        let mut is_conditional = self.is_conditional(address, length);
        let decoder = InstDecoder::default().with_thumb_mode(is_thumb);
        let code = code.get(..length)?;
        let is_none = !is_thumb && loads_beyond_registers(bits);
        let decoded = || decoder.decode(&mut U8Reader::new(code)).ok();
        match (!is_none).then(decoded).flatten() {
            Some(instruction) => {
                if instruction.opcode == Opcode::IT {
                    self.conditional = (address + length as u64, covered(&instruction));
                }
                is_conditional |= (instruction.condition as u8) < ALWAYS;
                found.next = at.next(&instruction);
                at.effects(&instruction, found);
                if matches!(found.next, Next::Call(to) if Some(to) == self.image.asks_for_thread) {
                    found.next = Next::Following;
                    found.push(Effect::Clear(RESULT));
                }
            }
            // Data, or an instruction of a coprocessor.
            None => coprocessor(bits, found),
        }
        if is_conditional {
            make_conditional(found);
        }
        Some(())
    }
}

impl Arm<'_> {
    /// Whether an instruction before this one has made it conditional.
    fn is_conditional(&mut self, address: u64, length: usize) -> bool {
        let (next, left) = self.conditional;
        if next != address || left == 0 {
            return false;
        }
        self.conditional = (address.wrapping_add(length as u64), left - 1);
        true
    }
}

/// How many instructions one of Thumb makes conditional: its mask ends with a 1 behind them.
fn covered(instruction: &Instruction) -> u32 {
    match instruction.operands[1] {
        Operand::Imm32(mask) => 4u32.saturating_sub(mask.trailing_zeros()),
        _ => 0,
    }
}

/// The bits of an instruction. Those of Thumb with two bytes leave the upper half 0.
fn bits(code: &[u8], is_thumb: bool) -> Option<u32> {
    if !is_thumb {
        return Some(u32::from_le_bytes(*code.first_chunk()?));
    }
    let first = u16::from_le_bytes(*code.first_chunk()?);
    if first < 0xe800 {
        return Some(first.into());
    }
    let second = u16::from_le_bytes(*code.get(2..)?.first_chunk()?);
    Some(u32::from(first) << 16 | u32::from(second))
}

/// Whether an instruction of four bytes loads or stores the two registers from the last one on. There is no such
/// instruction, and the decoder panics.
const fn loads_beyond_registers(bits: u32) -> bool {
    bits & 0x0e10_f0d0 == 0x0000_f0d0
}

/// What instructions of coprocessors, those for fractions among them, do to registers.
fn coprocessor(bits: u32, found: &mut Decoded) {
    let register = |place: u32| (bits >> place & 15) as Register;
    let moved = i64::from(bits & 0xff) * WORD;
    match bits {
        // vpush, vpop
        _ if bits & 0x0fbf_0e00 == 0x0d2d_0a00 => found.push(Effect::Copy(STACK, STACK, -moved)),
        _ if bits & 0x0fbf_0e00 == 0x0cbd_0a00 => found.push(Effect::Copy(STACK, STACK, moved)),
        // Two registers, one register.
        _ if bits & 0x0ff0_0000 == 0x0c50_0000 => {
            found.push(Effect::Clear(register(12)));
            found.push(Effect::Clear(register(16)));
        }
        _ if bits & 0x0f10_0010 == 0x0e10_0010 => found.push(Effect::Clear(register(12))),
        _ => {}
    }
}

/// What was certain no longer is.
fn make_conditional(found: &mut Decoded) {
    found.next = match found.next {
        Next::Jump(target) => Next::Branch(target),
        Next::IndirectJump => Next::IndirectBranch,
        Next::End => Next::MayEnd,
        next => next,
    };
    for effect in core::mem::take(&mut found.effects) {
        match effect {
            Effect::Constant(to, _) | Effect::Copy(to, ..) | Effect::Load(to, ..) => {
                found.push(Effect::Clear(to));
            }
            Effect::Store(memory, from, size) => {
                found.push(Effect::Store(Memory::Elsewhere, from, size));
                found.push(Effect::Store(memory, Register::MAX, size));
            }
            effect => found.push(effect),
        }
    }
}

/// Where an instruction is.
struct At<'c> {
    address: u64,
    is_thumb: bool,
    section: &'c [u8],
    offset: usize,
}

impl At<'_> {
    /// What the register of the place holds here.
    const fn place(&self) -> u64 {
        self.address.wrapping_add(if self.is_thumb { 4 } else { 8 })
    }

    /// The same, as addresses in the code count from it.
    const fn aligned_place(&self) -> u64 {
        self.place() & !3
    }

    /// The constant in the code at this distance.
    fn constant(&self, distance: i64) -> Option<u32> {
        let distance =
            self.aligned_place().wrapping_add_signed(distance).wrapping_sub(self.address);
        let offset = self.offset.checked_add_signed(distance as i64 as isize)?;
        Some(u32::from_le_bytes(*self.section.get(offset..)?.first_chunk()?))
    }

    fn next(&self, instruction: &Instruction) -> Next {
        let opcode = instruction.opcode;
        let target =
            instruction.operands.iter().find_map(|operand| self.target(operand, instruction));
        match (opcode, target) {
            (Opcode::B, Some(target)) => Next::Jump(target),
            (Opcode::CBZ | Opcode::CBNZ, Some(target)) => Next::Branch(target),
            (Opcode::BL | Opcode::BLX, Some(target)) => Next::Call(target),
            (Opcode::BLX, None) => Next::IndirectCall,
            (Opcode::TBB | Opcode::TBH, _) => Next::IndirectJump,
            (Opcode::BKPT | Opcode::UDF, _) => Next::End,
            (Opcode::BX | Opcode::BXJ, _) => match number(instruction.operands[0]) {
                Some(RETURN) => Next::End,
                _ => Next::IndirectJump,
            },
            (Opcode::POP | Opcode::LDM(..), _) if loads_place(instruction) => Next::End,
            _ if number(instruction.operands[0]) == Some(PLACE) && writes_first(opcode) => {
                match instruction.operands[1] {
                    Operand::Reg(from) if from.number() == RETURN => Next::End,
                    // A return that takes its address from the stack.
                    Operand::RegDerefPostindexOffset(base, ..) if base.number() == STACK => {
                        Next::End
                    }
                    _ => Next::IndirectJump,
                }
            }
            _ => Next::Following,
        }
    }

    /// Where a jump or call goes. The decoder counts from different places.
    fn target(&self, operand: &Operand, instruction: &Instruction) -> Option<u64> {
        let is_short = match instruction.opcode {
            Opcode::CBZ | Opcode::CBNZ => true,
            _ => !instruction.wide && instruction.condition != ConditionCode::AL,
        };
        let (from, distance) = match *operand {
            Operand::BranchOffset(words) if self.is_thumb => {
                (self.aligned_place(), words.wrapping_mul(4))
            }
            Operand::BranchOffset(words) => (self.address, words.wrapping_mul(4)),
            Operand::BranchThumbOffset(halves) if is_short => {
                (self.address.wrapping_add(2), halves.wrapping_mul(2))
            }
            Operand::BranchThumbOffset(halves) => (self.place(), halves.wrapping_mul(2)),
            _ => return None,
        };
        Some(from.wrapping_add_signed(distance.into()) & 0xffff_ffff)
    }

    fn effects(&self, instruction: &Instruction, found: &mut Decoded) {
        let [a, b, c, _] = instruction.operands;
        let opcode = instruction.opcode;
        match opcode {
            Opcode::POP => return list(STACK, listed(a), (true, true, false), true, found),
            Opcode::PUSH => return list(STACK, listed(a), (false, false, true), true, found),
            Opcode::LDM(up, before, ..) | Opcode::STM(up, before, ..) => {
                let Operand::RegWBack(base, moves) = a else { return };
                let loads = matches!(opcode, Opcode::LDM(..));
                return list(base.number(), listed(b), (loads, up, before), moves, found);
            }
            _ => {}
        }
        if let Some(memory) = instruction.operands.iter().position(is_memory) {
            let registers = &instruction.operands[..memory];
            return self.access(opcode, registers, instruction.operands[memory], found);
        }
        let Some(to) = number(a).filter(|&to| to != PLACE && writes_first(opcode)) else { return };
        let (first, second) = match c {
            // The register is the first summand, too.
            Operand::Nothing => (a, b),
            _ => (b, c),
        };
        found.push(match (opcode, number(first), immediate(second)) {
            (Opcode::MOV, _, Some(value)) => Effect::Constant(to, value as u32 as u64),
            (Opcode::MOVT, _, Some(value)) => Effect::Copy(to, to, value << 16),
            (Opcode::ADR, _, Some(value)) => {
                Effect::Constant(to, self.aligned_place().wrapping_add_signed(value))
            }
            (Opcode::ADD, Some(PLACE), Some(value)) => {
                Effect::Constant(to, self.aligned_place().wrapping_add_signed(value))
            }
            (Opcode::SUB, Some(PLACE), Some(value)) => {
                Effect::Constant(to, self.aligned_place().wrapping_add_signed(-value))
            }
            (Opcode::ADD, Some(from), Some(value)) => Effect::Copy(to, from, value),
            (Opcode::SUB, Some(from), Some(value)) => Effect::Copy(to, from, -value),
            _ => match (opcode, number(first), number(second)) {
                (Opcode::MOV, _, Some(from)) => Effect::Copy(to, from, 0),
                (Opcode::ADD, Some(from), Some(PLACE)) | (Opcode::ADD, Some(PLACE), Some(from)) => {
                    Effect::Copy(to, from, self.place() as i64)
                }
                _ => Effect::Clear(to),
            },
        });
        // Products of two words have two results.
        if let (
            Opcode::UMULL | Opcode::SMULL | Opcode::UMLAL | Opcode::SMLAL | Opcode::UMAAL,
            Some(high),
        ) = (opcode, number(b))
        {
            found.push(Effect::Clear(high));
        }
    }

    /// Loads or stores one register or two.
    fn access(&self, opcode: Opcode, registers: &[Operand], memory: Operand, found: &mut Decoded) {
        let whole = is_whole(opcode);
        let loads = loads(opcode);
        let Some((base, offset, moved)) = place(memory) else {
            for register in registers.iter().filter_map(|&operand| number(operand)) {
                found.push(match loads {
                    true => Effect::Clear(register),
                    false => Effect::Store(Memory::Elsewhere, register, WORD as u8),
                });
            }
            return;
        };
        let mut of_base = None;
        for (place, register) in registers.iter().filter_map(|&operand| number(operand)).enumerate()
        {
            let offset = offset + WORD * place as i64;
            let effect = match (loads, base) {
                (true, _) if !whole => Effect::Clear(register),
                (true, PLACE) => match self.constant(offset) {
                    Some(value) => Effect::Constant(register, value.into()),
                    None => Effect::Clear(register),
                },
                (true, _) => Effect::Load(register, Memory::Behind(base, offset), WORD as u8),
                (false, _) if !whole => {
                    Effect::Store(Memory::Behind(base, offset & !3), Register::MAX, WORD as u8)
                }
                (false, _) => Effect::Store(Memory::Behind(base, offset), register, WORD as u8),
            };
            // The base may be loaded, too. It then comes last.
            if loads && register == base { of_base = Some(effect) } else { found.push(effect) }
        }
        of_base.into_iter().for_each(|effect| found.push(effect));
        if moved != 0 {
            found.push(Effect::Copy(base, base, moved));
        }
    }
}

/// Loads or stores a list of registers: whether it loads, goes up, and moves before each.
fn list(
    base: Register,
    registers: u16,
    (loads, up, before): (bool, bool, bool),
    moves: bool,
    found: &mut Decoded,
) {
    let length = WORD * i64::from(registers.count_ones());
    let lowest = match (up, before) {
        (true, false) => 0,
        (true, true) => WORD,
        (false, true) => -length,
        (false, false) => WORD - length,
    };
    let moved = if moves { Some(if up { length } else { -length }) } else { None };
    // The base first, so that it is not what finds no room.
    moved.into_iter().for_each(|moved| found.push(Effect::Copy(base, base, moved)));
    let lowest = lowest - moved.unwrap_or(0);
    let all = (0..PLACE).filter(|register| registers >> register & 1 == 1);
    for (place, register) in all.enumerate() {
        let offset = lowest + WORD * place as i64;
        found.push(match loads {
            true if register == base => Effect::Clear(register),
            true => Effect::Load(register, Memory::Behind(base, offset), WORD as u8),
            false => Effect::Store(Memory::Behind(base, offset), register, WORD as u8),
        });
    }
}

const fn listed(operand: Operand) -> u16 {
    match operand {
        Operand::RegList(registers) => registers,
        _ => 0,
    }
}

/// Whether a list of registers has the one of the place: control goes to what it loads.
fn loads_place(instruction: &Instruction) -> bool {
    instruction.operands.iter().any(|&operand| listed(operand) >> PLACE == 1)
}

fn number(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Reg(register) => Some(register.number()),
        _ => None,
    }
}

fn immediate(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Imm12(value) => Some(value.into()),
        Operand::Imm32(value) => Some((value as i32).into()),
        _ => None,
    }
}

const fn is_memory(operand: &Operand) -> bool {
    matches!(
        operand,
        Operand::RegDeref(_)
            | Operand::RegDerefPreindexOffset(..)
            | Operand::RegDerefPostindexOffset(..)
            | Operand::RegDerefPreindexReg(..)
            | Operand::RegDerefPostindexReg(..)
            | Operand::RegDerefPreindexRegShift(..)
            | Operand::RegDerefPostindexRegShift(..)
    )
}

/// Base and offset of a place in memory, and what is added to the base afterwards. `None` with an index.
fn place(operand: Operand) -> Option<(Register, i64, i64)> {
    let distance = |offset: u16, adds: bool| i64::from(offset) * if adds { 1 } else { -1 };
    match operand {
        Operand::RegDeref(base) => Some((base.number(), 0, 0)),
        Operand::RegDerefPreindexOffset(base, offset, adds, moves) => {
            let distance = distance(offset, adds);
            Some((base.number(), distance, if moves { distance } else { 0 }))
        }
        Operand::RegDerefPostindexOffset(base, offset, adds, _) => {
            Some((base.number(), 0, distance(offset, adds)))
        }
        _ => None,
    }
}

/// Whether an instruction loads or stores whole words.
const fn is_whole(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::LDR
            | Opcode::LDRD
            | Opcode::LDREX
            | Opcode::LDREXD
            | Opcode::LDAEXD
            | Opcode::STR
            | Opcode::STRD
    )
}

const fn loads(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::STR
            | Opcode::STRD
            | Opcode::STRB
            | Opcode::STRH
            | Opcode::STRT
            | Opcode::STRBT
            | Opcode::STRHT
            | Opcode::STL
            | Opcode::STLB
            | Opcode::STLH
            | Opcode::PLD
            | Opcode::PLI
    )
}

/// Whether the first operand of an instruction is a register that it writes.
const fn writes_first(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::CMP
            | Opcode::CMN
            | Opcode::TST
            | Opcode::TEQ
            | Opcode::CBZ
            | Opcode::CBNZ
            | Opcode::MSR
            | Opcode::BX
            | Opcode::BXJ
            | Opcode::BLX
            | Opcode::STR
            | Opcode::STRD
            | Opcode::STRB
            | Opcode::STRH
    )
}
