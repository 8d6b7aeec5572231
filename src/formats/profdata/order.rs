//! The orders of `llvm-profdata`'s hash tables in memory. They show in its files: up to LLVM 16 in the order in
//! which names go into the table of the file, and in the order of the records of one name. They differ between
//! releases.

use alloc::vec;
use alloc::vec::Vec;

use super::Version;

/// Places in a table of open addressing, each with the number of what is there.
struct Slots(Vec<Option<u32>>);

impl Slots {
    fn new(size: usize) -> Self {
        Self(vec![None; size])
    }

    /// Takes the first free place for a hash.
    fn put(&mut self, number: u32, hash: u32) {
        let mask = self.0.len() - 1;
        let (mut place, mut step) = (hash as usize & mask, 1);
        while self.0[place].is_some() {
            place = (place + step) & mask;
            step += 1;
        }
        self.0[place] = Some(number);
    }

    /// Makes the table larger.
    fn grow(&mut self, size: usize, hash: impl Fn(u32) -> u32) {
        let old = core::mem::replace(self, Self::new(size));
        for number in old.numbers() {
            self.put(number, hash(number));
        }
    }

    fn numbers(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().flatten()
    }
}

/// The order in which names go into the table of the file. They are given in the order in which they came.
pub(super) fn of_names(names: &[&[u8]], version: Version) -> Vec<u32> {
    if version.has_sorted_names() {
        let mut numbers: Vec<u32> = (0..names.len() as u32).collect();
        numbers.sort_unstable_by_key(|&number| names[number as usize]);
        return numbers;
    }
    let hashes: Vec<u32> = names.iter().map(|name| hash_of_name(name)).collect();
    let hash = |number: u32| hashes[number as usize];
    let mut slots = Slots::new(16);
    for number in 0..names.len() as u32 {
        slots.put(number, hash(number));
        if 4 * (number as usize + 1) > 3 * slots.0.len() {
            slots.grow(2 * slots.0.len(), hash);
        }
    }
    slots.numbers().collect()
}

/// The order of the records of one name with these hashes. They are given in the order in which they came.
pub(super) fn of_records(hashes: &[u64], version: Version) -> Vec<u32> {
    const LEAST_GROWN: usize = 64;
    let hash = |number: u32| hash_of_record(hashes[number as usize], version);
    let mut slots = Slots::new(4);
    for number in 0..hashes.len() as u32 {
        if 4 * (number as usize + 1) >= 3 * slots.0.len() {
            slots.grow(LEAST_GROWN.max(2 * slots.0.len()), hash);
        }
        slots.put(number, hash(number));
    }
    slots.numbers().collect()
}

fn hash_of_name(name: &[u8]) -> u32 {
    name.iter().fold(0, |hash: u32, &byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

const fn hash_of_record(hash: u64, version: Version) -> u32 {
    if !version.has_mixed_hashes() {
        return hash.wrapping_mul(37) as u32;
    }
    let product = hash.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (product ^ product >> 31) as u32
}
