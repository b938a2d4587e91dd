//! All primitives that order memory accesses, in one place: the standard library's, or loom's under `cfg(loom)`.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence},
};
pub(crate) use rcu::{
    ordering,
    parts::{Backoff, UnsafeCell, fence_after_rmw},
    protect,
};
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::fence as varied_fence;
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence},
};

/// A fence before which the model may run other threads, and whose place among theirs it varies.
///
/// Loom by itself takes a fence for a part of the operation before it, and the order of two threads' fences for one that
/// does not matter unless what they do next conflicts. This costs it a read-modify-write, and may hide what it notices
/// otherwise: so it is for those models only that nothing else makes fail.
#[cfg(loom)]
pub(crate) fn varied_fence(ordering: Ordering) {
    loom::lazy_static! {
        static ref FENCES: AtomicUsize = AtomicUsize::new(0);
    }
    FENCES.fetch_add(1, Ordering::Relaxed);
    fence(ordering);
}

/// Lets others go on, within a loop that waits for them for an instant.
#[inline]
pub(crate) fn pause() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}
