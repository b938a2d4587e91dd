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
    Header::new_checked_mut(datagram)?.set_checksum(0);
    let sum = pseudo.add_bytes(datagram).checksum();
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
    if sum.fold() == 0xffff { Ok(()) } else { Err(Error::BadChecksum) }
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
    if sum.fold() == 0xffff { Ok(()) } else { Err(Error::BadChecksum) }
}
