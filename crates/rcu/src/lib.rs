//! Read-copy update for user space: grace periods and deferred reclamation.
//!
//! Readers follow pointers without locks, expensive atomic operations, or waiting. An updater makes a copy,
//! changes it, publishes it with one store, and has the old version freed when no reader can hold it any more.
//! This crate finds out when that is. It knows nothing of packets or routers.
//!
//! Its tests are in `tests/`: `basics`, `blocking`, `cells`, `late` and `local` (what each call promises),
//! `torture` (aged elements against many readers), `memory` (the memory bound, counted by the values themselves),
//! the `loom_*` (every interleaving of small programs within a preemption bound of two or three; `loom_litmus` has the
//! litmus tests of Linux's memory model), and `mutants.sh`, which removes each protection below and expects one of these
//! tests to fail.
//! `tests/everything.sh` runs all of it. `examples/cost.rs` measures what operations cost.
//! `docs/src/design/rcu-grace-periods.md` describes a model of the algorithm for the model checker spin. The
//! crate `rcu-flavours` has other algorithms and locks, and no protection at all, for comparison.
//!
//! ```
//! use rcu::{Cell, Domain};
//!
//! let domain = Domain::global();
//! let routes = Cell::new(vec!["0.0.0.0/0"]);
//!
//! // A worker reads for a whole turn of its loop, then says that it holds nothing.
//! let mut worker = domain.register("worker 0");
//! for _packet in 0..3 {
//!     let turn = worker.turn();
//!     assert!(routes.read(turn).contains(&"0.0.0.0/0"));
//! }
//! worker.quiescent();
//! worker.offline(); // before it sleeps
//!
//! // A control thread updates, and goes on at once; what it replaced is freed later, elsewhere.
//! let updater = domain.updater();
//! routes.replace(Box::new(vec!["0.0.0.0/0", "192.0.2.0/24"]), &updater)?;
//! # Ok::<(), rcu::Backpressure<Box<Vec<&str>>>>(())
//! ```
//!
//! # Which call for what
//!
//! | who | wants | calls |
//! |---|---|---|
//! | worker | read | [`Reader::turn`] once a turn, [`Cell::read`], [`Reader::quiescent`] between turns |
//! | worker | sleep | [`Reader::offline`] before |
//! | control thread | read | [`Domain::guard`] |
//! | updater | replace a value | [`Cell::replace`], [`Cell::update`] |
//! | updater | many values: by number; in a row; by key | [`Slots`]; [`List`]; [`Chains`] |
//! | updater | replace a great many, and free them itself | the same with a [`LocalUpdater`]; without the allocator, a [`Recycler`] |
//! | updater | free something else, later | [`Updater::retire`], [`Updater::call`] |
//! | updater | the same, if freeing may block | [`Updater::call_blocking`] |
//! | updater | reuse something itself, without waiting | [`Domain::start`], later [`Domain::poll`]; an [`Account`] for what waits |
//! | updater | make many replacements or none | [`Updater::prepare`] |
//! | updater | wait | [`Domain::synchronize`]; if it reads, too, [`Reader::synchronize`] |
//! | updater | wait for a token, but not for ever | [`Domain::wait_for`] |
//! | updater | wait because it was refused | [`Domain::wait_for_room`] |
//! | updater | wait, at little cost for the readers | [`Domain::synchronize_shared`] |
//! | thread that shuts down | everything reclaimed | [`Domain::barrier`] |
//!
//! Three terms come from AP-RCU (Podzimek, Decky, Bulej, Tuma), which names them without defining them. Here they
//! mean: a callback's *weight* is the number of bytes that stay occupied until it has run, and is charged against
//! [`Config::limit_bytes`]. *Synchronize shared*, with a longest wait: the caller would rather share a grace
//! period than have one soon; the wait limits how long it looks for others to share with before it starts its own.
//! *Call synchronize* is [`Domain::barrier`]: when it returns, everything queued before has run, including
//! callbacks that block.
//!
//! # How it works
//!
//! The *epoch* is a 64-bit number that only grows; starting a grace period increments it. Each reader has a
//! *slot*, a padded word that says in which epoch the reader was last *quiescent* (held no reference), or that it
//! is *offline* (holds none until further notice). The grace period that began epoch `t` is over when every slot
//! says `t` or more, or offline. No thread is needed to advance anything: a thread that asks scans the slots, and
//! leaves the result in `over` for others.
//!
//! ## Who reads and writes what
//!
//! | state | written by | read by |
//! |---|---|---|
//! | `epoch` | each thread that starts a grace period (`fetch_add`) | readers between turns, scans |
//! | `over` | scans (`fetch_max`) | any thread that asks |
//! | `slot.seen` | its reader only | scans |
//! | `entry.taken` | any thread that registers (false to true), the owner (to false) | any thread that registers |
//! | `block.owners` of a block of slots | who registers (one more), the owner that leaves (one less) | scans |
//! | `entry.left` of a queue | the owner that leaves callbacks queued (to true), the next owner and the reclaimer (to false) | the same |
//! | list heads of slots and queues | any thread that finds no free entry (prepends a block) | scans |
//! | a queue's tail: entries, their number | its updater | the reclaimer (the number, then what it covers) |
//! | a queue's head, the mark, the waiting batch | the thread that holds the reclaimer's lock | the same |
//! | a queue's spare segments | the reclaimer (adds one), the updater (takes all) | |
//!
//! A slot is *free*, *offline* or *online*. Registering makes a free slot offline, and the first turn makes it
//! online. Going offline, and dropping the reader, lead back. Scans do not distinguish free from offline.
//!
//! ## Which orderings pair with which
//!
//! 1. **Turn ended → end noticed.** A reader announces a state by a *release* store to `seen`; a scan loads it
//!    with *acquire*, and passes on what it found by a *release* write of `over`, which `poll` *acquires*.
//!    Successive owners of a slot are ordered by `taken` (*release* on leaving, *acquire* on claiming), so an
//!    announcement covers all turns of its slot so far. A block of slots without owners is skipped: a scan loads their
//!    number with *acquire*, and an owner that leaves has written it with *release*.
//! 2. **Unlinked → not found again.** The updater unlinks, then writes `epoch` with *release*; a reader between
//!    turns loads it with *acquire*, then stores what it loaded to `seen`. All writes of `epoch` are
//!    read-modify-writes, so a later epoch carries the earlier ones' updates along. This is why `quiescent`
//!    needs no fence: the number in the slot proves what its reader has seen.
//! 3. **Unlinked before looking ↔ online before reading.** For a reader that comes online a number proves nothing,
//!    since no thread waits for it yet. It has counted itself as an owner; it stores `seen`, *fences* (SeqCst), then reads.
//!    The updater unlinks, *fences*, then starts the epoch whose scans load `owners`, then `seen`. The two fences have a total order. If the reader's
//!    is first, those scans find it online; if the updater's is first, the reader finds the update. (Fences, not
//!    SeqCst accesses: that is what the machine needs and what loom can check.) Scans by other threads come after
//!    the updater's fence because they *acquire* the epoch that it *released*.
//! 4. **Written → read.** [`Cell`]s publish with *release* and read with *acquire*.
//! 5. **Queued → taken.** An updater fills in an entry, then counts it with *release*; the reclaimer loads the count
//!    with *acquire*, marks it, and only then starts a grace period: so what an updater unlinked before queueing comes
//!    before that start, and what the mark covers is complete. (Back again, emptied segments are *released* by the
//!    reclaimer and *acquired* by the updater.)
//! 6. **Unlinked → the next start, by any thread.** An updater that shares a grace period need not start one: it
//!    fences, then writes `epoch` without changing it, and waits for the next number. Since all writes of `epoch`
//!    are read-modify-writes, the thread that starts that number carries this update along (2, 3).
//! 7. **Handed over → run elsewhere.** The list of callbacks that may block has a lock.
//! 8. **Queued ↔ about to sleep.** An updater counts its callback, *fences*, then checks whether the reclaimer's
//!    thread sleeps. The thread announces that it will sleep, *fences*, then checks the counts once more. One of
//!    the two sees the other, so no callback has to wait until a later one wakes the thread.
//!
//! 9. **Left → emptied.** A block of queues counts its owners, and an owner that leaves callbacks queued leaves its count:
//!    it queues, then sets `left` with *release*. The next owner takes the count over. Otherwise the reclaimer, when the
//!    queue is empty, clears `left` with *acquire* and looks at the queue once more: only if it is still empty the count goes, since
//!    an owner that came in between may have left another callback, and this count for it. So a block without owners,
//!    which the reclaimer skips, has no callback.
//!
//! ## The grace-period guarantee
//!
//! *If an updater unlinks X, then starts `t`, and `poll(t)` says yes, then every read of X is over, and
//! ordered before that answer.*
//!
//! Some scan S set `over` to `t` or more. S had loaded an `epoch` of at least `t`, so the start of `t`, and the
//! unlinking of X, come before S (2). Take any reader, and the state that S found in its slot:
//!
//! - *An epoch below `t`:* impossible, because S takes the minimum.
//! - *An epoch of at least `t`:* turns before that announcement are over (1). The announcing reader had
//!   acquired an epoch of at least `t`, so its later turns do not find X (2); or it came online and loaded,
//!   before its fence, what was written after the updater's, so the updater's came first (3).
//! - *Offline, or free:* turns before that announcement are over (1). A later turn begins with an
//!   announcement that S did not see, so the updater's fence came before the reader's, and the turn does not
//!   find X (3).
//! - *No slot:* it was prepended, and announced, after S loaded the list's head, or it is in a block whose owners S found to
//!   be none; the last case applies.
//!
//! If a reader announces an epoch older than the present one, the only harm is that it is waited for once more than
//! necessary.
//!
//! ## The publication guarantee
//!
//! A read returns a value that was in the cell at some moment of the turn, complete as its updater left it (4). A
//! reader never goes back to an older value (coherence). Reads of *different* cells may see updates in any order
//! within a turn, unless the updater makes them one value.
//!
//! ## The memory bound
//!
//! What waits is weighed by what it frees: a callback by the bytes that its updater names, with its queue entry and its
//! closure; a value by its size and what it owns ([`Weigh`]); what a structure keeps for itself by what it says
//! ([`Account`]). Bytes that wait, plus those charged in advance, exceed the limit by no more than
//!
//! - one callback larger than the limit, which is accepted only when nothing waits;
//! - one value's own memory for each thread that replaces one at that moment: a cell's old value can be weighed only when
//!   it is unlinked, too late to refuse; while more than the limit waits, no further one is unlinked;
//! - what accounts add after they were asked whether there is room ([`Account::has_room`]).
//!
//! A callback is charged before it is queued, in one atomic step, and credited after it has run. While less than half of
//! the limit is in use, updaters are charged for a few hundred callbacks at once, in advance; above that, for each one.
//! Refusal ([`Backpressure`]) gives the value back and leaves the cell as it was. A callback waits for at most two grace
//! periods, and a grace period lasts about as long as the longest turn. So a limit of twice the update rate times the
//! longest turn (plus the reclaimer's wake-up) is never reached. What the allocator adds, and a queue's spare segments
//! (2 KiB each, at most 33 for an updater), are not counted.
//!
//! ## How the borrow checker enforces it
//!
//! [`Turn`] borrows its [`Reader`], and so does a reference read under it; [`Reader::quiescent`] needs the reader
//! exclusively. Soundness does not depend on destructors: a leaked guard or reader stalls grace periods (which is
//! reported), but frees nothing early. Any turn is good for any cell because there is one domain per process;
//! [`Domain::isolated`] is unsafe for that reason.
//!
//! ## Late readers
//!
//! A grace period waits for its slowest reader. In user space no reader can be forced out of a turn, since a
//! preempted reader still holds its references. Instead, the waiter sets [`Reader::asked`] after a millisecond,
//! or when half of the memory is in use. Past the stall limit it names the reader in [`Stats`] and to a hook,
//! which prints a line by default. [`Config::clock`] supplies the time for this.

mod account;
mod bell;
mod blocking;
mod budget;
mod callbacks;
mod cell;
mod clock;
mod config;
mod defer;
mod domain;
mod grace;
mod late;
mod list;
mod local;
mod period;
mod pool;
mod queue;
mod reader;
mod reclaimer;
mod recycle;
mod registry;
mod shared;
mod slot;
mod slots;
mod stages;
mod stats;
mod sync;
mod weigh;

pub use account::Account;
pub use cell::{Cell, OptionCell};
pub use clock::Clock;
pub use config::Config;
pub use defer::{Backpressure, Defer, Updater};
pub use domain::Domain;
pub use list::{Chains, Edit, Iter, List};
pub use local::LocalUpdater;
pub use period::Token;
pub use reader::{Guard, Reader, Turn};
pub use recycle::Recycler;
pub use slots::Slots;
pub use stats::{Latency, Stall, Stats};
pub use weigh::Weigh;

/// What `rcu-flavours` is built from as well, so that algorithms differ and their parts do not. For that crate only: the
/// parts change without notice.
#[doc(hidden)]
pub mod parts {
    pub use crate::{
        registry::{Entry, Registry},
        sync::{Backoff, UnsafeCell, fence_after_rmw},
    };
}

/// The examples of the page on patterns, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/rcu-patterns.md")]
mod patterns {}

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
