//! 64-bit counters for processors with only 32-bit atomic instructions: Cortex-M3 and M4, 32-bit RISC-V.
//!
//! A counter is two words in the processor's byte order, the layout of an `int64_t`. An operation that changes both
//! halves changes the low half first. An addition then adds the carry to the high half.
//!
//! * Additions by threads, interrupts and other processors lose nothing. Each carry is added once.
//! * A compare-and-exchange that changes one half is as good as a 64-bit one. After the change it compares the other
//!   half again. If the other half has changed, the operation reverts its own change and fails.
//! * A reader that interrupts an addition between the two halves misses the carry. The same is true of gcc's own two
//!   additions, and of libgcov's. A reader that is itself interrupted reads again.
//! * A store is two stores, as in gcc's own code. An interrupt between them can lose an event, or leave one carry too
//!   many or too few. This concerns counting without atomic instructions, and libgcov has the same limit.
//!
//! GCC selects counting without atomic instructions on all these processors, even with `-fprofile-update=atomic`.

use super::{AtomicU32, Ordering};

/// The ordering of every change, whatever ordering the caller asks for. One function for all orderings saves more than
/// the stronger ordering costs.
const ORDER: Ordering = Ordering::AcqRel;

/// The low half's place, then the high one's.
const PLACES: [usize; 2] = if cfg!(target_endian = "little") { [0, 1] } else { [1, 0] };

const fn low(value: u64) -> u32 {
    value as u32
}

const fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

const fn whole(low: u32, high: u32) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Two halves.
#[derive(Debug)]
#[repr(C, align(8))]
struct Halves([AtomicU32; 2]);

impl Halves {
    const fn new(value: u64) -> Self {
        let (low, high) = (low(value), high(value));
        let [first, second] = if PLACES[0] == 0 { [low, high] } else { [high, low] };
        Self([AtomicU32::new(first), AtomicU32::new(second)])
    }

    #[inline(always)]
    const fn low(&self) -> &AtomicU32 {
        &self.0[PLACES[0]]
    }

    #[inline(always)]
    const fn high(&self) -> &AtomicU32 {
        &self.0[PLACES[1]]
    }

    /// Reads the low half again if the high one has changed meanwhile.
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        let before = self.high().load(order);
        let low = self.low().load(order);
        let after = self.high().load(order);
        if before == after { whole(low, after) } else { whole(self.low().load(order), after) }
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        self.low().store(low(value), order);
        self.high().store(high(value), order);
    }

    fn swap(&self, value: u64) -> u64 {
        let before = self.low().swap(low(value), ORDER);
        whole(before, self.high().swap(high(value), ORDER))
    }

    fn fetch_add(&self, value: u64) -> u64 {
        let before = self.low().fetch_add(low(value), ORDER);
        let carry = u32::from(before.checked_add(low(value)).is_none());
        // Add even zero: the addition synchronises with all earlier changes of the high half.
        whole(before, self.high().fetch_add(high(value).wrapping_add(carry), ORDER))
    }

    fn fetch_and(&self, value: u64) -> u64 {
        let before = self.low().fetch_and(low(value), ORDER);
        whole(before, self.high().fetch_and(high(value), ORDER))
    }

    fn fetch_or(&self, value: u64) -> u64 {
        let before = self.low().fetch_or(low(value), ORDER);
        whole(before, self.high().fetch_or(high(value), ORDER))
    }

    fn compare_exchange(&self, current: u64, new: u64) -> Result<u64, u64> {
        let found = self.latest();
        if found != current {
            return Err(found);
        }
        let (low, high) = ((low(current), low(new)), (high(current), high(new)));
        let (first, (before, after), second, same) = match low.0 == low.1 {
            true => (self.high(), high, self.low(), low.0),
            false => (self.low(), low, self.high(), high.0),
        };
        if exchange(first, before, after) {
            // Exchanges the half for itself, to synchronise with all earlier changes by others.
            if exchange(second, same, same) {
                if low.0 != low.1 {
                    self.high().fetch_add(high.1.wrapping_sub(high.0), ORDER);
                }
                return Ok(current);
            }
            first.fetch_add(before.wrapping_sub(after), ORDER);
        }
        Err(self.latest())
    }

    /// The value after all changes so far. A load may return an older value.
    #[inline(never)]
    fn latest(&self) -> u64 {
        self.fetch_add(0)
    }

    fn fetch_update(&self, mut change: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut found = self.latest();
        while let Some(new) = change(found) {
            match self.compare_exchange(found, new) {
                Err(other) => found = other,
                done => return done,
            }
        }
        Err(found)
    }
}

#[inline(never)]
fn exchange(half: &AtomicU32, before: u32, after: u32) -> bool {
    half.compare_exchange(before, after, ORDER, Ordering::Acquire).is_ok()
}

macro_rules! numbers {
    ($($name:ident of $value:ty),*) => {$(
        /// Like `core`'s type of this name, with the limits described above.
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $name(Halves);

        #[allow(dead_code, reason = "each type has all of them, and some are for programs of one kind")]
        impl $name {
            /// A counter with this value.
            pub const fn new(value: $value) -> Self {
                Self(Halves::new(value as u64))
            }

            /// The value.
            #[inline(always)]
            pub fn load(&self, order: Ordering) -> $value {
                self.0.load(order) as $value
            }

            /// Sets the value.
            #[inline(always)]
            pub fn store(&self, value: $value, order: Ordering) {
                self.0.store(value as u64, order);
            }

            /// Sets the value and gives the one before.
            pub fn swap(&self, value: $value, _: Ordering) -> $value {
                self.0.swap(value as u64) as $value
            }

            /// Adds, and gives the value before.
            pub fn fetch_add(&self, value: $value, _: Ordering) -> $value {
                self.0.fetch_add(value as u64) as $value
            }

            /// Subtracts, and gives the value before.
            pub fn fetch_sub(&self, value: $value, _: Ordering) -> $value {
                self.0.fetch_add((value as u64).wrapping_neg()) as $value
            }

            /// Keeps these bits, and gives the value before.
            pub fn fetch_and(&self, value: $value, _: Ordering) -> $value {
                self.0.fetch_and(value as u64) as $value
            }

            /// Sets these bits, and gives the value before.
            pub fn fetch_or(&self, value: $value, _: Ordering) -> $value {
                self.0.fetch_or(value as u64) as $value
            }

            /// Sets the value if it is `current`.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                _: Ordering,
                _: Ordering,
            ) -> Result<$value, $value> {
                let done = self.0.compare_exchange(current as u64, new as u64);
                done.map(|value| value as $value).map_err(|value| value as $value)
            }

            /// Sets the value to the result of `change`. Calls `change` again if the value was changed in between,
            /// and fails if the result is `None`.
            pub fn fetch_update(
                &self,
                _: Ordering,
                _: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let change = |value: u64| change(value as $value).map(|value| value as u64);
                let done = self.0.fetch_update(change);
                done.map(|value| value as $value).map_err(|value| value as $value)
            }
        }
    )*};
}

numbers! { AtomicI64 of i64, AtomicU64 of u64 }

#[cfg(test)]
mod tests {
    use super::*;

    const RELAXED: Ordering = Ordering::Relaxed;

    #[test]
    fn a_counter_is_an_aligned_integer_of_64_bits() {
        let counter = AtomicI64::new(-0x1234_5678_9abc_def0);
        assert_eq!((size_of_val(&counter), align_of_val(&counter)), (8, 8));
        let words = counter.0.0.each_ref().map(|half| half.load(RELAXED));
        let [first, second] = words.map(u32::to_ne_bytes);
        let bytes: [u8; 8] = [first, second].concat().try_into().unwrap();
        assert_eq!(i64::from_ne_bytes(bytes), -0x1234_5678_9abc_def0);
    }

    #[test]
    fn changes_go_over_the_edge() {
        let counter = AtomicI64::new(0xffff_ffff);
        assert_eq!(counter.fetch_add(1, RELAXED), 0xffff_ffff);
        assert_eq!(counter.fetch_sub(1, RELAXED), 0x1_0000_0000);
        assert_eq!(counter.fetch_add(-0x1_0000_0000, RELAXED), 0xffff_ffff);
        assert_eq!(counter.fetch_add(i64::MAX, RELAXED), -1);
        assert_eq!(counter.load(RELAXED), i64::MAX - 1);
        assert_eq!(counter.swap(5, RELAXED), i64::MAX - 1);
        assert_eq!(counter.fetch_or(7 << 32, RELAXED), 5);
        assert_eq!(counter.fetch_and(3 << 32 | 1, RELAXED), 7 << 32 | 5);
        assert_eq!(counter.load(RELAXED), 3 << 32 | 1);
        let less = counter.fetch_update(RELAXED, RELAXED, |value| value.checked_sub(2));
        assert_eq!((less, counter.load(RELAXED)), (Ok(3 << 32 | 1), 2 << 32 | 0xffff_ffff));
        assert_eq!(counter.fetch_update(RELAXED, RELAXED, |_| None), Err(2 << 32 | 0xffff_ffff));
    }

    #[test]
    fn an_exchange_compares_both_halves() {
        let counter = AtomicU64::new(7 << 32 | 5);
        let exchange =
            |current, new| counter.compare_exchange(current, new, RELAXED, RELAXED).is_ok();
        for other in [7 << 32 | 6, 8 << 32 | 5, 5, 7] {
            assert!(!exchange(other, 0));
        }
        for (current, new) in [
            (7 << 32 | 5, 9 << 32 | 5),
            (9 << 32 | 5, 9 << 32 | 1),
            (9 << 32 | 1, 2),
            (2, 2),
            (2, u64::MAX),
        ] {
            assert!(exchange(current, new) && counter.load(RELAXED) == new, "{new:x}");
        }
    }
}
