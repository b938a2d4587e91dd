//! What orders accesses to the flow table, and its sizes, in one place: the model in `tests/flow_model.rs` puts its own in their
//! place, and takes them away one at a time.

pub(super) use rcu::Cell;
use rcu::Domain;
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
pub(super) use std::sync::{Mutex, MutexGuard};

/// What protects a shard of the index: the number of its entries.
pub(super) type ShardLock = Mutex<usize>;
/// The right to change a shard.
pub(super) type ShardGuard<'i> = MutexGuard<'i, usize>;

/// Parts of the table in which flows can be added at once. Workers beyond share them.
pub(super) const LANES: usize = 8;
/// Numbers of records that a lane takes for itself at once.
pub(super) const BLOCK: u32 = 64;
/// Flows that a lane takes room for at once.
pub(super) const ROOM: usize = 64;
/// A lane takes no more than this part of the room that is left.
pub(super) const PART: usize = 2 * LANES;
/// Shards of the index: a power of two. An insertion moves one shard's entries at most.
pub(super) const SHARDS: usize = 64;
/// Entries in a bucket of the index.
pub(super) const SLOTS: usize = 12;
/// Records in the first eight chunks together; the next eight have twice as many, and so on. A chunk is no smaller than a block, so that
/// there are no gaps between chunks.
pub(super) const FIRST_CHUNK: u32 = 8 * BLOCK;
/// Whether records and buckets are cache lines, which a model's are not.
pub(super) const LINES: bool = true;

/// The domain whose grace periods removed records wait for.
#[inline]
pub(super) fn domain() -> &'static Domain {
    Domain::global()
}

/// Looks once more for what another worker may have added since the first look.
#[inline]
pub(super) fn look_again<T>(look: impl FnOnce() -> Option<T>) -> Option<T> {
    look()
}

/// Takes the lock without which a mapping may go between being found and being counted.
#[inline]
pub(super) fn hold_lane<T>(lock: impl FnOnce() -> T) -> Option<T> {
    Some(lock())
}

/// What a lane has left of its room, which it gives back.
#[inline]
pub(super) fn recalled(left: &mut usize) -> usize {
    std::mem::take(left)
}

/// The order in which two shards are locked: the lower one first, so that no two updaters wait for each other.
#[inline]
pub(super) fn in_order([a, b]: [usize; 2]) -> [usize; 2] {
    [a.min(b), a.max(b)]
}
