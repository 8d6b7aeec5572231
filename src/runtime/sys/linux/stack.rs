//! Where the calling thread's stack is.
#![allow(unsafe_code)]

/// An address in the calling thread's stack.
#[inline(always)]
pub fn stack() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}

/// How far the calling thread's stack lies below an address.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn depth_below(mut address: usize) -> usize {
    // SAFETY: a subtraction. The address of a variable would need a place for it, in the hooks that programs call most.
    unsafe { core::arch::asm!("sub {}, rsp", inout(reg) address, options(nomem, nostack)) };
    address
}

/// How far the calling thread's stack lies below an address.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn depth_below(address: usize) -> usize {
    address.wrapping_sub(stack())
}
