//! Updaters that run their callbacks themselves.
#![cfg(not(loom))]

use rcu::{Cell, Config, Domain, LocalUpdater};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

fn manual() -> Domain {
    // SAFETY: each test uses its cells with its one domain only.
    unsafe { Domain::isolated(Config::manual()) }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

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
