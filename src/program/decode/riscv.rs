//! Instructions of RISC-V in 64 and 32 bits, those of two bytes among them.

use raki::{BaseIOpcode as Base, COpcode as Short, Decode as _, Isa, OpcodeKind};

use super::{Effect, Instruction as Decoded, Machine, Memory, Next, Register};
use crate::program::object_file::image::Image;

/// Nothing is remembered between instructions.
pub struct Riscv<const BITS: u32> {
    /// Where the program's small data are.
    global_pointer: Option<u64>,
}

/// The register that is always 0.
const ZERO: Register = 0;
const RETURN: Register = 1;
const STACK: Register = 2;
/// Points to the program's small data all the time.
const GLOBAL_POINTER: Register = 3;
/// Functions that save registers for others return to this one.
const OTHER_RETURN: Register = 5;

impl<const BITS: u32> Machine<'_> for Riscv<BITS> {
    const STACK: Register = STACK;
    /// The registers of results. Others may outlive a call of a function whose code the compiler knew.
    const CHANGED_BY_CALLS: &'static [Register] = &[10, 11];
    const WORD: u8 = (BITS / 8) as u8;

    fn new(image: &Image<'_>) -> Self {
        Self { global_pointer: image.global_pointer }
    }

    fn decode(
        &mut self,
        address: u64,
        section: &[u8],
        offset: usize,
        found: &mut Decoded,
    ) -> Option<()> {
        let code = section.get(offset..)?;
        let instruction = Instruction::decode::<BITS>(code)?;
        found.start(instruction.length, instruction.next(address));
        found.is_filler = code.starts_with(&[0x01, 0x00]) || code.starts_with(&[0x13, 0, 0, 0]);
        if let Some(distance) = instruction.distance::<BITS>(section, offset) {
            let target = address.wrapping_add_signed(distance);
            found.next = match found.next {
                Next::IndirectCall => Next::Call(target),
                _ => Next::Jump(target),
            };
        }
        if let (GLOBAL_POINTER, Some(place)) = (instruction.from, self.global_pointer) {
            found.push(Effect::Constant(GLOBAL_POINTER, place));
        }
        instruction.effect::<BITS>(address).into_iter().for_each(|effect| found.push(effect));
        Some(())
    }
}

/// What an instruction does, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `to` = `number`.
    Constant,
    /// `to` = this place + `number`.
    Place,
    /// `to` = `from` + `number`.
    Add,
    /// `to` = word at `from` + `number`.
    Load,
    /// Word at `from` + `number` = `other`.
    Store,
    /// Control goes to this place + `number`; `to` = the next place.
    Jump,
    /// Control goes to `from` + `number`; `to` = the next place.
    IndirectJump,
    /// Control may go to this place + `number`.
    Branch,
    /// The program ends.
    Trap,
    /// `to` = something else.
    Other,
}

struct Instruction {
    kind: Kind,
    length: usize,
    to: Register,
    from: Register,
    other: Register,
    number: i64,
}

impl Instruction {
    fn decode<const BITS: u32>(code: &[u8]) -> Option<Self> {
        let isa = if BITS == 64 { Isa::Rv64 } else { Isa::Rv32 };
        let short = u16::from_le_bytes(*code.first_chunk()?);
        if short & 3 != 3 {
            let decoded = short.decode(isa);
            return Some(
                decoded.map_or(Self::unknown(2, ZERO), |known| Self::of::<BITS>(&known, 2)),
            );
        }
        let bits = u32::from_le_bytes(*code.first_chunk()?);
        let unknown = || Self::unknown(4, written_by_unknown(bits));
        Some(bits.decode(isa).map_or_else(|_| unknown(), |known| Self::of::<BITS>(&known, 4)))
    }

    /// Of an extension that the decoder does not know.
    const fn unknown(length: usize, to: Register) -> Self {
        Self { kind: Kind::Other, length, to, from: ZERO, other: ZERO, number: 0 }
    }

    fn of<const BITS: u32>(decoded: &raki::Instruction, length: usize) -> Self {
        let register = |number: Option<usize>| number.unwrap_or(0) as Register;
        let (from, other) = (register(decoded.rs1), register(decoded.rs2));
        let number = decoded.imm.unwrap_or(0);
        let (kind, to) = (kind(&decoded.opc), register(decoded.rd));
        let found = Self { kind, length, to, from, other, number: number.into() };
        match decoded.opc {
            // Half a word is not followed.
            OpcodeKind::BaseI(Base::LW) | OpcodeKind::C(Short::LW | Short::LWSP) if BITS == 64 => {
                Self { kind: Kind::Other, ..found }
            }
            OpcodeKind::BaseI(Base::SW) | OpcodeKind::C(Short::SW) if BITS == 64 => {
                Self { other: ZERO, ..found }
            }
            OpcodeKind::C(Short::SWSP) if BITS == 64 => Self { from: STACK, other: ZERO, ..found },
            OpcodeKind::BaseI(Base::LUI | Base::AUIPC) => {
                Self { number: i64::from(number << 12), ..found }
            }
            // A sum with the register that is 0 only copies.
            OpcodeKind::BaseI(Base::ADD) if other == ZERO => Self { kind: Kind::Add, ..found },
            OpcodeKind::BaseI(Base::ADD) if from == ZERO => {
                Self { kind: Kind::Add, from: other, ..found }
            }
            OpcodeKind::C(Short::MV) => Self { from: other, ..found },
            OpcodeKind::C(Short::JALR | Short::JAL) => Self { to: RETURN, ..found },
            OpcodeKind::C(
                Short::ADDI4SPN | Short::LWSP | Short::LDSP | Short::SWSP | Short::SDSP,
            ) => Self { from: STACK, ..found },
            _ => found,
        }
    }

    fn next(&self, address: u64) -> Next {
        let target = address.wrapping_add_signed(self.number);
        match (self.kind, self.to) {
            (Kind::Jump, ZERO) => Next::Jump(target),
            (Kind::Jump, _) => Next::Call(target),
            (Kind::IndirectJump, ZERO) if [RETURN, OTHER_RETURN].contains(&self.from) => Next::End,
            (Kind::IndirectJump, ZERO) => Next::IndirectJump,
            (Kind::IndirectJump, _) => Next::IndirectCall,
            (Kind::Branch, _) => Next::Branch(target),
            (Kind::Trap, _) => Next::End,
            _ => Next::Following,
        }
    }

    /// How far an indirect jump goes, if the instruction before it took the place for it. The two are one jump
    /// to a place far away.
    fn distance<const BITS: u32>(&self, section: &[u8], offset: usize) -> Option<i64> {
        const BEFORE: usize = 4;
        if self.kind != Kind::IndirectJump {
            return None;
        }
        let before = section.get(offset.checked_sub(BEFORE)?..)?;
        let before = Self::decode::<BITS>(before).filter(|before| before.length == BEFORE)?;
        (before.kind == Kind::Place && before.to == self.from)
            .then(|| before.number + self.number - BEFORE as i64)
    }

    fn effect<const BITS: u32>(&self, address: u64) -> Option<Effect> {
        let word = (BITS / 8) as u8;
        let &Self { kind, to, from, other, number, .. } = self;
        if kind == Kind::Store {
            return Some(Effect::Store(Memory::Behind(from, number), other, word));
        }
        if to == ZERO {
            return None;
        }
        Some(match kind {
            Kind::Constant => Effect::Constant(to, number as u64),
            Kind::Place => Effect::Constant(to, address.wrapping_add_signed(number)),
            Kind::Add if from == ZERO => Effect::Constant(to, number as u64),
            Kind::Add => Effect::Copy(to, from, number),
            Kind::Load => Effect::Load(to, Memory::Behind(from, number), word),
            _ => Effect::Clear(to),
        })
    }
}

const fn kind(opcode: &OpcodeKind) -> Kind {
    match opcode {
        OpcodeKind::BaseI(opcode) => match opcode {
            Base::LUI => Kind::Constant,
            Base::AUIPC => Kind::Place,
            Base::ADDI => Kind::Add,
            Base::LW | Base::LD => Kind::Load,
            Base::SW | Base::SD => Kind::Store,
            Base::JAL => Kind::Jump,
            Base::JALR => Kind::IndirectJump,
            Base::BEQ | Base::BNE | Base::BLT | Base::BGE | Base::BLTU | Base::BGEU => Kind::Branch,
            Base::EBREAK => Kind::Trap,
            _ => Kind::Other,
        },
        OpcodeKind::C(opcode) => match opcode {
            Short::LUI | Short::LI => Kind::Constant,
            Short::ADDI | Short::ADDI4SPN | Short::ADDI16SP | Short::MV => Kind::Add,
            Short::LW | Short::LD | Short::LWSP | Short::LDSP => Kind::Load,
            Short::SW | Short::SD | Short::SWSP | Short::SDSP => Kind::Store,
            Short::J | Short::JAL => Kind::Jump,
            Short::JR | Short::JALR => Kind::IndirectJump,
            Short::BEQZ | Short::BNEZ => Kind::Branch,
            Short::EBREAK => Kind::Trap,
            _ => Kind::Other,
        },
        _ => Kind::Other,
    }
}

/// The register that an unknown instruction of four bytes may write.
const fn written_by_unknown(bits: u32) -> Register {
    let to = (bits >> 7 & 31) as Register;
    match bits & 0x7f {
        // Arithmetic, and what goes over to these registers from those for fractions.
        0x13 | 0x1b | 0x33 | 0x3b => to,
        0x53 if matches!(bits >> 27, 0b10100 | 0b11000 | 0b11100) => to,
        _ => ZERO,
    }
}
