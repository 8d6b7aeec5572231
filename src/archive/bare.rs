//! The symbols of the archive for programs without an operating system: `libcountersink_rt_bare.a`.
//!
//! It needs no system and no C library.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;

use super::gcov::TOKENS;
use crate::raw::writer::Sink;
use crate::runtime::abi::gcov::{Info, Object, Registry};
use crate::runtime::bare::{BareImage, Stopped};
use crate::runtime::counters::nodes::Nodes;
use crate::runtime::counters::topn::Owner;

static IMAGE: BareImage = BareImage::new();

/// Where profilers find room for values.
pub fn nodes() -> &'static Nodes {
    &IMAGE.nodes
}

/// The owner of every site: there is no other image.
pub fn owner(_address: usize) -> Owner {
    Owner::Here
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
    IMAGE.reset();
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

/// The errno value on Linux: there is no system to ask.
const BUSY: c_int = -16;

fn status(result: Result<(), Stopped<c_int>>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(Stopped::Sink(stop)) => stop,
        Err(Stopped::Busy) => BUSY,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write(&mut Program { take, context }))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_write_text(take: Callback, context: *mut c_void) -> c_int {
    status(IMAGE.write_text(&mut Program { take, context }))
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
    0
}
