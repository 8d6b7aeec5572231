//! `gcov_info`, one for each object, as the compilers lay it out.
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
//! Checked against GCC 10.2 to 17.0 on x86-64.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_uint};
use core::ptr::NonNull;

use super::POINTER;
use super::function::Kinds;
use super::{Function, Functions};
use crate::raw::gcov::Version;
use crate::raw::gcov::record::FIXED_SITE;
use crate::raw::gcov::version::OLDEST;
use crate::raw::kind::{Kind, Rule, Rules};
use crate::raw::site::LISTED_SITE;
use crate::runtime::abi::Shift;
use crate::runtime::atomic::{AtomicI64, AtomicPtr};

const STAMP: usize = 2 * POINTER;

/// A `gcov_info`. Its own version word decides its layout.
#[repr(C)]
pub struct Info {
    version: u32,
    next: AtomicPtr<Info>,
}

const _: () = assert!(core::mem::offset_of!(Info, next) == POINTER);

/// Addresses of the merge functions: by these an object says how its counters merge.
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

/// A merge function. Nobody calls it.
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
    /// Its compiler is older than any known layout. The path of its `.gcda` file.
    Version(&'static CStr),
}

impl Info {
    /// Version word of the compiler.
    pub fn version(&self) -> u32 {
        self.version
    }

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
    kinds: Kinds,
    /// Counters the compiler lays out for a top-N site.
    site_counters: u8,
}

impl Object {
    /// Looks at an object that registers.
    ///
    /// # Safety
    ///
    /// `info` must point to a `gcov_info` made by a GCC of this machine. It and all it points to must stay in
    /// place as long as the image is loaded.
    pub unsafe fn new(info: NonNull<Info>, tokens: &Tokens) -> Result<Self, Refusal> {
        let (kinds, site_counters) = (Kinds::default(), LISTED_SITE as u8);
        let mut object = Self { info, slots: 0, kinds, site_counters };
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
                    object.kinds.push(kind, rule);
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
        self.kinds.fold(Rules::default(), |rules, (kind, rule)| rules.with(kind, rule))
    }

    /// Number of functions, present or not.
    pub fn function_count(&self) -> usize {
        self.word(self.merge_at() + POINTER * usize::from(self.slots)) as usize
    }

    /// The object's functions. Their counters may be elsewhere, at a distance of `shift`.
    #[inline(always)]
    pub fn functions(&self, shift: Shift) -> Functions {
        let array = self.address(self.merge_at() + POINTER * (usize::from(self.slots) + 1))
            as *const *const u8;
        // SAFETY: the compiler initialised an array of this many pointers, see `new`.
        let addresses = unsafe { core::slice::from_raw_parts(array, self.function_count()) };
        let absent = Function::absent(self.kinds, self.site_counters, shift);
        Functions::new(addresses, self.info, absent)
    }

    /// Number of merge slots of an unknown compiler: NULLs and merge functions belong to the array, and the
    /// first other word is the number of functions.
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

/// As [`CStr::from_ptr`], which would call a C library, and there may be none.
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
