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

/// A header without options, to be completed for each packet: length, identification, checksum and destination are zero.
pub(super) struct Template {
    header: [u8; HEADER_LEN],
    /// The sum of its bytes.
    sum: u16,
}

impl Template {
    /// The template made of a header.
    pub(super) fn new(header: [u8; HEADER_LEN]) -> Template {
        Template { header, sum: Sum::of_20(&header).fold() }
    }

    /// The template with this protocol, time to live and source; the rest is zero.
    pub(super) fn of(protocol: u8, ttl: u8, src: Ipv4Addr) -> Template {
        let mut header = [0; HEADER_LEN];
        let mut ip = Header::new(&mut header);
        ip.set_version_and_header_len(HEADER_LEN);
        ip.set_ttl(ttl);
        ip.set_protocol(protocol);
        ip.set_src(src);
        Template::new(header)
    }

    /// The source.
    #[inline]
    pub(super) fn src(&self) -> Ipv4Addr {
        Header::new(&self.header).src()
    }

    /// Changes the source.
    pub(super) fn set_src(&mut self, src: Ipv4Addr) {
        Header::new(&mut self.header).set_src(src);
        *self = Template::new(self.header);
    }
}

/// Puts a header in front, made from a template, and the bytes `more` behind it; marks it and sets the destination address annotation. None, and nothing changed, if the packet becomes
/// too long.
#[inline(always)] // so that it is made in registers
pub(super) fn push_header<const MORE: usize>(
    packet: &mut Packet,
    template: &Template,
    destination: Ipv4Addr,
    id: u16,
    more: [u8; MORE],
) -> Option<()> {
    let len = u16::try_from(packet.len() + HEADER_LEN + MORE).ok()?;
    let (bytes, rest) = packet.push_arrays()?;
    // What is written here is not read here: loads that span several stores just made would wait for all of them.
    let [a, b, c, d] = destination.octets();
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    let sum = Sum::of_words([template.sum, len, id, high, low]);
    *rest = more;
    *bytes = template.header;
    let mut ip = Header::new(bytes);
    ip.set_total_len(len);
    ip.set_id(id);
    ip.set_dst(destination);
    ip.set_checksum(sum.checksum());
    packet.set_network(0, HEADER_LEN);
    packet.set_dst_ip(destination);
    Some(())
}
