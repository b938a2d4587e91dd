//! Neighbours of IPv6: neighbour discovery (RFC 4861).

use super::arp::Arp;
use super::querier::{Link, Shared};
use super::state::{News, Query};
use elements_shared::ether_header::{Ready, mark_frame};
use elements_shared::neighbour_discovery::{FRAME_LEN, MESSAGE_AT, Message, solicit, solicited_node};
use packet::{DEFAULT_HEADROOM, Packet};
use router::{Cx, Handlers};
use std::net::Ipv6Addr;
use wire::ethernet::{HEADER_LEN, ether_type, header};
use wire::icmpv6::nd_option;
use wire::{MacAddr, icmpv6, ipv6};

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
            ip if ip.is_multicast() => Some(Ok(MacAddr::from_ipv6_multicast(ip))),
            ip if ip.is_unspecified() => Some(Err("no destination annotation")),
            _ => None,
        }
    }

    fn complain(&self, _: &mut Cx<'_>, _: &Shared<Ipv6Addr>) {}

    fn query(&self, cx: &mut Cx<'_>, ip: Ipv6Addr, whom: Query) -> Option<Packet> {
        let (dst, mac) = match whom {
            Query::All => (solicited_node(ip), MacAddr::from_ipv6_multicast(solicited_node(ip))),
            Query::One(mac) => (ip, mac),
        };
        let mut query = cx.pool().alloc(DEFAULT_HEADROOM - HEADER_LEN, FRAME_LEN)?;
        solicit(query.data_mut(), (self.mac, self.ip), (mac, dst), ip)?;
        mark_frame(&mut query);
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

/// What a frame tells about a neighbour, if it is a proper advertisement.
pub(crate) fn advertised(frame: &[u8]) -> Option<(Ipv6Addr, News)> {
    let message = Message::new(frame, icmpv6::kind::NEIGHBOR_ADVERTISEMENT)?;
    let solicited = message.has(icmpv6::FLAG_SOLICITED);
    // What goes to a group answers no solicitation (section 7.1.2).
    if solicited && message.dst.is_multicast() {
        return None;
    }
    let mac = message.mac(nd_option::TARGET_LINK_ADDR)?;
    Some((message.target, News { mac, solicited, overrides: message.has(icmpv6::FLAG_OVERRIDE) }))
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
