//! What a stop lets arrive: packets that a task carries on, and not those that wait for time to pass.

use crate::testing::{build, build_at, run, run_and_read};
use elements_testing::run_to_end;
use router::{Call, Clock, Resources, Router};
use std::thread;
use std::time::{Duration, Instant};

fn counts(router: &mut Router, paths: &[&str]) -> Vec<String> {
    run_to_end(router);
    paths.iter().map(|path| router.call(Call::read(*path, "")).unwrap()).collect()
}

/// Through a scheduler, a second queue, and an element that relays signals, too.
#[test]
fn what_is_in_queues_arrives_when_its_source_ends() {
    let config = "InfiniteSource(LIMIT 100, BURST 100, STOP true) -> q :: Queue -> [0]s :: RoundRobinSched
                  -> Unqueue -> Queue -> Suppressor -> u :: Unqueue -> c :: Counter -> Discard;
                  Idle -> [1]s;";
    assert_eq!(run_and_read(config, &["c.count", "q.length"]), ["100", "0"]);
    let config = "RatedSource(LIMIT 7, STOP true) -> Queue -> d :: Discard";
    assert_eq!(run_and_read(config, &["d.count"]), ["7"]);
}

/// On other workers, in a ring between them, in simulated time and on threads.
#[test]
fn what_is_on_other_workers_arrives() {
    let config = "InfiniteSource(LIMIT 3000, BURST 100, STOP true) -> p :: Pipeliner(4096) -> q :: Queue(4096) -> u :: Unqueue
                  -> c :: Counter -> Discard;
                  StaticThreadSched(p 1, u 2)";
    for clock in [Clock::simulated(), Clock::real()] {
        let mut router = build_at(config, 3, 32, clock, Resources::default()).unwrap();
        assert_eq!(counts(&mut router, &["p.dropped", "q.drops", "c.count"]), ["0", "0", "3000"]);
    }
}

/// What steers the driver is asked when packets have arrived, and may have it go on.
#[test]
fn the_driver_is_asked_afterwards() {
    let config = "s :: InfiniteSource(LIMIT 50, BURST 50, STOP true) -> Queue -> Unqueue -> c :: Counter -> Discard;
                  RatedSource(RATE 10) -> d :: Counter -> Discard;
                  DriverManager(pause, print c.count, write s.reset, pause, print c.count, wait 1s, print $(gt $(d.count) 9))";
    assert_eq!(run(config), "50\n100\ntrue\n");
}

/// As in Click: a stop does not wait for time to pass, nor for what is not pulled.
#[test]
fn what_waits_for_time_stays() {
    let config = "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> q :: Queue -> DelayUnqueue(1) -> c :: Counter -> Discard;
                  Idle -> r :: Queue -> Idle";
    let mut router = build(config, 1, 1).unwrap();
    assert_eq!(counts(&mut router, &["c.count", "q.length"]), ["0", "9"]);
    let config =
        "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> q :: Queue -> Unqueue(ACTIVE false) -> Discard";
    assert_eq!(run_and_read(config, &["q.length"]), ["10"]);
}

/// Other sources are held meanwhile, those in pull paths as well; packets that go in circles do not hold up the end.
#[test]
fn the_end_comes() {
    let config = "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> q :: Queue -> Unqueue -> Discard;
                  i :: InfiniteSource -> p :: Counter -> Queue -> Unqueue -> Discard;
                  InfiniteSource -> Shaper(10000000) -> Unqueue -> Discard";
    let mut router = build(config, 1, 1).unwrap();
    let others: u64 = counts(&mut router, &["p.count"])[0].parse().unwrap();
    assert!(others < 15, "{others}");
    let config = "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> q :: Queue -> c :: Counter(COUNT_CALL 100 s.run) -> Unqueue -> q;
                  s :: Script(TYPE PASSIVE, print 1)";
    let mut router = build_at(config, 1, 32, Clock::real(), Resources::default()).unwrap();
    let (handle, began) = (router.handle(), Instant::now());
    let signal = thread::spawn(move || {
        while handle.info().log.text().is_empty() {
            thread::sleep(Duration::from_millis(1));
        }
        handle.info().end_for_good(); // does not wait as long as a source
    });
    run_to_end(&mut router);
    signal.join().unwrap();
    assert!(began.elapsed() < Duration::from_secs(8));
    assert_eq!(router.info().log.text(), "1\nstops while packets are still on their way\n");
}

/// A script that says `stop` means now.
#[test]
fn a_script_stops_at_once() {
    let config = "InfiniteSource(LIMIT 10, BURST 10) -> Queue -> Unqueue -> c :: Counter(COUNT_CALL 3 stop) -> Discard";
    let mut router = build(config, 1, 1).unwrap();
    assert_eq!(counts(&mut router, &["c.count"]), ["3"]);
}
