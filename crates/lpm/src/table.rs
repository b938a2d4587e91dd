//! The fast table: lock-free lookups, one writer at a time.

use std::fmt;
use std::sync::{Mutex, MutexGuard};

use crossbeam_utils::CachePadded;
use rcu::{Account, Domain, Token, Turn};

use crate::arena::Grace;
use crate::fib::{Fib, MAX_ID};
use crate::machine;
use crate::prefix::{Key, Prefix};
use crate::update::{Full, Updater};

/// A longest-prefix-match table that changes under its readers.
///
/// Any number of threads look up, without locks, while one at a time changes routes; writers wait for
/// one another. Put it in an [`Arc`](std::sync::Arc) and share it.
///
/// Each lookup returns the longest match of a version of the table that was current at some moment of the
/// reader's turn. Two lookups, also two of one batch, may see different versions.
pub struct Table<K: Key> {
    /// In cache lines of its own: who looks up must not wait for those that changes write.
    fib: CachePadded<Fib<K>>,
    writer: Mutex<Updater<K, Token>>,
    /// Blocks that wait for a grace period.
    account: Account,
    domain: &'static Domain,
}

/// An IPv4 table.
pub type Table4 = Table<u32>;
/// An IPv6 table.
pub type Table6 = Table<u128>;

/// What prefixes had before changes.
type Had<K> = Vec<(Prefix<K>, Option<u32>)>;

/// Why a change was refused. The table is as it was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableError {
    /// The memory limit of the lookup structure is reached, counting blocks that wait for a grace period.
    Full {
        /// The limit in bytes.
        limit: usize,
    },
    /// The id exceeds [`MAX_ID`].
    IdTooLarge(u32),
    /// Too much memory waits to be reclaimed; try again later.
    Backpressure,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "routing table full (lookup memory limited to {limit} bytes)"),
            Self::IdTooLarge(id) => write!(f, "next-hop id {id} exceeds {MAX_ID}"),
            Self::Backpressure => f.write_str("too many replaced routes wait for a grace period"),
        }
    }
}

impl std::error::Error for TableError {}

/// Sizes of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableStats {
    /// Number of prefixes.
    pub prefixes: usize,
    /// Bytes of the direct root.
    pub root_bytes: usize,
    /// Bytes of node blocks that lookups reach.
    pub block_bytes: usize,
    /// Bytes of node blocks that wait for a grace period.
    pub waiting_bytes: usize,
    /// Bytes of all chunks of node memory, used or not.
    pub arena_bytes: usize,
    /// Bytes of the routes of record, which only writers touch.
    pub rib_bytes: usize,
}

impl Grace for Domain {
    type Token = Token;

    fn start(&self) -> Token {
        Domain::start(self)
    }

    fn passed(&self, token: Token) -> bool {
        self.poll(token)
    }
}

/// Default limit of node memory: ample for ten times the global table.
const DEFAULT_LIMIT: usize = 256 << 20;

impl<K: Key> Table<K> {
    /// An empty table whose readers belong to `domain`. It takes about 1 MiB at once, and grows.
    pub fn new(domain: &'static Domain) -> Self {
        Self::with_limit(domain, DEFAULT_LIMIT)
    }

    /// An empty table whose node memory is limited to `bytes`, rounded up to chunks of 512 KiB.
    pub fn with_limit(domain: &'static Domain, bytes: usize) -> Self {
        let (fib, writer) = (CachePadded::new(Fib::new(bytes)), Mutex::new(Updater::new()));
        Self { fib, writer, account: domain.account("route tables"), domain }
    }

    /// The id of the longest prefix that contains `addr`.
    #[inline]
    pub fn lookup(&self, addr: K, _turn: Turn<'_>) -> Option<u32> {
        machine::find(&self.fib, addr).checked_sub(1)
    }

    /// Looks up each of `addrs`; `out` receives the ids, [`NONE`](crate::NONE) where nothing matches. Cache misses of
    /// 32 addresses overlap, and of more where batches are longer.
    ///
    /// # Panics
    /// If `out` is shorter than `addrs`.
    pub fn lookup_batch(&self, addrs: &[K], out: &mut [u32], _turn: Turn<'_>) {
        machine::find_all(&self.fib, addrs, &mut out[..addrs.len()]);
    }

    /// How many different cache lines of 64 bytes a lookup of `addr` reads: what a lookup costs where caches are small. For
    /// measurements.
    pub fn lines(&self, addr: K, _turn: Turn<'_>) -> usize {
        self.fib.lines(addr)
    }

    /// Sets the id of `prefix`, returning the one it had.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then.
    pub fn insert(&self, prefix: Prefix<K>, id: u32) -> Result<Option<u32>, TableError> {
        self.change(prefix, Some(id))
    }

    /// Removes `prefix`, returning the id it had.
    ///
    /// # Errors
    /// [`TableError::Full`] and [`TableError::Backpressure`], since also a removal builds new nodes before the old ones
    /// are free; the table is unchanged then.
    pub fn remove(&self, prefix: Prefix<K>) -> Result<Option<u32>, TableError> {
        self.change(prefix, None)
    }

    /// Sets (`Some`) or removes (`None`) prefixes in the order given, and publishes all at the end: much
    /// faster than one by one. Readers see each address change at once, but not all addresses at the same moment.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then, by any of the changes.
    pub fn apply(
        &self,
        changes: impl IntoIterator<Item = (Prefix<K>, Option<u32>)>,
    ) -> Result<(), TableError> {
        self.apply_to(&mut self.write(), changes).map(drop)
    }

    /// [`apply`](Self::apply) that returns the id which each prefix had before its change.
    ///
    /// # Errors
    /// As there.
    pub fn exchange(
        &self,
        changes: impl IntoIterator<Item = (Prefix<K>, Option<u32>)>,
    ) -> Result<Vec<Option<u32>>, TableError> {
        let had = self.apply_to(&mut self.write(), changes)?;
        Ok(had.into_iter().map(|(_, id)| id).collect())
    }

    /// Removes all prefixes.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub fn clear(&self) -> Result<(), TableError> {
        let mut writer = self.write();
        let mut all = Vec::with_capacity(writer.rib.len());
        writer.rib.for_each(&mut |prefix, _| all.push((prefix, None)));
        self.apply_to(&mut writer, all).map(drop)
    }

    /// Replaces all prefixes by these. Addresses that match the same before and after never miss meanwhile.
    ///
    /// # Errors
    /// [`TableError`]; the table is unchanged then.
    pub fn replace_all(&self, routes: impl IntoIterator<Item = (Prefix<K>, u32)>) -> Result<(), TableError> {
        let mut writer = self.write();
        let mut changes = Vec::with_capacity(writer.rib.len());
        writer.rib.for_each(&mut |prefix, _| changes.push((prefix, None)));
        changes.extend(routes.into_iter().map(|(prefix, id)| (prefix, Some(id))));
        self.apply_to(&mut writer, changes).map(drop)
    }

    fn apply_to(
        &self,
        writer: &mut Updater<K, Token>,
        changes: impl IntoIterator<Item = (Prefix<K>, Option<u32>)>,
    ) -> Result<Had<K>, TableError> {
        let mut had = Vec::new();
        let mut fault = None;
        for (prefix, id) in changes {
            if let Some(id) = id.filter(|&id| id > MAX_ID) {
                fault = Some(TableError::IdTooLarge(id));
                break;
            }
            had.push((prefix, writer.change(prefix, id)));
        }
        let published = match fault {
            Some(fault) => Err(fault),
            None => self.publish(writer),
        };
        if published.is_err() {
            for &(prefix, id) in had.iter().rev() {
                writer.change(prefix, id);
            }
        }
        published.map(|()| had)
    }

    /// The id of exactly this prefix.
    pub fn get(&self, prefix: Prefix<K>) -> Option<u32> {
        self.write().rib.get(prefix)
    }

    /// The longest prefix that contains `addr`, and its id, from the routes of record: for handlers, not for
    /// packets, since it waits for writers.
    pub fn longest(&self, addr: K) -> Option<(Prefix<K>, u32)> {
        self.write().rib.longest(addr)
    }

    /// Calls `visit` with every prefix and its id, ordered by address, then by length. Writers wait meanwhile;
    /// `visit` must not use the table.
    pub fn for_each(&self, mut visit: impl FnMut(Prefix<K>, u32)) {
        self.write().rib.for_each(&mut visit);
    }

    /// Number of prefixes.
    pub fn len(&self) -> usize {
        self.write().rib.len()
    }

    /// Whether there is no prefix at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Sizes in bytes.
    pub fn stats(&self) -> TableStats {
        let writer = self.write();
        let (block_bytes, waiting_bytes, arena_bytes) = writer.memory.bytes();
        TableStats {
            prefixes: writer.rib.len(),
            root_bytes: self.fib.arena.root_bytes(),
            block_bytes,
            waiting_bytes,
            arena_bytes,
            rib_bytes: writer.rib.bytes(),
        }
    }

    fn change(&self, prefix: Prefix<K>, id: Option<u32>) -> Result<Option<u32>, TableError> {
        if let Some(id) = id.filter(|&id| id > MAX_ID) {
            return Err(TableError::IdTooLarge(id));
        }
        let mut writer = self.write();
        let had = writer.change(prefix, id);
        if had != id
            && let Err(full) = self.publish(&mut writer)
        {
            writer.change(prefix, had);
            return Err(full);
        }
        Ok(had)
    }

    fn publish(&self, writer: &mut Updater<K, Token>) -> Result<(), TableError> {
        if !self.account.has_room() {
            // What waits may be this table's own, its grace period over.
            writer.memory.reclaim(self.domain);
            self.weigh(writer);
            if !self.account.has_room() {
                return Err(TableError::Backpressure);
            }
        }
        let limit = self.fib.arena.limit();
        let published = writer.publish(&self.fib, self.domain).map_err(|Full| TableError::Full { limit });
        self.weigh(writer);
        published
    }

    /// Tells the domain what waits.
    fn weigh(&self, writer: &Updater<K, Token>) {
        self.account.set(writer.memory.waiting_bytes());
    }

    fn write(&self) -> MutexGuard<'_, Updater<K, Token>> {
        self.writer.lock().expect("a panic inside a change is a defect of the table itself")
    }
}

impl<K: Key> fmt::Debug for Table<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("stats", &self.stats()).finish_non_exhaustive()
    }
}
