//! Neighbours of IPv6: neighbour discovery (RFC 4861).

use super::arp::Arp;
use super::querier::{Link, Shared};
use super::state::{News, Query};
use elements_shared::ether_header::{Ready, mark_frame};
use packet::{DEFAULT_HEADROOM, Packet};
use router::{Cx, Handlers};
use std::net::Ipv6Addr;
use wire::ethernet::{self, HEADER_LEN, ether_type, header};
use wire::icmpv6::{NdOption, NdOptions, nd_option};
use wire::{MacAddr, icmpv6, ip_proto, ipv6};

/// Where the message starts, and its length with one option for a link-layer address.
const MESSAGE_AT: usize = HEADER_LEN + ipv6::HEADER_LEN;
const MESSAGE_LEN: usize = icmpv6::NEIGHBOR_LEN + 8;
const HOP_LIMIT: u8 = 255;

/// This host on a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nd {
    pub(crate) ip: Ipv6Addr,
    pub(crate) mac: MacAddr,
}

impl Link for Nd {
    type Address = Ipv6Addr;
    const NO_ANSWER: &'static str = "no answer to neighbour solicitations";
    const QUERIES: &'static str = "ND Solicitation Message";

    #[inline]
    fn is_ready(&self) -> bool {
        true
    }

    #[inline]
    fn destination(packet: &Packet) -> Ipv6Addr {
        packet.dst_ip6()
    }

    #[inline]
    fn header(&self, to: MacAddr) -> Ready {
        Ready::of(&header(to, self.mac, ether_type::IPV6))
    }

    /// IPv4 packets may have IPv6 gateways (RFC 8950).
    #[inline]
    fn fit(packet: &Packet, header: Ready) -> Ready {
        if is_v4(packet) { header.with_type(ether_type::IPV4) } else { header }
    }

    fn special(&self, ip: Ipv6Addr) -> Option<Result<MacAddr, &'static str>> {
        match ip {
            ip if ip.is_multicast() => Some(Ok(group_mac(ip))),
            ip if ip.is_unspecified() => Some(Err("no destination annotation")),
            _ => None,
        }
    }

    fn complain(&self, _: &mut Cx<'_>, _: &Shared<Ipv6Addr>) {}

    fn query(&self, cx: &mut Cx<'_>, ip: Ipv6Addr, whom: Query, _: Option<&Packet>) -> Option<Packet> {
        let (dst, mac) = match whom {
            Query::All => solicited_node(ip),
            Query::One(mac) => (ip, mac),
        };
        let mut query = cx.pool().alloc(DEFAULT_HEADROOM - HEADER_LEN, MESSAGE_AT + MESSAGE_LEN)?;
        self.fill(query.data_mut(), ip, dst, mac)?;
        mark_frame(&mut query);
        query.set_timestamp_ns(cx.now_ns());
        Some(query)
    }

    fn news(&self, packet: &Packet) -> Option<(Ipv6Addr, News, bool)> {
        match advertised(packet.data()) {
            Some((ip, news)) => Some((ip, news, false)),
            // Who asks for this host will be sent an answer (RFC 4861, section 7.2.3).
            None => soliciting(packet.data(), self.ip).map(|(ip, news)| (ip, news, true)),
        }
    }

    fn is_response(packet: &Packet) -> bool {
        packet.len() >= MESSAGE_AT + icmpv6::NEIGHBOR_LEN
    }

    #[inline]
    fn take_hop(packet: &mut Packet) -> Option<bool> {
        if is_v4(packet) {
            return Arp::take_hop(packet);
        }
        let mut ip = ipv6::Header::new(packet.data_mut().first_chunk_mut()?);
        let limit = ip.hop_limit();
        if limit > 1 {
            ip.set_hop_limit(limit - 1);
        }
        Some(limit > 1)
    }

    fn handlers<const HOP: bool>(_: &mut Handlers) {}
}

/// Whether this is an IPv4 packet.
#[inline]
fn is_v4(packet: &Packet) -> bool {
    packet.data().first().is_some_and(|first| first >> 4 == 4)
}

impl Nd {
    /// Writes a solicitation.
    fn fill(&self, frame: &mut [u8], target: Ipv6Addr, dst: Ipv6Addr, mac: MacAddr) -> Option<()> {
        let (ethernet, rest) = frame.split_first_chunk_mut()?;
        *ethernet = header(mac, self.mac, ether_type::IPV6);
        let (place, message) = rest.split_first_chunk_mut()?;
        let mut ip = ipv6::Header::new(place);
        ip.set_version_class_flow(0, 0);
        ip.set_payload_len(MESSAGE_LEN as u16);
        ip.set_next_header(ip_proto::ICMPV6);
        ip.set_hop_limit(HOP_LIMIT);
        ip.set_src(self.ip);
        ip.set_dst(dst);
        message[..8].fill(0);
        message[0] = icmpv6::kind::NEIGHBOR_SOLICITATION;
        message[8..icmpv6::NEIGHBOR_LEN].copy_from_slice(&target.octets());
        let option = icmpv6::link_addr_option(nd_option::SOURCE_LINK_ADDR, self.mac);
        message[icmpv6::NEIGHBOR_LEN..].copy_from_slice(&option);
        icmpv6::fill_checksum(self.ip, dst, message).ok()
    }
}

/// The group that an address' neighbours listen to, and its Ethernet address (RFC 4291, section 2.7.1; RFC 2464, section 7).
fn solicited_node(ip: Ipv6Addr) -> (Ipv6Addr, MacAddr) {
    let bits = 0xff02_0000_0000_0000_0000_0001_ff00_0000 | (ip.to_bits() & 0xff_ffff);
    let group = Ipv6Addr::from_bits(bits);
    (group, group_mac(group))
}

/// The Ethernet address of a group (RFC 2464, section 7).
pub(crate) fn group_mac(group: Ipv6Addr) -> MacAddr {
    let [.., a, b, c, d] = group.octets();
    MacAddr([0x33, 0x33, a, b, c, d])
}

/// A proper solicitation or advertisement (RFC 4861, sections 7.1.1 and 7.1.2).
struct Message<'a> {
    src: Ipv6Addr,
    dst: Ipv6Addr,
    target: Ipv6Addr,
    /// From its type on.
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    fn new(frame: &'a [u8], kind: u8) -> Option<Message<'a>> {
        let ethernet = ethernet::Header::new_checked(frame).ok()?;
        let ip = ipv6::Header::new_checked(frame.get(HEADER_LEN..)?).ok()?;
        let len = usize::from(ip.payload_len());
        let bytes = frame.get(MESSAGE_AT..MESSAGE_AT + len).filter(|_| len >= icmpv6::NEIGHBOR_LEN)?;
        let (src, dst) = (ip.src(), ip.dst());
        let target = Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?);
        let proper = ethernet.ether_type() == ether_type::IPV6
            && ip.version() == 6
            && ip.next_header() == ip_proto::ICMPV6
            && ip.hop_limit() == HOP_LIMIT
            && bytes[..2] == [kind, 0]
            && !target.is_multicast()
            && NdOptions::new(&bytes[icmpv6::NEIGHBOR_LEN..]).all(|option| option.is_ok())
            && icmpv6::verify_checksum(src, dst, bytes).is_ok();
        proper.then_some(Message { src, dst, target, bytes })
    }

    /// A proper solicitation.
    fn solicitation(frame: &'a [u8]) -> Option<Message<'a>> {
        let message = Message::new(frame, icmpv6::kind::NEIGHBOR_SOLICITATION)?;
        // A sender without an address asks those only that may have the target, and has no neighbours that could know it.
        let anonymous = || {
            message.dst == solicited_node(message.target).0
                && message.options().all(|option| option.kind != nd_option::SOURCE_LINK_ADDR)
        };
        (!message.src.is_unspecified() || anonymous()).then_some(message)
    }

    /// Its options, all of which are sound.
    fn options(&self) -> impl Iterator<Item = NdOption<'a>> {
        NdOptions::new(self.bytes.get(icmpv6::NEIGHBOR_LEN..).unwrap_or(&[])).flatten()
    }

    /// The first link-layer address of this kind in its options, if there is one; `None` if that is a group's.
    fn mac(&self, kind: u8) -> Option<Option<MacAddr>> {
        let mac = self.options().filter(|option| option.kind == kind).find_map(|option| option.link_addr());
        mac.is_none_or(|mac| !mac.is_group()).then_some(mac)
    }
}

/// Who asks and for what, if a frame is a proper solicitation; who only looks whether an address is free has none yet.
pub(crate) fn solicitation(frame: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr)> {
    Message::solicitation(frame).map(|message| (message.src, message.target))
}

/// What a frame tells about a neighbour, if it is a proper advertisement.
pub(crate) fn advertised(frame: &[u8]) -> Option<(Ipv6Addr, News)> {
    let message = Message::new(frame, icmpv6::kind::NEIGHBOR_ADVERTISEMENT)?;
    let flag = |bit| message.bytes[4] & bit != 0;
    let solicited = flag(icmpv6::FLAG_SOLICITED);
    // What goes to a group answers no solicitation (section 7.1.2).
    if solicited && message.dst.is_multicast() {
        return None;
    }
    let mac = message.mac(nd_option::TARGET_LINK_ADDR)?;
    Some((message.target, News { mac, solicited, overrides: flag(icmpv6::FLAG_OVERRIDE) }))
}

/// What a frame tells about its sender, if it is a proper solicitation of an address (section 7.2.3): not that packets arrive there. Who
/// only looks whether an address is free has none yet.
pub(crate) fn soliciting(frame: &[u8], own: Ipv6Addr) -> Option<(Ipv6Addr, News)> {
    let message = Message::solicitation(frame)?;
    let mac = message.mac(nd_option::SOURCE_LINK_ADDR)??;
    let sender = message.src;
    let usable = !sender.is_unspecified() && !sender.is_multicast() && sender != own && message.target == own;
    usable.then_some((sender, News { mac: Some(mac), solicited: false, overrides: true }))
}
