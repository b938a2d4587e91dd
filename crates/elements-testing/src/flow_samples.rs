//! Packets for the tests of this family and of summaries.

use std::net::Ipv4Addr;
use wire::{ip_proto, ipv4, tcp, udp};

fn ip(protocol: u8, src: [u8; 4], dst: [u8; 4], transport: &[u8]) -> Vec<u8> {
    let mut data = vec![0; ipv4::HEADER_LEN];
    data.extend(transport);
    let len = data.len() as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut data).unwrap();
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_id(0x4321);
    header.set_ttl(64);
    header.set_protocol(protocol);
    header.set_src(Ipv4Addr::from(src));
    header.set_dst(Ipv4Addr::from(dst));
    header.fill_checksum();
    data
}

/// A correct UDP packet.
pub fn udp(src: ([u8; 4], u16), dst: ([u8; 4], u16), payload: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0; udp::HEADER_LEN];
    datagram.extend(payload);
    let len = datagram.len() as u16;
    let mut header = udp::Header::new_checked_mut(&mut datagram).unwrap();
    header.set_src_port(src.1);
    header.set_dst_port(dst.1);
    header.set_len(len);
    udp::fill_checksum_v4(src.0.into(), dst.0.into(), &mut datagram).unwrap();
    ip(ip_proto::UDP, src.0, dst.0, &datagram)
}

/// A correct TCP packet with options, whose length must be a multiple of four.
pub fn tcp(src: ([u8; 4], u16), dst: ([u8; 4], u16), flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut segment = vec![0; tcp::HEADER_LEN];
    segment.extend(options);
    segment.extend(payload);
    let mut header = tcp::Header::new_checked_mut(&mut segment).unwrap();
    header.set_src_port(src.1);
    header.set_dst_port(dst.1);
    header.set_sequence(1_000_000);
    header.set_acknowledgement(2_000_000);
    header.set_header_len(tcp::HEADER_LEN + options.len());
    header.set_flags(flags);
    header.set_window(5840);
    tcp::fill_checksum_v4(src.0.into(), dst.0.into(), &mut segment).unwrap();
    ip(ip_proto::TCP, src.0, dst.0, &segment)
}

/// A correct ICMP echo request.
pub fn echo(src: [u8; 4], dst: [u8; 4], id: u16, sequence: u16) -> Vec<u8> {
    let mut message = vec![8, 0, 0, 0];
    message.extend(id.to_be_bytes());
    message.extend(sequence.to_be_bytes());
    wire::icmpv4::fill_checksum(&mut message).unwrap();
    ip(ip_proto::ICMP, src, dst, &message)
}
