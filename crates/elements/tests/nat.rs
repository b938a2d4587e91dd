//! The examples that translate addresses, from one interface to the other and back.

use device::memory::{Config, Interface, Interfaces, TapConfig};
use elements_testing::run_to_end;
use router::{Call, Clock, Log, Options, Resources};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::Arc;
use wire::{ip_proto, ipv4};

/// A UDP packet, or an ICMP message about one, in an Ethernet frame to the gateway.
fn frame(mac: u8, protocol: u8, from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let mut data = vec![2, 0, 0, 0, 0, mac, 2, 0, 0, 0, 0, 99, 8, 0];
    data.extend(packet(protocol, from, to, payload));
    data
}

fn packet(protocol: u8, from: &str, to: &str, payload: &[u8]) -> Vec<u8> {
    let (src, dst): (Ipv4Addr, Ipv4Addr) =
        (from.parse().expect("an address"), to.parse().expect("an address"));
    let mut payload = payload.to_vec();
    match protocol {
        ip_proto::UDP => wire::udp::fill_checksum_v4(src, dst, &mut payload).expect("a datagram"),
        ICMP => wire::icmpv4::fill_checksum(&mut payload).expect("a message"),
        _ => {} // no element looks
    }
    let mut data = vec![0; ipv4::HEADER_LEN];
    data.extend(&payload);
    let len = data.len() as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut data).expect("long enough");
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_ttl(64);
    header.set_protocol(protocol);
    header.set_src(src);
    header.set_dst(dst);
    header.fill_checksum();
    data
}

fn datagram(from: u16, to: u16) -> Vec<u8> {
    let mut bytes = [from.to_be_bytes(), to.to_be_bytes(), [0, 12], [0, 0]].concat();
    bytes.extend(b"data");
    bytes
}

/// A datagram of 700 bytes.
fn long_datagram() -> Vec<u8> {
    let mut long = datagram(5000, 53);
    long.resize(700, 0);
    long[4..6].copy_from_slice(&700u16.to_be_bytes());
    long
}

/// A connection to a web server begins.
fn syn() -> Vec<u8> {
    [&[0x13, 0x88, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 1, 0][..], &[0; 4]].concat()
}

/// Frames that an interface takes before it runs, and those that are kept of what it sends.
const FRAMES: usize = 256;

/// What an interface has sent, without Ethernet headers and with the hops that they had at first.
fn sent(interface: &Interface) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    interface.drain_tap(FRAMES, |frame| {
        if frame[12..14] != [8, 0] {
            return; // asks for a neighbour
        }
        let mut packet = frame[14..].to_vec();
        ipv4::check(&packet, true).expect("correct headers");
        packet[8] = 64;
        ipv4::fill_checksum(&mut packet).expect("a header");
        packets.push(packet);
    });
    packets
}

/// A shipped configuration with interfaces in memory, and Ethernet addresses that need no kernel.
fn in_memory(text: &str) -> String {
    text.replace("FromDevice($device, METHOD $METHOD)", "FromMemory($device)")
        .replace("FromDevice($device, PROMISC true, METHOD $METHOD)", "FromMemory($device)")
        .replace("ToDevice($device, METHOD $METHOD)", "ToMemory($device)")
        .replace("FromDevice($IN, METHOD $METHOD)", "FromMemory($IN)")
        .replace("ToDevice($IN, METHOD $METHOD)", "ToMemory($IN)")
        .replace("FromDevice($OUT, METHOD $METHOD)", "FromMemory($OUT)")
        .replace("ToDevice($OUT, METHOD $METHOD)", "ToMemory($OUT)")
        .replace("$IF0:eth", "02:00:00:00:00:01")
        .replace("$IF1:eth", "02:00:00:00:00:02")
        .replace("$IN:eth", "02:00:00:00:00:01")
        .replace("$OUT:eth", "02:00:00:00:00:02")
}

/// Runs a configuration on frames for eth0 and eth1, in this order, and returns what both have sent. All these hosts are
/// known to the ARP queriers of the ports, or of the whole, that would ask for them.
fn run(name: &str, neighbours: &[(&str, &str)], frames: [Vec<Vec<u8>>; 2]) -> [Vec<Vec<u8>>; 2] {
    run_with(name, &[], neighbours, frames)
}

/// The same with arguments.
fn run_with(
    name: &str,
    arguments: &[(&str, &str)],
    neighbours: &[(&str, &str)],
    frames: [Vec<Vec<u8>>; 2],
) -> [Vec<Vec<u8>>; 2] {
    let interfaces: [Arc<Interface>; 2] = ["eth0", "eth1"].map(|name| {
        let tap = Some(TapConfig { every: 1, capacity: FRAMES });
        Interface::new(name, Config { tap, ..Config::rings(1, FRAMES) })
    });
    let registry = Interfaces::new();
    interfaces.iter().for_each(|interface| registry.add(interface.clone()).expect("names differ"));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conf").join(name);
    let text = in_memory(&std::fs::read_to_string(path).expect("readable")) + "Script(wait 5, stop);";
    let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let parsed = lang::parse(&text, name, &arguments.iter().map(owned).collect::<Vec<_>>());
    let known = elements::classes();
    let layout =
        router::layout(parsed.graph, &known, 1).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    let mut resources = Resources::default();
    resources.insert(registry);
    let log = Log::Memory(Default::default());
    let options = Options { resources, log, clock: Clock::simulated(), ..Options::default() };
    let (mut router, _) =
        router::build(layout, text, &known, options).unwrap_or_else(|e| panic!("{}", lang::render_click(&e)));
    for (port, neighbour) in neighbours {
        let value = format!("{neighbour} 2:0:0:0:0:99");
        let arp = if port.is_empty() { "arp.insert".to_owned() } else { format!("{port}/arp.insert") };
        router.call(Call::write(arp, value)).expect("written");
    }
    for (interface, frames) in interfaces.iter().zip(&frames) {
        frames.iter().for_each(|frame| interface.inject(0, frame).expect("room"));
    }
    run_to_end(&mut router);
    interfaces.map(|interface| sent(&interface))
}

const UDP: u8 = ip_proto::UDP;
const ICMP: u8 = ip_proto::ICMP;

/// An ICMP message that says that the destination of a packet cannot be reached.
fn unreachable(about: Vec<u8>) -> Vec<u8> {
    [vec![3, 1, 0, 0, 0, 0, 0, 0], about].concat()
}

/// A host's packet goes out under the gateway's address, the answer and an error come back to it, strangers do not.
#[test]
fn answers_and_errors_come_back_and_strangers_do_not() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let about = unreachable(packet(UDP, gateway, far, &datagram(5000, 53)));
    let told = unreachable(packet(UDP, host, far, &datagram(5000, 53)));
    let [inside, outside] = run(
        "nat.click",
        &[("in", host), ("out", "203.0.113.1")],
        [
            vec![frame(1, UDP, host, far, &datagram(5000, 53))],
            vec![
                frame(2, UDP, far, gateway, &datagram(53, 5000)),
                frame(2, UDP, far, gateway, &datagram(54, 5000)),
                frame(2, ICMP, "198.51.100.9", gateway, &about),
            ],
        ],
    );
    assert_eq!(outside, [packet(UDP, gateway, far, &datagram(5000, 53))]);
    assert_eq!(
        inside,
        [packet(UDP, far, host, &datagram(53, 5000)), packet(ICMP, "198.51.100.9", host, &told),]
    );
}

/// An error that a host inside sends about an answer, or a router there, leaves as one of the gateway about the answer as it came. None
/// leaves about what was not translated, and none that comes from outside goes back there.
#[test]
fn errors_from_inside_leave_as_the_gateways() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let about = |port| unreachable(packet(UDP, far, host, &datagram(port, 5000)));
    let told = |from| frame(1, ICMP, from, far, &about(53));
    let [inside, outside] = run(
        "nat.click",
        &[("in", host), ("out", "203.0.113.1")],
        [
            vec![
                frame(1, UDP, host, far, &datagram(5000, 53)),
                told(host),
                told("10.0.0.254"),
                frame(1, ICMP, host, far, &about(54)),
            ],
            vec![frame(2, ICMP, far, gateway, &about(53))],
        ],
    );
    let about = unreachable(packet(UDP, far, gateway, &datagram(53, 5000)));
    let told = packet(ICMP, gateway, far, &about);
    assert_eq!(outside, [packet(UDP, gateway, far, &datagram(5000, 53)), told.clone(), told]);
    assert_eq!(inside, [] as [Vec<u8>; 0]);
}

/// An error about a packet between two hosts inside that see each other's public endpoints goes to its sender, about the packet that it sent (RFC
/// 5508, REQ-7). So does one about a packet to the server.
#[test]
fn errors_between_hosts_inside_come_back() {
    let (a, b, gateway, far, web) = ("10.0.0.5", "10.0.0.6", "203.0.113.2", "198.51.100.7", "10.0.0.80");
    let syn = syn();
    let behaviour = [("MAPPING", "endpoint-independent"), ("FILTERING", "endpoint-independent")];
    let tcp = ip_proto::TCP;
    let [inside, outside] = run_with(
        "nat.click",
        &behaviour,
        &[("in", a), ("in", b), ("in", web), ("out", "203.0.113.1")],
        [
            vec![
                frame(1, UDP, a, far, &datagram(5000, 53)),
                frame(1, UDP, b, far, &datagram(6000, 53)),
                frame(1, UDP, a, gateway, &datagram(5000, 6000)),
                frame(1, ICMP, b, gateway, &unreachable(packet(UDP, gateway, b, &datagram(5000, 6000)))),
                frame(1, tcp, a, gateway, &syn),
                frame(1, ICMP, web, gateway, &unreachable(packet(tcp, gateway, web, &syn))),
            ],
            Vec::new(),
        ],
    );
    assert_eq!(outside.len(), 2);
    let errors: Vec<_> = inside.into_iter().filter(|packet| packet[9] == ICMP).collect();
    let told = |about| packet(ICMP, gateway, a, &unreachable(about));
    assert_eq!(errors[0], told(packet(UDP, a, gateway, &datagram(5000, 6000))));
    // The checksum of TCP, which is not filled in here, is adjusted beyond the eight bytes that count.
    assert_eq!((errors.len(), &errors[1][12..20]), (2, &told(Vec::new())[12..20]));
    assert_eq!(errors[1][40..52], packet(tcp, a, gateway, &syn)[12..24]);
}

/// An error whose checksum is wrong, or that of the header that it quotes, goes nowhere; one whose quoted datagram has a wrong one does (RFC
/// 5508, REQ-3). So do errors about nothing that was translated (REQ-4, REQ-5), and ICMP that is neither question nor error (REQ-11).
#[test]
fn errors_that_go_nowhere() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let broken = |at: usize, mut frame: Vec<u8>| {
        frame[at] ^= 1;
        frame
    };
    let about = |at: usize, from| {
        let mut about = packet(UDP, from, far, &datagram(5000, 53));
        if at > 0 {
            about[at] ^= 1;
        }
        frame(2, ICMP, far, gateway, &unreachable(about))
    };
    let router = |kind| [vec![kind, 0, 0, 0, 0, 0, 0, 0], vec![0; 12]].concat();
    let [inside, outside] = run(
        "nat.click",
        &[("in", host), ("out", "203.0.113.1")],
        [
            vec![frame(1, UDP, host, far, &datagram(5000, 53)), frame(1, ICMP, host, far, &router(13))],
            vec![
                broken(14 + 20 + 2, about(0, gateway)),
                about(10, gateway),
                about(0, "203.0.113.3"),
                frame(2, ICMP, far, gateway, &router(9)),
                frame(2, ICMP, far, gateway, &router(13)),
                about(26, gateway),
            ],
        ],
    );
    assert_eq!((inside.len(), outside.len()), (1, 1));
    // The wrong checksum of the datagram is as wrong as it was.
    assert_eq!(inside[0][28 + 12..28 + 16], [10, 0, 0, 5]);
}

/// The gateway answers pings on both sides by the address that was asked (RFC 5508, REQ-10), and to no other.
#[test]
fn the_gateway_answers_pings() {
    let (host, far) = ("10.0.0.5", "198.51.100.7");
    let ping = |kind| vec![kind, 0, 0, 0, 0, 7, 0, 1];
    let ask = |mac, from, to| frame(mac, ICMP, from, to, &ping(8));
    let [inside, outside] = run(
        "nat.click",
        &[("in", host), ("out", "203.0.113.1")],
        [
            vec![ask(1, host, "10.0.0.1"), ask(1, host, "203.0.113.2")],
            vec![ask(2, far, "203.0.113.2"), ask(2, far, "203.0.113.3"), ask(2, far, "10.0.0.1")],
        ],
    );
    let answer = |from, to| packet(ICMP, from, to, &ping(0));
    assert_eq!(inside, [answer("10.0.0.1", host), answer("203.0.113.2", host)]);
    assert_eq!(outside, [answer("203.0.113.2", far)]);
}

/// A frame with a part of a packet.
fn part(mac: u8, from: &str, to: &str, payload: &[u8], field: u16) -> Vec<u8> {
    let mut data = frame(mac, 0, from, to, &[]);
    data.extend(payload);
    let len = (data.len() - 14) as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut data[14..]).expect("long enough");
    header.set_total_len(len);
    header.set_protocol(UDP);
    header.set_fragment_field(field);
    header.set_id(7);
    header.fill_checksum();
    data
}

/// Fragments are put together, in whatever order they come, and cut again where they have to be, also those that must not be cut (RFC 4787,
/// REQ-14). Two hosts' fragments that had the same identification have two.
#[test]
fn fragments_pass() {
    let (hosts, far, gateway) = (["10.0.0.5", "10.0.0.6"], "198.51.100.7", "203.0.113.2");
    let whole = packet(UDP, hosts[0], far, &long_datagram());
    let (first, last) = whole[20..].split_at(400);
    let frames = hosts.map(|host| {
        let field = ipv4::FLAG_DF;
        [part(1, host, far, last, field | 50), part(1, host, far, first, field | ipv4::FLAG_MF)]
    });
    let [inside, outside] = run_with(
        "nat.click",
        &[("MTU_OUT", "600")],
        &[("in", hosts[0]), ("out", "203.0.113.1")],
        [frames.concat(), vec![part(2, far, gateway, &datagram(53, 5000)[..8], ipv4::FLAG_MF)]],
    );
    assert_eq!((inside.len(), outside.len()), (0, 4));
    for (packet, len) in outside.iter().zip([596, 144].into_iter().cycle()) {
        assert_eq!((packet.len(), packet[6] & 0x40, &packet[12..16]), (len, 0, &[203, 0, 113, 2][..]));
    }
    let id = |at: usize| &outside[at][4..6];
    assert!(id(0) == id(1) && id(2) == id(3) && id(0) != id(2));
}

/// A fragment of IPv6 is one also behind other headers: what comes in such fragments is put together, and translated.
#[test]
fn fragments_behind_options_pass() {
    let (from, to) = ("2001:db8:1::10", "64:ff9b::203.0.113.1");
    let (from, to): (Ipv6Addr, Ipv6Addr) = (from.parse().unwrap(), to.parse().unwrap());
    let mut message = datagram(5000, 53);
    message.resize(40, 1);
    message[4..6].copy_from_slice(&[0, 40]);
    wire::udp::fill_checksum_v6(from, to, &mut message).unwrap();
    let part = |field: u8, payload: &[u8]| {
        let mut data = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 99, 0x86, 0xdd, 0x60, 0, 0, 0, 0];
        data.extend([16 + payload.len() as u8, 0, 64]);
        data.extend([from.octets(), to.octets()].concat());
        data.extend([44, 0, 1, 4, 0, 0, 0, 0, ip_proto::UDP, 0, 0, field, 0, 0, 0, 9]);
        data.extend(payload);
        data
    };
    let (first, last) = message.split_at(24);
    let parts = vec![part(1, first), part(24, last)];
    let [_, outside] = run("nat64.click", &[("", "203.0.113.1")], [parts, Vec::new()]);
    assert_eq!(outside.len(), 1);
    assert_eq!((outside[0].len(), &outside[0][28..]), (60, &message[8..]));
}

/// An ICMP error of a type and code: who gets it, what its second word says, and the packet that it is about, from the addresses on.
fn error(packet: &[u8], of: [u8; 2]) -> (&[u8], &[u8], &[u8]) {
    assert_eq!((packet[9], &packet[20..22]), (ICMP, &of[..]));
    (&packet[12..20], &packet[24..28], &packet[28 + 12..])
}

/// Who sends a packet for which there is no room, or no port, hears that it is prohibited (RFC 5508, REQ-8).
#[test]
fn who_can_have_no_mapping_hears_of_it() {
    let (host, other, far) = ("10.0.0.5", "10.0.0.6", "198.51.100.7");
    let ping = frame(1, ICMP, other, far, &[8, 0, 0, 0, 0, 7, 0, 1]);
    for refused in [frame(1, UDP, other, far, &datagram(5000, 53)), ping] {
        let [inside, outside] = run_with(
            "nat.click",
            &[("FLOWS", "1")],
            &[("in", other), ("out", "203.0.113.1")],
            [vec![frame(1, UDP, host, far, &datagram(5000, 53)), refused.clone()], Vec::new()],
        );
        assert_eq!((inside.len(), outside.len()), (1, 1));
        let (ends, _, about) = error(&inside[0], [3, 13]);
        assert_eq!((ends, about), (&[10, 0, 0, 1, 10, 0, 0, 6][..], &refused[14 + 12..]));
    }
}

/// So does who asks from inside for the server by its public address, if the first of the two mappings that this takes has had the last room. The
/// error is about the packet that was sent.
#[test]
fn who_can_have_no_second_mapping_hears_of_it() {
    let ask = frame(1, ip_proto::TCP, "10.0.0.5", "203.0.113.2", &syn());
    let [inside, outside] = run_with(
        "nat.click",
        &[("FLOWS", "1")],
        &[("in", "10.0.0.5"), ("in", "10.0.0.80"), ("out", "203.0.113.1")],
        [vec![ask.clone()], Vec::new()],
    );
    assert_eq!((inside.len(), outside.len()), (1, 0));
    let (ends, _, about) = error(&inside[0], [3, 13]);
    assert_eq!(ends, [203, 0, 113, 2, 10, 0, 0, 5]);
    // The checksum of TCP, which is not filled in here, is adjusted beyond the eight bytes that count.
    assert_eq!(about[..16], ask[14 + 12..][..16]);
}

/// A flood of packets that are refused is answered a hundred times at once, whatever the reason, and then `ERRORS` times a second (RFC 1812, section
/// 4.3.2.8).
#[test]
fn a_flood_gets_few_errors() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let first = frame(1, UDP, "10.0.0.6", far, &datagram(5000, 53));
    let ask = frame(1, UDP, host, far, &datagram(5000, 53));
    let mut last = ask.clone();
    last[14 + 8] = 1;
    let mut long = frame(1, UDP, host, far, &long_datagram());
    long[14 + 6] = 0x40;
    for frame in [&mut last, &mut long] {
        ipv4::fill_checksum(&mut frame[14..]).expect("a header");
    }
    let ping = frame(1, ICMP, host, far, &[8, 0, 0, 0, 0, 7, 0, 1]);
    let web = frame(1, ip_proto::TCP, host, gateway, &syn());
    let cases: [(&str, &[Vec<u8>], _, _); 5] = [
        ("no room", std::slice::from_ref(&first), ask, [3, 13]),
        ("no room for a ping", std::slice::from_ref(&first), ping, [3, 13]),
        ("no room for the second mapping", &[], web, [3, 13]),
        ("no TTL left", &[], last, [11, 0]),
        ("too long", &[], long, [3, 4]),
    ];
    for (reason, before, refused, of) in cases {
        let frames = before.iter().cloned().chain(std::iter::repeat_n(refused, 200));
        let [inside, _] = run_with(
            "nat.click",
            &[("FLOWS", "1"), ("MTU_OUT", "600"), ("ERRORS", "1")],
            &[("in", host), ("in", "10.0.0.6"), ("out", "203.0.113.1")],
            [frames.collect(), Vec::new()],
        );
        assert_eq!(inside.len(), 100, "{reason}");
        assert!(inside.iter().all(|packet| packet[20..22] == of), "{reason}");
    }
}

/// Who sends a packet to a host that does not answer, or by a provider who does not, hears of it, and sees the packet as it was sent (RFC
/// 5508, REQ-10).
#[test]
fn hosts_that_do_not_answer() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let ask = frame(1, UDP, host, far, &datagram(5000, 53));
    let answer = frame(2, UDP, far, gateway, &datagram(53, 5000));
    let [inside, outside] =
        run("nat.click", &[("out", "203.0.113.1")], [vec![ask.clone()], vec![answer.clone()]]);
    assert_eq!((inside.len(), outside.len()), (0, 2));
    let (ends, _, about) = error(&outside[1], [3, 1]);
    assert_eq!((ends, about), (&[203, 0, 113, 2, 198, 51, 100, 7][..], &answer[14 + 12..]));
    let [inside, outside] = run("nat.click", &[("in", host)], [vec![ask.clone()], Vec::new()]);
    assert_eq!((inside.len(), outside.len()), (1, 0));
    let (ends, _, about) = error(&inside[0], [3, 1]);
    assert_eq!((&ends[4..], about), (&[10, 0, 0, 5][..], &ask[14 + 12..]));
}

/// A packet that is too long for the next link and must not be cut: its sender hears how long it may be (RFC 5508, REQ-10).
#[test]
fn packets_that_are_too_long() {
    let (host, far) = ("10.0.0.5", "198.51.100.7");
    let mut ask = frame(1, UDP, host, far, &long_datagram());
    ask[14 + 6] = 0x40;
    ipv4::fill_checksum(&mut ask[14..]).expect("a header");
    let neighbours = [("in", host), ("out", "203.0.113.1")];
    let [inside, outside] =
        run_with("nat.click", &[("MTU_OUT", "600")], &neighbours, [vec![ask.clone()], Vec::new()]);
    assert_eq!((inside.len(), outside.len()), (1, 0));
    let (ends, says, about) = error(&inside[0], [3, 4]);
    assert_eq!((&ends[4..], says), (&[10, 0, 0, 5][..], &[0, 0, 2, 88][..]));
    assert_eq!(about[..16], ask[14 + 12..][..16]);
    let [_, outside] = run("nat.click", &neighbours, [vec![ask.clone()], Vec::new()]);
    assert_eq!((outside.len(), outside[0].len()), (1, 720));
}

/// A packet that has come a long way ends at the gateway, and its sender hears of it, by the provider.
#[test]
fn who_sent_a_packet_that_ends_here_hears_of_it() {
    let (host, far, gateway) = ("10.0.0.5", "198.51.100.7", "203.0.113.2");
    let mut last = frame(2, UDP, far, gateway, &datagram(53, 5000));
    last[14 + 8] = 1;
    ipv4::fill_checksum(&mut last[14..]).expect("a header");
    let [inside, outside] = run(
        "nat.click",
        &[("in", host), ("out", "203.0.113.1")],
        [vec![frame(1, UDP, host, far, &datagram(5000, 53))], vec![last.clone()]],
    );
    assert_eq!((inside.len(), outside.len()), (0, 2));
    assert_eq!((outside[1][20], &outside[1][12..20]), (11, &[203, 0, 113, 2, 198, 51, 100, 7][..]));
    // The hops that it had left are gone here.
    assert_eq!(outside[1][40..], last[14 + 12..]);
}

/// A host inside that asks for the server by its public address reaches it, under that address.
#[test]
fn the_server_is_reached_by_its_public_address_from_inside() {
    let syn = syn();
    let [inside, outside] = run(
        "nat.click",
        &[("in", "10.0.0.80"), ("out", "203.0.113.1")],
        [vec![frame(1, ip_proto::TCP, "10.0.0.5", "203.0.113.2", &syn)], Vec::new()],
    );
    assert_eq!((inside.len(), outside.len()), (1, 0));
    assert_eq!(inside[0][12..24], [203, 0, 113, 2, 10, 0, 0, 80, 0x13, 0x88, 0, 80]);
}

/// With one public port for all that a host sends to from a port, all that know that port reach the host, also from inside: two hosts
/// inside see each other as those outside see them.
#[test]
fn hosts_reach_each_other_by_their_public_endpoints() {
    let (a, b, gateway, far) = ("10.0.0.5", "10.0.0.6", "203.0.113.2", "198.51.100.7");
    let behaviour = [("MAPPING", "endpoint-independent"), ("FILTERING", "endpoint-independent")];
    let outward = |host: &str, from, to: &str, port| frame(1, UDP, host, to, &datagram(from, port));
    let frames = || {
        [
            vec![
                outward(a, 5000, far, 53),
                outward(b, 6000, far, 53),
                outward(a, 5000, gateway, 6000),
                outward(b, 6000, gateway, 5000),
            ],
            vec![frame(2, UDP, "198.51.100.9", gateway, &datagram(99, 5000))],
        ]
    };
    let known = [("in", a), ("in", b), ("out", "203.0.113.1")];
    let [mut inside, outside] = run_with("nat.click", &behaviour, &known, frames());
    let port = |from, to| packet(UDP, gateway, far, &datagram(from, to));
    assert_eq!(outside, [port(5000, 53), port(6000, 53)]);
    let mut expected = [
        packet(UDP, gateway, b, &datagram(5000, 6000)),
        packet(UDP, gateway, a, &datagram(6000, 5000)),
        packet(UDP, "198.51.100.9", a, &datagram(99, 5000)),
    ];
    inside.sort();
    expected.sort();
    assert_eq!(inside, expected);
    // As shipped, strangers do not get in. The two reach each other, as both have sent and happen to keep their ports.
    let [mut inside, _] = run("nat.click", &known, frames());
    inside.sort();
    assert_eq!(inside, expected[..2]);
}

/// Connections take turns among the servers, and each server's answers and errors come from the service.
#[test]
fn load_balancer() {
    let (client, service) = ("198.51.100.7", "203.0.113.10");
    let servers = ["10.0.0.11", "10.0.0.12", "10.0.0.13"];
    let to = |server: usize, port| packet(UDP, client, servers[server], &datagram(port, 53));
    let neighbours = servers.map(|server| ("inside", server)).into_iter().chain([("outside", "203.0.113.1")]);
    let [clients, inside] = run(
        "load-balancer.click",
        &neighbours.collect::<Vec<_>>(),
        [
            [1000, 1001, 1000, 1002, 1003]
                .map(|port| frame(1, UDP, client, service, &datagram(port, 53)))
                .into(),
            vec![
                frame(2, UDP, servers[1], client, &datagram(53, 1001)),
                frame(2, UDP, servers[1], client, &datagram(53, 1000)),
                frame(2, ICMP, servers[1], client, &unreachable(to(1, 1001))),
            ],
        ],
    );
    assert_eq!(inside, [to(0, 1000), to(1, 1001), to(0, 1000), to(2, 1002), to(0, 1003)]);
    let about = unreachable(packet(UDP, client, service, &datagram(1001, 53)));
    assert_eq!(
        clients,
        [packet(UDP, service, client, &datagram(53, 1001)), packet(ICMP, service, client, &about)]
    );
}

/// The server has its own address, other hosts get one; answers, connections from outside and errors find back.
#[test]
fn address_nat() {
    let (server, public, far) = ("10.0.0.80", "203.0.113.80", "198.51.100.7");
    let about = unreachable(packet(UDP, public, far, &datagram(5000, 53)));
    let told = unreachable(packet(UDP, server, far, &datagram(5000, 53)));
    let [inside, outside] = run(
        "address-nat.click",
        &[("in", server), ("out", "203.0.113.1")],
        [
            vec![
                frame(1, UDP, server, far, &datagram(5000, 53)),
                frame(1, UDP, "10.0.0.9", far, &datagram(1, 2)),
            ],
            vec![
                frame(2, UDP, "198.51.100.9", public, &datagram(9, 9)),
                frame(2, UDP, "198.51.100.9", "203.0.113.2", &datagram(9, 9)),
                frame(2, ICMP, "198.51.100.9", public, &about),
            ],
        ],
    );
    assert_eq!(outside[0], packet(UDP, public, far, &datagram(5000, 53)));
    assert_eq!((outside.len(), &outside[1][12..15]), (2, &[203, 0, 113][..]));
    assert!(outside[1][15] > 128);
    assert_eq!(
        inside,
        [packet(UDP, "198.51.100.9", server, &datagram(9, 9)), packet(ICMP, "198.51.100.9", server, &told),]
    );
}
