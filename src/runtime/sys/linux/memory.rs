//! Memory: mappings of files and of nothing.
#![allow(unsafe_code)]

use core::ptr::{NonNull, null_mut};

use rustix::mm::{MapFlags, ProtFlags};

#[cfg(feature = "live")]
use super::File;
use super::{Errno, Result};

/// Maps `bytes` of zeroed memory that stays mapped.
pub fn map(bytes: usize) -> Result<NonNull<u8>> {
    let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    let flags = flags | MapFlags::NORESERVE;
    // SAFETY: an anonymous mapping at an address of the kernel's choice touches nothing that exists.
    let memory = unsafe { rustix::mm::mmap_anonymous(null_mut(), bytes, rights, flags) }?;
    NonNull::new(memory.cast()).ok_or(Errno::NOMEM)
}

/// Maps a file from an offset on, to be read and changed in memory only.
#[cfg(feature = "live")]
pub fn map_private(file: &File, offset: u64, bytes: usize) -> Result<NonNull<u8>> {
    let (rights, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a mapping at an address of the kernel's choice touches nothing that exists.
    let memory = unsafe { rustix::mm::mmap(null_mut(), bytes, rights, flags, file, offset) }?;
    NonNull::new(memory.cast()).ok_or(Errno::NOMEM)
}

/// Puts a file from an offset on, or zeroed memory, in the place of memory.
///
/// # Safety
///
/// It must be whole pages, of which nobody needs what is in them.
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
            unsafe { rustix::mm::mmap(place, bytes, rights, flags, file, offset) }.map(drop)
        }
        None => {
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            // SAFETY: promised by the caller.
            unsafe { rustix::mm::mmap_anonymous(place, bytes, rights, flags) }.map(drop)
        }
    }
}

/// Gives memory of [`map`] back.
///
/// # Safety
///
/// `memory` and `bytes` must be of one call of [`map`], and nobody may use the memory any more.
pub unsafe fn unmap(memory: NonNull<u8>, bytes: usize) {
    // SAFETY: promised by the caller.
    let _ = unsafe { rustix::mm::munmap(memory.as_ptr().cast(), bytes) };
}
