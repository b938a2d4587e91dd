//! The litmus tests of Linux's memory model that say what RCU promises, on this crate's grace periods.
//!
//! Each runs a program of a few loads and stores in every interleaving within a preemption bound, with every value that the C11 model
//! lets a load return, and collects the outcomes. The outcome that the guarantee forbids must not be among them.
//! Where the machine itself can show the outcome, a second run without the grace period must find it: so the test
//! is known to be able to fail. (loom runs loads in program order, so LB cannot show it.)
//!
//! Run as the models in `loom_grace`.
#![cfg(loom)]

use std::{collections::BTreeSet, sync::Mutex};

use loom::{
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::*},
    },
    thread,
};
use rcu::{Config, Domain, OptionCell, Weigh};

/// What the shared locations are called in the literature.
struct World {
    domain: Domain,
    x: AtomicUsize,
    y: AtomicUsize,
}

impl World {
    fn new() -> Arc<Self> {
        // SAFETY: one domain a model.
        let domain = unsafe { Domain::isolated(Config::manual()) };
        Arc::new(Self { domain, x: AtomicUsize::new(0), y: AtomicUsize::new(0) })
    }

    fn wait(&self, grace_period: bool) {
        if grace_period {
            self.domain.synchronize();
        }
    }
}

/// All outcomes of a program.
fn outcomes<T: Ord + Send + 'static>(program: impl Fn() -> T + Send + Sync + 'static) -> BTreeSet<T> {
    let found = std::sync::Arc::new(Mutex::new(BTreeSet::new()));
    let each = found.clone();
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let outcome = program();
        each.lock().unwrap().insert(outcome);
    });
    let mut found = found.lock().unwrap();
    std::mem::take(&mut found)
}

/// RCU+sync+read: an updater that saw one store of a turn sees all of them after a grace period.
#[test]
fn rcu_sync_read() {
    let run = |grace_period| {
        outcomes(move || {
            let world = World::new();
            let theirs = world.clone();
            let reader = thread::spawn(move || {
                let guard = theirs.domain.guard();
                guard.turn();
                theirs.x.store(1, Relaxed);
                theirs.y.store(1, Relaxed);
            });
            let x = world.x.load(Relaxed);
            world.wait(grace_period);
            let y = world.y.load(Relaxed);
            reader.join().unwrap();
            (x, y)
        })
    };
    assert!(!run(true).contains(&(1, 0)), "a turn spans a grace period");
    assert!(run(false).contains(&(1, 0)), "this test cannot fail");
}

/// RCU+sync+free: a turn that does not see what was stored before a grace period does not see what was stored
/// after it. In terms of use: who still found the old object does not find it destroyed.
#[test]
fn rcu_sync_free() {
    let run = |grace_period| {
        outcomes(move || {
            let world = World::new();
            let theirs = world.clone();
            let reader = thread::spawn(move || {
                let guard = theirs.domain.guard();
                guard.turn();
                let unlinked = theirs.x.load(Acquire);
                let destroyed = theirs.y.load(Relaxed);
                (unlinked, destroyed)
            });
            world.x.store(1, Release);
            world.wait(grace_period);
            world.y.store(1, Relaxed);
            reader.join().unwrap()
        })
    };
    assert!(!run(true).contains(&(0, 1)), "a turn spans a grace period");
    assert!(run(false).contains(&(0, 1)), "this test cannot fail");
}

/// A value that loom watches.
struct Watched(Arc<AtomicUsize>);

impl Weigh for Watched {
    fn heap_bytes(&self) -> usize {
        0
    }
}

/// MP+onceassign+derefonce: who finds a published value finds it initialised.
#[test]
fn mp_onceassign_derefonce() {
    let found = outcomes(|| {
        let world = World::new();
        let (x, cell) = (Arc::new(AtomicUsize::new(0)), Arc::new(OptionCell::new(None)));
        let (their_world, their_cell) = (world.clone(), cell.clone());
        let reader = thread::spawn(move || {
            let guard = their_world.domain.guard();
            their_cell.read(guard.turn()).map(|x: &Watched| x.0.load(Relaxed))
        });
        let updater = world.domain.updater();
        x.store(1, Relaxed);
        cell.replace(Some(Box::new(Watched(x))), &updater).unwrap();
        reader.join().unwrap()
    });
    assert_eq!(found, BTreeSet::from([None, Some(1)]));
}

/// SB: of two threads that store, wait for a grace period, and load what the other stored, one sees it.
#[test]
fn sb_with_grace_periods() {
    let run = |grace_period| {
        outcomes(move || {
            let world = World::new();
            let theirs = world.clone();
            let other = thread::spawn(move || {
                theirs.x.store(1, Relaxed);
                theirs.wait(grace_period);
                theirs.y.load(Relaxed)
            });
            world.y.store(1, Relaxed);
            world.wait(grace_period);
            let x = world.x.load(Relaxed);
            (x, other.join().unwrap())
        })
    };
    assert!(!run(true).contains(&(0, 0)), "a grace period orders no store before a load");
    assert!(run(false).contains(&(0, 0)), "this test cannot fail");
}

/// SB, with a turn in the place of one grace period: storing before a turn that comes online, and loading in it,
/// is ordered as well, since that is what makes the newcomer visible to scans.
#[test]
fn sb_of_a_newcomer_and_a_grace_period() {
    let found = outcomes(|| {
        let world = World::new();
        let theirs = world.clone();
        let newcomer = thread::spawn(move || {
            theirs.x.store(1, Relaxed);
            let guard = theirs.domain.guard();
            guard.turn();
            theirs.y.load(Relaxed)
        });
        world.y.store(1, Relaxed);
        world.domain.synchronize();
        let x = world.x.load(Relaxed);
        (x, newcomer.join().unwrap())
    });
    assert!(!found.contains(&(0, 0)), "neither saw the other");
}

/// LB: a turn loads x, then stores y; an updater loads y, waits, then stores x. Not both see the other.
#[test]
fn lb_with_a_grace_period() {
    let found = outcomes(|| {
        let world = World::new();
        let theirs = world.clone();
        let reader = thread::spawn(move || {
            let guard = theirs.domain.guard();
            guard.turn();
            let x = theirs.x.load(Relaxed);
            theirs.y.store(1, Relaxed);
            x
        });
        let y = world.y.load(Relaxed);
        world.domain.synchronize();
        world.x.store(1, Relaxed);
        (reader.join().unwrap(), y)
    });
    assert!(!found.contains(&(1, 1)), "both saw the future");
}

/// IRIW: two threads that load x and y in opposite orders, with a grace period between, agree on which of two
/// independent stores came first.
#[test]
fn iriw_with_grace_periods() {
    let run = |grace_period| {
        outcomes(move || {
            let world = World::new();
            let (a, b, c) = (world.clone(), world.clone(), world.clone());
            let writer_x = thread::spawn(move || a.x.store(1, Relaxed));
            let writer_y = thread::spawn(move || b.y.store(1, Relaxed));
            let other = thread::spawn(move || {
                let x = c.x.load(Acquire);
                c.wait(grace_period);
                (x, c.y.load(Relaxed))
            });
            let y = world.y.load(Acquire);
            world.wait(grace_period);
            let mine = (y, world.x.load(Relaxed));
            writer_x.join().unwrap();
            writer_y.join().unwrap();
            (other.join().unwrap(), mine)
        })
    };
    let disagree = ((1, 0), (1, 0));
    assert!(!run(true).contains(&disagree), "two orders of the same stores");
    assert!(run(false).contains(&disagree), "this test cannot fail");
}
