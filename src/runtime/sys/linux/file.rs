//! Files, and the names they have.
#![allow(unsafe_code)]

use core::ffi::CStr;

#[cfg(target_arch = "x86")]
use super::x86 as rustix;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, RenameFlags, SeekFrom, Stat};
use syscalls::{Sysno, raw_syscall};

use super::{Errno, QuietWrites, Result, error_of};

/// An open file, closed when dropped.
///
/// rustix's own type is not used: without std it checks, with a panic, that a descriptor is not -1 each time
/// it is borrowed.
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
    /// For reading and writing. Makes the file, which must not be there yet, for its owner alone.
    Create,
    /// For reading and writing if it is there.
    Change,
    /// Only to ask what it is; a symbolic link itself.
    Itself,
}

/// Rights of a file that is for its owner alone.
pub const PRIVATE: u32 = 0o600;

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
    /// Number of names.
    pub links: u64,
    /// Length in bytes.
    pub size: u64,
    /// When it was last written, see [`super::nanoseconds`].
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
    #[allow(clippy::unnecessary_cast, reason = "not everywhere of these types")]
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
            links: stat.st_nlink as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as u64)
                .wrapping_mul(1_000_000_000)
                .wrapping_add(stat.st_mtime_nsec as u64),
        }
    }
}

/// 32-bit systems open files beyond 2 GiB only if asked to.
#[cfg(target_pointer_width = "32")]
const LARGE: rustix::fs::OFlags = rustix::fs::OFlags::LARGEFILE;
#[cfg(target_pointer_width = "64")]
const LARGE: rustix::fs::OFlags = rustix::fs::OFlags::empty();

/// Opens a file, not through a symbolic link. The descriptor is closed on exec.
#[inline(never)]
pub fn open(path: &CStr, access: Access) -> Result<File> {
    use rustix::fs::OFlags;
    let flags = match access {
        Access::Read => OFlags::RDONLY | OFlags::NONBLOCK,
        Access::Create => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
        Access::Change => OFlags::RDWR | OFlags::NONBLOCK,
        Access::Itself => OFlags::PATH,
    };
    let file = open_with(path, flags | OFlags::NOFOLLOW, PRIVATE)?;
    // Only what the mask took away: somebody may have got hold of the file, and finished it, by now.
    let lacks = |facts: Facts| facts.mode & PRIVATE != PRIVATE;
    if access == Access::Create && facts(&file).is_ok_and(lacks) {
        let _ = set_mode(&file, PRIVATE);
    }
    Ok(file)
}

#[inline(never)]
fn open_with(path: &CStr, flags: rustix::fs::OFlags, mode: u32) -> Result<File> {
    use rustix::fs::OFlags;
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY | LARGE;
    let (path, at) = (path.as_ptr(), rustix::fs::CWD);
    let at = rustix::fd::AsRawFd::as_raw_fd(&at) as isize;
    // SAFETY: openat reads the NUL-terminated path and changes no memory of ours.
    let result = unsafe { raw_syscall!(Sysno::openat, at, path, flags.bits(), mode) };
    let descriptor = result as i32;
    if descriptor < 0 {
        return Err(error_of(descriptor));
    }
    let file = File(descriptor);
    if descriptor > 2 { Ok(file) } else { above_standard(&file) }
}

/// The rights that a new file for everybody has in a directory: what the process's mask leaves of them, or the
/// directory's default list says.
#[inline(never)]
pub fn usual_mode(directory: &CStr) -> Option<u32> {
    use rustix::fs::OFlags;
    const EVERYBODY: u32 = 0o666;
    // A file without a name tells. Not all file systems have these.
    if let Ok(file) = open_with(directory, OFlags::TMPFILE | OFlags::WRONLY, EVERYBODY) {
        return Some(facts(&file).ok()?.mode);
    }
    let mut start = [0; 128];
    let status = open(c"/proc/self/status", Access::Read).ok()?;
    let length = read(&status, &mut start).ok()?;
    let lines = start.get(..length)?.split(|&byte| byte == b'\n');
    let digits = lines.into_iter().find_map(|line| line.strip_prefix(b"Umask:\t"))?;
    let mask = digits
        .iter()
        .try_fold(0, |mask, &digit| Some(mask << 3 | char::from(digit).to_digit(8)?))?;
    Some(EVERYBODY & !mask)
}

/// The same file under another number. Where a standard descriptor is closed, a file of ours must not catch
/// what the program or a message writes there.
fn above_standard(file: &File) -> Result<File> {
    const DUPFD_CLOEXEC: usize = 1030;
    // SAFETY: fcntl changes no memory.
    let result = unsafe { raw_syscall!(Sysno::fcntl, file.0, DUPFD_CLOEXEC, 3) } as i32;
    if result >= 0 {
        return Ok(File(result));
    }
    match error_of(result) {
        // So says the kernel where the limit is too low for any such number.
        Errno::INVAL => Err(Errno::MFILE),
        error => Err(error),
    }
}

/// How often a call is made again that a signal has interrupted. Nearly all signals wait, so it never comes to that.
const MOST_INTERRUPTIONS: u32 = 100;

/// Makes a call again if it was interrupted.
fn uninterrupted(mut call: impl FnMut() -> Result<usize>) -> Result<usize> {
    let mut result = call();
    for _ in 0..MOST_INTERRUPTIONS {
        if result != Err(Errno::INTR) {
            break;
        }
        result = call();
    }
    result
}

/// Reads until `into` is full or the file ends.
pub fn read(file: &File, into: &mut [u8]) -> Result<usize> {
    let mut length = 0;
    while let Some(free) = into.get_mut(length..).filter(|free| !free.is_empty()) {
        match uninterrupted(|| rustix::io::read(file, &mut *free))? {
            0 => break,
            now => length = length.wrapping_add(now),
        }
    }
    Ok(length)
}

/// Writes all of `bytes`.
pub fn write(file: &File, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        match uninterrupted(|| rustix::io::write(file, bytes))? {
            // Nobody would ever take the rest.
            0 => return Err(Errno::IO),
            now => bytes = bytes.get(now..).unwrap_or_default(),
        }
    }
    Ok(())
}

/// Writes to standard error if it takes a line at once: perhaps nobody is reading there.
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
#[inline(never)]
pub fn facts(file: &File) -> Result<Facts> {
    rustix::fs::fstat(file).map(Facts::from)
}

/// What a name stands for. A symbolic link stands for itself.
#[inline(never)]
pub fn facts_at(path: &CStr) -> Result<Facts> {
    rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map(Facts::from)
}

/// Takes the exclusive lock of a file if nobody holds it.
pub fn try_lock(file: &File) -> Result<()> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)
}

/// Gives the lock of a file back, also for every descriptor that a fork may have copied.
pub fn unlock(file: &File) {
    let _ = rustix::fs::flock(file, FlockOperation::Unlock);
}

/// Empties a file and goes to its start.
pub fn rewind(file: &File) -> Result<()> {
    // Skips files that are empty already: ext4 begins to write out a truncated file when it is closed.
    if facts(file)?.size > 0 {
        rustix::fs::ftruncate(file, 0)?;
    }
    rustix::fs::seek(file, SeekFrom::Start(0)).map(drop)
}

/// Goes back some bytes, to read them again.
pub fn step_back(file: &File, bytes: usize) -> Result<()> {
    rustix::fs::seek(file, SeekFrom::Current((bytes as i64).wrapping_neg())).map(drop)
}

/// The call that takes users and groups of 32 bits.
#[cfg(any(target_arch = "arm", target_arch = "x86"))]
const FCHOWN: Sysno = Sysno::fchown32;
#[cfg(not(any(target_arch = "arm", target_arch = "x86")))]
const FCHOWN: Sysno = Sysno::fchown;

/// Gives a file to a user and a group.
pub fn set_owner(file: &File, (user, group): (u32, u32)) -> Result<()> {
    // SAFETY: changes no memory.
    match unsafe { raw_syscall!(FCHOWN, file.0, user, group) } as i32 {
        0 => Ok(()),
        error => Err(error_of(error)),
    }
}

/// Sets the permission bits of a file.
#[inline(never)]
pub fn set_mode(file: &File, mode: u32) -> Result<()> {
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
}

/// Renames a file over whatever has the name.
#[inline(never)]
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    rustix::fs::renameat(CWD, from, CWD, to)
}

/// Gives a file a name that nothing has.
#[inline(never)]
pub fn rename_to_free(from: &CStr, to: &CStr) -> Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // NFS, and others that rename in one way only. Who makes such a name at this moment loses it.
        Err(Errno::INVAL | Errno::NOSYS) => match facts_at(to) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => rename(from, to),
            Err(error) => Err(error),
        },
        result => result,
    }
}

/// Exchanges the names of two files.
pub fn exchange(one: &CStr, other: &CStr) -> Result<()> {
    rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)
}

/// Removes a file.
#[inline(never)]
pub fn remove(path: &CStr) {
    let _ = rustix::fs::unlinkat(CWD, path, AtFlags::empty());
}

/// Makes a directory, with the rights that the process's mask leaves.
pub fn make_directory(path: &CStr) -> Result<()> {
    rustix::fs::mkdirat(CWD, path, Mode::from_raw_mode(0o777))
}

/// Reads entries of a directory, as consecutive `linux_dirent64`; gives their length, 0 at the end.
#[cfg(feature = "live")]
pub fn read_directory(directory: &File, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the kernel writes at most the length passed to where `into` starts.
    let result =
        unsafe { raw_syscall!(Sysno::getdents64, directory.0, into.as_mut_ptr(), into.len()) };
    let length = result as isize;
    if length < 0 { Err(error_of(length as i32)) } else { Ok(length as usize) }
}

/// Reads the target of a symbolic link, cut at the end of `into`; gives its length.
pub fn read_link(path: &CStr, into: &mut [u8]) -> Result<usize> {
    rustix::fs::readlinkat_raw(CWD, path, into)
}

/// The same of a link that is open itself.
pub fn read_open_link(link: &File, into: &mut [u8]) -> Result<usize> {
    rustix::fs::readlinkat_raw(link, c"", into)
}

/// Asks an open `/proc/self/maps` for the path of the file mapped at an address; gives its length.
#[inline(never)]
pub fn mapped_file(maps: &File, address: usize, into: &mut [u8]) -> Result<usize> {
    /// `struct procmap_query`: sizes and addresses of what goes in and comes out.
    #[repr(C)]
    #[derive(Default)]
    struct Query {
        size: u64,
        flags: u64,
        address: u64,
        mapping: [u64; 6],
        device: [u32; 2],
        name_size: u32,
        build_id_size: u32,
        name: u64,
        build_id: u64,
    }
    const QUERY: usize = 0xc068_6611;
    let mut query = Query {
        size: size_of::<Query>() as u64,
        address: address as u64,
        name_size: into.len() as u32,
        name: into.as_mut_ptr() as u64,
        ..Query::default()
    };
    // SAFETY: the kernel reads and writes one query, and writes at most the size of `into` where that starts.
    let result = unsafe { raw_syscall!(Sysno::ioctl, maps.0, QUERY, &raw mut query) } as i32;
    // The kernel's length includes the NUL; it is 0 without a name.
    match (result, (query.name_size as usize).checked_sub(1)) {
        (0, Some(length)) if into.first() == Some(&b'/') => Ok(length),
        (0, _) => Err(Errno::NOENT),
        (error, _) => Err(error_of(error)),
    }
}

/// Reads at an offset until `into` is full or the file ends; gives the length.
#[cfg(feature = "live")]
pub fn read_at(file: &File, into: &mut [u8], offset: u64) -> Result<usize> {
    let mut length = 0;
    while let Some(free) = into.get_mut(length..).filter(|free| !free.is_empty()) {
        let place = offset.wrapping_add(length as u64);
        match uninterrupted(|| rustix::io::pread(file, &mut *free, place))? {
            0 => break,
            now => length = length.wrapping_add(now),
        }
    }
    Ok(length)
}

/// Writes all of `bytes` at an offset.
#[cfg(feature = "live")]
pub fn write_at(file: &File, mut bytes: &[u8], mut offset: u64) -> Result<()> {
    while !bytes.is_empty() {
        match uninterrupted(|| rustix::io::pwrite(file, bytes, offset))? {
            0 => return Err(Errno::IO),
            now => {
                bytes = bytes.get(now..).unwrap_or_default();
                offset = offset.wrapping_add(now as u64);
            }
        }
    }
    Ok(())
}

/// Gives a file this length, with a hole at its end.
#[cfg(feature = "live")]
pub fn set_length(file: &File, length: u64) -> Result<()> {
    rustix::fs::ftruncate(file, length)
}

/// Gives a file this length, with reserved room and zeros at its end.
#[cfg(feature = "live")]
pub fn allocate(file: &File, length: u64) -> Result<()> {
    rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length)
}
