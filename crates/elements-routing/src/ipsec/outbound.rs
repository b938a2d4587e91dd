//! From the protected side: which packets are protected, and how that is done (RFC 4301, section 5.1; RFC 4303, section 3.3).

use super::associations::Sa;
use super::flow::Upper;
use ciphers::CHECK_LEN;
use elements_shared::ipsec_port::Mode;
use packet::Packet;
use std::net::IpAddr;
use wire::checksum::Sum;
use wire::{esp, ip_proto, ipv4, ipv6, udp};

/// Hops that a tunnel's packets may take.
const HOPS: u8 = 64;
/// Links of IPv6 carry packets of so many octets, and senders need not send smaller ones (RFC 8200, section 5).
const MTU6_LEAST: usize = 1280;

/// Octets that a tunnel puts in front of a packet.
fn outer_len(sa: &Sa) -> usize {
    let ip = if sa.destination.is_ipv4() { ipv4::HEADER_LEN } else { ipv6::HEADER_LEN };
    ip + ports_len(sa)
}

fn ports_len(sa: &Sa) -> usize {
    if sa.ports.is_some() { udp::HEADER_LEN } else { 0 }
}

/// The longest packet that is no longer than `mtu` when it is protected.
pub(crate) fn fitting(sa: &Sa, mtu: usize, header_len: usize) -> usize {
    let front = esp::HEADER_LEN + sa.cipher.iv_len() + CHECK_LEN;
    let (outside, stays) = match sa.mode {
        Mode::Tunnel => (outer_len(sa), 0),
        Mode::Transport => (header_len + ports_len(sa), header_len),
    };
    let text = mtu.saturating_sub(outside + front);
    (text - text % sa.cipher.alignment()).saturating_sub(esp::TRAILER_LEN) + stays
}

/// The MTU that the sender of a packet is to be told that is longer than fits, if it may not be cut.
pub(crate) fn too_long(fits: usize, upper: Upper, packet: &[u8]) -> Option<usize> {
    match upper.six {
        // What must pass, passes: the outer packet is cut.
        true => (packet.len() > fits.max(MTU6_LEAST)).then(|| fits.max(MTU6_LEAST)),
        false => ipv4::Header::new_checked(packet).is_ok_and(|ip| ip.dont_fragment()).then_some(fits),
    }
}

/// Octets of ESP in front of a text.
fn front_len(sa: &Sa) -> usize {
    esp::HEADER_LEN + sa.cipher.iv_len()
}

/// Makes room in a packet for what protects it, and writes the trailer. Otherwise the reason why that cannot be.
///
/// It is done for a batch before any of its packets is encrypted: a vector that is loaded from where its parts were just stored would wait for them.
#[inline]
pub(crate) fn make_room(sa: &Sa, upper: Upper, packet: &mut Packet) -> Result<(), &'static str> {
    let (outside, stays, next) = match sa.mode {
        Mode::Tunnel => (outer_len(sa), 0, if upper.six { ip_proto::IPV6 } else { ip_proto::IPIP }),
        Mode::Transport => {
            if upper.is_fragment {
                return Err("a fragment, in transport mode");
            }
            if sa.destination.is_ipv6() != upper.six || upper.offset as usize > packet.len() {
                return Err("of another family than the association");
            }
            (ports_len(sa), upper.offset as usize, upper.protocol)
        }
    };
    let (len, front) = (packet.len(), outside + front_len(sa));
    let tail = esp::padding(len - stays, sa.cipher.alignment()) + esp::TRAILER_LEN + CHECK_LEN;
    if front + len + tail > usize::from(u16::MAX) {
        return Err("too long");
    }
    if !packet.put(tail) || !packet.prepend(front) {
        return Err("no room");
    }
    let data = packet.data_mut();
    let end = data.len() - CHECK_LEN;
    esp::fill_trailer(&mut data[front + len..end], next);
    if stays > 0 {
        data.copy_within(front..front + stays, 0);
    }
    Ok(())
}

/// Makes the packet, which has the room, one of ESP, with a number that no other has. Otherwise the reason why not.
#[inline]
pub(crate) fn protect(
    sa: &Sa,
    number: u64,
    upper: Upper,
    packet: &mut Packet,
    copy_df: bool,
) -> Result<(), &'static str> {
    if number > sa.last_number() {
        return Err("sequence numbers are used up");
    }
    match sa.mode {
        Mode::Tunnel => tunnel(sa, number, upper.six, packet, copy_df),
        Mode::Transport => transport(sa, number, upper, packet),
    }
}

/// Behind a new header.
#[inline]
fn tunnel(sa: &Sa, number: u64, six: bool, packet: &mut Packet, copy_df: bool) -> Result<(), &'static str> {
    let outer = outer_len(sa);
    let Some((head, rest)) = packet.data_mut().split_at_mut_checked(outer) else { return Err("no room") };
    let inner = rest.get(front_len(sa)..).unwrap_or_default();
    let class = class(inner);
    let keep_whole = copy_df && !six && ipv4::Header::new_checked(inner).is_ok_and(|ip| ip.dont_fragment());
    if !sa.seal(number, rest) {
        return Err("no room");
    }
    let payload = Ports { sa, len: rest.len() };
    let ip_len = outer - ports_len(sa);
    let (ip, ports) = head.split_at_mut(ip_len);
    if sa.ports.is_some() {
        payload.fill(ports, rest);
    }
    match (sa.source, sa.destination, ip.len()) {
        (IpAddr::V4(source), IpAddr::V4(destination), ipv4::HEADER_LEN) => {
            let total = (outer + rest.len()) as u16;
            let Ok(place) = <&mut [u8; ipv4::HEADER_LEN]>::try_from(ip) else { return Err("no room") };
            *place = ipv4::Plain {
                tos: class,
                total_len: total,
                id: number as u16,
                fragment_field: if keep_whole { 0x4000 } else { 0 },
                ttl: HOPS,
                protocol: payload.protocol(),
                src: source,
                dst: destination,
            }
            .bytes();
            packet.set_network(0, ipv4::HEADER_LEN);
            packet.set_dst_ip(destination);
        }
        (IpAddr::V6(source), IpAddr::V6(destination), _) => {
            let total = (outer - ipv6::HEADER_LEN + rest.len()) as u16;
            let Ok(mut header) = ipv6::Header::new_checked_mut(ip) else { return Err("no room") };
            header.set_version_class_flow(class, 0);
            header.set_payload_len(total);
            header.set_next_header(payload.protocol());
            header.set_hop_limit(HOPS);
            header.set_src(source);
            header.set_dst(destination);
            packet.set_network(0, ipv6::HEADER_LEN);
            packet.set_dst_ip6(destination);
        }
        _ => return Err("source and destination are of different families"),
    }
    packet.set_enclosed_ecn(class & 3);
    Ok(())
}

/// DSCP and ECN as they are in the packet, which the tunnel's header has, too (RFC 4301, section 5.1.2; RFC 6040, section 4.1).
fn class(packet: &[u8]) -> u8 {
    match packet {
        [first, second, ..] if first >> 4 == 4 => *second,
        [first, second, ..] => first << 4 | second >> 4,
        _ => 0,
    }
}

/// Behind its own header.
fn transport(sa: &Sa, number: u64, upper: Upper, packet: &mut Packet) -> Result<(), &'static str> {
    let (header_len, ports) = (upper.offset as usize, ports_len(sa));
    let (header, rest) = packet.data_mut().split_at_mut(header_len);
    let (port_header, rest) = rest.split_at_mut(ports);
    if !sa.seal(number, rest) {
        return Err("no room");
    }
    let payload = Ports { sa, len: rest.len() };
    payload.fill(port_header, rest);
    set_upper(header, payload.protocol(), ports + rest.len()).ok_or("a header that is not known")?;
    packet.set_network(0, header_len);
    Ok(())
}

/// Says in the headers of a packet what stands behind them, and how much.
pub(crate) fn set_upper(header: &mut [u8], protocol: u8, len: usize) -> Option<()> {
    let whole = header.len() + len;
    if header.first()? >> 4 == 4 {
        let mut ip = ipv4::Header::new_checked_mut(&mut *header).ok()?;
        ip.set_protocol(protocol);
        ip.set_total_len(whole as u16);
        return ipv4::fill_checksum(header).ok();
    }
    ipv6::Header::new_checked_mut(&mut *header).ok()?.set_payload_len((whole - ipv6::HEADER_LEN) as u16);
    let (mut at, mut next) = (6, ipv6::HEADER_LEN);
    while next < header.len() {
        // A fragment header has 8 octets, others say how many.
        let len =
            if header[at] == ip_proto::FRAGMENT { 8 } else { 8 + 8 * usize::from(*header.get(next + 1)?) };
        (at, next) = (next, next + len);
    }
    *header.get_mut(at)? = protocol;
    Some(())
}

/// What is between the IP header and ESP.
struct Ports<'s> {
    sa: &'s Sa,
    len: usize,
}

impl Ports<'_> {
    fn protocol(&self) -> u8 {
        if self.sa.ports.is_some() { ip_proto::UDP } else { ip_proto::ESP }
    }

    /// Writes the UDP header (RFC 3948, section 2.1): without a checksum over IPv4, and with one over IPv6.
    fn fill(&self, place: &mut [u8], esp: &[u8]) {
        let (Some((source, destination)), Ok(place)) =
            (self.sa.ports, <&mut [u8; udp::HEADER_LEN]>::try_from(place))
        else {
            return;
        };
        let (ports, len) = ([source, destination], (udp::HEADER_LEN + self.len) as u16);
        *place = match (self.sa.source, self.sa.destination) {
            (IpAddr::V6(from), IpAddr::V6(to)) => udp::header_v6(from, to, ports, len, Sum::of(esp)),
            _ => udp::header(ports, len, 0),
        };
    }
}
