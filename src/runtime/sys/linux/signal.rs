//! Signals: what a program does on them, and which ones must wait.
#![allow(unsafe_code)]

use core::ffi::c_int;

use syscalls::{Sysno, raw_syscall};

use super::{Errno, Result, process, thread};

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
    /// Whether an instruction has failed and will fail again.
    pub fn is_fault(&self) -> bool {
        /// `SI_KERNEL`, from a terminal or timer. Signals that others send have 0 or less.
        const KERNEL: c_int = 0x80;
        /// `SIGSYS`: the refused system call is not made again.
        const SYS: c_int = 31;
        self.code > 0 && self.code != KERNEL && self.number != SYS
    }
}

/// 128 bytes, of the alignment that C has for them.
const MASK: usize = 128 / size_of::<usize>();

/// `struct sigaction` of glibc and musl, with room for what other libraries have behind it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    /// The handler's address, or one of the constants below.
    pub handler: usize,
    mask: [usize; MASK],
    flags: c_int,
    restorer: [usize; 2],
}

/// Sets what happens on a signal and gives what happened before, each if it is not NULL. This is `sigaction`
/// of the C library, which hands the kernel its own way back from handlers.
pub type SetAction = unsafe extern "C" fn(c_int, *const Action, *mut Action) -> c_int;

const RESETHAND: c_int = 1 << 31;

impl Action {
    /// `SIG_DFL`.
    pub const DEFAULT_HANDLER: usize = 0;
    /// `SIG_IGN`.
    pub const IGNORE_HANDLER: usize = 1;
    /// What the system does by itself.
    pub const DEFAULT: Self = Self { handler: 0, mask: [0; MASK], flags: 0, restorer: [0; 2] };

    /// Whether the handler is for one signal only: the system sets the default again before it runs.
    pub fn is_once(&self) -> bool {
        self.flags & RESETHAND != 0 && self.handler > Self::IGNORE_HANDLER
    }

    /// The same action with another handler, for one signal only or for all.
    pub fn once(self, is_once: bool, handler: usize) -> Self {
        let flags = if is_once { self.flags | RESETHAND } else { self.flags & !RESETHAND };
        Self { handler, flags, ..self }
    }

    /// The same action with another handler, on the stack for signals if the program has set one aside.
    /// Without a handler before, no system call was interrupted, and none is now.
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
pub fn action(set: SetAction, number: c_int, new: Option<&Action>) -> Result<Action> {
    let mut old = Action::DEFAULT;
    let new = new.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: libc reads and writes one structure each.
    match unsafe { set(number, new, &raw mut old) } {
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

/// Signals that the system sends to a writer when a write fails: SIGPIPE, SIGXFSZ.
const OF_WRITING: SignalSet = 1 << 12 | 1 << 24;
/// Signals of failing instructions, which cannot wait: ILL, TRAP, BUS, FPE, SEGV, SYS.
const OF_FAULTS: SignalSet = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 30;
/// C libraries change the user of all threads by these, and wait until each thread has done so.
const OF_LIBRARIES: SignalSet = 1 << 32 | 1 << 33;

/// Lets signals wait; gives those that waited before. Among those that cannot wait it holds back only
/// `others`, a set with bit 0 unused.
#[inline(never)]
pub fn block_signals(others: u64) -> SignalSet {
    let held_back = !(OF_FAULTS | OF_LIBRARIES) | others >> 1;
    let mut before = 0u64;
    // SAFETY: the kernel reads and writes one set of 8 bytes each.
    unsafe { raw_syscall!(Sysno::rt_sigprocmask, 0, &raw const held_back, &raw mut before, 8) };
    before
}

/// Lets only those signals wait that waited before [`block_signals`].
#[inline(never)]
pub fn unblock_signals(before: SignalSet) {
    // SAFETY: the kernel reads one set.
    unsafe { raw_syscall!(Sysno::rt_sigprocmask, 2, &raw const before, 0, 8) };
}

/// Lets signals wait while it lives, so that no handler finds a flush half done or leaves it so. Signals from
/// a failed write, which would end the program, never come.
pub struct QuietWrites {
    /// The signals that were blocked before.
    blocked: SignalSet,
    /// The blocked signals that were pending before and must stay so.
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
        /// Places in a `siginfo_t` of 128 bytes, in words: the code, and the sender's process id.
        const CODE: usize = 2;
        const SENDER: usize = if cfg!(target_pointer_width = "64") { 4 } else { 3 };
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
