//! What LLVM's instrumentation calls in a program without an operating system, and the objects that it leaves.
//!
//! Nothing runs at the program's start: the objects are found when somebody first asks for them, or counts a value.
//!
//! Not here: the interface to profiles in memory, which needs none of this (`src/archive/llvm_buffer.rs`).
#![allow(unsafe_code)]

use super::image::{give_nodes, nodes, owner};
#[cfg(not(countersink_archive))]
use super::linker::sections;
#[cfg(countersink_archive)]
use crate::archive::llvm_sections::sections;
use crate::runtime::abi::llvm::{
    Heads, Registry, Sections, Slot, WholeRecord, begun, note_first_call, size_class,
};
use crate::runtime::atomic::{AtomicI64, AtomicU32, Ordering};
use crate::runtime::bare::{Family, Module, Resettable, Status, To};
use crate::runtime::counters::Plain;
use crate::runtime::counters::nodes::{INDEXES, NODES, Nodes};
use crate::runtime::counters::topn::LiveSite;
use crate::runtime::retained::Room;

static OBJECTS: Registry = Registry::new();
static HEADS: Heads = Heads::new();
/// Stands for the records that are not in memory.
static WHOLE: WholeRecord = WholeRecord::new();
/// The time of the next function that is called for the first time.
static TIME: AtomicU32 = AtomicU32::new(1);

/// Every instrumented object asks for this symbol, and so for this module.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
static __llvm_profile_runtime: u32 = 0;

hide! {
    __llvm_profile_runtime
    __llvm_profile_instrument_target
    __llvm_profile_instrument_target_value
    __llvm_profile_instrument_memop
    __llvm_profile_set_timestamp
    __llvm_profile_register_function
    __llvm_profile_register_names_function
}

/// The objects, once their sections are known.
fn objects() -> &'static Registry {
    if OBJECTS.sections().is_none() {
        let name_elsewhere = Some(name_at as fn(usize) -> u64);
        // SAFETY: these are the linker's words, and there is no other image.
        unsafe {
            OBJECTS.begin(|| {
                let found = sections();
                Sections { data: WHOLE.records(&found), name_elsewhere, ..found }
            })
        };
    }
    &OBJECTS
}

/// The name of the function at an address, as a number; 0 if it has none.
fn name_at(address: usize) -> u64 {
    OBJECTS.name_at(address)
}

/// The family of clang and rustc.
pub static FAMILY: &dyn Family = &Llvm;
/// The same for resets.
pub static RESETTABLE: &dyn Resettable = &Llvm;

struct Llvm;

impl Family for Llvm {
    fn is_empty(&self) -> bool {
        objects().sections().is_none_or(|sections| sections.data.is_empty())
    }

    fn survey(&self, module: &mut Module) {
        Family::survey(objects(), module);
    }

    fn write_names(&self, module: &Module, writer: &mut To<'_, '_>) -> Result<(), Status> {
        Family::write_names(objects(), module, writer)
    }

    fn write_functions(&self, module: &mut Module, writer: &mut To<'_, '_>) -> Result<(), Status> {
        Family::write_functions(objects(), module, writer)
    }
}

impl Resettable for Llvm {
    fn reset(&self) {
        Resettable::reset(objects());
    }

    fn is_retained(&self, room: &mut Room) -> bool {
        let Some(sections) = objects().sections() else { return true };
        let slots = room.holds(sections.slots.clone());
        let heads = room.holds(sections.heads.clone());
        Resettable::is_retained(objects(), room) && slots && heads
    }

    fn take_over(&self, nodes: &Nodes, used: &mut [usize; 2]) -> Option<()> {
        let objects = objects();
        // Nobody remembers how many heads were in use, so new ones are nodes.
        HEADS.exhaust();
        objects.slots_lead_to_heads(nodes, &mut used[0]).then_some(())?;
        Resettable::take_over(objects, nodes, used)
    }
}

/// The site of a function.
///
/// # Safety
///
/// `record` must be a record of this image, with a site of this number.
#[inline(never)]
unsafe fn first_site(record: usize, site: u32) -> Option<LiveSite<'static>> {
    let objects = objects();
    give_nodes();
    // SAFETY: promised by the caller.
    unsafe { objects.give_slots(record, nodes()) };
    // SAFETY: as above.
    let slot: &'static Slot = unsafe { objects.slot(record, site) }?;
    HEADS.site(slot, objects.sections()?, nodes())
}

/// The site of a function, from its slot if that leads to one already.
///
/// # Safety
///
/// `record` must be NULL or a record of this image, with a site of this number.
#[inline(always)]
unsafe fn site_of(record: *const u8, site: u32) -> Option<LiveSite<'static>> {
    let record = record.expose_provenance();
    if record == 0 {
        return None;
    }
    // SAFETY: promised by the caller.
    match unsafe { OBJECTS.known_slot(record, site) }.and_then(begun) {
        // SAFETY: as above.
        None => unsafe { first_site(record, site) },
        begun => begun,
    }
}

/// Counts a value at a site of a function.
///
/// # Safety
///
/// As for [`site_of`].
#[inline(always)]
unsafe fn count(value: u64, record: *const u8, site: u32) {
    // SAFETY: promised by the caller.
    if let Some(site) = unsafe { site_of(record, site) } {
        site.count::<Plain, NODES, INDEXES>(value as i64, nodes(), owner);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_instrument_target(value: u64, record: *const u8, site: u32) {
    // SAFETY: the compiler's own call.
    unsafe { count(value, record, site) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_instrument_memop(value: u64, record: *const u8, site: u32) {
    // SAFETY: the compiler's own call.
    unsafe { count(size_class(value), record, site) };
}

/// Counts a value many times at once.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_instrument_target_value(
    value: u64,
    record: *const u8,
    site: u32,
    times: u64,
) {
    // SAFETY: the caller passes a record and the number of one of its sites.
    if let Some(site) = unsafe { site_of(record, site) } {
        site.count_many(value as i64, times, nodes(), owner);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_set_timestamp(probe: *const AtomicI64) {
    // SAFETY: the compiler passes the first counter of a function.
    if let Some(probe) = unsafe { probe.as_ref() } {
        note_first_call(probe, &TIME);
    }
}

/// Adds to a counter on a processor without 64-bit atomic instructions: rustc counts coverage with them, and calls a
/// function where there are none. The first half may have a carry that the second half lacks for a moment, see
/// [`crate::runtime::atomic`]. Weak under the compiler's name: a program may have its own.
#[cfg(not(any(target_has_atomic = "64", target_family = "wasm")))]
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_llvm_add(
    counter: *const AtomicI64,
    amount: i64,
    _order: i32,
) -> i64 {
    // SAFETY: the compiler passes a counter.
    unsafe { &*counter }.fetch_add(amount, Ordering::Relaxed)
}

#[cfg(not(any(target_has_atomic = "64", target_family = "wasm")))]
core::arch::global_asm!(
    ".hidden countersink_llvm_add",
    ".hidden __atomic_fetch_add_8",
    ".weak __atomic_fetch_add_8",
    ".set __atomic_fetch_add_8, countersink_llvm_add",
);

/// Forgets when functions were first called.
pub fn reset_time() {
    TIME.store(1, Ordering::Relaxed);
}

// LLVM up to 18 registers each function and the names where it does not know the linker. The linker's symbols tell the
// same, also before a program's constructors have run.

#[cfg(not(target_family = "wasm"))]
#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_register_function(_record: *const u8) {}

#[cfg(not(target_family = "wasm"))]
#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_register_names_function(_names: *const u8, _size: u64) {}
