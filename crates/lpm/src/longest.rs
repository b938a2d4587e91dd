//! The interface that all tables share.

use rcu::{Domain, Turn};

use crate::fib::NONE;
use crate::prefix::{Key, Prefix};
use crate::table::{Table, TableError};

/// A longest-prefix-match table that changes under its readers.
///
/// Any number of threads look up without locks, while one at a time changes routes. Each lookup returns the
/// longest match of a version of the table that was current at some moment of the reader's turn. One suite of tests,
/// `tests/conformance`, holds every implementation to that.
pub trait LongestMatch<K: Key>: Send + Sync + 'static {
    /// An empty table whose readers belong to `domain`.
    fn new(domain: &'static Domain) -> Self
    where
        Self: Sized;

    /// The id of the longest prefix that contains `addr`.
    fn lookup(&self, addr: K, turn: Turn<'_>) -> Option<u32>;

    /// Looks up each of `addrs`; `out` receives the ids, [`NONE`] where nothing matches.
    ///
    /// # Panics
    /// If `out` is shorter than `addrs`.
    fn lookup_batch(&self, addrs: &[K], out: &mut [u32], turn: Turn<'_>) {
        for (&addr, out) in addrs.iter().zip(&mut out[..addrs.len()]) {
            *out = self.lookup(addr, turn).unwrap_or(NONE);
        }
    }

    /// Sets (`Some`) or removes (`None`) the id of `prefix`, returning the one it had.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then.
    fn change(&self, prefix: Prefix<K>, id: Option<u32>) -> Result<Option<u32>, TableError>;

    /// Sets or removes many prefixes in the order given, returning the id that each one had before its change. Readers see each
    /// address change at once.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then, by any of the changes.
    fn exchange(&self, changes: &[(Prefix<K>, Option<u32>)]) -> Result<Vec<Option<u32>>, TableError>;

    /// [`exchange`](Self::exchange) for callers that need not know what was there.
    ///
    /// # Errors
    /// As there.
    fn apply(&self, changes: &[(Prefix<K>, Option<u32>)]) -> Result<(), TableError> {
        self.exchange(changes).map(drop)
    }

    /// Removes all prefixes.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then.
    fn clear(&self) -> Result<(), TableError>;

    /// The id of exactly this prefix.
    fn get(&self, prefix: Prefix<K>) -> Option<u32>;

    /// The longest prefix that contains `addr`, and its id, from the routes of record: for handlers, not for
    /// packets, since it waits for writers.
    fn longest(&self, addr: K) -> Option<(Prefix<K>, u32)>;

    /// Calls `visit` with every prefix and its id, ordered by address, then by length. Writers wait meanwhile;
    /// `visit` must not use the table.
    fn for_each(&self, visit: &mut dyn FnMut(Prefix<K>, u32));

    /// Number of prefixes.
    fn len(&self) -> usize;

    /// Whether there is no prefix at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<K: Key> LongestMatch<K> for Table<K> {
    fn new(domain: &'static Domain) -> Self {
        Self::new(domain)
    }

    #[inline]
    fn lookup(&self, addr: K, turn: Turn<'_>) -> Option<u32> {
        self.lookup(addr, turn)
    }

    fn lookup_batch(&self, addrs: &[K], out: &mut [u32], turn: Turn<'_>) {
        self.lookup_batch(addrs, out, turn);
    }

    fn change(&self, prefix: Prefix<K>, id: Option<u32>) -> Result<Option<u32>, TableError> {
        match id {
            Some(id) => self.insert(prefix, id),
            None => self.remove(prefix),
        }
    }

    fn exchange(&self, changes: &[(Prefix<K>, Option<u32>)]) -> Result<Vec<Option<u32>>, TableError> {
        self.exchange(changes.iter().copied())
    }

    fn clear(&self) -> Result<(), TableError> {
        self.clear()
    }

    fn get(&self, prefix: Prefix<K>) -> Option<u32> {
        self.get(prefix)
    }

    fn longest(&self, addr: K) -> Option<(Prefix<K>, u32)> {
        self.longest(addr)
    }

    fn for_each(&self, visit: &mut dyn FnMut(Prefix<K>, u32)) {
        self.for_each(visit);
    }

    fn len(&self) -> usize {
        self.len()
    }
}
