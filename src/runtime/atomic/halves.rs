//! 64-bit counters for processors whose atomic instructions change 32 bits: Cortex-M3 and M4, 32-bit RISC-V.
//!
//! A counter is two words in the processor's order, as the compiler lays out an `int64_t`. One that changes both
//! halves changes the low one first. What goes over its edge is then added to the high half.
//!
//! * Additions lose nothing, whoever adds: threads, interrupts or other processors. Each carry is added once.
//! * An exchange that compares is as good as a whole one, for a change of one half: it looks at the other half
//!   once more when it has changed this one. If the other half is no longer what it was, it takes the change
//!   back and fails.
//! * A reader that interrupts an addition between both halves finds the carry missing. So does a reader of gcc's
//!   own two additions, and a reader of libgcov's. A reader that is interrupted itself reads again.
//! * A store is two stores. An interrupt between them, or between gcc's own, can lose an event or leave a carry
//!   too much or too little: in counting without atomic instructions, and so with libgcov, too.
//!
//! GCC selects counting without atomic instructions on all these processors, even with `-fprofile-update=atomic`.

use super::{AtomicU32, Ordering};

/// Of all changes, whatever is asked for: one function for all saves more than it costs.
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
        // Even if there is nothing to add: whoever has changed the high half before is known from here on.
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
        let found = self.last();
        if found != current {
            return Err(found);
        }
        let (low, high) = ((low(current), low(new)), (high(current), high(new)));
        let (first, (before, after), second, same) = match low.0 == low.1 {
            true => (self.high(), high, self.low(), low.0),
            false => (self.low(), low, self.high(), high.0),
        };
        if exchange(first, before, after) {
            // For itself: all that others have done before is known then.
            if exchange(second, same, same) {
                if low.0 != low.1 {
                    self.high().fetch_add(high.1.wrapping_sub(high.0), ORDER);
                }
                return Ok(current);
            }
            first.fetch_add(before.wrapping_sub(after), ORDER);
        }
        Err(self.last())
    }

    /// The value after all changes so far, where a load may give an older one.
    #[inline(never)]
    fn last(&self) -> u64 {
        self.fetch_add(0)
    }

    fn fetch_update(&self, mut change: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        let mut found = self.last();
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
        /// As `core`'s type of this name, see above.
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

            /// Changes the value as long as `change` gives another.
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
