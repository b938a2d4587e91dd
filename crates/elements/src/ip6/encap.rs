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

/// Puts a header in front, made from a template, and the bytes `more` behind it; marks it and sets the destination annotation. Says why
/// the packet is to be dropped, if it is.
#[inline(always)] // so that it is made in registers
pub(super) fn push_header<const MORE: usize>(
    packet: &mut Packet,
    template: [u8; HEADER_LEN],
    destination: Ipv6Addr,
    more: [u8; MORE],
) -> Result<(), &'static str> {
    let payload_len = u16::try_from(packet.len() + MORE).map_err(|_| NO_FIT)?;
    packet.set_dst_ip6(destination);
    let Some((bytes, rest)) = packet.push_network() else {
        return push_far(packet, template, destination, more);
    };
    *rest = more;
    write(bytes, template, destination, payload_len);
    Ok(())
}

/// The same where the data has to move in its buffer, or lies far behind.
#[cold]
#[inline(never)] // the usual keeps all it needs in registers
fn push_far<const MORE: usize>(
    packet: &mut Packet,
    template: [u8; HEADER_LEN],
    destination: Ipv6Addr,
    more: [u8; MORE],
) -> Result<(), &'static str> {
    let payload_len = u16::try_from(packet.len() + MORE).map_err(|_| NO_FIT)?;
    let (bytes, rest) = packet.push_arrays().ok_or(NO_ROOM)?;
    *rest = more;
    write(bytes, template, destination, payload_len);
    packet.set_network(0, HEADER_LEN);
    Ok(())
}

#[inline(always)]
fn write(bytes: &mut [u8; HEADER_LEN], template: [u8; HEADER_LEN], destination: Ipv6Addr, payload_len: u16) {
    *bytes = template;
    let mut ip = Header::new(bytes);
    ip.set_payload_len(payload_len);
    ip.set_dst(destination);
}
