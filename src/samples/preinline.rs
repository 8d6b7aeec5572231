//! The pre-inliner: which copies stay in their callers, by how often they are called and how large they are.
//!
//! It goes through the functions from callers to callees. In each of them the hottest call comes first. A copy stays if
//! its call is hot, if it is small enough, and if the function has not grown too far. Then its own calls are next.
//! Otherwise its counts go to the function itself, where they are looked at later. So the compiler's decisions in one
//! module do not leave counts of another one in contexts that nobody inlines.

use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use super::layout::TooLarge;
use super::sizes::Sizes;
use super::{Body, ContextId, Frame, Ranks, SHOULD_BE_INLINED, Samples, Site};
use crate::profile::SymbolId;

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// A call that is made at least so often is hot.
    pub hot: u64,
    /// Most bytes of a copy that stays.
    pub size: u64,
    /// How many times as large as it was a function may become.
    pub growth: u64,
    /// Bytes that a function may have in any case.
    pub least: u64,
    /// Bytes that no function may have.
    pub most: u64,
}

impl Thresholds {
    /// What llvm-profgen starts from, in bytes, for this least number of calls.
    pub const fn for_hot(hot: u64) -> Self {
        Self { hot, size: 1500, growth: 12, least: 100, most: 10_000 }
    }
}

/// What was decided about a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Its context, the outermost frame first.
    pub frames: Vec<Frame>,
    /// How often it was called.
    pub calls: u64,
    /// Its size in bytes, `None` if it has no code in the program.
    pub size: Option<u64>,
    /// Whether it stays, and why not.
    pub verdict: Verdict,
}

/// Verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It stays.
    Inlined,
    /// Its call is not hot.
    Cold,
    /// It is too large.
    Large,
    /// The function has no room.
    Full,
    /// Nothing is known about its size.
    Unknown,
}

impl Samples {
    /// Decides about all copies, and lists the decisions. The profile has contexts then, those that stay with
    /// [`SHOULD_BE_INLINED`].
    pub fn preinline(
        &mut self,
        sizes: &Sizes,
        thresholds: Thresholds,
    ) -> Result<Vec<Decision>, TooLarge> {
        self.nest()?;
        let mut decisions = Vec::new();
        let mut seen = BTreeSet::new();
        for function in self.callers_first() {
            seen.insert(function);
            let context = self.contexts.base(function);
            let Some(mut body) = self.functions.remove(&context) else { continue };
            let mut inliner = Inliner { sizes, thresholds, decisions: &mut decisions };
            let out = inliner.function(function, &mut body);
            self.add(context, body);
            for (callee, body) in out {
                let context = self.contexts.base(callee);
                // Whoever comes later decides about what is inlined there. Earlier functions get no more contexts.
                self.take(context, callee, body, &seen);
            }
        }
        self.split()?;
        self.traits.preinlined = true;
        Ok(decisions)
    }

    /// Adds a copy to its function; if that has been decided about, with nothing inlined.
    fn take(
        &mut self,
        context: ContextId,
        callee: SymbolId,
        mut body: Body,
        seen: &BTreeSet<SymbolId>,
    ) {
        body.attributes = 0;
        if !seen.contains(&callee) {
            return self.add(context, body);
        }
        for ((_, callee), inlined) in body.take_inlined() {
            let context = self.contexts.base(callee);
            self.take(context, callee, inlined, seen);
        }
        self.add(context, body);
    }

    /// All functions, callers before callees as far as recursion allows, and hot ones first.
    fn callers_first(&self) -> Vec<SymbolId> {
        let ranks = Ranks::new(&self.symbols);
        let mut totals: BTreeMap<SymbolId, (u64, BTreeSet<SymbolId>)> = BTreeMap::new();
        for (&context, body) in &self.functions {
            let function = totals.entry(self.contexts.function(context)).or_default();
            function.0 = function.0.saturating_add(body.total);
            let mut callees = BTreeSet::new();
            body.for_each_body(&mut |body| {
                callees.extend(body.inlined.keys().map(|&(_, callee)| callee));
                let targets = body.records.values().flat_map(|record| record.targets.keys());
                callees.extend(targets.copied());
            });
            totals.entry(self.contexts.function(context)).or_default().1.append(&mut callees);
        }
        let inlined: BTreeSet<SymbolId> =
            totals.values().flat_map(|(_, callees)| callees.iter().copied()).collect();
        inlined.into_iter().for_each(|callee| _ = totals.entry(callee).or_default());
        let mut order: Vec<SymbolId> = totals.keys().copied().collect();
        order.sort_by_key(|symbol| (Reverse(totals[symbol].0), ranks.of(*symbol)));
        postorder(&order, |symbol| totals[&symbol].1.iter().copied().collect())
    }
}

/// The reverse of the order in which a search in depth leaves the functions: callers come first.
fn postorder(order: &[SymbolId], callees: impl Fn(SymbolId) -> Vec<SymbolId>) -> Vec<SymbolId> {
    let (mut left, mut entered) = (Vec::new(), BTreeSet::new());
    for &start in order.iter().rev() {
        if !entered.insert(start) {
            continue;
        }
        let mut open = alloc::vec![(start, callees(start))];
        while let Some((symbol, next)) = open.last_mut() {
            match next.pop() {
                Some(callee) if entered.insert(callee) => {
                    let more = callees(callee);
                    open.push((callee, more));
                }
                Some(_) => {}
                None => {
                    left.push(*symbol);
                    open.pop();
                }
            }
        }
    }
    left.reverse();
    left
}

struct Inliner<'s, 'd> {
    sizes: &'s Sizes,
    thresholds: Thresholds,
    decisions: &'d mut Vec<Decision>,
}

/// A copy to decide about: its calls, then where it is.
type Candidate = (u64, Reverse<Vec<(Site, SymbolId)>>);

impl Inliner<'_, '_> {
    /// Decides about the copies of a function; gives those that do not stay.
    fn function(&mut self, function: SymbolId, body: &mut Body) -> Vec<(SymbolId, Body)> {
        let own = self.sizes.of(&[Frame { function, site: Site::default() }]).unwrap_or(0);
        let Thresholds { growth, least, most, .. } = self.thresholds;
        let limit = own.saturating_mul(growth).max(least).min(most);
        let (mut size, mut out) = (own, Vec::new());
        let mut candidates: BinaryHeap<Candidate> = BinaryHeap::new();
        push(&mut candidates, &[], body);
        while let Some((calls, Reverse(path))) = candidates.pop() {
            let frames = frames(function, &path);
            let mut lines = frames.clone();
            // The sizes know lines only.
            lines.iter_mut().for_each(|frame| frame.site.discriminator = 0);
            let bytes = self.sizes.of(&lines);
            let verdict = self.verdict(calls, bytes, size, limit);
            self.decisions.push(Decision { frames, calls, size: bytes, verdict });
            if verdict == Verdict::Inlined {
                size = size.saturating_add(bytes.unwrap_or(0));
                let Some(copy) = body.copy_at(&path) else { continue };
                copy.attributes |= SHOULD_BE_INLINED;
                push(&mut candidates, &path, copy);
            } else {
                out.extend(body.take_out(&path));
            }
        }
        out
    }

    fn verdict(&self, calls: u64, bytes: Option<u64>, size: u64, limit: u64) -> Verdict {
        match bytes {
            _ if calls < self.thresholds.hot => Verdict::Cold,
            None => Verdict::Unknown,
            Some(bytes) if bytes > self.thresholds.size => Verdict::Large,
            Some(bytes) if size.saturating_add(bytes) > limit => Verdict::Full,
            Some(_) => Verdict::Inlined,
        }
    }
}

fn push(candidates: &mut BinaryHeap<Candidate>, path: &[(Site, SymbolId)], body: &Body) {
    for (&place, inlined) in &body.inlined {
        let path = path.iter().copied().chain([place]).collect();
        candidates.push((inlined.entries(), Reverse(path)));
    }
}

/// The frames of a copy.
fn frames(function: SymbolId, path: &[(Site, SymbolId)]) -> Vec<Frame> {
    let functions = [function].into_iter().chain(path.iter().map(|&(_, callee)| callee));
    let sites = path.iter().map(|&(site, _)| site).chain([Site::default()]);
    functions.zip(sites).map(|(function, site)| Frame { function, site }).collect()
}

impl Body {
    fn copy_at(&mut self, path: &[(Site, SymbolId)]) -> Option<&mut Self> {
        path.iter().try_fold(self, |body, place| body.inlined.get_mut(place))
    }

    /// Takes a copy out, and leaves a call behind.
    fn take_out(&mut self, path: &[(Site, SymbolId)]) -> Option<(SymbolId, Self)> {
        let (&place, around) = path.split_last()?;
        let before = self.copy_at(around)?.total;
        let caller = self.copy_at(around)?;
        let mut body = caller.inlined.remove(&place)?;
        caller.leave_call(place, &mut body);
        let after = caller.total;
        // The callers' totals have this one's.
        for depth in 0..around.len() {
            let outer = self.copy_at(&around[..depth])?;
            outer.total = outer.total.saturating_sub(before).saturating_add(after);
        }
        Some((place.1, mem::take(&mut body)))
    }
}
