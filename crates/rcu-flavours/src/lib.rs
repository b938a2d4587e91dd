//! The algorithms that the literature compares read-copy update with, for tests and benchmarks.
//!
//! A *flavour* is a way to protect shared data. All of them are behind one trait, [`Flavour`], so that structures, stress
//! tests and benchmarks run over each. Clique uses one of them, [`Qsbr`], through the interface of the crate `rcu`
//! ([`Domain`](rcu::Domain)). The others are those of the literature, the locks that all of them are measured against,
//! and no protection at all. Each has a file of its own, which begins with the argument why it is correct. [`structures`]
//! has a hash table and a route table over any flavour. Programs need none of this: it knows nothing of packets or
//! routers, and what forwards packets does not depend on it.
//!
//! Its tests are in `tests/`: `flavours` (every flavour under stress), `ap_rcu` (what AP-RCU promises beyond that),
//! `structures` (against naive ones, and under contention), and the `loom_*` (every interleaving of small programs within a
//! preemption bound; `loom_races` has the races of Click's route table). `crates/rcu/tests/mutants.sh` removes each protection and expects
//! one of these tests to fail; `crates/rcu/tests/everything.sh` runs all of it. The benchmarks are in `bench/src/rcu/`.
//!
//! ```
//! use rcu_flavours::{Flavour, Garbage, Lock, Qsbr, Thread};
//! use std::sync::atomic::{AtomicPtr, Ordering::*};
//!
//! /// Replaces what `place` points to and has the old value freed when no reader holds it.
//! fn replace<F: Flavour>(place: &AtomicPtr<u32>, thread: &mut F::Thread, value: u32) {
//!     let section = thread.update();
//!     let old = place.swap(Box::into_raw(Box::new(value)), AcqRel);
//!     drop(section);
//!     // SAFETY: made by `Box::into_raw`, and unlinked by this thread alone.
//!     thread.retire(unsafe { Garbage::from_raw(old) });
//! }
//!
//! fn run<F: Flavour>(flavour: &F) {
//!     let place = AtomicPtr::new(Box::into_raw(Box::new(1)));
//!     let mut thread = flavour.register();
//!     replace::<F>(&place, &mut thread, 2);
//!     let section = thread.read();
//!     // SAFETY: never null, and not freed while the section lasts.
//!     assert_eq!(unsafe { *place.load(Acquire) }, 2);
//!     drop(section);
//!     thread.quiescent();
//!     # drop(unsafe { Box::from_raw(place.into_inner()) });
//! }
//!
//! run(&Qsbr::new());
//! run(&Lock::new());
//! ```

mod ap_rcu;
mod brlock;
mod click_epoch;
mod drcu;
mod flavour;
mod garbage;
mod generations;
mod lock;
mod qrcu;
mod qsbr;
mod rwlock;
pub mod structures;
mod sync;
mod timed;
mod unprotected;

pub use ap_rcu::{ApRcu, ApRcuConfig, ApRcuStats, ApRcuThread};
pub use brlock::BrLock;
pub use click_epoch::{ClickEpoch, ReclaimHook, ReclaimLists, Reclaimable};
pub use drcu::Drcu;
pub use flavour::{Divisible, Flavour, Thread};
pub use garbage::Garbage;
pub use lock::Lock;
pub use qrcu::Qrcu;
pub use qsbr::Qsbr;
pub use rwlock::RwLock;
pub use timed::Timed;
pub use unprotected::Unprotected;
