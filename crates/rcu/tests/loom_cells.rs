//! Lists and tables that grow, in every interleaving within a preemption bound.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `list_acquire` | a walk may find a node before it is initialised | `a_walk_against_inserting` |
//! | `list_release` | as before, from the other end | `a_walk_against_inserting` |
#![cfg(loom)]
// Whether the shared cells are accessed one at a time is what the models check.
#![allow(clippy::arc_with_non_send_sync)]

use loom::{cell::UnsafeCell, model::Builder, sync::Arc, thread};
use rcu::{Config, Domain, List, Slots};

/// A number whose every access loom sees; dropping it is a write.
struct Seen(UnsafeCell<u32>);

// SAFETY: access is what the models check.
unsafe impl Send for Seen {}
// SAFETY: as above.
unsafe impl Sync for Seen {}

impl Seen {
    fn new(number: u32) -> Self {
        let seen = Self(UnsafeCell::new(0));
        // SAFETY: checked by the model.
        seen.0.with_mut(|at| unsafe { *at = number });
        seen
    }

    fn get(&self) -> u32 {
        // SAFETY: checked by the model.
        self.0.with(|at| unsafe { *at })
    }
}

impl rcu::Weigh for Seen {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Drop for Seen {
    fn drop(&mut self) {
        // SAFETY: checked by the model.
        self.0.with_mut(|at| unsafe { *at = 0 });
    }
}

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(model);
}

struct World {
    domain: Domain,
    list: List<Seen>,
}

impl World {
    /// A list of these numbers.
    fn new(numbers: &[u32]) -> Arc<Self> {
        // SAFETY: one domain a model.
        let domain = unsafe { Domain::isolated(Config::manual()) };
        let list = List::new();
        numbers.iter().rev().for_each(|number| list.edit().push_front(Seen::new(*number)));
        Arc::new(Self { domain, list })
    }

    fn walk(&self) -> Vec<u32> {
        let guard = self.domain.guard();
        self.list.iter(guard.turn()).map(Seen::get).collect()
    }

    /// A race that loom finds while a node is dropped is a panic there, which the domain catches and counts.
    fn reclaim(&self) {
        self.domain.barrier();
        assert_eq!(self.domain.stats().callbacks_panicked, 0, "freed under a reader");
    }
}

#[test]
fn a_walk_against_inserting() {
    check(|| {
        let world = World::new(&[1]);
        let theirs = world.clone();
        let walker = thread::spawn(move || theirs.walk());
        world.list.edit().push_front(Seen::new(2));
        let walked = walker.join().unwrap();
        assert!(walked == [1] || walked == [2, 1], "{walked:?}");
    });
}

/// The walker may stand on a node while it and its follower are unlinked, in either order.
#[test]
fn a_walk_against_removing_neighbours() {
    for first in [1, 2] {
        check(move || {
            let world = World::new(&[1, 2, 3]);
            let theirs = world.clone();
            let walker = thread::spawn(move || theirs.walk());
            let updater = world.domain.updater();
            for number in [first, 3 - first] {
                world.list.edit().remove(|seen| seen.get() == number, &updater).unwrap();
            }
            world.reclaim();
            let walked = walker.join().unwrap();
            assert_eq!(walked.last(), Some(&3), "{walked:?}");
        });
    }
}

#[test]
fn a_walk_against_replacing() {
    check(|| {
        let world = World::new(&[1, 2]);
        let theirs = world.clone();
        let walker = thread::spawn(move || theirs.walk());
        let updater = world.domain.updater();
        let replaced = world.list.edit().replace(Seen::new(5), |seen| seen.get() == 1, &updater);
        assert!(replaced.unwrap().is_none());
        world.reclaim();
        let walked = walker.join().unwrap();
        assert!(walked == [1, 2] || walked == [5, 2], "{walked:?}");
    });
}

/// Two updaters make the same segment at the same time, and a reader looks: nothing set is lost.
#[test]
fn slots_grow_under_two_updaters() {
    check(|| {
        // SAFETY: one domain a model.
        let domain = Arc::new(unsafe { Domain::isolated(Config::manual()) });
        let slots = Arc::new(Slots::new());
        let set = |slots: &Slots<Seen>, domain: &Domain, index| {
            let value = Some(Box::new(Seen::new(index as u32)));
            slots.set(index, value, &domain.updater()).unwrap();
        };
        let (their_slots, their_domain) = (slots.clone(), domain.clone());
        let other = thread::spawn(move || set(&their_slots, &their_domain, 1));
        set(&slots, &domain, 2); // the same segment
        let guard = domain.guard();
        assert_eq!(slots.get(2, guard.turn()).map(Seen::get), Some(2));
        let theirs = slots.get(1, guard.turn()).map(Seen::get);
        assert!(theirs.is_none_or(|number| number == 1), "{theirs:?}");
        other.join().unwrap();
        assert_eq!(slots.get(1, guard.turn()).map(Seen::get), Some(1));
    });
}
