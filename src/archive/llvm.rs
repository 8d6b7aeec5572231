//! What LLVM's instrumentation calls: hooks for values and times, and the start of an image.
//!
//! The interface for programs is in `llvm_interface`. Everything is hidden, as in LLVM's own runtime: each image
//! has its own copy, and its hooks count its own sites alone.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use super::system::{self, CHAIN, PLACE};
use crate::runtime::abi::llvm::{Bounds, Registry, Sections, size_class};
use crate::runtime::chain::Link;
use crate::runtime::counters::Plain;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::image::Image;
use crate::runtime::message::Line;
use crate::runtime::place::Target;
use crate::runtime::sys;

static IMAGE: Image<Registry> = Image::new(Registry::new());
/// The place in the chain.
pub static LINK: Link = Link::new(&IMAGE, &PLACE).with_names(name_at);
static NODES: Nodes = Nodes::new();
/// The time of the next function that is called for the first time.
static TIME: AtomicU32 = AtomicU32::new(1);

core::arch::global_asm!(
    ".hidden __llvm_profile_instrument_target",
    ".hidden __llvm_profile_instrument_target_value",
    ".hidden __llvm_profile_instrument_memop",
    ".hidden __llvm_profile_set_timestamp",
    ".hidden countersink_llvm_begin",
);

unsafe extern "C" {
    /// In `runtime-c/llvm.c`.
    safe fn countersink_llvm_bound(section: c_int, end: c_int) -> *const u8;
    /// In `runtime-c/llvm.c`.
    safe fn countersink_llvm_version() -> u64;
    /// In `runtime-c/llvm.c`.
    safe fn countersink_llvm_file() -> *const c_char;
}

fn bounds(section: c_int) -> Bounds {
    let [start, end] = [0, 1].map(|end| countersink_llvm_bound(section, end).expose_provenance());
    start..end
}

fn sections() -> Sections {
    Sections {
        image: system::image(),
        data: bounds(0),
        counters: bounds(1),
        bitmaps: bounds(2),
        names: bounds(3),
        slots: bounds(4),
        heads: bounds(5),
        tables: bounds(6),
        table_names: bounds(7),
        version: countersink_llvm_version(),
        text: countersink_llvm_begin as extern "C" fn() as usize,
        name_elsewhere: Some(name_elsewhere),
    }
}

extern "C" fn name_at(address: usize) -> u64 {
    IMAGE.objects.name_at(address)
}

/// The name of a function of another image. Remembers some: looking one up walks all records of an image.
fn name_elsewhere(address: usize) -> u64 {
    const PLACES: usize = 64;
    static KNOWN: [[AtomicU64; 2]; PLACES] = [const { [const { AtomicU64::new(0) }; 2] }; PLACES];
    let place = (address >> 4) % PLACES;
    let Some([of, name]) = KNOWN.get(place) else { return 0 };
    // Only the one flush of the process comes here.
    if of.load(Ordering::Relaxed) != address as u64 {
        name.store(CHAIN.name_at(address), Ordering::Relaxed);
        of.store(address as u64, Ordering::Relaxed);
    }
    name.load(Ordering::Relaxed)
}

/// Begins the image if it has not begun. The start of the program does so, or the first hook before.
#[unsafe(no_mangle)]
extern "C" fn countersink_llvm_begin() {
    let sections = sections();
    if sections.data.is_empty() {
        if !sections.counters.is_empty() {
            Line::about(b"LLVM's counters")
                .text(b"no function records, as with -profile-correlate; they are not kept")
                .print();
        }
        return;
    }
    // SAFETY: these are the linker's words, and the image stays as long as this static.
    if unsafe { IMAGE.objects.begin(sections) } {
        let linked = linked_file();
        system::begin(linked, users_file);
        let target = Target { place: CHAIN.place(&LINK), linked };
        IMAGE.begin(&NODES, system::start(), target, || None);
        CHAIN.join(&LINK);
    }
}

/// The name that the image was linked with, or else compiled with.
fn linked_file() -> &'static [u8] {
    let compiled = NonNull::new(countersink_llvm_file().cast_mut());
    // SAFETY: a string of this image.
    let compiled = compiled.map(|file| unsafe { CStr::from_ptr(file.as_ptr()) });
    match system::linked_file() {
        b"" => compiled.map_or(b"", CStr::to_bytes),
        linked => linked,
    }
}

/// The file that the user wants.
fn users_file() -> Option<&'static [u8]> {
    let variables = [c"COUNTERSINK_FILE", c"LLVM_PROFILE_FILE"];
    // SAFETY: this is a constructor, no code of the program runs yet that could change it.
    let mut files = variables.into_iter().filter_map(|name| unsafe { sys::environment(name) });
    files.find(|file| !file.is_empty()).map(CStr::to_bytes)
}

/// Ends the image's functions, right before the image itself.
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static END: extern "C" fn() = end;

extern "C" fn end() {
    if IMAGE.objects.sections().is_some() {
        CHAIN.leave(&LINK);
    }
}

/// Counts a value at a site of a function.
///
/// # Safety
///
/// `record` must be NULL or a record of this image, with a site of this number.
#[inline(always)]
unsafe fn count(value: u64, record: *const u8, site: u32) {
    let record = record.expose_provenance();
    if record == 0 {
        return;
    }
    // SAFETY: promised by the caller.
    let Some(slot) = (unsafe { IMAGE.objects.slot(record, site) }) else { return };
    let Some(sections) = IMAGE.objects.sections() else { return };
    if let Some(site) = IMAGE.objects.heads.site(slot, sections, &NODES) {
        site.count::<Plain, _, _>(value as i64, &NODES, system::owner);
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

/// Counts a value many times.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_instrument_target_value(
    value: u64,
    record: *const u8,
    site: u32,
    times: u64,
) {
    for _ in 0..times {
        // SAFETY: passed on.
        unsafe { count(value, record, site) };
    }
}

/// Notes that a function is called for the first time, unless it was called before.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_set_timestamp(probe: *const AtomicI64) {
    // SAFETY: the compiler passes the first counter of a function.
    let Some(probe) = (unsafe { probe.as_ref() }) else { return };
    if matches!(probe.load(Ordering::Relaxed), 0 | -1) {
        let now = TIME.fetch_add(1, Ordering::Relaxed);
        probe.store(i64::from(now), Ordering::Relaxed);
    }
}
