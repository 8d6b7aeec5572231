//! Memory: mappings of files and of nothing.
#![allow(unsafe_code)]

use core::ptr::{NonNull, null_mut};

#[cfg(target_arch = "x86")]
use super::x86 as rustix;
use rustix::mm::{MapFlags, ProtFlags};

#[cfg(feature = "live")]
use super::File;
#[cfg(feature = "live")]
use super::error_of;
use super::{Errno, Result};
#[cfg(feature = "live")]
use syscalls::{Sysno, raw_syscall};

/// Maps `bytes` of zeroed memory that stays mapped.
pub fn map(bytes: usize) -> Result<NonNull<u8>> {
    let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    let flags = flags | MapFlags::NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let memory = unsafe { rustix::mm::mmap_anonymous(null_mut(), bytes, rights, flags) }?;
    NonNull::new(memory.cast()).ok_or(Errno::NOMEM)
}

/// Maps a file from an offset on, or zeroed memory, over existing memory.
///
/// # Safety
///
/// It must be whole pages, and nobody may need their content.
#[cfg(feature = "live")]
pub unsafe fn map_over(
    memory: NonNull<u8>,
    bytes: usize,
    file: Option<(&File, u64)>,
) -> Result<()> {
    let (place, rights) = (memory.as_ptr().cast(), ProtFlags::READ | ProtFlags::WRITE);
    match file {
        Some((file, offset)) => {
            let flags = MapFlags::SHARED | MapFlags::FIXED;
            // SAFETY: promised by the caller.
            unsafe { rustix::mm::mmap(place, bytes, rights, flags, file, offset) }?;
            // Otherwise the kernel reads 128 KiB ahead for each page.
            // SAFETY: advice, which changes no memory.
            let _ = unsafe { rustix::mm::madvise(place, bytes, rustix::mm::Advice::Random) };
            Ok(())
        }
        None => {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: promised by the caller.
            unsafe { rustix::mm::mmap_anonymous(place, bytes, rights, flags) }.map(drop)
        }
    }
}

#[cfg(feature = "live")]
const POPULATE_WRITE: usize = 23;

/// Whether the system has [`populate`]: Linux from 5.14 on.
#[cfg(feature = "live")]
pub fn can_populate() -> bool {
    // SAFETY: it concerns no bytes.
    unsafe { raw_syscall!(Sysno::madvise, 0, 0, POPULATE_WRITE) == 0 }
}

/// Makes sure that there is memory behind addresses, and room on the disk if they are a file's.
///
/// # Safety
///
/// They must be mapped for writing.
#[cfg(feature = "live")]
#[inline(never)]
pub unsafe fn populate(address: usize, bytes: usize) -> Result<()> {
    const PAGE: usize = 4096;
    let start = address & !(PAGE - 1);
    let length = address.wrapping_sub(start).wrapping_add(bytes);
    // SAFETY: promised by the caller; what is in the memory stays.
    match unsafe { raw_syscall!(Sysno::madvise, start, length, POPULATE_WRITE) } as i32 {
        0 => Ok(()),
        error => Err(error_of(error)),
    }
}

/// Gives memory of [`map`] back.
///
/// # Safety
///
/// `memory` and `bytes` must come from one call of [`map`], and nobody may use the memory any more.
pub unsafe fn unmap(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: promised by the caller.
    let _ = unsafe { rustix::mm::munmap(memory.as_ptr().cast(), bytes) };
}
