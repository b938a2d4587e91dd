//! The IPv4 header (RFC 791).

use crate::Error;
use crate::checksum::{self, Sum};
use crate::field::{get_array, get_u8, get_u16, set_array, set_u8, set_u16, view};
use std::net::Ipv4Addr;
use std::ops::{Deref, DerefMut};

/// Octets in a header without options.
pub const HEADER_LEN: usize = 20;
/// Octets in the longest header.
pub const MAX_HEADER_LEN: usize = 60;

/// Don't-fragment bit of [`Header::fragment_field`].
pub const FLAG_DF: u16 = 0x4000;
/// More-fragments bit of [`Header::fragment_field`].
pub const FLAG_MF: u16 = 0x2000;
/// Reserved bit of [`Header::fragment_field`] (RFC 791 requires zero).
pub const FLAG_RF: u16 = 0x8000;
/// Offset bits of [`Header::fragment_field`], in units of eight octets.
pub const OFFSET_MASK: u16 = 0x1fff;

view! {
    /// The fixed part of an IPv4 header.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Version; 4 in a valid packet.
    #[inline]
    pub fn version(&self) -> u8 {
        get_u8::<0, _>(&self.0) >> 4
    }

    /// Header length in octets, options included, as the header says: 0 to 60.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(get_u8::<0, _>(&self.0) & 0xf) * 4
    }

    /// Whether the first octet is that of a header of version 4 without options.
    #[inline]
    pub fn has_no_options(&self) -> bool {
        get_u8::<0, _>(&self.0) == WITHOUT_OPTIONS
    }

    /// The type-of-service octet: DSCP and ECN.
    #[inline]
    pub fn tos(&self) -> u8 {
        get_u8::<1, _>(&self.0)
    }

    /// Differentiated services code point (RFC 2474).
    #[inline]
    pub fn dscp(&self) -> u8 {
        self.tos() >> 2
    }

    /// Explicit congestion notification bits (RFC 3168).
    #[inline]
    pub fn ecn(&self) -> u8 {
        self.tos() & 3
    }

    /// Total length in octets, header included.
    #[inline]
    pub fn total_len(&self) -> u16 {
        get_u16::<2, _>(&self.0)
    }

    /// Identification, common to the fragments of a datagram.
    #[inline]
    pub fn id(&self) -> u16 {
        get_u16::<4, _>(&self.0)
    }

    /// Flags and fragment offset as they stand in the header; see [`FLAG_DF`], [`FLAG_MF`], [`OFFSET_MASK`].
    #[inline]
    pub fn fragment_field(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }

    /// Whether the datagram may not be fragmented.
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        self.fragment_field() & FLAG_DF != 0
    }

    /// Whether fragments follow this one.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        self.fragment_field() & FLAG_MF != 0
    }

    /// Offset of this fragment's payload in the datagram's, in octets.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(self.fragment_field() & OFFSET_MASK) * 8
    }

    /// Whether this is a fragment rather than a whole datagram.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.fragment_field() & (FLAG_MF | OFFSET_MASK) != 0
    }

    /// Whether the payload begins with the transport header: a whole datagram or its first fragment.
    #[inline]
    pub fn is_first_fragment(&self) -> bool {
        self.fragment_field() & OFFSET_MASK == 0
    }

    /// Whether the datagram has this protocol, whose header it has, too: it is whole, or the first fragment.
    #[inline]
    pub fn begins(&self, protocol: u8) -> bool {
        // The time to live lies between, so that one load is enough.
        let mask = u32::from(OFFSET_MASK) << 16 | 0xff;
        u32::from_be_bytes(get_array::<6, 4, _>(&self.0)) & mask == u32::from(protocol)
    }

    /// Time to live, in hops.
    #[inline]
    pub fn ttl(&self) -> u8 {
        get_u8::<8, _>(&self.0)
    }

    /// Protocol of the payload, see [`crate::ip_proto`].
    #[inline]
    pub fn protocol(&self) -> u8 {
        get_u8::<9, _>(&self.0)
    }

    /// Header checksum.
    #[inline]
    pub fn checksum(&self) -> u16 {
        get_u16::<10, _>(&self.0)
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> Ipv4Addr {
        Ipv4Addr::from(get_array::<12, 4, _>(&self.0))
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> Ipv4Addr {
        Ipv4Addr::from(get_array::<16, 4, _>(&self.0))
    }

    /// Both addresses, the source in the upper half.
    #[inline]
    pub fn addresses(&self) -> u64 {
        u64::from_be_bytes(get_array::<12, 8, _>(&self.0))
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets version 4 and a header of `header_len` octets: a multiple of four up to 60; other bits are lost.
    #[inline]
    pub fn set_version_and_header_len(&mut self, header_len: usize) {
        set_u8::<0, _>(&mut self.0, 0x40 | ((header_len / 4) & 0xf) as u8);
    }

    /// Sets the type-of-service octet.
    #[inline]
    pub fn set_tos(&mut self, tos: u8) {
        set_u8::<1, _>(&mut self.0, tos);
    }

    /// Sets the total length, in octets.
    #[inline]
    pub fn set_total_len(&mut self, len: u16) {
        set_u16::<2, _>(&mut self.0, len);
    }

    /// Sets the identification.
    #[inline]
    pub fn set_id(&mut self, id: u16) {
        set_u16::<4, _>(&mut self.0, id);
    }

    /// Sets the total length and the identification: one store, since they are neighbours.
    #[inline]
    pub fn set_total_len_and_id(&mut self, both: [u8; 4]) {
        set_array::<2, 4, _>(&mut self.0, both);
    }

    /// Sets flags and fragment offset together; see [`Header::fragment_field`].
    #[inline]
    pub fn set_fragment_field(&mut self, value: u16) {
        set_u16::<6, _>(&mut self.0, value);
    }

    /// Sets the time to live and leaves the checksum alone; see [`Header::decrement_ttl`].
    #[inline]
    pub fn set_ttl(&mut self, ttl: u8) {
        set_u8::<8, _>(&mut self.0, ttl);
    }

    /// Makes the datagram, which has this protocol, a new one: whole, allowed to be fragmented, and with the longest
    /// time to live. Updates the checksum.
    #[inline]
    pub fn renew(&mut self, protocol: u8) {
        let [flags, offset, old_ttl, _, high, low] = get_array::<6, 6, _>(&self.0);
        // One's complement sums are the same in any order of the bytes. The time to live cannot shrink, so what it
        // grows by is added as it is.
        let checksum = u16::from_le_bytes([high, low]);
        let whole = checksum::add_to_complement(checksum, !u16::from_le_bytes([flags, offset]));
        let checksum = checksum::add_to_complement(whole, u16::from(u8::MAX - old_ttl));
        // A caller that knows the protocol makes it part of one store.
        set_array::<6, 4, _>(&mut self.0, [0, 0, u8::MAX, protocol]);
        set_array::<10, 2, _>(&mut self.0, checksum.to_le_bytes());
    }

    /// Sets the protocol.
    #[inline]
    pub fn set_protocol(&mut self, protocol: u8) {
        set_u8::<9, _>(&mut self.0, protocol);
    }

    /// Sets the header checksum.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        set_u16::<10, _>(&mut self.0, checksum);
    }

    /// Sets the header checksum, given as it is to lie in the header.
    #[inline]
    pub fn set_checksum_bytes(&mut self, checksum: [u8; 2]) {
        set_array::<10, 2, _>(&mut self.0, checksum);
    }

    /// Sets the source address and leaves the checksum alone.
    #[inline]
    pub fn set_src(&mut self, addr: Ipv4Addr) {
        set_array::<12, 4, _>(&mut self.0, addr.octets());
    }

    /// Sets both addresses, the source in the upper half, and leaves the checksum alone.
    #[inline]
    pub fn set_addresses(&mut self, both: u64) {
        set_array::<12, 8, _>(&mut self.0, both.to_be_bytes());
    }

    /// Sets the destination address and leaves the checksum alone.
    #[inline]
    pub fn set_dst(&mut self, addr: Ipv4Addr) {
        set_array::<16, 4, _>(&mut self.0, addr.octets());
    }

    /// Exchanges the addresses, which the checksum does not notice: one load and one store, since they are neighbours.
    #[inline]
    pub fn swap_addresses(&mut self) {
        let both = u64::from_ne_bytes(get_array::<12, 8, _>(&self.0));
        set_array::<12, 8, _>(&mut self.0, both.rotate_left(32).to_ne_bytes());
    }

    /// Computes and stores the checksum of a header without options; for others see [`fill_checksum`].
    #[inline]
    pub fn fill_checksum(&mut self) {
        let value = Sum::of_20_except_10(&self.0).checksum();
        self.set_checksum(value);
    }

    /// Takes one from the time to live and updates the checksum incrementally (RFC 1624).
    ///
    /// A time to live of zero cannot be counted down: it becomes 255, and the checksum wrong. Callers test it first.
    #[inline]
    pub fn decrement_ttl(&mut self) {
        let ttl = self.ttl();
        debug_assert!(ttl > 0);
        self.set_ttl(ttl.wrapping_sub(1));
        // The word gets less by one in this order of bytes, and so the checksum more. Of the two zeros of one's complement only the first
        // is a checksum.
        let next = u32::from(u16::from_le_bytes(get_array::<10, 2, _>(&self.0))) + 1;
        let sum = (next + u32::from(next >= 0xffff)) as u16;
        set_array::<10, 2, _>(&mut self.0, sum.to_le_bytes());
    }

    /// Sets the source address and updates the checksum incrementally.
    #[inline]
    pub fn update_src(&mut self, addr: Ipv4Addr) {
        let sum = checksum::update_u32(self.checksum(), self.src().into(), addr.into());
        self.set_src(addr);
        self.set_checksum(sum);
    }

    /// Sets the destination address and updates the checksum incrementally.
    #[inline]
    pub fn update_dst(&mut self, addr: Ipv4Addr) {
        let sum = checksum::update_u32(self.checksum(), self.dst().into(), addr.into());
        self.set_dst(addr);
        self.set_checksum(sum);
    }

    /// Sets the type-of-service octet and updates the checksum incrementally.
    #[inline]
    pub fn update_tos(&mut self, tos: u8) {
        let sum = checksum::update_u16(self.checksum(), u16::from(self.tos()), u16::from(tos));
        self.set_tos(tos);
        self.set_checksum(sum);
    }
}

/// How far the header and the packet reach, in octets from the first of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Header with its options: 20 to 60.
    pub header_len: usize,
    /// Header and payload; bytes beyond it are link-layer padding.
    pub total_len: usize,
}

/// Checks a received header in the order in which Click's CheckIPHeader does: size, version, header length, total
/// length, and, if `verify_checksum`, the checksum (RFC 1812, section 5.2.2).
///
/// # Errors
/// [`Error::Truncated`], [`Error::BadVersion`], [`Error::BadHeaderLength`], [`Error::BadLength`] or
/// [`Error::BadChecksum`], the first that applies.
#[inline]
pub fn check(bytes: &[u8], verify_checksum: bool) -> Result<Extent, Error> {
    // What is wrong is found out only where something is.
    check_usual(bytes, verify_checksum).map_or_else(|| check_unusual(bytes, verify_checksum), Ok)
}

/// The first octet of a header of version 4 without options: one comparison tells both.
const WITHOUT_OPTIONS: u8 = 0x45;

/// The same for a header without options: `None` if it has some, or if anything is wrong.
#[inline(always)] // where it is used it is most of what there is to do
#[must_use]
pub fn check_usual(bytes: &[u8], verify_checksum: bool) -> Option<Extent> {
    let header = Header::new_checked(bytes).ok()?;
    let total_len = usize::from(header.total_len());
    let right = (HEADER_LEN..=bytes.len()).contains(&total_len) && is_usual(header, verify_checksum);
    right.then_some(Extent { header_len: HEADER_LEN, total_len })
}

/// Whether a header has version 4, no options and, if `verify_checksum`, the right checksum. Nothing is said about the total length.
#[inline(always)] // where it is used it is most of what there is to do
#[must_use]
pub fn is_usual(header: Header<&[u8; HEADER_LEN]>, verify_checksum: bool) -> bool {
    header.has_no_options() && (!verify_checksum || Sum::of_20(header.as_bytes()).is_all_ones())
}

/// All checks one by one. Kept out of line, it does not swell every caller of [`check`].
#[cold]
#[inline(never)]
fn check_unusual(bytes: &[u8], verify_checksum: bool) -> Result<Extent, Error> {
    let header = Header::new_checked(bytes)?;
    if header.version() != 4 {
        return Err(Error::BadVersion);
    }
    let header_len = header.header_len();
    if header_len < HEADER_LEN {
        return Err(Error::BadHeaderLength);
    }
    let total_len = usize::from(header.total_len());
    if total_len > bytes.len() || total_len < header_len {
        return Err(Error::BadLength);
    }
    if verify_checksum && !checksum::verify(&bytes[..header_len]) {
        return Err(Error::BadChecksum);
    }
    Ok(Extent { header_len, total_len })
}

/// The fields of a header without options, to be written at once (RFC 791, section 3.1).
#[derive(Clone, Copy, Debug)]
pub struct Plain {
    /// Type of service: DSCP and ECN.
    pub tos: u8,
    /// Octets of the packet.
    pub total_len: u16,
    /// Identification.
    pub id: u16,
    /// Flags, and the fragment's offset in units of eight octets.
    pub fragment_field: u16,
    /// Time to live.
    pub ttl: u8,
    /// What the packet carries.
    pub protocol: u8,
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
}

impl Plain {
    /// The header, with its checksum.
    #[inline]
    #[must_use]
    pub fn bytes(self) -> [u8; HEADER_LEN] {
        let pair = |high: u16, low: u16| u32::from(high) << 16 | u32::from(low);
        let octets = |high: u8, low: u8| u16::from_be_bytes([high, low]);
        let mut words = [
            pair(octets(WITHOUT_OPTIONS, self.tos), self.total_len),
            pair(self.id, self.fragment_field),
            pair(octets(self.ttl, self.protocol), 0),
            self.src.into(),
            self.dst.into(),
        ];
        // Halves of words are summed at the same time: 2^16 counts as 1.
        let sum = words.iter().map(|word| u64::from(*word)).sum::<u64>();
        let sum = (sum >> 32) + (sum >> 16 & 0xffff) + (sum & 0xffff);
        let sum = (sum >> 16) + (sum & 0xffff);
        let sum = (sum >> 16) + (sum & 0xffff);
        words[2] |= u32::from(!(sum as u16));
        let mut bytes = [0; HEADER_LEN];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_be_bytes());
        bytes
    }
}

/// The header with its options, as long as its length field says.
///
/// # Errors
/// [`Error::Truncated`] if `bytes` ends before the header does, [`Error::BadHeaderLength`] below 20 octets.
#[inline]
pub fn header_bytes(bytes: &[u8]) -> Result<&[u8], Error> {
    let len = Header::new_checked(bytes)?.header_len();
    if len < HEADER_LEN {
        return Err(Error::BadHeaderLength);
    }
    bytes.get(..len).ok_or(Error::Truncated)
}

/// What follows the header, up to the total length; clipped to `bytes` if the packet was cut short.
///
/// # Errors
/// As [`header_bytes`], and [`Error::BadLength`] if the total length is below the header length.
#[inline]
pub fn payload(bytes: &[u8]) -> Result<&[u8], Error> {
    let header_len = header_bytes(bytes)?.len();
    let total_len = usize::from(Header::new_checked(bytes)?.total_len());
    bytes.get(header_len..total_len.min(bytes.len())).ok_or(Error::BadLength)
}

/// Computes and stores the checksum of a header with or without options.
///
/// # Errors
/// As [`header_bytes`]; nothing is written then.
#[inline]
pub fn fill_checksum(bytes: &mut [u8]) -> Result<(), Error> {
    let len = header_bytes(bytes)?.len();
    if len == HEADER_LEN {
        Header::new_checked_mut(bytes)?.fill_checksum();
        return Ok(());
    }
    let value = Sum::except(&bytes[..len], 10).checksum();
    Header::new_checked_mut(bytes)?.set_checksum(value);
    Ok(())
}

/// The options of the header that `bytes` begins with.
///
/// # Errors
/// As [`header_bytes`].
#[inline]
pub fn options(bytes: &[u8]) -> Result<Options<'_>, Error> {
    let header = header_bytes(bytes)?;
    Ok(Options { area: &header[HEADER_LEN..], at: 0 })
}

/// Option types (RFC 791 section 3.1, RFC 2113), copied bit included.
pub mod option {
    /// End of the option list.
    pub const END: u8 = 0;
    /// No operation.
    pub const NOP: u8 = 1;
    /// Record route.
    pub const RECORD_ROUTE: u8 = 7;
    /// Timestamp.
    pub const TIMESTAMP: u8 = 68;
    /// Security (obsolete).
    pub const SECURITY: u8 = 130;
    /// Loose source and record route.
    pub const LOOSE_SOURCE_ROUTE: u8 = 131;
    /// Stream identifier (obsolete).
    pub const STREAM_ID: u8 = 136;
    /// Strict source and record route.
    pub const STRICT_SOURCE_ROUTE: u8 = 137;
    /// Router alert.
    pub const ROUTER_ALERT: u8 = 148;
}

/// One option of an IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpOption<'a> {
    /// Type, see [`option`].
    pub kind: u8,
    /// Where it begins, in octets from the first of the header.
    pub offset: usize,
    /// The whole option: type, length, data. At least two octets.
    pub bytes: &'a [u8],
}

impl IpOption<'_> {
    /// Whether the option must be copied into every fragment.
    #[inline]
    pub fn copied(&self) -> bool {
        self.kind & 0x80 != 0
    }
}

/// An option whose length is below two octets or runs out of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadOption {
    /// Where it begins, in octets from the first of the header.
    pub offset: usize,
}

/// Walks options; padding (no-operation) is skipped, the end-of-list option ends it, as does a malformed option
/// after it was reported.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    area: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<IpOption<'a>, BadOption>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.area.get(self.at) == Some(&option::NOP) {
            self.at += 1;
        }
        let at = self.at;
        let kind = *self.area.get(at).filter(|&&kind| kind != option::END)?;
        let len = self.area.get(at + 1).map_or(0, |&len| usize::from(len));
        match self.area.get(at..at + len) {
            Some(bytes) if len >= 2 => {
                self.at = at + len;
                Some(Ok(IpOption { kind, offset: HEADER_LEN + at, bytes }))
            }
            _ => {
                self.area = &[];
                Some(Err(BadOption { offset: HEADER_LEN + at }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A UDP packet's header; its checksum was added up by hand.
    const SAMPLE: [u8; 20] =
        [0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7];

    fn sample() -> Vec<u8> {
        let mut bytes = SAMPLE.to_vec();
        bytes.resize(0x73, 0);
        bytes
    }

    proptest! {
        /// A header that is written at once is the one that is set field by field.
        #[test]
        fn plain_headers(tos: u8, total_len: u16, id: u16, fragment_field: u16, ttl: u8, protocol: u8, src: [u8; 4], dst: [u8; 4]) {
            let (src, dst) = (src.into(), dst.into());
            let mut bytes = [0; HEADER_LEN];
            let mut h = Header::new(&mut bytes);
            h.set_version_and_header_len(HEADER_LEN);
            h.set_tos(tos);
            h.set_total_len(total_len);
            h.set_id(id);
            h.set_fragment_field(fragment_field);
            h.set_ttl(ttl);
            h.set_protocol(protocol);
            h.set_src(src);
            h.set_dst(dst);
            h.fill_checksum();
            prop_assert_eq!(Plain { tos, total_len, id, fragment_field, ttl, protocol, src, dst }.bytes(), bytes);
        }
    }

    #[test]
    fn fields_lie_where_rfc791_puts_them() {
        let h = Header::new(&SAMPLE);
        assert_eq!((h.version(), h.header_len(), h.tos(), h.total_len()), (4, 20, 0, 115));
        assert_eq!((h.id(), h.fragment_field(), h.ttl(), h.protocol()), (0, FLAG_DF, 64, 17));
        assert!(h.dont_fragment() && !h.more_fragments() && !h.is_fragment() && h.is_first_fragment());
        assert_eq!(
            (h.checksum(), h.src().to_string(), h.dst().to_string()),
            (0xb861, "192.168.0.1".into(), "192.168.0.199".into())
        );

        let mut bytes = [0; HEADER_LEN];
        let mut h = Header::new(&mut bytes);
        h.set_version_and_header_len(60);
        h.set_tos(0xb9);
        h.set_total_len(0x0203);
        h.set_id(0x0405);
        h.set_fragment_field(FLAG_MF | 0x0107);
        h.set_ttl(8);
        h.set_protocol(9);
        h.set_checksum(0x0a0b);
        h.set_src(Ipv4Addr::new(12, 13, 14, 15));
        h.set_dst(Ipv4Addr::new(16, 17, 18, 19));
        assert_eq!((h.header_len(), h.dscp(), h.ecn(), h.fragment_offset()), (60, 0x2e, 1, 0x107 * 8));
        assert!(h.is_fragment() && !h.is_first_fragment() && h.more_fragments());
        assert_eq!(bytes, [0x4f, 0xb9, 2, 3, 4, 5, 0x21, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn check_reports_the_first_fault() {
        let good = sample();
        assert_eq!(check(&good, true), Ok(Extent { header_len: 20, total_len: 115 }));
        let mut padded = good.clone();
        padded.push(0);
        assert_eq!(check(&padded, true).unwrap().total_len, 115);

        let fault = |at: usize, value: u8| {
            let mut bytes = good.clone();
            bytes[at] = value;
            (check(&bytes, true).err(), check(&bytes, false).err())
        };
        let both = |error| (Some(error), Some(error));
        assert_eq!(fault(0, 0x65), both(Error::BadVersion));
        assert_eq!(fault(0, 0x44), both(Error::BadHeaderLength));
        assert_eq!(fault(3, 0x74), both(Error::BadLength));
        assert_eq!(fault(3, 19), both(Error::BadLength));
        assert_eq!(fault(8, 63), (Some(Error::BadChecksum), None));
        assert_eq!(check(&good[..19], true), Err(Error::Truncated));
        assert_eq!(check(&good[..114], true), Err(Error::BadLength));
    }

    #[test]
    fn options_are_summed_and_walked() {
        let mut bytes = sample();
        let area = [1, option::ROUTER_ALERT, 4, 0, 0, 7, 3, 4, 0, 1, 1, 0];
        bytes[20..32].copy_from_slice(&area);
        Header::new_checked_mut(&mut bytes).unwrap().set_version_and_header_len(32);
        assert_eq!(check(&bytes, true), Err(Error::BadChecksum));
        fill_checksum(&mut bytes).unwrap();
        assert_eq!(check(&bytes, true).map(|e| e.header_len), Ok(32));
        assert_eq!(payload(&bytes).unwrap().len(), 115 - 32);
        assert_eq!(payload(&bytes[..40]).unwrap().len(), 8);

        let found: Vec<_> = options(&bytes).unwrap().map(Result::unwrap).collect();
        let places: Vec<_> = found.iter().map(|o| (o.kind, o.offset, o.bytes.len(), o.copied())).collect();
        assert_eq!(places, [(148, 21, 4, true), (7, 25, 3, false)]);
        for (length, good) in [(0, false), (1, false), (2, true), (7, true), (8, false), (255, false)] {
            bytes[26] = length;
            let second = options(&bytes).unwrap().nth(1).unwrap();
            assert_eq!(second.is_ok(), good, "{length}");
            assert!(good || second == Err(BadOption { offset: 25 }));
        }
        assert_eq!(options(&bytes[..31]).unwrap_err(), Error::Truncated);
    }

    #[test]
    fn a_new_datagram() {
        for (field, ttl) in [(0, 1), (0x4000, 255), (0x3fff, 0), (0x2000, 64)] {
            let mut bytes = sample();
            let mut ip = Header::new_checked_mut(&mut bytes).unwrap();
            ip.set_fragment_field(field);
            ip.set_ttl(ttl);
            ip.fill_checksum();
            let protocol = ip.protocol();
            assert_eq!(ip.begins(protocol), field & OFFSET_MASK == 0);
            assert!(!ip.begins(protocol + 1));
            ip.renew(protocol);
            assert_eq!((ip.fragment_field(), ip.ttl(), ip.protocol()), (0, 255, protocol));
            let updated = ip.checksum();
            ip.fill_checksum();
            assert_eq!(updated, ip.checksum());
        }
    }

    #[test]
    fn addresses_change_places() {
        let mut bytes = SAMPLE;
        let mut ip = Header::new(&mut bytes);
        ip.swap_addresses();
        assert_eq!((ip.src().octets(), ip.dst().octets()), ([192, 168, 0, 199], [192, 168, 0, 1]));
        assert!(is_usual(Header::new(&bytes), true));
        for first in 0..=255 {
            bytes[0] = first;
            let ip = Header::new(&bytes);
            assert_eq!(ip.has_no_options(), ip.version() == 4 && ip.header_len() == HEADER_LEN);
            assert_eq!(is_usual(ip, false), ip.has_no_options());
            assert_eq!(is_usual(ip, true), first == 0x45);
        }
    }

    #[test]
    fn an_option_cut_after_its_type() {
        let mut bytes = [0u8; 24];
        bytes[0] = 0x46;
        bytes[20..].copy_from_slice(&[1, 1, 1, 7]);
        let items: Vec<_> = options(&bytes).unwrap().collect();
        assert_eq!(items, [Err(BadOption { offset: 23 })]);
    }
}
