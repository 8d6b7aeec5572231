//! One flush, reset or fork at a time in a process.
//!
//! A word holds the owner. Nobody waits for ever, and never for itself: the handler of a fault on top of the
//! owner hears so at once. A thread that has just had the lock lets others go first.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::sys::{self, Errno};

/// The lock, free at first.
pub struct Lock {
    owner: AtomicU64,
    waiting: AtomicU32,
}

const FREE: u64 = 0;
/// The longest wait for others, in microseconds.
const PATIENCE: u32 = 60_000_000;
const FIRST_PAUSE: u32 = 50;
/// With longer first pauses, the last few of a hundred that wait for a few milliseconds of work each would be
/// asleep when their turn comes.
const LONGEST_FIRST_PAUSE: u32 = 4_000;
const LONGEST_PAUSE: u32 = 20_000;
/// A pause may be as long as the wait so far divided by this: after a long wait a little more does not
/// matter.
const SHARE: u32 = 128;

impl Lock {
    /// A lock nobody owns.
    pub const fn new() -> Self {
        Self { owner: AtomicU64::new(FREE), waiting: AtomicU32::new(0) }
    }

    /// Waits for the lock. `BUSY` if the calling thread owns it or nobody gives it up.
    pub fn acquire(&self) -> Result<Guard<'_>, Errno> {
        let me = caller();
        if self.waiting.load(Ordering::Relaxed) == 0 && self.try_acquire(me) {
            return Ok(Guard(self));
        }
        if self.owner.load(Ordering::Relaxed) == me {
            return Err(Errno::BUSY);
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let mut pauses = Pauses::within(PATIENCE);
        let mut acquired = false;
        while !acquired && pauses.pause() {
            acquired = self.try_acquire(me);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        if acquired { Ok(Guard(self)) } else { Err(Errno::BUSY) }
    }

    fn try_acquire(&self, me: u64) -> bool {
        let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
        self.owner.compare_exchange(FREE, me, yes, no).is_ok()
    }

    /// Frees the lock if the calling thread owns it.
    pub fn release_own(&self) {
        let (yes, no) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.owner.compare_exchange(caller(), FREE, yes, no);
    }

    /// Frees the lock whoever owns it, in a child that has no other threads.
    pub fn release_inherited(&self) {
        self.waiting.store(0, Ordering::Relaxed);
        self.owner.store(FREE, Ordering::Release);
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

/// The right to be the only one; dropping it gives it up.
pub struct Guard<'l>(&'l Lock);

impl Guard<'_> {
    /// Keeps the lock until [`Lock::release_own`] or [`Lock::release_inherited`].
    pub fn keep(self) {
        core::mem::forget(self);
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.owner.store(FREE, Ordering::Release);
    }
}

/// Growing pauses between attempts.
pub struct Pauses {
    next: u32,
    waited: u32,
    patience: u32,
}

impl Pauses {
    /// Pauses of this many microseconds in all. The first one is short.
    pub const fn within(patience: u32) -> Self {
        Self { next: FIRST_PAUSE, waited: 0, patience }
    }

    /// Microseconds waited so far.
    pub const fn waited(&self) -> u32 {
        self.waited
    }

    /// Waits, longer each time; `false`, at once, if there is no more patience.
    pub fn pause(&mut self) -> bool {
        if self.waited >= self.patience {
            return false;
        }
        sys::sleep(self.next);
        self.waited = self.waited.saturating_add(self.next);
        let longest = (self.waited / SHARE).clamp(LONGEST_FIRST_PAUSE, LONGEST_PAUSE);
        self.next = (2 * self.next).min(longest);
        true
    }
}

fn caller() -> u64 {
    u64::from(sys::process()) << 32 | u64::from(sys::thread())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_is_told_and_others_wait() {
        let lock = Lock::new();
        let guard = lock.acquire().ok();
        assert_eq!(lock.acquire().err(), Some(Errno::BUSY));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| lock.acquire().is_ok());
            drop(guard);
            assert!(other.join().unwrap());
        });
    }

    #[test]
    fn in_a_child_the_lock_is_free() {
        let lock = Lock { owner: AtomicU64::new(1 << 32 | 1), waiting: AtomicU32::new(3) };
        lock.release_inherited();
        assert!(lock.acquire().is_ok());
    }

    /// A thread that takes the lock again and again does not keep another from it.
    #[test]
    fn others_go_first() {
        let (lock, stop) = (Lock::new(), core::sync::atomic::AtomicBool::new(false));
        std::thread::scope(|scope| {
            let greedy = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    drop(lock.acquire());
                }
            });
            for _ in 0..20 {
                assert!(lock.acquire().is_ok());
            }
            stop.store(true, Ordering::Relaxed);
            greedy.join().unwrap();
        });
    }
}
