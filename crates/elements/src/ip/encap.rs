//! What the elements that put IP headers in front of packets have in common.

use packet::Packet;
use router::{FromArg, Scope};
use std::net::Ipv4Addr;
use wire::checksum::Sum;
use wire::ipv4::{HEADER_LEN, Header};

/// Why packets are dropped that the length field of IP, or a buffer, cannot hold.
pub(super) const NO_FIT: &str = "too long for an IP packet";

/// Where the new packets go.
#[derive(Clone, Copy, Debug)]
pub(super) enum Destination {
    Address(Ipv4Addr),
    /// Where the destination address annotation says.
    Annotation,
}

impl Destination {
    /// Where a packet goes.
    #[inline]
    pub(super) fn of(self, packet: &Packet) -> Ipv4Addr {
        match self {
            Destination::Address(address) => address,
            Destination::Annotation => packet.dst_ip(),
        }
    }
}

impl FromArg for Destination {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match text {
            "DST_ANNO" => Ok(Destination::Annotation),
            _ => Ipv4Addr::from_arg(text, scope).map(Destination::Address),
        }
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Destination::Address(address) => address.fmt(f),
            Destination::Annotation => f.write_str("DST_ANNO"),
        }
    }
}

/// A header without options, to be completed for each packet.
pub(super) fn template(protocol: u8, ttl: u8) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let mut ip = Header::new(&mut bytes);
    ip.set_version_and_header_len(HEADER_LEN);
    ip.set_ttl(ttl);
    ip.set_protocol(protocol);
    bytes
}

/// Puts a header in front, made from a template in which length, identification, checksum and destination are zero; marks it and sets the destination address annotation. The destination;
/// none, and nothing changed, if the packet becomes too long.
#[inline]
pub(super) fn push_header(
    packet: &mut Packet,
    template: &[u8; HEADER_LEN],
    destination: Destination,
    id: u16,
) -> Option<Ipv4Addr> {
    let len = u16::try_from(packet.len() + HEADER_LEN).ok()?;
    let dst = destination.of(packet);
    if !packet.push(HEADER_LEN) {
        return None;
    }
    // What is written here is not read here: loads that span several stores just made would wait for all of them.
    let sum = Sum::of_20(template).add_u16(len).add_u16(id).add_u32(dst.to_bits());
    if let Some(bytes) = packet.data_mut().first_chunk_mut::<HEADER_LEN>() {
        *bytes = *template;
        let mut ip = Header::new(bytes);
        ip.set_total_len(len);
        ip.set_id(id);
        ip.set_dst(dst);
        ip.set_checksum(sum.checksum());
    }
    packet.set_network(0, HEADER_LEN);
    packet.set_dst_ip(dst);
    Some(dst)
}
