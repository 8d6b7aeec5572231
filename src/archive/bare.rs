//! The symbols of the archive for programs without an operating system: `libcountersink_rt_bare.a`.
//!
//! It needs no system and no C library.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;

use super::gcov::TOKENS;
use crate::raw::writer::Sink;
use crate::runtime::abi::gcov::{Info, Object, Registry};
use crate::runtime::bare::{BareImage, Misplaced, Stopped};
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::Owner;
use crate::runtime::retained::Retained;

static IMAGE: BareImage = BareImage::new();

/// A linker script finds it by its section. Where none does, the program's start sets it to zero like all else.
#[unsafe(link_section = ".bss.countersink_retained")]
static RETAINED: Retained = Retained::new();

/// Where profilers find room for values.
pub fn nodes() -> &'static Nodes {
    &IMAGE.nodes
}

unsafe extern "C" {
    /// The memory for nodes that the program was linked with: its own, or that of `runtime-c/nodes.c`.
    static mut countersink_region: [u64; 0];
    /// Its size in bytes.
    static countersink_region_size: usize;
}

core::arch::global_asm!(
    ".hidden countersink_other",
    ".hidden countersink_region",
    ".hidden countersink_region_size",
);

/// The owner of every site: there is no other image. A site asks before it takes its first node, so this is where
/// the memory for nodes comes in. Programs that count no values need neither, and their linker drops both.
pub fn owner(_address: usize) -> Owner {
    give_nodes();
    Owner::Here
}

fn give_nodes() {
    if !IMAGE.nodes.is_given() {
        let memory = (&raw mut countersink_region).cast();
        // SAFETY: a constant.
        let bytes = unsafe { countersink_region_size };
        // SAFETY: nobody else uses that memory, and it starts zero.
        unsafe { IMAGE.nodes.give(memory, bytes) };
    }
}

/// The image's objects.
pub fn objects() -> &'static Registry {
    &IMAGE.objects
}

/// Adds an object to the image.
///
/// # Safety
///
/// `info` must be a good one, and not be registered yet.
pub unsafe fn register(info: NonNull<Info>) {
    // SAFETY: promised by the caller.
    unsafe { IMAGE.objects.push(info, &TOKENS) };
}

/// There is nobody to tell that an object does not take part.
pub fn refuse(_path: &CStr) {}

/// A program without an operating system asks for its counts itself.
#[unsafe(no_mangle)]
extern "C" fn __gcov_exit() {}

#[unsafe(no_mangle)]
extern "C" fn __gcov_reset() {
    countersink_reset();
}

// Our interface for programs, see `runtime-c/countersink.h`.

/// Registers objects that have no constructors, from a section of pointers to them.
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_register(begin: *const *mut Info, end: *const *mut Info) {
    let mut place = begin;
    while place < end {
        // SAFETY: between the bounds of the section, as the program has promised.
        let info = NonNull::new(unsafe { place.read() });
        place = place.wrapping_add(1);
        let Some(info) = info.filter(|&info| !IMAGE.objects.contains(info)) else { continue };
        // SAFETY: the compiler makes the section's pointers, to its own `gcov_info`s.
        if unsafe { Object::new(info, &TOKENS) }.is_ok() {
            // SAFETY: a good one, and not registered yet.
            unsafe { register(info) };
        }
    }
}

/// Takes memory for the values of sites in place of what the program was linked with.
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_nodes(memory: *mut c_void, bytes: usize) -> c_int {
    // SAFETY: the program has promised it.
    if unsafe { IMAGE.nodes.give(memory.cast(), bytes) } { 0 } else { BUSY }
}

/// Takes over counters that a warm reset has left.
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_retain(start: *mut c_void, end: *mut c_void) -> c_int {
    give_nodes();
    let memory = start.expose_provenance()..end.addr();
    // SAFETY: the program has promised it.
    match unsafe { IMAGE.retain(&RETAINED, memory) } {
        Ok(taken_over) => c_int::from(taken_over),
        Err(Misplaced) => INVALID,
    }
}

type Callback = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int;

/// A callback of the program that takes the bytes of a dump. A return value other than 0 ends the dump.
struct Program {
    take: Callback,
    context: *mut c_void,
}

impl Sink for Program {
    type Error = c_int;

    #[inline(always)]
    fn write(&mut self, bytes: &[u8]) -> Result<(), c_int> {
        // SAFETY: the program promised a function that takes its context, a place and a length.
        match unsafe { (self.take)(self.context, bytes.as_ptr().cast(), bytes.len()) } {
            0 => Ok(()),
            stop => Err(stop),
        }
    }
}

/// The errno values on Linux: there is no system to ask.
const BUSY: c_int = -16;
const INVALID: c_int = -22;

fn status(result: Result<(), Stopped<c_int>>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(Stopped::Sink(stop)) => stop,
        Err(Stopped::Busy) => BUSY,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write(RETAINED.starts(), &mut Program { take, context }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write_text(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write_text(RETAINED.starts(), &mut Program { take, context }))
}

/// Counts the bytes.
unsafe extern "C" fn add(context: *mut c_void, _bytes: *const c_void, length: usize) -> c_int {
    // SAFETY: `countersink_size` passes its sum.
    let sum = unsafe { &mut *context.cast::<usize>() };
    *sum = sum.wrapping_add(length);
    0
}

#[unsafe(no_mangle)]
extern "C" fn countersink_size() -> usize {
    let mut sum: usize = 0;
    // SAFETY: `add` takes a sum.
    unsafe { countersink_write(add, (&raw mut sum).cast()) };
    sum
}

#[unsafe(no_mangle)]
extern "C" fn countersink_text_size() -> usize {
    let mut sum: usize = 0;
    // SAFETY: `add` takes a sum.
    unsafe { countersink_write_text(add, (&raw mut sum).cast()) };
    sum
}

#[unsafe(no_mangle)]
extern "C" fn countersink_reset() -> c_int {
    IMAGE.reset();
    RETAINED.set_starts(1);
    0
}
