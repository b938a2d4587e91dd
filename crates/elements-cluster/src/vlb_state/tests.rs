use crate::testing::{errors, run_and_read};

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
        ("n, c", "'c' is not a rewriter or other stateful element"),
        ("n, rw, INTERVAL 1s", "INTERVAL: up to 50ms"),
    ] {
        let said = with(arguments);
        assert!(said.contains(error), "{arguments}: {said}");
    }
}
