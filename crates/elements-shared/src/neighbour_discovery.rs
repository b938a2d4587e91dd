//! Frames of neighbour discovery for IPv6 over Ethernet (RFC 4861; RFC 2464): solicitations and advertisements.

use std::net::Ipv6Addr;
use wire::ethernet::{self, HEADER_LEN, ether_type, header};
use wire::icmpv6::{self, NEIGHBOR_LEN, NdOption, NdOptions, kind, nd_option};
use wire::{MacAddr, ip_proto, ipv6};

/// Where the message starts.
pub const MESSAGE_AT: usize = HEADER_LEN + ipv6::HEADER_LEN;
/// Bytes of a message with one option for a link-layer address.
const MESSAGE_LEN: usize = NEIGHBOR_LEN + 8;
/// Bytes of a frame with such a message.
pub const FRAME_LEN: usize = MESSAGE_AT + MESSAGE_LEN;
/// A message with another hop limit comes from another network.
const HOP_LIMIT: u8 = 255;
/// The group of all hosts on a network.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// Who is to hear an advertisement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// The host that has asked.
    Asker(MacAddr, Ipv6Addr),
    /// All hosts: none has asked, or one that has no address yet.
    All,
}

/// Whether a frame may be a message of neighbour discovery. Nearly all frames are none, which is soon seen.
#[inline(always)]
pub fn may_ask(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&ether_type::IPV6.to_be_bytes())
        && frame.get(20..22) == Some(&[ip_proto::ICMPV6, HOP_LIMIT])
}

/// Who asks for which address, if a frame is a proper solicitation.
pub fn question(frame: &[u8]) -> Option<(Audience, Ipv6Addr)> {
    let Message { src, target, .. } = Message::solicitation(frame)?;
    let from = ethernet::Header::new_checked(frame).ok()?.src();
    let audience = if src.is_unspecified() { Audience::All } else { Audience::Asker(from, src) };
    Some((audience, target))
}

/// The group that an address' neighbours listen to (RFC 4291, section 2.7.1).
pub fn solicited_node(ip: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(0xff02_0000_0000_0000_0000_0001_ff00_0000 | (ip.to_bits() & 0xff_ffff))
}

/// A proper solicitation or advertisement (RFC 4861, sections 7.1.1 and 7.1.2).
pub struct Message<'a> {
    /// The sender's address; unspecified if it has none yet.
    pub src: Ipv6Addr,
    /// The address, or group, that it was sent to.
    pub dst: Ipv6Addr,
    /// The address that it is about.
    pub target: Ipv6Addr,
    /// From its type on.
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    /// That of a frame, if it is of this [`kind`].
    pub fn new(frame: &'a [u8], kind: u8) -> Option<Message<'a>> {
        let ip = ipv6::Header::new_checked(frame.get(HEADER_LEN..)?).ok()?;
        let bytes = frame.get(MESSAGE_AT..)?.get(..usize::from(ip.payload_len()))?;
        let (head, options) = bytes.split_at_checked(NEIGHBOR_LEN)?;
        let (src, dst) = (ip.src(), ip.dst());
        let target = Ipv6Addr::from(*head.last_chunk::<16>()?);
        let is_proper = may_ask(frame)
            && ip.version() == 6
            && head[..2] == [kind, 0]
            && !target.is_multicast()
            && NdOptions::new(options).all(|option| option.is_ok())
            && icmpv6::verify_checksum(src, dst, bytes).is_ok();
        is_proper.then_some(Message { src, dst, target, bytes })
    }

    /// A proper solicitation.
    pub fn solicitation(frame: &'a [u8]) -> Option<Message<'a>> {
        let message = Message::new(frame, kind::NEIGHBOR_SOLICITATION)?;
        // A sender without an address asks those only that may have the target, and has no neighbours that could know it.
        let anonymous = || {
            message.dst == solicited_node(message.target)
                && message.options().all(|option| option.kind != nd_option::SOURCE_LINK_ADDR)
        };
        (!message.src.is_unspecified() || anonymous()).then_some(message)
    }

    /// Whether a flag of an advertisement is set.
    pub fn has(&self, flag: u8) -> bool {
        self.bytes.get(4).is_some_and(|flags| flags & flag != 0)
    }

    /// Its options, all of which are sound.
    fn options(&self) -> impl Iterator<Item = NdOption<'a>> {
        NdOptions::new(self.bytes.get(NEIGHBOR_LEN..).unwrap_or(&[])).flatten()
    }

    /// The first link-layer address of this kind in its options, if there is one; `None` if that is a group's.
    pub fn mac(&self, kind: u8) -> Option<Option<MacAddr>> {
        let mac = self.options().filter(|option| option.kind == kind).find_map(|option| option.link_addr());
        mac.is_none_or(|mac| !mac.is_group()).then_some(mac)
    }
}

/// Writes into a frame of [`FRAME_LEN`] bytes a host's question where an address is, to a host or a group. `None` if the frame is too short.
pub fn solicit(
    frame: &mut [u8],
    own: (MacAddr, Ipv6Addr),
    to: (MacAddr, Ipv6Addr),
    target: Ipv6Addr,
) -> Option<()> {
    write(frame, own, to, (kind::NEIGHBOR_SOLICITATION, 0), target, nd_option::SOURCE_LINK_ADDR)
}

/// Writes into a frame of [`FRAME_LEN`] bytes a router's word that an address is at an Ethernet address; what was known of it before is
/// replaced if it `overrides` that. `None` if the frame is too short.
pub fn advertise(
    frame: &mut [u8],
    audience: Audience,
    (mac, ip): (MacAddr, Ipv6Addr),
    overrides: bool,
) -> Option<()> {
    let (to, solicited) = match audience {
        Audience::Asker(mac, ip) => ((mac, ip), icmpv6::FLAG_SOLICITED),
        Audience::All => ((MacAddr::from_ipv6_multicast(ALL_NODES), ALL_NODES), 0),
    };
    let flags = icmpv6::FLAG_ROUTER | solicited | if overrides { icmpv6::FLAG_OVERRIDE } else { 0 };
    write(frame, (mac, ip), to, (kind::NEIGHBOR_ADVERTISEMENT, flags), ip, nd_option::TARGET_LINK_ADDR)
}

/// Writes a message whose option is the sender's Ethernet address.
fn write(
    frame: &mut [u8],
    from: (MacAddr, Ipv6Addr),
    to: (MacAddr, Ipv6Addr),
    (kind, flags): (u8, u8),
    target: Ipv6Addr,
    option: u8,
) -> Option<()> {
    let (ethernet, rest) = frame.split_first_chunk_mut()?;
    *ethernet = header(to.0, from.0, ether_type::IPV6);
    let (place, message) = rest.split_first_chunk_mut()?;
    let mut ip = ipv6::Header::new(place);
    ip.set_version_class_flow(0, 0);
    ip.set_payload_len(MESSAGE_LEN as u16);
    ip.set_next_header(ip_proto::ICMPV6);
    ip.set_hop_limit(HOP_LIMIT);
    ip.set_src(from.1);
    ip.set_dst(to.1);
    let message: &mut [u8; MESSAGE_LEN] = message.first_chunk_mut()?;
    message[..8].fill(0);
    message[0] = kind;
    message[4] = flags;
    message[8..NEIGHBOR_LEN].copy_from_slice(&target.octets());
    message[NEIGHBOR_LEN..].copy_from_slice(&icmpv6::link_addr_option(option, from.0));
    icmpv6::fill_checksum(from.1, to.1, message).ok()
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

    /// An answer goes to the host that asked, an announcement to all; both replace what was known unless they should not.
    #[test]
    fn advertisements_say_where_an_address_is() {
        let (own, address) = (MacAddr([2, 0xc2, 0, 0, 0, 3]), "2001:db8:3::1".parse().unwrap());
        let asker_ip = "2001:db8:3::2".parse().unwrap();
        for (audience, to, to_ip, flags) in [
            (Audience::Asker(ASKER, asker_ip), ASKER, asker_ip, 0xe0),
            (Audience::All, MacAddr([0x33, 0x33, 0, 0, 0, 1]), ALL_NODES, 0xa0),
        ] {
            let mut frame = [0xff; FRAME_LEN];
            advertise(&mut frame, audience, (own, address), true).unwrap();
            assert_eq!(frame[..14], [&to.0[..], &own.0, &[0x86, 0xdd]].concat());
            let ip = ipv6::Header::new_checked(&frame[HEADER_LEN..]).unwrap();
            assert_eq!((ip.src(), ip.dst(), ip.hop_limit(), ip.version()), (address, to_ip, 255, 6));
            assert_eq!(icmpv6::verify_checksum(address, to_ip, &frame[MESSAGE_AT..]), Ok(()));
            assert_eq!([frame[54], frame[55], frame[58], frame[78], frame[79]], [136, 0, flags, 2, 1]);
            assert_eq!((&frame[62..78], &frame[80..]), (&address.octets()[..], &own.0[..]));
        }
        let mut frame = [0xff; FRAME_LEN];
        advertise(&mut frame, Audience::All, (own, address), false).unwrap();
        assert_eq!(frame[58], 0x80);
        assert_eq!(advertise(&mut frame[1..], Audience::All, (own, address), false), None);
    }

    /// What one host asks another one understands; who has no address asks the group of the address' neighbours, and does not name itself.
    #[test]
    fn solicitations_are_questions() {
        let (own, asker, target) =
            (MacAddr([2, 0, 0, 0, 0, 9]), "fe80::9".parse().unwrap(), "2001:db8::12:3456".parse().unwrap());
        let group = solicited_node(target);
        assert_eq!(group, "ff02::1:ff12:3456".parse::<Ipv6Addr>().unwrap());
        let mut frame = [0xff; FRAME_LEN];
        solicit(&mut frame, (own, asker), (MacAddr::from_ipv6_multicast(group), group), target).unwrap();
        assert_eq!(frame[..14], [0x33, 0x33, 0xff, 0x12, 0x34, 0x56, 2, 0, 0, 0, 0, 9, 0x86, 0xdd]);
        assert_eq!(question(&frame), Some((Audience::Asker(own, asker), target)));
        let message = Message::solicitation(&frame).unwrap();
        assert_eq!(message.mac(nd_option::SOURCE_LINK_ADDR), Some(Some(own)));
        assert!(!message.has(0xff) && Message::new(&frame, kind::NEIGHBOR_ADVERTISEMENT).is_none());
        let named = [1, 1, 2, 0, 0, 0, 0, 9];
        assert_eq!(question(&solicitation("::", "ff02::1:ff12:3456", "2001:db8::12:3456", &named)), None);
        assert_eq!(question(&solicitation("::", "ff02::1", "2001:db8::12:3456", &[])), None);
    }
}
