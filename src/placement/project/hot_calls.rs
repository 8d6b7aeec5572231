//! Bodies at hot calls, for readers that inline what a profile shows as inlined.
//!
//! A compiler with counters inlines a hot call because it sees how often the call is executed. With a profile
//! it inlines early only calls that have a body in it, and GCC does so without its limits of size and growth.
//! So hot calls get bodies of the functions they call. Such a body has a share of what the function executed,
//! in proportion to how often the call is executed.
//!
//! These bodies are estimates. They are for compilers; an exact profile has none.

use alloc::vec::Vec;
use core::cmp::Reverse;

use hashbrown::HashMap;

use super::ProfilePosition;
use crate::placement::assignment::{Assignment, PlacedPosition};
use crate::placement::observe::{Callee, CodeAddress, Evidence, SourcePosition};
use crate::placement::reader::{HotCalls, Reader};
use crate::placement::solve::counted::Counted;
use crate::profile::{Body, Factor, Function, Position, Profile, SymbolId};
use crate::workers::Workers;

// These limits were found with the programs of `cargo bench --bench speedup`; nearby values save as much.

/// A call is hot from this share of the profile's largest count on, in thousandths.
const HOT: u64 = 3;
/// A larger function gets a body only if it has a single call.
const LARGEST: u32 = 250;
/// Bodies may let a function grow to this many times its size.
const GROWTH: u32 = 8;
/// A smaller function may grow as if it had this size.
const SMALL: u32 = 120;
/// Deepest nesting of bodies.
const DEEPEST: usize = 3;
/// A function keeps at least its counts divided by this, whatever bodies at calls take. GCC 16 does not inline
/// all of these bodies, and cannot always give their counts back. To it, a function without counts is never executed,
/// and so is each block that calls the function, and each block that always leads to such a call: a main loop became
/// cold code.
const KEPT: u64 = 2;

/// A call of a function that was compiled in the same object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownCall {
    /// The place of the call.
    pub place: ProfilePosition,
    /// The function that it calls.
    pub callee: SymbolId,
    /// The number of calls.
    pub count: u64,
}

/// The known calls of a function.
pub fn calls(
    function: &Counted<'_>,
    evidence: &Evidence,
    assignment: &Assignment<'_>,
    functions: &[Counted<'_>],
    addresses: &HashMap<CodeAddress, u32>,
    reader: Reader,
) -> Vec<KnownCall> {
    let mut calls = Vec::new();
    if evidence.calls.is_empty() {
        return calls;
    }
    let executions = executions(assignment, reader);
    for &(callee, at) in &evidence.calls {
        let place = match callee {
            Callee::Function(place) => Some(place),
            Callee::At(address) => addresses.get(&address).copied(),
        };
        let Some(callee) = place.map(|place| &functions[place as usize]) else { continue };
        if callee.symbol == function.symbol || !callee.shares_object(function) {
            continue;
        }
        let count = executions.get(&seen_by(reader, at)).copied();
        let Some(count) = count.filter(|&count| count > 0) else { continue };
        let instance = assignment.instances.get(at.instance as usize);
        let start = instance.map_or(function.start(), |instance| instance.start);
        let SourcePosition { discriminator, .. } = seen_by(reader, at);
        let position = Position { line: at.line.wrapping_sub(start) & 0xffff, discriminator };
        let place = assignment.place_of(function.symbol, at.instance, position, reader.inline);
        let call = KnownCall { place, callee: callee.symbol, count };
        if !calls.contains(&call) {
            calls.push(call);
        }
    }
    calls
}

/// How often each position was executed. Without discriminators, the least of the positions on its line.
fn executions(assignment: &Assignment<'_>, reader: Reader) -> HashMap<SourcePosition, u64> {
    let mut executions = HashMap::with_capacity(assignment.placed.len());
    for &PlacedPosition { at, count, .. } in &assignment.placed {
        let least = executions.entry(seen_by(reader, at)).or_insert(count);
        *least = count.min(*least);
    }
    executions
}

/// A position as a reader sees it.
fn seen_by(reader: Reader, at: SourcePosition) -> SourcePosition {
    let discriminator = if reader.discriminators { at.discriminator } else { 0 };
    SourcePosition { discriminator, ..at }
}

/// The calls of all functions.
#[derive(Debug, Default)]
pub struct Calls {
    /// By caller.
    by_caller: HashMap<SymbolId, Vec<KnownCall>>,
    sizes: HashMap<SymbolId, u32>,
    /// Number of calls of each function.
    calls_of: HashMap<SymbolId, u32>,
}

impl Calls {
    /// Adds a function: its size and the calls in it, which it takes.
    pub fn add(&mut self, function: SymbolId, size: u32, calls: &mut Vec<KnownCall>) {
        let known = self.sizes.entry(function).or_default();
        *known = size.max(*known);
        for call in &*calls {
            *self.calls_of.entry(call.callee).or_default() += 1;
        }
        let all = self.by_caller.entry(function).or_default();
        for call in calls.drain(..) {
            let is_it =
                |known: &&mut KnownCall| (&known.place, known.callee) == (&call.place, call.callee);
            match all.iter_mut().find(is_it) {
                Some(known) => known.count = known.count.saturating_add(call.count),
                None => all.push(call),
            }
        }
    }

    /// Puts bodies at hot calls.
    pub fn insert(&mut self, profile: &mut Profile, how: HotCalls, workers: &impl Workers) {
        if how == HotCalls::None {
            return;
        }
        for calls in self.by_caller.values_mut() {
            calls.sort_by(|a, b| {
                (Reverse(a.count), &a.place, a.callee).cmp(&(Reverse(b.count), &b.place, b.callee))
            });
        }
        let functions: Vec<&Function> = profile.functions.values().collect();
        let most = workers.map(&functions, |function| most(&function.body)).into_iter().max();
        let most = most.unwrap_or(0);
        let least = (most / 1000).saturating_mul(HOT).max(1);
        let has_hot_calls = |caller: &SymbolId| {
            let calls = self.by_caller.get(caller).map_or(&[][..], Vec::as_slice);
            calls.first().is_some_and(|call| call.count >= least)
        };
        let callers: Vec<SymbolId> =
            profile.functions.keys().copied().filter(has_hot_calls).collect();
        let (calls, known) = (&*self, &*profile);
        let changed = workers.map(&callers, |&caller| {
            let mut inserting = Inserting { calls, profile: known, least, moved: HashMap::new() };
            let mut body = known.functions[&caller].body.clone();
            inserting.within(&mut body, caller, Factor::ONE, &mut Vec::from([caller]));
            (body, inserting.moved)
        });
        let mut moved = HashMap::<SymbolId, u64>::new();
        for (caller, (body, of_caller)) in callers.into_iter().zip(changed) {
            if let Some(function) = profile.functions.get_mut(&caller) {
                function.body = body;
            }
            for (callee, calls) in of_caller {
                *moved.entry(callee).or_default() += calls;
            }
        }
        if how == HotCalls::Moved {
            for (callee, calls) in moved {
                let Some(function) = profile.functions.get_mut(&callee) else { continue };
                let denominator = function.head_count.max(1);
                let left = denominator.saturating_sub(calls);
                let numerator = left.max(denominator.div_ceil(KEPT));
                function.scale(Factor { numerator, denominator });
            }
        }
    }
}

/// The largest count in a body.
fn most(body: &Body) -> u64 {
    let mut most = 0;
    body.for_each_record(&mut |record| most = record.count.unwrap_or(0).max(most));
    most
}

struct Inserting<'c> {
    calls: &'c Calls,
    profile: &'c Profile,
    least: u64,
    /// For each function: how often its bodies at calls were entered.
    moved: HashMap<SymbolId, u64>,
}

impl Inserting<'_> {
    /// Puts bodies into the body of a function. That body has this share of the function's counts.
    fn within(
        &mut self,
        body: &mut Body,
        function: SymbolId,
        share: Factor,
        stack: &mut Vec<SymbolId>,
    ) {
        if stack.len() > DEEPEST {
            return;
        }
        let Some(calls) = self.calls.by_caller.get(&function) else { return };
        let size = |of: SymbolId| self.calls.sizes.get(&of).copied().unwrap_or(0);
        let own = size(function);
        let mut grown = own;
        for call in calls {
            let count = share.apply(call.count);
            if count < self.least {
                break;
            }
            let callee = call.callee;
            let Some(called) = self.profile.functions.get(&callee) else { continue };
            let is_only = self.calls.calls_of.get(&callee) == Some(&1);
            let larger = grown.saturating_add(size(callee));
            if stack.contains(&callee)
                || size(callee) > LARGEST && !is_only
                || larger > GROWTH * own.max(SMALL)
                || call.place.function != function
            {
                continue;
            }
            let Some(at) = body_at(body, &call.place.within) else { continue };
            grown = larger;
            let denominator = called.head_count.max(1);
            let part = Factor { numerator: count.min(denominator), denominator };
            let mut inner = called.body.clone();
            inner.scale(part);
            stack.push(callee);
            self.within(&mut inner, callee, part, stack);
            stack.pop();
            *self.moved.entry(callee).or_default() += part.numerator;
            at.positions.entry(call.place.position).or_default().inline(callee, inner);
        }
    }
}

fn body_at<'b>(mut body: &'b mut Body, within: &[(Position, SymbolId)]) -> Option<&'b mut Body> {
    for (call, callee) in within {
        body = body.positions.get_mut(call)?.inlined.get_mut(callee)?;
    }
    Some(body)
}
