//! Instructions of x86, in 64 and 32 bits.

use std::prelude::v1::*;

use iced_x86::{
    CodeSize, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register as Name,
};

use super::{Effect, Instruction as Decoded, Machine, Memory, Next, Register};
use crate::program::object_file::image::Image;

/// The state of the decoder between instructions.
pub struct X86<'c, const BITS: u32> {
    image: &'c Image<'c>,
    /// The section that it decodes. Setting the decoder up takes longer than an instruction.
    section: &'c [u8],
    decoder: Decoder<'c>,
    info: InstructionInfoFactory,
}

/// The register of results.
const RAX: Register = 0;
const STACK: Register = 4;
const FRAME: Register = 5;
const VECTORS: Register = 32;
/// A register that no machine has, to hold what is read from memory.
const MEMORY: Register = 31;

impl<'c, const BITS: u32> Machine<'c> for X86<'c, BITS> {
    const STACK: Register = STACK;
    /// The registers of results. Others may outlive a call of a function whose code the compiler knew.
    const CHANGED_BY_CALLS: &'static [Register] = &[0, 2, VECTORS, VECTORS + 1];

    const WORD: u8 = (BITS / 8) as u8;
    /// Code of 32 bits may count them from where its data is.
    const TAKES_WHOLE_ADDRESSES: bool = BITS == 64;

    fn new(image: &'c Image<'c>) -> Self {
        let info = InstructionInfoFactory::new();
        Self { image, section: &[], decoder: decoder::<BITS>(&[]), info }
    }

    fn decode(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
        found: &mut Decoded,
    ) -> Option<()> {
        let instruction = self.instruction(address, section, offset)?;
        found.start(instruction.len(), next(&instruction));
        if let Some((register, place)) = self.place_asked_for(&instruction) {
            found.next = Next::Following;
            found.push(Effect::Constant(register, place));
            return Some(());
        }
        found.is_filler = matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
        effects(&instruction, Self::WORD, found);
        if has_implicit_results(&instruction) {
            self.implicit_results(&instruction, found);
        }
        Some(())
    }
}

fn decoder<const BITS: u32>(section: &[u8]) -> Decoder<'_> {
    Decoder::new(BITS, section, DecoderOptions::NONE)
}

impl<'c, const BITS: u32> X86<'c, BITS> {
    fn instruction(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
    ) -> Option<Instruction> {
        if !core::ptr::eq(section, self.section) {
            (self.section, self.decoder) = (section, decoder::<BITS>(section));
        }
        if self.decoder.position() != offset {
            self.decoder.set_position(offset).ok()?;
        }
        self.decoder.set_ip(address);
        let instruction = self.decoder.decode();
        (!instruction.is_invalid()).then_some(instruction)
    }

    /// The register that a call sets to the address behind it, and that address. Code of 32 bits calls such
    /// functions to know where it is: `mov (%esp), %ebx; ret`.
    fn place_asked_for(&self, instruction: &Instruction) -> Option<(Register, u64)> {
        if BITS == 64 || instruction.mnemonic() != Mnemonic::Call {
            return None;
        }
        let (section, offset) = self.image.place(instruction.near_branch_target())?;
        let [0x8b, which, 0x24, 0xc3] = *section.get(offset..)?.first_chunk()? else { return None };
        (which & 0xc7 == 4).then(|| (which >> 3, instruction.next_ip()))
    }

    /// Clears all registers that an instruction writes.
    fn implicit_results(&mut self, instruction: &Instruction, found: &mut Decoded) {
        let info = self.info.info_options(instruction, InstructionInfoOptions::NO_MEMORY_USAGE);
        for used in info.used_registers() {
            let writes = matches!(
                used.access(),
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            );
            if let (true, Some(register)) = (writes, number(used.register())) {
                found.push(Effect::Clear(register));
            }
        }
    }
}

/// Whether an instruction writes other registers than its first operand.
fn has_implicit_results(instruction: &Instruction) -> bool {
    use Mnemonic::*;
    match instruction.mnemonic() {
        Ret | Leave | Nop | Endbr64 | Endbr32 => false,
        Xchg | Xadd | Cmpxchg | Cmpxchg8b | Cmpxchg16b | Mulx => true,
        Mul | Imul | Div | Idiv => instruction.op_count() == 1,
        _ => instruction.op_count() == 0 || instruction.is_string_instruction(),
    }
}

/// What an instruction does to its operands.
fn effects(instruction: &Instruction, word: u8, found: &mut Decoded) {
    use Mnemonic::*;
    let bytes = i64::from(word);
    let top = Memory::Behind(STACK, 0);
    match instruction.mnemonic() {
        Push => {
            found.push(Effect::Copy(STACK, STACK, -bytes));
            found.push(match source(instruction, 0) {
                Source::Register(from) => Effect::Store(top, from, word),
                Source::Immediate(value) => Effect::StoreConstant(top, value),
                _ => Effect::StoreUnknown(top),
            });
        }
        Pop => {
            if let Source::Register(to) = source(instruction, 0) {
                found.push(Effect::Load(to, top, word));
            }
            found.push(Effect::Copy(STACK, STACK, bytes));
        }
        Leave => {
            found.push(Effect::Copy(STACK, FRAME, bytes));
            found.push(Effect::Load(FRAME, Memory::Behind(STACK, -bytes), word));
        }
        // The place of a thread's variable comes back.
        Call if is_padded_call(instruction) => found.push(Effect::Clear(RAX)),
        // What a call pushes is gone when the next instruction runs.
        Cmp | Test | Jmp | Call | Ret | Nop | Bt => refers(instruction, found),
        _ => match instruction.op_count() {
            0 => {}
            _ if instruction.op0_kind() == OpKind::Memory => writes_memory(instruction, found),
            _ => {
                refers(instruction, found);
                writes_register(instruction, found);
            }
        },
    }
}

fn writes_register(instruction: &Instruction, found: &mut Decoded) {
    use Mnemonic::*;
    let name = instruction.op0_register();
    if instruction.op0_kind() != OpKind::Register {
        return;
    }
    let Some(to) = whole(name) else {
        return number(name).into_iter().for_each(|to| found.push(Effect::Clear(to)));
    };
    // The last operand is the source. A third one may stand before it.
    let last = instruction.op_count() - 1;
    let size = instruction.memory_size().size() as u8;
    let effect = match (instruction.mnemonic(), source(instruction, last)) {
        (Inc, _) => Effect::Copy(to, to, 1),
        (Dec, _) => Effect::Copy(to, to, -1),
        (Add, Source::Immediate(value)) => Effect::Copy(to, to, signed(instruction, value)),
        (Sub, Source::Immediate(value)) => {
            Effect::Copy(to, to, signed(instruction, value).wrapping_neg())
        }
        (Add | Paddq | Vpaddq, Source::Memory(memory)) => Effect::AddMemory(to, memory, size),
        (Add | Paddq | Vpaddq, Source::Register(from)) => Effect::Add(to, from),
        (Lea, Source::Memory(Memory::At(address))) => Effect::Constant(to, address),
        (Lea, Source::Memory(Memory::Behind(from, offset))) => Effect::Copy(to, from, offset),
        (Punpcklqdq | Unpcklpd | Movlhps, Source::Register(from)) => Effect::Pack(to, from),
        (Movhps | Movhpd, Source::Memory(memory)) => {
            found.push(Effect::Load(MEMORY, memory, size));
            Effect::Pack(to, MEMORY)
        }
        (Pinsrq, _) => match source(instruction, 1) {
            Source::Register(from) => Effect::Pack(to, from),
            Source::Memory(memory) => {
                found.push(Effect::Load(MEMORY, memory, size));
                Effect::Pack(to, MEMORY)
            }
            _ => Effect::Clear(to),
        },
        (mnemonic, Source::Memory(memory)) if is_move(mnemonic) => Effect::Load(to, memory, size),
        (mnemonic, Source::Register(from)) if is_move(mnemonic) => Effect::Copy(to, from, 0),
        (Mov, Source::Immediate(value)) => Effect::Constant(to, value),
        _ => Effect::Clear(to),
    };
    found.push(effect);
}

fn writes_memory(instruction: &Instruction, found: &mut Decoded) {
    use Mnemonic::*;
    let memory = memory(instruction);
    let size = instruction.memory_size().size() as u8;
    let with = if instruction.op_count() > 1 { source(instruction, 1) } else { Source::Other };
    found.push(match (instruction.mnemonic(), with) {
        (Inc, _) => Effect::AddToMemory(memory, size, 1),
        (Add, Source::Immediate(value)) => {
            Effect::AddToMemory(memory, size, signed(instruction, value))
        }
        (Sub, Source::Immediate(value)) => {
            Effect::AddToMemory(memory, size, signed(instruction, value).wrapping_neg())
        }
        (mnemonic, Source::Register(from)) if is_move(mnemonic) => {
            Effect::Store(memory, from, size)
        }
        (Mov, Source::Immediate(value)) => Effect::StoreConstant(memory, value),
        _ => Effect::StoreUnknown(memory),
    });
}

/// An operand that is read.
enum Source {
    /// A register, or the lower part of one.
    Register(Register),
    Memory(Memory),
    Immediate(u64),
    Other,
}

fn source(instruction: &Instruction, operand: u32) -> Source {
    match instruction.op_kind(operand) {
        OpKind::Register => {
            number(instruction.op_register(operand)).map_or(Source::Other, Source::Register)
        }
        OpKind::Memory => Source::Memory(memory(instruction)),
        // Those of 32 bits are zero-extended, as are addresses in programs at fixed places.
        OpKind::Immediate8
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate32
        | OpKind::Immediate32to64
        | OpKind::Immediate64 => Source::Immediate(instruction.immediate(operand)),
        _ => Source::Other,
    }
}

/// Whether the instruction moves whole words or vectors.
const fn is_move(mnemonic: Mnemonic) -> bool {
    use Mnemonic::*;
    matches!(
        mnemonic,
        Mov | Movq
            | Movaps
            | Movups
            | Movapd
            | Movupd
            | Movdqa
            | Movdqu
            | Vmovq
            | Vmovdqa
            | Vmovdqu
            | Vmovaps
            | Vmovups
    )
}

/// The memory operand.
fn memory(instruction: &Instruction) -> Memory {
    let segment = instruction.segment_prefix();
    if segment == Name::FS || segment == Name::GS || instruction.memory_index() != Name::None {
        return Memory::Elsewhere;
    }
    let offset = instruction.memory_displacement64();
    match (instruction.memory_base(), number(instruction.memory_base())) {
        (Name::RIP | Name::EIP | Name::None, _) => Memory::At(offset),
        (_, Some(base)) => Memory::Behind(base, signed(instruction, offset)),
        _ => Memory::Elsewhere,
    }
}

/// Adds an address that the instruction adds an index to.
fn refers(instruction: &Instruction, found: &mut Decoded) {
    let has_memory =
        (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory);
    if !has_memory || instruction.memory_index() == Name::None {
        return;
    }
    let offset = instruction.memory_displacement64();
    match (instruction.memory_base(), number(instruction.memory_base())) {
        (Name::None, _) => found.push(Effect::Refer(offset)),
        // Where code has no addresses relative to its own place, a register has that of its data.
        (_, Some(base)) if instruction.code_size() == CodeSize::Code32 => {
            found.push(Effect::Index(base, signed(instruction, offset)));
        }
        _ => {}
    }
}

/// A number in an instruction. One of 32 bits may stand for a negative number, too.
fn signed(instruction: &Instruction, number: u64) -> i64 {
    match instruction.code_size() {
        CodeSize::Code32 => i64::from(number as u32 as i32),
        _ => number as i64,
    }
}

/// The number of a register that is written as a whole: writing 32 bits sets the upper half to 0.
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

/// Whether a call has prefixes for padding. The dynamic linker is called so, for a thread's variable.
fn is_padded_call(instruction: &Instruction) -> bool {
    instruction.flow_control() == FlowControl::Call && instruction.len() > 5
}

fn next(instruction: &Instruction) -> Next {
    let target = instruction.near_branch_target();
    match instruction.flow_control() {
        FlowControl::Next => Next::Following,
        FlowControl::UnconditionalBranch => Next::Jump(target),
        FlowControl::ConditionalBranch | FlowControl::XbeginXabortXend => Next::Branch(target),
        FlowControl::IndirectBranch => Next::IndirectJump,
        FlowControl::Call if is_padded_call(instruction) => Next::Following,
        FlowControl::Call => Next::Call(target),
        FlowControl::IndirectCall => Next::IndirectCall,
        FlowControl::Interrupt => Next::Following,
        FlowControl::Return | FlowControl::Exception => Next::End,
    }
}
