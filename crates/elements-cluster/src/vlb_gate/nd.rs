//! Neighbour discovery for addresses that move (RFC 4861).

use std::net::Ipv6Addr;
use wire::ethernet::{self, HEADER_LEN, ether_type, header};
use wire::icmpv6::{self, NEIGHBOR_LEN, NdOptions, kind, nd_option};
use wire::{MacAddr, ip_proto, ipv6};

/// Where the message starts, and its length with one option for a link-layer address.
const MESSAGE_AT: usize = HEADER_LEN + ipv6::HEADER_LEN;
const MESSAGE_LEN: usize = NEIGHBOR_LEN + 8;
/// A frame with an advertisement.
pub(super) const FRAME_LEN: usize = MESSAGE_AT + MESSAGE_LEN;
const HOP_LIMIT: u8 = 255;
/// The group of all hosts on a network, and its Ethernet address.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// Who is to hear an advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Audience {
    /// The host that has asked.
    Asker(MacAddr, Ipv6Addr),
    /// All hosts: none has asked, or one that has no address yet.
    All,
}

/// Whether a frame may be a message of neighbour discovery. Nearly all frames are none, which is soon seen.
#[inline(always)]
pub(super) fn may_ask(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ether_type::IPV6.to_be_bytes())
        && frame.get(20..22) == Some(&[ip_proto::ICMPV6, HOP_LIMIT])
}

/// Who asks for which address, if a frame is a proper solicitation (RFC 4861, section 7.1.1).
pub(super) fn question(frame: &[u8]) -> Option<(Audience, Ipv6Addr)> {
    let from = ethernet::Header::new_checked(frame).ok()?.src();
    let ip = ipv6::Header::new_checked(frame.get(HEADER_LEN..)?).ok()?;
    let message = frame.get(MESSAGE_AT..)?.get(..usize::from(ip.payload_len()))?;
    let (head, options) = message.split_at_checked(NEIGHBOR_LEN)?;
    let target = Ipv6Addr::from(*head.last_chunk::<16>()?);
    let is_proper = may_ask(frame)
        && ip.version() == 6
        && head[..2] == [kind::NEIGHBOR_SOLICITATION, 0]
        && !target.is_multicast()
        && NdOptions::new(options).all(|option| option.is_ok())
        && icmpv6::verify_checksum(ip.src(), ip.dst(), message).is_ok();
    let audience = if ip.src().is_unspecified() { Audience::All } else { Audience::Asker(from, ip.src()) };
    is_proper.then_some((audience, target))
}

/// Writes into a frame of [`FRAME_LEN`] bytes that an address is at an Ethernet address now, whatever was known of it.
pub(super) fn advertise(frame: &mut [u8], audience: Audience, own: MacAddr, address: Ipv6Addr) -> Option<()> {
    let (to, to_ip, flags) = match audience {
        Audience::Asker(mac, ip) => (mac, ip, icmpv6::FLAG_SOLICITED),
        Audience::All => (MacAddr::from_ipv6_multicast(ALL_NODES), ALL_NODES, 0),
    };
    let (ethernet, rest) = frame.split_first_chunk_mut()?;
    *ethernet = header(to, own, ether_type::IPV6);
    let (place, message) = rest.split_first_chunk_mut()?;
    let mut ip = ipv6::Header::new(place);
    ip.set_version_class_flow(0, 0);
    ip.set_payload_len(MESSAGE_LEN as u16);
    ip.set_next_header(ip_proto::ICMPV6);
    ip.set_hop_limit(HOP_LIMIT);
    ip.set_src(address);
    ip.set_dst(to_ip);
    let message: &mut [u8; MESSAGE_LEN] = message.first_chunk_mut()?;
    message[..8].fill(0);
    message[0] = kind::NEIGHBOR_ADVERTISEMENT;
    message[4] = icmpv6::FLAG_ROUTER | icmpv6::FLAG_OVERRIDE | flags;
    message[8..NEIGHBOR_LEN].copy_from_slice(&address.octets());
    message[NEIGHBOR_LEN..].copy_from_slice(&icmpv6::link_addr_option(nd_option::TARGET_LINK_ADDR, own));
    icmpv6::fill_checksum(address, to_ip, message).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKER: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);

    fn solicitation(src: &str, dst: &str, target: &str, options: &[u8]) -> Vec<u8> {
        let [src, dst, target] = [src, dst, target].map(|ip| ip.parse::<Ipv6Addr>().unwrap());
        let mut message = [&[135, 0, 0, 0, 0, 0, 0, 0][..], &target.octets(), options].concat();
        icmpv6::fill_checksum(src, dst, &mut message).unwrap();
        let fixed = [0x60, 0, 0, 0, 0, message.len() as u8, 58, 255];
        let ethernet = [&[0x33; 6][..], &ASKER.0, &[0x86, 0xdd]].concat();
        [&ethernet[..], &fixed, &src.octets(), &dst.octets(), &message].concat()
    }

    /// A solicitation with one byte changed is none, wherever that counts: type, hop limit, code, checksum, length of an option.
    #[test]
    fn proper_solicitations_only_are_questions() {
        let (group, target) = ("ff02::1:ff00:1", "2001:db8::1");
        let whole = solicitation("2001:db8::2", group, target, &[1, 1, 2, 0, 0, 0, 0, 9]);
        let asker = Audience::Asker(ASKER, "2001:db8::2".parse().unwrap());
        assert_eq!(question(&whole), Some((asker, target.parse().unwrap())));
        let free = solicitation("::", group, target, &[]);
        assert_eq!(question(&free), Some((Audience::All, target.parse().unwrap())));
        for (at, value) in [(12, 8), (14, 0x40), (20, 6), (21, 254), (54, 136), (55, 1), (60, 1), (79, 0)] {
            let mut other = whole.clone();
            other[at] = value;
            // What it says counts, not its checksum, except where that is what was changed.
            if at > 57 && at != 60 || at == 54 || at == 55 {
                let (src, dst) = ("2001:db8::2".parse().unwrap(), group.parse().unwrap());
                icmpv6::fill_checksum(src, dst, &mut other[54..]).unwrap();
            }
            assert_eq!(question(&other), None, "byte {at}");
        }
        assert_eq!(question(&solicitation("2001:db8::2", group, "ff02::1", &[])), None);
        for len in 0..whole.len() {
            assert_eq!(question(&whole[..len]), None, "{len} bytes");
        }
    }

    /// An answer goes to the host that asked, an announcement to all; both replace what was known.
    #[test]
    fn advertisements_say_where_an_address_is() {
        let (own, address) = (MacAddr([2, 0xc2, 0, 0, 0, 3]), "2001:db8:3::1".parse().unwrap());
        let asker_ip = "2001:db8:3::2".parse().unwrap();
        for (audience, to, to_ip, flags) in [
            (Audience::Asker(ASKER, asker_ip), ASKER, asker_ip, 0xe0),
            (Audience::All, MacAddr([0x33, 0x33, 0, 0, 0, 1]), ALL_NODES, 0xa0),
        ] {
            let mut frame = [0xff; FRAME_LEN];
            advertise(&mut frame, audience, own, address).unwrap();
            assert_eq!(frame[..14], [&to.0[..], &own.0, &[0x86, 0xdd]].concat());
            let ip = ipv6::Header::new_checked(&frame[HEADER_LEN..]).unwrap();
            assert_eq!((ip.src(), ip.dst(), ip.hop_limit(), ip.version()), (address, to_ip, 255, 6));
            assert_eq!(icmpv6::verify_checksum(address, to_ip, &frame[MESSAGE_AT..]), Ok(()));
            assert_eq!([frame[54], frame[55], frame[58], frame[78], frame[79]], [136, 0, flags, 2, 1]);
            assert_eq!((&frame[62..78], &frame[80..]), (&address.octets()[..], &own.0[..]));
        }
    }
}
