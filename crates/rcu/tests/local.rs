//! Updaters that run their callbacks themselves.
#![cfg(not(loom))]

use rcu::{Cell, Config, Domain, LocalUpdater};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

fn manual() -> Domain {
    // SAFETY: each test uses its cells with its one domain only.
    unsafe { Domain::isolated(Config::manual()) }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl rcu::Weigh for Counted {
    fn heap_bytes(&self) -> usize {
        0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn replace(cell: &Cell<Counted>, drops: &Arc<AtomicUsize>, updater: &mut LocalUpdater) {
    cell.replace(Box::new(Counted(drops.clone())), updater).expect("room");
}

#[test]
fn nothing_is_freed_before_the_turn_that_may_hold_it_ends() {
    let (domain, drops) = (manual(), Arc::new(AtomicUsize::new(0)));
    let cell = Cell::new(Counted(drops.clone()));
    let (mut reader, mut updater) = (domain.register("reader"), domain.local_updater());
    reader.turn();
    for _ in 0..1000 {
        replace(&cell, &drops, &mut updater);
    }
    assert_eq!(drops.load(Relaxed), 0);
    reader.quiescent(); // ends the first batch's grace period, not that of what was replaced later
    reader.offline();
    updater.barrier();
    assert_eq!(drops.load(Relaxed), 1000);
    let stats = domain.stats();
    assert_eq!((stats.callbacks_waiting, stats.callbacks_run), (0, 1000));
    drop(updater);
    assert_eq!(domain.stats().bytes_waiting, 0, "all room is given back");
}

#[test]
fn what_it_hands_over_the_domain_runs_in_order() {
    let (domain, log) = (manual(), Arc::new(Mutex::new(Vec::new())));
    let mut updater = domain.local_updater();
    for number in 0..600u32 {
        let log = log.clone();
        let padding = [number; 9]; // too large to be kept in place
        updater.call(4, move || log.lock().expect("no panic").push(padding[8])).expect("room");
    }
    let reader = domain.register("reader");
    reader.turn();
    drop(updater); // two batches have run, or wait
    assert!(domain.reclaim(), "the reader is in its turn");
    drop(reader);
    domain.barrier();
    assert_eq!(*log.lock().expect("no panic"), (0..600).collect::<Vec<_>>());
    assert_eq!((domain.stats().callbacks_waiting, domain.stats().bytes_waiting), (0, 0));
}

#[test]
fn the_limit_holds_and_a_refusal_gives_back() {
    let (domain, limit) = (manual(), 40 << 10);
    domain.set_limit_bytes(limit);
    let (mut reader, mut updater) = (domain.register("reader"), domain.local_updater());
    reader.turn();
    let mut accepted = 0usize;
    while updater.retire(Box::new([0u8; 1000])).is_ok() {
        accepted += 1;
        assert!(domain.stats().bytes_waiting <= limit);
    }
    assert!((30..=40).contains(&accepted), "{accepted}");
    reader.quiescent();
    reader.offline();
    assert!(updater.retire(Box::new([0u8; 1000])).is_ok(), "what could be freed made room");
    updater.barrier();
    assert!(updater.call(1 << 20, || ()).is_ok(), "when nothing waits, one of any size is allowed");
    assert_eq!(domain.stats().callbacks_refused, 1);
}

#[test]
fn a_panic_in_a_callback_stops_no_other() {
    let (domain, drops) = (manual(), Arc::new(AtomicUsize::new(0)));
    let mut updater = domain.local_updater();
    updater.call(0, || panic!("as the test wants")).expect("room");
    updater.retire(Box::new(Counted(drops.clone()))).expect("room");
    updater.barrier();
    assert_eq!((drops.load(Relaxed), domain.stats().callbacks_panicked), (1, 1));
}

#[test]
fn a_recycler_uses_each_box_again_and_drops_each_value_once() {
    let (domain, drops) = (manual(), Arc::new(AtomicUsize::new(0)));
    let cell = Cell::new(Counted(drops.clone()));
    let mut recycler = domain.recycler();
    let mut addresses = HashSet::new();
    for done in 0..10_000 {
        recycler.replace(&cell, Counted(drops.clone())).expect("room");
        addresses.insert(std::ptr::from_ref(cell.read(domain.guard().turn())).addr());
        assert!(drops.load(Relaxed) <= done);
    }
    assert!(addresses.len() < 1000, "{} boxes", addresses.len());
    recycler.barrier();
    assert_eq!(drops.load(Relaxed), 10_000);
    let stats = domain.stats();
    assert_eq!((stats.bytes_waiting, stats.callbacks_waiting), (0, 0));
    recycler.replace(&cell, Counted(drops.clone())).expect("room");
    drop(recycler);
    domain.barrier();
    assert_eq!(drops.load(Relaxed), 10_001);
    assert_eq!(domain.stats().bytes_waiting, 0, "all room is given back");
}

#[test]
fn a_recycler_waits_for_turns_and_keeps_to_the_limit() {
    let (domain, limit) = (manual(), 40 << 10);
    domain.set_limit_bytes(limit);
    let cell = Cell::new([0u8; 1000]);
    let (mut reader, mut recycler) = (domain.register("reader"), domain.recycler());
    let held = cell.read(reader.turn());
    let mut accepted = 0u8;
    while recycler.replace(&cell, [accepted + 1; 1000]).is_ok() {
        accepted += 1;
        assert_eq!(*held, [0; 1000], "its box is not used again under a reader");
        assert!(domain.stats().bytes_waiting <= limit);
    }
    assert!((30..=40).contains(&accepted), "{accepted}");
    assert_eq!(*cell.read(reader.turn()), [accepted; 1000], "a refusal changes nothing");
    reader.quiescent();
    reader.offline();
    for value in 0..200 {
        recycler.replace(&cell, [value; 1000]).expect("there are boxes to use again");
    }
    assert_eq!(*cell.read(reader.turn()), [199; 1000]);
    assert_eq!(domain.stats().callbacks_refused, 1);
}
