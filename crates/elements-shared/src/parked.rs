//! What a hot swap leaves for the worker that needs it first.
//!
//! Instances of an element keep what they know on their own workers. When a swap has other workers see the packets, it cannot be known which
//! of them sees what next: so what the old instances had is parked in a part that all new instances share. An instance that misses something
//! looks there, and takes it over; so a thing is in one place at any time. While nothing is parked this costs a load, and
//! otherwise a lock, both on the path of a miss only.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Things that wait, by their keys.
pub struct Parked<K, V> {
    number: AtomicUsize,
    things: Mutex<BTreeMap<K, V>>,
}

impl<K, V> Default for Parked<K, V> {
    fn default() -> Parked<K, V> {
        Parked { number: AtomicUsize::new(0), things: Mutex::default() }
    }
}

impl<K: Ord, V> Parked<K, V> {
    /// Things that wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.number.load(Ordering::Acquire)
    }

    /// Whether none does.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds one, in the place of one with the same key.
    pub fn park(&self, key: K, value: V) {
        self.with(|things| things.insert(key, value));
    }

    /// Takes one, if it is there.
    #[inline]
    pub fn take(&self, key: &K) -> Option<V> {
        if self.is_empty() { None } else { self.with(|things| things.remove(key)) }
    }

    /// Takes all.
    pub fn take_all(&self) -> BTreeMap<K, V> {
        self.with(std::mem::take)
    }

    /// Has something done with all, under the lock.
    #[cold]
    pub fn with<R>(&self, act: impl FnOnce(&mut BTreeMap<K, V>) -> R) -> R {
        let mut things = self.things.lock().unwrap_or_else(PoisonError::into_inner);
        let result = act(&mut things);
        self.number.store(things.len(), Ordering::Release);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What several threads take is taken once, and none is left.
    #[test]
    fn each_thing_is_taken_once() {
        let parked = Parked::default();
        (0..1000).for_each(|key| parked.park(key, key * 2));
        assert_eq!(parked.take(&1000), None);
        let taken: usize = std::thread::scope(|scope| {
            let take = || (0..1000).filter(|key| parked.take(key) == Some(key * 2)).count();
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!((taken, parked.len()), (1000, 0));
    }
}
