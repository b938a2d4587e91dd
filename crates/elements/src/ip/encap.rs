//! What the elements that put IP headers in front of packets have in common.

use packet::Packet;
use router::{FromArg, Scope};
use std::hint::cold_path;
use std::net::Ipv4Addr;
use wire::checksum::{Partial, Sum};
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

/// A header without options, to be completed for each packet: length, identification and checksum are zero, and so is the destination
/// unless it is the same for all.
pub(super) struct Template {
    header: [u8; HEADER_LEN],
    destination: Destination,
    /// The checksum as far as it is known.
    checksum: Partial,
}

impl Template {
    /// The template made of a header, of which the destination does not count.
    pub(super) fn new(header: [u8; HEADER_LEN], destination: Destination) -> Template {
        let mut header = header;
        Header::new(&mut header).set_dst(match destination {
            Destination::Address(address) => address,
            Destination::Annotation => Ipv4Addr::UNSPECIFIED,
        });
        Template { header, destination, checksum: Partial::of(Sum::of_20(&header)) }
    }

    /// The template with this protocol, time to live, source and destination; the rest is zero.
    pub(super) fn of(protocol: u8, ttl: u8, src: Ipv4Addr, destination: Destination) -> Template {
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
        Header::new(&self.header).src()
    }

    /// Changes the source.
    pub(super) fn set_src(&mut self, src: Ipv4Addr) {
        Header::new(&mut self.header).set_src(src);
        *self = Template::new(self.header, self.destination);
    }

    /// Where packets go.
    #[inline]
    pub(super) fn destination(&self) -> Destination {
        self.destination
    }

    /// Changes where packets go.
    pub(super) fn set_destination(&mut self, destination: Destination) {
        *self = Template::new(self.header, destination);
    }
}

/// Puts a header in front, made from a template, and the bytes `more` behind it; marks it and sets the destination address annotation. None if
/// the packet becomes too long: it is to be dropped.
#[inline(always)] // so that it is made in registers
pub(super) fn push_header<const MORE: usize>(
    packet: &mut Packet,
    template: &Template,
    id: u16,
    more: [u8; MORE],
) -> Option<()> {
    let Ok(len) = u16::try_from(packet.len() + HEADER_LEN + MORE) else {
        cold_path();
        return None;
    };
    let made = Made::new(packet, template, id, len);
    // What is written here is not read here: loads that span several stores just made would wait for all of them.
    let Some((bytes, rest)) = packet.push_network() else { return push_far(packet, template, id, more) };
    *rest = more;
    made.write(template, bytes);
    Some(())
}

/// The same where the data has to move in its buffer, or lies far behind.
#[cold]
#[inline(never)] // the usual keeps all it needs in registers
fn push_far<const MORE: usize>(
    packet: &mut Packet,
    template: &Template,
    id: u16,
    more: [u8; MORE],
) -> Option<()> {
    let len = u16::try_from(packet.len() + HEADER_LEN + MORE).ok()?;
    let made = Made::new(packet, template, id, len);
    let (bytes, rest) = packet.push_arrays()?;
    *rest = more;
    made.write(template, bytes);
    packet.set_network(0, HEADER_LEN);
    Some(())
}

/// What a header has that its template does not.
struct Made {
    len: u16,
    id: u16,
    destination: Ipv4Addr,
    checksum: Partial,
}

impl Made {
    /// That of a packet, whose destination address annotation is set unless the destination comes from there.
    #[inline(always)]
    fn new(packet: &mut Packet, template: &Template, id: u16, len: u16) -> Made {
        let checksum = template.checksum.add_words([len, id]);
        match template.destination {
            Destination::Address(_) => {
                let destination = Header::new(&template.header).dst();
                packet.set_dst_ip(destination);
                Made { len, id, destination, checksum }
            }
            Destination::Annotation => {
                let destination = packet.dst_ip();
                let [a, b, c, d] = destination.octets();
                let words = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
                Made { len, id, destination, checksum: checksum.add_words(words) }
            }
        }
    }

    #[inline(always)]
    fn write(self, template: &Template, bytes: &mut [u8; HEADER_LEN]) {
        *bytes = template.header;
        let mut ip = Header::new(bytes);
        ip.set_total_len_and_id(self.len, self.id);
        ip.set_dst(self.destination);
        ip.set_checksum(self.checksum.checksum());
    }
}
