use crate::testing::{build_at, errors, run_and_read};
use cluster::topology::Topology;
use router::{Call, Clock, Resources};

/// The terminal to which one sends.
type To = fn(u16) -> u16;

const RATE: u64 = 8_000_000;
const SECONDS: u64 = 1;

/// The port at which a node has the cable to another.
fn port(topology: &Topology, node: u16, other: u16) -> usize {
    1 + topology.neighbours(node).iter().position(|&there| there == other).expect("a cable")
}

/// A fly of four terminals and eight nodes between them, of two links each. Every terminal sends 1,000 packets of 1,000 bytes a
/// second, which is its line rate, to `to`; each link has a counter `lNODE_OTHER` and a switch `sNODE_OTHER`, by whose output 1 packets
/// are lost. Traffic starts when the nodes have found each other; then `script` follows. The names of the links' counters come with it.
fn fly(keywords: &str, to: impl Fn(u16) -> u16, script: &str) -> (String, Vec<String>) {
    let topology = Topology::fly(4, 2);
    let (mut text, mut counters) = (String::new(), Vec::new());
    for node in 0..topology.nodes() as u16 {
        text += &format!("n{node} :: VLBFly({node}, 4, 2, k, LINE_RATE {RATE}bps, {keywords});\n");
    }
    for node in 0..topology.nodes() as u16 {
        for other in topology.neighbours(node) {
            let (output, input) = (port(&topology, node, other), port(&topology, other, node));
            if topology.link_to(node, other).is_some() {
                counters.push(format!("l{node}_{other}.byte_count"));
            }
            text += &format!(
                "n{node}[{output}] -> l{node}_{other} :: Counter -> s{node}_{other} :: Switch -> SetTimestamp -> Queue
                   -> DelayUnqueue(50us) -> [{input}]n{other}; s{node}_{other}[1] -> Discard;\n"
            );
        }
        text += &match node {
            0..4 => format!(
                "r{node} :: RatedSource(LENGTH 958, RATE 1000, LIMIT {}, ACTIVE false) -> UDPIPEncap(10.0.{node}.2, 1, 10.0.9.2, 2)
                   -> VLBEncap({}) -> n{node}; n{node} -> VLBDecap -> o{node} :: Counter -> Discard;\n",
                1_000 * SECONDS, to(node)
            ),
            _ => format!("Idle -> n{node}; n{node} -> Discard;\n"),
        };
    }
    text += &format!(
        "Script(wait 0.4, write r0.active true, write r1.active true, write r2.active true, write r3.active true, {script} stop);\n"
    );
    (text, counters)
}

/// What is lost on a cable, both ways, or is not any more.
fn cut(a: u16, b: u16, is_cut: bool) -> String {
    let output = u8::from(is_cut);
    format!("write s{a}_{b}.switch {output}, write s{b}_{a}.switch {output}, ")
}

/// The cables of a node.
fn cables(node: u16, is_cut: bool) -> String {
    Topology::fly(4, 2).neighbours(node).into_iter().map(|other| cut(node, other, is_cut)).collect()
}

/// Everything arrives at its egress, and whatever the traffic, no link carries more than 2R/k.
#[test]
fn links_carry_at_most_2r_k() {
    let ways: [(&str, To); 3] = [
        ("half way", |from| (from + 2) % 4),
        ("next", |from| (from + 1) % 4),
        ("digits turned", |from| [0, 2, 1, 3][usize::from(from)]),
    ];
    for (name, to) in ways {
        for scheme in ["DIRECT", "VALIANT"] {
            let (config, counters) = fly(&format!("ORDER NONE, SCHEME {scheme}"), to, "wait 1.1,");
            let mut handlers: Vec<&str> = counters.iter().map(String::as_str).collect();
            handlers.extend(["o0.count", "o1.count", "o2.count", "o3.count", "n4.passed", "n0.refused"]);
            let read = run_and_read(&config, &handlers);
            let numbers: Vec<u64> = read.iter().map(|text| text.parse().expect("a number")).collect();
            let (links, rest) = numbers.split_at(counters.len());
            assert_eq!((rest[..4].iter().sum::<u64>(), rest[5]), (4_000, 0), "{name} {scheme}: {read:?}");
            assert!(rest[4] > 0);
            // 2R/2, in bytes, hellos, and five per cent for chance.
            let most = RATE / 8 * SECONDS * 105 / 100 + 25_000;
            assert!(links.iter().all(|&bytes| bytes <= most), "{name} {scheme}: {links:?}");
        }
    }
}

/// Wherever a packet is to go, it gets there, also from a node to itself, where links have room for what flows choose them.
#[test]
fn all_pairs() {
    for shift in 0..4 {
        for order in ["PINNED", "FLOWLET"] {
            let (config, _) =
                fly(&format!("ORDER {order}, LINK_RATE 40Mbps"), |from| (from + shift) % 4, "wait 1.1,");
            let read = run_and_read(&config, &["o0.count", "o1.count", "o2.count", "o3.count"]);
            let sum: u64 = read.iter().map(|text| text.parse::<u64>().expect("a number")).sum();
            assert_eq!(sum, 4_000, "{order} {shift}: {read:?}");
        }
    }
}

/// Another configuration takes the nodes' places: they go on counting, and flows keep their ways. Another node does not.
#[test]
fn another_configuration() {
    let clock = Clock::simulated();
    let make = |config: &str| {
        build_at(config, 1, 32, clock.clone(), Resources::default())
            .unwrap_or_else(|errors| panic!("{errors}"))
    };
    let (config, counters) = fly("FLOWLET 9s, SCHEME VALIANT", |from| (from + 2) % 4, "wait 1.1,");
    let counters: Vec<String> = counters.into_iter().take(8).collect();
    let mut router = make(&config);
    router.run();
    let counts = |router: &mut router::Router, handlers: &[String]| -> Vec<u64> {
        let read = |handler: &String| router.call(Call::read(handler, "")).expect("read");
        handlers.iter().map(read).map(|text| text.parse().expect("a number")).collect()
    };
    let sums = ["n0.direct", "n0.balanced", "n4.passed", "n2.delivered"].map(str::to_owned);
    let before = (counts(&mut router, &sums), counts(&mut router, &counters));
    // A burst may have sent a few packets of a flow elsewhere.
    let unused = |counts: &[u64]| counts.iter().map(|&bytes| bytes < 90_000).collect::<Vec<bool>>();
    assert!(unused(&before.1).contains(&true) && unused(&before.1).contains(&false), "{before:?}");
    router.info().adjust_run_count(1);
    let other = config.replace("n0 :: VLBFly(0,", "n0 :: VLBFly(1,");
    assert!(router.replace(make(&other)).is_err());
    let mut old = router.replace(make(&config.replace("8000000bps", "9000000bps"))).expect("the same fly");
    old.finish();
    assert_eq!(counts(&mut router, &sums), before.0);
    router.run();
    assert!(counts(&mut router, &sums).iter().sum::<u64>() > before.0.iter().sum());
    // Links out of terminals that no flow took are taken by none now.
    let after = counts(&mut router, &counters);
    assert_eq!(unused(&after), unused(&before.1));
}

#[test]
fn mistakes_in_the_configuration_are_explained() {
    let one = |arguments: &str| {
        errors(&format!("f :: VLBFly({arguments}); Idle -> f; Idle -> [1]f; f[0], f[1] -> Discard"))
    };
    assert!(one("12, 4, 2, k").contains("the fly has 12 nodes, from 0 to 11"));
    assert!(one("0, 9, 3, k").contains("node 0 has 6 links: 7 inputs and outputs"));
    assert!(one("0, 1, 2, k").contains("2 at least"));
    assert!(one("0, 60000, 2, k").contains("labels have no room"));
    assert!(one("0, 4000, 20, k").contains("node 0 has 20 links: 21 inputs and outputs"));
    assert!(
        one("0, 2200, 2200, k")
            .contains("hellos that speak of 2200 terminals and 2200 cables do not fit into 16")
    );
    let four = |arguments: &str| {
        let inputs: String =
            (0..5).map(|port| format!("Idle -> [{port}]f; f[{port}] -> Discard; ")).collect();
        errors(&format!("f :: VLBFly({arguments}); {inputs}"))
    };
    assert!(four("0, 4, 2").contains("either KEY or KEYFILE"));
    // 257 terminals and 17 links: as many cables again come from the last level.
    let ports: String = (0..35).map(|port| format!("Idle -> [{port}]f; f[{port}] -> Discard; ")).collect();
    let many = errors(&format!("f :: VLBFly(0, 289, 17, k, ORDER STRICT); {ports}"));
    assert!(many.contains("up to 256 terminals"), "{many}");
}

/// A node between terminals dies, or a cable is cut, while all send to the other half: little is lost until it is known, and nothing
/// after that, also when it comes back.
#[test]
fn the_dead_are_gone_round() {
    let nodes = [4, 11].map(|node| (format!("node {node}"), cables(node, true), cables(node, false)));
    let single =
        [(0, 4), (4, 10), (8, 1)].map(|(a, b)| (format!("cable {a} {b}"), cut(a, b, true), cut(a, b, false)));
    for (name, breaks, mends) in nodes.into_iter().chain(single) {
        let script = format!("wait 0.1, {breaks} wait 0.3, {mends} wait 0.8,");
        let (config, _) = fly("ORDER NONE, LINK_RATE 20Mbps", |from| (from + 2) % 4, &script);
        let read =
            run_and_read(&config, &["o0.count", "o1.count", "o2.count", "o3.count", "n0.view", "n1.links"]);
        let arrived: u64 = read[..4].iter().map(|count| count.parse::<u64>().expect("a number")).sum();
        // A cable has a quarter of what the fly carries, a node twice that, and it is known after 70 ms; unknown it would be 300.
        assert!((3_800..4_000).contains(&arrived), "{name}: {read:?}");
        assert_eq!(read[4], "1 up transit\n2 up transit\n3 up transit\n", "{name}");
        assert_eq!(read[5], "1 to 4 up\n2 to 5 up\n3 from 8 up\n4 from 9 up\n", "{name}");
    }
}

/// The numbers of the packets that leave at terminal 2, which terminal 0 sends at its line rate, in the order in which they do, with links
/// so slow that ways differ by several packets.
fn numbers(order: &str, script: &str) -> Vec<u16> {
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("dump");
    let keywords = format!("ORDER {order}, LINK_RATE 20Mbps, WAIT 9ms");
    let (config, _) = fly(&keywords, |from| (from + 2) % 4, script);
    let dump = format!("n2 -> VLBDecap -> ToIPSummaryDump({}, CONTENTS ip_id); Idle -> o2 ", file.display());
    let config =
        config.replace("DelayUnqueue(50us)", "DelayUnqueue(900us)").replace("n2 -> VLBDecap -> o2 ", &dump);
    let read = run_and_read(&config, &["n2.late", "n2.waiting", "n0.balanced"]);
    assert!(read[..2] == ["0", "0"] && read[2] != "0", "{order}: {read:?}");
    let text = std::fs::read_to_string(file).expect("written");
    text.lines().filter(|line| !line.starts_with('!')).map(|line| line.parse().expect("a number")).collect()
}

/// With strict order packets of a flow leave in the order in which they came in, although they go all ways; also when a node between dies
/// meanwhile. Without it they do not.
#[test]
fn strict_order() {
    let in_order = |numbers: &[u16]| numbers.windows(2).all(|pair| pair[0] < pair[1]);
    let whole = numbers("STRICT", "wait 1.2,");
    assert!(whole.len() == 1_000 && in_order(&whole), "{whole:?}");
    let dies = numbers("STRICT", &format!("wait 0.3, {} wait 0.9,", cables(4, true)));
    assert!((850..1_000).contains(&dies.len()) && in_order(&dies), "{dies:?}");
    assert!(!in_order(&numbers("NONE", "wait 1.2,")));
}

/// Hellos of a fly of 3,000 terminals take two frames. Nodes find each other by them all the same.
#[test]
fn hellos_in_parts() {
    let folder = tempfile::tempdir().expect("a directory");
    let roster = folder.path().join("roster");
    // Of the 9,050 nodes there are two, with one of their 110 cables.
    std::fs::write(&roster, "version 1\nnode 0 a ports 1\nnode 3000 m ports 0\n").expect("written");
    let others = |name: &str, cable: usize| -> String {
        let port = |port| format!("Idle -> [{port}]{name}; {name}[{port}] -> Discard;\n");
        (0..111).filter(|port| *port != cable).map(port).collect()
    };
    let config = format!(
        "a :: VLBFly(0, 3000, 55, k, ROSTER {0}); m :: VLBFly(3000, 3000, 55, k, ROSTER {0});
         a[1] -> Queue -> Unqueue -> said :: Counter -> [56]m; m[56] -> Queue -> Unqueue -> [1]a;
         {1} {2} Script(wait 0.4, stop);",
        roster.display(),
        others("a", 1),
        others("m", 56)
    );
    let read =
        run_and_read(&config, &["a.links", "m.links", "a.rejected", "m.rejected", "a.phase", "said.count"]);
    assert!(read[0].starts_with("1 to 3000 up\n2 to 3001 down\n"), "{}", read[0]);
    assert!(read[1].contains("\n56 from 0 up\n"), "{}", read[1]);
    assert_eq!(read[2..5], ["", "", "active"]);
    assert!(read[5].parse::<u32>().expect("a number") > 70, "{}", read[5]);
}

/// What is no part of a hello of a node that knows the key, whatever it says, is dropped and counted.
#[test]
fn parts_of_strangers() {
    let frame = |len: usize, body: &str| format!("ffffffffffff 02c100000004 88b5 {len:04x} {body}");
    let head = "434c5132 0004 0000000000000005 0000000000000001";
    let rest = "00".repeat(40);
    let sources: String =
        [(64, format!("{head} 0002 {rest}")), (10, head.to_owned()), (9_000, head.to_owned())]
            .iter()
            .map(|(len, body)| frame(*len, body))
            .map(|data| format!("RatedSource(DATA \\<{data}>, RATE 100, LIMIT 5) -> [1]f;\n"))
            .collect();
    let others: String =
        (0..5).filter(|port| *port != 1).map(|port| format!("Idle -> [{port}]f; ")).collect();
    let outputs: String = (0..5).map(|port| format!("f[{port}] -> Discard; ")).collect();
    let config = format!("f :: VLBFly(0, 4, 2, k); {sources} {others} {outputs} Script(wait 0.5, stop);");
    assert_eq!(run_and_read(&config, &["f.rejected", "f.drop_reasons"]), ["15\tnot authentic\n", ""]);
}
