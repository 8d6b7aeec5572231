//! What LLVM's instrumentation calls: hooks for values and times, and the start of an image.
//!
//! The interface for programs is in `llvm_interface`. Everything is hidden, as in LLVM's own runtime: each image
//! has its own copy, and its hooks count its own sites alone.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};

use spin::{Mutex, MutexGuard};

use super::llvm_sections::sections;
use super::system::{self, CHAIN, PLACE};
use crate::runtime::abi::llvm::pattern::{DEFAULT, Meaning, Pattern, translate};
use crate::runtime::abi::llvm::{
    Heads, Registry, Sections, Slot, WholeRecord, begun, note_first_call, size_class,
};
use crate::runtime::chain::Link;
use crate::runtime::counters::Plain;
use crate::runtime::counters::lanes::{Cell, Lanes, Place};
use crate::runtime::counters::node::Node;
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::{LiveSite, NodeUpdate, hit_watched};
use crate::runtime::identity::Start;
use crate::runtime::image::Image;
use crate::runtime::message::Line;
use crate::runtime::output_path::Target;
use crate::runtime::sys;

static IMAGE: Image<Registry> = Image::new(Registry::new());
/// The place in the chain.
pub static LINK: Link = Link::new(&IMAGE, &PLACE).with_names(name_at);
/// Beside the counters if those are live, as are the heads.
#[cfg_attr(feature = "live", unsafe(link_section = ".bss.__llvm_nodes"))]
static NODES: Nodes = Nodes::new();
#[cfg_attr(feature = "live", unsafe(link_section = ".bss.__llvm_nodes"))]
static HEADS: Heads = Heads::new();
static LANES: Lanes = Lanes::new();
/// Stands for the records that are not in memory.
static WHOLE: WholeRecord = WholeRecord::new();
/// The time of the next function that is called for the first time.
static TIME: AtomicU32 = AtomicU32::new(1);

hide! {
    __llvm_profile_instrument_target
    __llvm_profile_instrument_target_value
    __llvm_profile_instrument_memop
    __llvm_profile_set_timestamp
    __llvm_get_function_addr
    __llvm_profile_iterate_data
    __llvm_profile_set_num_value_sites
    lprofSetMaxValsPerSite
    countersink_llvm_begin
    countersink_llvm_start
}

unsafe extern "C" {
    /// In `runtime-c/llvm.c`.
    safe fn countersink_llvm_file() -> *const c_char;
}

extern "C" fn name_at(address: usize) -> u64 {
    IMAGE.objects.name_at(address)
}

/// Names of functions elsewhere, by address: looking one up walks all records of an image. Only the one flush of the
/// process comes here.
static KNOWN: [[AtomicU64; 2]; 64] = [const { [const { AtomicU64::new(0) }; 2] }; 64];

/// The name of a function that has no offset in this image. This image's own records come first, as for LLVM's tools.
fn name_elsewhere(address: usize) -> u64 {
    let place = (address >> 4) % KNOWN.len();
    let Some([of, name]) = KNOWN.get(place) else { return 0 };
    if of.load(Ordering::Relaxed) != address as u64 {
        let found = match IMAGE.objects.name_at(address) {
            0 => CHAIN.name_at(address),
            own => own,
        };
        name.store(found, Ordering::Relaxed);
        of.store(address as u64, Ordering::Relaxed);
    }
    name.load(Ordering::Relaxed)
}

/// Other functions may be at these addresses by the next flush.
fn forget_names() {
    KNOWN.iter().for_each(|[of, _]| of.store(0, Ordering::Relaxed));
}

/// A checksum of the image's code, 0 if a build-id tells builds apart.
fn code_checksum() -> u32 {
    let start = system::start().filter(|start| start.build_id().is_none());
    start.map_or(0, Start::code_checksum)
}

/// Whether the counters may be in a file, where a reader finds nodes alone.
const IS_LIVE: bool = cfg!(feature = "live");

/// Whether the image is one of the process's.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether it writes its counts at its end. A program that opts out of the start has to ask for that.
static WRITES_AT_END: AtomicBool = AtomicBool::new(false);

/// Tells the functions where they are. The start of the image does so, or a hook before: resolvers of functions,
/// and libraries that call back, run earlier.
#[cold]
#[inline(never)]
fn find_functions() {
    LANES.begin(sys::stack());
    let found = sections();
    let is_correlated = found.data.is_empty() && !found.counters.is_empty();
    let sections = Sections {
        data: WHOLE.records(&found),
        image: system::image(),
        text: countersink_llvm_begin as extern "C" fn() as usize,
        name_elsewhere: Some(name_elsewhere),
        forget_names: Some(forget_names),
        code_checksum: is_correlated.then_some(code_checksum),
        lanes: (!IS_LIVE).then_some(&LANES),
        ..found
    };
    // SAFETY: these are the linker's words, and the image stays as long as this static.
    unsafe { IMAGE.objects.begin(|| sections) };
}

/// Begins the image, which writes its counts at its end.
#[unsafe(no_mangle)]
pub extern "C" fn countersink_llvm_start() {
    WRITES_AT_END.store(true, Ordering::Release);
    countersink_llvm_begin();
}

/// Begins the image if it has not begun. One without records has nothing to write, unless its link asked for the
/// runtime: as with LLVM's own, its file then says so.
#[unsafe(no_mangle)]
pub extern "C" fn countersink_llvm_begin() {
    if WHOLE.records(&sections()).is_empty() && !WRITES_AT_END.load(Ordering::Acquire) {
        return;
    }
    if BEGUN.swap(true, Ordering::AcqRel) {
        return;
    }
    find_functions();
    let linked = linked_file();
    system::begin(linked, users_file);
    let target = Target { place: CHAIN.place(&LINK), linked };
    IMAGE.begin(&NODES, system::start(), target, || None);
    CHAIN.join(&LINK);
}

/// Puts counters into a file before any other constructor runs.
#[cfg(feature = "live")]
#[used]
#[unsafe(link_section = ".init_array.00101")]
static LIVE: extern "C" fn() = go_live;

#[cfg(feature = "live")]
extern "C" fn go_live() {
    use crate::runtime::counters::shared;
    use crate::runtime::live::Region;
    unsafe extern "C" {
        /// In `runtime-c/live.c`.
        safe fn countersink_llvm_live_bound(end: core::ffi::c_int) -> *mut u8;
    }
    let begun = BEGUN.load(Ordering::Acquire);
    let Some(sections) = IMAGE.objects.sections().filter(|_| begun) else { return };
    let [start, end] = [0, 1].map(|end| countersink_llvm_live_bound(end));
    // SAFETY: the linker script says so.
    let region = unsafe { Region::new(start, end) };
    if let Some(region) = region {
        shared::add_pages(region.addresses());
    }
    // The script leaves counters no other value than 0.
    if region.is_some() && sections.has_single_bytes() {
        let _ = IMAGE.reset();
    }
    IMAGE.go_live(region);
}

/// The name that the image was linked with, or else compiled with.
fn linked_file() -> &'static [u8] {
    let linked = system::linked_file();
    if !linked.is_empty() {
        return linked;
    }
    let compiled = NonNull::new(countersink_llvm_file().cast_mut());
    // SAFETY: a string of this image.
    let compiled = compiled.map(|file| unsafe { CStr::from_ptr(file.as_ptr()) });
    compiled.map_or(&[], |file| {
        static PATTERN: Mutex<Pattern> = Mutex::new(Pattern::new());
        remember(&PATTERN, file)
    })
}

/// The file that the user wants.
fn users_file() -> Option<&'static [u8]> {
    static PATTERN: Mutex<Pattern> = Mutex::new(Pattern::new());
    if let Some(file) = variable(c"COUNTERSINK_FILE") {
        return Some(file.to_bytes());
    }
    variable(c"LLVM_PROFILE_FILE").map(|file| remember(&PATTERN, file))
}

/// The file after a program has taken back the name that it set. LLVM's own runtime then minds neither its variable
/// nor the name that the program was compiled with.
pub fn file_of_nobody() -> &'static [u8] {
    if let Some(file) = variable(c"COUNTERSINK_FILE") {
        return file.to_bytes();
    }
    match system::linked_file() {
        [] => DEFAULT,
        linked => linked,
    }
}

/// Keeps a name with LLVM's letters as ours, once.
fn remember(pattern: &'static Mutex<Pattern>, name: &CStr) -> &'static [u8] {
    let Some(pattern) = pattern.try_lock() else { return &[] };
    let pattern = MutexGuard::leak(pattern);
    translated(name, pattern);
    pattern
}

/// Puts what a name with LLVM's letters stands for into `pattern`.
pub fn translated(name: &CStr, pattern: &mut Pattern) {
    let id = system::start().and_then(Start::build_id).unwrap_or_default();
    let directory = variable(c"TMPDIR").map_or(&[][..], CStr::to_bytes);
    let build_id = id.bytes.get(..id.length).unwrap_or(&id.bytes);
    let meaning = Meaning { process: sys::process(), directory, build_id };
    if let Err(missing) = translate(name.to_bytes(), &meaning, pattern) {
        let mut line = Line::about(name.to_bytes());
        line.text(missing).text(b" for this name; the file is ").text(DEFAULT).print();
    }
}

/// A variable of the environment that is not empty.
fn variable(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: a constructor asks, or a program that sets a name; as with LLVM's runtime it must not change
    // its environment meanwhile.
    unsafe { sys::environment(name) }.filter(|value| !value.is_empty())
}

/// Forgets when functions were first called.
pub fn reset_time() {
    TIME.store(1, Ordering::Relaxed);
}

/// The image's functions.
pub fn image() -> &'static Image<Registry> {
    &IMAGE
}

/// Ends the image's functions, right before the image itself.
#[used]
#[unsafe(link_section = ".fini_array.00001")]
static END: extern "C" fn() = end;

extern "C" fn end() {
    if !BEGUN.load(Ordering::Acquire) {
        return;
    }
    if !WRITES_AT_END.load(Ordering::Acquire) {
        let _ = IMAGE.close_silently();
    }
    CHAIN.leave(&LINK);
}

/// The site of a function, where the site has no head yet, its function no slots, the image has not begun, or it has
/// several layouts.
///
/// # Safety
///
/// As for [`Registry::known_slot`].
unsafe fn first_site(record: usize, site: u32) -> Option<LiveSite<'static>> {
    // SAFETY: promised by the caller.
    let slot = match unsafe { IMAGE.objects.slot(record, site) } {
        Some(slot) => slot,
        // SAFETY: as above.
        None => unsafe { early_slot(record, site) }?,
    };
    HEADS.site(slot, IMAGE.objects.sections()?, &NODES)
}

/// The slot of a site in a hook that comes before the image begins, or to a function without slots.
///
/// # Safety
///
/// As for [`Registry::known_slot`].
unsafe fn early_slot(record: usize, site: u32) -> Option<&'static Slot> {
    if IMAGE.objects.sections().is_none() {
        find_functions();
    }
    // SAFETY: promised by the caller.
    unsafe { IMAGE.objects.give_slots(record, &NODES) };
    // SAFETY: as above.
    unsafe { IMAGE.objects.slot(record, site) }
}

/// Counts a value at a site of a function. As little work as possible: programs spend their time here.
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
    match unsafe { IMAGE.objects.known_slot(record, site) }.and_then(begun) {
        Some(site) => count_at(value as i64, site),
        // SAFETY: promised by the caller.
        None => unsafe { count_first(value, record, site) },
    }
}

/// Counts a value at a site with a head.
#[inline(always)]
fn count_at(value: i64, site: LiveSite<'static>) {
    match !IS_LIVE && site.has_lanes() {
        true => count_at_lanes(value, site),
        false => count_at_nodes(value, site),
    }
}

/// Counts a value at the nodes of a site.
#[inline(always)]
fn count_at_nodes(value: i64, site: LiveSite<'static>) {
    match site.first() {
        Some(first) if !first.holds(value) => count_behind(value, site, first),
        Some(first) if hit_watched(first) => {}
        _ => count_rarely(value, site),
    }
}

/// Counts a value that the first node of a site does not hold.
// A function, which begins at a line of the cache (`src/build/strip.rs`), as do the hooks.
#[inline(never)]
fn count_behind(value: i64, site: LiveSite<'static>, first: &'static Node) {
    if !site.count_behind(first, value, &NODES) {
        count_rarely(value, site);
    }
}

/// Counts a value at a site with lanes.
#[inline(never)]
fn count_at_lanes(value: i64, site: LiveSite<'static>) {
    let stack = sys::stack();
    if LANES.is_first(stack) || site.shape().index() != 0 {
        return count_at_nodes(value, site);
    }
    match LANES.count::<Plain>(stack, site, value) {
        Place::Counted => {}
        Place::Free(cell) => count_in_free(value, site, cell),
        Place::Elsewhere => count_at_nodes(value, site),
    }
}

/// Counts a value in a free cell, or else at the nodes.
#[cold]
#[inline(never)]
fn count_in_free(value: i64, site: LiveSite<'static>, cell: &Cell) {
    if !cell.take(site, value) {
        count_at_nodes(value, site);
    }
}

/// Counts a value that has no node at hand, and looks now and then which thread does so.
#[cold]
#[inline(never)]
fn count_rarely(value: i64, site: LiveSite<'static>) {
    if !IS_LIVE {
        LANES.watch(sys::stack(), site);
    }
    site.count_slowly(value, &NODES, Plain::SHARED, system::owner);
}

/// Counts a value at a site that has no head yet, or in an image of several layouts.
///
/// # Safety
///
/// As for [`Registry::known_slot`].
#[cold]
#[inline(never)]
unsafe fn count_first(value: u64, record: usize, site: u32) {
    // SAFETY: promised by the caller.
    if let Some(site) = unsafe { first_site(record, site) } {
        count_at(value as i64, site);
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
    let record = record.expose_provenance();
    if record == 0 || times == 0 {
        return;
    }
    // SAFETY: the caller passes a record and the number of one of its sites.
    if let Some(site) = unsafe { first_site(record, site) } {
        site.count_many(value as i64, times, &NODES, system::owner);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_set_timestamp(probe: *const AtomicI64) {
    // SAFETY: the compiler passes the first counter of a function.
    if let Some(probe) = unsafe { probe.as_ref() } {
        note_first_call(probe, &TIME);
    }
}

// What programs do with records themselves.

#[unsafe(no_mangle)]
extern "C" fn __llvm_get_function_addr(record: *const u8) -> usize {
    find_functions();
    IMAGE.objects.record(record.expose_provenance()).map_or(0, |record| record.function())
}

/// The record behind one.
#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_iterate_data(record: *const u8) -> usize {
    find_functions();
    let record = record.expose_provenance();
    IMAGE.objects.record(record).map_or(record, |found| record.wrapping_add(found.length()))
}

/// Sets how many sites of a kind a function has, before any value of it is counted.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_set_num_value_sites(record: *const u8, kind: u32, number: u16) {
    find_functions();
    if let Some(record) = IMAGE.objects.record(record.expose_provenance()) {
        // SAFETY: the program promises that nobody counts values of this function yet.
        unsafe { record.set_sites(kind as usize, number) };
    }
}

/// A site keeps as many values as fit, whatever a program asks for. In LLVM's own runtime they share a list of this
/// length.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
extern "C" fn lprofSetMaxValsPerSite(number: u32) {
    core::hint::black_box(number);
}
