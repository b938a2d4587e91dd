use super::window::Window;
use crate::testing::{build, build_at, errors};
use elements_testing::run_to_end;
use packet::{Batch, Packet, Pool};
use proptest::prelude::*;
use router::{Call, Clock, Estate, Resources, Router};
use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::thread;

fn read(router: &mut Router, path: &str) -> String {
    router.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A packet with a number.
fn packet(pool: &mut Pool, number: u32) -> Packet {
    pool.packet(&number.to_be_bytes()).expect("a packet")
}

fn number(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.data().try_into().expect("four bytes"))
}

/// What workers do with a packet: drop, pass, or double it.
fn outcome(number: u32) -> usize {
    match number % 7 {
        3 => 0,
        5 => 2,
        _ => 1,
    }
}

/// What is to leave if these enter.
fn worked_on(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    numbers.flat_map(|number| std::iter::repeat_n(number, outcome(number))).collect()
}

fn work(pool: &mut Pool, window: &Window, mut job: super::Job) {
    let (mut before, mut after) = (pool.batch(), packet::Fifo::default());
    job.packets.take_into(&mut before, packet::BATCH_MAX);
    before.drain(|packet| {
        for _ in 0..outcome(number(&packet)) {
            after.push_back(pool.copy(&packet).expect("a packet"));
        }
        pool.free(packet);
    });
    while let Some(packet) = after.pop_front() {
        job.packets.push_back(packet);
    }
    window.finish(job);
}

proptest! {
    /// Workers take batches and finish them in whatever order. Of each lane leaves, in order, what the work has left of it, as soon as all before it
    /// has left; memory is bounded.
    #[test]
    fn as_a_naive_one(steps in proptest::collection::vec((0u8..5, 0usize..2, 1usize..9), 1..300)) {
        const PLACES: usize = 4;
        let (window, mut pool) = (Window::new(2, PLACES), Pool::new());
        // For each lane the batches that have not left: what is left of them, and whether they are finished.
        let mut naive: [VecDeque<(u32, Vec<u32>, bool)>; 2] = Default::default();
        let (mut next, mut first, mut in_hand, mut waits) = ([0u32, 1 << 16], 0, Vec::new(), VecDeque::new());
        for &(what, lane, count) in &steps {
            match what {
                0 | 1 => {
                    let numbers = next[lane]..next[lane] + count as u32;
                    let mut batch = pool.batch();
                    batch.extend(numbers.clone().map(|number| packet(&mut pool, number)));
                    let has_room = naive[lane].len() < PLACES;
                    prop_assert_eq!((window.room(lane) > 0, window.enter(lane, &mut batch)), (has_room, has_room));
                    prop_assert_eq!(batch.is_empty(), has_room);
                    if has_room {
                        naive[lane].push_back((next[lane], worked_on(numbers), false));
                        waits.push_back((lane, next[lane]));
                        next[lane] += count as u32;
                    }
                    pool.recycle(batch);
                }
                2 => {
                    let job = window.begin();
                    let expected = waits.pop_front();
                    prop_assert_eq!(job.is_some(), expected.is_some());
                    in_hand.extend(job.zip(expected));
                }
                3 if !in_hand.is_empty() => {
                    let (job, (lane, first)) = in_hand.swap_remove(count % in_hand.len());
                    work(&mut pool, &window, job);
                    naive[lane].iter_mut().filter(|batch| batch.0 == first).for_each(|batch| batch.2 = true);
                }
                _ => {
                    let mut batch = Batch::new();
                    window.pull(&mut batch, count);
                    let mut expected = Vec::new();
                    for lane in [first, 1 - first] {
                        let batches = &mut naive[lane];
                        while expected.len() < count && let Some((_, left, true)) = batches.front_mut() {
                            expected.extend(left.drain(..left.len().min(count - expected.len())));
                            if left.is_empty() {
                                batches.pop_front();
                            }
                        }
                    }
                    first = 1 - first;
                    prop_assert_eq!(batch.iter().map(number).collect::<Vec<_>>(), expected);
                }
            }
            let ready = naive.iter().any(|batches| batches.front().is_some_and(|batch| batch.2));
            prop_assert_eq!((window.is_ready(), window.waiting()), (ready, waits.len()));
        }
    }
}

/// Two workers on threads, one that brings packets and one that pulls: each packet that the work leaves comes once, in order.
#[test]
fn on_threads() {
    const PACKETS: u32 = 60_000;
    let (window, brings, left) = (Window::new(1, 8), AtomicBool::new(true), AtomicUsize::new(0));
    let expected = worked_on(0..PACKETS);
    let out = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut pool, mut next) = (Pool::new(), 0);
            while next < PACKETS {
                let count = (next % 32 + 1).min(PACKETS - next);
                let mut batch = pool.batch();
                batch.extend((next..next + count).map(|number| packet(&mut pool, number)));
                while !window.enter(0, &mut batch) {
                    thread::yield_now();
                }
                next += count;
                pool.recycle(batch);
            }
            brings.store(false, Relaxed);
        });
        for worker in 0..2u32 {
            let (window, brings, left, all) = (&window, &brings, &left, expected.len());
            scope.spawn(move || {
                let (mut pool, mut turn) = (Pool::new(), worker);
                while brings.load(Relaxed) || left.load(Relaxed) < all {
                    let Some(job) = window.begin() else {
                        thread::yield_now();
                        continue;
                    };
                    turn += 1;
                    if turn % 3 == 0 {
                        thread::yield_now();
                    }
                    work(&mut pool, window, job);
                }
            });
        }
        let puller = scope.spawn(|| {
            let mut out = Vec::new();
            while out.len() < expected.len() {
                let mut batch = Batch::new();
                window.pull(&mut batch, 32);
                out.extend(batch.iter().map(number));
                left.store(out.len(), Relaxed);
                if batch.is_empty() {
                    thread::yield_now();
                }
            }
            out
        });
        puller.join().expect("the puller ends")
    });
    assert!(out == expected);
}

/// A batch that has just come in, and whose container is not away yet, is not taken for a finished one, and of two workers that pull at once one gets
/// nothing: each packet comes once, and to each worker in order.
#[test]
fn pulls_beside_what_comes_in() {
    const PACKETS: u32 = 200_000;
    let begin = std::time::Instant::now();
    let is_over = || begin.elapsed().as_secs() > 60;
    let (window, brings) = (Window::new(1, 2), AtomicBool::new(true));
    let out = thread::scope(|scope| {
        scope.spawn(|| {
            let mut pool = Pool::new();
            for number in 0..PACKETS {
                let mut batch = pool.batch();
                batch.push(packet(&mut pool, number));
                while !window.enter(0, &mut batch) && !is_over() {
                    thread::yield_now();
                }
                pool.recycle(batch);
                if let Some(job) = window.begin() {
                    window.finish(job);
                }
            }
            brings.store(false, SeqCst);
        });
        let pull = || {
            let mut out = Vec::new();
            loop {
                let is_last = !brings.load(SeqCst);
                let mut batch = Batch::new();
                window.pull(&mut batch, 32);
                out.extend(batch.iter().map(number));
                if batch.is_empty() {
                    // Others that are ready to run, the one that brings among them, would wait for this one's time to end.
                    thread::yield_now();
                }
                if is_last && !window.is_ready() || is_over() {
                    return out;
                }
            }
        };
        let pullers = [scope.spawn(pull), scope.spawn(pull)];
        pullers.map(|puller| puller.join().expect("it ends"))
    });
    assert!(out.iter().all(|numbers| numbers.is_sorted()), "in order");
    let mut all = out.concat();
    all.sort_unstable();
    assert!(all == (0..PACKETS).collect::<Vec<_>>(), "{} of {PACKETS} came", all.len());
}

/// A flow of numbered packets that is spread over work and put in order again, with its last packet printed last.
fn flow(limit: u32, work: &str, rest: &str) -> String {
    format!(
        "in :: InfiniteSource(DATA 12345678, LIMIT {limit}, BURST 8) -> NumberPacket(0) -> s :: Spray(32);
         s[1] -> {work} -> [1]s; s -> out :: Unqueue(32) -> Print(CONTENTS true) -> d :: Discard; {rest}"
    )
}

/// The numbers that were printed.
fn printed(router: &Router) -> Vec<u32> {
    let number =
        |line: &str| u32::from_str_radix(line.split(' ').rev().nth(1)?, 16).ok().map(u32::swap_bytes);
    router.info().log.text().lines().filter_map(number).collect()
}

/// However many workers there are, all that enters leaves in order, and where there are several they share the work.
#[test]
fn workers_share_a_flow_and_keep_its_order() {
    for (workers, vector) in [(1, 32), (2, 1), (2, 32), (4, 32)] {
        let config = flow(6_000, "w :: Counter", "Script(wait 1, stop)");
        let mut router = build(&config, workers, vector).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        assert!(printed(&router).into_iter().eq(0..6_000), "{workers} workers, vector {vector}");
        let found = ["w.count", "d.count", "s.drops", "s.length"].map(|path| read(&mut router, path));
        assert_eq!(found, ["6000", "6000", "0", "0"]);
        let shares = read(&mut router, "s.shares");
        let busy = shares.lines().filter(|line| !line.ends_with(" 0")).count();
        assert_eq!(shares.lines().count(), workers);
        assert!(busy >= workers.min(2), "{shares}");
    }
}

/// On threads, with a puller on another worker and work that drops packets: what it leaves is in order.
#[test]
fn order_survives_work_that_drops() {
    let rest = "StaticThreadSched(out 1); RatedSource(RATE 20, LIMIT 20, STOP true) -> Discard";
    let config = flow(6_000, "RandomSample(DROP 0.3) -> w :: Counter", rest);
    let mut router = build_at(&config, 2, 32, Clock::real(), Resources::default())
        .unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    let (out, left) = (printed(&router), read(&mut router, "w.count"));
    assert!(out.is_sorted_by(|a, b| a < b), "out of order");
    assert_eq!((out.len().to_string(), read(&mut router, "s.length")), (left, "0".into()));
    assert!((4_000..4_400).contains(&out.len()), "{}", out.len());
}

/// A batch of which the work leaves nothing holds up nothing, without any time passing.
#[test]
fn nothing_waits_for_what_was_dropped() {
    let config = flow(100, "Discard; Idle", "Script(wait 1, stop)");
    let mut router = build(&config, 2, 32).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    let found = ["d.count", "s.length", "s.drops"].map(|path| read(&mut router, path));
    assert_eq!(found, ["0", "0", "0"]);
}

/// Sources wait while all places are taken; others lose what they bring then. What is on its way is still there after a swap, and in order.
#[test]
fn places_are_bounded_and_outlive_a_swap() {
    let config = |active: bool| {
        format!(
            "in :: InfiniteSource(DATA 12345678, LIMIT 40, BURST 4) -> NumberPacket(0) -> t :: Tee -> s :: Spray(4);
             t[1] -> [0]s; s[1] -> w :: Counter -> [1]s;
             s -> out :: Unqueue(32, ACTIVE {active}) -> Print(CONTENTS true) -> d :: Discard; Script(wait 1, stop)"
        )
    };
    let mut old = build(&config(false), 2, 4).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut old);
    let found = ["s.length", "s.drops", "d.count"].map(|path| read(&mut old, path));
    assert_eq!(found, ["16", "0", "0"]);
    let mut new =
        build(&config(true).replace("LIMIT 40", "LIMIT 0"), 1, 4).unwrap_or_else(|errors| panic!("{errors}"));
    new.take_over(&mut old).expect("taken over");
    run_to_end(&mut new);
    assert_eq!(printed(&new), [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7]);
    assert_eq!(read(&mut new, "s.length"), "0");
}

/// The same in another process with as many workers, and with one: each lane's batches are in their order, those that wait for work among them. The
/// one before has lost nothing, in case the other cannot begin.
#[test]
fn what_is_on_its_way_outlives_an_upgrade() {
    let config = |active: bool, limit: u32| {
        format!(
            "in :: InfiniteSource(DATA 12345678, LIMIT {limit}, BURST 4) -> NumberPacket(0) -> t :: Tee -> s :: Spray(4);
             t[1] -> [0]s; s[1] -> w :: Counter -> [1]s;
             s -> out :: Unqueue(32, ACTIVE {active}) -> Print(CONTENTS true) -> d :: Discard; Script(wait 1, stop)"
        )
    };
    let expected = [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7];
    for workers in [1, 2] {
        let mut old = build(&config(false, 40), 2, 4).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut old);
        let leave = |router: &mut Router| {
            let left = router.write_state();
            Estate { heirlooms: left.heirlooms.into_iter().map(|(heirloom, _)| heirloom).collect() }
        };
        let go_on = |new: &mut Router| {
            run_to_end(new);
            assert_eq!((printed(new), read(new, "s.length")), (expected.to_vec(), "0".to_owned()));
        };
        let mut new = build(&config(true, 0), workers, 4).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(new.read_state(&leave(&mut old)), Vec::<String>::new());
        // A third takes its place before it has run.
        let mut third = build(&config(true, 0), workers, 4).unwrap_or_else(|errors| panic!("{errors}"));
        assert_eq!(third.read_state(&leave(&mut new)), Vec::<String>::new());
        go_on(&mut new);
        go_on(&mut third);
        let mut swapped = build(&config(true, 0), workers, 4).unwrap_or_else(|errors| panic!("{errors}"));
        swapped.take_over(&mut old).expect("taken over");
        go_on(&mut swapped);
    }
}

/// The work ends where it began: what arrives while its worker has no batch comes late. An element with one instance brings the work to one
/// worker.
#[test]
fn the_work_is_done_at_once_and_anywhere() {
    let config =
        "RatedSource(DATA 1, LIMIT 10) -> q :: Queue -> Unqueue -> [1]s :: Spray -> Unqueue -> d :: Discard;
                  Idle -> s[1] -> Discard; Script(wait 10, stop)";
    let mut router = build(config, 1, 32).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    assert_eq!(read(&mut router, "d.count"), "0");
    let late: u64 =
        router.drops().iter().filter(|(_, reason, _)| *reason == "came late").map(|drop| drop.2).sum();
    assert_eq!(late, 10);
    let config = flow(10, "RoundRobinSwitch", "Script(wait 1, stop)");
    let router = build(&config, 2, 32).unwrap_or_else(|errors| panic!("{errors}"));
    let spray = router.info().find("s", None).expect("the element");
    assert_eq!(router.info().nodes[spray].workers, [0]);
    for capacity in [0, 5_000] {
        assert!(
            errors(&format!("Idle -> s :: Spray({capacity}) -> Discard; s[1] -> [1]s")).contains("CAPACITY")
        );
    }
}
