//! The hash table: the bucket of each name, and the order of the items in a bucket.
//!
//! Readers accept any order. We write that of `llvm-profdata`: names go in one by one, each before those that are
//! in its bucket already. The table starts with 64 buckets and doubles when three quarters are full. At the end it
//! gets its final size. Each change of size moves the items bucket by bucket.

use alloc::vec;
use alloc::vec::Vec;

/// Buckets at the start.
const FIRST_SIZE: usize = 64;
/// Ends a chain.
const END: u32 = u32::MAX;

/// The items of each bucket. An item is a name's number, in the order in which the names went in.
#[derive(Clone, Debug)]
pub struct Table {
    /// First item of each bucket.
    first: Vec<u32>,
    /// For each item the next one of its bucket.
    next: Vec<u32>,
}

impl Table {
    /// The table of the names with these hashes.
    pub fn of(hashes: &[u64]) -> Self {
        let mut table =
            Self { first: vec![END; FIRST_SIZE], next: Vec::with_capacity(hashes.len()) };
        for number in 1..=hashes.len() {
            if 4 * number >= 3 * table.first.len() {
                table.resize(2 * table.first.len(), hashes);
            }
            table.next.push(END);
            table.prepend(number as u32 - 1, hashes);
        }
        let size = final_size(hashes.len());
        if size != table.first.len() {
            table.resize(size, hashes);
        }
        table
    }

    /// Number of buckets.
    pub const fn number_of_buckets(&self) -> usize {
        self.first.len()
    }

    /// The buckets, each with its items.
    pub fn buckets(&self) -> impl ExactSizeIterator<Item = impl Iterator<Item = usize> + Clone> {
        self.first.iter().map(move |&first| {
            let is_item = |&item: &u32| item != END;
            let next = move |&item: &u32| Some(self.next[item as usize]).filter(is_item);
            core::iter::successors(Some(first).filter(is_item), next).map(|item| item as usize)
        })
    }

    fn resize(&mut self, size: usize, hashes: &[u64]) {
        let old = core::mem::replace(&mut self.first, vec![END; size]);
        for mut item in old {
            while item != END {
                let next = self.next[item as usize];
                self.prepend(item, hashes);
                item = next;
            }
        }
    }

    fn prepend(&mut self, item: u32, hashes: &[u64]) {
        let bucket = bucket(hashes[item as usize], self.first.len());
        self.next[item as usize] = self.first[bucket];
        self.first[bucket] = item;
    }
}

/// The bucket of a name in a table of this size.
pub(super) const fn bucket(hash: u64, buckets: usize) -> usize {
    hash as usize & (buckets - 1)
}

/// The number of buckets for this number of names.
fn final_size(names: usize) -> usize {
    if names <= 2 { 1 } else { (names * 4 / 3 + 1).next_power_of_two() }
}
