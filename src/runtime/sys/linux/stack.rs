//! Where the calling thread's stack is.
#![allow(unsafe_code)]

/// An address in the calling thread's stack.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn stack() -> usize {
    let stack: usize;
    // SAFETY: reads a register. The address of a variable would need a place for it, in the hooks that programs call
    // most.
    unsafe {
        core::arch::asm!("mov {}, rsp", out(reg) stack, options(nomem, nostack, preserves_flags));
    }
    stack
}

/// An address in the calling thread's stack.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub fn stack() -> usize {
    let here = 0u8;
    (&raw const here).addr()
}
