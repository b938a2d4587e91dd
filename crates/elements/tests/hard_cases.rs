//! The cases that the element traits were designed for, on the real elements, in vectors of 1 and of 32.

use elements_testing::run_to_end;
use router::{Call, Clock, Log, Options, Router};

fn build(config: &str, workers: usize, vector: usize) -> Router {
    let parsed = lang::parse(config, "config", &[]);
    assert!(!parsed.has_errors(), "{}", parsed.render_click());
    let known = elements::classes();
    let layout = router::layout(parsed.graph, &known, workers)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options = Options {
        workers,
        vector,
        clock: Clock::simulated(),
        log: Log::Memory(Default::default()),
        ..Options::default()
    };
    let built = router::build(layout, config.to_owned(), &known, options);
    built.unwrap_or_else(|e| panic!("{}", lang::render_click(&e))).0
}

fn run(config: &str, vector: usize) -> String {
    let mut router = build(config, 1, vector);
    run_to_end(&mut router);
    router.info().log.text()
}

fn read(router: &mut Router, path: &str) -> String {
    router.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The copy that PaintTee emits first is followed to its end before the packet itself goes on.
#[test]
fn paint_tee_emits_the_copy_first() {
    let config = "InfiniteSource(DATA x, LIMIT 2, STOP true) -> Paint(1) -> t :: PaintTee(1) -> Print(a) -> Print(b) -> Discard;
                  t[1] -> Print(c) -> Print(d) -> Discard;";
    let labels = |text: String| text.lines().map(|line| line[..1].to_owned()).collect::<String>();
    for vector in [1, 32] {
        assert_eq!(labels(run(config, vector)), "cdabcdab");
    }
}

/// A shaper behind a scheduler releases packets at its rate, taken from the queues in turn, whatever the burst.
#[test]
fn queues_take_turns_behind_a_shaper() {
    let config = |burst: u32| {
        format!(
            "InfiniteSource(DATA a, LIMIT 30) -> q0 :: Queue -> c0 :: Counter -> [0]rr :: RoundRobinSched;
             InfiniteSource(DATA b, LIMIT 30) -> q1 :: Queue -> c1 :: Counter -> [1]rr;
             rr -> Shaper(100) -> Unqueue(BURST {burst}) -> d :: Discard; DriverManager(wait 0.195s, stop)"
        )
    };
    let counts = |burst, vector| {
        let mut router = build(&config(burst), 1, vector);
        run_to_end(&mut router);
        ["c0.count", "c1.count", "d.count"]
            .map(|path| read(&mut router, path).parse::<i64>().expect("a number"))
    };
    for (burst, vector) in [(1, 1), (8, 32)] {
        assert_eq!(counts(burst, vector), [10, 10, 20], "100 a second, the first at once");
    }
}

/// Two suppressors in one pull path block independently of each other, and nothing is lost behind them.
#[test]
fn suppressors_in_one_pull_path() {
    let config =
        "src :: InfiniteSource(LIMIT 10, STOP true) -> q :: Queue -> s1 :: Suppressor -> s2 :: Suppressor
        -> Unqueue -> Counter(COUNT_CALL 9 stop) -> d :: Discard;";
    for vector in [1, 32] {
        for blocked in ["s1", "s2"] {
            let mut router = build(config, 1, vector);
            router.call(Call::write(format!("{blocked}.active0"), "false")).expect("writable");
            run_to_end(&mut router); // ends when the source has made its packets
            assert_eq!(
                (read(&mut router, "d.count"), read(&mut router, "q.length")),
                ("0".into(), "10".into())
            );
        }
        let mut router = build(config, 1, vector);
        run_to_end(&mut router);
        let out: u32 = read(&mut router, "d.count").parse().expect("a number");
        let waiting: u32 = read(&mut router, "q.length").parse().expect("a number");
        let made: u32 = read(&mut router, "src.count").parse().expect("a number");
        assert!(out >= 9 && out + waiting == made, "{made} made, {out} out, {waiting} waiting");
    }
}

/// The call that the third packet triggers switches the path of that very packet.
#[test]
fn a_count_call_switches_its_own_packet() {
    let config =
        "InfiniteSource(LIMIT 5, BURST 5, STOP true) -> Counter(COUNT_CALL 3 s.switch 1) -> s :: Switch;
                  s[0] -> a :: Discard; s[1] -> b :: Discard;";
    for vector in [1, 32] {
        let mut router = build(config, 1, vector);
        run_to_end(&mut router);
        assert_eq!((read(&mut router, "a.count"), read(&mut router, "b.count")), ("2".into(), "3".into()));
    }
}

/// A script that every packet runs reads a counter before it and writes the switch behind it.
#[test]
fn a_packet_script_works_on_its_neighbours() {
    let config = "InfiniteSource(LIMIT 6, BURST 6, STOP true) -> c :: Counter
        -> Script(TYPE PACKET, write s.switch $(mod $(c.count) 2), return 0) -> s :: Switch;
        s[0] -> a :: Discard; s[1] -> b :: Discard;";
    let mut router = build(config, 1, 1);
    run_to_end(&mut router);
    assert_eq!((read(&mut router, "a.count"), read(&mut router, "b.count")), ("3".into(), "3".into()));
}

/// A queue's packets and a table's routes are there after a new configuration took over.
#[test]
fn a_new_configuration_takes_over() {
    let config = "InfiniteSource(LIMIT 7, STOP true) -> q :: Queue -> Unqueue(ACTIVE false) -> Discard;
                  Idle -> r :: RadixIPLookup(10.0.0.0/8 0); r[0] -> Discard; r[1] -> Discard;";
    let mut old = build(config, 1, 32);
    run_to_end(&mut old);
    old.call(Call::write("r.add", "11.0.0.0/8 1")).expect("added");
    let held = read(&mut old, "q.length");
    assert_ne!(held, "0");
    let mut new = build(&config.replace("LIMIT 7", "LIMIT 0"), 1, 32);
    new.take_over(&mut old).expect("taken over");
    assert_eq!(read(&mut new, "q.length"), held);
    assert_eq!(new.call(Call::read("r.lookup", "11.1.1.1")).as_deref(), Ok("1"));
}

/// Two workers forward on threads of their own while routes come and go: every packet takes one of the two routes that its
/// address ever had, and none is lost on the way.
#[test]
fn routes_change_under_two_workers() {
    let config = "InfiniteSource(DATA \\<0a010203>) -> GetIPAddress(0)
                  -> r :: IPLookup(10.0.0.0/8 0, 10.1.0.0/16 1, 11.0.0.0/8 2);
                  t :: InfiniteSource(DATA \\<0a010203>) -> GetIPAddress(0) -> r;
                  r[0] -> a :: Discard; r[1] -> b :: Discard; r[2] -> c :: Discard; StaticThreadSched(t 1);";
    let parsed = lang::parse(config, "config", &[]);
    let known = elements::classes();
    let layout =
        router::layout(parsed.graph, &known, 2).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let options = Options { workers: 2, log: Log::Memory(Default::default()), ..Options::default() };
    let (mut router, _) = router::build(layout, config.to_owned(), &known, options)
        .unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let handle = router.handle();
    let answers: Vec<_> = std::thread::scope(|scope| {
        scope.spawn(|| router.run());
        let change = |at: usize| match at % 2 {
            0 => handle.call(Call::write("r.remove", "10.1.0.0/16")),
            _ => handle.call(Call::write("r.add", "10.1.0.0/16 1")),
        };
        let answers = (0..600).map(change).collect();
        handle.stop();
        answers
    });
    assert!(answers.iter().all(|answer| *answer == Ok(String::new())), "{answers:?}");
    let mut read = |path: &str| router.call(Call::read(path, "")).expect("a value");
    let counts = ["a.count", "b.count", "c.count"].map(|path| read(path).parse::<u64>().expect("a number"));
    assert!(counts[0] > 0 && counts[1] > 0 && counts[2] == 0, "{counts:?}");
    assert_eq!(read("r.drop_reasons"), "");
}
