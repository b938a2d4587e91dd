//! The neighbours of a copy: each address that it asks for has one, which answers at once.
//!
//! An address stands for the same Ethernet address in both copies, so that they differ where next hops do.

use std::net::{Ipv4Addr, Ipv6Addr};
use wire::ethernet::{self, ether_type};
use wire::icmpv6::{self, NdOptions, Neighbor, kind, nd_option};
use wire::{MacAddr, arp, ipv6};

/// The protocol number of ICMPv6.
const ICMP6: u8 = 58;

/// The answer to a frame that asks for a neighbour's Ethernet address, by ARP or neighbour discovery; `None` to others. An address of an
/// asker that looks whether another host has it already is not answered for.
pub(super) fn answer(frame: &[u8]) -> Option<Vec<u8>> {
    let (kind, at) = network(frame)?;
    let (tags, rest) = (frame.get(12..at)?, frame.get(at..)?);
    let (from, payload) = match kind {
        ether_type::ARP => of_arp(rest)?,
        ether_type::IPV6 => of_discovery(rest)?,
        _ => return None,
    };
    let asker = MacAddr(*frame.get(6..)?.first_chunk()?);
    Some([&asker.0[..], &from.0, tags, &payload].concat())
}

/// The EtherType of what a frame carries, behind VLAN tags, and where that begins.
pub(super) fn network(frame: &[u8]) -> Option<(u16, usize)> {
    let mut at = ethernet::HEADER_LEN;
    loop {
        let kind = u16::from_be_bytes(*frame.get(at - 2..)?.first_chunk()?);
        if !matches!(kind, ether_type::VLAN | ether_type::QINQ) {
            return Some((kind, at));
        }
        at += 4;
    }
}

/// The Ethernet address of a neighbour.
fn ether4(address: Ipv4Addr) -> MacAddr {
    let [a, b, c, d] = address.octets();
    MacAddr([2, 0, a, b, c, d])
}

fn ether6(address: Ipv6Addr) -> MacAddr {
    let sum = address
        .octets()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    let [_, _, _, a, b, c, d, e] = sum.to_be_bytes();
    MacAddr([6, a, b, c, d, e])
}

fn of_arp(request: &[u8]) -> Option<(MacAddr, Vec<u8>)> {
    let mut bytes: [u8; arp::PACKET_LEN] = *request.first_chunk()?;
    let request = arp::check(request).ok().filter(|packet| packet.operation() == arp::REQUEST)?;
    let (asker, wanted) = (request.sender_ip(), request.target_ip());
    if asker == wanted || asker.is_unspecified() {
        return None;
    }
    let from = ether4(wanted);
    let mut reply = arp::Packet::new(&mut bytes);
    reply.set_operation(arp::REPLY);
    reply.set_target(request.sender_mac(), asker);
    reply.set_sender(from, wanted);
    Some((from, bytes.to_vec()))
}

fn of_discovery(packet: &[u8]) -> Option<(MacAddr, Vec<u8>)> {
    let header = ipv6::Header::new_checked(packet).ok()?;
    let message = packet.get(ipv6::HEADER_LEN..)?;
    let asked = Neighbor::new_checked(message).ok()?;
    if header.next_header() != ICMP6 || asked.kind() != kind::NEIGHBOR_SOLICITATION {
        return None;
    }
    // Without the asker's address it looks whether its own is free.
    let mut options = NdOptions::new(&message[icmpv6::NEIGHBOR_LEN..]);
    options.find_map(|option| option.ok()?.link_addr())?;
    let (wanted, from) = (asked.target(), ether6(asked.target()));
    let mut bytes = [0; icmpv6::NEIGHBOR_LEN];
    let mut advertised = Neighbor::new(&mut bytes);
    advertised
        .set_kind_and_flags(kind::NEIGHBOR_ADVERTISEMENT, icmpv6::FLAG_SOLICITED | icmpv6::FLAG_OVERRIDE);
    advertised.set_target(wanted);
    let mut message = [&bytes[..], &icmpv6::link_addr_option(nd_option::TARGET_LINK_ADDR, from)].concat();
    icmpv6::fill_checksum(wanted, header.src(), &mut message).ok()?;
    let mut reply = [0; ipv6::HEADER_LEN];
    let mut outer = ipv6::Header::new(&mut reply);
    outer.set_version_class_flow(0, 0);
    outer.set_payload_len(u16::try_from(message.len()).ok()?);
    outer.set_next_header(ICMP6);
    outer.set_hop_limit(255);
    outer.set_src(wanted);
    outer.set_dst(header.src());
    Some((from, [&reply[..], &message].concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(sender: [u8; 4], target: [u8; 4], tag: &[u8]) -> Vec<u8> {
        let mut bytes = [0; arp::PACKET_LEN];
        bytes[..6].copy_from_slice(&[0, 1, 8, 0, 6, 4]);
        let mut packet = arp::Packet::new(&mut bytes);
        packet.set_operation(arp::REQUEST);
        packet.set_sender(MacAddr([2, 0, 0, 0, 0, 1]), sender.into());
        packet.set_target(MacAddr::ZERO, target.into());
        [&[0xff; 6][..], &[2, 0, 0, 0, 0, 1], tag, &[8, 6], &bytes].concat()
    }

    /// To the asker, in its VLAN, from the address that it asks for; and not to those that ask for their own.
    #[test]
    fn arp_is_answered() {
        let tag = [0x81, 0, 0, 7];
        let reply = answer(&request([10, 0, 0, 1], [10, 0, 0, 9], &tag)).expect("an answer");
        assert_eq!(&reply[..18], [2, 0, 0, 0, 0, 1, 2, 0, 10, 0, 0, 9, 0x81, 0, 0, 7, 8, 6]);
        let packet = arp::check(&reply[18..]).expect("a packet");
        assert_eq!((packet.operation(), packet.sender_ip()), (arp::REPLY, Ipv4Addr::new(10, 0, 0, 9)));
        assert_eq!(packet.target_ip(), Ipv4Addr::new(10, 0, 0, 1));
        assert_eq!(answer(&request([10, 0, 0, 1], [10, 0, 0, 1], &[])), None);
        assert_eq!(answer(&request([0; 4], [10, 0, 0, 1], &[])), None);
        assert_eq!(answer(&reply), None);
    }

    /// A solicitation, with the asker's address or without, as one that looks whether its own is free.
    fn solicitation(options: &[u8]) -> Vec<u8> {
        let (from, wanted): (Ipv6Addr, Ipv6Addr) = (Ipv6Addr::from_bits(1), Ipv6Addr::from_bits(9));
        let mut message = [0; icmpv6::NEIGHBOR_LEN];
        let mut asked = Neighbor::new(&mut message);
        asked.set_kind_and_flags(kind::NEIGHBOR_SOLICITATION, 0);
        asked.set_target(wanted);
        let mut header = [0; ipv6::HEADER_LEN];
        let mut outer = ipv6::Header::new(&mut header);
        outer.set_version_class_flow(0, 0);
        outer.set_payload_len((message.len() + options.len()) as u16);
        outer.set_next_header(ICMP6);
        outer.set_src(from);
        outer.set_dst(wanted);
        let ends = [0x33, 0x33, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1];
        [&ends[..], &[0x86, 0xdd], &header, &message, options].concat()
    }

    /// With an advertisement that a router accepts: solicited, with the address and a checksum that is right.
    #[test]
    fn solicitations_are_answered() {
        let own = icmpv6::link_addr_option(nd_option::SOURCE_LINK_ADDR, MacAddr([2, 0, 0, 0, 0, 1]));
        let reply = answer(&solicitation(&own)).expect("an answer");
        let (from, wanted) = (Ipv6Addr::from_bits(1), Ipv6Addr::from_bits(9));
        assert_eq!((&reply[..6], &reply[6..12]), (&[2, 0, 0, 0, 0, 1][..], &ether6(wanted).0[..]));
        assert_eq!(ipv6::check(&reply[14..]).ok(), Some(reply.len() - 14));
        let message = &reply[14 + ipv6::HEADER_LEN..];
        assert!(icmpv6::verify_checksum(wanted, from, message).is_ok());
        let advertised = Neighbor::new_checked(message).expect("long enough");
        assert_eq!(advertised.kind(), kind::NEIGHBOR_ADVERTISEMENT);
        assert_eq!(
            (advertised.flags() & icmpv6::FLAG_SOLICITED, advertised.target()),
            (icmpv6::FLAG_SOLICITED, wanted)
        );
        let option = NdOptions::new(&message[icmpv6::NEIGHBOR_LEN..]).next().and_then(Result::ok);
        assert_eq!(option.and_then(|option| option.link_addr()), Some(ether6(wanted)));
        assert_eq!(answer(&solicitation(&[])), None);
    }

    /// Whatever is cut off, nothing panics.
    #[test]
    fn pieces_are_not_answered() {
        let whole = request([10, 0, 0, 1], [10, 0, 0, 9], &[0x81, 0, 0, 7]);
        for len in 0..whole.len() {
            assert_eq!(answer(&whole[..len]), None, "{len}");
        }
    }
}
