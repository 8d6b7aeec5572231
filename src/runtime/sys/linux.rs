//! Linux, by raw system calls.
//!
//! rustix makes them without libc; what it does not offer in a form without heap or panic path,
//! `openat`, `getcwd`, and signals, goes through the `syscalls` crate.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_int};
use core::ptr::{NonNull, null_mut};

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, RenameFlags, SeekFrom, Stat};
use rustix::mm::{MapFlags, ProtFlags};
use syscalls::{Sysno, raw_syscall};

pub use rustix::io::Errno;

/// Result of a system call.
pub type Result<T> = core::result::Result<T, Errno>;

/// An open file, closed when dropped.
///
/// rustix's own type is not used because without std it checks, with a panic, that a descriptor is
/// not -1 each time it is borrowed.
#[derive(Debug)]
pub struct File(i32);

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // Never negative, see `open`; masked so that the compiler knows it, too.
        let descriptor = self.0 & i32::MAX;
        // SAFETY: open until `self` is dropped.
        unsafe { BorrowedFd::borrow_raw(descriptor) }
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: this value owns the descriptor, and is gone after this.
        unsafe { rustix::io::close(self.0) };
    }
}

/// How to open a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// For reading; never waits, not even for the other end of a fifo.
    Read,
    /// For reading and writing, created if missing, not through a symbolic link.
    Create,
    /// For reading and writing if it is there, not through a symbolic link.
    Change,
}

/// Which file a name or descriptor stands for, and what is worth keeping of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Device and inode.
    pub identity: (u64, u64),
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// Length in bytes.
    pub size: u64,
    /// When it was last written, see [`nanoseconds`].
    pub modified: u64,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An ordinary file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, fifo or socket.
    Other,
}

impl Facts {
    /// [`Errno::ISDIR`] or [`Errno::NXIO`] if it is anything else.
    pub fn must_be_a_file(&self) -> Result<()> {
        match self.kind {
            Kind::File => Ok(()),
            Kind::Directory => Err(Errno::ISDIR),
            Kind::Link | Kind::Other => Err(Errno::NXIO),
        }
    }
}

impl From<Stat> for Facts {
    fn from(stat: Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        };
        Self {
            identity: (stat.st_dev, stat.st_ino),
            kind,
            mode: stat.st_mode & 0o7777,
            owner: (stat.st_uid, stat.st_gid),
            size: stat.st_size as u64,
            modified: (stat.st_mtime as u64)
                .wrapping_mul(1_000_000_000)
                .wrapping_add(stat.st_mtime_nsec),
        }
    }
}

/// The error that a system call, or a function that follows its convention, returned as a negative
/// number.
pub fn error_of(result: i32) -> Errno {
    match result {
        // Looked at here so that the check inside, and its panic, goes.
        -4095..=-1 => Errno::from_raw_os_error(-result),
        _ => Errno::INVAL,
    }
}

/// Opens a file. The descriptor is closed on exec.
pub fn open(path: &CStr, access: Access) -> Result<File> {
    use rustix::fs::OFlags;
    let flags = match access {
        Access::Read => OFlags::RDONLY | OFlags::NONBLOCK,
        Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW,
        Access::Change => OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK,
    };
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    let (path, at) = (path.as_ptr(), rustix::fs::CWD);
    let at = rustix::fd::AsRawFd::as_raw_fd(&at) as isize;
    // SAFETY: openat reads the NUL-terminated path and changes no memory of ours.
    let result = unsafe { raw_syscall!(Sysno::openat, at, path, flags.bits(), 0o666) };
    let descriptor = result as i32;
    if descriptor < 0 {
        return Err(error_of(descriptor));
    }
    let file = File(descriptor);
    if descriptor > 2 { Ok(file) } else { above_standard(&file) }
}

/// The same file with another number: where a standard descriptor is closed, what the program or a
/// message writes there must not come into a file of ours.
fn above_standard(file: &File) -> Result<File> {
    const DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: fcntl changes no memory.
    let result = unsafe { raw_syscall!(Sysno::fcntl, file.0, DUPFD_CLOEXEC, 3) } as i32;
    if result < 0 { Err(error_of(result)) } else { Ok(File(result)) }
}

/// Reads until `into` is full or the file ends.
pub fn read(file: &File, into: &mut [u8]) -> Result<usize> {
    let mut length = 0;
    while let Some(free) = into.get_mut(length..).filter(|free| !free.is_empty()) {
        match rustix::io::read(file, free) {
            Ok(0) => break,
            Ok(now) => length = length.wrapping_add(now),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Writes all of `bytes`.
pub fn write(file: &File, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(now) => bytes = bytes.get(now..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes to standard error, if it takes a line at once: nobody may be reading there.
pub fn complain(bytes: &[u8]) {
    /// `struct pollfd` with its descriptor, the events asked for and those found.
    #[repr(C)]
    struct Poll(i32, u16, u16);
    const WRITABLE: u16 = 4;
    let _quiet = QuietWrites::new(0);
    let (mut poll, at_once) = (Poll(2, WRITABLE, 0), [0u64; 2]);
    let (poll, at_once) = (&raw mut poll, &raw const at_once);
    // SAFETY: the kernel reads a time, and reads and writes one `struct pollfd`.
    if unsafe { raw_syscall!(Sysno::ppoll, poll, 1, at_once, 0, 8) as isize } <= 0 {
        return;
    }
    // SAFETY: descriptor 2 is only borrowed for one write; if it is not open the write fails.
    let stderr = unsafe { rustix::fd::BorrowedFd::borrow_raw(2) };
    let _ = rustix::io::write(stderr, bytes);
}

/// What an open file is.
pub fn facts(file: &File) -> Result<Facts> {
    rustix::fs::fstat(file).map(Facts::from)
}

/// What a name stands for, a symbolic link for itself.
pub fn facts_at(path: &CStr) -> Result<Facts> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map(Facts::from)
}

/// Takes the exclusive lock of a file if nobody holds it.
pub fn try_lock(file: &File) -> Result<()> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Gives the lock of a file back, for every descriptor a fork may have copied.
pub fn unlock(file: &File) {
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

/// Empties a file and goes to its start.
pub fn rewind(file: &File) -> Result<()> {
    // Not for nothing: ext4 begins to write out what was truncated when it is closed.
    if facts(file)?.size > 0 {
        rustix::fs::ftruncate(file, 0)?;
    }
    rustix::fs::seek(file, SeekFrom::Start(0)).map(drop)
}

/// Goes back some bytes, which will be read again.
pub fn step_back(file: &File, bytes: usize) -> Result<()> {
    rustix::fs::seek(file, SeekFrom::Current((bytes as i64).wrapping_neg())).map(drop)
}

/// Gives a file to a user and a group.
pub fn set_owner(file: &File, (user, group): (u32, u32)) -> Result<()> {
    // SAFETY: changes no memory.
    match unsafe { raw_syscall!(Sysno::fchown, file.0, user, group) } as i32 {
        0 => Ok(()),
        error => Err(error_of(error)),
    }
}

/// Sets the permission bits of a file.
pub fn set_mode(file: &File, mode: u32) -> Result<()> {
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
}

/// Renames a file over whatever has the name.
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    rustix::fs::renameat(CWD, from, CWD, to)
}

/// Exchanges the names of two files.
pub fn exchange(one: &CStr, other: &CStr) -> Result<()> {
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// Removes a file.
pub fn remove(path: &CStr) {
    let _ = rustix::fs::unlinkat(CWD, path, AtFlags::empty());
}

/// Makes a directory.
pub fn make_directory(path: &CStr) -> Result<()> {
    rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o777))
}

/// Reads the target of a symbolic link, cut at the end of `into`; gives its length.
pub fn read_link(path: &CStr, into: &mut [u8]) -> Result<usize> {
    rustix::fs::readlinkat_raw(CWD, path, into)
}

/// Reads the path of the working directory; gives its length.
pub fn working_directory(into: &mut [u8]) -> Result<usize> {
    // SAFETY: the kernel writes at most the length passed to where `into` starts.
    let result = unsafe { raw_syscall!(Sysno::getcwd, into.as_mut_ptr(), into.len()) };
    let length = result as isize;
    if length < 0 {
        return Err(error_of(length as i32));
    }
    // What the kernel counts includes the NUL.
    Ok((length as usize).saturating_sub(1))
}

/// Calls `with` with the machine's name.
pub fn with_host<R>(with: impl FnOnce(&[u8]) -> R) -> R {
    with(rustix::system::uname().nodename().to_bytes())
}

/// Id of this process.
pub fn process() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get() as u32
}

/// Id of this thread.
pub fn thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Waits.
pub fn sleep(microseconds: u32) {
    let nanoseconds = i64::from(microseconds.min(999_999)) * 1000;
    let time = rustix::thread::Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    let _ = rustix::thread::nanosleep(&time);
}

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

/// Reads at an offset until `into` is full or the file ends; gives the length.
#[cfg(feature = "live")]
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> Result<usize> {
    rustix::io::pread(file, into, offset)
}

/// Writes all of `bytes` at an offset.
#[cfg(feature = "live")]
pub fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(file, bytes, offset) {
            Ok(now) => {
                bytes = bytes.get(now..).unwrap_or_default();
                offset = offset.wrapping_add(now as u64);
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Makes a file so long, with zeros at its end for which there is room.
#[cfg(feature = "live")]
pub fn allocate(file: &File, length: u64) -> Result<()> {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length)
}

/// Nanoseconds since 1970.
pub fn nanoseconds() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two words.
    unsafe { raw_syscall!(Sysno::clock_gettime, 0, &raw mut time) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
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

/// Value of an environment variable, as it stands now. None in a program with more rights than who
/// started it: those must not reach files of the starter's choice.
///
/// # Safety
///
/// Nobody may change the environment meanwhile: to be called before the program's own code runs.
pub unsafe fn environment(name: &CStr) -> Option<&'static CStr> {
    unsafe extern "C" {
        fn secure_getenv(name: *const c_char) -> *const c_char;
    }
    // SAFETY: a name that ends with NUL; nobody changes the environment meanwhile.
    let value = unsafe { secure_getenv(name.as_ptr()) };
    // SAFETY: libc gives NULL or a string that ends with NUL.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}

/// A signal handler.
pub type Handler = extern "C" fn(c_int, *const SignalInfo, *const u8);

/// The start of a `siginfo_t`.
#[repr(C)]
pub struct SignalInfo {
    number: c_int,
    error: c_int,
    code: c_int,
}

impl SignalInfo {
    /// Whether an instruction has failed, which will fail again.
    pub fn is_fault(&self) -> bool {
        /// `SI_KERNEL`, of a terminal or timer; what others send is 0 or less.
        const KERNEL: c_int = 0x80;
        /// `SIGSYS`: the system call that was refused is not made again.
        const SYS: c_int = 31;
        self.code > 0 && self.code != KERNEL && self.number != SYS
    }
}

/// `struct sigaction` of glibc and musl, and room for what others have behind it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    /// Its address, or one of the constants below.
    pub handler: usize,
    mask: [u64; 16],
    flags: c_int,
    restorer: [usize; 2],
}

impl Action {
    /// `SIG_DFL`.
    pub const DEFAULT_HANDLER: usize = 0;
    /// `SIG_IGN`.
    pub const IGNORE_HANDLER: usize = 1;
    /// What the system does by itself.
    pub const DEFAULT: Self = Self { handler: 0, mask: [0; 16], flags: 0, restorer: [0; 2] };

    /// The same with another handler, on the stack that the program has set aside for such, if any.
    /// Where no handler was, no system call was interrupted either.
    pub fn with(mut self, handler: Handler) -> Self {
        const SIGINFO: c_int = 4;
        const ONSTACK: c_int = 0x0800_0000;
        const RESTART: c_int = 0x1000_0000;
        self.flags |= SIGINFO | ONSTACK;
        if self.handler == Self::DEFAULT_HANDLER {
            self.flags |= RESTART;
        }
        self.handler = handler as usize;
        self
    }
}

/// Sets what happens on a signal, if anything is to change; gives what happened before.
#[inline(never)]
pub fn action(number: c_int, new: Option<&Action>) -> Result<Action> {
    unsafe extern "C" {
        fn sigaction(number: c_int, new: *const Action, old: *mut Action) -> c_int;
    }
    let mut old = Action::DEFAULT;
    let new = new.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: libc reads and writes one structure each.
    match unsafe { sigaction(number, new, &raw mut old) } {
        0 => Ok(old),
        _ => Err(Errno::INVAL),
    }
}

/// Sends a signal to the calling thread.
pub fn raise(number: c_int) {
    // SAFETY: changes no memory.
    unsafe { raw_syscall!(Sysno::tgkill, process(), thread(), number) };
}

/// A set of signals, number N at bit N - 1.
type SignalSet = u64;

/// Signals that the system sends to who writes where writing fails: SIGPIPE, SIGXFSZ.
const OF_WRITING: SignalSet = 1 << 12 | 1 << 24;
/// Signals of instructions that fail, which cannot wait: ILL, TRAP, BUS, FPE, SEGV, SYS.
const OF_FAULTS: SignalSet = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 30;
/// Those by which C libraries change the user of all threads, and wait until each has done so.
const OF_LIBRARIES: SignalSet = 1 << 32 | 1 << 33;

/// Lets signals wait; gives those that did before. Of those that cannot wait only `others`, a set with
/// bit 0 unused, do.
#[inline(never)]
pub fn block_signals(others: u64) -> SignalSet {
    let held_back = !(OF_FAULTS | OF_LIBRARIES) | others >> 1;
    let mut before = 0u64;
    // SAFETY: the kernel reads and writes one set of 8 bytes each.
    unsafe { raw_syscall!(Sysno::rt_sigprocmask, 0, &raw const held_back, &raw mut before, 8) };
    before
}

/// Lets those signals wait that did before [`block_signals`], and no others.
#[inline(never)]
pub fn unblock_signals(before: SignalSet) {
    // SAFETY: the kernel reads one set.
    unsafe { raw_syscall!(Sysno::rt_sigprocmask, 2, &raw const before, 0, 8) };
}

/// Lets signals wait while it lives, so that no handler finds a flush half done, or leaves it so; those
/// by which a write that fails would end the program never come.
pub struct QuietWrites {
    /// Blocked signals before.
    blocked: SignalSet,
    /// Those of them that were waiting before and must go on waiting.
    pending: SignalSet,
}

impl QuietWrites {
    /// Begins. `others` as for [`block_signals`].
    #[inline(never)]
    pub fn new(others: u64) -> Self {
        let blocked = block_signals(others);
        let mut pending = 0u64;
        // SAFETY: the kernel writes one set of 8 bytes.
        unsafe { raw_syscall!(Sysno::rt_sigpending, &raw mut pending, 8) };
        Self { blocked, pending }
    }
}

impl Drop for QuietWrites {
    #[inline(never)]
    fn drop(&mut self) {
        /// Where in a `siginfo_t` of 128 bytes the code and the sender's process id are.
        const CODE: usize = 2;
        const SENDER: usize = 4;
        let (ours, at_once) = (OF_WRITING & !self.pending, [0u64; 2]);
        let (mut info, mut of_others) = ([0u32; 32], [None; 4]);
        for place in &mut of_others {
            let (set, info_place) = (&raw const ours, &raw mut info);
            let at_once = &raw const at_once;
            // SAFETY: the kernel reads a set and a time, and writes what is known of a signal.
            let number =
                unsafe { raw_syscall!(Sysno::rt_sigtimedwait, set, info_place, at_once, 8) };
            if (number as isize) <= 0 {
                break;
            }
            let of_a_write = info[CODE] == 0 && info[SENDER] == process();
            *place = Some(number as c_int).filter(|_| !of_a_write);
        }
        for number in of_others.into_iter().flatten() {
            // SAFETY: changes no memory.
            unsafe { raw_syscall!(Sysno::kill, process(), number) };
        }
        unblock_signals(self.blocked);
    }
}
