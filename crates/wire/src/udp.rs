//! The UDP header (RFC 768).

use crate::Error;
use crate::checksum::{self, Sum, pseudo_v4, pseudo_v6};
use crate::field::{get_u16, set_u16, view};
use crate::ip_proto;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::{Deref, DerefMut};

/// Octets in the header.
pub const HEADER_LEN: usize = 8;

view! {
    /// A UDP header.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Source port.
    #[inline]
    pub fn src_port(&self) -> u16 {
        get_u16::<0, _>(&self.0)
    }

    /// Destination port.
    #[inline]
    pub fn dst_port(&self) -> u16 {
        get_u16::<2, _>(&self.0)
    }

    /// Length in octets, header included.
    #[inline]
    pub fn len(&self) -> u16 {
        get_u16::<4, _>(&self.0)
    }

    /// Whether the length field says that no data follow the header.
    #[inline]
    pub fn is_empty(&self) -> bool {
        usize::from(self.len()) <= HEADER_LEN
    }

    /// Checksum; zero means that the sender computed none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        get_u16::<6, _>(&self.0)
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets the source port and leaves the checksum alone.
    #[inline]
    pub fn set_src_port(&mut self, port: u16) {
        set_u16::<0, _>(&mut self.0, port);
    }

    /// Sets the destination port and leaves the checksum alone.
    #[inline]
    pub fn set_dst_port(&mut self, port: u16) {
        set_u16::<2, _>(&mut self.0, port);
    }

    /// Sets the length in octets, header included.
    #[inline]
    pub fn set_len(&mut self, len: u16) {
        set_u16::<4, _>(&mut self.0, len);
    }

    /// Sets the checksum.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        set_u16::<6, _>(&mut self.0, checksum);
    }

    /// Updates the checksum for a 16-bit word that changed; an absent checksum stays absent.
    #[inline]
    pub fn update_checksum_u16(&mut self, old: u16, new: u16) {
        if self.checksum() != 0 {
            let sum = checksum::update_u16(self.checksum(), old, new);
            self.set_checksum(never_zero(sum));
        }
    }

    /// Updates the checksum for a 32-bit word, such as an address, that changed; an absent checksum stays absent.
    #[inline]
    pub fn update_checksum_u32(&mut self, old: u32, new: u32) {
        if self.checksum() != 0 {
            let sum = checksum::update_u32(self.checksum(), old, new);
            self.set_checksum(never_zero(sum));
        }
    }
}

/// A computed zero is sent as all ones, since zero means "no checksum" (RFC 768).
#[inline]
fn never_zero(sum: u16) -> u16 {
    if sum == 0 { 0xffff } else { sum }
}

/// The bytes that the length field covers, header included.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] if the length field is below the header's or
/// beyond `bytes`.
#[inline]
pub fn datagram(bytes: &[u8]) -> Result<&[u8], Error> {
    let len = usize::from(Header::new_checked(bytes)?.len());
    if len < HEADER_LEN { Err(Error::BadLength) } else { bytes.get(..len).ok_or(Error::BadLength) }
}

/// A header, with the checksum for a payload that has this sum, sent between two IPv4 addresses. `len` counts header and
/// payload, in octets.
#[inline]
#[must_use]
pub fn header_v4(src: Ipv4Addr, dst: Ipv4Addr, ports: [u16; 2], len: u16, payload: Sum) -> [u8; HEADER_LEN] {
    let sum = pseudo_v4(src, dst, ip_proto::UDP, len).add_u16(ports[0]).add_u16(ports[1]).add_u16(len);
    header(ports, len, never_zero(sum.add(payload).checksum()))
}

/// The same between two IPv6 addresses.
#[inline]
#[must_use]
pub fn header_v6(src: Ipv6Addr, dst: Ipv6Addr, ports: [u16; 2], len: u16, payload: Sum) -> [u8; HEADER_LEN] {
    let pseudo = pseudo_v6(src, dst, ip_proto::UDP, u32::from(len));
    let sum = pseudo.add_u16(ports[0]).add_u16(ports[1]).add_u16(len);
    header(ports, len, never_zero(sum.add(payload).checksum()))
}

/// A header with a given checksum; 0 means that there is none.
#[inline]
#[must_use]
pub fn header([src, dst]: [u16; 2], len: u16, checksum: u16) -> [u8; HEADER_LEN] {
    [src, dst, len, checksum].iter().fold(0, |all, &field| all << 16 | u64::from(field)).to_be_bytes()
}

/// Stores the checksum of `datagram`, header and payload, sent between two IPv4 addresses.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets.
#[inline]
pub fn fill_checksum_v4(src: Ipv4Addr, dst: Ipv4Addr, datagram: &mut [u8]) -> Result<(), Error> {
    let len = u16::try_from(datagram.len()).map_err(|_| Error::BadLength)?;
    fill(pseudo_v4(src, dst, ip_proto::UDP, len), datagram)
}

/// Stores the checksum of `datagram`, header and payload, sent between two IPv6 addresses.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets.
#[inline]
pub fn fill_checksum_v6(src: Ipv6Addr, dst: Ipv6Addr, datagram: &mut [u8]) -> Result<(), Error> {
    let len = u16::try_from(datagram.len()).map_err(|_| Error::BadLength)?;
    fill(pseudo_v6(src, dst, ip_proto::UDP, u32::from(len)), datagram)
}

#[inline]
fn fill(pseudo: Sum, datagram: &mut [u8]) -> Result<(), Error> {
    Header::new_checked(datagram)?;
    let sum = pseudo.add(Sum::except(datagram, 6)).checksum();
    Header::new_checked_mut(datagram)?.set_checksum(never_zero(sum));
    Ok(())
}

/// Checks the checksum of `datagram`, as [`datagram`] returns it, received over IPv4. Absent counts as right.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets, [`Error::BadChecksum`].
#[inline]
pub fn verify_checksum_v4(src: Ipv4Addr, dst: Ipv4Addr, datagram: &[u8]) -> Result<(), Error> {
    if Header::new_checked(datagram)?.checksum() == 0 {
        return Ok(());
    }
    let len = u16::try_from(datagram.len()).map_err(|_| Error::BadLength)?;
    let sum = pseudo_v4(src, dst, ip_proto::UDP, len).add_bytes(datagram);
    if sum.is_all_ones() { Ok(()) } else { Err(Error::BadChecksum) }
}

/// Checks the checksum of `datagram`, as [`datagram`] returns it, received over IPv6, where it is mandatory (RFC
/// 8200, section 8.1).
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets, [`Error::BadChecksum`].
#[inline]
pub fn verify_checksum_v6(src: Ipv6Addr, dst: Ipv6Addr, datagram: &[u8]) -> Result<(), Error> {
    if Header::new_checked(datagram)?.checksum() == 0 {
        return Err(Error::BadChecksum);
    }
    let len = u16::try_from(datagram.len()).map_err(|_| Error::BadLength)?;
    let sum = pseudo_v6(src, dst, ip_proto::UDP, u32::from(len)).add_bytes(datagram);
    if sum.is_all_ones() { Ok(()) } else { Err(Error::BadChecksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRC: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const DST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn sample(data: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        bytes.extend_from_slice(data);
        let mut h = Header::new_checked_mut(&mut bytes).unwrap();
        h.set_src_port(1000);
        h.set_dst_port(53);
        h.set_len((HEADER_LEN + data.len()) as u16);
        bytes
    }

    #[test]
    fn fields_and_length() {
        let bytes = sample(b"abc");
        assert_eq!(bytes[..8], [0x03, 0xe8, 0, 53, 0, 11, 0, 0]);
        let h = Header::new_checked(&bytes).unwrap();
        assert_eq!((h.src_port(), h.dst_port(), h.len(), h.is_empty()), (1000, 53, 11, false));
        let mut padded = bytes.clone();
        padded.push(0);
        assert_eq!(datagram(&padded), Ok(&bytes[..]));
        assert_eq!(datagram(&bytes[..10]), Err(Error::BadLength));
        padded[5] = 7;
        assert_eq!(datagram(&padded), Err(Error::BadLength));
    }

    #[test]
    fn checksum_by_hand() {
        let mut bytes = sample(b"abc");
        fill_checksum_v4(SRC, DST, &mut bytes).unwrap();
        // 0a00+0001 + 0a00+0002 + 0011 + 000b + 03e8+0035+000b + 6162+6300 = dca8
        assert_eq!(
            Header::new_checked(&bytes).unwrap().checksum(),
            !(0x0a00 + 1 + 0x0a00 + 2 + 0x11 + 0xb + 0x3e8 + 0x35 + 0xb + 0x6162 + 0x6300)
        );
        assert_eq!(verify_checksum_v4(SRC, DST, &bytes), Ok(()));
        assert_eq!(verify_checksum_v4(SRC, SRC, &bytes), Err(Error::BadChecksum));
        let (src, dst) = (SRC.to_ipv6_compatible(), DST.to_ipv6_compatible());
        let v4 = bytes.clone();
        fill_checksum_v6(src, dst, &mut bytes).unwrap();
        assert_eq!(bytes, v4, "compatible addresses add up to the same pseudo-header");
        assert_eq!(verify_checksum_v6(src, dst, &bytes), Ok(()));
    }

    #[test]
    fn zero_is_sent_as_ones_and_none_stays_none() {
        // The data make the sum all ones, so that its complement is zero.
        let mut bytes = sample(&[0, 0]);
        fill_checksum_v4(SRC, DST, &mut bytes).unwrap();
        let sum = Header::new_checked(&bytes).unwrap().checksum();
        bytes[8..].copy_from_slice(&sum.to_be_bytes());
        fill_checksum_v4(SRC, DST, &mut bytes).unwrap();
        let mut h = Header::new_checked_mut(&mut bytes).unwrap();
        assert_eq!(h.checksum(), 0xffff);
        h.update_checksum_u16(sum, sum);
        assert_eq!(h.checksum(), 0xffff);
        h.set_checksum(0);
        h.update_checksum_u32(1, 2);
        assert_eq!(h.checksum(), 0);
        assert_eq!(verify_checksum_v4(SRC, SRC, &bytes), Ok(()));
        let any = Ipv6Addr::UNSPECIFIED;
        assert_eq!(verify_checksum_v6(any, any, &bytes), Err(Error::BadChecksum));
    }
}
