//! Follows the machine code of functions from the address of a site's counters to the site's call. The call
//! is indirect or, if the compiler found out what is called, direct.
//!
//! It follows every way through a function with what is known on that way. Code that is only reached through
//! a table of jumps starts with what all such jumps agree on. Code that is only reached by an exception
//! starts with what all calls agree on.
//!
//! Behind a call that never returns there is code where something else may be known. So if every call returns
//! and some site is not found, a second attempt follows: a call then returns only if nothing else leads to
//! the code behind it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::prelude::v1::*;

use rayon::prelude::*;

use crate::program::counters::Sites;
use crate::program::dataflow::followed::{Followed, Known};
use crate::program::dataflow::mentions::Mentions;
use crate::program::dataflow::state::{Addresses, Effect, Pending, Register, State};
use crate::program::dataflow::taken::Taken;
use crate::program::decode::{Machine, Next};
use crate::program::object_file::image::{Image, Symbol};

/// The register that holds the descriptor of a thread's variable, and then the variable's place: x0, and rax,
/// which happens to have the same number.
const DESCRIPTOR: Register = 0;

/// Most functions that a core takes without others being able to take over some.
const AT_ONCE: usize = 8;

/// Addresses of the calls of each site.
pub type Calls = BTreeMap<(usize, usize), BTreeSet<u64>>;

/// Finds the calls of all sites. All cores look into functions.
pub fn calls<'c, 'f, M: Machine<'c> + Send>(
    image: &'c Image<'c>,
    functions: &'f BTreeMap<u64, Symbol>,
    sites: &Sites,
) -> Calls {
    let walk = |all_calls_return| Walk {
        machine: M::new(image),
        surroundings: Surroundings { image, sites, functions },
        functions,
        all_calls_return,
        calls: Calls::new(),
    };
    let leading = |functions: &[&'f Symbol], near: &[Range<u64>]| -> Vec<&'f Symbol> {
        let mentions = if M::TAKES_WHOLE_ADDRESSES { Mentions::of(image, near) } else { None };
        let near = Ranges::new(near);
        let leads = |walk: &mut Walk<'_, 'c, M>, &function: &&'f Symbol| {
            let leads = match &mentions {
                Some(mentions) => walk.mentions(function, mentions),
                None => walk.leads_near(function, &near),
            };
            leads.then_some(function)
        };
        let functions = functions.par_iter().with_max_len(AT_ONCE);
        functions.map_init(|| walk(true), leads).flatten().collect()
    };
    let calls = |functions: &[&Symbol], all_calls_return| {
        // Few are left, and one may be as large as all others.
        let walks = functions.par_iter().with_max_len(1).fold(
            || walk(all_calls_return),
            |mut walk, function| {
                walk.function(function);
                walk
            },
        );
        walks.map(|walk| walk.calls).reduce(Calls::new, |mut all, calls| {
            calls.into_iter().for_each(|(site, calls)| all.entry(site).or_default().extend(calls));
            all
        })
    };
    let whole: Vec<&Symbol> = functions.values().filter(|f| !is_split_off(f)).collect();
    let near = match M::TAKES_WHOLE_ADDRESSES {
        true => sites.all(|_| true),
        false => vec![sites.around()],
    };
    let of_interest = leading(&whole, &near);
    let mut certain = calls(&of_interest, true);
    let missing = match M::TAKES_WHOLE_ADDRESSES {
        true => sites.all(|site| !certain.contains_key(&site)),
        false => sites.around_each(|site| !certain.contains_key(&site)),
    };
    if !missing.is_empty() {
        let of_interest = leading(&of_interest, &missing);
        for (site, calls) in calls(&of_interest, false) {
            certain.entry(site).or_insert(calls);
        }
    }
    certain
}

/// Ranges of addresses, by address and apart.
struct Ranges<'r> {
    all: &'r [Range<u64>],
    /// From the first one's start to the last one's end.
    whole: Range<u64>,
}

impl<'r> Ranges<'r> {
    fn new(all: &'r [Range<u64>]) -> Self {
        let whole = all.first().zip(all.last()).map_or(0..0, |(first, last)| first.start..last.end);
        Self { all, whole }
    }

    fn has(&self, address: u64) -> bool {
        let within = || {
            let behind = self.all.partition_point(|range| range.start <= address);
            self.all[..behind].last().is_some_and(|range| address < range.end)
        };
        self.whole.contains(&address) && within()
    }
}

/// Whether a function is a part of another one that jumps into it.
fn is_split_off(function: &Symbol) -> bool {
    function.name.contains(".cold")
}

struct Surroundings<'w, 'c> {
    image: &'c Image<'c>,
    sites: &'w Sites,
    functions: &'w BTreeMap<u64, Symbol>,
}

impl Addresses for Surroundings<'_, '_> {
    fn is_site(&self, address: u64) -> bool {
        self.sites.has(address)
    }

    fn function(&self, address: u64) -> Option<u64> {
        let start = self.image.start(address);
        self.functions.contains_key(&start).then_some(start)
    }

    fn word(&self, address: u64) -> Option<u64> {
        self.image.word(address).filter(|&word| self.is_site(word))
    }
}

struct Walk<'w, 'c, M> {
    machine: M,
    surroundings: Surroundings<'w, 'c>,
    functions: &'w BTreeMap<u64, Symbol>,
    all_calls_return: bool,
    calls: Calls,
}

impl<'c, M: Machine<'c>> Walk<'_, 'c, M> {
    /// Whether the bytes of a function may have one of these addresses.
    fn mentions(&self, function: &Symbol, mentions: &Mentions) -> bool {
        let Some((section, offset)) = self.surroundings.image.place(function.address) else {
            return false;
        };
        let length = usize::try_from(function.end - function.address).unwrap_or(usize::MAX);
        let code = &section[offset..section.len().min(offset.saturating_add(length))];
        mentions.may_be_in(code, function.address)
    }

    /// Whether any instruction has an address in it that leads to a site in one of these ranges.
    fn leads_near(&mut self, function: &Symbol, ranges: &Ranges<'_>) -> bool {
        let is_near = |address: u64| ranges.has(address);
        let image = self.surroundings.image;
        let mut taken = Taken::new(M::WORD);
        let mut address = image.next_code(function.address);
        while address < function.end {
            let Some((section, offset)) = image.place(address) else { return false };
            let step = self.machine.decode_moves(address, section, offset);
            let Some(step) = step else { return false };
            let mut is_site = |effect: &Effect| match *effect {
                Effect::StoreConstant(_, _, value) | Effect::StoreConstantElsewhere(value) => {
                    is_near(value)
                }
                Effect::LoadConstant(_, address) => {
                    self.surroundings.word(address).is_some_and(is_near)
                }
                effect => taken.after(effect).is_some_and(is_near),
            };
            if step.effects.iter().any(&mut is_site) {
                return true;
            }
            let Some(following) = step.after(address) else { return false };
            address = image.next_code(following);
        }
        false
    }

    fn function(&mut self, function: &Symbol) {
        let image = self.surroundings.image;
        let mut state = State::entry(M::STACK, M::WORD);
        let mut known = Known::new(function, image, &state);
        let mut followed = Followed::new(function, image);
        // Everything before this has been seen.
        let mut sweep = function.address;
        known.reach(function.address, &state);
        loop {
            while let Some(address) = known.go_on(&mut state) {
                self.run(address, function, &mut known, &mut followed, &mut state);
            }
            if let Some(address) = known.behind_call(&mut state) {
                if !followed.has(address) {
                    known.reach(address, &state);
                }
                continue;
            }
            let Some(address) = followed.unseen(&mut sweep, image, function) else { return };
            known.guess(&mut state);
            known.reach(address, &state);
        }
    }

    /// Follows instructions until control does not go to the next one.
    fn run(
        &mut self,
        mut address: u64,
        function: &Symbol,
        known: &mut Known,
        followed: &mut Followed,
        state: &mut State,
    ) {
        loop {
            let image = self.surroundings.image;
            let Some(step) = followed.step(address, &mut self.machine, image) else { return };
            for &effect in followed.effects(&step) {
                state.apply(effect, &self.surroundings);
            }
            let Some(following) = step.after(address) else { return };
            match step.next {
                Next::Following => {}
                Next::Branch(target) => known.reach(target, state),
                Next::Jump(target) if self.leaves(target, function) => {
                    return self.called_directly(address, target, state);
                }
                Next::Jump(target) => return known.reach(target, state),
                Next::IndirectJump if state.pending != Pending::None => {
                    return self.called(address, state);
                }
                Next::IndirectJump => return known.agree_at_tables(state),
                Next::IndirectBranch if state.pending != Pending::None => {
                    self.called(address, state);
                }
                Next::IndirectBranch => known.agree_at_tables(state),
                Next::Call(target) => {
                    self.called_directly(address, target, state);
                    self.return_from_call(state, known);
                    if !self.all_calls_return {
                        return known.leave_behind(following, state);
                    }
                }
                Next::IndirectCall if self.asks_for_variable(state) => {
                    state.apply(Effect::Clear(DESCRIPTOR), &self.surroundings);
                }
                Next::IndirectCall => {
                    self.called(address, state);
                    self.return_from_call(state, known);
                }
                Next::MayEnd => {}
                Next::End => return,
            }
            address = following;
            if known.has(address) {
                return known.reach(address, state);
            }
        }
    }

    /// Whether a jump is really a call of another function.
    fn leaves(&self, target: u64, from: &Symbol) -> bool {
        target != from.address && self.functions.get(&target).is_some_and(|to| !is_split_off(to))
    }

    /// Whether an indirect call asks the dynamic linker for the place of a thread's variable.
    fn asks_for_variable(&self, state: &State) -> bool {
        let image = self.surroundings.image;
        state.constant(DESCRIPTOR).is_some_and(|address| image.is_thread_descriptor(address))
    }

    fn return_from_call(&self, state: &mut State, known: &mut Known) {
        state.pending = Pending::None;
        state.callee = None;
        for &register in M::CHANGED_BY_CALLS {
            state.apply(Effect::Clear(register), &self.surroundings);
        }
        known.agree_after_calls(state);
    }

    fn called_directly(&mut self, address: u64, target: u64, state: &State) {
        if state.callee == Some(target) {
            self.called(address, state);
        }
    }

    fn called(&mut self, address: u64, state: &State) {
        if let Pending::Site(counters) = state.pending
            && let Some(site) = self.surroundings.sites.get(counters)
        {
            self.calls.entry(site).or_default().insert(address);
        }
    }
}
