//! The random numbers of `llvm-profdata`: MT19937 (Matsumoto and Nishimura, 1998) from its usual seed, and a fair
//! choice from a range as GCC's standard library makes it since version 11 (Lemire, 2019).

use alloc::vec::Vec;

const WORDS: usize = 624;
const MIDDLE: usize = 397;
const SEED: u32 = 5489;

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Twister {
    /// None before the first number is wanted.
    words: Vec<u32>,
    next: usize,
}

impl Default for Twister {
    fn default() -> Self {
        Self { words: Vec::new(), next: WORDS }
    }
}

impl Twister {
    /// A number below `end`, each with the same chance.
    pub fn below(&mut self, end: u64) -> u64 {
        let Ok(end) = u32::try_from(end) else {
            // No stream has so many runs.
            let both = u64::from(self.number()) << 32 | u64::from(self.number());
            return ((u128::from(both) * u128::from(end)) >> 64) as u64;
        };
        let mut product = u64::from(self.number()) * u64::from(end);
        if (product as u32) < end {
            // Some products would come once more than others.
            let surplus = end.wrapping_neg() % end.max(1);
            while (product as u32) < surplus {
                product = u64::from(self.number()) * u64::from(end);
            }
        }
        product >> 32
    }

    /// Shuffles: each element in turn changes places with one of those from it on.
    pub fn shuffle<T>(&mut self, all: &mut [T]) {
        for place in 0..all.len().saturating_sub(1) {
            let left = all.len() - place;
            all.swap(place, place + self.number() as usize % left);
        }
    }

    /// The next number.
    fn number(&mut self) -> u32 {
        if self.next == WORDS {
            self.refill();
        }
        let mut word = self.words[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= word << 7 & 0x9d2c_5680;
        word ^= word << 15 & 0xefc6_0000;
        word ^ word >> 18
    }

    fn refill(&mut self) {
        if self.words.is_empty() {
            let mut word = SEED;
            self.words.push(word);
            for place in 1..WORDS as u32 {
                word = 1_812_433_253u32.wrapping_mul(word ^ word >> 30).wrapping_add(place);
                self.words.push(word);
            }
        }
        let words = &mut self.words;
        for place in 0..WORDS {
            let mixed = words[place] & 1 << 31 | words[(place + 1) % WORDS] & !(1 << 31);
            let odd = if mixed & 1 == 1 { 0x9908_b0df } else { 0 };
            words[place] = words[(place + MIDDLE) % WORDS] ^ mixed >> 1 ^ odd;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C++ standard names the number that comes as the 10,000th.
    #[test]
    fn the_numbers_are_those_of_the_standard() {
        let mut twister = Twister::default();
        (1..10_000).for_each(|_| _ = twister.number());
        assert_eq!(twister.number(), 4_123_659_995);
    }

    #[test]
    fn numbers_stay_below_the_end() {
        let mut twister = Twister::default();
        for end in [1, 2, 3, 100, u64::from(u32::MAX), 1 << 32, u64::MAX] {
            assert!((0..1000).all(|_| twister.below(end) < end), "{end}");
        }
    }
}
