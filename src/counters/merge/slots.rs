//! The functions of a sum. Their numbers and names stand one behind the other in a few large vectors.

use alloc::vec::Vec;
use core::ops::Range;

use hashbrown::HashMap;

use super::summand::View;
use super::{Mismatch, add, values};
use crate::counters::{Function, Site, Value, ValueKind};

/// Counters whose memory is given back at a time, 4 MiB.
const SPARE: usize = 1 << 19;

/// The functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
    /// By MD5 of the name and hash of the control flow.
    index: HashMap<(u64, u64), u32>,
    names: Vec<u8>,
    counters: Vec<u64>,
    bitmaps: Vec<u8>,
    sites: Vec<Vec<Value>>,
    /// The slot that came behind each one the last time.
    next: Vec<u32>,
    /// The slot of the function before.
    last: Option<u32>,
    /// The slot that the last summand began with.
    first: u32,
    /// Values of a site that is being added.
    buffer: Vec<Value>,
}

/// A function: where its parts are.
#[derive(Clone, Debug)]
struct Slot {
    name_ref: u64,
    hash: u64,
    name: usize,
    counters: usize,
    bitmap: usize,
    sites: usize,
    name_length: u32,
    number_of_counters: u32,
    bitmap_length: u32,
    numbers_of_sites: [u32; ValueKind::ALL.len()],
}

impl Slot {
    const fn name(&self) -> Range<usize> {
        self.name..self.name + self.name_length as usize
    }

    const fn counters(&self) -> Range<usize> {
        self.counters..self.counters + self.number_of_counters as usize
    }

    const fn bitmap(&self) -> Range<usize> {
        self.bitmap..self.bitmap + self.bitmap_length as usize
    }

    fn sites(&self, kind: ValueKind) -> Range<usize> {
        let before = &self.numbers_of_sites[..kind as usize];
        let start = self.sites + before.iter().map(|&number| number as usize).sum::<usize>();
        start..start + self.numbers_of_sites[kind as usize] as usize
    }
}

impl Slots {
    /// Goes back to the first function.
    pub fn start_summand(&mut self) {
        self.last = None;
    }

    /// Adds a function; tells what does not fit.
    pub fn add<V: View>(&mut self, function: &V, weight: u64, tell: &mut dyn FnMut(Mismatch)) {
        let guess = match self.last {
            Some(last) => self.next[last as usize],
            None => self.first,
        };
        let is_it = |slot: &&Slot| {
            slot.hash == function.hash()
                && function.is_named(&self.names[slot.name()], slot.name_ref)
        };
        let found = match self.slots.get(guess as usize).filter(is_it) {
            Some(_) => Some(guess),
            None => self.index.get(&(function.name_ref(), function.hash())).copied(),
        };
        let number = found.unwrap_or(self.slots.len() as u32);
        match self.last {
            Some(last) => self.next[last as usize] = number,
            None => self.first = number,
        }
        self.last = Some(number);
        match found {
            Some(_) => self.add_to(number, function, weight, tell),
            None => self.push(function, weight, tell),
        }
    }

    /// The functions, in the order in which they came. Begins with the last one, to give back the memory of counters
    /// on the way.
    pub fn finish(mut self) -> Vec<Function> {
        (self.index, self.next) = Default::default();
        let mut functions = Vec::with_capacity(self.slots.len());
        while let Some(slot) = self.slots.pop() {
            functions.push(self.take(&slot));
            self.counters.truncate(slot.counters);
            if self.counters.capacity() - self.counters.len() > SPARE {
                self.counters.shrink_to_fit();
            }
        }
        functions.reverse();
        functions
    }

    fn take(&mut self, slot: &Slot) -> Function {
        Function {
            name: self.names[slot.name()].into(),
            hash: slot.hash,
            counters: self.counters[slot.counters()].into(),
            bitmap: self.bitmaps[slot.bitmap()].into(),
            values: ValueKind::ALL.map(|kind| {
                let sites = self.sites[slot.sites(kind)].iter_mut();
                sites.map(|values| Site { values: core::mem::take(values) }).collect()
            }),
        }
    }

    fn push<V: View>(&mut self, function: &V, weight: u64, tell: &mut dyn FnMut(Mismatch)) {
        let (name, counters) = (function.name(), function.counters());
        let bitmap = function.bitmap();
        let slot = Slot {
            name_ref: function.name_ref(),
            hash: function.hash(),
            name: self.names.len(),
            counters: self.counters.len(),
            bitmap: self.bitmaps.len(),
            sites: self.sites.len(),
            name_length: name.len() as u32,
            number_of_counters: counters.len() as u32,
            bitmap_length: bitmap.len() as u32,
            numbers_of_sites: ValueKind::ALL.map(|kind| function.number_of_sites(kind) as u32),
        };
        self.names.extend_from_slice(name);
        let mut is_too_large = false;
        let mut scale = |count: u64| {
            let mut sum = 0;
            is_too_large |= add::add(&mut sum, count, weight);
            sum
        };
        match weight {
            1 => self.counters.extend(counters),
            _ => self.counters.extend(counters.map(&mut scale)),
        }
        self.bitmaps.extend(bitmap);
        for kind in ValueKind::ALL {
            function.sites(kind, &mut |site| {
                let scale =
                    |value: Value| Value { count: value.count.saturating_mul(weight), ..value };
                self.sites.push(site.map(scale).collect());
            });
        }
        self.index.insert((slot.name_ref, slot.hash), self.slots.len() as u32);
        self.slots.push(slot);
        self.next.push(self.slots.len() as u32);
        if is_too_large {
            tell(Mismatch::Overflow);
        }
    }

    fn add_to<V: View>(
        &mut self,
        number: u32,
        function: &V,
        weight: u64,
        tell: &mut dyn FnMut(Mismatch),
    ) {
        let slot = &self.slots[number as usize];
        let (counters, bitmap) = (function.counters(), function.bitmap());
        let (expected, found) = (slot.number_of_counters as usize, counters.len());
        if expected != found {
            return tell(Mismatch::Counters { expected, found });
        }
        let (expected, found) = (slot.bitmap_length as usize, bitmap.len());
        if expected != found {
            return tell(Mismatch::Bitmap { expected, found });
        }
        let own = &mut self.counters[slot.counters()];
        let mut is_too_large = match function.words().filter(|_| weight == 1) {
            Some(words) => add::add_words(own, words),
            None => own.iter_mut().zip(counters).fold(false, |is_too_large, (own, count)| {
                is_too_large | add::add(own, count, weight)
            }),
        };
        for (own, byte) in self.bitmaps[slot.bitmap()].iter_mut().zip(bitmap) {
            *own |= byte;
        }
        for kind in ValueKind::ALL {
            let (expected, found) = (slot.sites(kind).len(), function.number_of_sites(kind));
            if expected != found {
                tell(Mismatch::Sites { expected, found });
                continue;
            }
            if found == 0 {
                continue;
            }
            let mut own = self.sites[slot.sites(kind)].iter_mut();
            let buffer = &mut self.buffer;
            function.sites(kind, &mut |site| {
                let Some(own) = own.next() else { return };
                buffer.extend(site);
                is_too_large |= values::add(own, buffer, weight);
            });
        }
        if is_too_large {
            tell(Mismatch::Overflow);
        }
    }
}
