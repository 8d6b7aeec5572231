//! The counters of one kind of one function, and where they are.
#![allow(unsafe_code)]

use crate::runtime::atomic::{AtomicI64, AtomicU8, Ordering};
use core::slice::from_raw_parts;

#[cfg(not(feature = "runtime"))]
use super::sections::holds;
#[cfg(not(feature = "runtime"))]
use super::site::Head;
use super::site::{self, Slot};
use super::{Function, Sections};
use crate::raw::kind::{Kind, Rule};
use crate::raw::layout::Word;
use crate::raw::llvm::kind::{
    BITMAP, COVERED, EXECUTIONS, INDIRECT_CALL, SITES, TIME, VIRTUAL_TABLE,
};
use crate::raw::merge::Pair;
use crate::runtime::abi::{self, Shift, load_words};
#[cfg(not(feature = "runtime"))]
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::LiveSite;

/// What a byte of coverage is before its block was executed.
const NOT_COVERED: u8 = 0xff;

/// The counters of one kind of one function.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    kind: Kind,
    counters: Counters,
    sections: &'static Sections,
    shift: Shift,
}

/// As the compiler laid them out.
#[derive(Clone, Copy, Debug)]
enum Counters {
    Words(&'static [AtomicI64]),
    Covered(&'static [AtomicU8]),
    Bits(&'static [AtomicU8]),
    /// Eight bytes, of any alignment.
    Time(&'static [AtomicU8]),
    Slots(&'static [Slot]),
    /// As many sites that nothing was counted at yet: they get their slots with the first value.
    NoSlots(usize),
}

impl Array {
    /// The number of counters of a kind, or of sites, that a function has.
    #[inline(always)]
    pub(super) fn new(function: &Function, kind: Kind, number: usize) -> Self {
        let Function { record, sections, shift, .. } = *function;
        let time = record.time_counters(sections).wrapping_mul(sections.counter_size());
        let counters = record.counters().wrapping_add(time);
        let counters = match kind {
            EXECUTIONS => Counters::Words(slice(counters, number, shift)),
            COVERED => Counters::Covered(slice(counters, number, shift)),
            BITMAP => Counters::Bits(slice(record.bitmap(), number, shift)),
            TIME => Counters::Time(slice(record.counters(), 8, shift)),
            _ if record.slots() == 0 => Counters::NoSlots(number),
            _ => {
                let sites = SITES.iter().zip(record.sites()).take_while(|(site, _)| **site != kind);
                let before: usize = sites.map(|(_, number)| number).sum();
                let slots = record.slots().wrapping_add(before.wrapping_mul(site::SLOT));
                Counters::Slots(slice(slots, number, shift))
            }
        };
        Self { kind, counters, sections, shift }
    }

    #[inline(always)]
    fn slots(&self) -> &'static [Slot] {
        match self.counters {
            Counters::Slots(slots) => slots,
            _ => &[],
        }
    }
}

#[cfg(not(feature = "runtime"))]
impl Array {
    /// Whether each slot leads to nothing, to a head, or to a node. Raises `used` to the number of the last node.
    pub(super) fn leads_to_heads(&self, nodes: &Nodes, used: &mut usize) -> bool {
        let heads = &self.sections.heads;
        self.slots().iter().map(site::head_address).all(|head| {
            if let Some((number, _)) = nodes.at(head) {
                *used = number.max(*used);
                return true;
            }
            head == 0
                || holds(heads, head, size_of::<Head>()) && head.is_multiple_of(align_of::<Head>())
        })
    }
}

/// Counters of an image at a distance of `shift` from where the compiler laid them out.
#[inline(always)]
pub(super) fn slice<T>(address: usize, number: usize, shift: Shift) -> &'static [T] {
    let place = shift.place(core::ptr::with_exposed_provenance::<T>(address));
    // SAFETY: the record fits the image's sections, so this is memory of counters, or of slots, with their
    // alignment. They are atomics, since other threads may be counting. Whoever asks for a shift has mapped a
    // copy of them there.
    unsafe { from_raw_parts(place, number) }
}

impl abi::Array for Array {
    #[inline(always)]
    fn kind(&self) -> Kind {
        self.kind
    }

    #[inline(always)]
    fn rule(&self) -> Rule {
        match self.counters {
            Counters::Words(_) => Rule::Saturate,
            Counters::Covered(_) | Counters::Bits(_) => Rule::Bytes,
            Counters::Time(_) => Rule::Time,
            Counters::Slots(_) | Counters::NoSlots(_) => Rule::TopN,
        }
    }

    #[inline(always)]
    fn words(&self) -> usize {
        match self.counters {
            Counters::Words(words) => words.len(),
            Counters::Covered(bytes) | Counters::Bits(bytes) => bytes.len().div_ceil(8),
            Counters::Time(_) => 1,
            Counters::Slots(_) | Counters::NoSlots(_) => 0,
        }
    }

    #[inline(always)]
    fn load(&self, start: usize, room: &mut [Word]) -> i64 {
        match self.counters {
            Counters::Words(words) => {
                return load_words(words.get(start..).unwrap_or_default(), room);
            }
            Counters::Covered(bytes) => load_bytes(bytes, start, room, |byte| u8::from(byte == 0)),
            Counters::Bits(bytes) => load_bytes(bytes, start, room, |byte| byte),
            Counters::Time(bytes) => {
                load_bytes(bytes, start, room, |byte| byte);
                // All ones stand for "never" where counters are bytes.
                room.iter_mut().filter(|word| **word == [0xff; 8]).for_each(|word| *word = [0; 8]);
            }
            Counters::Slots(_) | Counters::NoSlots(_) => {}
        }
        0
    }

    fn site(&self, index: usize) -> Option<LiveSite<'static>> {
        (index < self.site_count()).then(|| self.slots().get(index).map_or(site::none(), site::of))
    }

    #[inline(always)]
    fn sites(&self) -> impl Iterator<Item = LiveSite<'static>> + Clone {
        let slots = self.slots();
        (0..self.site_count()).map(move |index| slots.get(index).map_or(site::none(), site::of))
    }

    #[inline(always)]
    fn site_count(&self) -> usize {
        match self.counters {
            Counters::Slots(slots) => slots.len(),
            Counters::NoSlots(number) => number,
            _ => 0,
        }
    }

    #[inline(always)]
    fn elsewhere(&self, site: LiveSite<'_>) -> impl Iterator<Item = Pair> {
        let lanes = self.sections.lanes.into_iter();
        lanes.flat_map(move |lanes| lanes.pairs(site))
    }

    #[inline(always)]
    fn value(&self, value: i64) -> i64 {
        match self.kind {
            INDIRECT_CALL => self.sections.target(value as usize, self.shift),
            VIRTUAL_TABLE => self.sections.table(value as usize, self.shift),
            _ => value,
        }
    }

    fn reset(&self) {
        match self.counters {
            Counters::Words(words) => {
                words.iter().for_each(|word| word.store(0, Ordering::Relaxed))
            }
            Counters::Covered(bytes) => fill(bytes, NOT_COVERED),
            Counters::Bits(bytes) => fill(bytes, 0),
            Counters::Time(bytes) if self.sections.has_single_bytes() => fill(bytes, NOT_COVERED),
            Counters::Time(bytes) => fill(bytes, 0),
            Counters::Slots(slots) => slots.iter().map(site::of).for_each(|site| {
                site.reset();
                self.sections.lanes.into_iter().for_each(|lanes| lanes.reset(site));
            }),
            Counters::NoSlots(_) => {}
        }
    }

    #[cfg(feature = "live")]
    fn store(&self, words: &[i64]) {
        let bytes_of = || words.iter().flat_map(|word| word.to_ne_bytes());
        match self.counters {
            Counters::Words(counters) => {
                for (counter, value) in counters.iter().zip(words) {
                    counter.store(*value, Ordering::Relaxed);
                }
            }
            Counters::Covered(bytes) => {
                for (byte, covered) in bytes.iter().zip(bytes_of()) {
                    let value = if covered == 0 { NOT_COVERED } else { 0 };
                    byte.store(value, Ordering::Relaxed);
                }
            }
            Counters::Bits(bytes) | Counters::Time(bytes) => {
                bytes.iter().zip(bytes_of()).for_each(|(byte, value)| {
                    byte.store(value, Ordering::Relaxed);
                });
            }
            Counters::Slots(_) | Counters::NoSlots(_) => {}
        }
    }

    fn place(&self) -> core::ops::Range<usize> {
        fn range<T>(slice: &[T]) -> core::ops::Range<usize> {
            let range = slice.as_ptr_range();
            range.start.addr()..range.end.addr()
        }
        match self.counters {
            Counters::Words(words) => range(words),
            Counters::Covered(bytes) | Counters::Bits(bytes) | Counters::Time(bytes) => {
                range(bytes)
            }
            Counters::Slots(slots) => range(slots),
            Counters::NoSlots(_) => 0..0,
        }
    }

    #[cfg(feature = "live")]
    fn relocate(
        &self,
        translate: &dyn Fn(usize) -> Option<&'static crate::runtime::counters::node::Node>,
    ) {
        self.slots().iter().for_each(|slot| site::relocate(slot, translate));
    }
}

/// Packs bytes, eight to a word, from a word on.
#[inline(always)]
fn load_bytes(bytes: &[AtomicU8], start: usize, room: &mut [Word], change: impl Fn(u8) -> u8) {
    let bytes = bytes.get(start.wrapping_mul(8)..).unwrap_or_default();
    for (word, bytes) in room.iter_mut().zip(bytes.chunks(8)) {
        *word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = change(from.load(Ordering::Relaxed));
        }
    }
}

fn fill(bytes: &[AtomicU8], value: u8) {
    bytes.iter().for_each(|byte| byte.store(value, Ordering::Relaxed));
}
