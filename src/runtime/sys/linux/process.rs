//! What a process knows about itself, its machine and the time.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_ulong};

use syscalls::{Sysno, raw_syscall};

use super::{Result, error_of};

/// Reads the path of the working directory; gives its length.
pub fn working_directory(into: &mut [u8]) -> Result<usize> {
    // SAFETY: the kernel writes at most the length passed to where `into` starts.
    let result = unsafe { raw_syscall!(Sysno::getcwd, into.as_mut_ptr(), into.len()) };
    let length = result as isize;
    if length < 0 {
        return Err(error_of(length as i32));
    }
    // The kernel's length includes the NUL.
    Ok((length as usize).saturating_sub(1))
}

/// Calls `with` with the machine's name.
#[cfg(target_arch = "x86")]
pub fn with_host<R>(with: impl FnOnce(&[u8]) -> R) -> R {
    /// `struct utsname`: six strings, the second is the name.
    const FIELD: usize = 65;
    let mut fields = [0u8; 6 * FIELD];
    // SAFETY: the kernel writes one structure.
    unsafe { raw_syscall!(Sysno::uname, &raw mut fields) };
    let name = fields.get(FIELD..2 * FIELD).unwrap_or_default();
    with(name.split(|&byte| byte == 0).next().unwrap_or_default())
}

/// Calls `with` with the machine's name.
#[cfg(not(target_arch = "x86"))]
pub fn with_host<R>(with: impl FnOnce(&[u8]) -> R) -> R {
    with(rustix::system::uname().nodename().to_bytes())
}

/// Id of this process.
#[cfg(target_arch = "x86")]
pub fn process() -> u32 {
    // SAFETY: changes no memory.
    unsafe { raw_syscall!(Sysno::getpid) as u32 }
}

/// Id of this thread.
#[cfg(target_arch = "x86")]
pub fn thread() -> u32 {
    // SAFETY: changes no memory.
    unsafe { raw_syscall!(Sysno::gettid) as u32 }
}

/// Id of this process.
#[cfg(not(target_arch = "x86"))]
pub fn process() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get() as u32
}

/// Id of this thread.
#[cfg(not(target_arch = "x86"))]
pub fn thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get() as u32
}

/// Waits.
#[cfg(target_arch = "x86")]
pub fn sleep(microseconds: u32) {
    let time = [0, microseconds.min(999_999).wrapping_mul(1000)];
    // SAFETY: the kernel reads two words.
    unsafe { raw_syscall!(Sysno::nanosleep, &raw const time, 0) };
}

/// Waits.
#[cfg(not(target_arch = "x86"))]
pub fn sleep(microseconds: u32) {
    let nanoseconds = i64::from(microseconds.min(999_999)) * 1000;
    let time = rustix::thread::Timespec { tv_sec: 0, tv_nsec: nanoseconds };
    let _ = rustix::thread::nanosleep(&time);
}

/// Nanoseconds since 1970.
#[cfg(target_pointer_width = "64")]
pub fn nanoseconds() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two words.
    unsafe { raw_syscall!(Sysno::clock_gettime, 0, &raw mut time) };
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// Nanoseconds since 1970.
#[cfg(target_pointer_width = "32")]
pub fn nanoseconds() -> u64 {
    let mut time = [0u64; 2];
    // SAFETY: the kernel writes two numbers of 64 bits.
    let result = unsafe { raw_syscall!(Sysno::clock_gettime64, 0, &raw mut time) };
    // Linux before 5.1 does not know it.
    if result as i32 != 0 {
        let mut words = [0u32; 2];
        // SAFETY: the kernel writes two words.
        unsafe { raw_syscall!(Sysno::clock_gettime, 0, &raw mut words) };
        time = words.map(u64::from);
    }
    time[0].wrapping_mul(1_000_000_000).wrapping_add(time[1])
}

/// The call that gives a user of 32 bits.
#[cfg(any(target_arch = "arm", target_arch = "x86"))]
const GETEUID: Sysno = Sysno::geteuid32;
#[cfg(not(any(target_arch = "arm", target_arch = "x86")))]
const GETEUID: Sysno = Sysno::geteuid;

/// The user whose rights this process has, and to whom its new files belong.
pub fn user() -> u32 {
    // SAFETY: changes no memory.
    unsafe { raw_syscall!(GETEUID) as u32 }
}

unsafe extern "C" {
    safe fn getauxval(number: c_ulong) -> c_ulong;
}

/// Whether the process had more rights than its starter when it began: set-user-ID, set-group-ID, capabilities of
/// its file, or what a security module says. The kernel tells each process so, beyond the reach of its starter.
pub fn has_more_rights() -> bool {
    /// `AT_GID`, `AT_EGID`, `AT_SECURE`.
    const TOLD: [c_ulong; 3] = [13, 14, 23];
    let [group, effective_group, secure] = TOLD.map(|kind| getauxval(kind));
    secure != 0 || has_other_user() || group != effective_group
}

/// Whether the process began as another user than its starter: set-user-ID.
pub fn has_other_user() -> bool {
    /// `AT_UID`, `AT_EUID`.
    const TOLD: [c_ulong; 2] = [11, 12];
    let [user, effective_user] = TOLD.map(|kind| getauxval(kind));
    user != effective_user
}

/// Value of an environment variable, as it stands now. None in a program with more rights than its starter:
/// the starter must not choose its files.
///
/// # Safety
///
/// Nobody may change the environment meanwhile. To be called before the program's own code runs.
pub unsafe fn environment(name: &CStr) -> Option<&'static CStr> {
    unsafe extern "C" {
        fn secure_getenv(name: *const c_char) -> *const c_char;
    }
    // SAFETY: a name that ends with NUL; nobody changes the environment meanwhile.
    let value = unsafe { secure_getenv(name.as_ptr()) };
    // SAFETY: libc gives NULL or a string that ends with NUL.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}
