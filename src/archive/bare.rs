//! The symbols of the archive for programs without an operating system: `libcountersink_rt_bare.a`.
//!
//! It needs no system and no C library.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;

use super::gcov::TOKENS;
use crate::bare::image::{IMAGE, RETAINED, give_nodes};
pub use crate::bare::image::{nodes, owner};
use crate::bare::llvm::{FAMILY, RESETTABLE};
use crate::raw::writer::Sink;
use crate::runtime::abi::gcov::{Info, Object, Registry};
use crate::runtime::atomic::{AtomicPtr, Ordering};
use crate::runtime::bare::{Family, Misplaced, Resettable, Stopped};

static OBJECTS: Registry = Registry::new();

/// The family of gcc, NULL before its first object. Through this word alone, so that programs of clang and rustc do not
/// carry what reads gcc's objects.
static GCC: AtomicPtr<&dyn Family> = AtomicPtr::new(core::ptr::null_mut());

unsafe extern "C" {
    /// The family of clang and rustc, NULL if the program has no such objects. In `runtime-c/llvm_family.c`.
    safe fn countersink_family_of_llvm() -> *const c_void;
    /// The same for resets.
    safe fn countersink_resettable_of_llvm() -> *const c_void;
}

hide! { countersink_other }

/// The address of the family. Only `runtime-c/llvm_family.c` asks, and only if an object asks for LLVM's runtime.
#[unsafe(no_mangle)]
extern "C" fn countersink_llvm_family() -> *const c_void {
    (&raw const FAMILY).cast()
}

#[unsafe(no_mangle)]
extern "C" fn countersink_llvm_resettable() -> *const c_void {
    (&raw const RESETTABLE).cast()
}

/// gcc's family, then LLVM's.
fn family(number: usize) -> Option<&'static dyn Family> {
    let place = match number {
        0 => GCC.load(Ordering::Acquire).cast_const(),
        _ => countersink_family_of_llvm().cast(),
    };
    // SAFETY: NULL, or a static of this type: `register` and `countersink_llvm_family` have no others.
    unsafe { place.as_ref() }.copied()
}

/// The same for resets.
fn resettable(number: usize) -> Option<&'static dyn Resettable> {
    if number == 0 {
        return Some(&OBJECTS);
    }
    // SAFETY: NULL, or the static of this type of `countersink_llvm_resettable`.
    unsafe { countersink_resettable_of_llvm().cast::<&dyn Resettable>().as_ref() }.copied()
}

/// The image's objects.
pub fn objects() -> &'static Registry {
    &OBJECTS
}

/// Adds an object to the image.
///
/// # Safety
///
/// `info` must be a good one, and not be registered yet.
pub unsafe fn register(info: NonNull<Info>) {
    static FAMILY_OF_GCC: &dyn Family = &OBJECTS;
    GCC.store((&raw const FAMILY_OF_GCC).cast_mut(), Ordering::Release);
    // SAFETY: promised by the caller.
    unsafe { OBJECTS.push(info, &TOKENS) };
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
        let Some(info) = info.filter(|&info| !OBJECTS.contains(info)) else { continue };
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
    match unsafe { IMAGE.retain(family, resettable, &RETAINED, memory) } {
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

fn status(result: Result<(), Stopped>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(Stopped::Sink(stop)) => stop,
        Err(Stopped::Busy) => BUSY,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write(family, RETAINED.starts(), &mut Program { take, context }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write_text(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write_text(family, RETAINED.starts(), &mut Program { take, context }))
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
    IMAGE.reset(resettable);
    RETAINED.set_starts(1);
    0
}
