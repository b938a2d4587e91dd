//! All primitives that order memory accesses, in one place: the standard library's, or loom's under `cfg(loom)`.
//!
//! Counters that order nothing (metrics, requests to hurry) always use `std` atomics, which keeps them out of the
//! model checker's state space.

#[cfg(loom)]
pub(crate) use loom::cell::UnsafeCell;
#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence},
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

/// A place whose accesses a model checks for races.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn with<R>(&self, access: impl FnOnce(*const T) -> R) -> R {
        access(self.0.get())
    }

    #[inline]
    pub(crate) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}

/// Runs one of the crate's protections, unless the build sets out to show that it is needed.
///
/// `RUSTFLAGS='--cfg rcu_mutant="NAME"'` removes protection `NAME`; `tests/mutants.sh` checks that a model or
/// a stress test then fails.
macro_rules! protect {
    ($name:literal, $action:expr) => {
        if !cfg!(rcu_mutant = $name) {
            $action
        }
    };
}

/// An ordering that a mutant build weakens to `Relaxed`.
macro_rules! ordering {
    ($name:literal, $ordering:ident) => {
        if cfg!(rcu_mutant = $name) {
            $crate::sync::Ordering::Relaxed
        } else {
            $crate::sync::Ordering::$ordering
        }
    };
}

pub(crate) use {ordering, protect};

/// A SeqCst fence right after a read-modify-write, which is one already on x86.
#[inline]
pub(crate) fn fence_after_rmw() {
    if cfg!(all(target_arch = "x86_64", not(loom), not(miri))) {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Lets others go on, within a loop that waits for them for an instant.
#[inline]
pub(crate) fn pause() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Waits between two looks at a grace period: spins, then yields, then sleeps from 50 µs up to 1 ms.
///
/// Readers wake nobody, because that would cost them a fence and a system call; so a waiter looks again. It spins for some
/// ten microseconds, which is longer than most turns: on a busy machine a yield costs a time slice of somebody else's.
#[derive(Default)]
pub(crate) struct Backoff {
    step: u32,
}

impl Backoff {
    /// Waits a little, and a little longer each time.
    #[cfg(not(loom))]
    pub(crate) fn snooze(&mut self) {
        use std::time::Duration;
        const SPINS: u32 = 64;
        const YIELDS: u32 = SPINS + 10;
        match self.step {
            0..SPINS => (0..1 << self.step.min(3)).for_each(|_| std::hint::spin_loop()),
            SPINS..YIELDS => std::thread::yield_now(),
            _ => {
                let doublings = (self.step - YIELDS).min(5);
                std::thread::sleep(Duration::from_micros(50 << doublings).min(Duration::from_millis(1)));
            }
        }
        self.step += 1;
    }

    /// Lets the model run another thread.
    #[cfg(loom)]
    pub(crate) fn snooze(&mut self) {
        self.step += 1;
        loom::thread::yield_now();
    }
}
