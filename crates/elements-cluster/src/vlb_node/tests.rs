use crate::testing::{build, build_at, errors, run_and_read};
use router::{Call, Clock, Resources};

/// Four nodes with all links; what leaves node 3 is counted. `traffic` comes in at node 0.
fn four(keywords: &str, traffic: &str) -> String {
    let mut text = String::new();
    for node in 0..4 {
        text += &format!("n{node} :: VLBNode({node}, 4, KEY k, {keywords});\n");
    }
    let port = |me: usize, node: usize| node + usize::from(node < me);
    for (a, b) in (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let (from, to) = (port(a, b), port(b, a));
        text += &format!(
            "n{a}[{from}] -> l{a}{b} :: Counter -> SetTimestamp -> Queue -> u{a}{b} :: DelayUnqueue(50us) -> [{to}]n{b};\n"
        );
    }
    for node in 0..3 {
        text += &format!("n{node} -> VLBDecap -> Discard;\n");
    }
    text += "Idle -> n1; Idle -> n2; Idle -> n3; n3 -> VLBDecap -> out :: Counter -> Discard;\n";
    text + traffic
}

/// Packets reach their egress in time, straight and by way of others, once the nodes have found each other.
#[test]
fn a_cluster_forwards() {
    let traffic = "src :: RatedSource(DATA \\<45000014>, RATE 5000, LIMIT 3000, ACTIVE false) -> enc :: VLBEncap(3) -> n0;
                   Script(wait 0.4, write src.active true, wait 0.8, stop);";
    for order in ["NONE", "PINNED", "FLOWLET", "STRICT"] {
        let config = four(&format!("ORDER {order}, LINE_RATE 200kbps, LINK_RATE 1Mbps"), traffic);
        let handlers =
            ["out.count", "n0.phase", "n0.view", "n0.balanced", "n0.refused", "n1.passed", "n3.waiting"];
        let read = run_and_read(&config, &handlers);
        assert_eq!(read[..3], ["3000", "active", "1 up transit\n2 up transit\n3 up transit\n"], "{order}");
        let number = |at: usize| read[at].parse::<u64>().expect("a number");
        assert_eq!((number(4), number(6)), (0, 0), "{order}");
        // A single flow that never rests stays on its way; single packets are spread.
        assert_eq!(number(3) > 0 && number(5) > 0, matches!(order, "NONE" | "STRICT"), "{order}: {read:?}");
    }
}

/// Whatever the traffic, a link carries no more than 2R/N: here each node sends at its line rate to one other, and half of
/// what it sends fits into a link.
#[test]
fn links_carry_at_most_2r_n() {
    let source = |node: usize| {
        format!(
            "r{node} :: RatedSource(LENGTH 958, RATE 1000, LIMIT 1000, ACTIVE false)
               -> UDPIPEncap(10.0.{node}.2, 1, 10.0.9.2, 2) -> VLBEncap({}) -> n{node};\n",
            (node + 1) % 4
        )
    };
    let sources: String = (0..4).map(source).collect();
    let writes: String = (0..4).map(|node| format!("write r{node}.active true, ")).collect();
    for scheme in ["DIRECT", "VALIANT"] {
        let traffic = format!("{sources} Script(wait 0.4, {writes} wait 1.1, stop);");
        let config = four(&format!("ORDER NONE, SCHEME {scheme}, LINE_RATE 8Mbps"), &traffic);
        let links: Vec<String> = (0..4)
            .flat_map(|a| (0..4).filter(move |&b| b != a).map(move |b| format!("l{a}{b}.byte_count")))
            .collect();
        let mut handlers: Vec<&str> = links.iter().map(String::as_str).collect();
        handlers.extend(["n0.delivered", "n1.delivered", "n2.delivered", "n3.delivered", "n2.refused"]);
        let read = run_and_read(&config, &handlers);
        let numbers: Vec<u64> = read.iter().map(|text| text.parse().expect("a number")).collect();
        let (links, rest) = numbers.split_at(links.len());
        assert_eq!((rest[..4].iter().sum::<u64>(), rest[4]), (4_000, 0), "{scheme}: {read:?}");
        // Half a line rate for a second, hellos and ten per cent for chance.
        assert!(links.iter().all(|&bytes| bytes < 550_000 + 25_000), "{scheme}: {links:?}");
        assert!(links.iter().all(|&bytes| bytes > 200_000), "{scheme}: {links:?}");
    }
}

/// A node that is cut off by draining leaves, and nothing that goes through it is lost.
#[test]
fn draining_loses_nothing() {
    let traffic =
        "src :: RatedSource(DATA \\<45000014>, RATE 1500, LIMIT 1200, ACTIVE false) -> VLBEncap(3) -> n0;
                   Script(wait 0.4, write src.active true, wait 0.3, write n1.drain, wait 0.9, stop);";
    let config = four("ORDER NONE, SCHEME VALIANT, LINK_RATE 1Mbps", traffic);
    let read = run_and_read(&config, &["out.count", "n1.phase", "n0.view", "n0.refused"]);
    assert_eq!(read, ["1200", "left", "1 down\n2 up transit\n3 up transit\n", "0"]);
}

/// A node with another key stays alone, and what it sends is dropped and counted.
#[test]
fn strangers_stay_out() {
    let config = "a :: VLBNode(0, 2, KEY one); b :: VLBNode(1, 2, KEY other);
                  a[1] -> Queue -> Unqueue -> [1]b; b[1] -> Queue -> Unqueue -> [1]a;
                  RatedSource(DATA \\<45000014>, RATE 100, LIMIT 50) -> VLBEncap(0) -> Queue -> Unqueue -> t :: Tee(2);
                  t[0] -> b; Idle -> a; t[1] -> Discard;
                  a -> VLBDecap -> out :: Counter -> Discard; b -> Discard;
                  Script(wait 1, stop);";
    let read = run_and_read(config, &["out.count", "a.phase", "a.rejected", "b.drop_reasons"]);
    assert_eq!(read[..2], ["0", "listening"]);
    assert!(read[2].ends_with("\tnot authentic\n"), "{}", read[2]);
    assert_eq!(read[3], "50\tnode not active\n");
}

/// Data over a cable whose other end has sent no hello goes nowhere, although its label is right.
#[test]
fn data_of_strangers_goes_nowhere() {
    let config = "n0 :: VLBNode(0, 2, KEY k); n0 -> VLBDecap -> out :: Counter -> Discard;
                  RatedSource(DATA \\<45000014>, RATE 100, LIMIT 20) -> VLBEncap(0) -> [1]n0[1] -> Discard;
                  Idle -> n0; Script(wait 0.5, stop);";
    assert_eq!(run_and_read(config, &["out.count", "n0.drop_reasons"]), ["0", "20\tstranger\n"]);
}

/// A new roster is taken if it is good and newer; a node that it tells to drain does.
#[test]
fn only_a_good_newer_roster_is_taken() {
    let config = "a :: VLBNode(0, 2, KEY k); b :: VLBNode(1, 2, KEY k); Idle -> a; Idle -> b; a -> Discard; b -> Discard;
                  a[1] -> Queue -> Unqueue -> [1]b; b[1] -> Queue -> Unqueue -> [1]a;
                  Script(wait 0.5, stop);";
    let mut router = build(config, 1, 32).unwrap_or_else(|errors| panic!("{errors}"));
    router.run();
    let mut call = |call| router.call(call);
    let write = |text: &str| Call::write("b.roster", text);
    assert!(call(write("version 1\nnode 0 a ports 1\n")).is_err());
    assert!(call(write("version 2\nnode 0 a ports 1\nnode 1 b ports 1 drain\n")).is_ok());
    assert_eq!(call(Call::read("b.phase", "")).as_deref(), Ok("draining"));
}

#[test]
fn mistakes_in_the_configuration_are_explained() {
    let one = |arguments: &str| errors(&format!("Idle -> VLBNode({arguments}) -> Discard"));
    assert!(one("0, 2, KEY k").contains("as many inputs and outputs as NODES"));
    assert!(one("3, 1, KEY k").contains("NODE: must be less than NODES"));
    assert!(one("0, 129, KEY k").contains("NODES: 129 are too many"));
    assert!(one("0, 0, KEY k").contains("NODE: must be less than NODES"));
    assert!(one("0, 1").contains("either KEY or KEYFILE is needed"));
    assert!(one("0, 1, KEY k, ORDER maybe").contains("ORDER: NONE, PINNED"));
    assert!(one("0, 1, KEY k, KEYFILE /none").contains("either KEY or KEYFILE"));
    for time in ["HOLD 1e12s", "FLOWLET 1e12s", "WAIT 2d", "HOLD 3d, HELLO 2d"] {
        assert!(one(&format!("0, 1, KEY k, {time}")).contains("must not be longer than a day"), "{time}");
    }
}

/// Another configuration takes the node's place: it goes on where the old one was, with what is different about it. One with
/// another key does not.
#[test]
fn another_configuration() {
    let clock = Clock::simulated();
    let make = |config: &str| {
        build_at(config, 1, 32, clock.clone(), Resources::default())
            .unwrap_or_else(|errors| panic!("{errors}"))
    };
    let source = |count: u32| {
        format!(
            "RatedSource(DATA \\<45000014>, RATE 2000, LIMIT {count}) -> VLBEncap(3) -> n0; Script(wait 0.5, stop);"
        )
    };
    let mut router = make(&four("ORDER STRICT, LINE_RATE 200kbps", &source(1_000)));
    router.run();
    let before = router.call(Call::read("n1.passed", "")).expect("read");
    router.info().adjust_run_count(1);
    let other = four("ORDER STRICT, LINE_RATE 100kbps, HELLO 5ms", &source(1_000));
    assert!(router.replace(make(&other.replace("KEY k", "KEY x"))).is_err());
    assert_eq!(router.call(Call::read("n1.passed", "")).as_ref(), Ok(&before));
    let mut old = router.replace(make(&other)).expect("the same nodes");
    old.finish();
    assert_eq!(router.call(Call::read("n0.phase", "")).as_deref(), Ok("active"));
    assert_eq!(router.call(Call::read("n1.passed", "")).as_ref(), Ok(&before));
    router.run();
    // From the first packet on nothing is refused, and no number comes twice.
    let read = ["n0.refused", "n0.drop_reasons", "n3.late", "out.count"]
        .map(|handler| router.call(Call::read(handler, "")).expect("read"));
    assert_eq!(read[..3], ["0", "", "0"]);
    assert!(read[3].parse::<u32>().is_ok_and(|count| count > 900), "{}", read[3]);
}

/// Two sources at node 0, one on each worker, with packets that are numbered; and of what leaves node 3 the numbers, by source, in a
/// file for each. What comes to node 3 from node 0 is one worker's, what comes from the others the other's.
fn on_two_workers(keywords: &str, count: u32, folder: &std::path::Path) -> String {
    let source = |which: u8| {
        format!(
            "origin{which} :: RatedSource(LENGTH 72, RATE 4000, LIMIT {count}, ACTIVE false)
               -> UDPIPEncap(10.0.0.{which}, 1, 10.0.9.2, 2) -> VLBEncap(3) -> n0;
             by[{which}] -> ToIPSummaryDump({}, CONTENTS ip_id);\n",
            folder.join(which.to_string()).display()
        )
    };
    let traffic = format!(
        "{}{}StaticThreadSched(origin0 0, origin1 1, u03 0, u13 1, u23 1, u01 0, u02 1);
         Script(wait 0.4, write origin0.active true, write origin1.active true, wait 0.6, stop);",
        source(0),
        source(1)
    );
    let nodes = four(&format!("LINE_RATE 4Mbps, {keywords}"), &traffic)
        .replace("n3 -> VLBDecap -> out :: Counter -> Discard", "n3 -> VLBDecap -> out :: Counter -> q");
    format!("by :: IPClassifier(src 10.0.0.0, src 10.0.0.1); q :: Queue(8000) -> Unqueue -> by;\n{nodes}")
}

fn numbers(folder: &std::path::Path, which: u8) -> Vec<u16> {
    let text = std::fs::read_to_string(folder.join(which.to_string())).expect("written");
    text.lines().filter(|line| !line.starts_with('!')).map(|line| line.parse().expect("a number")).collect()
}

fn order_is_kept(numbers: &[u16]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}

/// A node's instances on two workers choose ways for themselves, and their packets leave in order where that is promised: what either
/// has numbered is put in order by one worker, whichever worker it came to.
#[test]
fn two_workers_keep_order() {
    for order in ["NONE", "PINNED", "FLOWLET", "STRICT"] {
        let folder = tempfile::tempdir().expect("a directory");
        let config = on_two_workers(&format!("ORDER {order}, LINK_RATE 20Mbps"), 2_000, folder.path());
        // Ways that differ by several packets.
        let config = config.replace("u03 :: DelayUnqueue(50us)", "u03 :: DelayUnqueue(900us)");
        let mut router = build(&config, 2, 32).unwrap_or_else(|errors| panic!("{errors}"));
        for node in ["n0", "n3"] {
            let workers =
                router.info().nodes.iter().find(|other| other.name == node).map(|node| &node.workers[..]);
            assert_eq!(workers, Some(&[0, 1][..]), "{node}");
        }
        router.run();
        let read = ["out.count", "n0.drop_reasons", "n3.drop_reasons", "n0.balanced"]
            .map(|handler| router.call(Call::read(handler, "")).expect("read"));
        router.finish();
        assert_eq!(read[..3], ["4000", "", ""], "{order}");
        assert_eq!(read[3] != "0", matches!(order, "NONE" | "STRICT"), "{order}: {}", read[3]);
        for which in [0, 1] {
            let numbers = numbers(folder.path(), which);
            assert_eq!(numbers.len(), 2_000, "{order}");
            assert_eq!(order_is_kept(&numbers), order != "NONE", "{order} {which}: {numbers:?}");
        }
    }
}

/// What two workers send straight to an egress and into a link is together what one may.
#[test]
fn two_workers_share_a_link() {
    let folder = tempfile::tempdir().expect("a directory");
    let config =
        on_two_workers("ORDER NONE, LINE_RATE 8Mbps", 4_000, folder.path()).replace("LINE_RATE 4Mbps, ", "");
    let count = |workers: usize| {
        let mut router = build(&config, workers, 32).unwrap_or_else(|errors| panic!("{errors}"));
        router.run();
        let read = ["n0.direct", "n0.balanced", "l03.byte_count", "l01.byte_count"]
            .map(|handler| router.call(Call::read(handler, "")).expect("read"));
        router.finish();
        read.map(|text| text.parse::<i64>().expect("a number"))
    };
    let (one, two) = (count(1), count(2));
    assert!(
        one.iter().zip(&two).all(|(one, two)| one.abs_diff(*two) * 20 < one.unsigned_abs()),
        "{one:?} {two:?}"
    );
    assert!(one[1] > 0);
}

/// Another configuration takes the place of one with as many workers, more or fewer: view, numbers and counts go on.
#[test]
fn another_configuration_on_other_workers() {
    for (before, after) in [(2, 2), (1, 2), (2, 1)] {
        let folder = tempfile::tempdir().expect("a directory");
        let clock = Clock::simulated();
        let config = on_two_workers("ORDER STRICT, WAIT 9ms", 1_000, folder.path());
        // Sources that have sent all they may, and scripts that have ended, hand that over, too.
        let other = config.replace("origin", "source").replace("Script(", "again :: Script(");
        let make = |workers, config| {
            build_at(config, workers, 32, clock.clone(), Resources::default())
                .unwrap_or_else(|errors| panic!("{errors}"))
        };
        let mut router = make(before, &config);
        router.run();
        let handlers = ["n3.delivered", "n0.direct", "n0.balanced", "n0.view", "n0.phase"];
        let read = |router: &mut router::Router| {
            handlers.map(|handler| router.call(Call::read(handler, "")).expect("read"))
        };
        let first = read(&mut router);
        assert_eq!(first[0], "2000");
        router.info().adjust_run_count(1);
        let mut old = router.replace(make(after, &other)).expect("the same nodes");
        old.finish();
        assert_eq!(read(&mut router), first, "{before} {after}");
        // The script begins again; sources have new files.
        router.run();
        let late = router.call(Call::read("n3.drop_reasons", "")).expect("read");
        assert_eq!((read(&mut router)[0].as_str(), late.as_str()), ("4000", ""), "{before} {after}");
        router.finish();
        assert!(
            [0, 1].iter().all(|&which| order_is_kept(&numbers(folder.path(), which))),
            "{before} {after}"
        );
    }
}
