//! Maps of what few positions have, such as calls: one word each while they are empty.

use alloc::vec::Vec;
use core::cmp::Ordering;
use core::iter;
use core::slice;

use litemap::LiteMap;
use litemap::store::{
    Store, StoreBulkMut, StoreFromIterable, StoreFromIterator, StoreIntoIterator, StoreIterable,
    StoreIterableMut, StoreMut,
};
use thin_vec::{IntoIter, ThinVec};

/// A map that is mostly empty.
pub type RareMap<K, V> = LiteMap<K, V, Entries<K, V>>;

/// The entries of a map, by key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<K, V>(ThinVec<(K, V)>);

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(ThinVec::new())
    }
}

/// Takes entries as they are. The keys of a map ascend.
impl<K, V> From<Vec<(K, V)>> for Entries<K, V> {
    fn from(entries: Vec<(K, V)>) -> Self {
        let mut all = ThinVec::with_capacity(entries.len());
        all.extend(entries);
        Self(all)
    }
}

impl<K, V> Store<K, V> for Entries<K, V> {
    fn lm_len(&self) -> usize {
        self.0.len()
    }

    fn lm_get(&self, index: usize) -> Option<(&K, &V)> {
        self.0.get(index).map(pair)
    }

    fn lm_binary_search_by<F>(&self, mut cmp: F) -> Result<usize, usize>
    where
        F: FnMut(&K) -> Ordering,
    {
        self.0.binary_search_by(|(key, _)| cmp(key))
    }
}

impl<K, V> StoreMut<K, V> for Entries<K, V> {
    fn lm_with_capacity(capacity: usize) -> Self {
        Self(ThinVec::with_capacity(capacity))
    }

    fn lm_reserve(&mut self, additional: usize) {
        self.0.reserve(additional);
    }

    fn lm_get_mut(&mut self, index: usize) -> Option<(&K, &mut V)> {
        self.0.get_mut(index).map(pair_mut)
    }

    fn lm_push(&mut self, key: K, value: V) {
        self.0.push((key, value));
    }

    fn lm_insert(&mut self, index: usize, key: K, value: V) {
        self.0.insert(index, (key, value));
    }

    fn lm_remove(&mut self, index: usize) -> (K, V) {
        self.0.remove(index)
    }

    fn lm_clear(&mut self) {
        self.0.clear();
    }
}

impl<K: Ord, V> StoreBulkMut<K, V> for Entries<K, V> {
    fn lm_retain<F>(&mut self, mut predicate: F)
    where
        F: FnMut(&K, &V) -> bool,
    {
        self.0.retain(|(key, value)| predicate(key, value));
    }

    fn lm_extend<I>(&mut self, other: I)
    where
        I: IntoIterator<Item = (K, V)>,
    {
        let entries = core::mem::take(&mut self.0);
        *self = Self::lm_sort_from_iter(entries.into_iter().chain(other));
    }
}

impl<K: Ord, V> StoreFromIterable<K, V> for Entries<K, V> {
    fn lm_sort_from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        Vec::lm_sort_from_iter(iter).into()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Entries<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        Self::lm_sort_from_iter(iter)
    }
}

impl<K: Ord, V> StoreFromIterator<K, V> for Entries<K, V> {}

impl<'a, K: 'a, V: 'a> StoreIterable<'a, K, V> for Entries<K, V> {
    type KeyValueIter = iter::Map<slice::Iter<'a, (K, V)>, fn(&(K, V)) -> (&K, &V)>;

    fn lm_iter(&'a self) -> Self::KeyValueIter {
        self.0.iter().map(pair)
    }
}

impl<'a, K: 'a, V: 'a> StoreIterableMut<'a, K, V> for Entries<K, V> {
    type KeyValueIterMut = iter::Map<slice::IterMut<'a, (K, V)>, fn(&mut (K, V)) -> (&K, &mut V)>;

    fn lm_iter_mut(&'a mut self) -> Self::KeyValueIterMut {
        self.0.iter_mut().map(pair_mut)
    }
}

impl<K, V> StoreIntoIterator<K, V> for Entries<K, V> {
    type KeyValueIntoIter = IntoIter<(K, V)>;

    fn lm_into_iter(self) -> Self::KeyValueIntoIter {
        self.0.into_iter()
    }
}

const fn pair<K, V>((key, value): &(K, V)) -> (&K, &V) {
    (key, value)
}

const fn pair_mut<K, V>((key, value): &mut (K, V)) -> (&K, &mut V) {
    (key, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a map and one in a vector say after the same steps.
    macro_rules! after_steps {
        ($map:ty) => {{
            let mut map: $map = [(3, 30), (1, 10), (2, 20), (3, 31)].into_iter().collect();
            map.extend([(5, 50), (0, 0), (2, 21)]);
            *map.entry(4).or_default() += 40;
            *map.entry(1).or_default() += 1;
            let removed = [map.remove(&0), map.remove(&9), map.insert(5, 51), map.insert(6, 60)];
            map.retain(|&key, _| key != 3);
            map.iter_mut().for_each(|(_, value)| *value += 100);
            let found = [map.get(&2).copied(), map.get(&3).copied()];
            (removed, found, map.into_iter().collect::<Vec<_>>())
        }};
    }

    #[test]
    fn behaves_as_a_map_in_a_vector() {
        let rare = after_steps!(RareMap<u32, u64>);
        assert_eq!(rare, after_steps!(LiteMap<u32, u64>));
        assert_eq!(rare.2, [(1, 111), (2, 121), (4, 140), (5, 151), (6, 160)]);
    }

    #[test]
    fn an_empty_map_is_a_word() {
        assert_eq!(size_of::<RareMap<u32, u64>>(), size_of::<usize>());
    }
}
