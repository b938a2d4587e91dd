//! What routers that run say of packets that go no further.

use crate::control::Running;
use crate::metrics;
use crate::{program, text};
use serde_json::Value;
use std::time::{Duration, Instant};

/// Packets that ICMP errors are sent about, one that is redirected and goes on, one about which none may be sent, and some that a filter drops.
const ROUTER: &str = "
    RatedSource(DATA \\<0001 0002 0008 0000>, RATE 50) -> IPEncap(udp, 10.0.0.1, 10.0.0.2, TTL 1) -> ttl :: DecIPTTL -> Discard;
    ttl[1] -> old :: ICMPError(10.0.0.9, timeexceeded, transit) -> Discard;
    RatedSource(LENGTH 20, RATE 50) -> UDPIPEncap(10.0.0.3, 1, 10.0.0.2, 2)
      -> moved :: ICMPError(10.0.0.9, redirect, host) -> Discard;
    RatedSource(LENGTH 20, RATE 50) -> UDPIPEncap(10.0.0.3, 1, 224.0.0.1, 2)
      -> group :: ICMPError(10.0.0.9, unreachable, net) -> Discard;
    RatedSource(LENGTH 20, RATE 50) -> UDPIPEncap(10.0.0.3, 1, 10.0.0.2, 2) -> filter :: IPFilter(deny all) -> Discard;
    RatedSource(DATA \\<60000000 0008 11 01 20010db8000000000000000000000001 20010db8000000000000000000000002 0001000200080000>, RATE 50)
      -> MarkIP6Header -> hops :: DecIP6HLIM -> Discard; hops[1] -> ICMP6Error(2001:db8::9, 3, 0) -> Discard;";

/// Asks until all reasons have come.
fn drops(router: &Running, options: &[&str]) -> String {
    let begin = Instant::now();
    loop {
        let socket = router.socket.to_str().expect("UTF-8");
        let all = [&["drops", "-u", socket, "-i", "0.1"], options].concat();
        let said = text(program(&all).output().expect("the program can be started"));
        let has_all =
            ["transit", "multicast", "filtered", "hop limit"].iter().all(|part| said.contains(part));
        if has_all || begin.elapsed() > Duration::from_secs(30) {
            return said;
        }
    }
}

/// Packets whose senders are told count, with a mark and an example; what is redirected goes on and does not.
#[test]
fn what_senders_are_told_counts() {
    let router = Running::start("run", ROUTER, &[]);
    let said = drops(&router, &[]).split_whitespace().collect::<Vec<_>>().join(" ");
    for line in [
        " old time to live exceeded in transit (senders told by ICMP) for instance: udp 10.0.0.1:1 > 10.0.0.2:2 ttl 1",
        " hop limit exceeded in transit (senders told by ICMP) for instance: udp [2001:db8::1]:1",
        " filter filtered for instance: udp 10.0.0.3:1 > 10.0.0.2:2",
        " group no ICMP error about a broadcast or multicast for instance: udp 10.0.0.3:1 > 224.0.0.1:2",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("moved") && said.matches("senders told").count() == 2, "{said}");
    let json = drops(&router, &["--json"]);
    let report: Value = serde_json::from_str(json.lines().nth(2).unwrap_or_default()).expect("JSON");
    let told: Vec<(&str, bool)> = (report["drops"].as_array().expect("a list").iter())
        .map(|row| (row["element"].as_str().unwrap_or_default(), row["told"].as_bool().expect("whether")))
        .collect();
    assert!(told.contains(&("old", true)) && told.contains(&("filter", false)), "{told:?}");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("examples.pcapng");
    drops(&router, &["-w", file.to_str().expect("UTF-8")]);
    let bytes = std::fs::read(file).expect("examples");
    let comment = b"old: time to live exceeded in transit (senders told by ICMP)";
    assert!(bytes.windows(comment.len()).any(|part| part == comment));
    router.talk("write stop");
    router.end();
}

/// Metrics have them in a family of their own, so that drops stay what was lost without a word.
#[test]
fn metrics_tell_what_senders_are_told() {
    let (router, _directory, socket) = metrics::start(ROUTER, &[]);
    let begin = Instant::now();
    let (told, dropped) = loop {
        let families = metrics::scrape(&socket);
        let has = |name: &str, part: &str| {
            families.get(name).is_some_and(|family| family.samples.keys().any(|key| key.contains(part)))
        };
        let told =
            has("clique_element_told_total", "element=\"old\",class=\"ICMPError\",reason=\"time to live");
        let dropped = has("clique_element_drops_total", "element=\"old\"");
        if told || begin.elapsed() > Duration::from_secs(30) {
            break (told, dropped);
        }
    };
    assert!(told && !dropped);
    router.talk("write stop");
    router.end();
}
