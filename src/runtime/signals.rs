//! Signals on which counts are written, if the user asks for it: `COUNTERSINK_ON_SIGNAL=TERM,SEGV,...`
//!
//! The handler writes and then does what would have happened without it: it calls the handler that was there
//! before, or takes the default action. A signal that was ignored stays so. A signal that does nothing by
//! default just writes and goes on. A handler that the program sets later takes the place of ours.
//!
//! In a program linked with `countersink flags --wrap-signal` ours comes back when such a handler has done
//! its work and lets the signal end the program. Where the program sets the default action, ours is set.
//! Where its handler is for one signal only, ours runs before the default. When the program asks, it hears
//! nothing of ours.
//!
//! While a flush runs, signals wait in its thread (see [`super::sys::QuietWrites`]), so a handler finds the
//! flush done and not half done for ever.
#![allow(unsafe_code)]

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::message::Line;
use super::sys::{self, Action, Errno, Handler, SetAction, SignalInfo};

/// Names by number, from 1 on, without `SIG`.
const NAMES: &[u8] =
    b"HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT \
CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS";
const MOST_SIGNALS: usize = 32;
/// Signals that do nothing by default, as a set: CHLD, CONT, URG, WINCH.
const HARMLESS: u64 = 1 << 17 | 1 << 18 | 1 << 23 | 1 << 28;

/// What is to happen besides our handler.
pub struct Signals {
    /// The actions before ours, by number.
    before: UnsafeCell<[Action; MOST_SIGNALS]>,
    /// The signals that the program has set to the default since.
    defaults: AtomicU64,
    /// The program's handlers for one signal only, by number.
    once: [AtomicUsize; MOST_SIGNALS],
}

/// Our own handlers, and how they are set.
#[derive(Clone, Copy)]
pub struct Ours {
    /// The C library's `sigaction`.
    pub set: SetAction,
    /// Writes the counts, and does what would have happened: [`Signals::go_on`].
    pub last: Handler,
    /// Calls the program's handler for one signal only: [`Signals::call_once`].
    pub once: Handler,
}

// SAFETY: a constructor writes `before` for each signal before its handler is there. Afterwards it is only
// read.
unsafe impl Sync for Signals {}

impl Ours {
    fn action(&self, number: c_int, new: Option<&Action>) -> Result<Action, Errno> {
        sys::action(self.set, number, new)
    }
}

impl Signals {
    /// Nothing changed yet.
    pub const fn new() -> Self {
        Self {
            before: UnsafeCell::new([Action::DEFAULT; MOST_SIGNALS]),
            defaults: AtomicU64::new(0),
            once: [const { AtomicUsize::new(0) }; MOST_SIGNALS],
        }
    }

    /// Sets our handler for the signals of a list and gives their set. To be called from a constructor.
    pub fn catch(&self, list: &[u8], ours: Ours) -> u64 {
        let (mut caught, mut wrong) = (0, None);
        for name in list.split(|byte| b", ".contains(byte)).filter(|name| !name.is_empty()) {
            match number_of(name).filter(|&number| self.set(number, ours)) {
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

    /// Takes back what is still ours, for an image that goes.
    pub fn release(&self, caught: u64, ours: Ours) {
        for number in (1..MOST_SIGNALS).filter(|number| caught >> number & 1 != 0) {
            let Ok(now) = ours.action(number as c_int, None) else { continue };
            let without = self.without(number, now, ours, self.once(number));
            if without.handler != now.handler {
                let _ = ours.action(number as c_int, Some(&without));
            }
        }
    }

    /// Does what the program asks of `sigaction`, and gives the action before as if ours did not exist.
    /// Passes signals that are not `caught` on unchanged.
    ///
    /// Two threads may set handlers of one signal at the same time, one of them for one signal only. Then the
    /// latter may be called in the way of the other.
    pub fn wrapped(
        &self,
        caught: u64,
        number: c_int,
        new: Option<&Action>,
        ours: Ours,
    ) -> Result<Action, Errno> {
        let place = number as usize;
        if place >= MOST_SIGNALS || caught >> place & 1 == 0 {
            return ours.action(number, new);
        }
        let once = self.once(place);
        let new = new.map(|&new| match new.handler {
            Action::DEFAULT_HANDLER => self.default(place, ours),
            handler if new.is_once() => {
                if let Some(once) = self.once.get(place) {
                    once.store(handler, Ordering::Relaxed);
                }
                new.once(false, ours.once as usize)
            }
            _ => new,
        });
        ours.action(number, new.as_ref()).map(|before| self.without(place, before, ours, once))
    }

    /// Our action in place of the default.
    fn default(&self, number: usize, ours: Ours) -> Action {
        self.defaults.fetch_or(1 << number, Ordering::Relaxed);
        Action::DEFAULT.with(ours.last)
    }

    /// The action that the program or the system set, without ours.
    fn without(&self, number: usize, now: Action, ours: Ours, once: usize) -> Action {
        match now.handler {
            handler if handler == ours.last as usize => self.before(number),
            handler if handler == ours.once as usize => now.once(true, once),
            _ => now,
        }
    }

    /// Calls the program's handler for one signal only. Then ours comes before the default.
    ///
    /// # Safety
    ///
    /// Only for the handler, with its own arguments.
    pub unsafe fn call_once(
        &self,
        number: c_int,
        info: *const SignalInfo,
        context: *const u8,
        ours: Ours,
    ) {
        let handler = self.once(number as usize);
        let _ = ours.action(number, Some(&self.default(number as usize, ours)));
        // SAFETY: it was set as a handler; it ignores the arguments it does not want.
        let handler = unsafe { core::mem::transmute::<usize, Handler>(handler) };
        handler(number, info, context);
    }

    /// Does what would have happened without us.
    ///
    /// # Safety
    ///
    /// Only for the handler, with its own arguments.
    pub unsafe fn go_on(
        &self,
        number: c_int,
        info: *const SignalInfo,
        context: *const u8,
        ours: Ours,
    ) {
        let before = self.before(number as usize);
        match before.handler {
            Action::DEFAULT_HANDLER if HARMLESS >> number & 1 != 0 => {}
            Action::DEFAULT_HANDLER => {
                let _ = ours.action(number, Some(&Action::DEFAULT));
                // A fault happens again by itself, with all that a debugger wants to know.
                // SAFETY: the system passes a good one.
                if !unsafe { &*info }.is_fault() {
                    sys::raise(number);
                }
            }
            handler => {
                // SAFETY: it was set as a handler; it ignores the arguments it does not want.
                let handler = unsafe { core::mem::transmute::<usize, Handler>(handler) };
                handler(number, info, context);
            }
        }
    }

    fn set(&self, number: usize, ours: Ours) -> bool {
        let Ok(before) = ours.action(number as c_int, None) else { return false };
        if before.handler == Action::IGNORE_HANDLER {
            return true;
        }
        // SAFETY: no handler reads this place yet, and constructors run one after the other.
        if let Some(place) = unsafe { &mut *self.before.get() }.get_mut(number) {
            *place = before;
        }
        ours.action(number as c_int, Some(&before.with(ours.last))).is_ok()
    }

    fn once(&self, number: usize) -> usize {
        self.once.get(number).map_or(0, |handler| handler.load(Ordering::Relaxed))
    }

    fn before(&self, number: usize) -> Action {
        if self.defaults.load(Ordering::Relaxed) >> (number % MOST_SIGNALS) & 1 != 0 {
            return Action::DEFAULT;
        }
        // SAFETY: see `Sync`.
        unsafe { &*self.before.get() }.get(number).copied().unwrap_or(Action::DEFAULT)
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
