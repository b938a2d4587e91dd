//! Packets that are too long: a sender is told that for a tunnel, and a router on the way tells it of ESP (RFC 1191; RFC 4443, section 3.2; RFC 4301,
//! section 8).

use super::flow::Flow;
use packet::{Packet, Pool};
use std::net::{IpAddr, Ipv6Addr};
use wire::checksum::{checksum, pseudo_v6, verify};
use wire::{esp, ip_proto, ipv4, ipv6, udp};

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

/// What a router says of a packet of ESP that it could not pass on. Those who know the numbers could say it, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooBig {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    /// Of UDP, if ESP is in that.
    pub(crate) ports: Option<(u16, u16)>,
    pub(crate) spi: u32,
    /// The lower half of the number.
    pub(crate) sequence: u32,
    /// Octets that the next link carries.
    pub(crate) mtu: u32,
}

/// Reads an ICMP error of that kind: unreachable because it must not be cut, or packet too big. None of any other packet, and where too little of the packet is
/// repeated.
#[inline]
pub(crate) fn read(flow: &Flow, packet: &[u8]) -> Option<TooBig> {
    match (flow.protocol, flow.ports) {
        (ip_proto::ICMP, Some((3, 4))) | (ip_proto::ICMPV6, Some((2, _))) => read_error(flow, packet),
        _ => None,
    }
}

#[cold]
fn read_error(flow: &Flow, packet: &[u8]) -> Option<TooBig> {
    let is_six = flow.protocol == ip_proto::ICMPV6;
    if is_six != flow.six || flow.is_fragment {
        return None;
    }
    let len = match flow.six {
        true => ipv6::HEADER_LEN + usize::from(ipv6::Header::new_checked(packet).ok()?.payload_len()),
        false => usize::from(ipv4::Header::new_checked(packet).ok()?.total_len()),
    };
    let icmp = packet.get(flow.offset..len)?;
    let &[_, _, _, _, a, b, c, d] = icmp.first_chunk::<ICMP_LEN>()?;
    let is_whole = match flow.six {
        true => {
            let [from, to] = [flow.source, flow.destination].map(Ipv6Addr::from);
            pseudo_v6(from, to, ip_proto::ICMPV6, icmp.len() as u32).add_bytes(icmp).checksum() == 0
        }
        false => verify(icmp),
    };
    let mtu = if is_six { u32::from_be_bytes([a, b, c, d]) } else { u16::from_be_bytes([c, d]).into() };
    let repeated = &icmp[ICMP_LEN..];
    let sent = Flow::of(repeated).filter(|sent| is_whole && sent.six == flow.six)?;
    let (ports, at) = match (sent.protocol, sent.ports) {
        (ip_proto::ESP, _) => (None, sent.offset),
        (ip_proto::UDP, Some(ports)) => (Some(ports), sent.offset + udp::HEADER_LEN),
        _ => return None,
    };
    let header = esp::Header::new(repeated.get(at..)?.first_chunk::<{ esp::HEADER_LEN }>()?);
    let [source, destination] = sent.ends();
    Some(TooBig { source, destination, ports, spi: header.spi(), sequence: header.sequence(), mtu })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever comes, it is read without a fault; and what `answer` writes is read if a packet of ESP was the cause, in UDP or not.
        #[test]
        fn what_is_written_is_read(
            six in any::<bool>(), in_udp in any::<bool>(), mtu in 1280u32..9000, spi in 256u32.., sequence in any::<u32>(),
            payload in prop::collection::vec(any::<u8>(), 0..300), cut in 0usize..400, other in any::<u8>(), at in any::<prop::sample::Index>(),
        ) {
            let esp = [&spi.to_be_bytes()[..], &sequence.to_be_bytes(), &payload].concat();
            let ports = in_udp.then_some((4500, 4501));
            let body = match ports {
                Some((from, to)) => [&udp::header([from, to], (8 + esp.len()) as u16, 0)[..], &esp].concat(),
                None => esp,
            };
            let protocol = if in_udp { ip_proto::UDP } else { ip_proto::ESP };
            let cause = match six {
                true => elements_testing::ip6_samples::with_body(protocol, &body),
                false => {
                    let mut cause = elements_testing::samples::udp(body.len() - 8);
                    cause[9] = protocol;
                    let at = cause.len() - body.len();
                    cause[at..].copy_from_slice(&body);
                    cause
                }
            };
            let mut pool = Pool::default();
            let sent = Flow::of(&cause).expect("an IP packet");
            let [source, destination] = sent.ends();
            let said = answer(&mut pool, &cause, mtu as usize, destination).expect("an answer");
            let read_of = |packet: &[u8]| Flow::of(packet).and_then(|flow| read(&flow, packet));
            prop_assert_eq!(read_of(said.data()), Some(TooBig { source, destination, ports, spi, sequence, mtu }));
            // What was changed on the way, or cut, is not believed.
            let mut changed = said.data().to_vec();
            let place = at.index(changed.len());
            let is_same = changed[place] == other;
            changed[place] = other;
            let behind = Flow::of(said.data()).expect("an IP packet").offset;
            if place >= behind && !is_same {
                prop_assert_eq!(read_of(&changed), None);
            } else {
                let _ = read_of(&changed);
            }
            prop_assert_eq!(read_of(&said.data()[..cut.min(said.data().len() - 1)]), None);
            prop_assert_eq!(read_of(&cause), None);
        }
    }
}
