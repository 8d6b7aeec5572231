//! Instructions of AArch64.

use std::prelude::v1::*;

use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{InstDecoder, Instruction, Opcode, Operand, SizeCode};

use super::{Effect, Instruction as Decoded, Machine, Memory, Next, Register};
use crate::program::object_file::image::Image;

/// Nothing is remembered between instructions.
pub struct Aarch64;

/// Number of the stack pointer. In other kinds of operands it stands for the register that is always 0.
const STACK: Register = 31;
/// Numbers of vector registers start here.
const VECTORS: Register = 32;
const LENGTH: usize = 4;
const WORD: i64 = 8;
const NOP: [u8; 4] = 0xd503_201f_u32.to_le_bytes();

impl Machine<'_> for Aarch64 {
    const STACK: Register = STACK;
    /// The registers of results. Others may outlive a call of a function whose code the compiler knew.
    const CHANGED_BY_CALLS: &'static [Register] = &[0, 1, VECTORS, VECTORS + 1];

    const WORD: u8 = WORD as u8;

    fn new(_image: &Image<'_>) -> Self {
        Self
    }

    fn decode(
        &mut self,
        address: u64,
        section: &[u8],
        offset: usize,
        found: &mut Decoded,
    ) -> Option<()> {
        let bytes = section.get(offset..)?.first_chunk::<LENGTH>()?;
        found.start(LENGTH, Next::Following);
        found.is_filler = *bytes == NOP;
        // Data between functions, or an extension that the decoder does not know, has no effects.
        if let Ok(instruction) = InstDecoder::default().decode(&mut U8Reader::new(bytes)) {
            found.next = next(&instruction, address);
            effects(&instruction, address, found);
        }
        Some(())
    }
}

fn next(instruction: &Instruction, address: u64) -> Next {
    let offset = instruction.operands.iter().find_map(|operand| match operand {
        Operand::PCOffset(offset) => Some(*offset),
        _ => None,
    });
    let target = address.wrapping_add_signed(offset.unwrap_or(0));
    match instruction.opcode {
        Opcode::B => Next::Jump(target),
        Opcode::Bcc(_) | Opcode::CBZ | Opcode::CBNZ | Opcode::TBZ | Opcode::TBNZ => {
            Next::Branch(target)
        }
        Opcode::BL => Next::Call(target),
        Opcode::BLR => Next::IndirectCall,
        Opcode::BR => Next::IndirectJump,
        Opcode::RET | Opcode::BRK | Opcode::UDF => Next::End,
        _ => Next::Following,
    }
}

fn effects(instruction: &Instruction, address: u64, found: &mut Decoded) {
    use Operand::{PCOffset, Register as Number, RegisterOrSP};
    let [a, b, c, _] = instruction.operands;
    match (instruction.opcode, a, b) {
        (Opcode::ADRP, Number(_, to), PCOffset(offset)) => {
            found.push(constant(to, (address & !0xfff).wrapping_add_signed(offset)));
        }
        (Opcode::ADR, Number(_, to), PCOffset(offset)) => {
            found.push(constant(to, address.wrapping_add_signed(offset)));
        }
        (Opcode::ADD | Opcode::SUB, RegisterOrSP(SizeCode::X, to), RegisterOrSP(_, from)) => {
            let sign = if instruction.opcode == Opcode::ADD { 1 } else { -1 };
            match immediate(c) {
                Some(value) => found.push(Effect::Copy(to as u8, from as u8, sign * value)),
                None => found.push(Effect::Clear(to as u8)),
            }
        }
        (Opcode::ORR, Number(SizeCode::X, to), Number(_, 31)) => match c {
            Operand::RegShift(_, 0, SizeCode::X, from) if from < 31 => {
                found.push(Effect::Copy(to as u8, from as u8, 0));
            }
            _ => found.push(Effect::Clear(to as u8)),
        },
        (Opcode::LDR | Opcode::LDUR, to, place) => access(&[to], place, true, found),
        (Opcode::STR | Opcode::STUR, from, place) => access(&[from], place, false, found),
        (Opcode::LDP, a, b) => access(&[a, b], c, true, found),
        (Opcode::STP, a, b) => access(&[a, b], c, false, found),
        // A value on its way through a vector register, alone or as the second half.
        (Opcode::FMOV, Operand::SIMDRegister(_, to), Number(SizeCode::X, from)) if from < 31 => {
            found.push(Effect::Copy(VECTORS + to as u8, from as u8, 0));
        }
        (Opcode::INS, Operand::SIMDRegisterElementsLane(_, to, ..), Number(_, from))
            if from < 31 =>
        {
            found.push(Effect::Pack(VECTORS + to as u8, from as u8));
        }
        (opcode, written, _) if writes_first(opcode) => {
            if let Some(register) = number(written) {
                found.push(Effect::Clear(register));
            }
        }
        _ => {}
    }
}

fn constant(to: u16, value: u64) -> Effect {
    match to {
        31 => Effect::Clear(Register::MAX),
        to => Effect::Constant(to as Register, value),
    }
}

fn immediate(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Immediate(value) => Some(value.into()),
        Operand::Imm16(value) => Some(value.into()),
        Operand::Imm64(value) => i64::try_from(value).ok(),
        Operand::ImmShift(value, shift) => Some(i64::from(value) << shift.min(16)),
        _ => None,
    }
}

/// Loads or stores one or two registers.
fn access(registers: &[Operand], place: Operand, loads: bool, found: &mut Decoded) {
    let (base, offset, before, after) = match place {
        Operand::RegPreIndex(base, offset, false) => (base, offset, 0, 0),
        Operand::RegPreIndex(base, offset, true) => (base, 0, offset, 0),
        Operand::RegPostIndex(base, offset) => (base, 0, 0, offset),
        _ => return elsewhere(registers, loads, found),
    };
    let base = base as Register;
    let moved = |by: i32| Effect::Copy(base, base, by.into());
    if before != 0 {
        found.push(moved(before));
    }
    let mut offset = i64::from(offset);
    // The base may be loaded, too. It then comes last.
    let mut loaded = Vec::new();
    for &register in registers {
        match whole(register) {
            Some((register, size)) if loads => {
                loaded.push(Effect::Load(register, Memory::Behind(base, offset), WORD as u8));
                offset += size;
            }
            Some((register, size)) => {
                found.push(Effect::Store(Memory::Behind(base, offset), register, WORD as u8));
                offset += size;
            }
            None => {
                loaded.extend(number(register).filter(|_| loads).map(Effect::Clear));
                offset += WORD;
            }
        }
    }
    loaded.sort_by_key(|effect| matches!(effect, Effect::Load(to, ..) if *to == base));
    loaded.into_iter().for_each(|effect| found.push(effect));
    if after != 0 {
        found.push(moved(after));
    }
}

fn elsewhere(registers: &[Operand], loads: bool, found: &mut Decoded) {
    for &register in registers {
        match (loads, number(register)) {
            (true, Some(register)) => found.push(Effect::Clear(register)),
            (false, Some(register)) => {
                found.push(Effect::Store(Memory::Elsewhere, register, WORD as u8))
            }
            (_, None) => {}
        }
    }
}

/// A register of at least 64 bits, and its size in bytes.
fn whole(operand: Operand) -> Option<(Register, i64)> {
    use yaxpeax_arm::armv8::a64::SIMDSizeCode::{D, Q};
    match operand {
        Operand::Register(SizeCode::X, 31) => Some((Register::MAX, WORD)),
        Operand::Register(SizeCode::X, number) => Some((number as Register, WORD)),
        Operand::SIMDRegister(D, number) => Some((VECTORS + number as Register, WORD)),
        Operand::SIMDRegister(Q, number) => Some((VECTORS + number as Register, 2 * WORD)),
        _ => None,
    }
}

/// The register that an operand is, or is a part of.
fn number(operand: Operand) -> Option<Register> {
    match operand {
        Operand::Register(_, 31) => None,
        Operand::Register(_, number) | Operand::RegisterOrSP(_, number) => Some(number as Register),
        Operand::SIMDRegister(_, number)
        | Operand::SIMDRegisterElements(_, number, _)
        | Operand::SIMDRegisterElementsLane(_, number, ..) => Some(VECTORS + number as Register),
        _ => None,
    }
}

/// Whether the first operand of an instruction is a register that it writes.
fn writes_first(opcode: Opcode) -> bool {
    !matches!(
        opcode,
        Opcode::STRB
            | Opcode::STRH
            | Opcode::STURB
            | Opcode::STURH
            | Opcode::CBZ
            | Opcode::CBNZ
            | Opcode::TBZ
            | Opcode::TBNZ
            | Opcode::BLR
            | Opcode::BR
            | Opcode::RET
            | Opcode::CCMP
            | Opcode::CCMN
            | Opcode::MSR
    )
}
