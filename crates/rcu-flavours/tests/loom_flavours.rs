//! Every interleaving (within a preemption bound) of small programs over each flavour, under the C11 memory model.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p clique-rcu-flavours --release --test 'loom_*'`. Freeing is
//! modelled as a write to a loom cell, so that a read which is not ordered before it is reported as a race.
//!
//! What `mutants.sh` takes away, what is broken then, and which test notices:
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `click_as_published` | a local epoch is set to zero after every task, by a store that nothing orders | `click_epoch::synchronize` |
//! | `click_pass` | the swap that ends a section orders nothing | `click_epoch::synchronize` |
//! | `click_wake_fence` | a thread that wakes reads before it counts as running | `click_epoch::synchronize` |
//! | `click_boundary_fence` | a thread wakes unseen and finds what was unlinked before the boundary | `click_epoch::synchronize` |
//! | `click_block` | a thread counts as blocked while its section is under way | `click_epoch::retire` |
//! | `qrcu_leave` | a section's reads overtake its end | `qrcu::synchronize` |
//! | `qrcu_wait` | no updater waits for the former counter | `qrcu::synchronize` |
//! | `drcu_wait` | no updater takes the write side | `drcu::synchronize` |
//! | `ap_reader_fence` | a reader copies the count of boundaries and still finds what was unlinked before | `ap_rcu::synchronize` |
//! | `ap_updater_fence` | something is queued with an older count than readers had | `ap_rcu_helped` |
//! | `ap_offline` | a reader counts as offline while its section is under way | `ap_rcu::retire` |
//! | `ap_ignore_readers` | the detector looks at no reader | `ap_rcu::synchronize` |
//! | `ap_look` | who sees the copy need not come after that section | `ap_rcu::synchronize` |
//! | `ap_announce` | who acts on a boundary need not come after the sections that it ends | `ap_rcu_announced_by_another` |
//! | `ap_copy` | a section is still under way when others see that the reader copied the count | `ap_rcu_announced_by_another` |
//! | `ap_act` | as before, from the other end | `ap_rcu_announced_by_another` |
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
use rcu::Config;
use rcu_flavours::{
    ApRcu, ApRcuConfig, BrLock, ClickEpoch, Drcu, Flavour, Garbage, Lock, Qrcu, Qsbr, RwLock, Thread,
    Unprotected,
};

/// A pointer that readers follow (an index), and what it may point to.
struct World {
    place: AtomicUsize,
    objects: [UnsafeCell<u32>; 3],
}

// SAFETY: access to the objects is what the models check.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    fn new() -> Arc<Self> {
        Arc::new(Self { place: AtomicUsize::new(0), objects: [1, 1, 1].map(UnsafeCell::new) })
    }

    fn read<T: Thread>(&self, thread: &mut T) {
        let section = thread.read();
        let at = self.place.load(Ordering::Acquire);
        // SAFETY: checked by the model.
        self.objects[at].with(|object| assert_eq!(unsafe { *object }, 1, "freed under a reader"));
        drop(section);
    }

    /// Replaces object `old` by `new`; the caller frees it.
    fn unlink<T: Thread>(&self, thread: &mut T, new: usize) -> usize {
        let section = thread.update();
        let old = self.place.swap(new, Ordering::AcqRel);
        drop(section);
        old
    }

    fn free(&self, at: usize) {
        // SAFETY: checked by the model.
        self.objects[at].with_mut(|object| unsafe { *object = 0 });
    }
}

fn check(bound: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(bound);
    builder.check(model);
}

/// A reader that passes through quiescent states, against an updater that waits and frees.
fn synchronize<F: Flavour>(bound: usize, make: fn() -> F) {
    check(bound, move || {
        let (world, flavour) = (World::new(), make());
        let mut reader = flavour.register();
        let theirs = world.clone();
        let reading = thread::spawn(move || {
            theirs.read(&mut reader);
            for _ in 0..2 {
                reader.quiescent();
                theirs.read(&mut reader);
            }
        });
        let mut updater = flavour.register();
        let old = world.unlink(&mut updater, 1);
        updater.synchronize();
        world.free(old);
        drop(updater);
        reading.join().unwrap();
    });
}

/// A reader that registers late, leaves, and comes back, against an updater that retires.
fn retire<F: Flavour>(bound: usize, make: fn() -> F) {
    check(bound, move || {
        let (world, flavour) = (World::new(), make());
        let (theirs, instance) = (world.clone(), flavour.clone());
        let reading = thread::spawn(move || {
            let mut reader = instance.register();
            theirs.read(&mut reader);
            reader.offline();
            theirs.read(&mut reader);
        });
        let mut updater = flavour.register();
        let old = world.unlink(&mut updater, 1);
        let target = world.clone();
        updater.retire(Garbage::from_fn(0, move || target.free(old)));
        updater.barrier();
        drop(updater);
        reading.join().unwrap();
    });
}

/// Two updaters at once: each must free what it unlinked only when the other cannot be looking at it.
fn two_updaters<F: Flavour>(bound: usize, make: fn() -> F) {
    check(bound, move || {
        let (world, flavour) = (World::new(), make());
        let update = |new| {
            let (world, flavour) = (world.clone(), flavour.clone());
            move || {
                let mut thread = flavour.register();
                world.read(&mut thread);
                let old = world.unlink(&mut thread, new);
                thread.synchronize();
                world.free(old);
            }
        };
        let other = thread::spawn(update(2));
        update(1)();
        other.join().unwrap();
    });
}

/// Another thread notices boundaries, too, while an updater retires something.
fn helped<F: Flavour>(bound: usize, make: fn() -> F, help: fn(&F, &mut F::Thread)) {
    check(bound, move || {
        let (world, flavour) = (World::new(), make());
        let (mut helper, instance) = (flavour.register(), flavour.clone());
        let helping = thread::spawn(move || (0..2).for_each(|_| help(&instance, &mut helper)));
        let (mut reader, theirs) = (flavour.register(), world.clone());
        let reading = thread::spawn(move || {
            theirs.read(&mut reader);
            reader.quiescent();
            theirs.read(&mut reader);
        });
        let mut updater = flavour.register();
        let old = world.unlink(&mut updater, 1);
        let target = world.clone();
        updater.retire(Garbage::from_fn(0, move || target.free(old)));
        updater.barrier();
        drop(updater);
        helping.join().unwrap();
        reading.join().unwrap();
    });
}

/// Boundaries that neither the reader nor the updater announces: an updater that acts on what it finds announced, without having looked for
/// it under the detector's lock, comes after the sections that the detector found ended.
#[test]
fn ap_rcu_announced_by_another() {
    check(2, || {
        let (world, flavour) = (World::new(), ApRcu::with_config(ApRcuConfig::manual()));
        let (mut reader, theirs) = (flavour.register(), world.clone());
        // Online before the threads part, so that it need not fence to become so.
        theirs.read(&mut reader);
        let detector = flavour.clone();
        let detecting = thread::spawn(move || (0..2).for_each(|_| detector.work()));
        let reading = thread::spawn(move || {
            theirs.read(&mut reader);
            reader.quiescent();
        });
        let mut updater = flavour.register();
        let old = world.unlink(&mut updater, 1);
        updater.synchronize();
        world.free(old);
        drop(updater);
        detecting.join().unwrap();
        reading.join().unwrap();
    });
}

macro_rules! models {
    ($($name:ident: $flavour:expr, $bounds:expr;)*) => { $(
        mod $name {
            use super::*;

            #[test]
            fn synchronize() {
                super::synchronize($bounds[0], || $flavour);
            }

            #[test]
            fn retire() {
                super::retire($bounds[1], || $flavour);
            }

            #[test]
            fn two_updaters() {
                super::two_updaters($bounds[2], || $flavour);
            }
        }
    )* };
}

models! {
    qsbr: Qsbr::with_config(Config::manual()), [2, 2, 2];
    ap_rcu: ApRcu::with_config(ApRcuConfig::manual()), [3, 3, 2];
    click_epoch: ClickEpoch::new(), [4, 3, 2];
    qrcu: Qrcu::new(), [3, 3, 2];
    drcu: Drcu::new(), [3, 3, 3];
    lock: Lock::new(), [3, 3, 3];
    rwlock: RwLock::new(), [3, 3, 3];
    brlock: BrLock::with_locks(2), [3, 3, 3];
}

#[test]
fn ap_rcu_helped() {
    helped(2, || ApRcu::with_config(ApRcuConfig::manual()), |instance, _| instance.work());
}

#[test]
fn click_epoch_helped() {
    helped(2, ClickEpoch::new, |_, thread| thread.quiescent());
}

/// The models are worth something only if they fail without protection.
#[test]
#[should_panic(expected = "Causality violation")]
fn without_protection_the_model_fails() {
    // SAFETY: the "objects" are loom's, which report what is wrong.
    synchronize(2, || unsafe { Unprotected::new() });
}
