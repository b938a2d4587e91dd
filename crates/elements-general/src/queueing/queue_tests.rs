//! Tests of the queue.

use crate::testing::{build, build_at, run, run_and_read};
use elements_testing::run_to_end;
use router::{Call, Clock, Resources};

/// What does not fit is announced once.
#[test]
fn overflow_is_counted_and_leaves_at_output_1() {
    let config = "InfiniteSource(LIMIT 10, BURST 10, LENGTH 1) -> q :: Queue(4) -> Idle;
                  q [1] -> d :: Discard; RatedSource(LIMIT 4, STOP true) -> Discard";
    let handlers = ["q.length", "q.highwater_length", "q.capacity", "q.drops", "d.count"];
    assert_eq!(run_and_read(config, &handlers), ["4", "4", "4", "6", "6"]);
    assert_eq!(run(config), "q :: Queue: overflow\n");
}

/// Packets that come alone are stored, and do not fit, as those of a batch.
#[test]
fn packets_come_alone_or_in_batches() {
    for (class, counts) in [
        ("Queue", ["4", "4", "6", "6"]),
        ("SimpleQueue", ["4", "4", "6", "6"]),
        ("FrontDropQueue", ["4", "4", "6", "6"]),
    ] {
        let config = format!(
            "InfiniteSource(LIMIT 10, BURST 10, LENGTH 1) -> q :: {class}(4) -> Idle;
             q [1] -> d :: Discard; RatedSource(LIMIT 4, STOP true) -> Discard"
        );
        for vector in [1, 32] {
            let mut router = build(&config, 1, vector).unwrap_or_else(|errors| panic!("{errors}"));
            run_to_end(&mut router);
            let mut read =
                |path: &str| router.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{error}"));
            let handlers = ["q.length", "q.highwater_length", "q.drops", "d.count"].map(&mut read);
            assert_eq!(handlers, counts, "{class}, vector {vector}");
        }
    }
}

/// A source that can wait does, so that a slow puller loses nothing.
#[test]
fn sources_wait() {
    let config = "s :: InfiniteSource(LIMIT 1000) -> q :: Queue(4) -> Shaper(50) -> d :: Discard; Script(wait 1.99, stop)";
    let values = run_and_read(config, &["q.drops", "q.highwater_length", "d.count", "s.count"]);
    assert_eq!(values, ["0", "4", "100", "104"]);
}

/// The same between workers, in turn on one thread and as threads: no worker sleeps for ever.
#[test]
fn sources_wait_across_workers() {
    let config = "InfiniteSource(LIMIT 30000) -> q :: Queue(8) -> u :: Unqueue(4)
                  -> Counter(COUNT_CALL 30000 stop) -> d :: Discard; StaticThreadSched(u 1);";
    for (vector, clock) in [(1, Clock::simulated()), (1, Clock::real()), (32, Clock::real())] {
        let mut router = build_at(config, 2, vector, clock, Resources::default())
            .unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let mut read = |path| router.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((read("d.count").as_str(), read("q.drops").as_str()), ("30000", "0"));
    }
}

#[test]
fn handlers_resize_reset_and_empty_the_queue() {
    let config =
        "InfiniteSource(LIMIT 10, BURST 10, STOP true) -> q :: Queue -> Idle; q [1] -> d :: Discard;";
    let mut router = build(config, 1, 32).unwrap_or_else(|errors| panic!("{errors}"));
    run_to_end(&mut router);
    let mut call = |call| router.call(call).unwrap_or_else(|error| panic!("{error}"));
    call(Call::write("q.capacity", "3"));
    assert_eq!(call(Call::read("q.length", "")), "3");
    call(Call::write("q.reset_counts", ""));
    assert_eq!(call(Call::read("q.highwater_length", "")), "3");
    call(Call::write("q.reset", ""));
    assert_eq!(call(Call::read("q.length", "")), "0");
}

/// A namesake takes the stored packets over, in order; one that is smaller loses what does not fit and says so, the
/// last packets or, where the front makes room, the first.
#[test]
fn hot_swap() {
    let classes = [("Queue", "61 62"), ("FrontDropQueue", "64 65")];
    for (class, kept) in classes {
        let start = format!(
            "InfiniteSource(DATA a, LIMIT 1) -> q :: {class}(9) -> Idle; InfiniteSource(DATA b, LIMIT 1) -> q;
             InfiniteSource(DATA c, LIMIT 1) -> q; InfiniteSource(DATA d, LIMIT 1) -> q;
             InfiniteSource(DATA e, LIMIT 1) -> q; RatedSource(RATE 10, LIMIT 9, STOP true) -> Discard"
        );
        for (capacity, expected) in [(7, "61 62 63 64 65"), (2, kept)] {
            let next = format!(
                "Idle -> q :: {class}({capacity}) -> Print(MAXLENGTH 1) -> Discard;
                 RatedSource(RATE 10, LIMIT 9, STOP true) -> Discard"
            );
            let mut old = build(&start, 1, 32).unwrap_or_else(|errors| panic!("{errors}"));
            run_to_end(&mut old);
            let mut new = build(&next, 1, 32).unwrap_or_else(|errors| panic!("{errors}"));
            new.take_over(&mut old).unwrap_or_else(|error| panic!("{error}"));
            run_to_end(&mut new);
            let text = new.info().log.text();
            let told = text.lines().filter(|line| !line.contains("While hot-swapping state into 'q :: "));
            let (lost, seen): (Vec<_>, Vec<_>) = told.partition(|line| line.contains("lost"));
            let seen: Vec<_> = seen.iter().filter_map(|line| line.rsplit(' ').next()).collect();
            assert_eq!(seen.join(" "), expected, "{class}: {text}");
            assert_eq!(lost.len(), usize::from(capacity == 2), "{text}");
        }
    }
}

/// Nothing is lost or left behind between two workers, and the sleeping puller is woken.
#[test]
fn between_workers() {
    let config = "InfiniteSource(LIMIT 5000, BURST 8) -> q :: Queue(100000) -> u :: Unqueue(4)
                  -> Counter(COUNT_CALL 5000 stop) -> d :: Discard; StaticThreadSched(u 1);";
    for vector in [1, 32] {
        let mut router = build(config, 2, vector).unwrap_or_else(|errors| panic!("{errors}"));
        run_to_end(&mut router);
        let mut read = |path| router.call(Call::read(path, "")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((read("d.count").as_str(), read("q.drops").as_str()), ("5000", "0"));
    }
}
