//! What the elements that put IP headers in front of packets have in common.

use elements_shared::ecn;
use elements_shared::identification::Identification;
use packet::Packet;
use router::{FromArg, Scope};
use std::net::Ipv4Addr;
use wire::checksum::{Partial, Sum};
use wire::ip_proto;
use wire::ipv4::{HEADER_LEN, Header};

/// Why packets are dropped that the length field of IP, or a buffer, cannot hold.
pub(super) const NO_FIT: &str = "too long for an IP packet";
/// What is wrong with an argument that is no [`Destination`].
pub(super) const NO_DESTINATION: &str = "DST argument should be IP address or 'DST_ANNO'";

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

/// Where the congestion mark of a new header comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkOf {
    /// It is the same for all packets.
    Fixed,
    /// The IP packet that it is put in front of (RFC 6040, section 4.1).
    Inner,
    /// The IP packet inside, which what encrypted it or put a header in front has noted.
    Enclosed,
}

impl MarkOf {
    /// For a header with this protocol.
    pub(crate) fn protocol(protocol: u8) -> MarkOf {
        match protocol {
            ip_proto::IPIP | ip_proto::IPV6 => MarkOf::Inner,
            ip_proto::ESP | ip_proto::GRE => MarkOf::Enclosed,
            _ => MarkOf::Fixed,
        }
    }

    /// The mark that the header of a packet is to have; 0 also where it stays as it is.
    #[inline]
    pub(crate) fn mark(self, packet: &mut Packet) -> u8 {
        match self {
            MarkOf::Fixed => 0,
            MarkOf::Inner => ecn::mark(packet.data()).unwrap_or(0),
            MarkOf::Enclosed => {
                let mark = packet.enclosed_ecn();
                packet.set_enclosed_ecn(0);
                mark
            }
        }
    }
}

/// The IP header without options that goes in front of packets, and what lies behind it, `N` bytes in all: to be
/// completed for each packet. Length, identification and checksum are zero, and so is the destination unless it is
/// the same for all.
pub(super) struct Template<const N: usize> {
    bytes: [u8; N],
    destination: Destination,
    /// The IP header's checksum as far as it is known.
    checksum: Partial,
}

impl<const N: usize> Template<N> {
    /// The template made of an IP header, of which the destination does not count, with zeros behind it.
    pub(super) fn new(header: [u8; HEADER_LEN], destination: Destination) -> Template<N> {
        const { assert!(N >= HEADER_LEN) };
        let mut bytes = [0; N];
        bytes[..HEADER_LEN].copy_from_slice(&header);
        let mut template = Template { bytes, destination, checksum: Partial::of(Sum::ZERO) };
        template.set_destination(destination);
        template
    }

    /// The template with this protocol, time to live, source and destination; the rest is zero.
    pub(super) fn of(protocol: u8, ttl: u8, src: Ipv4Addr, destination: Destination) -> Template<N> {
        let mut header = [0; HEADER_LEN];
        let mut ip = Header::new(&mut header);
        ip.set_version_and_header_len(HEADER_LEN);
        ip.set_ttl(ttl);
        ip.set_protocol(protocol);
        ip.set_src(src);
        Template::new(header, destination)
    }

    /// The source.
    #[inline]
    pub(super) fn src(&self) -> Ipv4Addr {
        self.bytes.first_chunk().map_or(Ipv4Addr::UNSPECIFIED, |header| Header::new(header).src())
    }

    /// Changes the source.
    pub(super) fn set_src(&mut self, src: Ipv4Addr) {
        self.edit(|ip| ip.set_src(src));
    }

    /// Where packets go.
    #[inline]
    pub(super) fn destination(&self) -> Destination {
        self.destination
    }

    /// Changes where packets go.
    pub(super) fn set_destination(&mut self, destination: Destination) {
        self.destination = destination;
        self.edit(|ip| {
            ip.set_dst(match destination {
                Destination::Address(address) => address,
                Destination::Annotation => Ipv4Addr::UNSPECIFIED,
            });
        });
    }

    fn edit(&mut self, change: impl FnOnce(&mut Header<&mut [u8; HEADER_LEN]>)) {
        if let Some(header) = self.bytes.first_chunk_mut() {
            change(&mut Header::new(&mut *header));
            self.checksum = Partial::of(Sum::of_20(header));
        }
    }

    /// The bytes behind the IP header.
    pub(super) fn rest_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[HEADER_LEN..]
    }

    /// Where a packet goes; says so in its destination address annotation, unless that says so itself.
    #[inline(always)]
    fn direct<const ANNOTATION: bool>(&self, packet: &mut Packet) -> Ipv4Addr {
        match self.bytes.first_chunk() {
            Some(header) if !ANNOTATION => {
                let destination = Header::new(header).dst();
                packet.set_dst_ip(destination);
                destination
            }
            _ => packet.dst_ip(),
        }
    }

    /// Writes the headers of a packet that has `len` bytes with them. Never none, since there is an IP header.
    #[inline(always)]
    fn write<const ANNOTATION: bool>(
        &self,
        bytes: &mut [u8; N],
        len: u32,
        id: Identification,
        destination: Ipv4Addr,
        complete: impl Fn(&mut [u8]),
    ) -> Option<()> {
        *bytes = self.bytes;
        let (header, rest) = bytes.split_first_chunk_mut()?;
        complete(rest);
        let (mut ip, len_and_id) = (Header::new(header), id.behind(len));
        let mut checksum = self.checksum.with(len_and_id);
        ip.set_total_len_and_id(len_and_id);
        if ANNOTATION {
            checksum = checksum.with(destination.octets());
            ip.set_dst(destination);
        }
        ip.set_checksum_bytes(checksum.checksum());
        Some(())
    }
}

/// Puts headers in front, made from a template, of which `complete` fills in what lies behind the IP header; marks it
/// and sets the destination address annotation, unless the destination comes from there (`ANNOTATION`, which the caller
/// reads once for a whole batch). None if the packet becomes too long: it is to be dropped.
#[inline(always)] // so that they are made in registers
pub(super) fn push_headers<const ANNOTATION: bool, const N: usize>(
    packet: &mut Packet,
    template: &Template<N>,
    id: Identification,
    complete: impl Fn(&mut [u8]),
) -> Option<()> {
    let destination = template.direct::<ANNOTATION>(packet);
    let len = (packet.len() + N) as u32; // if it has more than 16 bits, the packet is not near
    let Some(bytes) = packet.push_network(HEADER_LEN) else {
        return push_far::<ANNOTATION, N>(packet, template, id, destination, complete);
    };
    template.write::<ANNOTATION>(bytes, len, id, destination, complete)
}

/// The same where the data has to move in its buffer, ends far behind, or is too long.
#[cold]
#[inline(never)] // the usual keeps all it needs in registers
fn push_far<const ANNOTATION: bool, const N: usize>(
    packet: &mut Packet,
    template: &Template<N>,
    id: Identification,
    destination: Ipv4Addr,
    complete: impl Fn(&mut [u8]),
) -> Option<()> {
    let len = u16::try_from(packet.len() + N).ok()?;
    template.write::<ANNOTATION>(packet.push_array()?, len.into(), id, destination, complete)?;
    packet.set_network(0, HEADER_LEN);
    Some(())
}
