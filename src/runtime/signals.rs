//! Signals on which counts are written, if the user asks for it: `COUNTERSINK_ON_SIGNAL=TERM,SEGV,...`
//!
//! The handler writes and then does what would have happened without it: calls the handler that was
//! there before, or takes the default action. A signal that was ignored stays so, one that does
//! nothing by default just writes and goes on. A handler that the program sets later takes the
//! place of ours.
//!
//! While a flush runs, signals wait in its thread (see [`super::sys::QuietWrites`]): the flush is done
//! when a handler comes, and not half done for ever.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::ffi::c_int;

use super::message::Line;
use super::sys::{self, Action, Handler, SignalInfo};

/// Names by number, from 1 on, without `SIG`.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT \
CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";
const MOST: usize = 32;
/// Signals that do nothing by default, as a set: CHLD, CONT, URG, WINCH.
const HARMLESS: u64 = 1 << 17 | 1 << 18 | 1 << 23 | 1 << 28;

/// What was to happen before ours, by number.
pub struct Signals(UnsafeCell<[Action; MOST]>);

// SAFETY: written by a constructor, for each signal before its handler is there; then only read.
unsafe impl Sync for Signals {}

impl Signals {
    /// Nothing changed yet.
    pub const fn new() -> Self {
        Self(UnsafeCell::new([Action::DEFAULT; MOST]))
    }

    /// Sets `handler` for the signals of a list; gives their set. To be called from a constructor.
    pub fn catch(&self, list: &[u8], handler: Handler) -> u64 {
        let (mut caught, mut wrong) = (0, None);
        for name in list.split(|byte| b", ".contains(byte)).filter(|name| !name.is_empty()) {
            match number_of(name).filter(|&number| self.set(number, handler)) {
                Some(number) => caught |= 1 << number,
                None => wrong = wrong.or(Some(name)),
            }
        }
        if let Some(name) = wrong {
            let mut line = Line::about(b"COUNTERSINK_ON_SIGNAL");
            line.text(name).text(b" is no name of a signal that can be caught; ignored").print();
        }
        caught
    }

    /// Sets back what is ours still, for an image that goes.
    pub fn release(&self, caught: u64, handler: Handler) {
        for number in (1..MOST).filter(|number| caught >> number & 1 != 0) {
            let now = sys::action(number as c_int, None);
            if now.is_ok_and(|now| now.handler == handler as usize) {
                let _ = sys::action(number as c_int, Some(&self.before(number)));
            }
        }
    }

    /// Does what would have happened.
    ///
    /// # Safety
    ///
    /// Only for the handler, with its own arguments.
    pub unsafe fn go_on(&self, number: c_int, info: *const SignalInfo, context: *const u8) {
        let before = self.before(number as usize);
        match before.handler {
            Action::DEFAULT_HANDLER if HARMLESS >> number & 1 != 0 => {}
            Action::DEFAULT_HANDLER => {
                let _ = sys::action(number, Some(&Action::DEFAULT));
                // A fault happens again by itself, with all that a debugger wants to know.
                // SAFETY: the system passes a good one.
                if !unsafe { &*info }.is_fault() {
                    sys::raise(number);
                }
            }
            handler => {
                // SAFETY: a handler that was set as one; what it does not want it does not see.
                let handler = unsafe { core::mem::transmute::<usize, Handler>(handler) };
                handler(number, info, context);
            }
        }
    }

    fn set(&self, number: usize, handler: Handler) -> bool {
        let Ok(before) = sys::action(number as c_int, None) else { return false };
        if before.handler == Action::IGNORE_HANDLER {
            return true;
        }
        // SAFETY: no handler reads this place yet, and constructors run one after the other.
        if let Some(place) = unsafe { &mut *self.0.get() }.get_mut(number) {
            *place = before;
        }
        sys::action(number as c_int, Some(&before.with(handler))).is_ok()
    }

    fn before(&self, number: usize) -> Action {
        // SAFETY: see `Sync`.
        unsafe { &*self.0.get() }.get(number).copied().unwrap_or(Action::DEFAULT)
    }
}

impl Default for Signals {
    fn default() -> Self {
        Self::new()
    }
}

/// The number of a signal, with or without `SIG`.
fn number_of(name: &[u8]) -> Option<usize> {
    let name = match name.split_first_chunk() {
        Some((b"SIG", name)) => name,
        _ => name,
    };
    let place = NAMES.split(|&byte| byte == b' ').position(|known| known == name)?;
    Some(place.wrapping_add(1))
}
