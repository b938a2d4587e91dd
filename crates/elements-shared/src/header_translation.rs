//! Translation between IPv4 and IPv6 headers, as RFC 7915 has it: what stateless and stateful translators have in common.
//!
//! A translator reads a packet ([`begin4`], [`begin6`]), chooses the addresses of the other family, and perhaps other ports ([`Change`]), and
//! has the packet changed where it lies ([`to_ipv6`], [`to_ipv4`]). An ICMP error has a second change, of the packet that it quotes
//! ([`quoted4`], [`quoted6`]). Errors say why a packet cannot be translated; it may have been changed then.

mod icmp;

use packet::Packet;
use std::net::{Ipv4Addr, Ipv6Addr};
use wire::checksum::{pseudo_v4, pseudo_v6};
use wire::ip_proto::{DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ICMP, ICMPV6, ROUTING, TCP, UDP};
use wire::ipv6::{self, FRAGMENT_HEADER_LEN, Fragment, MAX_EXTENSION_HEADERS};
use wire::{ipv4, udp};

/// Why a packet is dropped.
pub type Refusal = &'static str;

const MALFORMED: Refusal = "malformed packet";
const TOO_LONG: Refusal = "too long once translated";
const FRAGMENTED_ICMP: Refusal = "fragmented ICMP";
const NO_UDP_CHECKSUM: Refusal = "fragment without a UDP checksum";
const SOURCE_ROUTE: Refusal = "source route";
/// The largest IPv6 packet that may be sent anywhere.
const LEAST_MTU: usize = 1280;
/// Up to this length, an IPv4 packet may be fragmented on its way: what came in one piece over IPv6's least MTU.
const MAY_FRAGMENT: usize = 1260;

/// What headers of both families say, with addresses of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<A> {
    /// Source and destination.
    pub ends: [A; 2],
    class: u8,
    hops: u8,
    /// The protocol, in IPv6's numbers.
    pub protocol: u8,
    /// Identification, offset in bytes, and whether more fragments follow; none for a whole packet.
    fragment: Option<(u32, u16, bool)>,
    /// Bytes of headers.
    pub header_len: usize,
    /// Bytes behind them.
    payload_len: usize,
}

/// What a packet's ends are in both families, and what its ports become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Source and destination.
    pub v4: [Ipv4Addr; 2],
    /// The same in IPv6.
    pub v6: [Ipv6Addr; 2],
    /// New source and destination port, the identifier of an echo twice; `None` if they stay.
    pub ports: Option<[u16; 2]>,
}

/// The new header: its bytes, and how many of them count.
type NewHeader = ([u8; ipv6::HEADER_LEN + FRAGMENT_HEADER_LEN], usize);

/// Reads an IPv4 header, of which no more than this needs to be there.
fn read4(bytes: &[u8]) -> Result<Head<Ipv4Addr>, Refusal> {
    let header = ipv4::header_bytes(bytes).map_err(|_| MALFORMED)?;
    let ip = ipv4::Header::new_checked(header).map_err(|_| MALFORMED)?;
    let routes = [ipv4::option::LOOSE_SOURCE_ROUTE, ipv4::option::STRICT_SOURCE_ROUTE];
    if ip.version() != 4 || usize::from(ip.total_len()) < header.len() {
        return Err(MALFORMED);
    }
    if !ip.has_no_options()
        && ipv4::options(header).map_err(|_| MALFORMED)?.flatten().any(|option| routes.contains(&option.kind))
    {
        return Err(SOURCE_ROUTE);
    }
    let fragment =
        ip.is_fragment().then(|| (u32::from(ip.id()), ip.fragment_offset() as u16, ip.more_fragments()));
    Ok(Head {
        ends: [ip.src(), ip.dst()],
        class: ip.tos(),
        hops: ip.ttl(),
        protocol: if ip.protocol() == ICMP { ICMPV6 } else { ip.protocol() },
        fragment,
        header_len: header.len(),
        payload_len: usize::from(ip.total_len()) - header.len(),
    })
}

/// Reads an IPv6 header with its extension headers, of which no more than this needs to be there.
fn read6(bytes: &[u8]) -> Result<Head<Ipv6Addr>, Refusal> {
    let ip = ipv6::Header::new_checked(bytes).map_err(|_| MALFORMED)?;
    if ip.version() != 6 {
        return Err(MALFORMED);
    }
    let (mut at, mut protocol, mut fragment) = (ipv6::HEADER_LEN, ip.next_header(), None);
    for _ in 0..=MAX_EXTENSION_HEADERS {
        let rest = bytes.get(at..).ok_or(MALFORMED)?;
        let [next, words, _, left] = match protocol {
            HOP_BY_HOP | DESTINATION_OPTIONS | ROUTING | FRAGMENT => *rest.first_chunk().ok_or(MALFORMED)?,
            _ => break,
        };
        match protocol {
            ROUTING if left != 0 => return Err(SOURCE_ROUTE),
            FRAGMENT => {
                let header = Fragment::new_checked(rest).map_err(|_| MALFORMED)?;
                fragment = Some((header.id(), header.offset() as u16, header.more_fragments()));
                at += FRAGMENT_HEADER_LEN;
            }
            _ => at += 8 + usize::from(words) * 8,
        }
        protocol = next;
    }
    let payload_len = (ipv6::HEADER_LEN + usize::from(ip.payload_len())).checked_sub(at).ok_or(MALFORMED)?;
    let (class, hops) = (ip.traffic_class(), ip.hop_limit());
    Ok(Head { ends: [ip.src(), ip.dst()], class, hops, protocol, fragment, header_len: at, payload_len })
}

impl<A> Head<A> {
    /// As an IPv6 header for this much payload.
    fn write6(&self, [src, dst]: [Ipv6Addr; 2], payload_len: usize) -> Result<NewHeader, Refusal> {
        let mut bytes = [0; ipv6::HEADER_LEN + FRAGMENT_HEADER_LEN];
        let (fixed, extension) = bytes.split_first_chunk_mut().ok_or(MALFORMED)?;
        let len =
            if self.fragment.is_some() { ipv6::HEADER_LEN + FRAGMENT_HEADER_LEN } else { ipv6::HEADER_LEN };
        let mut ip = ipv6::Header::new(fixed);
        ip.set_version_class_flow(self.class, 0);
        ip.set_payload_len(u16::try_from(len - ipv6::HEADER_LEN + payload_len).map_err(|_| TOO_LONG)?);
        ip.set_next_header(self.protocol);
        ip.set_hop_limit(self.hops);
        ip.set_src(src);
        ip.set_dst(dst);
        if let Some((id, offset, more)) = self.fragment {
            ip.set_next_header(FRAGMENT);
            let mut header = Fragment::new_checked_mut(extension).map_err(|_| MALFORMED)?;
            header.set_next_header(self.protocol);
            header.set_offset(offset, more);
            header.set_id(id);
        }
        Ok((bytes, len))
    }

    /// As an IPv4 header for this much payload; `id` is for a whole packet, which may be fragmented later.
    fn write4(&self, [src, dst]: [Ipv4Addr; 2], payload_len: usize, id: u16) -> Result<NewHeader, Refusal> {
        let mut bytes = [0; ipv6::HEADER_LEN + FRAGMENT_HEADER_LEN];
        let len = ipv4::HEADER_LEN;
        let total_len = len + payload_len;
        let mut ip = ipv4::Header::new_checked_mut(&mut bytes).map_err(|_| MALFORMED)?;
        ip.set_version_and_header_len(len);
        ip.set_tos(self.class);
        ip.set_total_len(u16::try_from(total_len).map_err(|_| TOO_LONG)?);
        match self.fragment {
            Some((id, offset, more)) => {
                ip.set_id(id as u16); // its lower half
                let more = if more { ipv4::FLAG_MF } else { 0 };
                ip.set_fragment_field((offset / 8) | more);
            }
            None => {
                ip.set_id(id);
                ip.set_fragment_field(if total_len <= MAY_FRAGMENT { 0 } else { ipv4::FLAG_DF });
            }
        }
        ip.set_ttl(self.hops);
        ip.set_protocol(if self.protocol == ICMPV6 { ICMP } else { self.protocol });
        ip.set_src(src);
        ip.set_dst(dst);
        ip.fill_checksum();
        Ok((bytes, len))
    }

    fn is_later_fragment(&self) -> bool {
        self.fragment.is_some_and(|(_, offset, _)| offset > 0)
    }

    /// Whether there is more of the datagram elsewhere.
    pub fn is_part(&self) -> bool {
        self.fragment.is_some_and(|(_, offset, more)| offset > 0 || more)
    }

    /// Sets the ports of a TCP or UDP header, and corrects the checksum for them and for the addresses that it covers. The sums of all
    /// else that it covers are the same in both worlds.
    fn adjust(&self, payload: &mut [u8], change: &Change, to6: bool) {
        let at = match self.protocol {
            TCP => 16,
            UDP => 6,
            _ => return,
        };
        if self.is_later_fragment() {
            return;
        }
        // The difference of the pseudo-headers, in one's complement: subtracting is adding the complement.
        let [four, six] =
            [pseudo_v4(change.v4[0], change.v4[1], 0, 0), pseudo_v6(change.v6[0], change.v6[1], 0, 0)];
        let (from, to) = if to6 { (four, six) } else { (six, four) };
        let mut difference = to.add_u16(from.checksum());
        if let (Some([source, destination]), Some(ports)) = (change.ports, payload.first_chunk_mut::<4>()) {
            let [a, b, c, d] = *ports;
            difference = difference.add_u16(!u16::from_be_bytes([a, b])).add_u16(!u16::from_be_bytes([c, d]));
            difference = difference.add_u16(source).add_u16(destination);
            *ports = (u32::from(source) << 16 | u32::from(destination)).to_be_bytes();
        }
        let Some(field) = payload.get_mut(at..at + 2).and_then(|bytes| bytes.first_chunk_mut::<2>()) else {
            return;
        };
        let old = u16::from_be_bytes(*field);
        if self.protocol == UDP && old == 0 {
            return;
        }
        let new = difference.add_u16(!old).checksum();
        *field = if self.protocol == UDP && new == 0 { [0xff; 2] } else { new.to_be_bytes() };
    }
}

/// Cuts off what follows a packet.
fn trim(packet: &mut Packet, len: usize) -> Result<(), Refusal> {
    let padding = packet.len().checked_sub(len).ok_or(MALFORMED)?;
    if packet.take(padding) { Ok(()) } else { Err(MALFORMED) }
}

/// Replaces the first bytes of a packet.
fn replace(packet: &mut Packet, old_len: usize, (bytes, len): NewHeader) -> Result<(), Refusal> {
    let moved = packet.pull(old_len) && packet.prepend(len);
    if !moved {
        return Err(TOO_LONG);
    }
    packet.data_mut()[..len].copy_from_slice(&bytes[..len]);
    packet.set_network(0, len);
    Ok(())
}

/// Reads a packet that begins with an IPv4 header, and cuts off what a link has padded.
///
/// # Errors
/// It is malformed, or has a source route.
pub fn begin4(packet: &mut Packet) -> Result<Head<Ipv4Addr>, Refusal> {
    let extent = ipv4::check(packet.data(), true).map_err(|_| MALFORMED)?;
    let head = read4(packet.data())?;
    trim(packet, extent.total_len)?;
    Ok(head)
}

/// The same for IPv6.
///
/// # Errors
/// It is malformed, or has a routing header with segments left.
pub fn begin6(packet: &mut Packet) -> Result<Head<Ipv6Addr>, Refusal> {
    let total_len = ipv6::check(packet.data()).map_err(|_| MALFORMED)?;
    let head = read6(packet.data())?;
    trim(packet, total_len)?;
    Ok(head)
}

/// A packet that an ICMP error quotes: its head, and what there is of it behind that.
pub type Quoted<'p, A> = (Head<A>, &'p [u8]);

/// The packet that is quoted, if this is an ICMP error that has a translation. The head is that of the packet itself.
///
/// # Errors
/// It is no packet.
pub fn quoted4<'p>(
    packet: &'p Packet,
    head: &Head<Ipv4Addr>,
) -> Result<Option<Quoted<'p, Ipv4Addr>>, Refusal> {
    let Some(bytes) = icmp::quoted(packet, head, true) else { return Ok(None) };
    let inner = read4(bytes)?;
    Ok(Some((inner, bytes.get(inner.header_len..).ok_or(MALFORMED)?)))
}

/// The same for IPv6.
///
/// # Errors
/// It is no packet.
pub fn quoted6<'p>(
    packet: &'p Packet,
    head: &Head<Ipv6Addr>,
) -> Result<Option<Quoted<'p, Ipv6Addr>>, Refusal> {
    let Some(bytes) = icmp::quoted(packet, head, false) else { return Ok(None) };
    let inner = read6(bytes)?;
    Ok(Some((inner, bytes.get(inner.header_len..).ok_or(MALFORMED)?)))
}

/// Makes an IPv6 packet of an IPv4 packet. An ICMP error has another change for the packet that it quotes.
///
/// # Errors
/// There is no such IPv6 packet.
pub fn to_ipv6(
    packet: &mut Packet,
    head: &Head<Ipv4Addr>,
    change: &Change,
    quoted: Option<&Change>,
) -> Result<(), Refusal> {
    let payload = &mut packet.data_mut()[head.header_len..];
    match head.protocol {
        ICMPV6 if head.is_part() => return Err(FRAGMENTED_ICMP),
        ICMPV6 => icmp::to_icmpv6(packet, head, change, quoted)?,
        UDP => add_udp_checksum(payload, head)?,
        _ => {}
    }
    let payload_len = packet.len() - head.header_len;
    head.adjust(&mut packet.data_mut()[head.header_len..], change, true);
    replace(packet, head.header_len, head.write6(change.v6, payload_len)?)?;
    packet.set_dst_ip6(change.v6[1]);
    Ok(())
}

/// Whether a packet is UDP without a checksum.
pub fn has_no_udp_checksum(packet: &Packet, head: &Head<Ipv4Addr>) -> bool {
    let is_first = head.protocol == UDP && !head.is_later_fragment();
    is_first && packet.data().get(head.header_len + 6..head.header_len + 8) == Some(&[0, 0])
}

/// IPv6 has no UDP without checksum.
fn add_udp_checksum(payload: &mut [u8], head: &Head<Ipv4Addr>) -> Result<(), Refusal> {
    let none = !head.is_later_fragment() && payload.get(6..8) == Some(&[0, 0]);
    match none {
        true if head.fragment.is_some() => Err(NO_UDP_CHECKSUM),
        true => udp::fill_checksum_v4(head.ends[0], head.ends[1], payload).map_err(|_| MALFORMED),
        false => Ok(()),
    }
}

/// Makes an IPv4 packet of an IPv6 packet. An ICMP error has another change for the packet that it quotes. `id` identifies a whole
/// packet.
///
/// # Errors
/// There is no such IPv4 packet.
pub fn to_ipv4(
    packet: &mut Packet,
    head: &Head<Ipv6Addr>,
    change: &Change,
    quoted: Option<&Change>,
    id: u16,
) -> Result<(), Refusal> {
    if head.protocol == ICMPV6 {
        if head.is_part() {
            return Err(FRAGMENTED_ICMP);
        }
        icmp::to_icmpv4(packet, head, change, quoted)?;
    }
    let payload_len = packet.len() - head.header_len;
    head.adjust(&mut packet.data_mut()[head.header_len..], change, false);
    replace(packet, head.header_len, head.write4(change.v4, payload_len, id)?)?;
    packet.set_dst_ip(change.v4[1]);
    Ok(())
}
