//! Tells a sender that its packets are too long for a tunnel (RFC 1191; RFC 4443, section 3.2; RFC 4301, section 8).

use packet::{Packet, Pool};
use std::net::IpAddr;
use wire::checksum::{checksum, pseudo_v6};
use wire::{ip_proto, ipv4, ipv6};

/// Octets of an ICMP header.
const ICMP_LEN: usize = 8;
/// An answer of IPv4 repeats so many octets, and one of IPv6 is so long, at most.
const REPEATED: usize = 548;
const MTU6_LEAST: usize = 1280;

/// The answer to a packet that is longer than `mtu`. It comes from `own`, or from where the packet was going if that is of another family.
/// None where no answer is allowed (RFC 1122, section 3.2.2; RFC 4443, section 2.4), or where there is no memory.
pub(crate) fn answer(pool: &mut Pool, packet: &[u8], mtu: usize, own: IpAddr) -> Option<Packet> {
    match packet.first()? >> 4 {
        4 => answer_v4(pool, packet, mtu, own),
        _ => answer_v6(pool, packet, mtu, own),
    }
}

fn answer_v4(pool: &mut Pool, packet: &[u8], mtu: usize, own: IpAddr) -> Option<Packet> {
    let ip = ipv4::Header::new_checked(packet).ok()?;
    let (to, header_len) = (ip.src(), ip.header_len());
    let is_error = ip.protocol() == ip_proto::ICMP
        && packet.get(header_len).is_none_or(|kind| !matches!(kind, 0 | 8 | 9 | 10 | 13..=18));
    if is_error || !ip.is_first_fragment() || to.is_unspecified() || to.is_multicast() || to.is_broadcast() {
        return None;
    }
    let from = if let IpAddr::V4(own) = own { own } else { ip.dst() };
    let front = ipv4::HEADER_LEN + ICMP_LEN;
    let repeated = &packet[..packet.len().min(REPEATED)];
    let mut answer = pool.alloc(packet::DEFAULT_HEADROOM, front + repeated.len())?;
    let data = answer.data_mut();
    data[..front].fill(0);
    data[front..].copy_from_slice(repeated);
    let (head, icmp) = data.split_at_mut(ipv4::HEADER_LEN);
    icmp[..2].copy_from_slice(&[3, 4]); // unreachable: fragmentation needed
    icmp[6..8].copy_from_slice(&u16::try_from(mtu).unwrap_or(u16::MAX).to_be_bytes());
    let sum = checksum(icmp);
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut ip = ipv4::Header::new_checked_mut(head).ok()?;
    ip.set_version_and_header_len(ipv4::HEADER_LEN);
    ip.set_total_len((front + repeated.len()) as u16);
    ip.set_ttl(64);
    ip.set_protocol(ip_proto::ICMP);
    ip.set_src(from);
    ip.set_dst(to);
    ip.fill_checksum();
    answer.set_network(0, ipv4::HEADER_LEN);
    answer.set_dst_ip(to);
    Some(answer)
}

fn answer_v6(pool: &mut Pool, packet: &[u8], mtu: usize, own: IpAddr) -> Option<Packet> {
    let ip = ipv6::Header::new_checked(packet).ok()?;
    let to = ip.src();
    let upper = ipv6::upper_layer(packet).ok()?;
    // Types below 128 are errors.
    let is_error =
        upper.protocol == ip_proto::ICMPV6 && packet.get(upper.offset).is_none_or(|kind| *kind < 128);
    if is_error || to.is_unspecified() || to.is_multicast() {
        return None;
    }
    let from = if let IpAddr::V6(own) = own { own } else { ip.dst() };
    let front = ipv6::HEADER_LEN + ICMP_LEN;
    let repeated = &packet[..packet.len().min(MTU6_LEAST - front)];
    let mut answer = pool.alloc(packet::DEFAULT_HEADROOM, front + repeated.len())?;
    let data = answer.data_mut();
    data[..front].fill(0);
    data[front..].copy_from_slice(repeated);
    let (head, icmp) = data.split_at_mut(ipv6::HEADER_LEN);
    icmp[0] = 2; // packet too big
    icmp[4..8].copy_from_slice(&u32::try_from(mtu).unwrap_or(u32::MAX).to_be_bytes());
    let sum = pseudo_v6(from, to, ip_proto::ICMPV6, icmp.len() as u32).add_bytes(icmp).checksum();
    icmp[2..4].copy_from_slice(&sum.to_be_bytes());
    let len = icmp.len() as u16;
    let mut ip = ipv6::Header::new_checked_mut(head).ok()?;
    ip.set_version_class_flow(0, 0);
    ip.set_payload_len(len);
    ip.set_next_header(ip_proto::ICMPV6);
    ip.set_hop_limit(64);
    ip.set_src(from);
    ip.set_dst(to);
    answer.set_network(0, ipv6::HEADER_LEN);
    answer.set_dst_ip6(to);
    Some(answer)
}
