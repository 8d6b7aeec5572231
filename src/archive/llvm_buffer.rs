//! LLVM's interface to counters in memory: sections, sizes, and raw profiles in buffers.
//!
//! A member of its own, which needs neither files nor a C library: a program that defines `__llvm_profile_runtime`
//! itself may use nothing else.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_void};

use super::llvm_sections::{bounds, sections};
use crate::raw::llvm::Version;
use crate::runtime::abi::llvm::Sections;
use crate::runtime::abi::llvm::buffer::{MAGIC, Size, Take};

/// Defines hidden functions of C.
macro_rules! hidden {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {
        hide! { $($name)* }
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $result $body
        )*
    };
}

hidden! {
    __llvm_profile_get_magic() -> u64 { MAGIC }
    __llvm_profile_get_version() -> u64 { sections().version_word() }
    __llvm_profile_counter_entry_size() -> usize { sections().counter_size() }
    __llvm_profile_begin_data() -> usize { bounds(0).start }
    __llvm_profile_end_data() -> usize { bounds(0).end }
    __llvm_profile_begin_counters() -> usize { bounds(1).start }
    __llvm_profile_end_counters() -> usize { bounds(1).end }
    __llvm_profile_begin_bitmap() -> usize { bounds(2).start }
    __llvm_profile_end_bitmap() -> usize { bounds(2).end }
    __llvm_profile_begin_names() -> usize { bounds(3).start }
    __llvm_profile_end_names() -> usize { bounds(3).end }
    __llvm_profile_begin_vnodes() -> usize { bounds(5).start }
    __llvm_profile_end_vnodes() -> usize { bounds(5).end }
    __llvm_profile_begin_vtables() -> usize { bounds(6).start }
    __llvm_profile_end_vtables() -> usize { bounds(6).end }
    __llvm_profile_begin_vtabnames() -> usize { bounds(7).start }
    __llvm_profile_end_vtabnames() -> usize { bounds(7).end }
    __llvm_profile_begin_covinit() -> usize { 0 }
    __llvm_profile_end_covinit() -> usize { 0 }
    __llvm_profile_get_num_data(_begin: usize, _end: usize) -> u64 { sections().records() as u64 }
    __llvm_profile_get_data_size(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin) as u64
    }
    __llvm_profile_get_num_counters(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin).checked_div(sections().counter_size()).unwrap_or(0) as u64
    }
    __llvm_profile_get_counters_size(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin) as u64
    }
    __llvm_profile_get_num_bitmap_bytes(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin) as u64
    }
    __llvm_profile_get_name_size(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin) as u64
    }
    __llvm_profile_get_num_vtable(_begin: usize, _end: usize) -> u64 {
        sections().table_count() as u64
    }
    __llvm_profile_get_vtable_section_size(begin: usize, end: usize) -> u64 {
        end.wrapping_sub(begin) as u64
    }
    __llvm_profile_get_num_padding_bytes(size: u64) -> u8 { (size.wrapping_neg() % 8) as u8 }
    __llvm_profile_get_size_for_buffer() -> u64 {
        let mut size = Size::default();
        sections().write(&mut size);
        size.0
    }
}

hide! {
    __llvm_profile_get_size_for_buffer_internal
    __llvm_profile_write_buffer_internal
    __llvm_profile_write_buffer
    __llvm_profile_check_compatibility
    __llvm_profile_merge_from_buffer
}

/// Where the next bytes go.
struct Memory(*mut u8);

impl Take for Memory {
    fn take(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            // SAFETY: the program has made room for all bytes of a profile.
            unsafe { self.0.write(byte) };
            self.0 = self.0.wrapping_add(1);
        }
    }
}

/// Writes a raw profile into a buffer of the size that [`__llvm_profile_get_size_for_buffer`] gives.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_write_buffer(buffer: *mut c_char) -> c_int {
    c_int::from(!sections().write(&mut Memory(buffer.cast())))
}

/// The image's sections, but these in place of its own. Programs of LLVM 17 and older pass no bitmaps, so their names
/// come where bitmaps do since.
fn chosen(
    data: (usize, usize),
    counters: (usize, usize),
    bitmaps: (usize, usize),
    names: (usize, usize),
) -> Sections {
    let own = sections();
    let (bitmaps, names) = match own.one_version() {
        Some(version) if version < Version::V9 => ((0, 0), bitmaps),
        _ => (bitmaps, names),
    };
    Sections {
        data: data.0..data.1,
        counters: counters.0..counters.1,
        bitmaps: bitmaps.0..bitmaps.1,
        names: names.0..names.1,
        tables: 0..0,
        table_names: 0..0,
        ..own
    }
}

/// The size of a raw profile of these sections. Since LLVM 19 virtual tables follow; they are left out here, as
/// in [`__llvm_profile_write_buffer_internal`].
#[unsafe(no_mangle)]
#[rustfmt::skip]
extern "C" fn __llvm_profile_get_size_for_buffer_internal(
    data: usize, data_end: usize, counters: usize, counters_end: usize,
    bitmaps: usize, bitmaps_end: usize, names: usize, names_end: usize,
) -> u64 {
    let (data, counters) = ((data, data_end), (counters, counters_end));
    let mut size = Size::default();
    chosen(data, counters, (bitmaps, bitmaps_end), (names, names_end)).write(&mut size);
    size.0
}

/// Writes a raw profile of these sections into a buffer, without virtual tables.
#[unsafe(no_mangle)]
#[rustfmt::skip]
unsafe extern "C" fn __llvm_profile_write_buffer_internal(
    buffer: *mut c_char, data: usize, data_end: usize, counters: usize, counters_end: usize,
    bitmaps: usize, bitmaps_end: usize, names: usize, names_end: usize,
) -> c_int {
    let (data, counters) = ((data, data_end), (counters, counters_end));
    let sections = chosen(data, counters, (bitmaps, bitmaps_end), (names, names_end));
    c_int::from(!sections.write(&mut Memory(buffer.cast())))
}

/// Gives 0 if a raw profile in memory is one of this image.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_check_compatibility(
    profile: *const c_void,
    size: u64,
) -> c_int {
    // SAFETY: the program passes as many bytes.
    let profile = unsafe { core::slice::from_raw_parts(profile.cast(), size as usize) };
    c_int::from(!sections().is_compatible(profile))
}

/// Adds the counters of a raw profile in memory; gives 0 if it is one of this image.
#[unsafe(no_mangle)]
unsafe extern "C" fn __llvm_profile_merge_from_buffer(profile: *const c_void, size: u64) -> c_int {
    // SAFETY: the program passes as many bytes.
    let profile = unsafe { core::slice::from_raw_parts(profile.cast(), size as usize) };
    c_int::from(!sections().merge(profile))
}
