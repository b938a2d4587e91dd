use super::super::decoder::{Decoder, Fields, Message};
use crate::testing::{Sent, build_at, errors, send_singly};
use elements_testing::flow_samples::{echo, tcp, udp};
use elements_testing::ip6_samples;
use proptest::prelude::*;
use router::{Call, Clock, Resources, Router};
use wire::tcp::flag::{ACK, FIN, SYN};

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [192, 0, 2, 1];

fn make(config: &str, vector: usize, clock: &Clock) -> Router {
    build_at(config, 1, vector, clock.clone(), Resources::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// An element that makes a packet ten times a second.
fn source(packet: &[u8], limit: usize) -> String {
    let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("TimedSource(0.1, \\<{hex}>, LIMIT {limit}) -> in;")
}

/// An exporter whose messages are printed, for `seconds`.
fn config(arguments: &str, sources: &str, script: &str) -> String {
    format!(
        "in :: MarkIPHeader -> fx :: FlowExporter({arguments}) -> out :: Discard; fx[1] -> Print(m, -1) -> Discard;
         {sources} Script({script}, stop);"
    )
}

/// The messages that a router has printed.
fn messages(router: &Router) -> Vec<Message> {
    let (mut decoder, text) = (Decoder::default(), router.info().log.text());
    let hex = text.lines().filter_map(|line| line.strip_prefix("m:")?.split_once('|')).map(|(_, hex)| hex);
    let byte = |pair: &[char]| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap();
    hex.map(|hex| {
        let digits: Vec<char> = hex.chars().filter(|digit| !digit.is_whitespace()).collect();
        decoder.decode(&digits.chunks(2).map(byte).collect::<Vec<u8>>()).unwrap()
    })
    .collect()
}

fn records(messages: &[Message]) -> Vec<Fields> {
    messages.iter().flat_map(|message| message.records.clone()).collect()
}

/// Values of elements, enterprises' with their numbers.
fn values<const N: usize>(record: &Fields, elements: [(u32, u16); N]) -> [Option<u128>; N] {
    elements.map(|element| record.get(&element).copied())
}

const BACK: u32 = 29305;

/// Flows of both families with their octets, packets, flags and times, once each, however large batches are.
#[test]
fn flows_are_exported_by_ipfix() {
    let ask = udp((A, 5000), (B, 53), b"?");
    let answer = udp((B, 53), (A, 5000), b"an answer");
    let segments = [
        tcp((A, 6000), (B, 80), SYN, &[], b""),
        tcp((B, 80), (A, 6000), SYN | ACK, &[], b""),
        tcp((A, 6000), (B, 80), FIN | ACK, &[], b"12345678"),
        tcp((B, 80), (A, 6000), FIN | ACK, &[], b""),
    ];
    let sources = [
        source(&ask, 5),
        source(&answer, 3),
        source(&ip6_samples::udp(100), 4),
        segments.iter().map(|segment| source(segment, 1)).collect(),
        source(&echo(A, B, 7, 1), 2),
    ]
    .concat();
    for vector in [1, 32] {
        let mut router =
            make(&config("IDLE_TIMEOUT 2, DOMAIN 9", &sources, "wait 6"), vector, &Clock::simulated());
        elements_testing::run_to_end(&mut router);
        let messages = messages(&router);
        assert_eq!((messages[0].templates, messages[0].domain, messages[0].sequence), (4, 9, 0));
        let records = records(&messages);
        let of = |protocol: u128| {
            let mut found = records.iter().filter(|record| record[&(0, 4)] == protocol);
            let record = found.next().unwrap_or_else(|| panic!("no record of {protocol}: {messages:?}"));
            let more = found.count();
            assert!(protocol == 17 || more == 0);
            record
        };
        let v4 = records.iter().find(|record| record.contains_key(&(0, 8)) && record[&(0, 4)] == 17).unwrap();
        let v6 = records.iter().find(|record| record.contains_key(&(0, 27))).unwrap();
        let start = 1_000_000_000_100;
        assert_eq!(
            values(v4, [(0, 8), (0, 12), (0, 7), (0, 11), (0, 1), (0, 2), (BACK, 1), (BACK, 2), (0, 136)]),
            [0x0a00_0001, 0xc000_0201, 5000, 53, 5 * 29, 5, 3 * 37, 3, 1].map(Some)
        );
        assert_eq!(
            values(v4, [(0, 152), (0, 153), (BACK, 153)]),
            [start, start + 400, start + 200].map(Some)
        );
        assert_eq!(
            values(v6, [(0, 7), (0, 11), (0, 1), (0, 2), (BACK, 1)]),
            [Some(5000), Some(5001), Some(592), Some(4), None]
        );
        let both = u128::from(SYN | ACK | FIN);
        assert_eq!(
            values(of(6), [(0, 1), (0, 2), (0, 6), (BACK, 1), (BACK, 2), (BACK, 6), (0, 136)]),
            [88, 2, both, 80, 2, both, 3].map(Some)
        );
        assert_eq!(values(of(1), [(0, 32), (0, 1), (0, 2), (0, 7)]), [0x0800, 56, 2, 0].map(Some));
        assert_eq!(records.len(), 4);
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        assert_eq!(
            ["fx.count", "fx.exported", "fx.dropped", "fx.uncounted"].map(&mut read),
            ["0", "4", "0", "0"]
        );
        assert_eq!(read("out.count"), "18");
    }
}

/// A packet that comes once, so many milliseconds from the start.
fn once(at_ms: u32, packet: &[u8]) -> String {
    source(packet, 1).replace("TimedSource(0.1,", &format!("TimedSource({},", f64::from(at_ms) / 1000.0))
}

/// A connection whose server answers after 30 ms and whose client acknowledges that after 11, with data that is sent again: twice in one
/// batch, and once more.
fn conversation() -> Vec<(u32, Vec<u8>)> {
    let (a, b) = ((A, 6000), (B, 80));
    let numbered = |mut packet: Vec<u8>, sequence: u32| {
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        packet
    };
    let data = |sequence| numbered(tcp(a, b, ACK, &[], b"12345678"), sequence);
    vec![
        (100, numbered(tcp(a, b, SYN, &[], b""), 9)),
        (130, numbered(tcp(b, a, SYN | ACK, &[], b""), 5)),
        (141, numbered(tcp(a, b, ACK, &[], b""), 10)),
        (200, data(10)),
        (200, data(18)),
        (300, data(10)),
        (300, data(18)),
        (300, data(26)),
        (500, data(26)),
        (600, numbered(tcp(b, a, FIN | ACK, &[], b""), 6)),
        (700, numbered(tcp(a, b, FIN | ACK, &[], b""), 34)),
        (800, numbered(tcp(b, a, FIN | ACK, &[], b""), 6)),
    ]
}

/// Round trips and retransmissions are told to collectors and to users, however large batches are.
#[test]
fn estimates_are_exported() {
    let sources: String = conversation().iter().map(|(at_ms, packet)| once(*at_ms, packet)).collect();
    let sources = sources + &source(&udp((A, 5000), (B, 53), b"?"), 1);
    const NTOP: u32 = 35632;
    for vector in [1, 32] {
        let script = "wait 1, read fx.talkers_json, read fx.largest, wait 6";
        let config = |arguments: &str| config(&format!("IDLE_TIMEOUT 2, {arguments}"), &sources, script);
        let run = |arguments: &str| {
            let mut router = make(&config(arguments), vector, &Clock::simulated());
            elements_testing::run_to_end(&mut router);
            router
        };
        let router = run("ESTIMATES true");
        let all = records(&messages(&router));
        let of = |protocol: u128| all.iter().find(|record| record[&(0, 4)] == protocol).unwrap();
        let wanted = [(NTOP, 123), (NTOP, 124), (NTOP, 109), (NTOP, 110), (BACK, 2)];
        assert_eq!(
            values(of(6), wanted),
            [6, 15, 3, 1, 3].map(Some),
            "11 ms and 30 ms, halves of them, rounded"
        );
        assert_eq!(values(of(17), wanted), [Some(0), Some(0), Some(0), None, None]);
        let text = router.info().log.text();
        let line = text.lines().find(|line| line.contains("\"tcp\"")).unwrap();
        assert!(
            line.ends_with(
                r#""dport":80,"rtt_server_us":30000,"rtt_client_us":11000,"retransmitted":[3,1]}"#
            ),
            "{line}"
        );
        let is_tcp = |line: &&str| line.starts_with("tcp ");
        let line = text.lines().find(is_tcp).unwrap();
        assert!(line.ends_with(" octets server 30.000 ms client 11.000 ms again 3 1"), "{line}");
        assert!(text.lines().any(|line| line == "udp 10.0.0.1 5000 192.0.2.1 53 29 octets"), "{text}");
        let apart = records(&messages(&run("ESTIMATES true, BIFLOW false")));
        let mut again: Vec<_> =
            apart.iter().map(|record| values(record, [(0, 4), (NTOP, 109), (NTOP, 110)])).collect();
        again.sort();
        assert_eq!(again, [[Some(6), Some(1), None], [Some(6), Some(3), None], [Some(17), Some(0), None]]);
        let v9 = records(&messages(&run("ESTIMATES true, VERSION 9")));
        let mut told: Vec<_> =
            v9.iter().map(|record| values(record, [(0, 57_595), (0, 57_596), (0, 57_581)])).collect();
        told.sort();
        assert_eq!(told, [[0, 0, 0], [6, 15, 1], [6, 15, 3]].map(|told| told.map(Some)));
        let without = run("");
        assert!(
            records(&messages(&without))
                .iter()
                .all(|record| record.keys().all(|(enterprise, _)| *enterprise != NTOP))
        );
        assert!(without.info().log.text().contains(r#""dport":80}"#));
    }
}

/// Counts go on where another configuration estimates, or no more; what it has not seen it does not know.
#[test]
fn estimates_begin_and_end_with_a_configuration() {
    let clock = Clock::simulated();
    let sources: String = conversation()[..9].iter().map(|(at_ms, packet)| once(*at_ms, packet)).collect();
    for (before, after) in
        [("ESTIMATES true", ""), ("", "ESTIMATES true"), ("ESTIMATES true", "ESTIMATES true")]
    {
        let config = |arguments: &str, sources: &str| {
            config(&format!("IDLE_TIMEOUT 1, {arguments}"), sources, "wait 1000")
        };
        let mut router = make(&config(before, &sources), 32, &clock);
        run_for(&mut router, &clock, 800);
        router.handle().interrupt();
        router.replace(make(&config(after, "Idle -> in;"), 32, &clock)).unwrap().finish();
        run_for(&mut router, &clock, 3000);
        let all = records(&messages(&router));
        assert_eq!(all.len(), 1);
        assert_eq!(values(&all[0], [(0, 2), (BACK, 2)]), [Some(8), Some(1)]);
        let told = values(&all[0], [(35_632, 124), (35_632, 109)]);
        let expected = match (before, after) {
            (_, "") => [None; 2],
            ("", _) => [Some(0); 2],
            // Half of a step of the clock.
            _ => [Some(25), Some(3)],
        };
        assert_eq!(told, expected, "{before} {after}");
    }
}

/// Version 9 has a record for each direction, with times that count from the router's start.
#[test]
fn flows_are_exported_by_version_9() {
    let sources =
        [source(&udp((A, 5000), (B, 53), b"?"), 5), source(&udp((B, 53), (A, 5000), b"!!"), 3)].concat();
    let mut router = make(&config("VERSION 9, IDLE_TIMEOUT 1", &sources, "wait 4"), 32, &Clock::simulated());
    elements_testing::run_to_end(&mut router);
    let messages = messages(&router);
    assert_eq!((messages.len(), messages[0].version, messages[0].templates), (1, 9, 2));
    let counts = |record| values(record, [(0, 8), (0, 7), (0, 1), (0, 2), (0, 22), (0, 21)]);
    let records = records(&messages);
    assert_eq!(
        records.iter().map(counts).collect::<Vec<_>>(),
        [
            [0x0a00_0001, 5000, 5 * 29, 5, 100, 500].map(Some),
            [0xc000_0201, 53, 3 * 30, 3, 100, 300].map(Some)
        ]
    );
}

/// A flow that goes on is exported every so often, and at once where that is asked for; templates come again.
#[test]
fn long_flows_are_exported_in_parts() {
    let sources = source(&udp((A, 5000), (B, 53), b"?"), 120);
    let script = "wait 5.75, write fx.flush, wait 0.5, read fx.exported, wait 10";
    let arguments = "ACTIVE_TIMEOUT 2, TEMPLATE_INTERVAL 3, BIFLOW false";
    let mut router = make(&config(arguments, &sources, script), 32, &Clock::simulated());
    elements_testing::run_to_end(&mut router);
    let messages = messages(&router);
    let templates: Vec<usize> = messages.iter().map(|message| message.templates).collect();
    let records = records(&messages);
    let reasons: Vec<u128> = records.iter().map(|record| record[&(0, 136)]).collect();
    // Two parts by time, one by hand, two more by time; the rest waits to be idle for longer than the router runs.
    assert_eq!(reasons, [2, 2, 4, 2, 2], "{records:?}");
    assert_eq!(templates, [2, 0, 2, 0, 2]);
    let sequence: Vec<u32> = messages.iter().map(|message| message.sequence).collect();
    assert_eq!(sequence, [0, 1, 2, 3, 4]);
    let mut ends = 0;
    for record in &records {
        assert!(record[&(0, 152)] > ends && record[&(0, 153)] - record[&(0, 152)] <= 2300, "{record:?}");
        ends = record[&(0, 153)];
    }
}

/// Lets a router run for some time.
fn run_for(router: &mut Router, clock: &Clock, ms: i64) {
    for _ in 0..ms / 50 {
        router.run_rounds(1000);
        clock.jump(clock.now_ns() + 50_000_000);
    }
}

/// Another configuration goes on with flows, numbers and counts.
#[test]
fn flows_survive_a_hot_swap() {
    let clock = Clock::simulated();
    let sources = [source(&udp((A, 5000), (B, 53), b"?"), 5), source(&ip6_samples::udp(10), 5)].concat();
    let all = sources.clone() + &source(&udp((A, 1), (B, 2), b""), 1);
    let config = |arguments: &str, sources: &str| config(arguments, sources, "wait 1000");
    let mut router = make(&config("IDLE_TIMEOUT 1", &all), 32, &clock);
    run_for(&mut router, &clock, 1400);
    assert_eq!(records(&messages(&router)).len(), 1);
    for arguments in ["IDLE_TIMEOUT 1", "IDLE_TIMEOUT 1, CAPACITY 5000", "IDLE_TIMEOUT 1, CAPACITY 1"] {
        router.handle().interrupt();
        router.replace(make(&config(arguments, &sources), 32, &clock)).unwrap().finish();
        run_for(&mut router, &clock, 600);
    }
    run_for(&mut router, &clock, 3000);
    let last = messages(&router);
    // Packets of all configurations are in the same records.
    let octets: Vec<u128> = records(&last).iter().map(|record| record[&(0, 2)]).collect();
    assert_eq!((octets, last[0].sequence, last[0].templates), (vec![20, 20], 1, 4));
    let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
    assert_eq!(["fx.exported", "fx.dropped", "fx.uncounted"].map(&mut read), ["3", "0", "0"]);
    elements_testing::assert_balanced(&router);
}

/// What a rewriter and a ConnTrack tell, as elements and values: when it happens, and once, whatever is swapped meanwhile.
#[test]
fn events_are_exported() {
    let clock = Clock::simulated();
    let flows: String = [5000, 5001, 5002].map(|port| source(&udp((A, port), (B, 53), b"?"), 1)).concat();
    let config = |version: u32, sources: &str, pattern: &str| {
        format!(
            "in :: MarkIPHeader -> ct :: ConnTrack(UDP_NEW_TIMEOUT 3, CAPACITY 2)
             -> rw :: IPRewriter(pattern {pattern} - - 0 0, UDP_TIMEOUT 4, UDP_GUARANTEE 0, REAP_INTERVAL 1)
             -> Discard; Idle -> fx :: FlowExporter(EVENTS rw ct, VERSION {version}) -> Discard;
             fx[1] -> Print(m, -1) -> Discard; {sources} Script(wait 1000)"
        )
    };
    let (range, other) = ("192.0.2.9 40000-40001#", "192.0.2.9 40001");
    for version in [9, 10] {
        let start = u128::try_from(clock.now_ns() / 1_000_000).unwrap();
        let mut router = make(&config(version, &flows, range), 32, &clock);
        let mut found = Vec::new();
        run_for(&mut router, &clock, 1000);
        // As it is, and with another specification, which ends the flows of the one before.
        for pattern in [range, other] {
            found.append(&mut records(&messages(&router)));
            router.handle().interrupt();
            router.replace(make(&config(version, "Idle -> in;", pattern), 32, &clock)).unwrap().finish();
            run_for(&mut router, &clock, 600);
        }
        run_for(&mut router, &clock, 9000);
        found.append(&mut records(&messages(&router)));
        let told = |record: &Fields| values(record, [(0, 230), (0, 233), (0, 7), (0, 225), (0, 227)]);
        let mut all: Vec<_> = found.iter().map(told).collect();
        all.sort();
        let session = |event, port, new| [Some(event), None, Some(port), Some(0xc000_0209), Some(new)];
        let connection = |event, port| [None, Some(event), Some(port), None, None];
        let short = [Some(12), None, None, Some(0xc000_0209), None];
        let mut expected = vec![session(4, 5000, 40000), session(4, 5001, 40001), short];
        expected.extend([session(5, 5000, 40000), session(5, 5001, 40001)]);
        expected.extend([5000, 5001, 5002].map(|port| connection(1, port)));
        expected.extend([5000, 5001, 5002].map(|port| connection(2, port)));
        expected.sort();
        assert_eq!(all, expected, "version {version}: {found:?}");
        let made = found.iter().find(|record| told(record) == session(4, 5000, 40000)).unwrap();
        assert_eq!(
            values(made, [(0, 323), (0, 8), (0, 12), (0, 11), (0, 4), (0, 226), (0, 228)]),
            [start + 100, 0x0a00_0001, 0xc000_0201, 53, 17, 0xc000_0201, 53].map(Some)
        );
        assert_eq!(router.call(Call::read("fx.dropped", "")).unwrap(), "0");
    }
}

/// What a NAT64 tells: sessions and mappings between IPv6 and IPv4 (RFC 8158, sections 5.5 and 5.6), with the hosts' own addresses, when
/// they begin and end, also where another prefix ends all of them.
#[test]
fn events_of_nat64_are_exported() {
    const HOST: u128 = 0x2001_0db8 << 96 | 1;
    const SERVER: u128 = 0x0064_ff9b << 96 | 0xc000_0201;
    let clock = Clock::simulated();
    let packet = ip6_samples::with_addresses(ip6_samples::udp(9), "2001:db8::1", "64:ff9b::192.0.2.1");
    let config = |version: u32, sources: &str, prefix: &str| {
        format!(
            "in :: NAT64(192.0.2.9 40000-40001#, PREFIX {prefix}, UDP_TIMEOUT 4, UDP_GUARANTEE 0, REAP_INTERVAL 1) -> Discard;
             Idle -> [1]in; in[1] -> Discard; Idle -> fx :: FlowExporter(EVENTS in, VERSION {version}) -> Discard;
             fx[1] -> Print(m, -1) -> Discard; {sources} Script(wait 1000)"
        )
    };
    for version in [9, 10] {
        for swaps in [false, true] {
            let start = u128::try_from(clock.now_ns() / 1_000_000).unwrap();
            let mut router = make(&config(version, &source(&packet, 1), "64:ff9b::/96"), 32, &clock);
            run_for(&mut router, &clock, 1000);
            let mut found = Vec::new();
            if swaps {
                found.append(&mut records(&messages(&router)));
                let next = make(&config(version, "Idle -> in;", "64:ff9b:1::/96"), 32, &clock);
                router.handle().interrupt();
                router.replace(next).unwrap().finish();
            }
            run_for(&mut router, &clock, 9000);
            found.append(&mut records(&messages(&router)));
            let told = |record: &Fields| {
                values(record, [(0, 230), (0, 27), (0, 7), (0, 28), (0, 225), (0, 227), (0, 226), (0, 228)])
                    .to_vec()
            };
            let mut all: Vec<_> = found.iter().map(told).collect();
            all.sort();
            let (new, port) = (Some(0xc000_0209), Some(40000));
            let session = |event| {
                let before = [Some(event), Some(HOST), Some(5000), Some(SERVER)];
                let after = [new, port, Some(0xc000_0201), Some(5001)];
                [before, after].concat()
            };
            let mapping = |event| vec![Some(event), Some(HOST), Some(5000), None, new, port, None, None];
            let expected = [session(6), session(7), mapping(10), mapping(11)];
            assert_eq!(all, expected, "version {version}: {found:?}");
            let made = found.iter().find(|record| told(record)[0] == Some(6)).unwrap();
            assert_eq!(values(made, [(0, 323), (0, 4), (0, 11)]), [start + 100, 17, 5001].map(Some));
        }
    }
}

/// In a full table new flows pass uncounted, and the counters say so.
#[test]
fn what_is_not_counted_is_told() {
    let flow = |port| udp((A, port), (B, 53), b"?");
    let packets =
        [flow(1), flow(1), flow(2), flow(2), flow(3), vec![0x45; 9], vec![0x15; 40], vec![0x60; 30]];
    let mut sent = send_singly(
        "Inject -> MarkIPHeader -> fx :: FlowExporter(CAPACITY 2) -> Collect(0); fx[1] -> Collect(1);",
        packets.clone(),
    );
    assert_eq!(sent.data(0), packets);
    assert_eq!((sent.read("fx.count"), sent.read("fx.uncounted")), ("2".to_owned(), "4".to_owned()));
    assert_eq!(sent.read_with("fx.talkers", "1").lines().count(), 1);
    assert_eq!(sent.read("fx.talkers"), "58\tudp 10.0.0.1 2 192.0.2.1 53\n58\tudp 10.0.0.1 1 192.0.2.1 53\n");
    let mut largest = |filter: &str| sent.read_with("fx.largest", filter);
    assert_eq!(largest("sport 1"), "udp 10.0.0.1 1 192.0.2.1 53 58 octets\n");
    let lines = ["tcp", "limit 1", "unreplied", "replied", "state OPEN"]
        .map(|filter| largest(filter).lines().count());
    assert_eq!(lines, [0, 1, 2, 0, 0]);
    assert!(sent.read_with("fx.largest_json", "sport 2").contains(r#""sport":2,"#));
    let counters = sent.read("fx.counters");
    for line in
        ["8\tpackets", "3\tpackets without IP header", "1\tpackets of flows without room", "2\tIPv4 flows"]
    {
        assert!(counters.lines().any(|known| known == line), "{line} in {counters}");
    }
}

#[test]
fn bad_arguments_are_refused() {
    for (arguments, error) in [
        ("VERSION 5", "VERSION is 9 or 10"),
        ("IDLE_TIMEOUT 0", "must not be 0"),
        ("ACTIVE_TIMEOUT 0", "must not be 0"),
        ("LENGTH 100", "LENGTH is from 1024 to 8192"),
        ("LENGTH 9000", "LENGTH is from 1024 to 8192"),
        ("EVENTS nothing", "no element named 'nothing'"),
        ("EVENTS i", "'i' is not a rewriter or ConnTrack element"),
        ("EVENTS r r", "'r' tells its events already"),
        ("CAPACITY x", "CAPACITY"),
        ("192.0.2.1", "too many arguments"),
    ] {
        let said = errors(&format!(
            "i :: Idle -> fx :: FlowExporter({arguments}) -> r :: IPRewriter(drop) -> Discard; fx[1] -> Discard;"
        ));
        assert!(said.contains(error), "{said}");
    }
    assert!(
        errors("Idle -> FlowExporter -> Discard;")
            .contains("the last output, for messages, is not connected")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever arrives leaves unchanged.
    #[test]
    fn any_packets(packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 1..20), v6 in ip6_samples::hostile()) {
        let versions = packets.into_iter().enumerate().map(|(at, mut packet)| {
            if let Some(first) = packet.first_mut() {
                *first = if at % 2 == 0 { 0x45 } else { 0x60 };
            }
            packet
        });
        let packets: Vec<Vec<u8>> = versions.chain(v6).filter(|packet| !packet.is_empty()).collect();
        let config = "Inject -> MarkIPHeader -> fx :: FlowExporter(CAPACITY 3) -> Collect(0); fx[1] -> Collect(1);";
        let flow = send_singly(config, packets.iter().cloned().map(Sent::from));
        prop_assert_eq!(flow.data(0), packets);
    }
}
