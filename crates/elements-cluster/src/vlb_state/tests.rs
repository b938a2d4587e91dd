use crate::testing::{errors, run_and_read};
use cluster::topology::Topology;

/// Three nodes with all links, each with a rewriter; a host's packets come in at node 0 once all act for themselves.
fn three(rewriter: &str, script: &str) -> String {
    let mut text = String::from(
        "elementclass Node { $node, $spec | vlb :: VLBNode($node, 3, KEY k); rw :: IPRewriter($spec, drop);
           state :: VLBState(vlb, rw) -> vlb -> leaving :: Classifier(12/88b6, -) -> state;
           leaving[1] -> VLBDecap -> MarkIPHeader -> [1]rw; rw[1] -> Discard;
           input[0] -> MarkIPHeader -> [0]rw[0] -> VLBEncap(2) -> vlb; Idle -> [0]output;
           input[1] -> [1]vlb[1] -> [1]output; input[2] -> [2]vlb[2] -> [2]output }\n",
    );
    for node in 0..3 {
        let spec = rewriter.replace('%', &node.to_string());
        text += &format!("n{node} :: Node({node}, {spec}); n{node} -> Discard; Idle -> n{node};\n");
    }
    let port = |me: usize, node: usize| node + usize::from(node < me);
    for (a, b) in (0..3).flat_map(|a| (0..3).map(move |b| (a, b))).filter(|(a, b)| a != b) {
        let (from, to) = (port(a, b), port(b, a));
        text += &format!(
            "n{a}[{from}] -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> cut{a}{b} :: Switch -> [{to}]n{b}; cut{a}{b}[1] -> Discard;\n"
        );
    }
    text += "src :: RatedSource(RATE 1000, LIMIT 100, LENGTH 50, ACTIVE false)
             -> UDPIPEncap(10.0.0.2, 1000, 10.0.2.2, 53) -> n0;\n";
    text + script
}

const NAT: &str = "pattern 192.0.2.% 1024-65535 - - 0 1";

/// A node drains: its flows are in its successor's rewriter, which acts for it, and it leaves.
#[test]
fn flows_move_with_a_drain() {
    let script = "Script(wait 1, write src.active true, wait 0.5, write n0/vlb.drain, wait 1, stop);";
    let read = run_and_read(
        &three(NAT, script),
        &[
            "n0/vlb.phase",
            "n1/state.duties",
            "n1/rw.table_size",
            "n2/state.acting",
            "n1/state.adopted",
            "n1/state.contended",
            "n1/state.lost",
            "n0/state.rejected",
        ],
    );
    assert_eq!(read[..4], ["left", "0 1", "1", "0 1\n1 1\n2 2\n"]);
    assert_eq!(read[4..7], ["1", "0", "0"]);
    assert!(!read[7].contains("authentic") && !read[7].contains("malformed"), "{}", read[7]);
}

/// A node is cut off: the same, without its help. Alone it takes over nothing.
#[test]
fn flows_outlive_a_death() {
    let cuts = "write cut01.switch 1, write cut02.switch 1, write cut10.switch 1, write cut20.switch 1";
    let script = format!("Script(wait 1, write src.active true, wait 0.5, {cuts}, wait 1, stop);");
    let read = run_and_read(
        &three(NAT, &script),
        &["n1/state.duties", "n1/rw.table_size", "n2/state.acting", "n0/state.duties", "n1/state.holds"],
    );
    assert_eq!(read[..4], ["0 1", "1", "0 1\n1 1\n2 2\n", "0"]);
    assert!(read[4].starts_with("0 0 "), "{}", read[4]);
}

/// A port that a flow of the successor's has stays its own, and that is counted.
#[test]
fn a_port_that_is_taken_is_counted() {
    let script = "other :: RatedSource(RATE 1000, LIMIT 10, LENGTH 50, ACTIVE false)
                  -> UDPIPEncap(10.0.1.2, 1000, 10.0.2.2, 53) -> n1;
                  Script(wait 1, write src.active true, write other.active true, wait 0.5, write n0/vlb.drain, wait 1, stop);";
    let read = run_and_read(
        &three("pattern 192.0.2.9 5000 - - 0 1", script),
        &["n0/vlb.phase", "n1/state.duties", "n1/rw.table_size", "n1/state.adopted", "n1/state.contended"],
    );
    assert_eq!(read, ["left", "0 1", "1", "0", "1"]);
}

/// The gates of nodes 0 and 1 on one segment with a host of node 0, which sends to its gateway before and long after a mishap.
fn gates(mishap: &str) -> String {
    let gate = |node: u16| {
        format!(
            "g{node} :: VLBGate(n{node}/state, 2:0:0:2:{node}:0, 10.0.0.1, 10.0.1.1, 10.0.2.1,
               ADDRESS6 2001:db8:0::1 2001:db8:1::1 2001:db8:2::1);
             g{node} -> got{node} :: Classifier(12/0800, 12/86dd 20/11, -);
             got{node}[0] -> four{node} :: Counter -> Discard; got{node}[1] -> six{node} :: Counter -> Discard; got{node}[2] -> Discard;
             g{node}[1] -> says{node} :: Classifier(0/ffffffffffff 6/02c200000000, 0/333300000001 6/02c200000000, -);
             says{node}[0] -> said{node} :: Counter -> lan; says{node}[1] -> said6{node} :: Counter -> lan; says{node}[2] -> lan;\n"
        )
    };
    let source = |name: &str| {
        format!(
            "{name} :: RatedSource(RATE 1000, LIMIT 20, LENGTH 50, ACTIVE false) -> {name}f :: RoundRobinSwitch;
             {name}f[0] -> UDPIPEncap(10.0.0.2, 1, 10.0.0.1, 2) -> GetIPAddress(16) -> arp;
             {name}f[1] -> UDPIP6Encap(2001:db8:0::2, 1, 2001:db8:0::1, 2) -> GetIP6Address(24) -> nd;\n"
        )
    };
    let script = format!(
        "lan :: Classifier(12/0806, 12/86dd);
         {}{}
         arp :: ARPQuerier(10.0.0.2, 2:0:0:3:0:0) -> segment :: Tee; nd :: IP6NDSolicitor(2001:db8:0::2, 2:0:0:3:0:0) -> segment;
         segment[0] -> g0; segment[1] -> g1; lan[0] -> [1]arp; lan[1] -> [1]nd;
         {}{}
         Script(wait 1, write before.active true, wait 0.5, {mishap} wait 2.5, write after.active true, wait 0.5, stop);",
        gate(0),
        gate(1),
        source("before"),
        source("after"),
    );
    three(NAT, &script)
}

/// A gateway's addresses of both families are at the node that acts for it: a host that asks finds them there, and one that has found them
/// sends on to the same Ethernet address after a drain.
#[test]
fn a_gateway_moves_with_a_drain() {
    let counts = ["four0", "six0", "four1", "six1"].map(|counter| format!("{counter}.count"));
    let handlers = [&counts.each_ref().map(String::as_str)[..], &["g0.answered", "g1.answered"]].concat();
    let read = run_and_read(&gates("write n0/vlb.drain,"), &handlers);
    assert_eq!(read, ["10", "10", "10", "10", "2", "0"]);
    // Without a mishap node 0 has it all, and announces both addresses as long as it acts; node 1 neither answers nor announces them.
    let announcements = ["said0.count", "said60.count", "said1.count", "said61.count"];
    let read = run_and_read(&gates(""), &[&handlers[..], &announcements].concat());
    assert_eq!(read[..6], ["20", "20", "0", "0", "2", "0"]);
    assert!(read[6] == read[7] && read[6].parse::<u32>().is_ok_and(|count| count >= 4), "{read:?}");
    assert_eq!(read[8..], ["0", "0"]);
    // A host that asks anew afterwards is answered by the other one.
    let read = run_and_read(
        &gates("write n0/vlb.drain, write arp.clear, write nd.clear,"),
        &[&handlers[..], &announcements].concat(),
    );
    assert_eq!(read[..6], ["10", "10", "10", "10", "2", "2"]);
    assert!(read[8..].iter().all(|count| count.parse::<u32>().is_ok_and(|count| count >= 3)), "{read:?}");
}

/// A node of a cluster of any shape, with a ConnTrack and a lookup that remembers flows. Input 0 takes what hosts send, the last one answers.
fn stateful(topology: &Topology, node: u16, tables: &str) -> String {
    let class = match topology {
        Topology::Mesh { nodes } => format!("VLBNode({node}, {nodes}, KEY k)"),
        _ => format!("VLBFly({node}, {}, 2, KEY k)", topology.terminals()),
    };
    let cables = topology.neighbours(node).len();
    let links: String =
        (1..=cables).map(|at| format!("input[{at}] -> [{at}]vlb[{at}] -> [{at}]output; ")).collect();
    if usize::from(node) >= topology.terminals() {
        return format!(
            "elementclass Node{node} {{ vlb :: {class}; input[0] -> vlb -> Discard; Idle -> [0]output; {links} }}\n"
        );
    }
    let outside = cables + 1;
    format!(
        "elementclass Node{node} {{ vlb :: {class}; {links}
           state :: VLBState(vlb, {tables}) -> vlb -> leaving :: Classifier(12/88b6, -) -> state; leaving[1] -> Discard;
           ct :: ConnTrack; paths :: IPLookup(0/0 10.9.0.0 0, FLOWS 1000, FLOW_KEY 1);
           input[0] -> CheckIPHeader -> [0]ct[0] -> paths; paths[0], paths[1], paths[2] -> Discard;
           input[{outside}] -> CheckIPHeader -> [1]ct[1] -> is :: IPClassifier(state established, -);
           is[0] -> known :: Counter -> Discard; is[1] -> unknown :: Counter -> Discard; Idle -> [0]output }}\n"
    )
}

/// Sixty flows come in at node 0, and their answers. After `mishap` both come in at its successor, first the answers. Between, another next
/// hop comes.
fn flows_through(topology: &Topology, tables: &str, mishap: &str) -> String {
    let mut text = String::new();
    for node in 0..topology.nodes() as u16 {
        text += &stateful(topology, node, tables);
        text += &format!("n{node} :: Node{node}; n{node} -> Discard;\n");
        if node > 1 {
            text += &format!("Idle -> n{node};\n");
        }
        let outside = topology.neighbours(node).len() + 1;
        if node > 1 && usize::from(node) < topology.terminals() {
            text += &format!("Idle -> [{outside}]n{node};\n");
        }
    }
    let port = |node: u16, other| {
        1 + topology.neighbours(node).iter().position(|&there| there == other).expect("a cable")
    };
    for node in 0..topology.nodes() as u16 {
        for other in topology.neighbours(node) {
            let (from, to) = (port(node, other), port(other, node));
            text += &format!(
                "n{node}[{from}] -> SetTimestamp -> Queue -> DelayUnqueue(50us) -> cut{node}_{other} :: Switch -> [{to}]n{other};
                 cut{node}_{other}[1] -> Discard;\n"
            );
        }
    }
    let [outside, of_first] = [1, 0].map(|node| topology.neighbours(node).len() + 1);
    let hop = |at| format!(" nexthop 10.9.0.{at} {at}");
    let set = |hops: std::ops::Range<u32>| -> String {
        let route: String = hops.map(hop).collect();
        (0..topology.terminals()).map(|node| format!("write n{node}/paths.set 0/0{route}, ")).collect()
    };
    let (two, three) = (set(0..2), set(0..3));
    text + &format!(
        "src :: FastUDPFlows(6000, -1, 64, 0:0:0:0:0:1, 10.0.0.2, 0:0:0:0:0:2, 10.0.2.2, 60, 1000000, SEQUENTIAL true, ACTIVE false)
           -> Strip(14) -> to :: Switch -> n0; to[1] -> n1; to[2] -> IPMirror -> [{outside}]n1; to[3] -> IPMirror -> [{of_first}]n0;
         Script(wait 1, {two} write src.active true, wait 0.1, write to.switch 3, wait 0.05, write to.switch 0, wait 0.05,
           {three} wait 0.1, {mishap} wait 0.6, write to.switch 2, wait 0.05, write to.switch 1, wait 0.05, stop);"
    )
}

/// Flows as a lookup lists them, without their times.
fn ways(list: &str) -> Vec<String> {
    let mut ways: Vec<_> =
        list.lines().map(|line| line.split(' ').take(7).collect::<Vec<_>>().join(" ")).collect();
    ways.sort();
    ways
}

/// A node is cut off from all others.
fn death(topology: &Topology, node: u16) -> String {
    let cut = |other| format!("write cut{node}_{other}.switch 1, write cut{other}_{node}.switch 1, ");
    topology.neighbours(node).into_iter().map(cut).collect()
}

const SHAPES: [fn() -> Topology; 2] = [|| Topology::Mesh { nodes: 3 }, || Topology::fly(4, 2)];

/// In a mesh and in a fly, when a node drains and when it dies, flows go on at the successor: with their next hops, although another one has
/// come meanwhile, and their answers are answers.
#[test]
fn next_hops_and_connections_go_on() {
    for topology in SHAPES.map(|shape| shape()) {
        for mishap in ["write n0/vlb.drain,", &death(&topology, 0)] {
            let read = run_and_read(
                &flows_through(&topology, "ct, paths", mishap),
                &[
                    "n0/paths.flow_list",
                    "n1/paths.flow_list",
                    "n1/known.count",
                    "n1/unknown.count",
                    "n1/state.duties",
                    "n1/state.lost",
                    "n1/paths.flow_moves",
                ],
            );
            let (before, after) = (ways(&read[0]), ways(&read[1]));
            assert_eq!(
                (before.len(), read[3].as_str(), read[4].as_str()),
                (60, "0", "0 1"),
                "{topology:?} {mishap}"
            );
            assert_eq!(before, after, "{topology:?} {mishap}");
            assert!(
                read[2].parse::<u32>().is_ok_and(|count| count >= 240),
                "{topology:?} {mishap}: {read:?}"
            );
            assert_eq!(read[5..], ["0", "0"], "{topology:?} {mishap}");
        }
    }
}

/// What is not among the ELEMENTs does not: the successor takes answers for questions, and some flows for new ones.
#[test]
fn what_is_not_named_does_not_go_on() {
    let topology = Topology::Mesh { nodes: 3 };
    for (tables, known, same) in [("ct", true, false), ("paths", false, true)] {
        let read = run_and_read(
            &flows_through(&topology, tables, "write n0/vlb.drain,"),
            &["n0/paths.flow_list", "n1/paths.flow_list", "n1/unknown.count"],
        );
        assert_eq!((ways(&read[0]) == ways(&read[1]), read[2] == "0"), (same, known), "{tables}");
    }
}

/// Translations go on in a fly, too.
#[test]
fn flows_move_in_a_fly() {
    let topology = Topology::fly(4, 2);
    for mishap in ["write n0/vlb.drain,", &death(&topology, 0)] {
        let config = flows_through(&topology, "rw", mishap).replace(
            "ct :: ConnTrack;",
            "ct :: ConnTrack; rw :: IPRewriter(pattern 192.0.2.9 1024-65535 - - 0 1, drop); Idle -> [1]rw[1] -> Discard;",
        );
        let config = config.replace("[0]ct[0] -> paths;", "[0]ct[0] -> [0]rw[0] -> CheckIPHeader -> paths;");
        let read = run_and_read(
            &config,
            &[
                "n0/rw.table_size",
                "n1/rw.table_size",
                "n1/state.adopted",
                "n1/state.duties",
                "n1/state.contended",
            ],
        );
        assert_eq!(read, ["60", "60", "60", "0 1", "0"], "{mishap}");
    }
}

#[test]
fn bad_arguments() {
    let with = |arguments: &str| {
        errors(&format!(
            "n :: VLBNode(0, 2, KEY k); Idle -> n -> Discard; Idle -> [1]n[1] -> Discard; c :: Counter;
             rw :: IPRewriter(drop); Idle -> c -> MarkIPHeader -> rw -> Discard; Idle -> VLBState({arguments}) -> Discard;"
        ))
    };
    for (arguments, error) in [
        ("n", "ELEMENT"),
        ("c, rw", "'c' is not a VLBNode or VLBFly element"),
        ("n, c", "'c' is not a rewriter, ConnTrack, lookup with FLOWS or other stateful element"),
        ("n, rw, INTERVAL 1s", "INTERVAL: up to 50ms"),
    ] {
        let said = with(arguments);
        assert!(said.contains(error), "{arguments}: {said}");
    }
}
