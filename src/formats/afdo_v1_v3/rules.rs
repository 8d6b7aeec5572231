//! What the readers of each version make of names and positions, and profiles made to suit them.
//!
//! | reader | version | names | discriminators |
//! |---|---|---|---|
//! | GCC 10 and 11 | 1 | cut at the first dot | ignored |
//! | GCC 12 | 2 | cut at the first dot | ignored |
//! | GCC 13 to 15 | 2 | cut at the first dot | used |
//! | GCC 16 and 17 | 3 | without suffixes of clones, with files | used |
//! | LLVM | 0x3430372a | whole | used |
//!
//! A compiler that ignores discriminators takes the last of several positions of a line, and finds only call
//! sites without a discriminator. So it gets one position a line, with the largest count. What becomes equal
//! is added up.
//!
//! GCC 11 (11.3 was tried) must not be given targets of calls: it keeps three numbers of a target and looks
//! for the fourth. Then it ends with an internal error, now and then or always. It takes a body inlined at an
//! indirect call for a target, too. So such a body goes to the function itself. So does one inside itself: a virtual
//! call that was never executed has no targets, and GCC expects many of them to call the function itself.

use alloc::vec::Vec;

use super::Version;
use super::names::{Names, OfWhole, Renaming};
use crate::profile::{
    Body, Function, LARGEST_COUNT, Map, Position, Profile, RareMap, Record, SymbolId,
};
use crate::workers::Workers;

/// Farthest line that fits.
const FARTHEST_LINE: u32 = 0xffff;

/// How a reader takes a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The version that it reads.
    pub version: Version,
    /// What it makes of names.
    pub names: Names,
    /// What it makes of discriminators.
    pub discriminators: Discriminators,
    /// What it makes of the targets of calls.
    pub targets: Targets,
}

/// What a reader makes of discriminators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discriminators {
    /// It does not look at them.
    Ignored,
    /// It tells positions apart by them.
    Used,
}

/// What a reader makes of the targets of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Targets {
    /// It takes them.
    Read,
    /// It breaks off.
    Rejected,
}

impl Rules {
    /// The rules of a major version of GCC, if it is known to read one of these versions.
    pub const fn for_gcc(major: u32) -> Option<Self> {
        let (version, names, discriminators) = match major {
            10 | 11 => (Version::V1, Names::CutAtDot, Discriminators::Ignored),
            12 => (Version::V2, Names::CutAtDot, Discriminators::Ignored),
            13..=15 => (Version::V2, Names::CutAtDot, Discriminators::Used),
            16 | 17 => (Version::V3, Names::WithFiles, Discriminators::Used),
            _ => return None,
        };
        let targets = if major == 11 { Targets::Rejected } else { Targets::Read };
        Some(Self { version, names, discriminators, targets })
    }

    /// Rules under which every reader of a version finds something.
    pub const fn for_version(version: Version) -> Self {
        let (names, discriminators) = match version {
            Version::V1 | Version::V2 => (Names::CutAtDot, Discriminators::Ignored),
            Version::V3 => (Names::WithFiles, Discriminators::Used),
            Version::V407 => (Names::Whole, Discriminators::Used),
        };
        let targets =
            if matches!(version, Version::V1) { Targets::Rejected } else { Targets::Read };
        Self { version, names, discriminators, targets }
    }

    /// Rules that keep as much of a profile as a reader of the version could use.
    pub const fn that_keep_most(version: Version) -> Self {
        let (discriminators, targets) = (Discriminators::Used, Targets::Read);
        Self { discriminators, targets, ..Self::for_version(version) }
    }
}

/// A profile made to suit a reader.
pub struct Lowered {
    /// The profile.
    pub profile: Profile,
    /// Number of positions too far from the start of their function for 16 bits.
    pub dropped: usize,
    /// Number of call targets left out, as the reader would break off at them.
    pub targets: usize,
    /// Number of functions added to one that another file declares.
    pub mixed: usize,
}

impl Lowered {
    /// Makes a profile that follows the rules.
    pub fn new(profile: &Profile, rules: Rules, workers: &impl Workers) -> Self {
        Self::of_part(profile, None, rules, workers)
    }

    /// The same, if `of_whole` is given for a part of a profile.
    pub fn of_part(
        profile: &Profile,
        of_whole: Option<&OfWhole<'_>>,
        rules: Rules,
        workers: &impl Workers,
    ) -> Self {
        let used = profile.used_symbols_with(workers);
        let old: Vec<_> = profile.symbols.iter().filter(|symbol| used[symbol.index()]).collect();
        let names = match of_whole {
            Some(whole) => Renaming::of_part(&profile.symbols, &old, whole, rules.names),
            None => Renaming::of_profile(profile, &old, rules.names),
        };
        let of = |symbol| names.of(symbol);
        let functions: Vec<_> = profile.functions.iter().collect();
        let all = workers.map(&functions, |&(&symbol, function)| {
            let mut lowering = Lowering::new(of, rules.discriminators);
            (lowering.farthest, lowering.targets) = (FARTHEST_LINE, rules.targets);
            lowering.around.push(of(symbol));
            let body = lowering.body(&function.body);
            let Lowering { dropped, targets_dropped, outlined, .. } = lowering;
            (Function { body, ..*function }, dropped, targets_dropped, outlined)
        });
        let mut lowered = Profile::default();
        let (mut dropped, mut targets) = (0, 0);
        for ((&symbol, _), (function, positions, calls, outlined)) in functions.into_iter().zip(all)
        {
            lowered.add(of(symbol), function);
            for (callee, body) in outlined {
                lowered.add(callee, Function::of_inlined(body));
            }
            (dropped, targets) = (dropped + positions, targets + calls);
        }
        let mixed = mixed(profile, of);
        lowered.symbols = names.symbols;
        Self { profile: lowered, dropped, targets, mixed }
    }
}

/// The number of functions that are added to one of another file.
fn mixed(profile: &Profile, of: impl Fn(SymbolId) -> SymbolId) -> usize {
    let functions = profile.functions.keys();
    let declared = functions.filter_map(|&old| Some((of(old), profile.symbols.declared_in(old)?)));
    let mut declared: Vec<(SymbolId, &[u8])> = declared.collect();
    declared.sort_unstable();
    declared.dedup();
    declared.windows(2).filter(|pair| pair[0].0 == pair[1].0).count()
}

/// Merges the positions of each line into one with the largest count, for a reader that ignores
/// discriminators. Bodies with and without discriminators can be added after this, and not before.
pub fn by_line(body: &Body) -> Body {
    Lowering::new(|symbol| symbol, Discriminators::Ignored).body(body)
}

/// Changes the positions of a profile.
struct Lowering<F> {
    of: F,
    discriminators: Discriminators,
    targets: Targets,
    farthest: u32,
    dropped: usize,
    targets_dropped: usize,
    /// The functions around a body, as the reader names them.
    around: Vec<SymbolId>,
    /// Bodies that the reader must not be given where they are inlined.
    outlined: Vec<(SymbolId, Body)>,
}

impl<F: Fn(SymbolId) -> SymbolId> Lowering<F> {
    /// Begins with no limit to lines, and with targets.
    fn new(of: F, discriminators: Discriminators) -> Self {
        let (targets, farthest) = (Targets::Read, u32::MAX);
        let (dropped, targets_dropped, around, outlined) = (0, 0, Vec::new(), Vec::new());
        Self { of, discriminators, targets, farthest, dropped, targets_dropped, around, outlined }
    }

    fn body(&mut self, body: &Body) -> Body {
        let mut lowered = Body { positions: Map::with_capacity(body.positions.len()) };
        for (&position, record) in &body.positions {
            let Some(position) = self.position(position) else {
                self.dropped += 1;
                continue;
            };
            self.record(record, lowered.positions.entry(position).or_default());
        }
        if matches!(self.targets, Targets::Rejected) {
            self.outline(body, &mut lowered);
        }
        lowered
    }

    /// Takes away the bodies that are inlined at indirect calls.
    fn outline(&mut self, body: &Body, lowered: &mut Body) {
        for (&position, _) in body.positions.iter().filter(|(_, record)| !record.targets.is_empty())
        {
            let position = self.position(position);
            let record = position.and_then(|position| lowered.positions.get_mut(&position));
            if let Some(record) = record {
                self.outlined.extend(core::mem::take(&mut record.inlined));
            }
        }
    }

    /// Adds a record to the others that now share its position.
    fn record(&mut self, record: &Record, lowered: &mut Record) {
        if let Some(count) = record.executions() {
            let largest = lowered.count.get_or_insert(0);
            *largest = count.min(LARGEST_COUNT).max(*largest);
        }
        match self.targets {
            Targets::Rejected => self.targets_dropped += record.targets.len(),
            Targets::Read => {
                for (&target, &calls) in &record.targets {
                    let sum = lowered.targets.entry((self.of)(target)).or_default();
                    *sum = sum.saturating_add(calls).min(LARGEST_COUNT);
                }
            }
        }
        if lowered.inlined.is_empty() {
            lowered.inlined = RareMap::with_capacity(record.inlined.len());
        }
        for (&callee, body) in &record.inlined {
            let callee = (self.of)(callee);
            let is_inside_itself = self.around.contains(&callee);
            self.around.push(callee);
            let body = self.body(body);
            self.around.pop();
            match self.targets {
                Targets::Rejected if is_inside_itself => self.outlined.push((callee, body)),
                _ => lowered.inline(callee, body),
            }
        }
    }

    fn position(&self, position: Position) -> Option<Position> {
        let line = match position.line {
            // A negative line from another writer.
            line @ 0xff_8000.. => line & 0xffff,
            line => line,
        };
        let discriminator = match self.discriminators {
            Discriminators::Ignored => 0,
            Discriminators::Used => position.discriminator,
        };
        (line <= self.farthest).then_some(Position { line, discriminator })
    }
}
