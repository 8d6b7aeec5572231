//! What a function does to counters, and which sites of indirect calls it calls.

use std::prelude::v1::*;

use super::abstract_state::Addresses;
use super::fixpoint::{Calls, Event, Fixpoint, FixpointMemory};
use crate::program::cfg::Graph;
use crate::program::decode::{Effect, Machine, Memory};

/// A counter: its function, and its number.
pub type Counter = (u32, u32);

/// A site of indirect calls: its function, and its number.
pub type Site = (u32, u32);

/// An increment of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Increment {
    /// Index of the instruction in the graph.
    pub instruction: u32,
    /// The counter that it increments.
    pub counter: Counter,
    /// Whether the block also writes the counter to its place in memory.
    pub is_in_place: bool,
}

/// What was found in a function.
#[derive(Debug, Default)]
pub struct Findings {
    /// Increments, by instruction.
    pub increments: Vec<Increment>,
    /// Calls of sites: the instruction, and the site; by instruction.
    pub site_calls: Vec<(u32, Site)>,
    memory: FixpointMemory,
}

/// The addresses that the instructions of a function have in them.
#[derive(Debug, Default)]
struct Mentions {
    /// Whether those of counters are only there to add to these.
    is_simple: bool,
    /// Sites.
    sites: Vec<Site>,
    /// Whether any may be a step on the way to a site.
    has_steps: bool,
}

impl Findings {
    /// Looks into the code of another function.
    pub fn find<'m, M: Machine<'m>>(&mut self, graph: &Graph, addresses: Addresses<'_, '_>) {
        self.increments.clear();
        self.site_calls.clear();
        if addresses.counters.is_empty() && addresses.sites.is_empty() {
            return;
        }
        let mentions = Mentions::of::<M>(graph, addresses);
        if mentions.is_simple {
            self.increments.extend(simple_increments(graph, addresses));
        }
        if mentions.is_simple && mentions.sites.is_empty() {
            return;
        }
        let mut fixpoint = Fixpoint::find::<M>(graph, addresses, Calls::Return, &mut self.memory);
        self.site_calls.extend(site_calls(&mut fixpoint, addresses));
        if !mentions.is_simple {
            increments(&mut fixpoint, graph, addresses, &mut self.increments);
        }
        self.find_missing::<M>(graph, addresses, mentions);
    }

    /// Looks for the calls of sites again, since some calls may not return.
    fn find_missing<'m, M: Machine<'m>>(
        &mut self,
        graph: &Graph,
        addresses: Addresses<'_, '_>,
        mentions: Mentions,
    ) {
        let mut certain: Vec<Site> = self.site_calls.iter().map(|&(_, site)| site).collect();
        certain.sort_unstable();
        let is_missing = |site: &Site| certain.binary_search(site).is_err();
        if !mentions.has_steps && !mentions.sites.iter().any(is_missing) {
            return;
        }
        if !(0..graph.blocks.len() as u32).any(|block| graph.ends_with_call(block)) {
            return;
        }
        let mut fixpoint =
            Fixpoint::find::<M>(graph, addresses, Calls::MayNotReturn, &mut self.memory);
        let found = site_calls(&mut fixpoint, addresses);
        self.site_calls.extend(found.into_iter().filter(|(_, site)| is_missing(site)));
        // A call that was found for certain comes first.
        self.site_calls.sort_by_key(|&(instruction, _)| instruction);
        self.site_calls.dedup_by_key(|&mut (instruction, _)| instruction);
    }
}

impl Mentions {
    fn of<'m, M: Machine<'m>>(graph: &Graph, addresses: Addresses<'_, '_>) -> Self {
        let Addresses { counters, sites, .. } = addresses;
        let mut found = Self { is_simple: M::TAKES_WHOLE_ADDRESSES, ..Self::default() };
        for &(_, effect) in &graph.effects {
            let address = match effect {
                Effect::Constant(_, address) | Effect::StoreConstant(_, address) => address,
                Effect::Load(_, Memory::At(address), _)
                | Effect::AddMemory(_, Memory::At(address), _) => {
                    found.sites.extend(sites.stored_at(address).and_then(|site| sites.get(site)));
                    address
                }
                _ => continue,
            };
            found.is_simple &= counters.at(address).is_none();
            found.sites.extend(sites.get(address));
        }
        found.has_steps =
            !M::TAKES_WHOLE_ADDRESSES && graph.taken.iter().any(|&address| sites.is_near(address));
        found
    }
}

/// Additions to counters at addresses, if nothing else touches counters.
fn simple_increments(
    graph: &Graph,
    addresses: Addresses<'_, '_>,
) -> impl Iterator<Item = Increment> {
    graph.effects.iter().filter_map(move |&(instruction, effect)| match effect {
        Effect::AddToMemory(Memory::At(address), _, 1) => {
            let counter = addresses.counters.at(address)?;
            Some(Increment { instruction, counter, is_in_place: true })
        }
        _ => None,
    })
}

fn site_calls(fixpoint: &mut Fixpoint<'_, '_>, addresses: Addresses<'_, '_>) -> Vec<(u32, Site)> {
    let mut found = Vec::new();
    fixpoint.events(|instruction, event| {
        if let Event::CallsSite(address) = event {
            found.extend(addresses.sites.get(address).map(|site| (instruction, site)));
        }
    });
    found
}

fn increments(
    fixpoint: &mut Fixpoint<'_, '_>,
    graph: &Graph,
    addresses: Addresses<'_, '_>,
    found: &mut Vec<Increment>,
) {
    let (mut events, mut written) = (Vec::new(), Vec::new());
    fixpoint.events(|instruction, event| match event {
        Event::Increments(address, size) => events.push((instruction, address, size)),
        Event::Writes(address) => written.push((instruction, address)),
        _ => {}
    });
    let mut events = events.into_iter().peekable();
    let mut written = written.as_slice();
    for block in &graph.blocks {
        let of_block;
        (of_block, written) =
            written.split_at(written.partition_point(|&(when, _)| when < block.instructions.end));
        while let Some((instruction, address, size)) =
            events.next_if(|&(when, ..)| when < block.instructions.end)
        {
            let is_it = |&(when, to): &(u32, u64)| to == address && when >= instruction;
            let is_in_place = of_block.iter().any(is_it);
            for place in (0..u64::from(size.max(8))).step_by(8) {
                let counter = addresses.counters.at(address.wrapping_add(place));
                found.extend(counter.map(|counter| Increment {
                    instruction,
                    counter,
                    is_in_place,
                }));
            }
        }
    }
}
