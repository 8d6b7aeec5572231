//! `gcov_info`, `gcov_fn_info` and `gcov_ctr_info` as the compilers lay them out.
//!
//! Offsets in bytes; P is the size of a pointer, N the number of counter kinds the compiler knows
//! (8 up to GCC 13, 9 in 14, 10 from 15).
//!
//! | `gcov_info` | P = 8 | P = 4, GCC 10, 11 | P = 4, GCC 12 on |
//! |---|---|---|---|
//! | version word | 0 | 0 | 0 |
//! | next, for the runtime's use | 8 | 4 | 4 |
//! | stamp | 16 | 8 | 8 |
//! | checksum | 20, from GCC 12 | - | 12 |
//! | file name | 24 | 12 | 16 |
//! | N merge functions, NULL = kind unused | 32 | 16 | 20 |
//! | number of functions | 32 + 8N | 16 + 4N | 20 + 4N |
//! | array of pointers to functions | 40 + 8N | 20 + 4N | 24 + 4N |
//!
//! | `gcov_fn_info` | P = 8 | P = 4 |
//! |---|---|---|
//! | key: the object's `gcov_info` | 0 | 0 |
//! | ident, line checksum, cfg checksum | 8, 12, 16 | 4, 8, 12 |
//! | one `gcov_ctr_info` per used kind | 24, step 16 | 16, step 8 |
//!
//! A `gcov_ctr_info` is the number of counters (u32) and, at P, their address. Checked against GCC
//! 10.2 to 17.0 on x86-64.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_uint};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicI64, AtomicPtr};

use crate::raw::gcov::record::{FIXED_SITE, LISTED_SITE};
use crate::raw::gcov::version::OLDEST;
use crate::raw::gcov::{FunctionRecord, Kind, Rule, Rules, Version};
use crate::runtime::counters::nodes::Node;
use crate::runtime::counters::topn::{Counters, LiveSite};

const POINTER: usize = size_of::<usize>();
const NEXT: usize = POINTER;
const STAMP: usize = 2 * POINTER;

/// A `gcov_info`, whose layout depends on its own version word.
#[repr(C)]
pub struct Info {
    version: u32,
    next: AtomicPtr<Info>,
}

const _: () = assert!(core::mem::offset_of!(Info, next) == NEXT);
const _: () = assert!(size_of::<Counters>() <= 8 * LISTED_SITE);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Node>() == 24);

/// Addresses of the merge functions, by which an object says how its counters merge.
#[derive(Clone, Copy, Debug)]
pub struct Tokens {
    /// `__gcov_merge_add`.
    pub add: Merge,
    /// `__gcov_merge_topn`.
    pub topn: Merge,
    /// `__gcov_merge_ior`.
    pub ior: Merge,
    /// `__gcov_merge_time_profile`.
    pub time: Merge,
}

/// A merge function, which nobody calls.
pub type Merge = extern "C" fn(*mut AtomicI64, c_uint);

impl Tokens {
    fn rule(&self, address: usize) -> Option<Rule> {
        match address {
            a if a == self.add as usize => Some(Rule::Add),
            a if a == self.topn as usize => Some(Rule::TopN),
            a if a == self.ior as usize => Some(Rule::Ior),
            a if a == self.time as usize => Some(Rule::Time),
            _ => None,
        }
    }
}

/// Why an object does not take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It has nothing to count.
    Empty,
    /// Its compiler is older than any whose layout is known. The path of its `.gcda` file.
    Version(&'static CStr),
}

impl Info {
    /// The word the runtime may use; the registry links objects with it.
    pub fn next(&self) -> &AtomicPtr<Info> {
        &self.next
    }
}

/// One instrumented translation unit in memory.
#[derive(Clone, Copy, Debug)]
pub struct Object {
    info: NonNull<Info>,
    slots: u8,
    rules: Rules,
    /// Counters the compiler lays out for a top-N site.
    site_counters: u8,
}

impl Object {
    /// Looks at an object that registers.
    ///
    /// # Safety
    ///
    /// `info` must point to a `gcov_info` made by a GCC of this machine, which stays where it is,
    /// with all it points to, as long as the image is loaded.
    pub unsafe fn new(info: NonNull<Info>, tokens: &Tokens) -> Result<Self, Refusal> {
        let mut object = Self { info, slots: 0, rules: Rules(0), site_counters: LISTED_SITE as u8 };
        let version = object.version();
        if version.0 == 0 {
            return Err(Refusal::Empty);
        }
        if version.major().is_none_or(|major| major < OLDEST) {
            return Err(Refusal::Version(object.path()));
        }
        if version.has_fixed_topn() {
            object.site_counters = FIXED_SITE as u8;
        }
        let slots = version.counter_kinds().unwrap_or_else(|| object.scan(tokens));
        object.slots = slots as u8;
        for slot in 0..slots.min(Rules::SLOTS) {
            let kind = Kind(slot as u8);
            match object.merge_slot(slot) {
                0 => {}
                token => {
                    let rule = tokens.rule(token).unwrap_or(kind.usual_rule());
                    object.rules = object.rules.with(kind, rule);
                }
            }
        }
        if object.function_count() == 0 {
            return Err(Refusal::Empty);
        }
        Ok(object)
    }

    /// Version word of the compiler.
    pub fn version(&self) -> Version {
        Version(self.word(0))
    }

    /// Time of compilation.
    pub fn stamp(&self) -> u32 {
        self.word(STAMP)
    }

    /// Checksum over the functions; 0 before GCC 12, where the place is padding or missing.
    pub fn checksum(&self) -> u32 {
        if self.version().counts_bytes() { self.word(STAMP + 4) } else { 0 }
    }

    /// Path of the `.gcda` file, fixed at compile time.
    pub fn path(&self) -> &'static CStr {
        let path = self.address(self.path_at()) as *const c_char;
        if path.is_null() {
            return c"";
        }
        // SAFETY: the compiler stores the address of a string literal of the image here, see `new`.
        unsafe { string(path) }
    }

    /// Kinds in use.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Number of functions, present or not.
    pub fn function_count(&self) -> usize {
        self.word(self.merge_at() + POINTER * usize::from(self.slots)) as usize
    }

    /// Address of one of its functions.
    pub(super) fn function(&self, index: usize) -> *const u8 {
        let array = self.address(self.merge_at() + POINTER * (usize::from(self.slots) + 1))
            as *const *const u8;
        // SAFETY: the array has `function_count` elements, see `new`, and callers stay below.
        let element = unsafe { array.add(index) };
        // SAFETY: as above, and the compiler initialised it.
        unsafe { element.read() }
    }

    /// Number of merge slots of an unknown compiler: words that are NULL or a merge function belong
    /// to the array, the first other word is the number of functions.
    fn scan(&self, tokens: &Tokens) -> usize {
        (0..Rules::SLOTS)
            .find(|&slot| {
                let word = self.merge_slot(slot);
                word != 0 && tokens.rule(word).is_none()
            })
            .unwrap_or(0)
    }

    fn merge_slot(&self, slot: usize) -> usize {
        self.address(self.merge_at() + POINTER * slot)
    }

    fn path_at(&self) -> usize {
        let checksum = if POINTER == 8 || self.version().counts_bytes() { 4 } else { 0 };
        STAMP + 4 + checksum
    }

    fn merge_at(&self) -> usize {
        self.path_at() + POINTER
    }

    fn word(&self, offset: usize) -> u32 {
        // SAFETY: callers pass offsets of the table above, which lie inside the `gcov_info`.
        let place = unsafe { self.info.cast::<u8>().add(offset) };
        // SAFETY: as above; the field is an aligned u32 that nobody writes.
        unsafe { place.cast::<u32>().read() }
    }

    fn address(&self, offset: usize) -> usize {
        // SAFETY: callers pass offsets of the table above, which lie inside the `gcov_info`.
        let place = unsafe { self.info.cast::<u8>().add(offset) };
        // SAFETY: as above; the field is an aligned pointer that nobody writes.
        unsafe { place.cast::<usize>().read() }
    }
}

/// One function of an object.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// NULL if the object only holds the place of a copy in another object.
    address: Option<NonNull<u8>>,
    rules: Rules,
    site_counters: u8,
    shift: Shift,
}

impl Function {
    /// The function at an address that an object gave, with counters that may be elsewhere.
    pub(super) fn new(address: *const u8, object: &Object, shift: Shift) -> Self {
        let address = NonNull::new(address.cast_mut()).filter(|function| {
            // SAFETY: a pointer that is not NULL points to a `gcov_fn_info`, which starts with key.
            let key = unsafe { function.cast::<*const Info>().read() };
            core::ptr::eq(key, object.info.as_ptr())
        });
        let Object { rules, site_counters, .. } = *object;
        Self { address, rules, site_counters, shift }
    }

    /// Its counters, kind by kind.
    #[inline(always)]
    pub fn arrays(&self) -> Arrays {
        Arrays { function: *self, place: 0 }
    }

    /// Its record in the raw dump.
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

/// The arrays of a function.
#[derive(Clone, Debug)]
pub struct Arrays {
    /// With the rules of the kinds that are still to come.
    function: Function,
    /// Number of kinds that have been given.
    place: u8,
}

impl Iterator for Arrays {
    type Item = Array;

    #[inline(always)]
    fn next(&mut self) -> Option<Array> {
        let Function { address, rules, site_counters, shift } = &mut self.function;
        let (kind, rule) = rules.take_first()?;
        let place = usize::from(self.place);
        self.place += 1;
        let counters = match *address {
            Some(function) => counters(function, place),
            None => &[],
        };
        let array = Array { kind, rule, counters, site_counters: *site_counters };
        Some(array.with(*shift))
    }
}

/// The counters of one kind of one function.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// The kind.
    pub kind: Kind,
    /// How it merges.
    pub rule: Rule,
    site_counters: u8,
    /// The counters, as many as the compiler laid out.
    pub counters: &'static [AtomicI64],
}

/// How far counters are from where the compiler laid them out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shift {
    /// In bytes; without live counters there is no such distance.
    #[cfg(feature = "live")]
    pub bytes: isize,
}

impl Array {
    /// The same counters as they are elsewhere.
    #[cfg(feature = "live")]
    #[inline(always)]
    fn with(self, shift: Shift) -> Self {
        let place = self.counters.as_ptr().wrapping_byte_offset(shift.bytes);
        // SAFETY: who asks for it has mapped a copy of all counters there.
        let counters = unsafe { core::slice::from_raw_parts(place, self.counters.len()) };
        Self { counters, ..self }
    }

    /// The same counters.
    #[cfg(not(feature = "live"))]
    #[inline(always)]
    fn with(self, _: Shift) -> Self {
        self
    }

    /// One of its top-N sites; `None` behind the last, or if the kind is another.
    pub fn site(&self, index: usize) -> Option<LiveSite<'static>> {
        let length = usize::from(self.site_counters);
        let site = self.counters.get(index.checked_mul(length)?..)?.get(..length)?;
        if self.rule != Rule::TopN {
            return None;
        }
        // SAFETY: the compiler laid the counters out for a site, whose list only a profiler touches.
        site.first_chunk().map(|site| unsafe { LiveSite::new(site) })
    }

    /// Number of its top-N sites.
    pub fn site_count(&self) -> usize {
        match (self.rule, self.counters.len()) {
            (Rule::TopN, number @ 1..) => {
                number.checked_div(usize::from(self.site_counters)).unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// The counters as top-N sites; none if the kind is another.
    #[inline(always)]
    pub fn sites(&self) -> Sites {
        let counters = if self.rule == Rule::TopN { self.counters } else { &[] };
        Sites { counters, length: self.site_counters }
    }
}

/// The sites of an array.
#[derive(Clone, Debug)]
pub struct Sites {
    counters: &'static [AtomicI64],
    length: u8,
}

impl Iterator for Sites {
    type Item = LiveSite<'static>;

    #[inline(always)]
    fn next(&mut self) -> Option<LiveSite<'static>> {
        let (site, rest) = self.counters.split_at_checked(usize::from(self.length))?;
        self.counters = rest;
        // SAFETY: the compiler laid the counters out for a site, whose list only a profiler touches.
        site.first_chunk().map(|site| unsafe { LiveSite::new(site) })
    }
}

#[inline(always)]
fn counters(function: NonNull<u8>, place: usize) -> &'static [AtomicI64] {
    let table = (POINTER + 12).next_multiple_of(POINTER);
    let entry = table + 2 * POINTER * place;
    let number = word(function, entry) as usize;
    // SAFETY: the table has an entry for each kind in use, `place` is below their number.
    let field = unsafe { function.add(entry + POINTER) };
    // SAFETY: as above; the field is an aligned pointer that nobody writes.
    let values = unsafe { field.cast::<*const AtomicI64>().read() };
    if values.is_null() || number == 0 {
        return &[];
    }
    // SAFETY: the compiler gave the function `number` 8-byte aligned 64-bit counters there. Other
    // threads may be incrementing them, which is why they are taken as atomics.
    unsafe { core::slice::from_raw_parts(values, number) }
}

/// As [`CStr::from_ptr`], which calls a C library where there may be none.
///
/// # Safety
///
/// `start` must point to a string that ends with NUL and stays as it is.
pub unsafe fn string(start: *const c_char) -> &'static CStr {
    let mut length = 0usize;
    // SAFETY: up to the NUL everything belongs to the string.
    while unsafe { start.wrapping_add(length).read() } != 0 {
        length = length.wrapping_add(1);
    }
    // SAFETY: as above, the NUL included.
    let bytes = unsafe { core::slice::from_raw_parts(start.cast(), length.wrapping_add(1)) };
    // SAFETY: the first NUL is the last byte.
    unsafe { CStr::from_bytes_with_nul_unchecked(bytes) }
}

fn word(function: NonNull<u8>, offset: usize) -> u32 {
    // SAFETY: callers pass offsets of fields of the `gcov_fn_info` at `function`.
    let place = unsafe { function.add(offset) };
    // SAFETY: as above; the field is an aligned u32 that nobody writes.
    unsafe { place.cast::<u32>().read() }
}
