//! Writes the current layout of each version, as its readers want it.

use alloc::vec;
use alloc::vec::Vec;

use super::names::OfWhole;
use super::rules::{Lowered, Rules};
use super::{
    FUNCTIONS, INDIRECT_CALL, Layout, MAGIC, MODULES, NAMES, NO_FILE, SUMMARY, WORKING_SET,
    WORKING_SET_ENTRIES, names,
};
use crate::formats::EncodeError;
use crate::profile::{
    Body, DEEPEST, Function, LARGEST_COUNT, Position, Profile, RareMap, Record, Summary, SymbolId,
};
use crate::workers::{Alone, Workers};

/// A file, and what it lacks of the profile.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// Number of positions too far from the start of their function for 16 bits.
    pub dropped: usize,
    /// Number of call targets left out, as readers would break off at them.
    pub targets: usize,
    /// Number of functions added to one that another file declares, as readers cannot tell the two apart.
    pub mixed: usize,
}

/// The file of a profile for readers that follow these rules.
pub fn encode(profile: &Profile, rules: Rules) -> Result<Encoded, EncodeError> {
    encode_with(profile, rules, &Alone)
}

/// The file of a part of a profile, for readers that are to decide as with the whole one.
pub fn encode_part(
    part: &Profile,
    of_whole: &OfWhole<'_>,
    rules: Rules,
) -> Result<Encoded, EncodeError> {
    encode_any(part, Some(of_whole), rules, &Alone)
}

/// The same as [`encode`] with these workers.
pub fn encode_with(
    profile: &Profile,
    rules: Rules,
    workers: &impl Workers,
) -> Result<Encoded, EncodeError> {
    encode_any(profile, None, rules, workers)
}

fn encode_any(
    profile: &Profile,
    of_whole: Option<&OfWhole<'_>>,
    rules: Rules,
    workers: &impl Workers,
) -> Result<Encoded, EncodeError> {
    let functions: Vec<_> = profile.functions.iter().collect();
    let is_too_deep = workers.map(&functions, |(_, f)| f.body.is_deeper_than(DEEPEST));
    if let Some(place) = is_too_deep.iter().position(|&is_too_deep| is_too_deep) {
        return Err(EncodeError::depth(&profile.symbols, *functions[place].0));
    }
    let Lowered { profile, dropped, targets, mixed } =
        Lowered::of_part(profile, of_whole, rules, workers);
    let used = profile.used_symbols_with(workers);
    let mut order: Vec<SymbolId> =
        profile.symbols.iter().filter(|symbol| used[symbol.index()]).collect();
    names::sort(&profile.symbols, &mut order);
    for &symbol in &order {
        let path = profile.symbols.declared_in(symbol);
        for name in path.into_iter().chain([profile.symbols.name(symbol)]) {
            // Readers crash on such names.
            if name.is_empty() || name.contains(&0) {
                return Err(EncodeError::Name(name.to_vec()));
            }
        }
    }
    let mut index = vec![0; profile.symbols.iter().count()];
    (1..).zip(&order).for_each(|(number, symbol)| index[symbol.index()] = number);
    let layout = Layout::of(rules.version);
    let index = &index;
    let writer = Writer { profile: &profile, layout, order: &order, index, bytes: Vec::new() };
    let summary = of_whole.map(|whole| &whole.summary);
    let bytes = writer.file(rules, summary, workers);
    // Giving back the memory of many small parts takes long, too.
    workers.pass(profile.functions.into_iter(), |f, (): &mut (), (): &mut ()| drop(f), |()| {});
    Ok(Encoded { bytes, dropped, targets, mixed })
}

struct Writer<'p> {
    profile: &'p Profile,
    layout: Layout,
    /// The symbols in the order of the name table. The table starts with an empty name.
    order: &'p [SymbolId],
    /// The place of each symbol in the table, by the symbol's index.
    index: &'p [u32],
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn file(mut self, rules: Rules, kept: Option<&Summary>, workers: &impl Workers) -> Vec<u8> {
        self.words(&[MAGIC, rules.version.word(), 0]);
        match kept {
            _ if !self.layout.summary => {}
            Some(kept) => self.summary(kept),
            None => self.summary(&self.profile.summary()),
        }
        self.names();
        self.functions(workers);
        self.words(&[MODULES, 0, 0, WORKING_SET, 3 * WORKING_SET_ENTRIES]);
        self.words(&[0; 3 * WORKING_SET_ENTRIES as usize]);
        self.bytes
    }

    fn summary(&mut self, summary: &Summary) {
        self.word(SUMMARY);
        self.value(summary.total_count);
        self.value(summary.max_count);
        self.value(summary.max_function_count);
        self.value(summary.counts);
        self.value(summary.functions);
        self.value(summary.cutoffs.len() as u64);
        for cutoff in &summary.cutoffs {
            self.word(cutoff.share);
            self.value(cutoff.min_count);
            self.value(cutoff.counts);
        }
    }

    fn names(&mut self) {
        let symbols = &self.profile.symbols;
        let names = || self.order.iter().map(|&symbol| symbols.name(symbol));
        let length: usize = names().map(|name| 1 + (name.len() + 4) / 4).sum();
        // The empty name is two words.
        self.words(&[NAMES, 1 + 2 + length as u32]);
        let files = names::files(symbols, self.order);
        if self.layout.files {
            self.word(files.len() as u32);
            files.iter().for_each(|path| self.string(path));
        }
        self.word(1 + self.order.len() as u32);
        self.name(b"", None);
        for &symbol in self.order {
            let file = symbols.declared_in(symbol);
            let file = file.and_then(|path| files.binary_search(&path).ok());
            self.name(symbols.name(symbol), file);
        }
    }

    fn name(&mut self, name: &[u8], file: Option<usize>) {
        self.string(name);
        if self.layout.files {
            self.word(file.map_or(NO_FILE, |file| file as u32));
        }
    }

    fn functions(&mut self, workers: &impl Workers) {
        let mut functions: Vec<_> = self.profile.functions.iter().collect();
        functions.sort_by_key(|(symbol, _)| self.place(**symbol));
        let all = workers.map(&functions, |&(&symbol, function)| self.function(symbol, function));
        let length: usize = all.iter().map(|(length, _)| length).sum();
        self.words(&[FUNCTIONS, 1 + length as u32, functions.len() as u32]);
        self.bytes.reserve(all.iter().map(|(_, bytes)| bytes.len()).sum());
        all.iter().for_each(|(_, bytes)| self.bytes.extend_from_slice(bytes));
    }

    /// A function's length in words, and its bytes.
    fn function(&self, symbol: SymbolId, function: &Function) -> (usize, Vec<u8>) {
        let length = 2 + words(&function.body);
        let bytes = Vec::with_capacity(4 * (length + 2));
        let mut writer = Writer { bytes, ..*self };
        writer.count(function.head_count);
        if self.layout.timestamps {
            writer.count(function.timestamp);
        }
        writer.instance(symbol, &function.body);
        (length, writer.bytes)
    }

    fn instance(&mut self, symbol: SymbolId, body: &Body) {
        let call_sites: usize = body.positions.values().map(|record| record.inlined.len()).sum();
        let with_counts = |record: &&Record| record.count.is_some();
        self.word(self.place(symbol));
        self.word(body.positions.values().filter(with_counts).count() as u32);
        self.word(call_sites as u32);
        for (position, record) in &body.positions {
            if let Some(count) = record.count {
                self.position(position, count, record);
            }
        }
        for (position, record) in &body.positions {
            for (callee, body) in self.by_name(&record.inlined) {
                self.location(position);
                self.instance(callee, body);
            }
        }
    }

    fn position(&mut self, position: &Position, count: u64, record: &Record) {
        self.location(position);
        self.word(record.targets.len() as u32);
        self.count(count);
        for (target, &calls) in self.by_name(&record.targets) {
            self.word(INDIRECT_CALL);
            self.value(self.place(target).into());
            self.count(calls);
        }
    }

    fn by_name<'m, T>(&self, symbols: &'m RareMap<SymbolId, T>) -> Vec<(SymbolId, &'m T)> {
        let mut sorted: Vec<_> = symbols.iter().map(|(&symbol, value)| (symbol, value)).collect();
        sorted.sort_by_key(|&(symbol, _)| self.place(symbol));
        sorted
    }

    /// The place of a symbol in the table.
    fn place(&self, symbol: SymbolId) -> u32 {
        self.index[symbol.index()]
    }

    fn location(&mut self, position: &Position) {
        self.word(position.line << 16 | u32::from(position.discriminator));
    }

    fn string(&mut self, string: &[u8]) {
        let words = (string.len() + 4) / 4;
        let (length, bytes) = match self.layout.padded_strings {
            true => (words, 4 * words),
            false => (string.len() + 1, string.len() + 1),
        };
        self.word(length as u32);
        let end = self.bytes.len() + bytes;
        self.bytes.extend_from_slice(string);
        self.bytes.resize(end, 0);
    }

    fn count(&mut self, count: u64) {
        self.value(count.min(LARGEST_COUNT));
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

/// Length of an instance in words, as `create_gcov` counts them.
fn words(body: &Body) -> usize {
    let record = |record: &Record| {
        let own = if record.count.is_some() { 4 + 5 * record.targets.len() } else { 0 };
        own + record.inlined.values().map(|body| 1 + words(body)).sum::<usize>()
    };
    3 + body.positions.values().map(record).sum::<usize>()
}
