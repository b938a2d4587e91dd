//! The cases that the element traits were designed for, with toy elements: order of effects, loops, requests that climb
//! pull paths, state shared between workers, mutual handler calls, state taken over, sleep.

mod toys;

use clique_router as router;
use router::{Call, Clock, HandlerError, HandlerErrorKind, Options, Router};
use std::sync::atomic::{AtomicBool, Ordering};
use toys::{build_with, classes, options, run};

/// Packets of a batch leave together where they go the same way, in the order of the ways' first packets.
#[test]
fn batches_part_by_output() {
    let random = |length: usize, ways: &[u8]| -> String {
        (0..length).map(|_| char::from(ways[fastrand::usize(..ways.len())])).collect()
    };
    for round in 0..60 {
        fastrand::seed(round);
        let among = ["0", "1", "x", "01", "0x", "12", "012", "01x", "0123x"][round as usize % 9];
        let dealt = random(40, among.as_bytes());
        let says = (0..4).map(|output| format!("d[{output}] -> Say({output}-) -> Sink;")).collect::<String>();
        let mut expected = Vec::new();
        for batch in (0..dealt.len()).collect::<Vec<_>>().chunks(32) {
            let way = |packet: usize| &dealt[packet..=packet];
            let mut ways: Vec<&str> = Vec::new();
            for way in batch.iter().map(|&i| way(i)) {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            }
            for the in ways.into_iter().filter(|&the| the != "x") {
                let these = batch.iter().filter(|&&i| way(i) == the);
                expected.extend(these.map(|i| format!("{the}-{i}")));
            }
        }
        let config = format!("Source(40) -> d :: Deal({dealt}); {says}");
        assert_eq!(run(&config, 1, 32), expected.join(" "), "{dealt}");
    }
}

/// Everything that follows from the first emission comes before the second, packet by packet in vectors of one.
#[test]
fn effects_come_in_the_order_of_nested_calls() {
    let config = "Source(2) -> t :: BackTee -> Say(a) -> Say(b) -> Sink; t[1] -> Say(x) -> Say(y) -> Sink";
    assert_eq!(run(config, 1, 1), "x0 y0 a0 b0 x1 y1 a1 b1");
    // Larger vectors keep the order on each path.
    let many = run(config, 1, 32);
    for label in ["a", "b", "x", "y"] {
        let path: Vec<_> = many.split(' ').filter(|word| word.starts_with(label)).collect();
        assert_eq!(path, [format!("{label}0"), format!("{label}1")]);
    }
}

/// A handler that a packet triggers takes effect on that packet and not on the one before, in any vector size.
#[test]
fn a_count_call_switches_the_path_of_its_own_packet() {
    let config =
        "Source(4) -> Trigger(3, CALL v.switch 1) -> v :: Valve -> Say(a) -> Sink; v[1] -> Say(b) -> Sink";
    for vector in [1, 2, 32] {
        assert_eq!(run(config, 1, vector), "a0 a1 b2 b3");
    }
}

/// Pulling n equals n single pulls: turns alternate packet by packet, through elements that say something on the way.
#[test]
fn a_burst_of_pulls_equals_single_pulls() {
    let paths = |text: String| {
        let of = |label: &str| text.split(' ').filter(|w| w.starts_with(label)).collect::<Vec<_>>().join(" ");
        [of("o"), of("a"), of("b"), of("c")]
    };
    let whole = |burst: usize, vector| {
        let config = format!(
            "Source(3, STOP false) -> s0 :: Store; Source(5, STOP false) -> s1 :: Store;
             s0 -> Say(a) -> [0]t :: Turns; s1 -> Say(b) -> Say(c) -> [1]t;
             t -> Pump({burst}) -> Say(o) -> Trigger(8, stop) -> Sink"
        );
        paths(run(&config, 1, vector))
    };
    let single = whole(1, 1);
    assert_eq!(single[0], "o0 o0 o1 o1 o2 o2 o3 o4");
    for (burst, vector) in [(3, 1), (8, 32), (64, 64)] {
        assert_eq!(whole(burst, vector), single);
    }
}

/// A loop in the graph neither overflows a stack nor keeps the turn from ending: another task still runs and stops it.
#[test]
fn a_loop_ends_its_turn() {
    let config = "Source(1, STOP false) -> m :: Merge -> t :: Trigger(50000, stop) -> [1]m";
    let mut router = build_with(config, options(1, 1)).expect("a good configuration");
    router.run();
    let count: u64 = router.call(Call::read("t.count", "")).unwrap().parse().unwrap();
    assert!((50_000..200_000).contains(&count), "{count}");
}

/// Both directions of a translation on two workers, with simulated and with real threads: replies find the mapping.
#[test]
fn a_translation_lives_on_two_workers() {
    let config = "Pins(p 1);
        Source(20, STOP false) -> [0]n :: Nat; n[0] -> r :: Ring -> p :: Pump(8) -> [1]n; n[1] -> Trigger(20, stop) -> s :: Sink";
    for clock in [Clock::simulated(), Clock::real()] {
        let mut router =
            build_with(config, Options { clock, ..options(2, 8) }).expect("a good configuration");
        assert_eq!(router.info().nodes[router.info().graph.find("n").unwrap()].workers, [0, 1]);
        router.run();
        assert_eq!(router.call(Call::read("s.count", "")).as_deref(), Ok("20"));
        assert_eq!(router.call(Call::read("n.drop_reasons", "")).as_deref(), Ok(""));
        assert!(router.call(Call::read("rcu", "")).unwrap().contains("\nbytes_waiting "));
    }
}

/// A packet that stops the driver still arrives, also if a grace period ends the turn between its call and the next element.
#[test]
fn who_stops_the_driver_arrives() {
    let config = "Source(20, STOP false) -> Trigger(20, stop) -> Ponder -> s :: Sink";
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                rcu::Domain::global().synchronize();
            }
        });
        let counts: Vec<_> = (0..20)
            .map(|_| {
                let options = Options { clock: Clock::real(), ..options(1, 8) };
                let mut router = build_with(config, options).expect("a good configuration");
                router.run();
                router.call(Call::read("s.count", "")).expect("a count")
            })
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(counts.iter().all(|count| count == "20"), "{counts:?}");
    });
}

/// Elements on two workers read each other's handlers, nested eleven deep, and no worker waits for ever; both at once.
#[test]
fn mutual_calls_between_workers_do_not_deadlock() {
    let config =
        "Pins(b 1, q 1); a :: Caller(b.ask); b :: Caller(a.ask); p :: Caller(q.ask); q :: Caller(p.ask)";
    let mut stopped = build_with(config, options(2, 1)).expect("a good configuration");
    assert_eq!(stopped.call(Call::read("a.ask", "11")).as_deref(), Ok("11"));
    let mut running = build_with(config, Options { clock: Clock::real(), ..options(2, 1) }).expect("good");
    let handle = running.handle();
    std::thread::scope(|scope| {
        scope.spawn(|| running.run());
        let ask = |path: &'static str| {
            let handle = handle.clone();
            scope.spawn(move || (0..200).all(|_| handle.call(Call::read(path, "11")).as_deref() == Ok("11")))
        };
        let (a, b) = (ask("a.ask"), ask("b.ask"));
        assert!(a.join().unwrap() && b.join().unwrap());
        handle.stop();
    });
}

/// A handler may have a thread work on its answer, which may wait for all workers: these go on, and what called waits, on whichever worker it
/// is, also where the router does not run or time is simulated. A thread that fails is an error.
#[test]
fn a_thread_may_have_the_answer() {
    let config = "Pins(b 1); a :: Caller(b.wait); b :: Caller(a.wait); c :: Caller(a.ask)";
    let mut stopped = build_with(config, options(2, 1)).expect("a good configuration");
    let asked = |path, text: &str| Call::read(path, text);
    assert_eq!(stopped.call(asked("a.wait", "")).as_deref(), Ok("7"));
    assert_eq!(
        stopped.call(asked("c.ask", "2")).as_deref(),
        Ok("9"),
        "over another worker, and a computation"
    );
    let failed = stopped.call(asked("a.wait", "fail")).expect_err("it fails");
    assert!(failed.message.contains("an error of the program"), "{failed}");
    // Its workers would not be done with what they read before they are asked again.
    drop(stopped);
    for clock in [Clock::real(), Clock::simulated()] {
        let mut running = build_with(config, Options { clock, ..options(2, 1) }).expect("good");
        let handle = running.handle();
        std::thread::scope(|scope| {
            scope.spawn(|| running.run());
            let ask = |path: &'static str, text: &'static str, answer: &'static str| {
                let handle = handle.clone();
                scope.spawn(move || {
                    (0..50).all(|_| handle.call(Call::read(path, text)).as_deref() == Ok(answer))
                })
            };
            let asked = [ask("a.wait", "", "7"), ask("b.ask", "1", "8"), ask("c.ask", "2", "9")];
            assert!(asked.into_iter().all(|asked| asked.join().expect("an answer")));
            handle.stop();
        });
    }
}

/// An error says what kind it is, wherever the call came from.
#[test]
fn errors_of_calls_have_kinds() {
    let config = "s :: Source(1) -> t :: Trigger -> Sink; c :: Caller(nobody.ask)";
    let mut router = build_with(config, options(1, 1)).expect("good");
    let cases = [
        (Call::read("nobody.count", ""), HandlerErrorKind::NotFound),
        (Call::read("t.nothing", ""), HandlerErrorKind::NotFound),
        (Call::write("t.class", ""), HandlerErrorKind::NotFound),
        (Call::read("t.", ""), HandlerErrorKind::Invalid),
        (Call::read("t.count", "5"), HandlerErrorKind::Invalid),
        (Call::read("load", "7"), HandlerErrorKind::Invalid),
        (Call::write("t.count", "many"), HandlerErrorKind::Refused),
        (Call::write("s.tickets", "many"), HandlerErrorKind::Refused),
        // What another element's computation was answered.
        (Call::read("c.ask", "2"), HandlerErrorKind::NotFound),
    ];
    for (call, kind) in cases {
        let error = router.call(call.clone()).expect_err(&call.path);
        assert_eq!(error.kind, kind, "{call:?}: {error}");
    }
    router.run();
    let late = router.handle().call(Call::read("t.count", "")).expect_err("no worker answers");
    assert_eq!(late, HandlerError::stopped());
}

/// A namesake of the same class takes the state over; another class does not; a refusal leaves the old one as it was.
#[test]
fn a_namesake_takes_the_state_over() {
    let mut old =
        build_with("Source(5) -> t :: Trigger -> u :: Trigger -> Sink", options(1, 1)).expect("good");
    old.run();
    let count = |router: &mut Router| router.call(Call::read("t.count", ""));
    assert_eq!(count(&mut old).as_deref(), Ok("5"));
    for config in [
        "Source(1) -> t :: Trigger(0) -> u :: Trigger -> Sink",
        "Source(1) -> t :: Trigger -> u :: Trigger(0) -> Sink",
    ] {
        let mut refusing = build_with(config, options(1, 1)).expect("good");
        let error = refusing.take_over(&mut old).expect_err("refused");
        assert!(error.to_string().contains("cannot take over its state: this one"), "{error}");
        assert_eq!(count(&mut old).as_deref(), Ok("5"));
        assert_eq!(count(&mut refusing).as_deref(), Ok("0"), "no state has moved");
        assert_eq!(refusing.call(Call::read("u.told", "")).as_deref(), Ok("0"));
    }
    let mut new = build_with("Source(2) -> Say(n) -> t :: Trigger -> Sink", options(1, 1)).expect("good");
    new.take_over(&mut old).expect("taken over");
    new.run();
    assert_eq!(count(&mut new).as_deref(), Ok("7"));
    assert_eq!(new.call(Call::read("t.told", "")).as_deref(), Ok("1"));
}

/// The states of all instances arrive when an element gets other workers: fewer, more, others.
#[test]
fn states_arrive_where_the_workers_are_others() {
    let everywhere = "Everywhere(0) -> t :: Trigger -> Sink";
    let pinned = "s :: Source(0) -> t :: Trigger -> Sink; Pins(s 1)";
    let read = |router: &mut Router, handler: &str| router.call(Call::read(handler, "")).expect("a number");
    for (from, to) in [(everywhere, pinned), (pinned, everywhere)] {
        let mut old = build_with(from, options(3, 1)).expect("good");
        old.call(Call::write("t.count", "5")).expect("a count");
        let before: u64 = read(&mut old, "t.count").parse().expect("a number");
        assert!(before >= 5, "{from}: {before}");
        let mut new = build_with(to, options(3, 1)).expect("good");
        new.take_over(&mut old).expect("taken over");
        assert_eq!(read(&mut new, "t.count"), before.to_string(), "{from} -> {to}");
        let instances = if to == pinned { "1" } else { "3" };
        assert_eq!(read(&mut new, "t.told"), instances, "each is told once");
    }
}

/// A router that waits for a timer uses no processor; simulated time does not wait at all.
#[test]
fn idle_means_asleep() {
    let config = "Tick -> Say(t) -> s :: Sink; Source(1, STOP false) -> q :: Store -> Pump -> s2 :: Sink";
    let cpu = || {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        t.tv_sec as u128 * 1_000_000_000 + t.tv_nsec as u128
    };
    let mut router = build_with(config, Options { clock: Clock::real(), ..options(1, 1) }).expect("good");
    let before = cpu();
    router.run(); // 400 ms
    assert!(cpu() - before < 200_000_000, "an idle router was busy for {} ns of 400 ms", cpu() - before);
    assert_eq!(run(config, 1, 1), "t9 t9");
}

/// A timer waits for a millisecond or two of tasks, not for as many as a turn can have, nor for as many as went by between two
/// looks at the clock while they were quick.
#[test]
fn timers_do_not_wait_for_slow_tasks() {
    let options = Options { clock: Clock::real(), ..options(1, 1) };
    let mut router = build_with("Slow", options).expect("a good configuration");
    router.run();
    let log = router.info().log.text();
    let tasks: Vec<u32> = log.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    assert_eq!(tasks.len(), 10, "{log}");
    assert!(tasks[0] <= 32, "{} tasks of 0.2 ms before a timer that was due", tasks[0]);
    assert!(
        tasks[2..].iter().all(|tasks| *tasks <= 8),
        "{tasks:?} tasks of 0.2 ms between looks at the clock"
    );
}

/// What is wrong with ports is said in Click's words and order: first which do not exist, then which would have to be both push
/// and pull, then which are used twice or not at all. What comes later is not looked at before what comes first is right.
#[test]
fn port_errors() {
    let error = |config: &str| build_with(config, options(1, 1)).err().unwrap_or_default();
    for (config, expected) in [
        (
            "Source -> Pump -> s :: Sink",
            &["'Source@1 :: Source' push output 0 connected to 'Pump@2 :: Pump' pull input 0"][..],
        ),
        (
            "s :: Source -> Sink; s -> Sink;\ns -> Sink; q :: Store -> Pump -> Sink;\nq -> Pump -> Sink",
            &[
                "config:1: illegal reuse of 's :: Source' push output 0",
                "config:1: illegal reuse of 's :: Source' push output 0",
                "config:2: 'q :: Store' input 0 unused",
            ],
        ),
        (
            "Source ->\n[3]s :: Sink; s [2]\n-> [1] s; Source -> Pump",
            &[
                "config:2: 's :: Sink' has no input 1",
                "config:2: 's :: Sink' has no output 2",
                "config:2: 's :: Sink' has no input 3",
            ],
        ),
        (
            "Source -> m :: Say -> Pump -> Sink",
            &["agnostic 'm :: Say' in mixed context: push input 0, pull output 0"],
        ),
        (
            "Source -> m :: Say -> n :: Say -> Pump",
            &["'m :: Say' push output 0 connected to 'n :: Say' pull input 0"],
        ),
    ] {
        assert_eq!(error(config), expected.join("\n") + "\n", "{config}");
    }
}

/// However long a chain is that has to be both, it ends, and with an error.
#[test]
fn long_chain_of_both() {
    let elements: Vec<String> = (0..2_000).map(|i| format!("s{i} :: Say")).collect();
    let chain: Vec<String> = (0..2_000).rev().map(|i| format!("s{i}")).collect();
    let config = format!("{}; Source -> {} -> Pump", elements.join("; "), chain.join(" -> "));
    let error = build_with(&config, options(1, 1)).err().unwrap_or_default();
    assert_eq!(error.matches(" output 0").count(), 1, "{error}");
}

/// Tasks that reach a common exclusive element share a worker, and the plan says why.
#[test]
fn exclusive_elements_pull_tasks_together() {
    let parsed = lang::parse(
        "Pins(a 1); a :: Source -> q :: Store; b :: Source -> q; q -> Pump -> Sink; c :: Source -> Sink",
        "config",
        &[],
    );
    let layout =
        router::layout(parsed.graph, &classes(), 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let of = |name: &str| layout.placement.workers[layout.graph.find(name).unwrap()].clone();
    assert_eq!((of("a"), of("b"), of("q"), of("c")), (vec![1], vec![1], vec![1], vec![0]));
    assert!(!layout.placement.merged.is_empty());
}
