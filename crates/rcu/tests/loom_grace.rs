//! Every interleaving (within a preemption bound) of small programs, under the C11 memory model.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p clique-rcu --release --test 'loom_*'`. Freeing is modelled
//! as a write to a loom cell, so that a read which is not ordered before it is reported as a race.
//!
//! What each protection is for is shown by taking it away: `mutants.sh` does, and runs the test named here, which
//! must fail. An order is taken away by weakening it to `Relaxed`. Orders that only make plain memory visible (a
//! callback's node, a fresh slot) are not in the list, because loom does not watch plain memory.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `quiescent_acquire` | a reader announces an epoch whose updates it may not see | `quiescent_against_synchronize` |
//! | `report_release` | an announcement overtakes the reads of the turn that it ends | `quiescent_against_synchronize` |
//! | `scan_acquire` | who sees the end of a turn need not come after it | `quiescent_against_synchronize` |
//! | `online_fence` | the first reads overtake the announcement of being online | `offline_and_online_against_synchronize` |
//! | `start_fence` | a grace period starts before the update that it is for | `offline_and_online_against_synchronize` |
//! | `start_release` | a scan elsewhere need not come after what the start's fence met | `the_end_is_passed_on_to_a_newcomers_updater` |
//! | `scan_epoch_acquire` | as before, from the other end | `the_end_is_passed_on_to_a_newcomers_updater` |
//! | `over_release` | who notices the end does not pass on what it saw | `the_end_is_passed_on` |
//! | `over_acquire` | who is told of the end does not come after it | `the_end_is_passed_on` |
//! | `claim_acquire` | a slot's new owner does not come after its former owner | `a_slot_changes_hands` |
//! | `claim_release` | as before, from the other end | `a_slot_changes_hands` |
//! | `join_fence` | waiting in company does not order the update before the start | `a_newcomer_against_company` |
//! | `join_write` | the next start does not carry along who joined it | `a_reader_online_against_company` |
//! | `push_release` | the reclaimer's start need not come after a callback's update | `callbacks_are_reclaimed_elsewhere` |
//! | `read_acquire` | a read may find a value before it is initialised | `a_cell_publishes_and_retires` |
//! | `publish_release` | as before, from the other end | `a_cell_publishes_and_retires` |
//! | `ignore_readers` | a scan looks at no reader | `quiescent_against_synchronize` |
//! | `one_step_early` | a grace period counts as over when the one before it is | `quiescent_against_synchronize` |
//! | `one_generation_early` | callbacks queued during a grace period run at its end | `a_callback_queued_during_a_grace_period` |
//! | `wait_before_free` | a barrier runs callbacks without waiting | `callbacks_against_a_reader` |
//! | `owners_acquire` | who skips a block of slots need not come after their owners | `register_and_drop_against_synchronize` |
//! | `owners_release` | as before, from the other end | `register_and_drop_against_synchronize` |
//! | `ring_fence` | an updater may look whether the reclaimer sleeps before its callback is counted | `a_callback_wakes_the_reclaimer` |
//! | `sleep_fence` | the reclaimer may look once more before it says that it sleeps | `a_callback_wakes_the_reclaimer` |
//! | `look_again` | the reclaimer does not look once more before it sleeps | `a_callback_wakes_the_reclaimer` |
//! | `leave_queued` | an updater that goes leaves its callbacks where the reclaimer does not look | `an_updater_goes_while_another_comes` |
//! | `look_for_what_is_left` | the reclaimer forgets a queue that was filled again while it took the count away | `an_updater_goes_while_another_comes` |
//! | `left_acquire` | who takes a count away need not see what was queued before it was left | `an_updater_goes_while_another_comes` |
//! | `left_release` | as before, from the other end | `an_updater_goes_while_another_comes` |
//! | `leave_unseen` | a thread of the pool leaves without looking whether it is needed | `a_thread_of_the_pool_leaves_no_callback_behind` |
#![cfg(loom)]
// Whether the shared cells are accessed one at a time is what the models check.
#![allow(clippy::arc_with_non_send_sync)]

use loom::{
    cell::UnsafeCell,
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};
use rcu::{Cell, Config, Domain, Reader};

/// A pointer that readers follow (an index), and what it may point to.
struct World {
    domain: Domain,
    place: AtomicUsize,
    objects: [UnsafeCell<u32>; 3],
}

// SAFETY: access to the objects is what the model checks.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<Self> {
        // SAFETY: one domain a model.
        let domain = unsafe { Domain::isolated(Config::manual()) };
        Arc::new(Self { domain, place: AtomicUsize::new(0), objects: [1, 1, 1].map(UnsafeCell::new) })
    }

    /// Follows the pointer within a turn, and says where it led.
    fn read(&self, reader: &Reader) -> usize {
        let _turn = reader.turn();
        let at = self.place.load(Ordering::Acquire);
        // SAFETY: checked by the model.
        self.objects[at].with(|object| assert_eq!(unsafe { *object }, 1, "freed under a reader"));
        at
    }

    fn unlink(&self, new: usize) -> usize {
        self.place.swap(new, Ordering::AcqRel)
    }

    fn free(&self, at: usize) {
        // SAFETY: checked by the model.
        self.objects[at].with_mut(|object| unsafe { *object = 0 });
    }
}

/// A value whose every access loom sees.
struct Object(UnsafeCell<u32>);

// SAFETY: access is what the models check.
unsafe impl Send for Object {}
// SAFETY: as above.
unsafe impl Sync for Object {}

impl Object {
    fn get(&self) -> u32 {
        // SAFETY: checked by the model.
        self.0.with(|at| unsafe { *at })
    }

    fn set(&self, content: u32) {
        // SAFETY: checked by the model.
        self.0.with_mut(|at| unsafe { *at = content });
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// A barrier. A race that loom finds inside a callback is a panic there, which the domain catches and counts.
fn reclaim_all(domain: &Domain) {
    domain.barrier();
    assert_eq!(domain.stats().callbacks_panicked, 0, "freed under a reader");
}

/// An online reader passes through a quiescent state while an updater replaces and frees.
#[test]
fn quiescent_against_synchronize() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
        });
        let old = world.unlink(1);
        world.domain.synchronize();
        world.free(old);
        thread.join().unwrap();
    });
}

/// A reader registers, reads and leaves while an updater replaces and frees.
#[test]
fn register_and_drop_against_synchronize() {
    check(|| {
        let world = World::new();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&theirs.domain.register("newcomer"));
        });
        let old = world.unlink(1);
        world.domain.synchronize();
        world.free(old);
        thread.join().unwrap();
    });
}

/// A reader goes offline and comes back while an updater replaces and frees.
#[test]
fn offline_and_online_against_synchronize() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("sleeper");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.offline();
            theirs.read(&reader);
        });
        let old = world.unlink(1);
        world.domain.synchronize();
        world.free(old);
        thread.join().unwrap();
    });
}

/// A slot changes hands; its new owner's announcement must cover its former owner's reads.
#[test]
fn a_slot_changes_hands() {
    check(|| {
        let world = World::new();
        let threads = [0, 1].map(|_| {
            let world = world.clone();
            thread::spawn(move || {
                world.read(&world.domain.register("one of two"));
            })
        });
        let old = world.unlink(1);
        let token = world.domain.start();
        if world.domain.poll(token) {
            world.free(old);
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// Two updaters replace and free; each must free only what it unlinked, when it may.
#[test]
fn two_updaters() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let update = |world: Arc<World>, new| {
            move || {
                let old = world.unlink(new);
                let token = world.domain.start();
                if world.domain.poll(token) {
                    world.free(old);
                }
            }
        };
        let other = thread::spawn(update(world.clone(), 2));
        let mine = thread::spawn(update(world.clone(), 1));
        world.read(&reader);
        reader.quiescent();
        world.read(&reader);
        other.join().unwrap();
        mine.join().unwrap();
    });
}

/// One thread unlinks and starts, another polls and frees; they meet through nothing but the token.
#[test]
fn a_token_is_polled_elsewhere() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let old = world.unlink(1);
        let token = world.domain.start();
        let theirs = world.clone();
        let poller = thread::spawn(move || {
            if theirs.domain.poll(token) {
                theirs.free(old);
            }
        });
        // A second poller: one may learn the end from the other.
        let also = world.domain.poll(token);
        assert!(!also, "this thread's reader has not been quiescent");
        world.read(&reader);
        reader.quiescent();
        world.read(&reader);
        poller.join().unwrap();
    });
}

/// The end of a grace period, noticed by one thread, is passed on to another that never looks at the slots.
#[test]
fn the_end_is_passed_on() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let looker = {
            let world = world.clone();
            thread::spawn(move || world.domain.stats().grace_periods)
        };
        let updater = {
            let world = world.clone();
            thread::spawn(move || {
                let old = world.unlink(1);
                let token = world.domain.start();
                if world.domain.poll(token) {
                    world.free(old);
                }
            })
        };
        world.read(&reader);
        reader.quiescent();
        looker.join().unwrap();
        updater.join().unwrap();
    });
}

/// As before, and the reader is a newcomer, which the looker's scan must find.
#[test]
fn the_end_is_passed_on_to_a_newcomers_updater() {
    check(|| {
        let world = World::new();
        let reader = world.domain.register("newcomer");
        let looker = {
            let world = world.clone();
            thread::spawn(move || world.domain.stats().grace_periods)
        };
        let updater = {
            let world = world.clone();
            thread::spawn(move || {
                let old = world.unlink(1);
                let token = world.domain.start();
                if world.domain.poll(token) {
                    world.free(old);
                }
            })
        };
        world.read(&reader);
        drop(reader);
        looker.join().unwrap();
        updater.join().unwrap();
    });
}

/// Two updaters queue, a control thread's barrier runs everything, a reader reads.
#[test]
fn callbacks_against_a_reader() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
        });
        let old = world.unlink(1);
        let target = world.clone();
        world.domain.updater().call(0, move || target.free(old)).unwrap();
        reclaim_all(&world.domain);
        assert_eq!(world.domain.stats().callbacks_waiting, 0);
        thread.join().unwrap();
    });
}

/// One thread unlinks and queues, another reclaims, a third reads.
#[test]
fn callbacks_are_reclaimed_elsewhere() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let updater = thread::spawn(move || {
            let old = theirs.unlink(1);
            let target = theirs.clone();
            theirs.domain.call(0, move || target.free(old)).unwrap();
        });
        let theirs = world.clone();
        let reclaimer = thread::spawn(move || {
            theirs.domain.reclaim();
            theirs.domain.reclaim();
        });
        world.read(&reader);
        reader.quiescent();
        world.read(&reader);
        drop(reader);
        updater.join().unwrap();
        reclaimer.join().unwrap();
        reclaim_all(&world.domain);
    });
}

/// A segment of a queue comes back to its updater while the reclaimer is at work. (In a model it has one entry.)
#[test]
fn segments_are_used_again() {
    check(|| {
        // SAFETY: no cells.
        let domain = Arc::new(unsafe { Domain::isolated(Config::manual()) });
        let ran = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let (theirs, count) = (domain.clone(), ran.clone());
        let updating = thread::spawn(move || {
            let updater = theirs.updater();
            for number in 0..3 {
                let count = count.clone();
                let run = move || assert_eq!(count.fetch_add(1, Ordering::Relaxed), number, "in order");
                updater.call(0, run).ok().expect("room");
            }
        });
        domain.reclaim();
        updating.join().unwrap();
        reclaim_all(&domain);
        assert_eq!(ran.load(Ordering::Relaxed), 3);
    });
}

/// Two threads queue and reclaim at the same time: each callback runs once, and none is lost.
#[test]
fn callbacks_of_two_updaters() {
    check(|| {
        let world = World::new();
        let ran = Arc::new(AtomicUsize::new(0));
        let queue = |world: &World, ran: &Arc<AtomicUsize>| {
            let ran = ran.clone();
            world.domain.call(0, move || _ = ran.fetch_add(1, Ordering::Relaxed)).unwrap();
        };
        let (theirs, count) = (world.clone(), ran.clone());
        let thread = thread::spawn(move || {
            queue(&theirs, &count);
            theirs.domain.reclaim();
        });
        queue(&world, &ran);
        world.domain.barrier();
        assert!(ran.load(Ordering::Relaxed) >= 1);
        thread.join().unwrap();
        world.domain.barrier();
        assert_eq!(ran.load(Ordering::Relaxed), 2);
    });
}

/// Rule 9: updaters come, queue and go at one place while the reclaimer runs what they left and takes the counts away that it finds.
/// In the end the queue has no owner, and each callback has run.
#[test]
fn an_updater_goes_while_another_comes() {
    check(|| {
        // SAFETY: no cells.
        let domain = Arc::new(unsafe { Domain::isolated(Config::manual()) });
        let ran = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let queue = move |domain: &Domain, ran: &std::sync::Arc<std::sync::atomic::AtomicUsize>| {
            let ran = ran.clone();
            let run = move || _ = ran.fetch_add(1, Ordering::Relaxed);
            domain.updater().call(0, run).ok().expect("room");
        };
        queue(&domain, &ran);
        domain.reclaim(); // the first callback has run, and its count is still there
        let (theirs, count) = (domain.clone(), ran.clone());
        let updating = thread::spawn(move || queue(&theirs, &count));
        domain.reclaim();
        updating.join().unwrap();
        reclaim_all(&domain);
        assert_eq!(ran.load(Ordering::Relaxed), 2, "a callback was left behind");
    });
}

/// A cell publishes its value initialised, and no reader reads what it drops.
#[test]
fn a_cell_publishes_and_retires() {
    /// Its content, where loom sees every access.
    struct Value(std::sync::Arc<Object>);
    impl Value {
        fn new(content: u32) -> Self {
            let value = Self(std::sync::Arc::new(Object(UnsafeCell::new(0))));
            value.0.set(content); // a write that publication must cover
            value
        }
    }
    impl rcu::Weigh for Value {
        fn heap_bytes(&self) -> usize {
            0
        }
    }
    impl Drop for Value {
        fn drop(&mut self) {
            self.0.set(0);
        }
    }
    check(|| {
        // SAFETY: one domain a model.
        let domain = Arc::new(unsafe { Domain::isolated(Config::manual()) });
        let cell = Arc::new(Cell::new(Value::new(1)));
        let (their_domain, their_cell) = (domain.clone(), cell.clone());
        let thread = thread::spawn(move || {
            let guard = their_domain.guard();
            assert!((1..=2).contains(&their_cell.read(guard.turn()).0.get()));
        });
        let updater = domain.updater();
        cell.replace(Box::new(Value::new(2)), &updater).unwrap();
        reclaim_all(&domain);
        thread.join().unwrap();
    });
}

/// Grace periods overlap: a second one begins before the first is over. What was unlinked for the second is not
/// freed at the end of the first, and the first does not wait for the second.
#[test]
fn nested_grace_periods() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
        });
        let first = world.unlink(1);
        let outer = world.domain.start();
        let second = world.unlink(2);
        let inner = world.domain.start();
        if world.domain.poll(outer) {
            world.free(first);
        }
        if world.domain.poll(inner) {
            world.free(second);
        }
        thread.join().unwrap();
    });
}

/// A callback that is queued while a batch waits for its grace period waits for the next one.
#[test]
fn a_callback_queued_during_a_grace_period() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
        });
        let retire = |new| {
            let (old, target) = (world.unlink(new), world.clone());
            world.domain.call(0, move || target.free(old)).unwrap();
        };
        retire(1);
        world.domain.reclaim(); // a batch of one begins to wait
        retire(2);
        world.domain.reclaim();
        thread.join().unwrap();
        reclaim_all(&world.domain);
        assert_eq!(world.domain.stats().callbacks_waiting, 0);
    });
}

/// The domain goes while a reader is still reading elsewhere: the last of the two runs what is queued, once,
/// when no reader reads any more.
#[test]
fn the_last_owner_runs_what_is_queued_once() {
    check(|| {
        // SAFETY: one domain a model.
        let domain = unsafe { Domain::isolated(Config::manual()) };
        let object = Arc::new(Object(UnsafeCell::new(1)));
        let mut reader = domain.register("last to leave");
        reader.online();
        let theirs = object.clone();
        let thread = thread::spawn(move || {
            let _turn = reader.turn();
            assert_eq!(theirs.get(), 1, "freed under a reader");
        });
        let freed = object.clone();
        domain.call(0, move || freed.set(freed.get() - 1)).unwrap();
        domain.reclaim();
        drop(domain);
        thread.join().unwrap();
        assert_eq!(object.get(), 0, "left behind, or run twice");
    });
}

/// An updater waits in company: the grace period that it waits for may be one that a thread started that knows
/// nothing of the update. The reader is online, or comes online meanwhile.
fn in_company(online: bool) {
    check(move || {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        if online {
            reader.online();
        }
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            if online {
                reader.quiescent();
            }
            theirs.read(&reader);
        });
        let theirs = world.clone();
        let starter = thread::spawn(move || {
            theirs.domain.start();
        });
        let old = world.unlink(1);
        world.domain.synchronize_shared(std::time::Duration::ZERO);
        world.free(old);
        starter.join().unwrap();
        thread.join().unwrap();
    });
}

/// See [`in_company`].
#[test]
fn a_reader_online_against_company() {
    in_company(true);
}

/// See [`in_company`].
#[test]
fn a_newcomer_against_company() {
    in_company(false);
}

/// A callback that may block is handed over, and a barrier on another thread runs it.
#[test]
fn a_blocking_callback_against_a_reader() {
    check(|| {
        let world = World::new();
        let mut reader = world.domain.register("reader");
        reader.online();
        let theirs = world.clone();
        let thread = thread::spawn(move || {
            theirs.read(&reader);
            reader.quiescent();
            theirs.read(&reader);
        });
        let old = world.unlink(1);
        let target = world.clone();
        world.domain.call_blocking(0, move || target.free(old)).unwrap();
        let theirs = world.clone();
        let other = thread::spawn(move || _ = theirs.domain.reclaim());
        reclaim_all(&world.domain);
        assert_eq!(world.domain.stats().callbacks_waiting, 0);
        other.join().unwrap();
        thread.join().unwrap();
    });
}

/// A domain with a reclaimer's thread, which the model is, and a pool.
fn with_threads() -> Arc<Domain> {
    let mut config = Config::default();
    config.blocking_threads = 1;
    // SAFETY: no cells.
    Arc::new(unsafe { Domain::isolated(config) })
}

/// Rule 8: no callback waits until a later one wakes the thread. A wake-up that is lost leaves the model without a thread that
/// can go on, which loom reports.
#[test]
fn a_callback_wakes_the_reclaimer() {
    check(|| {
        let domain = with_threads();
        let theirs = domain.clone();
        let reclaimer = thread::spawn(move || theirs.be_the_reclaimer(1));
        domain.updater().call(0, || ()).unwrap();
        reclaimer.join().unwrap();
        assert_eq!(domain.stats().callbacks_run, 1);
    });
}

/// A thread of the pool that finds nothing leaves, while a callback is handed over.
#[test]
fn a_thread_of_the_pool_leaves_no_callback_behind() {
    check(|| {
        let domain = with_threads();
        let ran = Arc::new(AtomicUsize::new(0));
        for _ in 0..2 {
            let ran = ran.clone();
            domain.call_blocking(0, move || _ = ran.fetch_add(1, Ordering::Release)).unwrap();
            domain.reclaim();
        }
        while ran.load(Ordering::Acquire) < 2 {
            thread::yield_now();
        }
    });
}
