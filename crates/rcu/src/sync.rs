//! All primitives that order memory accesses, in one place: the standard library's, or loom's under `cfg(loom)`.
//!
//! Counters that order nothing (metrics, requests to hurry) always use `std` atomics, which keeps them out of the
//! model checker's state space.

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence},
};
#[cfg(loom)]
pub(crate) use loom::thread;
pub(crate) use std::sync::atomic::Ordering;
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, fence},
};

#[cfg(not(loom))]
pub(crate) use std::thread;

/// A place whose accesses a model checks for races.
#[cfg(not(loom))]
pub struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// A place with this value.
    pub fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Looks at the place.
    #[inline]
    pub fn with<R>(&self, access: impl FnOnce(*const T) -> R) -> R {
        access(self.0.get())
    }

    /// Looks at the place in order to change it.
    #[inline]
    pub fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}

/// Runs one of the crate's protections, unless the build sets out to show that it is needed.
///
/// `RUSTFLAGS='--cfg rcu_mutant="NAME"'` removes protection `NAME`; `tests/mutants.sh` checks that a model or
/// a stress test then fails.
#[doc(hidden)]
#[macro_export]
macro_rules! protect {
    ($name:literal, $action:expr) => {
        if !cfg!(rcu_mutant = $name) {
            $action
        }
    };
}

/// An ordering that a mutant build weakens to `Relaxed`.
#[doc(hidden)]
#[macro_export]
macro_rules! ordering {
    ($name:literal, $ordering:ident) => {
        if cfg!(rcu_mutant = $name) {
            ::std::sync::atomic::Ordering::Relaxed
        } else {
            ::std::sync::atomic::Ordering::$ordering
        }
    };
}

pub(crate) use crate::{ordering, protect};

/// A SeqCst fence right after a read-modify-write, which is one already on x86.
#[inline]
pub fn fence_after_rmw() {
    if cfg!(all(target_arch = "x86_64", not(loom), not(miri))) {
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// Waits between two looks at a grace period: spins, then yields, then sleeps from 50 µs up to 1 ms.
///
/// Readers wake no waiter, because that would cost them a fence and a system call; so a waiter looks again. It spins
/// for some ten microseconds, which is longer than most turns: on a busy machine a yield costs another
/// thread's time slice.
#[derive(Default)]
pub struct Backoff {
    step: u32,
}

impl Backoff {
    /// Waits a little, and a little longer each time.
    #[cfg(not(loom))]
    pub fn snooze(&mut self) {
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
    pub fn snooze(&mut self) {
        self.step += 1;
        loom::thread::yield_now();
    }
}
