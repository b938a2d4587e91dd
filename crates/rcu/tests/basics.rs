//! What each call promises, one thread or a few at a time.
#![cfg(not(loom))]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use rcu::{Cell, Config, Domain, OptionCell};

/// A domain without a background thread, so that a test decides when to reclaim.
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

/// Cannot be weighed; says when it is dropped.
struct Weightless(Arc<AtomicUsize>);

impl rcu::Weigh for Weightless {
    fn heap_bytes(&self) -> usize {
        panic!("it has no weight");
    }
}

impl Drop for Weightless {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Readers may have what was replaced: it must not be dropped at once, even if weighing it panics.
#[test]
fn what_cannot_be_weighed_leaks() {
    let (domain, dropped) = (manual(), Arc::new(AtomicUsize::new(0)));
    let (reader, updater) = (domain.register("reader"), domain.updater());
    let value = || Weightless(dropped.clone());
    let (cell, option) = (Cell::new(value()), OptionCell::new(Some(value())));
    let turn = reader.turn();
    let seen = (cell.read(turn), option.read(turn));
    let panics = |work: &dyn Fn()| {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).expect_err("it panics");
    };
    panics(&|| drop(option.replace(None, &updater)));
    panics(&|| drop(cell.replace(Box::new(value()), &updater)));
    panics(&|| drop(cell.update(turn, &updater, |_| value())));
    assert_eq!(dropped.load(Relaxed), 0);
    assert!(Arc::ptr_eq(&seen.0.0, &seen.1.expect("a value").0), "and can still be read");
}

#[test]
fn a_turn_holds_up_what_it_may_have_seen_and_nothing_else() {
    let domain = manual();
    let (mut a, mut b) = (domain.register("a"), domain.register("b"));
    a.turn();
    let first = domain.start();
    b.turn(); // came online after the start: no business of `first`
    assert!(!domain.poll(first));
    let second = domain.start();
    assert!(second > first);
    a.quiescent();
    assert!(domain.poll(first));
    assert!(!domain.poll(second));
    b.quiescent();
    assert!(domain.poll(second));
    assert_eq!(domain.stats().grace_periods, 2);
}

#[test]
fn offline_and_dropped_readers_hold_up_nobody() {
    let domain = manual();
    let mut sleeper = domain.register("sleeper");
    domain.synchronize(); // registered, but offline
    sleeper.turn();
    let token = domain.start();
    assert!(!domain.poll(token));
    sleeper.offline();
    assert!(domain.poll(token));
    sleeper.quiescent(); // changes nothing
    assert!(!sleeper.is_online());
    sleeper.online();
    let token = domain.start();
    assert!(!domain.poll(token));
    drop(sleeper);
    assert!(domain.poll(token));
}

#[test]
fn a_slot_is_used_again() {
    let domain = manual();
    for _ in 0..1000 {
        let guard = domain.guard();
        let cell = Cell::new(1);
        assert_eq!(*cell.read(guard.turn()), 1);
        assert_eq!(domain.stats().readers, 1);
    }
    assert_eq!(domain.stats().readers, 0);
}

#[test]
fn a_reader_synchronizes_without_waiting_for_itself() {
    let domain = manual();
    let mut reader = domain.register("me");
    reader.turn();
    reader.synchronize();
    assert!(!reader.is_online());
}

#[test]
fn updates_share_a_grace_period_and_run_in_order() {
    let domain = manual();
    let log = Arc::new(Mutex::new(Vec::new()));
    let updater = domain.updater();
    for i in 0..100 {
        let log = log.clone();
        updater.call(0, move || log.lock().unwrap().push(i)).unwrap();
    }
    assert_eq!(domain.stats().callbacks_waiting, 100);
    drop(updater); // its callbacks stay
    domain.barrier();
    assert_eq!(*log.lock().unwrap(), (0..100).collect::<Vec<_>>());
    let stats = domain.stats();
    assert_eq!((stats.grace_periods, stats.callbacks_run, stats.callbacks_waiting), (1, 100, 0));
    assert_eq!(stats.bytes_waiting, 0);
    assert_eq!(stats.latency.count, 1);
}

#[test]
fn reclaim_waits_for_readers_but_not_in_the_call() {
    let domain = manual();
    let mut reader = domain.register("reader");
    reader.turn();
    let drops = Arc::new(AtomicUsize::new(0));
    domain.retire(Box::new(Counted(drops.clone()))).unwrap();
    assert!(domain.reclaim());
    domain.retire(Box::new(Counted(drops.clone()))).unwrap(); // goes into the next batch
    assert!(domain.reclaim());
    assert_eq!(drops.load(Relaxed), 0);
    reader.quiescent();
    assert!(domain.reclaim(), "the second batch has only begun to wait");
    assert_eq!(drops.load(Relaxed), 1);
    reader.quiescent();
    assert!(!domain.reclaim());
    assert_eq!(drops.load(Relaxed), 2);
}

#[test]
fn a_cell_frees_each_value_once() {
    let drops = Arc::new(AtomicUsize::new(0));
    let domain = manual();
    let updater = domain.updater();
    let cell = Cell::new(Counted(drops.clone()));
    for _ in 0..10 {
        cell.replace(Box::new(Counted(drops.clone())), &updater).unwrap();
    }
    cell.update(domain.guard().turn(), &updater, |old| Counted(old.0.clone())).unwrap();
    let option = OptionCell::new(None);
    option.replace(Some(Box::new(Counted(drops.clone()))), &updater).unwrap();
    option.replace(None, &updater).unwrap();
    assert!(option.read(domain.guard().turn()).is_none());
    assert_eq!(drops.load(Relaxed), 0);
    drop(cell);
    assert_eq!(drops.load(Relaxed), 1);
    drop(updater);
    drop(domain); // the last owner runs what is left
    assert_eq!(drops.load(Relaxed), 13);
}

/// Under ThreadSanitizer, too, which sees whether each access to a value comes after its making and before its end.
#[test]
fn values_are_whole_while_they_are_read() {
    // SAFETY: one domain, one cell.
    let domain = unsafe { Domain::isolated(Config::default()) };
    let (cell, reads, stop) = (Cell::new([0; 8]), AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = domain.register("reader");
                while !stop.load(Relaxed) {
                    let value: &[usize; 8] = cell.read(reader.turn());
                    assert!(value.iter().all(|part| *part == value[0]), "{value:?}");
                    reads.fetch_add(1, Relaxed);
                    reader.quiescent();
                }
            });
        }
        let (updater, mut version) = (domain.updater(), 0);
        while version < 2000 || reads.load(Relaxed) < 2000 {
            version += 1;
            if cell.replace(Box::new([version; 8]), &updater).is_err() {
                thread::yield_now();
            }
        }
        stop.store(true, Relaxed);
    });
}

#[test]
fn back_pressure_gives_everything_back_and_changes_nothing() {
    let domain = manual();
    domain.set_limit_bytes(1000);
    let updater = domain.updater();
    updater.call(5000, || ()).unwrap(); // alone, anything goes
    let cell = Cell::new(1);
    let refused = cell.replace(Box::new(2), &updater).unwrap_err();
    assert_eq!(*refused.into_inner(), 2);
    assert_eq!(*cell.read(domain.guard().turn()), 1);
    assert_eq!(*updater.retire(Box::new(3)).unwrap_err().into_inner(), 3);
    updater.call(0, || ()).unwrap_err().into_inner()();
    assert_eq!(domain.stats().callbacks_refused, 3);
    domain.barrier();
    cell.replace(Box::new(2), &updater).unwrap();
    let mut queued = 0;
    while updater.call(100, || ()).is_ok() {
        queued += 1;
        assert!(domain.stats().bytes_waiting <= 1000);
    }
    assert!((1..10).contains(&queued), "each callback is charged for its entry, too: {queued}");
}

#[test]
fn a_callback_may_queue_another_and_may_panic() {
    let domain = Arc::new(manual());
    let (inner, ran) = (domain.clone(), Arc::new(AtomicUsize::new(0)));
    let count = ran.clone();
    let again = move || {
        let count = count.clone();
        inner.call(0, move || _ = count.fetch_add(1, Relaxed)).unwrap();
    };
    domain.call(0, again).unwrap();
    domain.call(0, || std::panic::resume_unwind(Box::new("on purpose"))).unwrap();
    domain.barrier();
    assert_eq!(ran.load(Relaxed), 0, "queued after the barrier began");
    domain.barrier();
    assert_eq!(ran.load(Relaxed), 1);
    assert_eq!(domain.stats().callbacks_panicked, 1);
}

#[test]
fn the_background_thread_reclaims_and_ends_with_its_domain() {
    // SAFETY: no cells here.
    let domain = unsafe { Domain::isolated(Config::default()) };
    for _ in 0..100 {
        let (send, receive) = mpsc::channel();
        // No other thread reclaims, so only a wake-up that is not lost brings this back.
        domain.call(0, move || send.send(thread::current().id()).unwrap()).unwrap();
        assert_ne!(receive.recv().unwrap(), thread::current().id());
    }
}

#[test]
fn the_global_domain_reclaims_in_the_background() {
    let (send, receive) = mpsc::channel();
    Domain::global().updater().call(0, move || send.send(()).unwrap()).unwrap();
    receive.recv().unwrap();
}

#[test]
fn a_late_reader_is_asked_then_named() {
    let domain = manual();
    domain.set_stall_limit(Duration::ZERO);
    let (names, seen) = (Arc::new(Mutex::new(Vec::new())), mpsc::channel());
    let (hook_names, send) = (names.clone(), Mutex::new(seen.0));
    domain.on_stall(move |stall| {
        hook_names.lock().unwrap().push(stall.reader.clone());
        send.lock().unwrap().send(()).unwrap();
    });
    thread::scope(|scope| {
        let mut slow = domain.register("slow");
        slow.turn();
        let waiter = scope.spawn(|| domain.synchronize());
        seen.1.recv().unwrap();
        let stalled = domain.stats().stalled;
        assert_eq!(stalled.iter().map(|s| &s.reader[..]).collect::<Vec<_>>(), ["slow"]);
        while !slow.asked() {
            thread::yield_now();
        }
        slow.quiescent();
        waiter.join().unwrap();
        assert!(!slow.asked());
    });
    assert_eq!(*names.lock().unwrap(), ["slow"], "once, however long it takes");
    let stats = domain.stats();
    assert_eq!((stats.stalls, stats.stalled.len()), (1, 0));
}

#[test]
fn a_barrier_is_not_starved_by_a_stream_of_updates() {
    // SAFETY: no cells here.
    let domain = Arc::new(unsafe { Domain::isolated(Config::default()) });
    /// Keeps the queue from ever being empty, until told to stop.
    fn again(domain: Arc<Domain>, stop: Arc<AtomicBool>) {
        if !stop.load(Relaxed) {
            let next = domain.clone();
            domain.call(0, move || again(next, stop)).unwrap();
        }
    }
    let stop = Arc::new(AtomicBool::new(false));
    again(domain.clone(), stop.clone());
    for _ in 0..10 {
        domain.barrier();
    }
    stop.store(true, Relaxed);
}

#[test]
#[should_panic(expected = "its own guard at")]
fn a_barrier_behind_the_reclaimer_recognises_it_too() {
    // SAFETY: no cells here.
    let domain = unsafe { Domain::isolated(Config::default()) };
    domain.set_stall_limit(Duration::from_millis(5));
    let guard = domain.guard();
    guard.turn();
    domain.call(0, || ()).unwrap(); // the background thread takes it and waits, holding the lock
    thread::sleep(Duration::from_millis(5)); // most likely
    domain.barrier();
}

#[test]
#[should_panic(expected = "its own guard at")]
fn waiting_for_oneself_is_reported_instead_of_hanging() {
    let domain = manual();
    domain.set_stall_limit(Duration::from_millis(5));
    let guard = domain.guard();
    guard.turn();
    domain.synchronize();
}
