//! Quotas of prefixes, as elements keep them: one prefix floods, and others do not notice.

use crate::quota::QUOTA;
use crate::testing::{Flow, build_at, errors, send, send_singly};
use elements_testing::flow_samples::udp;
use elements_testing::ip6_samples;
use router::{Call, Clock, Resources, Router};

const SERVER: [u8; 4] = [192, 0, 2, 1];

/// Flows of hosts of one network: a flood, of which each has a host and port of its own.
fn flood(net: u8, flows: u8) -> impl Iterator<Item = Vec<u8>> {
    (0..flows).map(move |host| udp(([10, 0, net, host], 2000 + u16::from(host)), (SERVER, 53), b"?"))
}

/// A flood of one network, then flows of two others.
fn packets() -> Vec<Vec<u8>> {
    flood(0, 100).chain(flood(1, 5)).chain(flood(2, 5)).collect()
}

/// A line of a handler that counts.
fn has(flow: &mut Flow, handler: &str, line: &str) -> bool {
    let lines = flow.read(handler);
    assert!(lines.lines().any(|known| known.replace('\t', " ") == line), "{line} in {lines}");
    true
}

#[test]
fn connections_of_a_prefix() {
    for confirm in ["", "ConnTrackConfirm(ct) ->"] {
        let config = format!("Inject -> MarkIPHeader -> ct :: ConnTrack(QUOTA 5) -> {confirm} Collect(0);");
        let mut flow = send(&config, packets());
        assert_eq!((flow.data(0).len(), flow.drops()), (15, vec![(QUOTA, 95)]));
        has(&mut flow, "ct.counters", "95 connections over quota");
        has(&mut flow, "ct.counters", "0 connections refused");
        assert_eq!([flow.read("ct.quota_refusals"), flow.read("ct.made")], ["95", "15"]);
        assert!(flow.read("ct.counters_json").contains("\"connections over quota\":95"));
    }
    // By addresses, and of IPv6 by networks.
    let config = "Inject -> MarkIPHeader -> ct :: ConnTrack(QUOTA 1, QUOTA_PREFIX 32) -> Collect(0);";
    assert_eq!(send(config, flood(0, 100)).data(0).len(), 100);
    let host = |net: u32, host: u32| {
        let packet = ip6_samples::with_body(17, &[0x13, 0x88, 0, 53, 0, 8, 0, 0]);
        ip6_samples::with_addresses(packet, &format!("2001:db8:0:{net:x}::{host:x}"), "2001:db8::1")
    };
    let hosts = (1..=20).map(|number| host(1, number)).chain((2..=9).map(|net| host(net, 1)));
    let flow = send("Inject -> MarkIPHeader -> ConnTrack(QUOTA 5) -> Collect(0);", hosts);
    assert_eq!((flow.data(0).len(), flow.drops()), (5 + 8, vec![(QUOTA, 15)]));
}

/// A rewriter's flows, one by one and in batches alike: what is refused uses up no port.
#[test]
fn flows_of_a_prefix() {
    let config = |keywords: &str| {
        format!(
            "Inject -> MarkIPHeader -> rw :: IPRewriter(pattern 1.2.3.4 40000-40999? - - 0 0, QUOTA 5{keywords}) -> Collect(0);"
        )
    };
    for mapping in ["", ", MAPPING endpoint-independent"] {
        let mut flow = send(&config(mapping), packets());
        assert_eq!((flow.data(0).len(), flow.drops()), (15, vec![(QUOTA, 95)]), "{mapping}");
        assert_eq!(flow.data(0), send_singly(&config(mapping), packets()).data(0));
        assert_eq!(
            ["made", "quota_refusals", "mapping_failures"].map(|name| flow.read(&format!("rw.{name}"))),
            ["15", "95", "95"]
        );
        has(&mut flow, "rw.counters", "95 flows over quota");
        has(&mut flow, "rw.counters", "0 flows without a port or address");
        assert_eq!(flow.write("rw.kill", "src 10.0.0.0/24"), "5");
        has(&mut flow, "rw.counters", "5 flows killed");
    }
    // Those that share a table share its quota, and cannot have another.
    let shares =
        "Idle -> a :: IPRewriter(pattern 1.2.3.4 40000-40999 - - 0 0, QUOTA 5, CAPACITY b) -> Discard;
        Idle -> b :: IPRewriter(drop) -> Discard;";
    let text = errors(shares);
    assert!(text.contains("QUOTA: say it to the element that the capacity is shared with"), "{text}");
    assert!(errors("Idle -> IPRewriter(drop, QUOTA_PREFIX 33) -> Discard").contains("bad QUOTA_PREFIX"));
}

/// Hosts of IPv6 count by their own prefix, not by the numbers that stand for them; those of a prefix that has its flows take no numbers, of
/// which there are as many as flows.
#[test]
fn hosts_of_a_prefix() {
    let host = |net: u32, host: u32| {
        let packet = ip6_samples::with_body(17, &[0x13, 0x88, 0, 53, 0, 8, 0xff, 0xff]);
        ip6_samples::with_addresses(packet, &format!("2001:db8:0:{net:x}::{host:x}"), "64:ff9b::192.0.2.1")
    };
    let hosts = (1..=100).map(|number| host(1, number)).chain((2..=9).map(|net| host(net, 1)));
    let config = "Inject -> MarkIP6Header -> n :: NAT64(192.0.2.9 2000-2999, QUOTA 5, CAPACITY 40) -> Collect(0); Idle -> [1]n[1] -> Discard;";
    let mut flow = send(config, hosts);
    assert_eq!((flow.data(0).len(), flow.drops()), (5 + 8, vec![(QUOTA, 95)]));
    let counts = ["n.quota_refusals", "n.mapping_failures", "n.hosts"].map(|path| flow.read(path));
    assert_eq!(counts, ["95", "95", "13"]);
}

fn source(packet: &[u8]) -> String {
    let data: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("RatedSource(DATA \\<{data}>, RATE 1000, LIMIT 1) -> in;\n")
}

fn run(router: &mut Router, clock: &Clock) {
    for _ in 0..100 {
        router.run_rounds(1000);
        clock.jump(clock.now_ns() + 10_000_000);
    }
}

/// Who has many flows when a quota begins keeps them, and gets no others until they are gone; also where flows were counted before.
#[test]
fn a_quota_that_begins_counts_what_is_there() {
    let clock = Clock::simulated();
    let config = |quota: u8, sources: &str| {
        let config = format!(
            "in :: MarkIPHeader -> ct :: ConnTrack(QUOTA {quota}) -> rw :: IPRewriter(keep 0 0, QUOTA {quota}) -> Discard; {sources}
             Idle -> in; Script(wait 1000)"
        );
        build_at(&config, 1, 32, clock.clone(), Resources::default())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let sources = |net, from: usize, to| {
        flood(net, 20).skip(from).take(to - from).map(|packet| source(&packet)).collect::<String>()
    };
    let mut router = config(0, &sources(0, 0, 6));
    run(&mut router, &clock);
    let replace = |router: &mut Router, quota, sources: &str| {
        router.handle().interrupt();
        router.replace(config(quota, sources)).unwrap().finish();
        run(router, &clock);
        ["ct.count", "rw.table_size", "ct.made"].map(|path| router.call(Call::read(path, "")).unwrap())
    };
    assert_eq!(replace(&mut router, 5, &sources(0, 6, 10)), ["6"; 3]);
    assert_eq!(replace(&mut router, 5, &(sources(0, 10, 12) + &sources(1, 0, 3))), ["9"; 3]);
    assert_eq!(replace(&mut router, 8, &sources(0, 6, 10)), ["11"; 3]);
    assert_eq!(replace(&mut router, 0, &sources(0, 8, 12)), ["15"; 3]);
}
