//! Reads a text into the model.

use alloc::collections::BTreeSet;
use alloc::collections::btree_map::Entry;
use alloc::vec::Vec;
use core::mem;

use super::check::{Defect, Findings, Tell, TextError};
use super::line::{Inner, Line, Wrong, first_target, frames, parse};
use crate::profile::{DEEPEST, Map, SymbolId};
use crate::samples::{Body, ContextId, Frame, Record, Samples, Site, sum};

/// The contents of a text.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The profile.
    pub samples: Samples,
    /// Tolerated defects.
    pub findings: Findings,
}

/// Reads a text. The first defect that is not tolerable is an error.
pub fn decode(text: &[u8]) -> Result<Decoded, TextError> {
    decode_and_tell(text, &mut |_| {})
}

/// Reads a text, and reports each defect to `tell` as soon as it finds it.
pub fn decode_and_tell(text: &[u8], tell: &mut dyn FnMut(TextError)) -> Result<Decoded, TextError> {
    let mut findings = Findings::default();
    let mut note = |found: TextError| {
        tell(found.clone());
        findings.note(found);
    };
    let mut parser = Parser::default();
    for line in text.split(|&byte| byte == b'\n') {
        parser.number += 1;
        if let Err((column, defect)) = parser.line(line, &mut note) {
            return Err(parser.error(column, defect));
        }
    }
    parser.close(0);
    parser.add_repeated();
    Ok(Decoded { samples: parser.samples, findings })
}

/// Whether the first line is a function, and the second line belongs to it or is another function. An indented line
/// belongs to it, even with a defect: only the reader can name that.
pub(super) fn begins_well(text: &[u8]) -> bool {
    const MOST_BYTES: usize = 1 << 16;
    let text = &text[..text.len().min(MOST_BYTES)];
    let mut lines = text.split(|&byte| byte == b'\n').map(|line| (line, parse(line)));
    let mut line = || lines.find(|(_, parsed)| !matches!(parsed, Ok(None)));
    let Some((_, Ok(Some(Line::Function { name, .. })))) = line() else { return false };
    let is_next = |(line, parsed): (&[u8], Result<_, _>)| {
        parsed.is_ok() || line.starts_with(b" ") || line.starts_with(b"\t")
    };
    !name.is_empty() && (text.len() == MOST_BYTES || line().is_none_or(is_next))
}

#[derive(Default)]
struct Parser {
    samples: Samples,
    /// Number of the line, from 1.
    number: u64,
    /// The function that is being read, and its inlined copies down to the current one.
    open: Vec<Open>,
    /// Further functions of the same name and context.
    repeated: Vec<(ContextId, Body)>,
}

struct Open {
    place: Place,
    /// The body without its records and copies.
    body: Body,
    records: Entries<Site, Record>,
    inlined: Entries<(Site, SymbolId), Body>,
}

/// The entries of a map, before they are in order. The map is a sorted vector, and each insertion would move what
/// follows.
struct Entries<K, V> {
    entries: Vec<(K, V)>,
    /// The largest key so far.
    last: Option<K>,
    /// All keys, if they do not ascend.
    keys: BTreeSet<K>,
}

/// The owner of a body.
enum Place {
    Function(ContextId),
    Inlined(Site, SymbolId),
}

impl<K: Ord + Copy, V> Entries<K, V> {
    const fn new() -> Self {
        Self { entries: Vec::new(), last: None, keys: BTreeSet::new() }
    }

    /// Notes a key that comes next; returns whether it is new.
    fn note(&mut self, key: K) -> bool {
        let ascends = self.last.is_none_or(|last| last < key);
        if !ascends && self.keys.is_empty() {
            self.keys = self.entries.iter().map(|&(key, _)| key).collect();
        }
        self.last = self.last.max(Some(key));
        match self.keys.is_empty() {
            true => ascends,
            false => self.keys.insert(key),
        }
    }

    fn into_map(self, sum: impl Fn(Vec<V>) -> V) -> Map<K, V> {
        sum::map(self.entries, sum)
    }
}

impl Open {
    fn new(place: Place, body: Body) -> Self {
        Self { place, body, records: Entries::new(), inlined: Entries::new() }
    }

    fn finish(self) -> (Place, Body) {
        let records = self.records.into_map(Record::sum_of);
        let inlined = self.inlined.into_map(Body::sum_of);
        (self.place, Body { records, inlined, ..self.body })
    }
}

impl Parser {
    fn line(&mut self, line: &[u8], tell: Tell<'_>) -> Result<(), Wrong> {
        match parse(line)? {
            None => Ok(()),
            Some(Line::Function { name, total, head }) => self.function(name, total, head, tell),
            Some(Line::Inner { level, what }) => self.inner(level, what, tell),
        }
    }

    fn function(
        &mut self,
        name: &[u8],
        total: u64,
        head: u64,
        tell: Tell<'_>,
    ) -> Result<(), Wrong> {
        self.close(0);
        let has_context = name.starts_with(b"[");
        let context = match has_context {
            true => self.context(name)?,
            false => {
                let symbol = self.symbol(name, 0)?;
                self.samples.contexts.base(symbol)
            }
        };
        if !self.samples.functions.is_empty() && self.samples.traits.contexts != has_context {
            tell(self.error(0, Defect::MixedContexts));
        }
        self.samples.traits.contexts |= has_context;
        if self.samples.functions.contains_key(&context) {
            tell(self.error(0, Defect::DuplicateFunction));
        }
        let body = Body { head, total, ..Body::default() };
        self.open.push(Open::new(Place::Function(context), body));
        Ok(())
    }

    /// Reads `[main:3 @ f:1.2 @ g]`.
    fn context(&mut self, text: &[u8]) -> Result<ContextId, Wrong> {
        const WHAT: Defect = Defect::Expected("a context in square brackets");
        let read = frames(text).ok_or((0, WHAT))?;
        let mut frames = Vec::with_capacity(read.len());
        for (name, site) in read {
            frames.push(Frame { function: self.symbol(name, 1)?, site });
        }
        self.samples.contexts.of(&frames).ok_or((0, WHAT))
    }

    fn inner(&mut self, level: usize, what: Inner<'_>, tell: Tell<'_>) -> Result<(), Wrong> {
        const NO_FUNCTION: Defect = Defect::Expected("a function before its counts");
        self.close(level);
        if self.open.len() < level {
            let expected = self.open.len();
            tell(self.error(0, Defect::Level { expected, found: level }));
        }
        let Some(open) = self.open.last_mut() else { return Err((0, NO_FUNCTION)) };
        match what {
            Inner::Checksum(checksum) => {
                open.body.checksum = checksum;
                self.samples.traits.probes = true;
            }
            Inner::Attributes(attributes) => {
                const WHAT: Defect = Defect::Expected("attributes below 2^32");
                open.body.attributes = u32::try_from(attributes).map_err(|_| (level, WHAT))?;
            }
            Inner::Flat => {}
            Inner::Count { site, count, targets } => {
                self.count(site, count, targets, level, tell)?;
            }
            Inner::Inlined { site, name, total } => {
                if self.open.len() > DEEPEST {
                    return Err((level, Defect::Depth));
                }
                let callee = self.symbol(name, level)?;
                let body = Body { total, ..Body::default() };
                let open = self.open.last_mut();
                let is_new = open.is_none_or(|open| open.inlined.note((site, callee)));
                self.tell_unless(is_new, level, tell);
                self.open.push(Open::new(Place::Inlined(site, callee), body));
            }
        }
        Ok(())
    }

    fn count(
        &mut self,
        site: Site,
        count: u64,
        targets: &[u8],
        column: usize,
        tell: Tell<'_>,
    ) -> Result<(), Wrong> {
        const TARGET: Defect = Defect::Expected("a target: its name, ':', number of calls");
        let mut called = Vec::new();
        let mut left = targets;
        while !left.is_empty() {
            let (name, calls, rest) = first_target(left).ok_or((column, TARGET))?;
            if name.starts_with(b":") {
                return Err((column, TARGET));
            }
            called.push((self.symbol(name, column)?, calls));
            left = rest;
        }
        let record = Record { count, targets: sum::map(called, sum::counts) };
        let is_new = self.open.last_mut().is_none_or(|open| {
            let is_new = open.records.note(site);
            open.records.entries.push((site, record));
            is_new
        });
        self.tell_unless(is_new, column, tell);
        Ok(())
    }

    /// Reports a second record for a place.
    fn tell_unless(&self, is_new: bool, column: usize, tell: Tell<'_>) {
        if !is_new {
            tell(self.error(column, Defect::DuplicateLocation));
        }
    }

    fn symbol(&mut self, name: &[u8], column: usize) -> Result<SymbolId, Wrong> {
        match name.is_empty() || name.contains(&0) {
            true => Err((column, Defect::Name)),
            false => Ok(self.samples.symbol(name)),
        }
    }

    /// Ends all bodies below a level.
    fn close(&mut self, level: usize) {
        while self.open.len() > level {
            let Some((place, body)) = self.open.pop().map(Open::finish) else { return };
            match (place, self.open.last_mut()) {
                (Place::Inlined(site, callee), Some(outer)) => {
                    outer.inlined.entries.push(((site, callee), body));
                }
                (Place::Function(context), _) => self.add(context, body),
                (Place::Inlined(..), None) => {}
            }
        }
    }

    fn add(&mut self, context: ContextId, body: Body) {
        match self.samples.functions.entry(context) {
            Entry::Vacant(place) => _ = place.insert(body),
            Entry::Occupied(_) => self.repeated.push((context, body)),
        }
    }

    /// Adds further functions to the first ones of their names, all at once.
    fn add_repeated(&mut self) {
        let functions = &mut self.samples.functions;
        let mut all = Vec::new();
        for (context, body) in mem::take(&mut self.repeated) {
            all.extend(functions.remove(&context).map(|first| (context, first)));
            all.push((context, body));
        }
        let sums: Map<_, _> = sum::map(all, Body::sum_of);
        functions.extend(sums);
    }

    fn error(&self, column: usize, defect: Defect) -> TextError {
        TextError { line: self.number, column: 1 + column as u64, defect }
    }
}
