//! What the elements that put IPv6 headers in front of packets have in common.

use packet::Packet;
use router::{FromArg, Scope};
use std::net::Ipv6Addr;
use wire::ipv6::{HEADER_LEN, Header};

/// Why packets are dropped that the length field of IPv6 cannot hold.
pub(super) const NO_FIT: &str = "too long for an IPv6 packet";
/// Why packets are dropped that have no room.
pub(super) const NO_ROOM: &str = "no room for an IPv6 header";

/// What is wrong with an argument that is no [`Destination`].
pub(super) const NO_DESTINATION: &str = "DST argument should be IP address or 'DST_ANNO'";

/// Where packets go; none: where their annotation says.
#[derive(Clone, Copy)]
pub(super) struct Destination(pub(super) Option<Ipv6Addr>);

impl Destination {
    /// Where a packet goes.
    #[inline]
    pub(super) fn of(self, packet: &Packet) -> Ipv6Addr {
        self.0.unwrap_or_else(|| packet.dst_ip6())
    }
}

impl FromArg for Destination {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        match text {
            "DST_ANNO" => Ok(Destination(None)),
            _ => Ipv6Addr::from_arg(text, scope).map(|address| Destination(Some(address))),
        }
    }
}

impl std::fmt::Display for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(address) => address.fmt(f),
            None => f.write_str("DST_ANNO"),
        }
    }
}

/// A header, to be completed for each packet.
pub(super) fn template(next_header: u8, class: u8, hop_limit: u8, src: Ipv6Addr) -> [u8; HEADER_LEN] {
    let mut bytes = [0; HEADER_LEN];
    let mut ip = Header::new(&mut bytes);
    ip.set_version_class_flow(class, 0);
    ip.set_next_header(next_header);
    ip.set_hop_limit(hop_limit);
    ip.set_src(src);
    bytes
}

/// Puts `N` bytes of headers in front: an IPv6 header made from a template, and what `complete` writes behind it.
/// Marks it and sets the destination annotation. Says why the packet is to be dropped, if it is.
#[inline(always)] // so that it is made in registers
pub(super) fn push_headers<const N: usize>(
    packet: &mut Packet,
    template: [u8; HEADER_LEN],
    destination: Ipv6Addr,
    complete: impl Fn(&mut [u8]),
) -> Result<(), &'static str> {
    packet.set_dst_ip6(destination);
    let payload_len = (packet.len() + N - HEADER_LEN) as u16; // if it does not fit, the packet is not near
    let Some(bytes) = packet.push_network::<N>(HEADER_LEN) else {
        return push_far::<N>(packet, template, destination, complete);
    };
    write(bytes, template, destination, payload_len, complete)
}

/// The same where the data has to move in its buffer, ends far behind, or is too long.
#[cold]
#[inline(never)] // the usual keeps all it needs in registers
fn push_far<const N: usize>(
    packet: &mut Packet,
    template: [u8; HEADER_LEN],
    destination: Ipv6Addr,
    complete: impl Fn(&mut [u8]),
) -> Result<(), &'static str> {
    let payload_len = u16::try_from(packet.len() + N - HEADER_LEN).map_err(|_| NO_FIT)?;
    let bytes = packet.push_array::<N>().ok_or(NO_ROOM)?;
    write(bytes, template, destination, payload_len, complete)?;
    packet.set_network(0, HEADER_LEN);
    Ok(())
}

/// Never fails, since there is an IP header.
#[inline(always)]
fn write<const N: usize>(
    bytes: &mut [u8; N],
    template: [u8; HEADER_LEN],
    destination: Ipv6Addr,
    payload_len: u16,
    complete: impl Fn(&mut [u8]),
) -> Result<(), &'static str> {
    const { assert!(N >= HEADER_LEN) };
    let (header, rest) = bytes.split_first_chunk_mut().ok_or(NO_ROOM)?;
    complete(rest);
    *header = template;
    let mut ip = Header::new(header);
    ip.set_payload_len(payload_len);
    ip.set_dst(destination);
    Ok(())
}
