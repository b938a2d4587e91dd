//! Writing the headers of made-up packets: Ethernet, IPv4 (RFC 791), IPv6 (RFC 8200), UDP (RFC 768).

use super::Ethernet;
use super::sequence;
use wire::{ip_proto, udp};

pub(super) const ETHERNET_LEN: usize = 14;
const IPV4_LEN: usize = 20;
const IPV6_LEN: usize = 40;
pub(super) const ETHERTYPE_IPV4: u16 = 0x0800;
pub(super) const ETHERTYPE_IPV6: u16 = 0x86dd;

/// What varies in an IPv4 header.
pub(super) struct Ipv4 {
    pub(super) source: u32,
    pub(super) destination: u32,
    pub(super) id: u16,
    pub(super) ttl: u8,
    /// Bits of the header checksum that are turned over.
    pub(super) checksum_error: u16,
    /// Whether the UDP checksum is computed; 0, which means none, otherwise.
    pub(super) udp_checksum: bool,
}

/// What varies in an IPv6 header.
pub(super) struct Ipv6 {
    pub(super) source: u128,
    pub(super) destination: u128,
    pub(super) hop_limit: u8,
}

/// UDP ports.
#[derive(Clone, Copy)]
pub(super) struct Ports {
    pub(super) source: u16,
    pub(super) destination: u16,
}

/// Appends an Ethernet header.
pub(super) fn ethernet(out: &mut Vec<u8>, addresses: Ethernet, ethertype: u16) {
    out.extend(addresses.destination);
    out.extend(addresses.source);
    out.extend(ethertype.to_be_bytes());
}

/// Appends a frame of `length` bytes, or as many as its headers and its sequence need.
pub(super) fn ipv4(
    out: &mut Vec<u8>,
    addresses: Ethernet,
    ip: &Ipv4,
    ports: Ports,
    length: usize,
    index: Option<u32>,
) {
    ethernet(out, addresses, ETHERTYPE_IPV4);
    let udp_len = udp_len(length, IPV4_LEN, index);
    let start = out.len();
    // Version 4, five words of header; no differentiated service.
    out.extend([0x45, 0]);
    out.extend(be_len(IPV4_LEN + udp_len));
    out.extend(ip.id.to_be_bytes());
    // May be fragmented, is not.
    out.extend([0, 0]);
    out.extend([ip.ttl, ip_proto::UDP]);
    out.extend([0, 0]);
    out.extend(ip.source.to_be_bytes());
    out.extend(ip.destination.to_be_bytes());
    let checksum = !fold(sum(&out[start..])) ^ ip.checksum_error;
    out[start + 10..start + 12].copy_from_slice(&checksum.to_be_bytes());
    let pseudo = ip.udp_checksum.then(|| sum(&out[start + 12..start + 20]));
    udp(out, ports, udp_len, index, pseudo);
}

/// As [`ipv4`].
pub(super) fn ipv6(
    out: &mut Vec<u8>,
    addresses: Ethernet,
    ip: &Ipv6,
    ports: Ports,
    length: usize,
    index: Option<u32>,
) {
    ethernet(out, addresses, ETHERTYPE_IPV6);
    let udp_len = udp_len(length, IPV6_LEN, index);
    let start = out.len();
    // Version 6; no traffic class, no flow label.
    out.extend([0x60, 0, 0, 0]);
    out.extend(be_len(udp_len));
    out.extend([ip_proto::UDP, ip.hop_limit]);
    out.extend(ip.source.to_be_bytes());
    out.extend(ip.destination.to_be_bytes());
    let pseudo = sum(&out[start + 8..start + 40]);
    udp(out, ports, udp_len, index, Some(pseudo));
}

/// Appends header and payload of a datagram of `length` bytes. `addresses` is the sum over the addresses of the
/// pseudo header; without it there is no checksum.
fn udp(out: &mut Vec<u8>, ports: Ports, length: usize, index: Option<u32>, addresses: Option<u64>) {
    let start = out.len();
    out.extend(ports.source.to_be_bytes());
    out.extend(ports.destination.to_be_bytes());
    out.extend(be_len(length));
    out.extend([0, 0]);
    if let Some(index) = index {
        out.extend(sequence::mark(index));
    }
    let filled = out.len() - start;
    out.extend((filled..length).map(|at| at as u8));
    let Some(addresses) = addresses else { return };
    let checksum = !fold(addresses + u64::from(ip_proto::UDP) + length as u64 + sum(&out[start..]));
    // A computed 0 is sent as 0xffff, since 0 says that there is no checksum.
    let checksum = if checksum == 0 { 0xffff } else { checksum };
    out[start + 6..start + 8].copy_from_slice(&checksum.to_be_bytes());
}

/// Length of the datagram in a frame of `length` bytes.
fn udp_len(length: usize, ip_len: usize, index: Option<u32>) -> usize {
    let least = udp::HEADER_LEN + index.map_or(0, |_| sequence::LEN);
    length.saturating_sub(ETHERNET_LEN + ip_len).max(least)
}

/// A length field. Frames are at most 65,531 bytes, so it fits.
fn be_len(length: usize) -> [u8; 2] {
    (length as u16).to_be_bytes()
}

/// Sum of 16-bit words, an odd byte padded with zero (RFC 1071).
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let words: u64 = words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum();
    words + rest.first().map_or(0, |last| u64::from(*last) << 8)
}

/// Adds the carries of a sum back in.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computed_checksum_of_zero_is_sent_as_all_ones() {
        let addresses = Ethernet::default();
        let ports = Ports { source: 1, destination: 2 };
        // Of 65,536 neighbouring destinations, one makes the sum come out at zero.
        let all_ones = (0..=0xffff_u16).filter(|low| {
            let ip = Ipv6 { source: 1, destination: u128::from(*low), hop_limit: 64 };
            let mut frame = Vec::new();
            ipv6(&mut frame, addresses, &ip, ports, 60, None);
            assert_ne!(frame[60..62], [0, 0]);
            frame[60..62] == [0xff, 0xff]
        });
        assert!(all_ones.count() > 0);
    }
}
