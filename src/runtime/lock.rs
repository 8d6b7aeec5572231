//! One flush, reset or fork at a time in a process.
//!
//! A word that holds the owner. Nobody waits for ever, and never for itself: a signal handler on
//! top of the owner is told so at once. An owner of another process is a thread that a fork left
//! behind in the parent; the child takes the lock over.

use core::sync::atomic::{AtomicU64, Ordering};

use super::sys::{self, Errno};

/// The lock, free at first.
pub struct Lock(AtomicU64);

const FREE: u64 = 0;
const FIRST_PAUSE: u32 = 50;
const LONGEST_PAUSE: u32 = 5_000;
/// With pauses of at most 5 ms, about a minute.
const ATTEMPTS: u32 = 12_000;

impl Lock {
    /// A lock nobody owns.
    pub const fn new() -> Self {
        Self(AtomicU64::new(FREE))
    }

    /// Waits for the lock. `BUSY` if the calling thread owns it, or nobody gives it up.
    pub fn acquire(&self) -> Result<Guard<'_>, Errno> {
        let me = caller();
        let mut pauses = Pauses::new();
        for _ in 0..ATTEMPTS {
            let owner = self.0.load(Ordering::Relaxed);
            if owner == me {
                return Err(Errno::BUSY);
            }
            let free = owner == FREE || !same_process(owner, me);
            let (yes, no) = (Ordering::Acquire, Ordering::Relaxed);
            if free && self.0.compare_exchange(owner, me, yes, no).is_ok() {
                return Ok(Guard(self));
            }
            pauses.pause();
        }
        Err(Errno::BUSY)
    }

    /// Frees the lock if the calling thread owns it.
    pub fn release_own(&self) {
        let (yes, no) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.0.compare_exchange(caller(), FREE, yes, no);
    }

    /// Frees the lock whoever owns it: in a child that has no other threads.
    pub fn release_inherited(&self) {
        self.0.store(FREE, Ordering::Release);
    }
}

impl Default for Lock {
    fn default() -> Self {
        Self::new()
    }
}

/// The right to be the only one; given up when dropped.
pub struct Guard<'l>(&'l Lock);

impl Guard<'_> {
    /// Keeps the lock until [`Lock::release_own`] or [`Lock::release_inherited`].
    pub fn keep(self) {
        core::mem::forget(self);
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.0.0.store(FREE, Ordering::Release);
    }
}

/// Growing pauses between attempts.
pub struct Pauses(u32);

impl Pauses {
    /// The first pause is short.
    pub const fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    /// Waits, longer each time.
    pub fn pause(&mut self) {
        sys::sleep(self.0);
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self::new()
    }
}

fn caller() -> u64 {
    u64::from(sys::process()) << 32 | u64::from(sys::thread())
}

fn same_process(a: u64, b: u64) -> bool {
    a >> 32 == b >> 32
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
    fn a_lock_of_another_process_is_taken_over() {
        let lock = Lock(AtomicU64::new(1 << 32 | 1));
        assert!(lock.acquire().is_ok());
    }
}
