//! LLVM's interface to files of counts, for programs.
//!
//! What takes memory from the C library is in `runtime-c/llvm_names.c`, and what needs no files in `llvm_buffer`.
//! Files are our dumps, and always merged: a call that writes again adds what is new.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int, c_uint};

use super::llvm::{self, LINK, countersink_llvm_begin, countersink_llvm_start, image, translated};
use super::system::CHAIN;
use crate::runtime::abi::llvm::pattern::Pattern;
use crate::runtime::chain::Operation;
use crate::runtime::message::Line;

hide! {
    __llvm_profile_initialize
    __llvm_profile_initialize_file
    __llvm_profile_register_write_file_atexit
    __llvm_profile_set_filename
    __llvm_profile_write_file
    __llvm_profile_dump
    __llvm_orderfile_dump
    __llvm_profile_set_dumped
    __llvm_profile_reset_counters
    __llvm_profile_is_continuous_mode_enabled
    __llvm_profile_enable_continuous_mode
    __llvm_profile_disable_continuous_mode
    __llvm_profile_set_page_size
    countersink_llvm_target
}

/// Asks all images. A program that has opted out of the start begins now.
fn ask(operation: Operation<'_>) -> c_int {
    countersink_llvm_begin();
    match CHAIN.for_all(&LINK, operation) {
        Ok(()) => 0,
        Err(_) => -1,
    }
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_initialize() {
    countersink_llvm_begin();
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_initialize_file() {
    countersink_llvm_begin();
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_register_write_file_atexit() -> c_int {
    countersink_llvm_start();
    0
}

/// Takes another name with LLVM's letters, or at NULL the one that nobody has chosen.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_set_filename(name: *const c_char) {
    let mut pattern = Pattern::new();
    let pattern = match name.is_null() {
        true => llvm::file_of_nobody(),
        false => {
            // SAFETY: the program passes a string.
            translated(unsafe { CStr::from_ptr(name) }, &mut pattern);
            &pattern
        }
    };
    ask(Operation::SetPattern(pattern));
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_write_file() -> c_int {
    say_if_dumped();
    ask(Operation::Flush)
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_dump() -> c_int {
    say_if_dumped();
    ask(Operation::Dump)
}

/// Order files (`-forder-file-instrumentation`) are not written; LLVM gave them up with release 20.
#[unsafe(no_mangle)]
extern "C" fn __llvm_orderfile_dump() -> c_int {
    Line::about(b"__llvm_orderfile_dump").text(b"order files are not written").print();
    -1
}

/// After a dump, nothing is written until a reset. As LLVM's own runtime, which says so at each call.
#[cold]
#[inline(never)]
fn say_if_dumped() {
    if image().is_dumped() {
        let _ = image().name_file(|name| {
            let mut line = Line::about(name.to_bytes());
            line.text(b"not written: dumped before, and not reset since").print();
        });
    }
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_set_dumped() {
    countersink_llvm_begin();
    let _ = image().close_silently();
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_reset_counters() {
    ask(Operation::Reset);
    llvm::reset_time();
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_is_continuous_mode_enabled() -> c_int {
    c_int::from(cfg!(feature = "live"))
}

// Counters are live, or not, by how the program is linked. These must not become one function with an empty one for
// gcc's programs, which would then carry their names.

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_enable_continuous_mode() {
    core::hint::black_box(1);
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_disable_continuous_mode() {
    core::hint::black_box(0);
}

#[unsafe(no_mangle)]
extern "C" fn __llvm_profile_set_page_size(size: c_uint) {
    core::hint::black_box(size);
}

/// Copies the name of the file into a room of this size; gives its length, 0 if there is none.
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_llvm_target(room: *mut u8, size: usize) -> usize {
    countersink_llvm_begin();
    let copy = |name: &CStr| {
        let name = name.to_bytes_with_nul();
        if name.len() > size {
            return 0;
        }
        for (place, &byte) in name.iter().enumerate() {
            // SAFETY: the caller has as much room.
            unsafe { room.wrapping_add(place).write(byte) };
        }
        name.len().wrapping_sub(1)
    };
    image().name_file(copy).unwrap_or(0)
}
