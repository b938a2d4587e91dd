//! What AP-RCU promises beyond what every flavour does.
#![cfg(not(loom))]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*},
    },
    thread,
};

use rcu_flavours::{ApRcu, ApRcuConfig, Flavour, Garbage, Thread};

/// A configuration of AP-RCU for tests: one processor, and a pool of one thread.
fn instance_with(change: impl FnOnce(&mut ApRcuConfig)) -> ApRcu {
    let mut config = ApRcuConfig::default();
    (config.processors, config.pool_threads) = (1, 1);
    change(&mut config);
    ApRcu::with_config(config)
}

/// The detector does nothing while no thread waits.
#[test]
fn detects_on_demand_only() {
    let instance = instance_with(|_| ());
    let mut thread = instance.register();
    for _ in 0..100 {
        let _ = thread.read();
        thread.quiescent();
        thread::yield_now();
    }
    assert_eq!(instance.stats().boundaries, 0);
    thread.synchronize();
    assert_eq!(instance.stats().boundaries, 2, "a grace period is two boundaries");
}

/// A callback waits for two boundaries, and runs by hand only when it has.
#[test]
fn callbacks_wait_for_two_boundaries() {
    let instance = ApRcu::with_config(ApRcuConfig::manual());
    let mut thread = instance.register();
    let ran_at = Arc::new(AtomicU64::new(0));
    let (theirs, counted) = (ran_at.clone(), instance.clone());
    let before = instance.stats().boundaries;
    thread.call(0, move || theirs.store(counted.stats().boundaries, Relaxed)).unwrap();
    thread.barrier();
    assert!(ran_at.load(Relaxed) >= before + 2);
}

/// A reader that does not report is asked to, when the interval is over, or at once with much memory waiting.
#[test]
fn forces_by_interval_and_by_high_water_mark() {
    let hour = std::time::Duration::from_secs(3600);
    let by_interval = instance_with(|config| config.interval = std::time::Duration::ZERO);
    let by_high_water = instance_with(|config| (config.interval, config.high_water_bytes) = (hour, 1000));
    for instance in [by_interval, by_high_water] {
        let mut reader = instance.register();
        let _ = reader.read();
        let mut updater = instance.register();
        updater.call(1001, || ()).unwrap();
        updater.offline();
        while !reader.asked() {
            thread::yield_now();
        }
        // Sleepers are woken.
        thread::park();
        reader.quiescent();
        assert!(!reader.asked());
        reader.offline();
        updater.barrier();
        assert!(instance.stats().forced >= 1);
        assert_eq!(instance.stats().bytes_waiting, 0);
    }
}

/// Beyond the limit callbacks are given back, and what is retired is waited for.
#[test]
fn bounds_what_waits() {
    let instance = instance_with(|config| config.limit_bytes = 100);
    let mut reader = instance.register();
    let _ = reader.read();
    let mut updater = instance.register();
    updater.call(60, || ()).unwrap();
    assert!(updater.call(60, || ()).is_err());
    assert_eq!(instance.stats().refused, 1);
    assert_eq!(instance.stats().bytes_waiting, 60);
    reader.offline();
    updater.retire(Garbage::from_box(Box::new([0_u8; 90])));
    updater.barrier();
    assert_eq!(instance.stats().bytes_waiting, 0);
}

/// Callbacks that block fill the pool, and the others run nevertheless.
#[test]
fn blocking_callbacks_delay_no_others() {
    let instance = instance_with(|_| ());
    let mut thread = instance.register();
    let (ran, ran_too) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    for _ in 0..3 {
        let (ran, gate) = (ran.clone(), gate.clone());
        let wait = move || {
            drop(gate.lock());
            ran.fetch_add(1, Relaxed);
        };
        thread.call_blocking(0, wait).unwrap();
    }
    let ours = ran_too.clone();
    thread.call(0, move || ours.store(true, Relaxed)).unwrap();
    thread.offline();
    while !ran_too.load(Relaxed) {
        thread::yield_now();
    }
    assert_eq!(ran.load(Relaxed), 0);
    drop(closed);
    thread.barrier();
    assert_eq!(ran.load(Relaxed), 3);
}

/// A thread that waits for others' grace periods gets them, and asks for one when no other thread does.
#[test]
fn shares_grace_periods() {
    let instance = instance_with(|_| ());
    instance.register().synchronize_shared(std::time::Duration::ZERO);
    assert!(instance.stats().boundaries >= 2);
    let waiter = thread::spawn({
        let mut thread = instance.register();
        move || thread.synchronize_shared(std::time::Duration::from_secs(3600))
    });
    let mut other = instance.register();
    while !waiter.is_finished() {
        other.synchronize();
    }
    waiter.join().unwrap();
}
