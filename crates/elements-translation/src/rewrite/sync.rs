//! What orders accesses to the flow table, and its sizes, in one place: the model in `tests/flow_model.rs` puts its own in their
//! place, and takes them away one at a time.

pub(super) use rcu::Cell;
use rcu::Domain;
use std::sync::atomic::Ordering::{Acquire, Relaxed};
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
pub(super) use std::sync::{Mutex, MutexGuard};

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
/// Entries of a hundred slots, on average, with which a shard is large enough.
pub(super) const FILL: usize = 75;
/// Records in the first sixteen chunks together; the next sixteen have twice as many, and so on. A chunk is no smaller than a block, so that
/// there are no gaps between chunks.
pub(super) const FIRST_CHUNK: u32 = 16 * BLOCK;
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

/// Sets a word if it is still what it was: a bucket's lock.
#[inline]
pub(super) fn try_set(word: &AtomicU64, was: u64, is: u64) -> bool {
    word.compare_exchange(was, is, Acquire, Relaxed).is_ok()
}

/// Waits a little for another worker, longer after some tries.
#[cold]
pub(super) fn pause(tries: &mut u32) {
    /// Tries that take less than giving the processor away. A holder needs some dozen nanoseconds, unless it was interrupted.
    const SPINS: u32 = 100;
    *tries += 1;
    if *tries < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
}

/// Locks a table that is replaced, or unlocks it.
#[inline]
pub(super) fn as_lock(lock: impl FnOnce()) {
    lock();
}

/// Whether buckets of these ranks are locked in this order: the lower one first, so that no two updaters wait for each other.
#[inline]
pub(super) fn is_in_order([a, b]: [u64; 2]) -> bool {
    a <= b
}
