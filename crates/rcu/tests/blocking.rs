//! Callbacks that may block.
#![cfg(not(loom))]

use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

use rcu::{Config, Domain};

fn domain(config: Config) -> Domain {
    // SAFETY: no cells here.
    unsafe { Domain::isolated(config) }
}

#[test]
fn a_full_pool_delays_nobody_else() {
    let mut config = Config::default();
    config.blocking_threads = 2;
    let domain = domain(config);
    let (let_go, stuck) = mpsc::channel::<()>();
    let stuck = Arc::new(Mutex::new(stuck));
    for _ in 0..5 {
        let stuck = stuck.clone();
        domain.call_blocking(100, move || _ = stuck.lock().unwrap().recv()).unwrap();
    }
    // More than one round of others, while both threads of the pool are stuck and three callbacks wait for them.
    for _ in 0..3 {
        let (send, receive) = mpsc::channel();
        domain.call(0, move || send.send(()).unwrap()).unwrap();
        receive.recv().unwrap();
    }
    // The last of the others is counted as waiting until it has returned.
    while domain.stats().callbacks_waiting > 5 {
        thread::yield_now();
    }
    let stats = domain.stats();
    assert_eq!((stats.callbacks_waiting, stats.blocking_waiting), (5, 5));
    assert!(stats.bytes_waiting >= 500, "what they free is not free yet");
    drop(let_go); // every `recv` fails from now on
    domain.barrier();
    let stats = domain.stats();
    assert_eq!((stats.callbacks_waiting, stats.blocking_waiting, stats.bytes_waiting), (0, 0, 0));
}

#[test]
fn there_are_as_many_threads_as_allowed() {
    let mut config = Config::default();
    config.blocking_threads = 3;
    let domain = domain(config);
    let meeting = Arc::new(Barrier::new(3));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    for _ in 0..9 {
        let (meeting, now, most) = (meeting.clone(), now.clone(), most.clone());
        let meet = move || {
            most.fetch_max(now.fetch_add(1, Relaxed) + 1, Relaxed);
            meeting.wait(); // ends only if three run at a time
            now.fetch_sub(1, Relaxed);
        };
        domain.call_blocking(0, meet).unwrap();
    }
    while domain.stats().callbacks_waiting > 0 {
        thread::yield_now();
    }
    assert_eq!(most.load(Relaxed), 3);
}

#[test]
fn a_blocking_callback_waits_for_the_readers_and_may_wait_itself() {
    let domain = Arc::new(domain(Config::manual()));
    let mut reader = domain.register("reader");
    reader.turn();
    let ran = Arc::new(AtomicUsize::new(0));
    let (count, again) = (ran.clone(), domain.clone());
    let waits = move || {
        again.synchronize();
        count.fetch_add(1, Relaxed);
    };
    domain.call_blocking(0, waits).unwrap();
    assert!(domain.reclaim());
    assert_eq!(domain.stats().blocking_waiting, 0, "its grace period is not over");
    reader.offline();
    domain.barrier();
    assert_eq!(ran.load(Relaxed), 1);
}

#[test]
fn the_last_owner_runs_them_too() {
    let ran = Arc::new(AtomicUsize::new(0));
    let domain = domain(Config::manual());
    for _ in 0..3 {
        let ran = ran.clone();
        domain.call_blocking(0, move || _ = ran.fetch_add(1, Relaxed)).unwrap();
    }
    drop(domain);
    assert_eq!(ran.load(Relaxed), 3);
}

/// A callback cannot wait for all callbacks, of which it is one. It says so instead of hanging.
#[test]
fn a_barrier_within_a_callback_is_an_error() {
    let domain = Arc::new(domain(Config::default()));
    let (send, receive) = mpsc::channel();
    for blocking in [false, true] {
        let (theirs, send) = (domain.clone(), send.clone());
        let callback = move || {
            let outcome = panic::catch_unwind(AssertUnwindSafe(|| theirs.barrier()));
            let complaint = outcome.expect_err("it must not return");
            send.send(complaint.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap();
        };
        match blocking {
            true => domain.call_blocking(0, callback).unwrap(),
            false => domain.call(0, callback).unwrap(),
        }
        let complaint = receive.recv().unwrap().expect("a text");
        assert!(complaint.contains("would wait for itself"), "{complaint}");
    }
    // A callback may wait for another domain's barrier.
    let (other, theirs) = (Arc::new(self::domain(Config::default())), send);
    domain
        .call(0, move || {
            other.barrier();
            theirs.send(None).unwrap();
        })
        .unwrap();
    assert_eq!(receive.recv().unwrap(), None);
    domain.barrier();
}
