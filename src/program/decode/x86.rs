//! Instructions of x86, in 64 and 32 bits.

use std::prelude::v1::*;

use iced_x86::{
    CodeSize, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory,
    InstructionInfoOptions, Mnemonic, OpAccess, OpKind, Register as Name,
};

use crate::program::dataflow::state::{Effect, Register};
use crate::program::decode::{Glance, Machine, Next, Place, Step, Touch};
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
    /// Code of 32 bits adds to memory behind a register, too.
    const ADDS_AT_ADDRESSES: bool = BITS == 64;
    /// Code of 32 bits may count them from where its data is.
    const TAKES_WHOLE_ADDRESSES: bool = BITS == 64;

    fn new(image: &'c Image<'c>) -> Self {
        let info = InstructionInfoFactory::new();
        Self { image, section: &[], decoder: decoder::<BITS>(&[]), info }
    }

    fn glance(
        &mut self,
        address: u64,
        section: &'c [u8],
        offset: usize,
        glance: &mut Glance,
    ) -> Option<()> {
        let instruction = self.instruction(address, section, offset)?;
        glance.start(instruction.len(), next(&instruction));
        if let Some((register, place)) = self.place_asked_for(&instruction) {
            glance.next = Next::Following;
            glance.push(Touch::Takes(register, place));
            return Some(());
        }
        glance.is_filler = matches!(instruction.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
        touches(&instruction, Self::WORD, glance);
        Some(())
    }

    fn decode(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step> {
        let instruction = self.instruction(address, section, offset)?;
        let mut step = self.step(&instruction);
        if !self.known(&instruction, &mut step) {
            self.others(&instruction, &mut step);
        }
        Some(step)
    }

    fn decode_moves(&mut self, address: u64, section: &'c [u8], offset: usize) -> Option<Step> {
        let instruction = self.instruction(address, section, offset)?;
        let mut step = self.step(&instruction);
        self.known(&instruction, &mut step);
        Some(step)
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

    fn step(&self, instruction: &Instruction) -> Step {
        let mut step = Step::new(instruction.len(), next(instruction));
        if is_padded_call(instruction) {
            // The variable's place comes back in it.
            step.push(Effect::Clear(RAX));
        }
        if let Some((register, place)) = self.place_asked_for(instruction) {
            step.next = Next::Following;
            step.push(Effect::Constant(register, place));
        }
        step
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

    /// The effects of an instruction that moves addresses; `false` for any other instruction.
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
                step.push(Effect::Copy(to, to, signed(instruction, value)));
            }
            (Sub, Operand::Register(to), Operand::Immediate(value)) => {
                step.push(Effect::Copy(to, to, signed(instruction, value).wrapping_neg()));
            }
            (Punpcklqdq | Unpcklpd | Movlhps, Operand::Register(to), Operand::Register(from)) => {
                step.push(Effect::Pack(to, from));
            }
            (Pinsrq, Operand::Register(to), Operand::Register(from)) => {
                step.push(Effect::Pack(to, from));
            }
            (Movhps | Movhpd | Pinsrq, Operand::Register(to), Operand::Constant(address)) => {
                step.push(Effect::LoadConstant(MEMORY, address));
                step.push(Effect::Pack(to, MEMORY));
            }
            (Push, what, _) => {
                step.push(Effect::Copy(STACK, STACK, -i64::from(Self::WORD)));
                match what {
                    Operand::Register(from) => step.push(Effect::Store(STACK, 0, from)),
                    Operand::Immediate(value) => step.push(Effect::StoreConstant(STACK, 0, value)),
                    _ => {}
                }
            }
            (Pop, Operand::Register(to), _) => {
                step.push(Effect::Load(to, STACK, 0));
                step.push(Effect::Copy(STACK, STACK, Self::WORD.into()));
            }
            (Leave, ..) => {
                step.push(Effect::Load(FRAME, FRAME, 0));
                step.push(Effect::Clear(STACK));
            }
            // What a call pushes is gone when the next instruction runs.
            (Call, ..) => {}
            (Cmp | Test | Nop | Endbr64, ..) => {}
            _ => return false,
        }
        true
    }

    /// For any other instruction only the registers that it writes matter.
    fn others(&mut self, instruction: &Instruction, step: &mut Step) {
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
                step.push(Effect::Clear(register));
            }
        }
    }
}

/// What an instruction does to counters.
fn touches(instruction: &Instruction, word: u8, glance: &mut Glance) {
    use Mnemonic::*;
    let bytes = i64::from(word);
    let mnemonic = instruction.mnemonic();
    match mnemonic {
        Push => {
            glance.push(Touch::Moves(STACK, STACK, -bytes));
            let pushed = (instruction.op0_kind() == OpKind::Register)
                .then(|| number(instruction.op0_register()))
                .flatten();
            glance.push(match pushed {
                Some(from) => Touch::Stores(Place::Behind(STACK, 0), from, word),
                None => Touch::Spoils(Place::Behind(STACK, 0)),
            });
            return;
        }
        Pop => {
            if let Some(to) = number(instruction.op0_register()) {
                glance.push(Touch::Loads(to, Place::Behind(STACK, 0), word));
            }
            glance.push(Touch::Moves(STACK, STACK, bytes));
            return;
        }
        Leave => {
            glance.push(Touch::Moves(STACK, FRAME, bytes));
            glance.push(Touch::Loads(FRAME, Place::Behind(STACK, -bytes), word));
            return;
        }
        Cmp | Test | Jmp | Call | Ret | Nop | Bt => {
            glance.push_reference(instruction);
            return;
        }
        _ if instruction.op_count() == 0 => return,
        _ => {}
    }
    if instruction.op0_kind() == OpKind::Memory {
        writes_memory(instruction, glance);
        return;
    }
    glance.push_reference(instruction);
    if instruction.op0_kind() != OpKind::Register {
        return;
    }
    let Some(to) = number(instruction.op0_register()) else { return };
    // The last operand is the source. A third one may stand before it.
    let last = instruction.op_count() - 1;
    let size = instruction.memory_size().size() as u8;
    let added = |sign: i64| signed(instruction, instruction.immediate(last)).wrapping_mul(sign);
    glance.push(match (mnemonic, source(instruction, last)) {
        (Inc, _) => Touch::Moves(to, to, 1),
        (Dec, _) => Touch::Moves(to, to, -1),
        (Add, Source::Immediate) => Touch::Moves(to, to, added(1)),
        (Sub, Source::Immediate) => Touch::Moves(to, to, added(-1)),
        (Add | Paddq | Vpaddq, Source::Memory(place)) => Touch::Sums(to, place, size),
        (Add | Paddq | Vpaddq, Source::Register(from)) => Touch::Joins(to, from),
        (Lea, Source::Memory(Place::At(address))) => Touch::Takes(to, address),
        (Lea, Source::Memory(Place::Behind(from, offset))) => Touch::Moves(to, from, offset),
        (mnemonic, Source::Memory(place)) if is_move(mnemonic) => Touch::Loads(to, place, size),
        (mnemonic, Source::Register(from)) if is_move(mnemonic) => Touch::Moves(to, from, 0),
        (Mov, Source::Immediate) => Touch::Takes(to, instruction.immediate(last)),
        _ => Touch::Sets(to),
    });
}

fn writes_memory(instruction: &Instruction, glance: &mut Glance) {
    use Mnemonic::*;
    let Some(place) = memory_place(instruction) else { return };
    let size = instruction.memory_size().size() as u8;
    let with = if instruction.op_count() > 1 { source(instruction, 1) } else { Source::Other };
    let added = || signed(instruction, instruction.immediate(1));
    glance.push(match (instruction.mnemonic(), with) {
        (Inc, _) => Touch::Adds(place, size, 1),
        (Add, Source::Immediate) => Touch::Adds(place, size, added()),
        (Sub, Source::Immediate) => Touch::Adds(place, size, added().wrapping_neg()),
        (mnemonic, Source::Register(from)) if is_move(mnemonic) => Touch::Stores(place, from, size),
        _ => Touch::Spoils(place),
    });
}

/// An operand that is read.
enum Source {
    Register(Register),
    Memory(Place),
    Immediate,
    Other,
}

fn source(instruction: &Instruction, operand: u32) -> Source {
    match instruction.op_kind(operand) {
        OpKind::Register => {
            number(instruction.op_register(operand)).map_or(Source::Other, Source::Register)
        }
        OpKind::Memory => memory_place(instruction).map_or(Source::Other, Source::Memory),
        OpKind::Immediate8
        | OpKind::Immediate8to32
        | OpKind::Immediate8to64
        | OpKind::Immediate32
        | OpKind::Immediate32to64
        | OpKind::Immediate64 => Source::Immediate,
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

/// The place of a memory operand, if it has no index.
fn memory_place(instruction: &Instruction) -> Option<Place> {
    let segment = instruction.segment_prefix();
    if segment == Name::FS || segment == Name::GS || instruction.memory_index() != Name::None {
        return None;
    }
    let offset = instruction.memory_displacement64();
    match instruction.memory_base() {
        Name::RIP | Name::EIP | Name::None => Some(Place::At(offset)),
        base => Some(Place::Behind(number(base)?, signed(instruction, offset))),
    }
}

impl Glance {
    /// Adds an address that the instruction adds an index to.
    fn push_reference(&mut self, instruction: &Instruction) {
        let has_memory = (0..instruction.op_count())
            .any(|operand| instruction.op_kind(operand) == OpKind::Memory);
        if !has_memory || instruction.memory_index() == Name::None {
            return;
        }
        let offset = instruction.memory_displacement64();
        match (instruction.memory_base(), number(instruction.memory_base())) {
            (Name::None, _) => self.push(Touch::Refers(offset)),
            // Where code has no addresses relative to its own place, a register has that of its data.
            (_, Some(base)) if instruction.code_size() == CodeSize::Code32 => {
                self.push(Touch::Indexes(base, signed(instruction, offset)));
            }
            _ => {}
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

/// An operand of at least eight bytes.
#[derive(Clone, Copy)]
enum Operand {
    Register(Register),
    Immediate(u64),
    /// Memory at a register, plus an offset.
    At(Register, i64),
    /// Memory at a constant address.
    Constant(u64),
    /// Other memory: a thread's own, or with an index.
    Elsewhere,
    /// No operand, or a part of a register.
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
        // Zero-extended, as are addresses in programs at fixed places.
        OpKind::Immediate32 | OpKind::Immediate8to32 => {
            Operand::Immediate(instruction.immediate(place))
        }
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
        (_, Some(base)) => {
            Operand::At(base, signed(instruction, instruction.memory_displacement64()))
        }
        _ => Operand::Elsewhere,
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
