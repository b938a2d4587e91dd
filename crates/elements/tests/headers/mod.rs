//! Where elements say that headers are, there are such headers: after each element, for each packet that comes out.
//!
//! Sound packets pass one element of `tests/stages.txt`, after what marks their headers. A mark is right if it is unset, or if the
//! bytes there are those of such a header: version and length of the network header, what the link-layer header announces in
//! front of it, and the transport header behind it.

use super::stages::{self, Stage, stages};
use packet::{Batch, Packet};
use router::{Class, Classes, Config, ConfigError, Cx, Element, Residency};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{LazyLock, Mutex, PoisonError};
use wire::ethernet::ether_type;
use wire::{ipv4, ipv6};

/// Looks at the headers of packets, and notes what is wrong.
const WATCH: Class =
    Class::new("Watch", create).ports("1/1").processing("h/h").residency(Residency::Exclusive);

static KNOWN: LazyLock<Classes> = LazyLock::new(|| stages::known(&elements::classes(), Some(&WATCH)));

/// What was found to be wrong, and the packets looked at. One test watches at a time.
static NOTES: Mutex<(BTreeSet<String>, u64)> = Mutex::new((BTreeSet::new(), 0));

struct Watch;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Watch))
}

impl Element for Watch {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let mut notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
        for packet in batch.iter() {
            notes.1 += 1;
            notes.0.extend(wrong(packet));
        }
        drop(notes);
        cx.emit(0, batch);
    }
}

/// What is wrong with a packet's marks.
fn wrong(packet: &Packet) -> Option<String> {
    let (network, transport) = (packet.network_offset(), packet.transport_offset());
    let Some(at) = network else {
        return transport.map(|at| format!("a transport header at {at}, but no network header"));
    };
    let bytes = packet.network().unwrap_or_default();
    let announced = announced(packet, at);
    let ends: Vec<usize> = match (bytes.first().map(|byte| byte >> 4), announced) {
        (None, _) => return None, // cut off
        (Some(4), None | Some(ether_type::IPV4)) => vec![usize::from(bytes[0] & 15) * 4],
        (Some(6), None | Some(ether_type::IPV6)) => ends6(bytes),
        // Another protocol's header, which has no transport header behind it.
        (_, Some(other)) if !is_ip_or_tag(other) => Vec::new(),
        (_, None) if bytes.starts_with(&ARP) => Vec::new(),
        _ => {
            return Some(format!(
                "network at {at}: {:02x?} behind {announced:04x?}",
                &bytes[..bytes.len().min(4)]
            ));
        }
    };
    if ends.iter().any(|end| *end < ipv4::HEADER_LEN) {
        return Some(format!("network at {at}: a header of {ends:?} bytes"));
    }
    let found = transport.map(|transport| transport - at);
    let right = found.is_none_or(|found| ends.iter().any(|end| *end as isize == found));
    (!right).then(|| format!("network at {at}: transport {found:?} bytes behind it, not {ends:?}"))
}

/// The start of an ARP packet for IPv4.
const ARP: [u8; 6] = [0, 1, 8, 0, 6, 4];

/// Where an IPv6 header and each that extends it end: behind which of them the transport header is marked is the elements' choice.
fn ends6(bytes: &[u8]) -> Vec<usize> {
    let (mut ends, mut next) = (vec![ipv6::HEADER_LEN], bytes.get(6).copied());
    while let (Some(0 | 43 | 44 | 60), Some(&at)) = (next, ends.last()) {
        let Some(&[behind, words, ..]) = bytes.get(at..) else { break };
        ends.push(at + if next == Some(44) { 8 } else { 8 + usize::from(words) * 8 });
        next = Some(behind);
    }
    ends
}

/// The type that a link-layer header directly in front of the network header says.
fn announced(packet: &Packet, network: isize) -> Option<u16> {
    let len = usize::try_from(network - packet.mac_offset()?).ok()?;
    let front = packet.mac()?.get(..len)?;
    matches!(len, 14 | 18 | 22).then(|| u16::from_be_bytes([front[len - 2], front[len - 1]]))
}

fn is_ip_or_tag(kind: u16) -> bool {
    matches!(kind, ether_type::IPV4 | ether_type::IPV6 | ether_type::VLAN | 0x88a8)
}

/// Bytes of which none looks like the start of an IP header.
const FILL: [u8; 64] = [0xee; 64];

fn packet4(protocol: u8, options: &[u8], message: &[u8]) -> Vec<u8> {
    let header_len = ipv4::HEADER_LEN + options.len();
    let mut data = [&[0; ipv4::HEADER_LEN][..], options, message].concat();
    let len = data.len() as u16;
    let mut ip = ipv4::Header::new_checked_mut(&mut data).expect("long enough");
    ip.set_version_and_header_len(header_len);
    ip.set_total_len(len);
    ip.set_ttl(64);
    ip.set_protocol(protocol);
    ip.set_src([10, 0, 0, 1].into());
    ip.set_dst([10, 0, 1, 2].into());
    let (src, dst) = (ip.src(), ip.dst());
    let message = &mut data[header_len..];
    let _ = match protocol {
        17 => wire::udp::fill_checksum_v4(src, dst, message),
        6 => wire::tcp::fill_checksum_v4(src, dst, message),
        _ => wire::icmpv4::fill_checksum(message),
    };
    ipv4::fill_checksum(&mut data).expect("a whole header");
    data
}

fn udp() -> Vec<u8> {
    [&[0x13, 0x88, 0, 53, 0, 72, 0, 0][..], &FILL].concat()
}

fn tcp() -> Vec<u8> {
    [&[0x13, 0x88, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0][..], &FILL].concat()
}

fn packet6(next: u8, body: &[u8]) -> Vec<u8> {
    let address = |last: u8| [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[last]].concat();
    let fixed = [0x60, 0, 0, 0, 0, body.len() as u8, next, 64];
    let mut data = [&fixed[..], &address(1), &address(2), body].concat();
    let (src, dst) = {
        let ip = ipv6::Header::new_checked(&data).expect("long enough");
        (ip.src(), ip.dst())
    };
    if next == 17 {
        wire::udp::fill_checksum_v6(src, dst, &mut data[40..]).expect("whole");
    }
    data
}

/// A solicitation of 2001:db8::2.
fn solicitation() -> Vec<u8> {
    let target = [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[2]].concat();
    let mut data =
        packet6(58, &[&[135, 0, 0, 0, 0, 0, 0, 0][..], &target, &[1, 1, 2, 0, 0, 0, 0, 1]].concat());
    data[7] = 255;
    let (src, dst) = {
        let ip = ipv6::Header::new_checked(&data).expect("long enough");
        (ip.src(), ip.dst())
    };
    wire::icmpv6::fill_checksum(src, dst, &mut data[40..]).expect("whole");
    data
}

fn frame(kind: u16, payload: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &kind.to_be_bytes(), payload].concat()
}

fn tagged(kind: u16, payload: &[u8]) -> Vec<u8> {
    frame(0x8100, &[&[0, 7][..], &kind.to_be_bytes(), payload].concat())
}

fn arp_request() -> Vec<u8> {
    let addresses = [2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 9];
    frame(0x0806, &[&[0, 1, 8, 0, 6, 4, 0, 1][..], &addresses].concat())
}

/// Packets of a kind as `tests/stages.txt` names it, and the elements that mark their headers, each with packets that it is for.
fn samples(stage: &Stage) -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let kind = stage.kind;
    let router_alert = [0x94, 4, 0, 0];
    let v4: Vec<Vec<u8>> = match kind {
        "tcp" => vec![packet4(6, &[], &tcp()), packet4(6, &router_alert, &tcp())],
        "icmp" => vec![packet4(1, &[], &[&[8, 0, 0, 0, 0, 1, 0, 1][..], &FILL].concat())],
        _ => vec![packet4(17, &[], &udp()), packet4(17, &router_alert, &udp()), packet4(6, &[], &tcp())],
    };
    let v6 = vec![packet6(17, &udp()), packet6(60, &[&[17, 0, 1, 4, 0, 0, 0, 0][..], &udp()].concat())];
    let framed = |kind: u16, all: &[Vec<u8>]| all.iter().map(|data| frame(kind, data)).collect::<Vec<_>>();
    let (frames4, frames6) = (framed(0x0800, &v4), framed(0x86dd, &v6));
    let tags: Vec<Vec<u8>> = v4.iter().map(|data| tagged(0x0800, data)).collect();
    let mixed = [&frames4[..], &frames6, &[arp_request(), frame(0x86dd, &solicitation())], &tags].concat();
    match kind {
        "ether" if stage.text.contains("MarkIPHeader(14)") => vec![("MarkMACHeader", frames4)],
        "ether" => vec![
            ("MarkMACHeader", mixed.clone()),
            ("MarkMACHeader(0, 14)", mixed),
            ("MarkMACHeader -> MarkIPHeader(14)", frames4),
            ("MarkMACHeader -> MarkIP6Header(14)", frames6),
        ],
        "vlan" => vec![
            ("MarkMACHeader", [&tags[..], &mixed].concat()),
            ("MarkMACHeader(0, 14)", mixed),
            ("MarkMACHeader(0, 18)", tags.clone()),
            ("MarkMACHeader -> MarkIPHeader(18)", tags),
        ],
        "arp" => vec![("MarkMACHeader", vec![arp_request()]), ("MarkMACHeader(0, 14)", vec![arp_request()])],
        "ip6" => vec![
            ("MarkMACHeader -> Strip(14) -> CheckIP6Header -> GetIP6Address(24)", frames6),
            ("CheckIP6Header", v6),
        ],
        _ => vec![
            ("MarkMACHeader -> Strip(14) -> CheckIPHeader", frames4.clone()),
            ("VLANDecap -> Strip(14) -> CheckIPHeader", tags),
            ("MarkMACHeader(0, 14) -> Strip(14)", frames4.clone()),
            ("MarkMACHeader -> MarkIPHeader(14) -> Strip(34)", frames4),
            ("CheckIPHeader", v4),
        ],
    }
}

/// Runs packets through a stage; what was wrong, and how many came out.
fn watch(before: &str, packets: &[Vec<u8>], stage: Stage) -> (BTreeSet<String>, u64) {
    let mut given = String::new();
    for packet in packets {
        given += if given.is_empty() { "\\<" } else { ", \\<" };
        packet.iter().for_each(|byte| write!(given, "{byte:02x}").expect("a string has room"));
        given.push('>');
    }
    let config = stages::through(&format!("Given({given})"), before, &[stage]);
    let config = config.replace(" -> Discard;", " -> Watch -> Discard;");
    stages::run(&config, 32, &KNOWN);
    std::mem::take(&mut *NOTES.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Stages whose elements write where they are told, whatever lies there.
const ANYWHERE: [(&str, &str); 5] = [
    ("BeaconTracker", "StoreData writes a beacon over the packet"),
    ("Clipboard", "pastes bytes of another packet, here over the IP header"),
    ("FlowL2LoadBalancer", "writes an Ethernet address at the start of the packet"),
    ("L2LoadBalancer", "writes an Ethernet address at the start of the packet"),
    ("MarkIPHeader", "believes that there is an IP header where the configuration says"),
];

#[test]
fn marks_are_unset_or_point_to_headers() {
    let (mut failures, mut watched) = (String::new(), 0);
    for stage in stages() {
        let name = stage.class;
        for (before, packets) in samples(stage) {
            let (notes, count) = watch(before, &packets, *stage);
            watched += count;
            if !ANYWHERE.iter().any(|(class, _)| *class == name) {
                notes.iter().for_each(|note| writeln!(failures, "{before} -> {name}: {note}").expect("room"));
            }
        }
    }
    assert!(watched > 1_000, "only {watched} packets came out");
    assert!(failures.is_empty(), "{failures}");
}

/// A filter behind elements that strip, insert and mark reads ports, not other bytes.
#[test]
fn filters_read_ports_wherever_headers_come_from() {
    let (plain, other) = (
        packet4(17, &[0x94, 4, 0, 0], &udp()),
        packet4(17, &[], &[&[0, 53, 0, 53][..], &udp()[4..]].concat()),
    );
    let frames = |make: fn(u16, &[u8]) -> Vec<u8>| vec![make(0x0800, &plain), make(0x0800, &other)];
    for (elements, packets) in [
        ("VLANDecap", frames(tagged)),
        ("VLANDecap -> Strip(14)", frames(tagged)),
        ("VLANDecap", frames(frame)),
        ("VLANDecap(ETHERTYPE 0x88a8)", frames(tagged)),
        ("VLANEncap(7)", frames(frame)),
        ("VLANEncap(7) -> VLANEncap(8)", frames(frame)),
        ("MarkMACHeader(0, 14)", frames(frame)),
        ("MarkMACHeader(0, 14)", frames(tagged)),
        ("MarkMACHeader(0, 18)", frames(tagged)),
        (
            "MarkMACHeader(0, 14) -> Strip(14) -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 7)",
            frames(frame),
        ),
    ] {
        let filter = "IPClassifier(src udp port 5000 and dst udp port 53, -)";
        let config = format!("Inject -> {elements} -> f :: {filter}; f[0] -> Collect(0); f[1] -> Collect(1)");
        let flow = elements_testing::send(&elements::classes(), &config, packets);
        assert_eq!((flow.data(0).len(), flow.data(1).len()), (1, 1), "{elements}");
    }
}
