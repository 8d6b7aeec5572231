//! How readers of sample profiles match names and positions, and the lowering of a profile to these rules. The
//! encoders write the lowered profile.
//!
//! clang matches a position by its line, counted from the function's line modulo 2^16, and its discriminator. clang
//! numbers the basic blocks of a line with its own discriminators, and only with
//! `-fdebug-info-for-profiling`. gcc's discriminators differ. So a profile from gcc gets one position per line,
//! with the largest count of the line; targets and inlined copies of the line add up. A profile from clang keeps its
//! discriminators.
//!
//! clang knows a function by its name alone, whatever file declares it, and does not have the clones that gcc made.

use alloc::vec::Vec;

use crate::formats::afdo_v1_v3::names::without_clones;
use crate::profile::{Body, LARGEST_COUNT, Position, Profile, Record, SymbolId};
use crate::samples::{self, Samples, Site};

/// Farthest line that fits.
const FARTHEST_LINE: u32 = 0xffff;

/// How a reader matches a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// How it matches discriminators.
    pub discriminators: Discriminators,
    /// How it matches names.
    pub names: Names,
}

/// How a reader matches discriminators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discriminators {
    /// They belong to another compiler: each line gets its largest count.
    OfAnother,
    /// They belong to the reader's compiler.
    Kept,
}

/// How a reader matches names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// By the whole name.
    Whole,
    /// Without the suffixes that gcc gives to clones.
    WithoutClones,
}

impl Rules {
    /// Rules that keep as much of a profile as the formats can hold.
    pub const WHOLE: Self = Self { discriminators: Discriminators::Kept, names: Names::Whole };

    /// Rules for profiles that gcc made.
    pub const OF_GCC: Self =
        Self { discriminators: Discriminators::OfAnother, names: Names::WithoutClones };

    /// The rules of a major version of clang; `None` for an unknown version.
    pub const fn for_clang(major: u32) -> Option<Self> {
        match major {
            OLDEST..=NEWEST => Some(Self::OF_GCC),
            _ => None,
        }
    }
}

/// The oldest clang whose rules are known.
pub const OLDEST: u32 = 13;
/// The first clang whose extensible binary has a section of contexts.
pub const FIRST_WITH_CONTEXTS: u32 = 14;
/// The newest clang whose rules are known.
pub const NEWEST: u32 = 23;

/// A profile that follows the rules of a reader.
pub struct Lowered {
    /// The profile.
    pub samples: Samples,
    /// Number of positions too far from the start of their function for 16 bits.
    pub dropped: usize,
    /// Number of functions added to a function of the same name in another file.
    pub mixed: usize,
}

impl Lowered {
    /// Lowers a profile to the rules.
    pub fn new(profile: &Profile, rules: Rules) -> Self {
        let mut samples = Samples::default();
        let symbols = &profile.symbols;
        let rename = |symbol: SymbolId| {
            let name = symbols.name(symbol);
            samples.symbol(if rules.names == Names::Whole { name } else { without_clones(name) })
        };
        let lowered_symbols: Vec<SymbolId> = symbols.iter().map(rename).collect();
        let mut lowering = Lowering { symbols: &lowered_symbols, rules, dropped: 0 };
        for (&symbol, function) in &profile.functions {
            let mut body = lowering.body(&function.body);
            body.head = function.head_count.min(LARGEST_COUNT);
            let context = samples.contexts.base(lowered_symbols[symbol.index()]);
            samples.add(context, body);
        }
        let dropped = lowering.dropped;
        Self { samples, dropped, mixed: mixed(profile, &lowered_symbols) }
    }
}

/// The number of functions added to a function of the same name in another file.
fn mixed(profile: &Profile, lowered_symbols: &[SymbolId]) -> usize {
    let declared = profile.functions.keys().filter_map(|&old| {
        let file = profile.symbols.declared_in(old)?;
        Some((lowered_symbols[old.index()], file))
    });
    let mut declared: Vec<(SymbolId, &[u8])> = declared.collect();
    declared.sort_unstable();
    declared.dedup();
    declared.windows(2).filter(|pair| pair[0].0 == pair[1].0).count()
}

struct Lowering<'s> {
    /// For each symbol of the profile, the one of the lowered profile.
    symbols: &'s [SymbolId],
    rules: Rules,
    dropped: usize,
}

impl Lowering<'_> {
    fn body(&mut self, body: &Body) -> samples::Body {
        let mut lowered = samples::Body::default();
        for (&position, record) in &body.positions {
            match self.site(position) {
                Some(site) => self.record(record, site, &mut lowered),
                None => self.dropped += 1,
            }
        }
        let own = lowered.records.values().map(|record| record.count);
        let inlined = lowered.inlined.values().map(|body| body.total);
        lowered.total = own.chain(inlined).fold(0, u64::saturating_add);
        lowered
    }

    fn record(&mut self, record: &Record, site: Site, lowered: &mut samples::Body) {
        if let Some(count) = record.executions() {
            let merged = lowered.records.entry(site).or_default();
            merged.count = merged.count.max(count.min(LARGEST_COUNT));
            for (target, &calls) in &record.targets {
                let sum = merged.targets.entry(self.symbols[target.index()]).or_default();
                *sum = sum.saturating_add(calls).min(LARGEST_COUNT);
            }
        }
        for (callee, body) in &record.inlined {
            let body = self.body(body);
            lowered.add_inlined((site, self.symbols[callee.index()]), body);
        }
    }

    fn site(&self, position: Position) -> Option<Site> {
        let line = match position.line {
            // A negative line from another writer.
            line @ 0xff_8000.. => line & 0xffff,
            line => line,
        };
        let discriminator = match self.rules.discriminators {
            Discriminators::OfAnother => 0,
            Discriminators::Kept => position.discriminator.into(),
        };
        (line <= FARTHEST_LINE).then_some(Site { line, discriminator })
    }
}
