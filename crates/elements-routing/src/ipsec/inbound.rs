//! To the protected side: finding the association, decrypting, and what the result is (RFC 4301, section 5.2; RFC 4303, section 3.4).

use super::associations::Sa;
use super::flow::Flow;
use super::outbound::set_upper;
use super::replay::Refused;
use ciphers::{CHECK_LEN, IV_LEN};
use elements_shared::ecn;
use elements_shared::ipsec_port::Mode;
use packet::Packet;
use std::net::{IpAddr, Ipv6Addr};
use wire::{esp, ip_proto, ipv4, ipv6, udp};

/// The port of IKE, and the one of IKE and ESP behind address translators (RFC 3948).
const IKE: u16 = 500;

/// What a packet from outside is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// ESP, so many octets behind the start.
    Esp(usize),
    /// IKE, for this machine's daemon.
    Ike,
    /// An empty datagram that keeps an address translator's entry (RFC 3948, section 2.3).
    KeepAlive,
    /// A part of what may be ESP: whole packets are needed.
    Fragment,
    /// Something else.
    Clear,
}

/// Tells what a packet is; UDP to `port` may contain ESP.
#[inline]
pub(crate) fn kind(flow: &Flow, packet: &[u8], port: u16) -> Kind {
    match (flow.protocol, flow.ports) {
        (ip_proto::ESP, _) if flow.is_fragment => Kind::Fragment,
        (ip_proto::ESP, _) => Kind::Esp(flow.offset),
        (ip_proto::UDP, Some((_, IKE))) => Kind::Ike,
        (ip_proto::UDP, Some((_, to))) if to == port => match packet.get(flow.offset + udp::HEADER_LEN..) {
            _ if flow.is_fragment => Kind::Fragment,
            Some([0xff]) => Kind::KeepAlive,
            Some([0, 0, 0, 0, ..]) => Kind::Ike,
            _ => Kind::Esp(flow.offset + udp::HEADER_LEN),
        },
        _ => Kind::Clear,
    }
}

/// What the headers of a packet from outside say.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    pub(crate) flow: Flow,
    pub(crate) kind: Kind,
    /// The number of the association that it names, if it is ESP.
    pub(crate) spi: Option<u32>,
    /// The lower half of its own number; 0 if it has none.
    pub(crate) low: u32,
    /// About how long the text is.
    pub(crate) text: usize,
}

impl Arrival {
    /// Of an IP packet; UDP to `port` may contain ESP. None if it is none.
    #[inline]
    pub(crate) fn of(packet: &[u8], port: u16) -> Option<Arrival> {
        let flow = Flow::of(packet)?;
        let kind = kind(&flow, packet, port);
        let Kind::Esp(at) = kind else { return Some(Arrival { flow, kind, spi: None, low: 0, text: 0 }) };
        let word = |at: usize| packet.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        let text = packet.len().saturating_sub(at + esp::HEADER_LEN + IV_LEN + CHECK_LEN);
        Some(Arrival { flow, kind, spi: word(at), low: word(at + 4).unwrap_or(0), text })
    }

    /// What names the association: its number, and where the packet goes. None if it is no ESP.
    #[inline]
    pub(crate) fn name(&self) -> Option<(u32, IpAddr)> {
        Some((self.spi?, destination(&self.flow)))
    }
}

/// Makes the packet what it contains, an IP packet. Otherwise the reason why it is none.
#[inline]
pub(crate) fn open(sa: &Sa, flow: &Flow, at: usize, packet: &mut Packet) -> Result<(), &'static str> {
    let data = packet.data_mut();
    let Some(body) = data.get_mut(at..) else { return Err("too short") };
    let front = esp::HEADER_LEN + sa.cipher.iv_len();
    if body.len() < front + esp::TRAILER_LEN + CHECK_LEN {
        return Err("too short");
    }
    let Some(header) = body.first_chunk::<{ esp::HEADER_LEN }>() else { return Err("too short") };
    let low = esp::Header::new(header).sequence();
    let replay = &sa.replay;
    let number = if sa.extended { replay.whole(low) } else { u64::from(low) };
    replay.check(number).map_err(reason)?;
    if !sa.cipher.open(sa.head(number), body) {
        return Err("was changed");
    }
    replay.note(number).map_err(reason)?;
    let text = body.get(front..body.len() - CHECK_LEN);
    let Some((text, &[padding, next])) =
        text.and_then(|text| text.split_last_chunk::<{ esp::TRAILER_LEN }>())
    else {
        return Err("no trailer");
    };
    if next == ip_proto::NO_NEXT_HEADER {
        return Err("dummy");
    }
    let Some(len) = esp::payload_len(text, padding) else { return Err("wrong padding") };
    match sa.mode {
        Mode::Tunnel => leave_tunnel(next, at + front, len, packet),
        Mode::Transport => leave_transport(next, flow.offset, at + front, len, packet),
    }
}

fn reason(refused: Refused) -> &'static str {
    match refused {
        Refused::Again => "has come before",
        Refused::Old => "too old",
    }
}

/// The packet that is enclosed, `len` octets from `at` on, or fewer: what follows it hides how long it is (RFC 4303, section 2.7).
#[inline]
fn leave_tunnel(next: u8, at: usize, len: usize, packet: &mut Packet) -> Result<(), &'static str> {
    let outer = ecn::mark(packet.data());
    let inner = packet.data().get(at..at + len).unwrap_or_default();
    let Some(whole) = whole_len(next, inner) else { return Err("no IP packet in the tunnel") };
    let behind = packet.len() - at - whole;
    if !packet.take(behind) || !packet.pull(at) {
        return Err("too short");
    }
    packet.clear_network();
    if !ecn::leave_tunnel(packet, outer) {
        return Err(ecn::CONGESTION);
    }
    mark(packet);
    Ok(())
}

/// The length of an IP packet by its header, if it is not longer than what there is.
fn whole_len(next: u8, inner: &[u8]) -> Option<usize> {
    let len = match (next, inner.first()? >> 4) {
        (ip_proto::IPIP, 4) => usize::from(ipv4::Header::new_checked(inner).ok()?.total_len()),
        (ip_proto::IPV6, 6) => {
            ipv6::HEADER_LEN + usize::from(ipv6::Header::new_checked(inner).ok()?.payload_len())
        }
        _ => return None,
    };
    (ipv4::HEADER_LEN..=inner.len()).contains(&len).then_some(len)
}

/// What was behind the header is there again.
fn leave_transport(
    next: u8,
    header: usize,
    at: usize,
    len: usize,
    packet: &mut Packet,
) -> Result<(), &'static str> {
    let behind = packet.len() - at - len;
    let gap = at - header;
    if !packet.take(behind) {
        return Err("too short");
    }
    packet.data_mut().copy_within(..header, gap);
    if !packet.pull(gap) {
        return Err("too short");
    }
    set_upper(&mut packet.data_mut()[..header], next, len).ok_or("a header that is not known")?;
    packet.clear_network();
    mark(packet);
    Ok(())
}

/// Says where the headers are, and where the packet goes, for the routes behind.
pub(crate) fn mark(packet: &mut Packet) {
    let data = packet.data();
    if data.first().is_some_and(|first| first >> 4 == 4) {
        if let Ok(ip) = ipv4::Header::new_checked(data) {
            let (len, destination) = (ip.header_len(), ip.dst());
            packet.set_network(0, len);
            packet.set_dst_ip(destination);
        }
    } else if let Ok(ip) = ipv6::Header::new_checked(data) {
        let destination = ip.dst();
        packet.set_network(0, ipv6::HEADER_LEN);
        packet.set_dst_ip6(destination);
    }
}

/// Where a packet goes.
fn destination(flow: &Flow) -> IpAddr {
    if flow.six {
        Ipv6Addr::from(flow.destination).into()
    } else {
        super::flow::address(false, flow.destination)
    }
}
