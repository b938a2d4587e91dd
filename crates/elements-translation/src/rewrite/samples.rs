//! Packets for the tests of the family.

use elements_shared::flow_id::FlowId;
use std::net::Ipv4Addr;
use wire::ipv4::{self, Header};
use wire::{ip_proto, tcp, udp};

/// `A.B.C.D:PORT`.
pub(super) fn end(text: &str) -> (Ipv4Addr, u16) {
    let (address, port) = text.split_once(':').unwrap();
    (address.parse().unwrap(), port.parse().unwrap())
}

/// A flow identifier, from both ends.
pub(super) fn id(from: &str, to: &str) -> FlowId {
    let ((saddr, sport), (daddr, dport)) = (end(from), end(to));
    FlowId::new(saddr, sport, daddr, dport)
}

/// A correct IP packet.
pub(super) fn ip(protocol: u8, src: Ipv4Addr, dst: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    let mut data = vec![0; ipv4::HEADER_LEN];
    data.extend(payload);
    let len = data.len() as u16;
    let mut header = Header::new_checked_mut(&mut data).unwrap();
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_ttl(64);
    header.set_protocol(protocol);
    header.set_src(src);
    header.set_dst(dst);
    header.fill_checksum();
    data
}

/// A correct UDP packet.
pub(super) fn udp(from: &str, to: &str) -> Vec<u8> {
    udp_of(id(from, to))
}

/// A correct UDP packet of a flow.
pub(super) fn udp_of(id: FlowId) -> Vec<u8> {
    let mut datagram = id.ports().to_be_bytes().to_vec();
    datagram.extend([0, 12, 0, 0, 1, 2, 3, 4]);
    udp::fill_checksum_v4(id.source(), id.destination(), &mut datagram).unwrap();
    ip(ip_proto::UDP, id.source(), id.destination(), &datagram)
}

/// A correct TCP packet.
pub(super) fn tcp(from: &str, to: &str, flags: u8, numbers: (u32, u32), data: &[u8]) -> Vec<u8> {
    let id = id(from, to);
    let mut segment = vec![0; tcp::HEADER_LEN];
    segment.extend(data);
    let mut header = tcp::Header::new_checked_mut(&mut segment).unwrap();
    header.set_src_port(id.sport);
    header.set_dst_port(id.dport);
    header.set_sequence(numbers.0);
    header.set_acknowledgement(numbers.1);
    header.set_header_len(tcp::HEADER_LEN);
    header.set_flags(flags);
    tcp::fill_checksum_v4(id.source(), id.destination(), &mut segment).unwrap();
    ip(ip_proto::TCP, id.source(), id.destination(), &segment)
}

/// A correct ICMP message.
pub(super) fn icmp(kind: u8, rest: [u8; 4], src: &str, dst: &str, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![kind, 0, 0, 0];
    message.extend(rest);
    message.extend(payload);
    wire::icmpv4::fill_checksum(&mut message).unwrap();
    ip(ip_proto::ICMP, src.parse().unwrap(), dst.parse().unwrap(), &message)
}

/// Packets as the tests want to see them: both ends, after a check of all checksums.
pub(super) fn ends(packets: &[Vec<u8>]) -> Vec<String> {
    packets.iter().map(|packet| ends_of(packet)).collect()
}

fn ends_of(packet: &[u8]) -> String {
    wire::ipv4::check(packet, true).unwrap();
    let header = Header::new_checked(packet).unwrap();
    let (src, dst) = (header.src(), header.dst());
    let payload = ipv4::payload(packet).unwrap();
    match header.protocol() {
        ip_proto::UDP => udp::verify_checksum_v4(src, dst, payload).unwrap(),
        ip_proto::TCP => tcp::verify_checksum_v4(src, dst, payload).unwrap(),
        _ => assert!(wire::checksum::verify(payload)),
    }
    if header.protocol() == ip_proto::ICMP {
        let id = u16::from_be_bytes([payload[4], payload[5]]);
        return format!("{src} {dst} {id}");
    }
    let port = |at: usize| u16::from_be_bytes([payload[at], payload[at + 1]]);
    format!("{src}:{} {dst}:{}", port(0), port(2))
}
