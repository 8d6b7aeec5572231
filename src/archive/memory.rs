//! The memory functions that the compiler calls where no C library may be.
//!
//! On x86-64 it calls none. Elsewhere it does, and the names below make it call ours. A program's own `memcpy`, which
//! is faster, does not disappear behind ours, and need not be there: the archive has nothing under a name of the C
//! library.
#![allow(unsafe_code)]

core::arch::global_asm!(
    ".hidden countersink_memcpy",
    ".hidden countersink_memmove",
    ".hidden countersink_memset",
    ".hidden countersink_memcmp",
    ".set memcpy, countersink_memcpy",
    ".set memmove, countersink_memmove",
    ".set memset, countersink_memset",
    ".set memcmp, countersink_memcmp",
    ".set bcmp, countersink_memcmp",
);

#[cfg(target_arch = "arm")]
core::arch::global_asm!(
    ".hidden countersink_aeabi_memset",
    ".hidden countersink_aeabi_memclr",
    ".set __aeabi_memcpy, countersink_memcpy",
    ".set __aeabi_memcpy4, countersink_memcpy",
    ".set __aeabi_memcpy8, countersink_memcpy",
    ".set __aeabi_memmove, countersink_memmove",
    ".set __aeabi_memmove4, countersink_memmove",
    ".set __aeabi_memmove8, countersink_memmove",
    ".set __aeabi_memset, countersink_aeabi_memset",
    ".set __aeabi_memset4, countersink_aeabi_memset",
    ".set __aeabi_memset8, countersink_aeabi_memset",
    ".set __aeabi_memclr, countersink_aeabi_memclr",
    ".set __aeabi_memclr4, countersink_aeabi_memclr",
    ".set __aeabi_memclr8, countersink_aeabi_memclr",
);

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_memcpy(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    for place in 0..length {
        // SAFETY: the compiler passes areas of this length.
        unsafe { copy_byte(to, from, place) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_memmove(to: *mut u8, from: *const u8, length: usize) -> *mut u8 {
    if to.addr() <= from.addr() {
        // SAFETY: passed on; no byte is read after it was written.
        return unsafe { countersink_memcpy(to, from, length) };
    }
    for place in (0..length).rev() {
        // SAFETY: the compiler passes areas of this length.
        unsafe { copy_byte(to, from, place) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_memset(to: *mut u8, byte: i32, length: usize) -> *mut u8 {
    for place in 0..length {
        // SAFETY: the compiler passes an area of this length.
        unsafe { to.wrapping_add(place).write(byte as u8) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_memcmp(one: *const u8, other: *const u8, length: usize) -> i32 {
    for place in 0..length {
        // SAFETY: the compiler passes areas of this length.
        let one = unsafe { one.wrapping_add(place).read() };
        // SAFETY: as above.
        let other = unsafe { other.wrapping_add(place).read() };
        if one != other {
            return i32::from(one).wrapping_sub(i32::from(other));
        }
    }
    0
}

/// As `memset`, with the arguments in another order.
#[cfg(target_arch = "arm")]
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_aeabi_memset(to: *mut u8, length: usize, byte: i32) {
    // SAFETY: passed on.
    unsafe { countersink_memset(to, byte, length) };
}

#[cfg(target_arch = "arm")]
#[unsafe(no_mangle)]
unsafe extern "C" fn countersink_aeabi_memclr(to: *mut u8, length: usize) {
    // SAFETY: passed on.
    unsafe { countersink_memset(to, 0, length) };
}

/// # Safety
///
/// Both areas must have the place.
#[inline(always)]
unsafe fn copy_byte(to: *mut u8, from: *const u8, place: usize) {
    // SAFETY: promised by the caller.
    let byte = unsafe { from.wrapping_add(place).read() };
    // SAFETY: as above.
    unsafe { to.wrapping_add(place).write(byte) };
}
