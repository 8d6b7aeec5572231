//! An object pool, for what threads use one after the other: memory that has grown, decoders.
//! A thread that frees what another one has allocated waits for that one, again and again.

use std::ops::{Deref, DerefMut};
use std::prelude::v1::*;
use std::sync::{Mutex, PoisonError};

/// Things of one kind that nobody uses at the moment.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<T>>);

/// One that is in use. It comes back when it is dropped.
#[derive(Debug)]
pub struct PoolGuard<'s, T> {
    thing: Option<T>,
    from: &'s Pool<T>,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Pool<T> {
    /// Lends one, a new one if there is none.
    pub fn lend(&self, new: impl FnOnce() -> T) -> PoolGuard<'_, T> {
        let thing = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        PoolGuard { thing: Some(thing.unwrap_or_else(new)), from: self }
    }
}

impl<T> Deref for PoolGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().expect(IN_USE)
    }
}

impl<T> DerefMut for PoolGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().expect(IN_USE)
    }
}

impl<T> Drop for PoolGuard<'_, T> {
    fn drop(&mut self) {
        let things = self.from.0.lock();
        things.unwrap_or_else(PoisonError::into_inner).extend(self.thing.take());
    }
}

const IN_USE: &str = "it comes back only when it is dropped";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_back() {
        let pool = Pool::default();
        let (mut first, second) = (pool.lend(|| 1), pool.lend(|| 2));
        *first = 3;
        drop(second);
        drop(first);
        assert_eq!(*pool.lend(|| 4), 3);
        let (first, second, third) = (pool.lend(|| 5), pool.lend(|| 6), pool.lend(|| 7));
        assert_eq!([*first, *second, *third], [3, 2, 7]);
    }
}
