use crate::rewrite::samples::{ip, tcp, udp};
use crate::testing::{Flow, build_at, errors, send, send_singly};
use elements_testing::ip6_samples;
use elements_testing::transport_samples::naive_checksum;
use proptest::prelude::*;
use router::{Call, Clock, Resources, Standing};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wire::tcp::flag::{ACK, SYN};
use wire::{ipv4, ipv6};

const HOST: &str = "2001:db8::1";
const OTHER: &str = "2001:db8::2";
const SERVER: &str = "198.51.100.7";
const POOL: &str = "192.0.2.1";

/// IPv6 packets arrive at input 0, others at input 1.
fn config(arguments: &str) -> String {
    format!(
        "n :: NAT64({arguments}); Inject -> c :: Classifier(0/60%f0, -); c[0] -> [0]n[0] -> Collect(0);
         c[1] -> [1]n[1] -> Collect(1);"
    )
}

fn run(arguments: &str, packets: impl IntoIterator<Item = Vec<u8>>) -> Flow {
    send(&config(arguments), packets.into_iter().collect::<Vec<_>>())
}

/// A transport header with data, whose checksum is for these ends.
fn message(protocol: u8, ends: [IpAddr; 2], ports: [u16; 2], data: &[u8]) -> Vec<u8> {
    let mut message = vec![0; if protocol == 6 { 20 } else { 8 }];
    message.extend(data);
    let len = message.len() as u16;
    match protocol {
        6 | 17 => {
            message[..2].copy_from_slice(&ports[0].to_be_bytes());
            message[2..4].copy_from_slice(&ports[1].to_be_bytes());
        }
        _ => message[4..6].copy_from_slice(&ports[0].to_be_bytes()),
    }
    match protocol {
        6 => (message[12], message[13]) = (5 << 4, ACK),
        17 => message[4..6].copy_from_slice(&len.to_be_bytes()),
        1 => message[0] = 8,
        _ => message[0] = 128,
    }
    sum(protocol, ends, message)
}

/// Where a protocol has its checksum.
fn sum_at(protocol: u8) -> usize {
    match protocol {
        6 => 16,
        17 => 6,
        _ => 2,
    }
}

/// What a checksum covers, for a sum that knows nothing of this program.
fn covered(protocol: u8, ends: [IpAddr; 2], message: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for end in ends {
        match end {
            IpAddr::V4(_) if protocol == 1 => return message.to_vec(),
            IpAddr::V4(end) => bytes.extend(end.octets()),
            IpAddr::V6(end) => bytes.extend(end.octets()),
        }
    }
    bytes.extend([0, protocol]);
    bytes.extend((message.len() as u32).to_be_bytes());
    bytes.extend(message);
    bytes
}

fn sum(protocol: u8, ends: [IpAddr; 2], mut message: Vec<u8>) -> Vec<u8> {
    let at = sum_at(protocol);
    message[at..at + 2].fill(0);
    let sum = naive_checksum(&covered(protocol, ends, &message));
    let sum = if protocol == 17 && sum == 0 { 0xffff } else { sum };
    message[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    message
}

fn v6(next_header: u8, src: Ipv6Addr, dst: Ipv6Addr, body: &[u8]) -> Vec<u8> {
    ip6_samples::with_addresses(ip6_samples::with_body(next_header, body), &src.to_string(), &dst.to_string())
}

fn embedded(address: &str) -> Ipv6Addr {
    let v4: Ipv4Addr = address.parse().unwrap();
    Ipv6Addr::from_bits(0x0064_ff9b << 96 | u128::from(v4.to_bits()))
}

/// A packet of a host to a server.
fn sent(protocol: u8, host: &str, port: u16, server: &str, server_port: u16) -> Vec<u8> {
    let (src, dst) = (host.parse().unwrap(), embedded(server));
    v6(protocol, src, dst, &message(protocol, [src.into(), dst.into()], [port, server_port], b"data"))
}

/// The same on the other side, from a port of the pool.
fn came(protocol: u8, port: u16, server: &str, server_port: u16) -> Vec<u8> {
    let (src, dst): (Ipv4Addr, Ipv4Addr) = (POOL.parse().unwrap(), server.parse().unwrap());
    ip(protocol, src, dst, &message(protocol, [src.into(), dst.into()], [port, server_port], b"data"))
}

/// A packet's ends, its protocol and its message; all checksums are right.
fn read(packet: &[u8]) -> ([IpAddr; 2], u8, Vec<u8>) {
    let (ends, protocol, message) = if packet[0] >> 4 == 4 {
        assert_eq!(naive_checksum(&packet[..20]), 0, "header");
        let ip = ipv4::Header::new_checked(packet).unwrap();
        assert_eq!(usize::from(ip.total_len()), packet.len());
        ([ip.src().into(), ip.dst().into()], ip.protocol(), packet[20..].to_vec())
    } else {
        let ip = ipv6::Header::new_checked(packet).unwrap();
        assert_eq!(usize::from(ip.payload_len()) + 40, packet.len());
        ([IpAddr::from(ip.src()), ip.dst().into()], ip.next_header(), packet[40..].to_vec())
    };
    assert!(protocol != 17 || message[6..8] != [0, 0]);
    assert_eq!(naive_checksum(&covered(protocol, ends, &message)), 0, "checksum of {protocol}");
    (ends, protocol, message)
}

/// `A PORT B PORT` of a packet; of an echo its identifier twice.
fn ends(packet: &[u8]) -> String {
    let ([a, b], protocol, message) = read(packet);
    let word = |at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
    let ports = if matches!(protocol, 6 | 17) { [word(0), word(2)] } else { [word(4); 2] };
    format!("{a} {} {b} {}", ports[0], ports[1])
}

/// An answer to a ping.
fn pong(id: u16) -> Vec<u8> {
    let [high, low] = id.to_be_bytes();
    sum(1, [POOL.parse().unwrap(); 2], vec![0, 0, 0, 0, high, low, 0, 9])
}

/// Each protocol gets there and back; two hosts with the same port are told apart; strangers are dropped.
#[test]
fn there_and_back() {
    let answer = |from: &str, to: &str| udp(from, to);
    let mut flow = run(
        "192.0.2.1 2000-2009#",
        [
            sent(17, HOST, 5000, SERVER, 53),
            sent(17, OTHER, 5000, SERVER, 53),
            sent(6, HOST, 5000, SERVER, 80),
            sent(58, HOST, 77, SERVER, 0),
            answer("198.51.100.7:53", "192.0.2.1:2001"),
            answer("198.51.100.7:54", "192.0.2.1:2001"),
            answer("198.51.100.8:53", "192.0.2.1:2001"),
            tcp("198.51.100.7:80", "192.0.2.1:2000", SYN | ACK, (1, 2), b"data"),
            tcp("198.51.100.7:80", "192.0.2.1:2003", SYN | ACK, (1, 2), b"data"),
            ip(1, SERVER.parse().unwrap(), POOL.parse().unwrap(), &pong(2005)),
        ],
    );
    let out: Vec<String> = flow.data(0).iter().map(|packet| ends(packet)).collect();
    assert_eq!(out[..2], ["192.0.2.1 2000 198.51.100.7 53", "192.0.2.1 2001 198.51.100.7 53"]);
    // Each protocol has ports of its own, one after the other.
    assert_eq!(out[2..], ["192.0.2.1 2002 198.51.100.7 80", "192.0.2.1 2003 198.51.100.7 2003"]);
    let back: Vec<String> = flow.data(1).iter().map(|packet| ends(packet)).collect();
    assert_eq!(back, ["64:ff9b::c633:6407 53 2001:db8::2 5000", "64:ff9b::c633:6407 54 2001:db8::2 5000"]);
    assert_eq!(flow.drops(), [("no mapping", 4)]);
    assert_eq!((flow.read("n.table_size"), flow.read("n.hosts")), ("5".to_owned(), "2".to_owned()));
    let flows = flow.read_with("n.flows", "src 2001:db8::2 dport 53");
    assert_eq!(
        flows,
        "udp 2001:db8::2 5000 64:ff9b::c633:6407 53 > 192.0.2.1 2001 198.51.100.7 53 OPEN assured exp300\n"
    );
    assert!(
        flow.read("n.table")
            .contains("(198.51.100.7, 53, 192.0.2.1, 2001) => (64:ff9b::c633:6407, 53, 2001:db8::2, 5000)")
    );
    assert!(
        flow.read_with("n.flows_json", "icmp")
            .contains(r#""source":"2001:db8::1","sport":77,"destination":"64:ff9b::c633:6407""#)
    );
    assert!(flow.read("n.endpoints").contains("udp 2001:db8::2 5000 > 192.0.2.1 2001 i0 [2]"));
    assert_eq!(flow.write("n.kill", "host 2001:db8::2"), "2");
    assert_eq!(flow.read_with("n.count", ""), "3");
}

/// An ICMP error in IPv4, from a router or host.
fn error4(src: &str, dst: &str, head: [u8; 8], about: &[u8]) -> Vec<u8> {
    let (src, dst): (Ipv4Addr, Ipv4Addr) = (src.parse().unwrap(), dst.parse().unwrap());
    ip(1, src, dst, &sum(1, [src.into(), dst.into()], [&head[..], about].concat()))
}

/// The same in IPv6.
fn error6(src: Ipv6Addr, dst: Ipv6Addr, head: [u8; 8], about: &[u8]) -> Vec<u8> {
    v6(58, src, dst, &sum(58, [src.into(), dst.into()], [&head[..], about].concat()))
}

/// A packet as its translation leaves what is quoted: hop limit and traffic class are those of the samples.
fn quoted(error: &[u8]) -> &[u8] {
    &error[if error[0] >> 4 == 4 { 28 } else { 48 }..]
}

/// Errors from the side of IPv4, by a router and by the host, are about what the IPv6 host has sent; also where a packet is cut off.
#[test]
fn errors_from_ipv4_find_who_has_sent() {
    for (protocol, port) in [(17, 53), (6, 80), (58, 0)] {
        let outside = if protocol == 58 { 1 } else { protocol };
        let about = sent(protocol, HOST, 5000, SERVER, port);
        let translated = came(outside, 2000, SERVER, port);
        let arguments = "192.0.2.1 2000-2009#";
        assert_eq!(ends(&run(arguments, [about.clone()]).data(0)[0]), ends(&translated));
        for (head, expected) in [
            ([3, 4, 0, 0, 0, 0, 0x05, 0x78], [2, 0, 0, 0, 0x05, 0x8c]), // 1400, 1420
            ([3, 4, 0, 0, 0, 0, 0x02, 0x00], [2, 0, 0, 0, 0x05, 0x00]),
            ([3, 3, 0, 0, 0, 0, 0, 0], [1, 4, 0, 0, 0, 0]),
            ([11, 0, 0, 0, 0, 0, 0, 0], [3, 0, 0, 0, 0, 0]),
        ] {
            for cut in [0, translated.len() - 28] {
                let error = error4("203.0.113.9", POOL, head, &translated[..translated.len() - cut]);
                let flow = run(arguments, [about.clone(), error]);
                let back = flow.data(1);
                let (told, _, message) = read(&back[0]);
                assert_eq!(told, [embedded("203.0.113.9").into(), HOST.parse::<IpAddr>().unwrap()]);
                assert_eq!([&message[..2], &message[4..8]].concat(), expected);
                let about = &about[..about.len() - cut];
                // All but the hop limit, which the samples choose differently, and the flow label, as it was sent; checksums included.
                assert_eq!(quoted(&back[0])[8..], about[8..]);
                assert_eq!(flow.seen.last().unwrap().1.network_header_len(), Some(40));
            }
        }
        let others = [
            error4("203.0.113.9", POOL, [3, 3, 0, 0, 0, 0, 0, 0], &came(outside, 2001, SERVER, port)),
            error4("203.0.113.9", "192.0.2.2", [3, 3, 0, 0, 0, 0, 0, 0], &translated),
            error4("203.0.113.9", POOL, [3, 3, 0, 0, 0, 0, 0, 0], &translated[..20]),
        ];
        let flow = run(arguments, [&[about.clone()][..], &others].concat());
        assert_eq!(flow.drops(), [("ICMP error about a packet of no flow", 3)]);
    }
}

/// Errors from the side of IPv6 leave as the pool's address, about the answer as it came.
#[test]
fn errors_from_ipv6_find_who_has_answered() {
    let arguments = "192.0.2.1 2000-2009#";
    for protocol in [17, 6] {
        let (src, dst): (Ipv4Addr, Ipv4Addr) = (SERVER.parse().unwrap(), POOL.parse().unwrap());
        let answer =
            ip(protocol, src, dst, &message(protocol, [src.into(), dst.into()], [53, 2000], b"answer"));
        let first = sent(protocol, HOST, 5000, SERVER, 53);
        let arrived = run(arguments, [first.clone(), answer.clone()]).data(1)[0].clone();
        let router = "2001:db8:ffff::1".parse().unwrap();
        for (head, expected) in [
            ([2, 0, 0, 0, 0, 0, 0x05, 0x78], [3, 4, 0, 0, 0x05, 0x64]), // 1400, 1380
            ([1, 4, 0, 0, 0, 0, 0, 0], [3, 3, 0, 0, 0, 0]),
            ([3, 0, 0, 0, 0, 0, 0, 0], [11, 0, 0, 0, 0, 0]),
        ] {
            let error = error6(router, embedded(SERVER), head, &arrived);
            let flow = run(arguments, [first.clone(), answer.clone(), error]);
            let (told, _, message) = read(&flow.data(0)[1]);
            assert_eq!(told, [POOL.parse::<IpAddr>().unwrap(), SERVER.parse().unwrap()]);
            assert_eq!([&message[..2], &message[4..8]].concat(), expected);
            let quoted = quoted(&flow.data(0)[1]).to_vec();
            // All but the identification and the checksum of its header.
            assert_eq!((&quoted[6..10], &quoted[12..]), (&answer[6..10], &answer[12..]));
        }
        let strange = [
            error6(router, embedded(SERVER), [1, 4, 0, 0, 0, 0, 0, 0], &sent(protocol, OTHER, 1, SERVER, 53)),
            error6(router, embedded("198.51.100.8"), [1, 4, 0, 0, 0, 0, 0, 0], &arrived),
        ];
        let flow = run(arguments, [&[first, answer][..], &strange].concat());
        assert_eq!(flow.drops(), [("ICMP error about a packet of no flow", 2)]);
    }
}

/// What cannot be translated is dropped for a reason.
#[test]
fn what_is_dropped() {
    let host: Ipv6Addr = HOST.parse().unwrap();
    let datagram = |dst: Ipv6Addr| message(17, [host.into(), dst.into()], [5, 6], b"");
    let fragment = |field: [u8; 2]| {
        let header = [&[17, 0, field[0], field[1], 0, 0, 0, 7][..], &datagram(embedded(SERVER))].concat();
        v6(44, host, embedded(SERVER), &header)
    };
    let mut part = came(17, 5, SERVER, 6);
    part[6] = 0x20;
    part[10..12].fill(0);
    let sum = naive_checksum(&part[..20]);
    part[10..12].copy_from_slice(&sum.to_be_bytes());
    let stranger = |src: &str| {
        let ends: [Ipv4Addr; 2] = [src.parse().unwrap(), POOL.parse().unwrap()];
        ip(17, ends[0], ends[1], &message(17, ends.map(IpAddr::from), [5, 6], b""))
    };
    let reasons = [
        (fragment([0, 1]), "fragment: reassemble in front"),
        (fragment([0, 8]), "fragment: reassemble in front"),
        (part, "fragment: reassemble in front"),
        (v6(17, host, OTHER.parse().unwrap(), &datagram(host)), "destination not in the prefix"),
        (v6(17, embedded("10.0.0.1"), embedded(SERVER), &datagram(host)), "source in the prefix"),
        (v6(17, Ipv6Addr::UNSPECIFIED, embedded(SERVER), &datagram(host)), "source that no host has"),
        (sent(17, HOST, 5, "240.0.0.1", 6), "source that no host has"),
        (stranger("255.0.0.1"), "source that no host has"),
        (stranger("0.0.0.1"), "source that no host has"),
        (stranger("198.51.100.9"), "no mapping"),
        (v6(6, host, embedded(SERVER), &[0; 19]), "packet ends within its transport header"),
        (v6(17, host, embedded(SERVER), &[0; 3]), "packet ends within its transport header"),
        (v6(132, host, embedded(SERVER), &[0; 20]), "no TCP, UDP or ICMP message that can be translated"),
        (
            v6(58, host, embedded(SERVER), &[135, 0, 0, 0, 0, 0, 0, 0]),
            "no TCP, UDP or ICMP message that can be translated",
        ),
        (vec![0x60; 30], "malformed packet"),
        (vec![0x45; 19], "malformed packet"),
    ];
    for (packet, reason) in reasons {
        assert_eq!(run("192.0.2.1 2000-2009", [packet.clone()]).drops(), [(reason, 1)], "{packet:02x?}");
    }
    // What looks like a fragment and is whole passes.
    assert_eq!(run("192.0.2.1 2000-2009", [fragment([0, 0])]).data(0).len(), 1);
    // Nothing is left, of ports and of room for hosts.
    let many = |hosts: u16| (1..=hosts).map(|host| sent(17, &format!("2001:db8::{host:x}"), 5, SERVER, 6));
    assert_eq!(run("192.0.2.1 2000-2001", many(3)).drops(), [("no mapping could be made", 1)]);
    let crowded = run("192.0.2.1 2000-2999, MAPPING_CAPACITY 9", many(20)).drops();
    assert!(crowded.contains(&("no room for another host", 11)), "{crowded:?}");
}

/// UDP without a checksum gets one, or is dropped.
#[test]
fn udp_without_a_checksum() {
    let mut answer = udp("198.51.100.7:53", "192.0.2.1:2000");
    answer[26..28].fill(0);
    let packets = [sent(17, HOST, 5000, SERVER, 53), answer];
    let flow = run("192.0.2.1 2000-2009#", packets.clone());
    assert_eq!(ends(&flow.data(1)[0]), "64:ff9b::c633:6407 53 2001:db8::1 5000");
    let flow = run("192.0.2.1 2000-2009#, UDP_ZERO_CHECKSUM false", packets);
    assert_eq!(flow.drops(), [("UDP without a checksum", 1)]);
}

/// Who reaches a mapped endpoint from the side of IPv4.
#[test]
fn filtering() {
    for (filtering, expected) in
        [("endpoint-independent", 3), ("address-dependent", 2), ("address-and-port-dependent", 1)]
    {
        let from = |end: &str| udp(end, "192.0.2.1:2000");
        let packets = [
            sent(17, HOST, 5000, SERVER, 53),
            from("198.51.100.7:53"),
            from("198.51.100.7:54"),
            from("198.51.100.8:53"),
        ];
        let flow = run(&format!("192.0.2.1 2000-2009#, FILTERING {filtering}"), packets);
        assert_eq!(flow.data(1).len(), expected, "{filtering}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Whichever host sends what: an endpoint becomes one port, and no other endpoint of its protocol the same; what the server gets has the
    /// data of what was sent, and what it returns comes to who has sent it, with its addresses and ports the other way round. All checksums
    /// are right.
    #[test]
    fn one_to_one(
        packets in prop::collection::vec((0usize..3, 0u16..4, 0u16..5, 0u8..3, any::<bool>(), prop::collection::vec(any::<u8>(), 0..30)), 1..40),
        prefix in prop::sample::select(vec![("64:ff9b::/96", 96u32), ("2001:db8:64::/48", 48)]),
    ) {
        let server = |number: u8| Ipv4Addr::new(198, 51, 100, 7 + number);
        let six = |v4: Ipv4Addr| match prefix.1 {
            96 => embedded(&v4.to_string()),
            _ => {
                let [a, b, c, d] = v4.octets();
                Ipv6Addr::from([0x20, 1, 0x0d, 0xb8, 0, 0x64, a, b, 0, c, d, 0, 0, 0, 0, 0])
            }
        };
        let sent: Vec<Vec<u8>> = packets.iter().map(|(kind, host, port, to, options, data)| {
            let protocol = [6u8, 17, 58][*kind];
            let (src, dst): (Ipv6Addr, Ipv6Addr) = (format!("2001:db8:1::{:x}", host + 1).parse().unwrap(), six(server(*to)));
            let body = message(protocol, [src.into(), dst.into()], [4000 + port, 53], data);
            match options {
                true => v6(60, src, dst, &[&[protocol, 0, 1, 4, 0, 0, 0, 0][..], &body].concat()),
                false => v6(protocol, src, dst, &body),
            }
        }).collect();
        let config = format!(
            "n :: NAT64(192.0.2.1 2000-2039, PREFIX {}); Inject -> [0]n[0] -> Tee(2) -> Collect(0);
             t :: Null; n[1] -> Collect(1); t -> Discard;", prefix.0
        ).replace("Tee(2) -> Collect(0);", "w :: Tee(2); w[0] -> Collect(0); w[1] -> IPMirror -> [1]n;").replace("t :: Null; ", "").replace(" t -> Discard;", "");
        let flow = send_singly(&config, sent.clone());
        let (out, back) = (flow.data(0), flow.data(1));
        prop_assert_eq!((out.len(), back.len()), (sent.len(), sent.len()), "{:?}", flow.drops());
        let (mut outside, mut inside) = (BTreeMap::new(), BTreeMap::new());
        for ((((kind, host, port, to, _, data), sent), out), back) in packets.iter().zip(&sent).zip(&out).zip(&back) {
            let (ends_out, protocol, message_out) = read(out);
            let expected = [Ipv4Addr::new(192, 0, 2, 1), server(*to)].map(IpAddr::from);
            prop_assert_eq!((ends_out, protocol), (expected, [6, 17, 1][*kind]));
            prop_assert!(message_out.ends_with(data));
            let word = |message: &[u8], at: usize| u16::from_be_bytes([message[at], message[at + 1]]);
            let at = if *kind == 2 { 4 } else { 0 };
            let mapped = word(&message_out, at);
            prop_assert!((2000..2040).contains(&mapped));
            prop_assert_eq!(*outside.entry((kind, host, port)).or_insert(mapped), mapped);
            prop_assert_eq!(*inside.entry((kind, mapped)).or_insert((host, port)), (host, port));
            let (ends_back, _, message_back) = read(back);
            let address = |at: usize| IpAddr::from(<[u8; 16]>::try_from(&sent[at..at + 16]).unwrap());
            prop_assert_eq!(ends_back, [address(24), address(8)]);
            prop_assert_eq!(word(&message_back, if *kind == 2 { 4 } else { 2 }), 4000 + port);
            prop_assert!(message_back.ends_with(data));
        }
    }

    /// Whatever arrives, on either side, is translated with right checksums or dropped and counted.
    #[test]
    fn whatever_comes(six in ip6_samples::hostile(), four in elements_testing::samples::hostile(), raw in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 0..10), quoted in prop::collection::vec(any::<u8>(), 0..60), kind in any::<u8>(), cut in 0usize..60) {
        let mut packets = vec![sent(17, HOST, 5000, SERVER, 53), sent(58, HOST, 5, SERVER, 0)];
        packets.extend(six.into_iter().filter(|packet| !packet.is_empty()));
        let aimed: Vec<_> = packets.iter().filter(|packet| packet.len() >= 40).map(|packet| {
            ip6_samples::with_addresses(packet.clone(), HOST, &embedded(SERVER).to_string())
        }).collect();
        packets.extend(aimed);
        packets.extend(four);
        packets.extend(raw.into_iter().enumerate().map(|(at, mut packet)| {
            packet[0] = if at % 2 == 0 { 0x45 } else { 0x60 };
            packet
        }));
        packets.push(error4(SERVER, POOL, [kind, 0, 0, 0, 0, 0, 0, 0], &quoted));
        packets.push(error6(HOST.parse().unwrap(), embedded(SERVER), [kind, 0, 0, 0, 0, 0, 0, 0], &quoted));
        let known = came(17, 2000, SERVER, 53);
        packets.push(error4(SERVER, POOL, [3, kind % 16, 0, 0, 0, 0, 0, 0], &known[..known.len().min(cut)]));
        let count = packets.iter().filter(|packet| !packet.is_empty()).count();
        let flow = send(&config("192.0.2.1 2000-2009#"), packets);
        for packet in &flow.data(0)[..2] {
            read(packet);
        }
        let dropped: u64 = flow.drops().iter().map(|(_, number)| number).sum();
        prop_assert!(flow.seen.len() as u64 + dropped >= count as u64);
    }
}

/// Flows, hosts and ports outlive another configuration with the same pool and prefix; with another one they are lost, and said to be.
#[test]
fn hot_swap() {
    let source = |packet: &[u8], port: usize| {
        let hex: String = packet.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("InfiniteSource(DATA \\<{hex}>, LIMIT 1) -> [{port}]n;")
    };
    let first = source(&sent(17, HOST, 5000, SERVER, 53), 0) + "Idle -> [1]n;";
    let answer = source(&udp("198.51.100.7:53", "192.0.2.1:2000"), 1);
    let next = source(&sent(17, OTHER, 5000, SERVER, 53), 0);
    let clock = Clock::simulated();
    let make = |arguments: &str, sources: &str| {
        let config = format!(
            "n :: NAT64({arguments}) -> a :: Counter -> Print(a, 100) -> Discard; n[1] -> b :: Counter -> Print(b, 100) -> Discard; {sources} Script(wait 100)"
        );
        build_at(&config, 1, 32, clock.clone(), Resources::default())
            .unwrap_or_else(|error| panic!("{error}"))
    };
    for (arguments, goes_on) in [
        ("192.0.2.1 2000-2009#", true),
        ("192.0.2.1 2000-2009#, MAPPING_CAPACITY 50", true),
        ("192.0.2.1 2000-2008#", false),
        ("192.0.2.1 2000-2009#, PREFIX 2001:db8:64::/96", false),
    ] {
        let mut router = make("192.0.2.1 2000-2009#", &first);
        router.run_rounds(100);
        router.handle().interrupt();
        router.replace(make(arguments, &(answer.clone() + &next))).unwrap().finish();
        router.run_rounds(100);
        let mut read = |path: &str| router.call(Call::read(path, "")).unwrap();
        let prefix_stays = !arguments.contains("PREFIX");
        let counts = ["a.count", "b.count", "n.table_size"].map(&mut read);
        let expected = match (goes_on, prefix_stays) {
            (true, _) => ["1", "1", "2"],
            (false, true) => ["1", "0", "1"],
            _ => ["0", "0", "0"],
        };
        assert_eq!(counts, expected, "{arguments}");
        assert_eq!(router.info().log.text().contains("1 flows lost (another POOL or PREFIX)"), !goes_on);
        if goes_on {
            assert!(router.call(Call::read("n.flows", "src 2001:db8::1")).unwrap().contains("assured"));
            assert!(
                router
                    .call(Call::read("n.endpoints", ""))
                    .unwrap()
                    .contains("2001:db8::2 5000 > 192.0.2.1 2001")
            );
        }
    }
}

#[path = "between_tests.rs"]
mod between;

/// A host without flows is forgotten, and its number goes to another one; one with flows stays. Time is simulated, but a grace period takes
/// as long as it takes.
#[test]
fn hosts_are_forgotten() {
    let source = |host: &str, seconds: u32, limit: u32| {
        let hex: String = sent(17, host, 5000, SERVER, 53).iter().map(|byte| format!("{byte:02x}")).collect();
        format!("TimedSource({seconds}, \\<{hex}>, LIMIT {limit}) -> [0]n;")
    };
    let config = format!(
        "n :: NAT64(192.0.2.1 2000-2009#, UDP_TIMEOUT 90, REAP_INTERVAL 10) -> Discard; n[1] -> Discard; Idle -> [1]n; {} {}",
        source(HOST, 1, 1),
        source(OTHER, 30, u32::MAX / 2),
    );
    let clock = Clock::simulated();
    let mut router = build_at(&config, 1, 32, clock.clone(), Resources::default())
        .unwrap_or_else(|error| panic!("{error}"));
    let mut seen = vec![["0", "0"].map(str::to_owned)];
    let begin = std::time::Instant::now();
    while seen.len() < 5 && begin.elapsed().as_secs() < 60 {
        if let Standing::Resting(Some(next)) = router.run_rounds(100) {
            clock.jump(next);
        }
        let counts = ["n.hosts", "n.table_size"].map(|path| router.call(Call::read(path, "")).unwrap());
        if seen.last() != Some(&counts) {
            seen.push(counts);
        }
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
    assert_eq!(seen, [["0", "0"], ["1", "1"], ["2", "2"], ["2", "1"], ["1", "1"]]);
}

#[test]
fn bad_arguments() {
    let config = |arguments: &str| {
        format!(
            "p :: IPRewriterPatterns(pool 192.0.2.1 1-5 - -, one 192.0.2.1 5 - -); m :: SourceIPHashMapper(4 7, pool 0 1 1, pool 0 1 2);
             Idle -> [0]n :: NAT64({arguments}) -> Discard; Idle -> [1]n; n[1] -> Discard;"
        )
    };
    let with = |arguments: &str| errors(&config(arguments));
    for (arguments, error) in [
        ("", "need one argument: ADDRESS PORTS, a pattern's name, or a mapper"),
        ("192.0.2.1 1-5, x", "need one argument"),
        ("192.0.2.1", "no such pattern '192.0.2.1'"),
        ("x 1-5", "bad source address"),
        ("192.0.2.1 5-1", "bad source port"),
        ("192.0.2.1 5", "POOL must choose from a range of ports"),
        ("one", "POOL must choose from a range of ports"),
        ("192.0.2.1 1-5, PREFIX 64:ff9b::/95", "PREFIX has 32, 40, 48, 56, 64 or 96 bits"),
        ("192.0.2.1 1-5, FILTERING x", "bad FILTERING"),
        ("192.0.2.1 1-5, MAPPING_CAPACITY x", "bad MAPPING_CAPACITY"),
        ("192.0.2.1 1-5, MAPPING endpoint-independent", "need one argument"),
    ] {
        assert!(with(arguments).contains(error), "{arguments}: {}", with(arguments));
    }
    for good in ["pool", "m", "192.0.2.1 1-5, PREFIX 2001:db8::/48"] {
        assert!(build_at(&config(good), 1, 32, Clock::simulated(), Resources::default()).is_ok(), "{good}");
    }
}

/// Fragments of different packets that are on their way together are not put together: each packet has an identification of its own, and keeps
/// it where it may not be fragmented, so that a fragmenter in the gateway can use it.
#[test]
fn no_identification_twice() {
    let long = |port: u16| {
        let (src, dst): (Ipv6Addr, _) = (HOST.parse().unwrap(), embedded(SERVER));
        v6(17, src, dst, &message(17, [src.into(), dst.into()], [port, 80], &[7; 1300]))
    };
    let packets =
        (0..4000).map(|number| if number % 2 == 0 { sent(17, HOST, 9, SERVER, 80) } else { long(9) });
    let mut seen = std::collections::HashSet::new();
    for packet in run(&format!("{POOL} 1024-65535"), packets).data(0) {
        let ip = ipv4::Header::new_checked(&packet[..]).unwrap();
        assert_eq!(ip.dont_fragment(), packet.len() > 1260);
        assert!(seen.insert(ip.id()), "{} twice, among {}", ip.id(), seen.len());
    }
    assert_eq!(seen.len(), 4000);
}
