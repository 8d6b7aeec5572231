//! Instructions of x86-64.

use std::prelude::v1::*;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess,
    OpKind, Register as Name,
};

use super::machine::{Machine, Next, Step};
use super::state::{Effect, Register};

/// The decoder's memory between instructions.
pub struct X86_64<'c> {
    /// What it decodes: setting it up takes longer than an instruction.
    section: &'c [u8],
    decoder: Decoder<'c>,
    info: InstructionInfoFactory,
}

const STACK: Register = 4;
const FRAME: Register = 5;
const VECTORS: Register = 32;

impl<'c> Machine<'c> for X86_64<'c> {
    const STACK: Register = STACK;
    /// Those of results. Others may outlive a call of a function whose code the compiler knew.
    const CHANGED_BY_CALLS: &'static [Register] = &[0, 2, VECTORS, VECTORS + 1];

    fn new() -> Self {
        Self { section: &[], decoder: decoder(&[]), info: InstructionInfoFactory::new() }
    }

    fn decode(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step> {
        if !core::ptr::eq(section, self.section) {
            (self.section, self.decoder) = (section, decoder(section));
        }
        self.decoder.set_position(offset).ok()?;
        self.decoder.set_ip(address);
        let instruction = self.decoder.decode();
        if instruction.is_invalid() {
            return None;
        }
        let mut step = Step::new(instruction.len(), next(&instruction));
        if !self.known(&instruction, &mut step) {
            self.others(&instruction, &mut step);
        }
        Some(step)
    }
}

fn decoder(section: &[u8]) -> Decoder<'_> {
    Decoder::new(64, section, DecoderOptions::NONE)
}

impl X86_64<'_> {
    /// The effects of an instruction that moves addresses; `false` if it is another one.
    fn known(&self, instruction: &Instruction, step: &mut Step) -> bool {
        use Mnemonic::*;
        let (to, from) = (operand(instruction, 0), operand(instruction, 1));
        match (instruction.mnemonic(), to, from) {
            (
                Mov | Movq | Movaps | Movups | Movapd | Movupd | Movdqa | Movdqu | Vmovq | Vmovdqa
                | Vmovdqu | Vmovaps | Vmovups,
                to,
                from,
            ) => return moves(to, from, step),
            (Lea, Operand::Register(to), Operand::Constant(address)) => {
                step.push(Effect::Constant(to, address));
            }
            (Lea, Operand::Register(to), Operand::At(base, offset)) => {
                step.push(Effect::Copy(to, base, offset));
            }
            (Add, Operand::Register(to), Operand::Immediate(value)) => {
                step.push(Effect::Copy(to, to, value as i64));
            }
            (Sub, Operand::Register(to), Operand::Immediate(value)) => {
                step.push(Effect::Copy(to, to, (value as i64).wrapping_neg()));
            }
            (Punpcklqdq | Unpcklpd | Movlhps, Operand::Register(to), Operand::Register(from)) => {
                step.push(Effect::Pack(to, from));
            }
            (Pinsrq, Operand::Register(to), Operand::Register(from)) => {
                step.push(Effect::Pack(to, from));
            }
            (Movhps | Movhpd | Pinsrq, Operand::Register(to), Operand::Constant(address)) => {
                // Through a register of no machine, for what is read from memory.
                step.push(Effect::LoadConstant(Register::MAX, address));
                step.push(Effect::Pack(to, Register::MAX));
            }
            (Push, what, _) => {
                step.push(Effect::Copy(STACK, STACK, -8));
                match what {
                    Operand::Register(from) => step.push(Effect::Store(STACK, 0, from)),
                    Operand::Immediate(value) => step.push(Effect::StoreConstant(STACK, 0, value)),
                    _ => {}
                }
            }
            (Pop, Operand::Register(to), _) => {
                step.push(Effect::Load(to, STACK, 0));
                step.push(Effect::Copy(STACK, STACK, 8));
            }
            (Leave, ..) => {
                step.push(Effect::Load(FRAME, FRAME, 0));
                step.push(Effect::Clear(STACK));
            }
            // What they push is gone when the next instruction runs.
            (Call, ..) => {}
            (Cmp | Test | Nop | Endbr64, ..) => {}
            _ => return false,
        }
        true
    }

    /// Of any other instruction it matters which registers it writes.
    fn others(&mut self, instruction: &Instruction, step: &mut Step) {
        for used in self.info.info(instruction).used_registers() {
            let writes = matches!(
                used.access(),
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            );
            if let (true, Some(register)) = (writes, number(used.register())) {
                step.push(Effect::Clear(register));
            }
        }
    }
}

fn moves(to: Operand, from: Operand, step: &mut Step) -> bool {
    let effect = match (to, from) {
        (Operand::Register(to), Operand::Register(from)) => Effect::Copy(to, from, 0),
        (Operand::Register(to), Operand::Immediate(value)) => Effect::Constant(to, value),
        (Operand::Register(to), Operand::At(base, offset)) => Effect::Load(to, base, offset),
        (Operand::Register(to), Operand::Constant(address)) => Effect::LoadConstant(to, address),
        (Operand::At(base, offset), Operand::Register(from)) => Effect::Store(base, offset, from),
        (Operand::At(base, offset), Operand::Immediate(value)) => {
            Effect::StoreConstant(base, offset, value)
        }
        (Operand::Constant(_) | Operand::Elsewhere, Operand::Register(from)) => {
            Effect::StoreElsewhere(from)
        }
        (Operand::Constant(_) | Operand::Elsewhere, Operand::Immediate(value)) => {
            Effect::StoreConstantElsewhere(value)
        }
        _ => return false,
    };
    step.push(effect);
    true
}

/// An operand of eight bytes or more.
#[derive(Clone, Copy)]
enum Operand {
    Register(Register),
    Immediate(u64),
    /// Memory at a register, plus an offset.
    At(Register, i64),
    /// Memory at a constant address.
    Constant(u64),
    /// Other memory: of a thread, or behind an index.
    Elsewhere,
    /// None, or a part of something.
    Other,
}

fn operand(instruction: &Instruction, place: u32) -> Operand {
    if place >= instruction.op_count() {
        return Operand::Other;
    }
    match instruction.op_kind(place) {
        OpKind::Register => match whole(instruction.op_register(place)) {
            Some(register) => Operand::Register(register),
            None => Operand::Other,
        },
        OpKind::Memory => memory(instruction),
        OpKind::Immediate8to64 | OpKind::Immediate32to64 | OpKind::Immediate64 => {
            Operand::Immediate(instruction.immediate(place))
        }
        // Zero-extended, as addresses of programs at fixed places are.
        OpKind::Immediate32 => Operand::Immediate(instruction.immediate(place)),
        _ => Operand::Other,
    }
}

fn memory(instruction: &Instruction) -> Operand {
    let segment = instruction.segment_prefix();
    if segment == Name::FS || segment == Name::GS || instruction.memory_index() != Name::None {
        return Operand::Elsewhere;
    }
    match (instruction.memory_base(), number(instruction.memory_base())) {
        (Name::RIP | Name::EIP | Name::None, _) => {
            Operand::Constant(instruction.memory_displacement64())
        }
        (_, Some(base)) => Operand::At(base, instruction.memory_displacement64() as i64),
        _ => Operand::Elsewhere,
    }
}

/// The number of a register all of which is written: the upper half of one of 32 bits becomes 0.
fn whole(name: Name) -> Option<Register> {
    (name.is_gpr64() || name.is_gpr32() || name.is_vector_register()).then(|| number(name))?
}

fn number(name: Name) -> Option<Register> {
    let full = name.full_register();
    if full.is_gpr64() {
        return Some(full.number() as Register);
    }
    full.is_vector_register().then(|| VECTORS + full.number() as Register)
}

fn next(instruction: &Instruction) -> Next {
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::Next => Next::Following,
        FlowControl::UnconditionalBranch => Next::Jump(target),
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => Next::Branch(target),
        FlowControl::IndirectBranch => Next::IndirectJump,
        // The call of the dynamic linker for a thread's variable has prefixes to pad it.
        FlowControl::Call if instruction.len() > 5 => Next::Following,
        FlowControl::Call => Next::Call(target),
        FlowControl::IndirectCall => Next::IndirectCall,
        FlowControl::Interrupt => Next::Following,
        FlowControl::Return | FlowControl::Exception => Next::End,
    }
}
