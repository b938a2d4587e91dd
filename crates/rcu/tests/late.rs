//! Who is late, and who waits in company: with a clock that the test moves.
//!
//! | mutant | what is broken | killed by |
//! |---|---|---|
//! | `reader_stays` | a reader counts as its first thread's, wherever it went | `a_reader_that_came_online_here_and_went_elsewhere_is_not_this_threads` |
//! | `hook_unguarded` | a hook's panic ends the thread that reports a stall | `a_hook_that_panics_does_not_end_the_reclaimer` |
#![cfg(not(loom))]

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use rcu::{Clock, Config, Domain};

/// A clock in milliseconds.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Hand {
    fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Relaxed);
    }

    fn clock(&self) -> Clock {
        let now = self.0.clone();
        Clock::new(move || Duration::from_millis(now.load(Relaxed)))
    }
}

/// A domain whose time the test decides, and what its hook reports.
fn domain(hand: &Hand) -> (Domain, Arc<Mutex<Vec<String>>>) {
    let mut config = Config::manual();
    config.clock = hand.clock();
    // SAFETY: no cells here.
    let domain = unsafe { Domain::isolated(config) };
    let reports = Arc::new(Mutex::new(Vec::new()));
    let hook = reports.clone();
    domain.on_stall(move |stall| hook.lock().unwrap().push(stall.to_string()));
    (domain, reports)
}

#[test]
fn a_reader_that_nobody_waits_for_is_named_once_by_whoever_looks() {
    let hand = Hand::default();
    let (domain, reports) = domain(&hand);
    let mut slow = domain.register("worker 7");
    slow.turn();
    domain.start();
    hand.advance(1000);
    assert_eq!(domain.stats().stalls, 0, "the limit itself is no stall");
    hand.advance(1);
    for _ in 0..3 {
        assert_eq!(domain.stats().stalled.len(), 1);
    }
    assert_eq!(domain.stats().stalls, 1);
    let once = r#"reader "worker 7" has kept a grace period waiting for 1.001s"#;
    assert_eq!(*reports.lock().unwrap(), [once]);
    let text = domain.stats().to_string();
    assert!(text.contains("\nstalls 1\n") && text.ends_with(&format!("\nstalled {once}\n")), "{text}");
    slow.quiescent();
    assert!(domain.stats().stalled.is_empty());
    // A second stall of the same reader is another one.
    domain.start();
    hand.advance(2000);
    assert_eq!(domain.stats().stalls, 2);
}

#[test]
fn a_late_reader_is_asked_once_a_millisecond_has_passed() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    let mut slow = domain.register("slow");
    slow.turn();
    domain.call(0, || ()).unwrap();
    assert!(domain.reclaim());
    hand.advance(1);
    assert!(domain.reclaim());
    assert!(!slow.asked());
    hand.advance(1);
    for _ in 0..3 {
        assert!(domain.reclaim());
        assert!(slow.asked());
    }
    assert_eq!(domain.stats().quiescences_forced, 1, "asking again is no new request");
    slow.quiescent();
    assert!(!slow.asked());
    assert!(!domain.reclaim());
}

#[test]
fn readers_are_asked_at_once_when_half_the_memory_is_used_up() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    domain.set_limit_bytes(1000);
    let reader = domain.register("reader");
    reader.turn();
    domain.call(200, || ()).unwrap();
    domain.reclaim();
    assert!(!reader.asked());
    domain.call(400, || ()).unwrap();
    domain.reclaim();
    assert!(reader.asked());
}

#[test]
fn the_histogram_holds_what_the_clock_says() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    let mut reader = domain.register("reader");
    for ms in [1, 2, 4, 100] {
        reader.turn();
        let token = domain.start();
        hand.advance(ms);
        reader.quiescent();
        assert!(domain.poll(token));
    }
    let latency = domain.stats().latency;
    assert_eq!((latency.count, latency.sum), (4, Duration::from_millis(107)));
    assert_eq!(latency.max, Duration::from_millis(100));
    let median = latency.quantile(0.5);
    assert!((2..4).contains(&median.as_millis()), "{median:?}");
}

#[test]
fn threads_that_wait_in_company_share_a_grace_period() {
    const WAITERS: usize = 8;
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    let (domain, begun) = (&domain, &AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..WAITERS {
            scope.spawn(|| {
                begun.fetch_add(1, Relaxed);
                domain.synchronize_shared(Duration::from_millis(1));
            });
        }
        while begun.load(Relaxed) < WAITERS as u64 {
            thread::yield_now();
        }
        // Time stands still, so no waiter's patience ends; each waits for another to start one.
        assert_eq!(domain.stats().grace_periods, 0);
        hand.advance(1);
    });
    // One for all that had begun to wait when time moved; one each, at worst, for those that came later.
    let periods = domain.stats().grace_periods;
    assert!((1..=WAITERS as u64).contains(&periods), "{periods}");
}

#[test]
fn company_that_somebody_else_starts_is_enough() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    thread::scope(|scope| {
        // Never by the clock, which stands still.
        let waiter = scope.spawn(|| domain.synchronize_shared(Duration::from_secs(1)));
        while !waiter.is_finished() {
            domain.synchronize();
            thread::yield_now();
        }
    });
}

#[test]
fn a_refused_updater_waits_for_room_as_long_as_it_likes() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    domain.set_limit_bytes(1000);
    let domain = &domain;
    assert!(domain.wait_for_room(5000, Duration::ZERO), "alone, anything goes");
    let mut reader = domain.register("reader");
    reader.turn();
    domain.call(900, || ()).unwrap();
    assert!(domain.wait_for_room(10, Duration::ZERO), "there is room for a small one");
    thread::scope(|scope| {
        let waiter = |ms| scope.spawn(move || domain.wait_for_room(500, Duration::from_millis(ms)));
        // The one's patience ends with the clock's first move, the other's never.
        let (short, long) = (waiter(1), waiter(1000));
        while !short.is_finished() {
            thread::sleep(Duration::from_millis(1));
            hand.advance(u64::from(hand.0.load(Relaxed) < 500));
        }
        assert!(!short.join().unwrap(), "the reader holds what waits");
        reader.quiescent();
        assert!(long.join().unwrap(), "the wait itself reclaims, there being no other thread that does");
    });
    domain.call(500, || ()).unwrap();
}

#[test]
fn a_wait_ends_with_its_grace_period_or_its_time() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    let domain = &domain;
    let mut reader = domain.register("reader");
    reader.turn();
    let token = domain.start();
    assert!(!domain.wait_for(token, Duration::ZERO));
    thread::scope(|scope| {
        let short = scope.spawn(move || domain.wait_for(token, Duration::from_millis(1)));
        while !short.is_finished() {
            hand.advance(1);
            thread::yield_now();
        }
        assert!(!short.join().unwrap(), "the reader is online");
        let long = scope.spawn(move || domain.wait_for(token, Duration::from_secs(3600)));
        reader.quiescent();
        assert!(long.join().unwrap());
    });
    assert!(domain.wait_for(token, Duration::ZERO), "it is over");
}

#[test]
#[should_panic(expected = "its own guard at")]
fn a_wait_for_room_recognises_its_own_guard() {
    let hand = Hand::default();
    let (domain, _) = domain(&hand);
    domain.set_limit_bytes(1000);
    let guard = domain.guard();
    guard.turn();
    domain.call(900, || ()).unwrap();
    let theirs = hand.clone();
    thread::spawn(move || {
        for _ in 0..1000 {
            theirs.advance(10);
            thread::sleep(Duration::from_millis(1));
        }
    });
    domain.wait_for_room(500, Duration::from_secs(3600));
}

/// It reads elsewhere, so the thread that it came from does not wait for itself.
#[test]
fn a_reader_that_came_online_here_and_went_elsewhere_is_not_this_threads() {
    let hand = Hand::default();
    let (domain, reports) = domain(&hand);
    let mut reader = domain.register("traveller");
    reader.turn();
    thread::scope(|scope| {
        let (reports, hand) = (reports.clone(), hand.clone());
        scope.spawn(move || {
            // Until it is named as late, time passes; then it ends its turn.
            while reports.lock().unwrap().is_empty() {
                hand.advance(100);
                thread::sleep(Duration::from_millis(1));
            }
            thread::sleep(Duration::from_millis(20));
            reader.offline();
        });
        domain.synchronize();
    });
    assert_eq!(reports.lock().unwrap().len(), 1);
}

#[test]
fn a_hook_that_panics_does_not_end_the_reclaimer() {
    let hand = Hand::default();
    let mut config = Config::default();
    config.clock = hand.clock();
    // SAFETY: no cells here.
    let domain = unsafe { Domain::isolated(config) };
    let called = Arc::new(AtomicU64::new(0));
    let count = called.clone();
    domain.on_stall(move |_| {
        count.fetch_add(1, Relaxed);
        std::panic::resume_unwind(Box::new(Bomb));
    });
    let slow = domain.register("slow");
    slow.turn();
    domain.call(0, || ()).unwrap();
    while called.load(Relaxed) == 0 {
        hand.advance(100);
        thread::sleep(Duration::from_millis(1));
    }
    drop(slow);
    let (send, receive) = std::sync::mpsc::channel();
    domain.call(0, move || send.send(()).unwrap()).unwrap();
    receive.recv_timeout(Duration::from_secs(60)).expect("the reclaimer goes on");
    assert_eq!(domain.stats().callbacks_panicked, 1);
}

/// What is thrown may itself be dangerous.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            std::panic::resume_unwind(Box::new("dropped"));
        }
    }
}
