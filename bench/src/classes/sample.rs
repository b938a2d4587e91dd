//! The packets that elements are measured with.

use std::fmt::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::{Error, ethernet, icmpv4, ip_proto, ipv4, ipv6, tcp, udp};

const SRC: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const DST: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 2);
const SRC6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const DST6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 1, 2);

/// A kind of packet. All are small: a header of IPv4 or IPv6 and 26 bytes of payload, or less.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Sample {
    /// UDP over IPv4 over Ethernet.
    Ether,
    /// The same with an 802.1Q tag.
    Vlan,
    /// An ARP request, on Ethernet.
    Arp,
    /// UDP over IPv4.
    Ip,
    /// TCP over IPv4.
    Tcp,
    /// ICMP echo request over IPv4.
    Icmp,
    /// UDP over IPv6.
    Ip6,
}

impl Sample {
    /// Elements that a packet passes first, so that it has the annotations that elements of this kind expect.
    pub(crate) fn preparation(self) -> &'static str {
        match self {
            Sample::Ether | Sample::Vlan | Sample::Arp => "Null",
            Sample::Ip6 => "MarkIP6Header(0) -> GetIP6Address(24)",
            _ => "MarkIPHeader(0) -> GetIPAddress(16)",
        }
    }

    /// The packet, as a Click string.
    pub(crate) fn data(self) -> Result<String, Error> {
        let mut text = "\\<".to_owned();
        for byte in self.bytes()? {
            let _ = write!(text, "{byte:02x}"); // writing to a String does not fail
        }
        text.push('>');
        Ok(text)
    }

    fn bytes(self) -> Result<Vec<u8>, Error> {
        match self {
            Sample::Ether => Ok([&ETHERNET[..], &ETHERTYPE_IP, &udp_v4()?].concat()),
            Sample::Vlan => Ok([&ETHERNET[..], &[0x81, 0, 0, 7], &ETHERTYPE_IP, &udp_v4()?].concat()),
            Sample::Arp => Ok([&ETHERNET[..], &ARP_REQUEST].concat()),
            Sample::Ip => udp_v4(),
            Sample::Tcp => tcp_v4(),
            Sample::Icmp => icmp_v4(),
            Sample::Ip6 => udp_v6(),
        }
    }
}

/// Destination and source.
const ETHERNET: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
/// The type of Ethernet's payload, and who has 10.0.1.2.
const ARP_REQUEST: [u8; 30] =
    [8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 1, 2];
const ETHERTYPE_IP: [u8; 2] = ethernet::ether_type::IPV4.to_be_bytes();
const PAYLOAD: usize = 26;

fn v4(protocol: u8, payload: &[u8]) -> Result<Vec<u8>, Error> {
    let mut packet = vec![0; ipv4::HEADER_LEN];
    packet.extend_from_slice(payload);
    let len = packet.len() as u16;
    let mut header = ipv4::Header::new_checked_mut(&mut packet)?;
    header.set_version_and_header_len(ipv4::HEADER_LEN);
    header.set_total_len(len);
    header.set_ttl(255);
    header.set_protocol(protocol);
    header.set_src(SRC);
    header.set_dst(DST);
    header.fill_checksum();
    Ok(packet)
}

fn datagram() -> Result<Vec<u8>, Error> {
    let mut datagram = vec![0; PAYLOAD];
    let mut header = udp::Header::new_checked_mut(&mut datagram)?;
    header.set_src_port(1234);
    header.set_dst_port(53);
    header.set_len(PAYLOAD as u16);
    Ok(datagram)
}

fn udp_v4() -> Result<Vec<u8>, Error> {
    let mut datagram = datagram()?;
    udp::fill_checksum_v4(SRC, DST, &mut datagram)?;
    v4(ip_proto::UDP, &datagram)
}

fn tcp_v4() -> Result<Vec<u8>, Error> {
    let mut segment = vec![0; PAYLOAD];
    let mut header = tcp::Header::new_checked_mut(&mut segment)?;
    header.set_src_port(1234);
    header.set_dst_port(80);
    header.set_header_len(tcp::HEADER_LEN);
    header.set_flags(tcp::flag::SYN);
    tcp::fill_checksum_v4(SRC, DST, &mut segment)?;
    v4(ip_proto::TCP, &segment)
}

fn icmp_v4() -> Result<Vec<u8>, Error> {
    let mut message = vec![0; PAYLOAD];
    let mut header = icmpv4::Header::new_checked_mut(&mut message)?;
    header.set_kind(icmpv4::kind::ECHO);
    // Without, it would be the one request whose reply's checksum is computed otherwise.
    header.set_id(1234);
    header.set_sequence(1);
    icmpv4::fill_checksum(&mut message)?;
    v4(ip_proto::ICMP, &message)
}

fn udp_v6() -> Result<Vec<u8>, Error> {
    let mut datagram = datagram()?;
    udp::fill_checksum_v6(SRC6, DST6, &mut datagram)?;
    let mut packet = vec![0; ipv6::HEADER_LEN];
    packet.extend_from_slice(&datagram);
    let mut header = ipv6::Header::new_checked_mut(&mut packet)?;
    header.set_version_class_flow(0, 0);
    header.set_payload_len(PAYLOAD as u16);
    header.set_next_header(ip_proto::UDP);
    header.set_hop_limit(255);
    header.set_src(SRC6);
    header.set_dst(DST6);
    Ok(packet)
}
