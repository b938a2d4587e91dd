//! The IPv6 header and its extension headers (RFC 8200).

use crate::field::{first, get_array, get_u8, get_u16, get_u32, set_array, set_u8, set_u16, set_u32, view};
use crate::{Error, ip_proto};
use std::net::Ipv6Addr;
use std::ops::{Deref, DerefMut, Range};

/// Octets in the fixed header.
pub const HEADER_LEN: usize = 40;
/// Where the octet is that says what follows the fixed header.
const NEXT_HEADER: usize = 6;
/// Octets in a fragment header.
pub const FRAGMENT_HEADER_LEN: usize = 8;
/// Most extension headers that [`upper_layer`] walks over. RFC 8200 wants each at most once, destination options
/// twice; longer chains only serve to tire routers.
pub const MAX_EXTENSION_HEADERS: usize = 8;

view! {
    /// The fixed IPv6 header.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Version; 6 in a valid packet.
    #[inline]
    pub fn version(&self) -> u8 {
        get_u8::<0, _>(&self.0) >> 4
    }

    /// Version, traffic class and flow label as they stand in the header.
    #[inline]
    pub fn version_class_flow(&self) -> u32 {
        get_u32::<0, _>(&self.0)
    }

    /// Traffic class: DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (self.version_class_flow() >> 20) as u8
    }

    /// Flow label, 20 bits.
    #[inline]
    pub fn flow_label(&self) -> u32 {
        self.version_class_flow() & 0xf_ffff
    }

    /// Octets after the fixed header; zero for a jumbogram.
    #[inline]
    pub fn payload_len(&self) -> u16 {
        get_u16::<4, _>(&self.0)
    }

    /// Protocol of what follows, see [`ip_proto`].
    #[inline]
    pub fn next_header(&self) -> u8 {
        get_u8::<6, _>(&self.0)
    }

    /// Hop limit.
    #[inline]
    pub fn hop_limit(&self) -> u8 {
        get_u8::<7, _>(&self.0)
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> Ipv6Addr {
        Ipv6Addr::from(get_array::<8, 16, _>(&self.0))
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> Ipv6Addr {
        Ipv6Addr::from(get_array::<24, 16, _>(&self.0))
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets version 6, the traffic class and the low 20 bits of the flow label.
    #[inline]
    pub fn set_version_class_flow(&mut self, traffic_class: u8, flow_label: u32) {
        let word = 6 << 28 | u32::from(traffic_class) << 20 | flow_label & 0xf_ffff;
        set_u32::<0, _>(&mut self.0, word);
    }

    /// Sets the traffic class only.
    #[inline]
    pub fn set_traffic_class(&mut self, traffic_class: u8) {
        let word = self.version_class_flow() & !(0xff << 20) | u32::from(traffic_class) << 20;
        set_u32::<0, _>(&mut self.0, word);
    }

    /// Sets the flow label only, from the low 20 bits.
    #[inline]
    pub fn set_flow_label(&mut self, flow_label: u32) {
        let word = self.version_class_flow() & !0xf_ffff | flow_label & 0xf_ffff;
        set_u32::<0, _>(&mut self.0, word);
    }

    /// Sets the payload length, in octets.
    #[inline]
    pub fn set_payload_len(&mut self, len: u16) {
        set_u16::<4, _>(&mut self.0, len);
    }

    /// Sets the next header.
    #[inline]
    pub fn set_next_header(&mut self, next_header: u8) {
        set_u8::<6, _>(&mut self.0, next_header);
    }

    /// Sets the hop limit.
    #[inline]
    pub fn set_hop_limit(&mut self, hop_limit: u8) {
        set_u8::<7, _>(&mut self.0, hop_limit);
    }

    /// Sets the source address.
    #[inline]
    pub fn set_src(&mut self, addr: Ipv6Addr) {
        set_array::<8, 16, _>(&mut self.0, addr.octets());
    }

    /// Sets the destination address.
    #[inline]
    pub fn set_dst(&mut self, addr: Ipv6Addr) {
        set_array::<24, 16, _>(&mut self.0, addr.octets());
    }
}

/// Checks a received header as Click's CheckIP6Header does (size, version, payload length) and returns the length
/// of the packet in octets, header included; bytes beyond it are link-layer padding.
///
/// # Errors
/// [`Error::Truncated`], [`Error::BadVersion`] or [`Error::BadLength`], the first that applies.
#[inline]
pub fn check(bytes: &[u8]) -> Result<usize, Error> {
    let header = Header::new_checked(bytes)?;
    if header.version() != 6 {
        return Err(Error::BadVersion);
    }
    let total_len = HEADER_LEN + usize::from(header.payload_len());
    if total_len > bytes.len() { Err(Error::BadLength) } else { Ok(total_len) }
}

view! {
    /// A fragment extension header (RFC 8200, section 4.5).
    Fragment, FRAGMENT_HEADER_LEN
}

impl<B: Deref<Target = [u8; FRAGMENT_HEADER_LEN]>> Fragment<B> {
    /// Protocol of the fragmented part's first header.
    #[inline]
    pub fn next_header(&self) -> u8 {
        get_u8::<0, _>(&self.0)
    }

    /// Offset of this fragment in the fragmented part, in octets.
    #[inline]
    pub fn offset(&self) -> usize {
        usize::from(get_u16::<2, _>(&self.0) & 0xfff8)
    }

    /// Whether fragments follow this one.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        get_u16::<2, _>(&self.0) & 1 != 0
    }

    /// Identification, common to the fragments of a packet.
    #[inline]
    pub fn id(&self) -> u32 {
        get_u32::<4, _>(&self.0)
    }
}

impl<B: DerefMut<Target = [u8; FRAGMENT_HEADER_LEN]>> Fragment<B> {
    /// Sets the next header and clears the reserved octet.
    #[inline]
    pub fn set_next_header(&mut self, next_header: u8) {
        set_u16::<0, _>(&mut self.0, u16::from(next_header) << 8);
    }

    /// Sets the offset, in octets (a multiple of eight; lower bits are lost), and the more-fragments flag.
    #[inline]
    pub fn set_offset(&mut self, offset: u16, more_fragments: bool) {
        set_u16::<2, _>(&mut self.0, offset & 0xfff8 | u16::from(more_fragments));
    }

    /// Sets the identification.
    #[inline]
    pub fn set_id(&mut self, id: u32) {
        set_u32::<4, _>(&mut self.0, id);
    }
}

/// Where the chain of extension headers ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpperLayer {
    /// Protocol of the upper layer, see [`ip_proto`]; [`ip_proto::NO_NEXT_HEADER`] if there is none.
    pub protocol: u8,
    /// Where it begins, in octets from the first of the IPv6 header.
    pub offset: usize,
    /// Where the fragment header begins, if there is one.
    pub fragment: Option<usize>,
    /// False if this is a later fragment, so that no upper-layer header is at `offset`.
    pub first_fragment: bool,
}

/// Walks over extension headers to the upper-layer protocol.
///
/// Stops at ESP, whose content is hidden, and after the fragment header of a later fragment. Looks at no more
/// than [`MAX_EXTENSION_HEADERS`] headers. The version and payload length are not checked; see [`check`].
///
/// # Errors
/// [`Error::Truncated`] if `bytes` ends within a header, [`Error::TooManyHeaders`].
#[inline]
pub fn upper_layer(bytes: &[u8]) -> Result<UpperLayer, Error> {
    let protocol = Header::new_checked(bytes)?.next_header();
    let mut at = UpperLayer { protocol, offset: HEADER_LEN, fragment: None, first_fragment: true };
    for _ in 0..=MAX_EXTENSION_HEADERS {
        if !is_extension(at.protocol) || !at.first_fragment {
            return Ok(at);
        }
        let rest = bytes.get(at.offset..).ok_or(Error::Truncated)?;
        let len = extension_len(at.protocol, rest)?;
        if at.protocol == ip_proto::FRAGMENT {
            at.fragment = Some(at.offset);
            at.first_fragment = Fragment::new_checked(rest)?.offset() == 0;
        }
        at.protocol = first::<2>(rest)?[0];
        at.offset += len;
    }
    Err(Error::TooManyHeaders)
}

/// An extension header of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Where it is.
    pub header: Range<usize>,
    /// Where the octet is, in the header before, that says that it comes.
    pub announced: usize,
}

/// The first extension header of a kind, if the packet has a whole one.
#[inline]
pub fn find_extension(bytes: &[u8], protocol: u8) -> Option<Extension> {
    let (mut current, mut at) = (Header::new_checked(bytes).ok()?.next_header(), HEADER_LEN);
    let mut announced = NEXT_HEADER;
    for _ in 0..=MAX_EXTENSION_HEADERS {
        if !is_extension(current) {
            return None;
        }
        let rest = bytes.get(at..)?;
        let len = extension_len(current, rest).ok()?;
        if current == protocol {
            return Some(Extension { header: at..at + len, announced });
        }
        if current == ip_proto::FRAGMENT && Fragment::new_checked(rest).ok()?.offset() != 0 {
            return None;
        }
        (current, announced, at) = (rest[0], at, at + len);
    }
    None
}

/// Whether `protocol` is an extension header that [`upper_layer`] can walk over.
#[inline]
pub fn is_extension(protocol: u8) -> bool {
    matches!(
        protocol,
        ip_proto::HOP_BY_HOP
            | ip_proto::ROUTING
            | ip_proto::FRAGMENT
            | ip_proto::AH
            | ip_proto::DESTINATION_OPTIONS
            | ip_proto::MOBILITY
    )
}

/// Length in octets of the extension header at the start of `bytes`, which holds all of it.
fn extension_len(protocol: u8, bytes: &[u8]) -> Result<usize, Error> {
    let units = usize::from(first::<2>(bytes)?[1]);
    let len = match protocol {
        ip_proto::FRAGMENT => FRAGMENT_HEADER_LEN,
        // RFC 4302, section 2.2: in 32-bit words, minus two.
        ip_proto::AH => (units + 2) * 4,
        _ => (units + 1) * 8,
    };
    if len > bytes.len() { Err(Error::Truncated) } else { Ok(len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(next_header: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        let mut h = Header::new_checked_mut(&mut bytes).unwrap();
        h.set_version_class_flow(0xab, 0xfff1_2345);
        h.set_payload_len(payload.len() as u16);
        h.set_next_header(next_header);
        h.set_hop_limit(64);
        h.set_src("2001:db8::1".parse().unwrap());
        h.set_dst("2001:db8::2".parse().unwrap());
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn fields_lie_where_rfc8200_puts_them() {
        let mut bytes = header(17, &[]);
        assert_eq!(bytes[..8], [0x6a, 0xb1, 0x23, 0x45, 0, 0, 17, 64]);
        assert_eq!((bytes[8], bytes[23], bytes[24], bytes[39]), (0x20, 1, 0x20, 2));
        let mut h = Header::new_checked_mut(&mut bytes).unwrap();
        assert_eq!((h.version(), h.traffic_class(), h.flow_label()), (6, 0xab, 0x1_2345));
        h.set_traffic_class(0xff);
        h.set_flow_label(0);
        assert_eq!((h.version(), h.traffic_class(), h.flow_label()), (6, 0xff, 0));
        assert_eq!((h.src().to_string(), h.dst().to_string()), ("2001:db8::1".into(), "2001:db8::2".into()));
    }

    /// Behind destination options, a routing header; neither if it is cut off.
    #[test]
    fn extensions_are_found() {
        let options = [43, 0, 1, 4, 0, 0, 0, 0];
        let routing = [&[17, 2, 4, 0, 0, 0, 0, 0][..], &[9; 16]].concat();
        let bytes = header(60, &[&options[..], &routing, &[7; 3]].concat());
        let found = Extension { header: 48..72, announced: 40 };
        assert_eq!(find_extension(&bytes, ip_proto::ROUTING), Some(found));
        let found = Extension { header: 40..48, announced: 6 };
        assert_eq!(find_extension(&bytes, ip_proto::DESTINATION_OPTIONS), Some(found));
        assert_eq!(find_extension(&bytes, ip_proto::FRAGMENT), None);
        assert_eq!(find_extension(&bytes[..71], ip_proto::ROUTING), None);
    }

    #[test]
    fn check_reports_the_first_fault() {
        let mut bytes = header(59, &[0; 8]);
        assert_eq!(check(&bytes), Ok(48));
        assert_eq!(check(&bytes[..47]), Err(Error::BadLength));
        assert_eq!(check(&bytes[..39]), Err(Error::Truncated));
        bytes.push(0);
        assert_eq!(check(&bytes), Ok(48));
        bytes[0] = 0x45;
        assert_eq!(check(&bytes), Err(Error::BadVersion));
    }

    #[test]
    fn walks_to_the_upper_layer() {
        let udp = upper_layer(&header(17, &[])).unwrap();
        assert_eq!((udp.protocol, udp.offset, udp.fragment, udp.first_fragment), (17, 40, None, true));

        // Hop-by-hop of 16 octets, AH of 12, first fragment, TCP.
        let mut chain = vec![51, 1];
        chain.resize(16, 0);
        chain.extend([44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        chain.extend([6, 0, 0, 1, 0, 0, 0, 9]);
        let bytes = header(0, &chain);
        let at = upper_layer(&bytes).unwrap();
        assert_eq!((at.protocol, at.offset, at.fragment, at.first_fragment), (6, 76, Some(68), true));
        let fragment = Fragment::new_checked(&bytes[68..]).unwrap();
        assert!(fragment.more_fragments() && fragment.offset() == 0 && fragment.id() == 9);
        for cut in 41..76 {
            assert_eq!(upper_layer(&bytes[..cut]), Err(Error::Truncated), "{cut}");
        }

        // A later fragment hides what follows, even if it looks like an extension header.
        let at = upper_layer(&header(44, &[60, 0, 0, 8, 0, 0, 0, 9])).unwrap();
        assert_eq!((at.protocol, at.offset, at.fragment, at.first_fragment), (60, 48, Some(40), false));
    }

    #[test]
    fn long_chains_are_cut() {
        let chain = |n: usize| {
            let mut bytes: Vec<u8> = [60, 0, 0, 0, 0, 0, 0, 0].repeat(n);
            bytes[(n - 1) * 8] = 17;
            header(60, &bytes)
        };
        assert_eq!(upper_layer(&chain(MAX_EXTENSION_HEADERS)).unwrap().protocol, 17);
        assert_eq!(upper_layer(&chain(MAX_EXTENSION_HEADERS + 1)), Err(Error::TooManyHeaders));
    }

    #[test]
    fn fragment_fields_are_written_and_read_back() {
        let mut bytes = [0xff; 8];
        let mut f = Fragment::new(&mut bytes);
        f.set_next_header(17);
        f.set_offset(1232, true);
        f.set_id(0x0102_0304);
        assert_eq!((f.next_header(), f.offset(), f.more_fragments(), f.id()), (17, 1232, true, 0x0102_0304));
        assert_eq!(bytes, [17, 0, 0x04, 0xd1, 1, 2, 3, 4]);
    }
}
