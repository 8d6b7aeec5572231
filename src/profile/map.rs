//! Maps with few entries each, of which a profile has millions: sorted vectors, which take a tenth of
//! the memory of search trees, behind the same methods.

use alloc::vec::{self, Vec};
use core::{mem, ops, slice};

/// A map in the order of its keys.
///
/// Entries that come in order are appended; others are moved apart for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map<K, V> {
    entries: Vec<(K, V)>,
}

/// The place of a key.
pub enum Entry<'m, K, V> {
    /// There is a value.
    Occupied(&'m mut V),
    /// There is none.
    Vacant(Vacant<'m, K, V>),
}

/// A place for a value.
pub struct Vacant<'m, K, V> {
    map: &'m mut Map<K, V>,
    place: usize,
    key: K,
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        Some(&self.entries[self.place(key).ok()?].1)
    }

    /// The value of a key.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        let place = self.place(key).ok()?;
        Some(&mut self.entries[place].1)
    }

    /// Whether there is a value.
    pub fn contains_key(&self, key: &K) -> bool {
        self.place(key).is_ok()
    }

    /// Puts a value in place; gives the one before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.entry(key) {
            Entry::Occupied(old) => Some(mem::replace(old, value)),
            Entry::Vacant(vacant) => {
                vacant.insert(value);
                None
            }
        }
    }

    /// Takes a value out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        Some(self.entries.remove(self.place(key).ok()?).1)
    }

    /// The place of a key.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        match self.place(&key) {
            Ok(place) => Entry::Occupied(&mut self.entries[place].1),
            Err(place) => Entry::Vacant(Vacant { map: self, place, key }),
        }
    }

    fn place(&self, key: &K) -> Result<usize, usize> {
        match self.entries.last() {
            Some((last, _)) if key > last => Err(self.entries.len()),
            _ => self.entries.binary_search_by(|(other, _)| other.cmp(key)),
        }
    }
}

impl<K, V> Map<K, V> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> + DoubleEndedIterator + Clone {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// All keys.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + DoubleEndedIterator {
        self.entries.iter().map(|(key, _)| key)
    }

    /// All values.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + DoubleEndedIterator {
        self.entries.iter().map(|(_, value)| value)
    }

    /// All values.
    pub fn values_mut(&mut self) -> impl ExactSizeIterator<Item = &mut V> + DoubleEndedIterator {
        self.entries.iter_mut().map(|(_, value)| value)
    }

    /// Takes out everything.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Takes out what `keep` does not want.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// Gives back memory that further entries would have taken.
    pub fn shrink_to_fit(&mut self) {
        self.entries.shrink_to_fit();
    }
}

impl<'m, K: Ord, V> Entry<'m, K, V> {
    /// The value, the usual one if there is none.
    pub fn or_default(self) -> &'m mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }

    /// The value, this one if there is none.
    pub fn or_insert(self, value: V) -> &'m mut V {
        self.or_insert_with(|| value)
    }

    /// The value, a new one if there is none.
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> &'m mut V {
        match self {
            Self::Occupied(known) => known,
            Self::Vacant(vacant) => vacant.insert(value()),
        }
    }
}

impl<'m, K, V> Vacant<'m, K, V> {
    /// Puts a value in place.
    pub fn insert(self, value: V) -> &'m mut V {
        if self.map.entries.is_empty() {
            // Most have one entry only.
            self.map.entries.reserve_exact(1);
        }
        self.map.entries.insert(self.place, (self.key, value));
        &mut self.map.entries[self.place].1
    }
}

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Ord, V> ops::Index<&K> for Map<K, V> {
    type Output = V;

    /// # Panics
    ///
    /// If there is no value.
    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the map has the key")
    }
}

impl<K: Ord, V> Extend<(K, V)> for Map<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for Map<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for Map<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m Map<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = core::iter::Map<slice::Iter<'m, (K, V)>, fn(&(K, V)) -> (&K, &V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_a_search_tree() {
        let mut map = Map::from([(3, 'c'), (1, 'a'), (2, 'b')]);
        assert_eq!(map.insert(2, 'B'), Some('b'));
        *map.entry(0).or_default() = 'z';
        assert!(matches!(map.entry(3), Entry::Occupied('c')));
        assert_eq!(
            map.iter().map(|(k, v)| (*k, *v)).collect::<Vec<_>>(),
            [(0, 'z'), (1, 'a'), (2, 'B'), (3, 'c')]
        );
        assert_eq!(map.remove(&1), Some('a'));
        assert_eq!((map.get(&9), map[&3]), (None, 'c'));
        map.retain(|&key, _| key > 0);
        assert_eq!(map.keys().copied().collect::<Vec<_>>(), [2, 3]);
    }
}
