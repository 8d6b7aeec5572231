//! `gcov_fn_info`, one for each function of an object, as the compilers lay it out.
//!
//! Offsets in bytes; P is the size of a pointer.
//!
//! | `gcov_fn_info` | P = 8 | P = 4 |
//! |---|---|---|
//! | key: the object's `gcov_info` | 0 | 0 |
//! | ident, line checksum, cfg checksum | 8, 12, 16 | 4, 8, 12 |
//! | one `gcov_ctr_info` per used kind | 24, step 16 | 16, step 8 |
//!
//! A `gcov_ctr_info` is the number of counters (u32) and, at P, their address. Both are 0 or neither is.
#![allow(unsafe_code)]

use core::ptr::NonNull;

use super::POINTER;
use super::{Array, Info};
use crate::raw::gcov::FunctionRecord;
use crate::raw::head::{Head, NumbersWriter};
use crate::raw::kind::{Kind, Rule, Rules};
use crate::runtime::abi::{self, Shift};
use crate::runtime::atomic::AtomicI64;

/// One function of an object.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// NULL if the object only holds the place of a copy in another object.
    address: Option<NonNull<u8>>,
    kinds: Kinds,
    site_counters: u8,
    shift: Shift,
}

/// Kinds in use and their rules, in ascending order: four bits each, the first in the lowest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kinds {
    kinds: u64,
    rules: u64,
    /// How many kinds there were at first.
    number: u32,
}

impl Kinds {
    /// Adds a kind above the others.
    pub(super) const fn push(&mut self, kind: Kind, rule: Rule) {
        let place = 4 * self.number;
        self.kinds |= (kind.0 as u64).wrapping_shl(place);
        self.rules |= (rule as u64).wrapping_shl(place);
        self.number += 1;
    }

    /// The next kind, for a caller who knows that there is one and does not need its rule.
    #[inline(always)]
    const fn next_kind(&mut self) -> Kind {
        let kind = Kind((self.kinds & 15) as u8);
        self.kinds >>= 4;
        kind
    }
}

impl Iterator for Kinds {
    type Item = (Kind, Rule);

    #[inline(always)]
    fn next(&mut self) -> Option<(Kind, Rule)> {
        let rule = Rules(self.rules).rule(Kind(0))?;
        self.rules >>= 4;
        Some((self.next_kind(), rule))
    }
}

impl Function {
    /// The place of a copy in another object.
    pub(super) const fn absent(kinds: Kinds, site_counters: u8, shift: Shift) -> Self {
        Self { address: None, kinds, site_counters, shift }
    }

    /// The function's counters, kind by kind.
    #[inline(always)]
    pub fn counted(&self) -> Arrays {
        let Self { kinds, site_counters, shift, .. } = *self;
        Arrays { entries: self.entries().iter(), kinds, site_counters, shift }
    }

    #[inline(always)]
    fn entries(&self) -> &'static [Entry] {
        let Some(function) = self.address else { return &[] };
        // SAFETY: behind its fixed fields a function has an entry for each kind in use.
        let entries = unsafe { function.add(TABLE).cast() };
        // SAFETY: as above; nobody writes them, and they stay as long as the image.
        unsafe { core::slice::from_raw_parts(entries.as_ptr(), self.kinds.number as usize) }
    }

    /// The function's record in the raw dump.
    #[inline(always)]
    pub fn record(&self) -> FunctionRecord {
        match self.address {
            Some(function) => FunctionRecord {
                ident: word(function, POINTER),
                lineno_checksum: word(function, POINTER + 4),
                cfg_checksum: word(function, POINTER + 8),
                flags: 0,
            },
            None => FunctionRecord {
                ident: 0,
                lineno_checksum: 0,
                cfg_checksum: 0,
                flags: FunctionRecord::ABSENT,
            },
        }
    }
}

impl abi::Function for Function {
    type Array = Array;

    #[inline(always)]
    fn put_head(&self, room: &mut Head) -> usize {
        let mut numbers = NumbersWriter::behind(FunctionRecord::WORDS);
        let mut kinds = self.kinds;
        self.entries().iter().for_each(|entry| numbers.add(kinds.next_kind(), entry.number, room));
        self.record().finish(numbers, room)
    }

    #[inline(always)]
    fn arrays(&self) -> impl Iterator<Item = Array> {
        self.counted()
    }
}

/// The functions of an object.
#[derive(Clone, Debug)]
pub struct Functions {
    addresses: core::slice::Iter<'static, *const u8>,
    object: NonNull<Info>,
    /// What all functions of the object have in common.
    absent: Function,
}

impl Functions {
    /// The functions at the addresses that an object gave.
    #[inline(always)]
    pub(super) fn new(
        addresses: &'static [*const u8],
        object: NonNull<Info>,
        absent: Function,
    ) -> Self {
        Self { addresses: addresses.iter(), object, absent }
    }

    /// The function `distance` places later, and the functions of the object that it belongs to.
    #[inline(always)]
    fn later<'f>(
        &'f self,
        distance: usize,
        following: Option<&'f Self>,
    ) -> Option<(&'f Self, *const u8)> {
        let left = self.addresses.as_slice();
        if let Some(&address) = left.get(distance) {
            return Some((self, address));
        }
        let following = following?;
        let first = following.addresses.as_slice();
        Some((following, *first.get(distance.wrapping_sub(left.len()))?))
    }

    #[inline(always)]
    fn function(&self, address: *const u8) -> Function {
        let address = NonNull::new(address.cast_mut()).filter(|function| {
            // SAFETY: a pointer that is not NULL points to a `gcov_fn_info`, which starts with key.
            let key = unsafe { function.cast::<NonNull<Info>>().read() };
            key == self.object
        });
        Function { address, ..self.absent }
    }
}

impl abi::Functions for Functions {
    /// Fetches the addresses of the first functions. Further on the processor itself sees where the walk
    /// goes.
    fn fetch(&self) {
        let lines = self.addresses.as_slice().chunks(LINE / POINTER);
        lines.take(4).for_each(|line| fetch(line.as_ptr()));
    }

    /// Fetches the records and counters of functions a little ahead of the one at hand: they lie scattered,
    /// and may be far away when a program ends. Behind the last function come those of the `following`
    /// object.
    #[inline(always)]
    fn fetch_later(&self, following: Option<&Self>) {
        if let Some((_, function)) = self.later(RECORDS_AHEAD, following) {
            fetch(function);
            fetch(function.wrapping_byte_add(LINE));
        }
        if let Some((functions, function)) = self.later(COUNTERS_AHEAD, following) {
            let function = functions.function(function);
            let entries = function.entries().iter();
            entries.for_each(|entry| fetch(function.shift.place(entry.values)));
        }
    }
}

impl Iterator for Functions {
    type Item = Function;

    #[inline(always)]
    fn next(&mut self) -> Option<Function> {
        let address = *self.addresses.next()?;
        Some(self.function(address))
    }
}

/// A `gcov_ctr_info`.
#[derive(Debug)]
#[repr(C)]
struct Entry {
    number: u32,
    values: *const AtomicI64,
}

/// Bytes of a line of the processor's caches.
const LINE: usize = 64;
/// A function is fetched this many functions ahead of the walk, and its counters when it has come. Memory
/// takes several functions' time to answer.
const RECORDS_AHEAD: usize = 8;
const COUNTERS_AHEAD: usize = 4;
/// Where the entries of a function are.
const TABLE: usize = (POINTER + 12).next_multiple_of(POINTER);

/// The arrays of a function.
#[derive(Clone, Debug)]
pub struct Arrays {
    entries: core::slice::Iter<'static, Entry>,
    /// The kinds that are still to come.
    kinds: Kinds,
    site_counters: u8,
    shift: Shift,
}

impl Iterator for Arrays {
    type Item = Array;

    #[inline(always)]
    fn next(&mut self) -> Option<Array> {
        let entry = self.entries.next()?;
        let (kind, rule) = self.kinds.next()?;
        let counters = match entry.values.is_null() {
            true => &[],
            // SAFETY: the compiler gave the function `number` 8-byte aligned 64-bit counters there. They are
            // atomics, since other threads may be incrementing them.
            false => unsafe { core::slice::from_raw_parts(entry.values, entry.number as usize) },
        };
        Some(Array { kind, rule, counters, site_counters: self.site_counters }.with(self.shift))
    }
}

/// Asks the processor to bring what is at an address into its caches.
#[inline(always)]
fn fetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: any address will do. This is a hint; it accesses nothing and never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

fn word(function: NonNull<u8>, offset: usize) -> u32 {
    // SAFETY: callers pass offsets of fields of the `gcov_fn_info` at `function`.
    let place = unsafe { function.add(offset) };
    // SAFETY: as above; the field is an aligned u32 that nobody writes.
    unsafe { place.cast::<u32>().read() }
}
