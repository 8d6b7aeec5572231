//! Small graphs with known results: paths that meet, loops, exceptions, calls that do not return.

use std::collections::BTreeMap;
use std::ops::Range;
use std::prelude::v1::*;

use super::abstract_state::{Addresses, Pending, State};
use super::abstract_value::Value;
use super::findings::{Findings, Increment};
use super::fixpoint::reverse_postorder;
use crate::program::cfg::{Block, Graph};
use crate::program::counters::{self, Array, Counters, FunctionKey, Sites, Wanted};
use crate::program::decode::x86::X86;
use crate::program::decode::{Effect, Machine, Memory, Next, Register};
use crate::program::object_file::image::{Image, Symbol};

/// Where the counters of arcs are, and the counters of the first of two sites.
const ARCS: u64 = 0x4000;
const SITES: u64 = 0x5000;
const STRIDE: usize = 65;
const SECOND_SITE: u64 = SITES + 8 * STRIDE as u64;
/// A function that is called.
const CALLEE: u64 = 0x100;

const STACK: Register = <X86<'static, 64> as Machine<'static>>::STACK;

struct Program {
    image: Image<'static>,
    counters: Counters,
    sites: Sites,
    functions: BTreeMap<u64, Symbol>,
}

impl Program {
    /// A program of one function, with four counters and two sites.
    fn new() -> Self {
        let function = FunctionKey { ident: 1, lineno_checksum: 2, cfg_checksum: 3 };
        let array = |slot, counters| Array { slot, counters };
        let (arcs, calls) = (array(0, 4), array(1, 2 * STRIDE));
        let wanted = [Wanted { function, arcs, calls, stride: STRIDE }];
        let addresses = [counters::Addresses { arcs: vec![ARCS], calls: vec![SITES] }];
        let image = Image::empty();
        let sites = Sites::new(&image, &wanted, &addresses, BTreeMap::new());
        let callee = Symbol { address: CALLEE, end: CALLEE + 1, names: vec!["callee".into()] };
        let functions = [(CALLEE, callee)].into();
        Self { image, counters: Counters::new(&wanted, &addresses), sites, functions }
    }

    fn addresses(&self) -> Addresses<'_, 'static> {
        let Self { image, counters, sites, functions } = self;
        Addresses { image, counters, sites, functions }
    }

    fn find(&self, graph: &Graph) -> Findings {
        let mut findings = Findings::default();
        findings.find::<X86<'_, 64>>(graph, self.addresses());
        findings
    }
}

/// A graph of blocks with these instructions. Each has its effects, and where it leads.
fn graph(blocks: &[&[(&[Effect], Next)]], edges: &[(u32, u32)]) -> Graph {
    let mut graph = Graph { edges: edges.into(), ..Graph::default() };
    for block in blocks {
        let first = graph.instructions.len() as u32;
        for &(effects, next) in *block {
            let number = graph.instructions.len() as u32;
            graph.instructions.push(u64::from(number));
            graph.effects.extend(effects.iter().map(|&effect| (number, effect)));
            graph.leads.extend((next != Next::Following).then_some((number, next)));
        }
        let instructions = Range { start: first, end: graph.instructions.len() as u32 };
        graph.blocks.push(Block { instructions, ..Block::default() });
    }
    graph
}

fn add_to(register: Register, offset: i64) -> Effect {
    Effect::AddToMemory(Memory::Behind(register, offset), 8, 1)
}

fn in_place(instruction: u32, counter: u32) -> Increment {
    Increment { instruction, counter: (0, counter), is_in_place: true }
}

/// The pair that the profiler reads is a thread's own.
fn hand_over(register: Register) -> Effect {
    Effect::Store(Memory::Elsewhere, register, 8)
}

#[test]
fn effects_change_states() {
    let program = Program::new();
    let addresses = program.addresses();
    let mut state = State::entry(STACK);
    let mut apply = |effect| state.apply(effect, &addresses);
    let slot = Memory::Behind(STACK, -16);
    assert_eq!(apply(Effect::Constant(1, ARCS)), None);
    assert_eq!(apply(Effect::Store(slot, 1, 8)), None);
    assert_eq!(apply(Effect::Copy(STACK, STACK, -16)), None);
    assert_eq!(apply(Effect::Load(2, Memory::Behind(STACK, 0), 8)), None);
    assert_eq!(apply(add_to(2, 8)), Some((ARCS + 8, 8)));
    assert_eq!(apply(Effect::Load(3, Memory::Behind(2, 0), 8)), None);
    assert_eq!(apply(Effect::Copy(3, 3, 1)), Some((ARCS, 8)));
    assert_eq!(apply(Effect::Copy(3, 3, 7)), None);
    assert_eq!(state.contents.get(3), Value::Unknown);
    assert_eq!(state.contents.get(2), Value::Constant(ARCS));
    assert_eq!(state.contents.get(STACK), Value::Stack(-16));
    state.apply(Effect::Store(Memory::Behind(STACK, 0), 2, 4), &addresses);
    assert_eq!(state.contents.slot(-16), Value::Unknown, "half of an address");
}

#[test]
fn sites_and_callees_are_pending() {
    let program = Program::new();
    let addresses = program.addresses();
    let mut state = State::default();
    state.apply(Effect::Constant(1, SITES), &addresses);
    state.apply(Effect::Constant(40, CALLEE), &addresses);
    state.apply(Effect::Pack(40, 1), &addresses);
    assert_eq!(state.contents.get(40), Value::Constant(SITES), "only the site matters");
    state.apply(Effect::StoreConstant(Memory::Elsewhere, CALLEE), &addresses);
    state.apply(hand_over(40), &addresses);
    assert_eq!((state.pending, state.callee), (Pending::Site(SITES), Some(CALLEE)));
    let several = state.pending.join(Pending::Site(SECOND_SITE));
    assert_eq!(several, Pending::Several);
    assert_eq!(Pending::None.join(state.pending), state.pending);
    state.return_from_call(&[40]);
    assert_eq!(state, {
        let mut rest = State::default();
        rest.contents.set(1, Value::Constant(SITES));
        rest
    });
}

#[test]
fn blocks_wait_for_those_before_them() {
    // 0 leads to 2 and 1, which meet in 3; 3 leads back to 0 and on to 4. Nothing leads to 5, which leads to 4.
    let block: &[(&[Effect], Next)] = &[(&[], Next::Following)];
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 0), (3, 4), (5, 4)];
    let mut order = Vec::new();
    reverse_postorder(&graph(&[block; 6], &edges), &mut order);
    let rank = |block| order.iter().position(|&other| other == block).unwrap();
    assert_eq!(order.len(), 6);
    assert_eq!([rank(0), rank(5)], [0, 5]);
    assert!(rank(3) > rank(1).max(rank(2)) && rank(4) > rank(3), "{order:?}");
}

#[test]
fn paths_that_meet_keep_what_they_agree_on() {
    // Registers 1 and 2 have the same counter on both paths, but not 3.
    let graph = graph(
        &[
            &[(&[Effect::Constant(1, ARCS)], Next::Branch(2))],
            &[(&[Effect::Constant(2, ARCS + 8), Effect::Constant(3, ARCS)], Next::Jump(3))],
            &[(&[Effect::Copy(2, 1, 8), Effect::Constant(3, ARCS + 8)], Next::Following)],
            &[(&[add_to(1, 0)], Next::Following), (&[add_to(2, 0)], Next::Following)],
            &[(&[add_to(3, 0)], Next::End)],
        ],
        &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)],
    );
    assert_eq!(Program::new().find(&graph).increments, [in_place(3, 0), in_place(4, 1)]);
}

#[test]
fn a_loop_keeps_what_its_back_edge_keeps() {
    // The loop counts in register 2 and changes register 3. Behind it the count is stored.
    let counter = Memory::At(ARCS);
    let graph = graph(
        &[
            &[(&[Effect::Load(2, counter, 8), Effect::Constant(3, ARCS + 8)], Next::Following)],
            &[
                (&[Effect::Copy(2, 2, 1)], Next::Following),
                (&[add_to(3, 0)], Next::Following),
                (&[Effect::Copy(3, 3, 8)], Next::Branch(1)),
            ],
            &[(&[Effect::Store(counter, 2, 8)], Next::End)],
        ],
        &[(0, 1), (1, 1), (1, 2)],
    );
    let expected = Increment { instruction: 1, counter: (0, 0), is_in_place: false };
    assert_eq!(Program::new().find(&graph).increments, [expected]);
}

#[test]
fn exceptions_keep_what_holds_behind_all_calls() {
    // Nothing leads to the last block. Register 6 outlives both calls, register 1 only the first one.
    let call = (&[][..], Next::Call(CALLEE));
    let graph = graph(
        &[
            &[
                (&[Effect::Constant(6, ARCS), Effect::Constant(1, ARCS + 8)], Next::Following),
                call,
                (&[Effect::Clear(1)], Next::Following),
                call,
                (&[Effect::Clear(6)], Next::End),
            ],
            &[(&[add_to(6, 0)], Next::Following), (&[add_to(1, 0)], Next::End)],
        ],
        &[],
    );
    assert_eq!(Program::new().find(&graph).increments, [in_place(5, 0)]);
}

#[test]
fn sites_lead_to_indirect_and_to_direct_calls() {
    let graph = graph(
        &[&[
            (&[Effect::Constant(6, SITES), hand_over(6)], Next::Following),
            (&[], Next::IndirectCall),
            (&[], Next::IndirectCall),
            (&[Effect::Constant(6, SECOND_SITE), hand_over(6)], Next::Following),
            (&[Effect::StoreConstant(Memory::Elsewhere, CALLEE)], Next::Following),
            (&[], Next::Call(CALLEE)),
        ]],
        &[],
    );
    assert_eq!(Program::new().find(&graph).site_calls, [(1, (0, 0)), (5, (0, 1))]);
}

#[test]
fn calls_that_do_not_return() {
    // Register 6 has the first site on the path that jumps over the call, which does not return.
    let graph = graph(
        &[
            &[(&[Effect::Constant(6, SITES)], Next::Branch(3))],
            &[(&[Effect::Constant(6, SECOND_SITE)], Next::Following), (&[], Next::Call(CALLEE))],
            &[(&[hand_over(6)], Next::IndirectCall)],
        ],
        &[(0, 1), (0, 2), (1, 2)],
    );
    assert_eq!(Program::new().find(&graph).site_calls, [(3, (0, 0))]);
}

/// Nested loops in which each iteration knows less: no block is visited often, and nothing wrong is found.
#[test]
fn visits_are_bounded() {
    let slots = 200;
    let fill: Vec<Effect> = (0..slots)
        .flat_map(|slot| {
            let memory = Memory::Behind(STACK, -8 * slot);
            [Effect::Constant(1, ARCS), Effect::Store(memory, 1, 8)]
        })
        .collect();
    // Each slot takes the value of the next one. The last one becomes unknown.
    let shift: Vec<Effect> = (0..slots)
        .flat_map(|slot| {
            let from = Memory::Behind(STACK, -8 * (slot + 1));
            [Effect::Load(1, from, 8), Effect::Store(Memory::Behind(STACK, -8 * slot), 1, 8)]
        })
        .collect();
    let last = [Effect::Load(2, Memory::Behind(STACK, 0), 8), add_to(2, 0)];
    let graph = graph(
        &[&[(&fill, Next::Following)], &[(&shift, Next::Branch(1))], &[(&last, Next::End)]],
        &[(0, 1), (1, 1), (1, 2)],
    );
    assert_eq!(Program::new().find(&graph).increments, []);
}
