//! Calls of rustix for 32-bit x86, under rustix's names.
//!
//! There rustix itself calls the kernel through a function that the kernel maps into the process. It searches for it
//! at the first call, with a panic path. The old interrupt takes longer, and needs nothing.
#![allow(unsafe_code)]

use syscalls::{Sysno, raw_syscall};

use super::{Errno, Result, error_of};

/// What a call returned, or its error.
fn result(returned: usize) -> Result<usize> {
    match returned as isize {
        -4095..=-1 => Err(error_of(returned as i32)),
        _ => Ok(returned),
    }
}

/// The halves of a number of 64 bits, as calls take it.
fn halves(value: u64) -> (u32, u32) {
    (value as u32, (value >> 32) as u32)
}

/// Descriptors.
pub mod fd {
    pub use rustix::fd::{AsFd, AsRawFd, BorrowedFd};
}

/// Reading and writing.
pub mod io {
    use super::fd::{AsFd, AsRawFd};
    use super::*;

    /// Closes a descriptor.
    ///
    /// # Safety
    ///
    /// Nobody may use it any more.
    pub unsafe fn close(descriptor: i32) {
        // SAFETY: promised by the caller.
        unsafe { raw_syscall!(Sysno::close, descriptor) };
    }

    /// Reads bytes.
    pub fn read(file: impl AsFd, into: &mut [u8]) -> Result<usize> {
        let file = file.as_fd().as_raw_fd();
        // SAFETY: the kernel writes at most the length passed to where `into` starts.
        result(unsafe { raw_syscall!(Sysno::read, file, into.as_mut_ptr(), into.len()) })
    }

    /// Writes bytes.
    pub fn write(file: impl AsFd, bytes: &[u8]) -> Result<usize> {
        let file = file.as_fd().as_raw_fd();
        // SAFETY: the kernel reads the length passed from where `bytes` starts.
        result(unsafe { raw_syscall!(Sysno::write, file, bytes.as_ptr(), bytes.len()) })
    }

    /// Reads bytes at an offset.
    #[cfg(feature = "live")]
    pub fn pread(file: impl AsFd, into: &mut [u8], offset: u64) -> Result<usize> {
        let (file, place, length) = (file.as_fd().as_raw_fd(), into.as_mut_ptr(), into.len());
        let (low, high) = halves(offset);
        // SAFETY: the kernel writes at most the length passed to where `into` starts.
        result(unsafe { raw_syscall!(Sysno::pread64, file, place, length, low, high) })
    }

    /// Writes bytes at an offset.
    #[cfg(feature = "live")]
    pub fn pwrite(file: impl AsFd, bytes: &[u8], offset: u64) -> Result<usize> {
        let (file, place, length) = (file.as_fd().as_raw_fd(), bytes.as_ptr(), bytes.len());
        let (low, high) = halves(offset);
        // SAFETY: the kernel reads the length passed from where `bytes` starts.
        result(unsafe { raw_syscall!(Sysno::pwrite64, file, place, length, low, high) })
    }
}

/// Files and names.
pub mod fs {
    use core::ffi::CStr;

    #[cfg(feature = "live")]
    pub use rustix::fs::FallocateFlags;
    pub use rustix::fs::{
        AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, RenameFlags, SeekFrom,
    };

    use super::fd::{AsFd, AsRawFd};
    use super::*;

    /// `struct stat64`, whose times end in 2106.
    #[repr(C, packed(4))]
    #[derive(Clone, Copy, Default)]
    pub struct Stat {
        /// Device.
        pub st_dev: u64,
        _pad: u32,
        _short_ino: u32,
        /// Kind and permission bits.
        pub st_mode: u32,
        /// Number of names.
        pub st_nlink: u32,
        /// User.
        pub st_uid: u32,
        /// Group.
        pub st_gid: u32,
        _rdev: u64,
        _pad_3: u32,
        /// Length in bytes.
        pub st_size: i64,
        _block_size: u32,
        _blocks: u64,
        _accessed: [u32; 2],
        /// Seconds since 1970 of the last change.
        pub st_mtime: u32,
        /// And nanoseconds.
        pub st_mtime_nsec: u32,
        _changed: [u32; 2],
        /// Inode.
        pub st_ino: u64,
    }

    const _: () = assert!(size_of::<Stat>() == 96);

    fn descriptor(file: impl AsFd) -> i32 {
        file.as_fd().as_raw_fd()
    }

    /// What an open file is.
    pub fn fstat(file: impl AsFd) -> Result<Stat> {
        let mut stat = Stat::default();
        // SAFETY: the kernel writes one structure.
        let done = unsafe { raw_syscall!(Sysno::fstat64, descriptor(file), &raw mut stat) };
        result(done).map(|_| stat)
    }

    /// What a name stands for.
    pub fn statat(directory: impl AsFd, path: &CStr, flags: AtFlags) -> Result<Stat> {
        let (mut stat, directory, path) = (Stat::default(), descriptor(directory), path.as_ptr());
        let (into, flags) = (&raw mut stat, flags.bits());
        // SAFETY: the kernel reads a name that ends with NUL, and writes one structure.
        let done = unsafe { raw_syscall!(Sysno::fstatat64, directory, path, into, flags) };
        result(done).map(|_| stat)
    }

    /// Takes or gives back a lock.
    pub fn flock(file: impl AsFd, operation: FlockOperation) -> Result<()> {
        // SAFETY: changes no memory.
        result(unsafe { raw_syscall!(Sysno::flock, descriptor(file), operation as u32) }).map(drop)
    }

    /// Gives a file a length.
    pub fn ftruncate(file: impl AsFd, length: u64) -> Result<()> {
        let (low, high) = halves(length);
        // SAFETY: changes no memory.
        result(unsafe { raw_syscall!(Sysno::ftruncate64, descriptor(file), low, high) }).map(drop)
    }

    /// Goes to a place in a file, seen from its start or from here.
    pub fn seek(file: impl AsFd, to: SeekFrom) -> Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(offset) => (offset, 0),
            SeekFrom::Current(offset) => (offset as u64, 1),
            _ => return Err(Errno::INVAL),
        };
        let ((low, high), mut place) = (halves(offset), 0u64);
        let (file, into) = (descriptor(file), &raw mut place);
        // SAFETY: the kernel writes one number.
        let done = unsafe { raw_syscall!(Sysno::_llseek, file, high, low, into, whence) };
        result(done).map(|_| place)
    }

    /// Sets the permission bits of a file.
    pub fn fchmod(file: impl AsFd, mode: Mode) -> Result<()> {
        // SAFETY: changes no memory.
        result(unsafe { raw_syscall!(Sysno::fchmod, descriptor(file), mode.bits()) }).map(drop)
    }

    /// Renames a file.
    pub fn renameat(from: impl AsFd, old: &CStr, to: impl AsFd, new: &CStr) -> Result<()> {
        let (from, to) = (descriptor(from), descriptor(to));
        // SAFETY: the kernel reads two names that end with NUL.
        let done = unsafe { raw_syscall!(Sysno::renameat, from, old.as_ptr(), to, new.as_ptr()) };
        result(done).map(drop)
    }

    /// Renames a file in a way of its own.
    pub fn renameat_with(
        from: impl AsFd,
        old: &CStr,
        to: impl AsFd,
        new: &CStr,
        flags: RenameFlags,
    ) -> Result<()> {
        let (from, to, flags) = (descriptor(from), descriptor(to), flags.bits());
        let (old, new) = (old.as_ptr(), new.as_ptr());
        // SAFETY: the kernel reads two names that end with NUL.
        result(unsafe { raw_syscall!(Sysno::renameat2, from, old, to, new, flags) }).map(drop)
    }

    /// Removes a name.
    pub fn unlinkat(directory: impl AsFd, path: &CStr, flags: AtFlags) -> Result<()> {
        let (directory, path, flags) = (descriptor(directory), path.as_ptr(), flags.bits());
        // SAFETY: the kernel reads a name that ends with NUL.
        result(unsafe { raw_syscall!(Sysno::unlinkat, directory, path, flags) }).map(drop)
    }

    /// Makes a directory.
    pub fn mkdirat(directory: impl AsFd, path: &CStr, mode: Mode) -> Result<()> {
        let (directory, path, mode) = (descriptor(directory), path.as_ptr(), mode.bits());
        // SAFETY: the kernel reads a name that ends with NUL.
        result(unsafe { raw_syscall!(Sysno::mkdirat, directory, path, mode) }).map(drop)
    }

    /// Reads the target of a symbolic link.
    pub fn readlinkat_raw(directory: impl AsFd, path: &CStr, into: &mut [u8]) -> Result<usize> {
        let (directory, path) = (descriptor(directory), path.as_ptr());
        let (place, length) = (into.as_mut_ptr(), into.len());
        // SAFETY: the kernel reads a name that ends with NUL, and writes at most the length passed.
        result(unsafe { raw_syscall!(Sysno::readlinkat, directory, path, place, length) })
    }

    /// Reserves room for a file.
    #[cfg(feature = "live")]
    pub fn fallocate(
        file: impl AsFd,
        mode: FallocateFlags,
        offset: u64,
        length: u64,
    ) -> Result<()> {
        let (file, mode) = (descriptor(file), mode.bits());
        let ((low, high), (length, longer)) = (halves(offset), halves(length));
        // SAFETY: changes no memory.
        let done = unsafe { raw_syscall!(Sysno::fallocate, file, mode, low, high, length, longer) };
        result(done).map(drop)
    }
}

/// Memory.
pub mod mm {
    use core::ffi::c_void;

    #[cfg(feature = "live")]
    pub use rustix::mm::Advice;
    pub use rustix::mm::{MapFlags, ProtFlags};

    #[cfg(feature = "live")]
    use super::fd::{AsFd, AsRawFd};
    use super::*;

    /// Maps zeroed memory.
    ///
    /// # Safety
    ///
    /// If it is to be at a certain place, nobody may need what is there.
    pub unsafe fn mmap_anonymous(
        place: *mut c_void,
        length: usize,
        rights: ProtFlags,
        flags: MapFlags,
    ) -> Result<*mut c_void> {
        const ANONYMOUS: u32 = 0x20;
        let (rights, flags) = (rights.bits(), flags.bits() | ANONYMOUS);
        // SAFETY: promised by the caller.
        let done = unsafe { raw_syscall!(Sysno::mmap2, place, length, rights, flags, -1isize, 0) };
        result(done).map(|address| address as *mut c_void)
    }

    /// Maps a file from an offset on.
    ///
    /// # Safety
    ///
    /// If it is to be at a certain place, nobody may need what is there.
    #[cfg(feature = "live")]
    pub unsafe fn mmap(
        place: *mut c_void,
        length: usize,
        rights: ProtFlags,
        flags: MapFlags,
        file: impl AsFd,
        offset: u64,
    ) -> Result<*mut c_void> {
        /// The call counts in pages.
        const PAGE: u64 = 4096;
        let (rights, flags, file) = (rights.bits(), flags.bits(), file.as_fd().as_raw_fd());
        let page = (offset / PAGE) as u32;
        // SAFETY: promised by the caller.
        let done = unsafe { raw_syscall!(Sysno::mmap2, place, length, rights, flags, file, page) };
        result(done).map(|address| address as *mut c_void)
    }

    /// Advises the kernel.
    ///
    /// # Safety
    ///
    /// Advice that changes memory needs memory that nobody needs.
    #[cfg(feature = "live")]
    pub unsafe fn madvise(place: *mut c_void, length: usize, advice: Advice) -> Result<()> {
        // SAFETY: promised by the caller.
        result(unsafe { raw_syscall!(Sysno::madvise, place, length, advice as u32) }).map(drop)
    }

    /// Gives memory back.
    ///
    /// # Safety
    ///
    /// Nobody may use it any more.
    pub unsafe fn munmap(place: *mut c_void, length: usize) -> Result<()> {
        // SAFETY: promised by the caller.
        result(unsafe { raw_syscall!(Sysno::munmap, place, length) }).map(drop)
    }
}
