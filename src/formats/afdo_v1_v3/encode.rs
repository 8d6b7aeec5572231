//! Writes version 2.
//!
//! Its readers know functions by name alone, cut at the first dot, and so equal names are added.
//! GCC 12 ignores discriminators and takes the last of several positions of a line, and finds only
//! call sites without one: for it there is one position a line, with the largest count, and no
//! discriminators.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{
    FUNCTIONS, INDIRECT_CALL, MAGIC, MODULES, NAMES, VERSION, WORKING_SET, WORKING_SET_ENTRIES,
};
use crate::profile::{Body, Profile, Record, SymbolId, Symbols};

/// Largest count that compilers can hold.
const LARGEST_COUNT: u64 = i64::MAX as u64;

/// What the reading compiler makes of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discriminators {
    /// GCC 12.
    Ignored,
    /// GCC 13 to 15.
    Used,
}

/// A file, and what of the profile is not in it.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Positions too far from the start of their function for 16 bits.
    pub dropped: usize,
}

/// The file of a profile.
pub fn encode(profile: &Profile, discriminators: Discriminators) -> Encoded {
    let mut lowering = Lowering { symbols: &profile.symbols, discriminators, dropped: 0 };
    let mut functions = BTreeMap::<&[u8], (u64, Instance<'_>)>::new();
    for (&symbol, function) in &profile.functions {
        let (head_count, instance) = functions.entry(lowering.name(symbol)).or_default();
        *head_count = head_count.saturating_add(function.head_count);
        lowering.add(&function.body, instance);
    }
    let bytes = Writer::new(&functions).file(&functions);
    Encoded { bytes, dropped: lowering.dropped }
}

/// A function or an inlined copy of it, as the format sees it.
#[derive(Default)]
struct Instance<'p> {
    positions: BTreeMap<u32, Counts<'p>>,
    call_sites: BTreeMap<(u32, &'p [u8]), Instance<'p>>,
}

#[derive(Default)]
struct Counts<'p> {
    count: u64,
    targets: BTreeMap<&'p [u8], u64>,
}

struct Lowering<'p> {
    symbols: &'p Symbols,
    discriminators: Discriminators,
    dropped: usize,
}

impl<'p> Lowering<'p> {
    fn name(&self, symbol: SymbolId) -> &'p [u8] {
        let name = self.symbols.name(symbol);
        // A dot at the start would leave nothing, and an empty name kills the readers.
        let cut = name.iter().skip(1).position(|&byte| byte == b'.');
        &name[..cut.map_or(name.len(), |cut| cut + 1)]
    }

    /// Adds a body to an instance, which may have that of an equal name already.
    fn add(&mut self, body: &'p Body, instance: &mut Instance<'p>) {
        let mut lines = BTreeMap::<u32, Counts<'p>>::new();
        for (position, record) in &body.positions {
            let Ok(line) = u16::try_from(position.line) else {
                self.dropped += 1;
                continue;
            };
            let discriminator = match self.discriminators {
                Discriminators::Ignored => 0,
                Discriminators::Used => position.discriminator,
            };
            let location = u32::from(line) << 16 | u32::from(discriminator);
            self.counts(record, location, &mut lines);
            for (&callee, body) in &record.inlined {
                let callee = (location, self.name(callee));
                self.add(body, instance.call_sites.entry(callee).or_default());
            }
        }
        for (location, counts) in lines {
            let sum = instance.positions.entry(location).or_default();
            sum.count = sum.count.saturating_add(counts.count);
            for (target, calls) in counts.targets {
                let sum = sum.targets.entry(target).or_default();
                *sum = sum.saturating_add(calls);
            }
        }
    }

    /// The counts of a position, the largest of those that share a location.
    fn counts(&self, record: &'p Record, location: u32, lines: &mut BTreeMap<u32, Counts<'p>>) {
        if record.count.is_none() && record.targets.is_empty() {
            return;
        }
        // Without a count of its own a call site was executed as often as it called.
        let calls = record.targets.values().fold(0u64, |sum, &calls| sum.saturating_add(calls));
        let counts = lines.entry(location).or_default();
        counts.count = counts.count.max(record.count.unwrap_or(calls)).min(LARGEST_COUNT);
        for (&target, &calls) in &record.targets {
            let sum = counts.targets.entry(self.name(target)).or_default();
            *sum = sum.saturating_add(calls).min(LARGEST_COUNT);
        }
    }
}

struct Writer<'p> {
    names: BTreeMap<&'p [u8], u32>,
    bytes: Vec<u8>,
}

impl<'p> Writer<'p> {
    fn new(functions: &BTreeMap<&'p [u8], (u64, Instance<'p>)>) -> Self {
        let mut names = BTreeMap::from([(b"".as_slice(), 0)]);
        for (&name, (_, instance)) in functions {
            names.insert(name, 0);
            instance.collect_names(&mut names);
        }
        for (index, place) in (0..).zip(names.values_mut()) {
            *place = index;
        }
        Self { names, bytes: Vec::new() }
    }

    fn file(mut self, functions: &BTreeMap<&'p [u8], (u64, Instance<'p>)>) -> Vec<u8> {
        self.words(&[MAGIC, VERSION, 0]);
        self.name_table();
        let length: u32 = functions.values().map(|(_, instance)| 2 + instance.words()).sum();
        self.words(&[FUNCTIONS, 1 + length, functions.len() as u32]);
        for (name, (head_count, instance)) in functions {
            self.value((*head_count).min(LARGEST_COUNT));
            self.instance(name, instance);
        }
        self.words(&[MODULES, 0, 0, WORKING_SET, 3 * WORKING_SET_ENTRIES]);
        self.words(&[0; 3 * WORKING_SET_ENTRIES as usize]);
        self.bytes
    }

    fn name_table(&mut self) {
        let names: Vec<&[u8]> = self.names.keys().copied().collect();
        let length: usize = names.iter().map(|name| 1 + (name.len() + 4) / 4).sum();
        self.words(&[NAMES, 1 + length as u32, names.len() as u32]);
        for name in names {
            self.word(name.len() as u32 + 1);
            self.bytes.extend_from_slice(name);
            self.bytes.push(0);
        }
    }

    fn instance(&mut self, name: &[u8], instance: &Instance<'p>) {
        self.word(self.names[name]);
        self.word(instance.positions.len() as u32);
        self.word(instance.call_sites.len() as u32);
        for (&location, counts) in &instance.positions {
            self.word(location);
            self.word(counts.targets.len() as u32);
            self.value(counts.count);
            for (target, &calls) in &counts.targets {
                self.word(INDIRECT_CALL);
                self.value(self.names[target].into());
                self.value(calls);
            }
        }
        for ((location, callee), instance) in &instance.call_sites {
            self.word(*location);
            self.instance(callee, instance);
        }
    }

    fn words(&mut self, words: &[u32]) {
        words.iter().for_each(|&word| self.word(word));
    }

    fn word(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_ne_bytes());
    }

    fn value(&mut self, value: u64) {
        self.word(value as u32);
        self.word((value >> 32) as u32);
    }
}

impl<'p> Instance<'p> {
    fn collect_names(&self, names: &mut BTreeMap<&'p [u8], u32>) {
        for counts in self.positions.values() {
            names.extend(counts.targets.keys().map(|&target| (target, 0)));
        }
        for (&(_, callee), instance) in &self.call_sites {
            names.insert(callee, 0);
            instance.collect_names(names);
        }
    }

    /// Length in words, as `create_gcov` counts them.
    fn words(&self) -> u32 {
        let targets: usize = self.positions.values().map(|counts| counts.targets.len()).sum();
        let inner: u32 = self.call_sites.values().map(|instance| 1 + instance.words()).sum();
        3 + 4 * self.positions.len() as u32 + 5 * targets as u32 + inner
    }
}
