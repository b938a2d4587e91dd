//! The TCP header (RFC 9293).

use crate::Error;
use crate::checksum::{self, Sum, pseudo_v4, pseudo_v6};
use crate::field::{get_u8, get_u16, get_u32, set_u8, set_u16, set_u32, view};
use crate::ip_proto;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::{Deref, DerefMut};

/// Octets in a header without options.
pub const HEADER_LEN: usize = 20;

/// Control bits of [`Header::flags`].
pub mod flag {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgement field is valid.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer is valid.
    pub const URG: u8 = 0x20;
    /// ECN echo (RFC 3168).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168).
    pub const CWR: u8 = 0x80;
}

view! {
    /// The fixed part of a TCP header.
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

    /// Sequence number.
    #[inline]
    pub fn sequence(&self) -> u32 {
        get_u32::<4, _>(&self.0)
    }

    /// Acknowledgement number.
    #[inline]
    pub fn acknowledgement(&self) -> u32 {
        get_u32::<8, _>(&self.0)
    }

    /// Header length in octets, options included, as the header says: 0 to 60.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(get_u8::<12, _>(&self.0) >> 4) * 4
    }

    /// Control bits, see [`flag`].
    #[inline]
    pub fn flags(&self) -> u8 {
        get_u8::<13, _>(&self.0)
    }

    /// Window, in octets before scaling.
    #[inline]
    pub fn window(&self) -> u16 {
        get_u16::<14, _>(&self.0)
    }

    /// Checksum over pseudo-header and segment.
    #[inline]
    pub fn checksum(&self) -> u16 {
        get_u16::<16, _>(&self.0)
    }

    /// Urgent pointer.
    #[inline]
    pub fn urgent_pointer(&self) -> u16 {
        get_u16::<18, _>(&self.0)
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

    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u32) {
        set_u32::<4, _>(&mut self.0, sequence);
    }

    /// Sets the acknowledgement number.
    #[inline]
    pub fn set_acknowledgement(&mut self, acknowledgement: u32) {
        set_u32::<8, _>(&mut self.0, acknowledgement);
    }

    /// Sets a header length of `len` octets (a multiple of four up to 60) and clears the reserved bits.
    #[inline]
    pub fn set_header_len(&mut self, len: usize) {
        set_u8::<12, _>(&mut self.0, ((len / 4) << 4) as u8);
    }

    /// Sets the control bits.
    #[inline]
    pub fn set_flags(&mut self, flags: u8) {
        set_u8::<13, _>(&mut self.0, flags);
    }

    /// Sets the window.
    #[inline]
    pub fn set_window(&mut self, window: u16) {
        set_u16::<14, _>(&mut self.0, window);
    }

    /// Sets the checksum.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        set_u16::<16, _>(&mut self.0, checksum);
    }

    /// Sets the urgent pointer.
    #[inline]
    pub fn set_urgent_pointer(&mut self, pointer: u16) {
        set_u16::<18, _>(&mut self.0, pointer);
    }

    /// Updates the checksum for a 16-bit word that changed.
    #[inline]
    pub fn update_checksum_u16(&mut self, old: u16, new: u16) {
        let sum = checksum::update_u16(self.checksum(), old, new);
        self.set_checksum(sum);
    }

    /// Updates the checksum for a 32-bit word, such as an address, that changed.
    #[inline]
    pub fn update_checksum_u32(&mut self, old: u32, new: u32) {
        let sum = checksum::update_u32(self.checksum(), old, new);
        self.set_checksum(sum);
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

/// The options of the header that `bytes` begins with.
///
/// # Errors
/// As [`header_bytes`].
#[inline]
pub fn options(bytes: &[u8]) -> Result<Options<'_>, Error> {
    Ok(Options { rest: &header_bytes(bytes)?[HEADER_LEN..] })
}

/// Option kinds.
pub mod option {
    /// End of the option list.
    pub const END: u8 = 0;
    /// No operation.
    pub const NOP: u8 = 1;
    /// Maximum segment size.
    pub const MSS: u8 = 2;
    /// Window scale (RFC 7323).
    pub const WINDOW_SCALE: u8 = 3;
    /// Selective acknowledgement permitted (RFC 2018).
    pub const SACK_PERMITTED: u8 = 4;
    /// Selective acknowledgement (RFC 2018).
    pub const SACK: u8 = 5;
    /// Timestamps (RFC 7323).
    pub const TIMESTAMPS: u8 = 8;
}

/// One option of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOption<'a> {
    /// Kind, see [`option`].
    pub kind: u8,
    /// What follows kind and length.
    pub data: &'a [u8],
}

/// Walks options; padding (no-operation) is skipped, the end-of-list option ends it, as does a malformed option
/// after it was reported.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<TcpOption<'a>, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = std::mem::take(&mut self.rest);
        while let [option::NOP, rest @ ..] = bytes {
            bytes = rest;
        }
        if matches!(bytes, [] | [option::END, ..]) {
            return None;
        }
        let len = bytes.get(1).map_or(0, |&len| usize::from(len));
        match bytes.split_at_checked(len) {
            Some(([kind, _, data @ ..], rest)) => {
                self.rest = rest;
                Some(Ok(TcpOption { kind: *kind, data }))
            }
            _ => Some(Err(Error::BadOption)),
        }
    }
}

/// Stores the checksum of `segment`, header and payload, sent between two IPv4 addresses.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets.
#[inline]
pub fn fill_checksum_v4(src: Ipv4Addr, dst: Ipv4Addr, segment: &mut [u8]) -> Result<(), Error> {
    fill(pseudo_sum_v4(src, dst, segment)?, segment)
}

/// Stores the checksum of `segment`, header and payload, sent between two IPv6 addresses.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 4 GiB.
#[inline]
pub fn fill_checksum_v6(src: Ipv6Addr, dst: Ipv6Addr, segment: &mut [u8]) -> Result<(), Error> {
    fill(pseudo_sum_v6(src, dst, segment)?, segment)
}

/// Checks the checksum of `segment`, header and payload, received over IPv4.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 65,535 octets, [`Error::BadChecksum`].
#[inline]
pub fn verify_checksum_v4(src: Ipv4Addr, dst: Ipv4Addr, segment: &[u8]) -> Result<(), Error> {
    verify(pseudo_sum_v4(src, dst, segment)?, segment)
}

/// Checks the checksum of `segment`, header and payload, received over IPv6.
///
/// # Errors
/// [`Error::Truncated`] without a header, [`Error::BadLength`] beyond 4 GiB, [`Error::BadChecksum`].
#[inline]
pub fn verify_checksum_v6(src: Ipv6Addr, dst: Ipv6Addr, segment: &[u8]) -> Result<(), Error> {
    verify(pseudo_sum_v6(src, dst, segment)?, segment)
}

#[inline]
fn pseudo_sum_v4(src: Ipv4Addr, dst: Ipv4Addr, segment: &[u8]) -> Result<Sum, Error> {
    let len = u16::try_from(segment.len()).map_err(|_| Error::BadLength)?;
    Ok(pseudo_v4(src, dst, ip_proto::TCP, len))
}

#[inline]
fn pseudo_sum_v6(src: Ipv6Addr, dst: Ipv6Addr, segment: &[u8]) -> Result<Sum, Error> {
    let len = u32::try_from(segment.len()).map_err(|_| Error::BadLength)?;
    Ok(pseudo_v6(src, dst, ip_proto::TCP, len))
}

#[inline]
fn fill(pseudo: Sum, segment: &mut [u8]) -> Result<(), Error> {
    Header::new_checked(segment)?;
    let sum = pseudo.add(Sum::except(segment, 16)).checksum();
    Header::new_checked_mut(segment)?.set_checksum(sum);
    Ok(())
}

#[inline]
fn verify(pseudo: Sum, segment: &[u8]) -> Result<(), Error> {
    Header::new_checked(segment)?;
    if pseudo.add_bytes(segment).is_all_ones() { Ok(()) } else { Err(Error::BadChecksum) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lie_where_rfc9293_puts_them() {
        let mut bytes = [0; HEADER_LEN];
        let mut h = Header::new(&mut bytes);
        h.set_src_port(0x0102);
        h.set_dst_port(0x0304);
        h.set_sequence(0x0506_0708);
        h.set_acknowledgement(0x090a_0b0c);
        h.set_header_len(60);
        h.set_flags(flag::SYN | flag::ACK);
        h.set_window(0x0f10);
        h.set_checksum(0x1112);
        h.set_urgent_pointer(0x1314);
        assert_eq!(
            (h.src_port(), h.dst_port(), h.sequence(), h.acknowledgement()),
            (0x102, 0x304, 0x5060708, 0x90a0b0c)
        );
        assert_eq!((h.header_len(), h.flags(), h.window()), (60, 0x12, 0xf10));
        assert_eq!((h.checksum(), h.urgent_pointer()), (0x1112, 0x1314));
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0xf0, 0x12, 15, 16, 17, 18, 19, 20]);
    }

    fn with_options(area: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_LEN];
        bytes.extend_from_slice(area);
        Header::new_checked_mut(&mut bytes).unwrap().set_header_len(HEADER_LEN + area.len());
        bytes
    }

    #[test]
    fn options_are_read_to_the_end_or_the_first_bad_one() {
        let bytes = with_options(&[2, 4, 5, 0xb4, 1, 3, 3, 7, 4, 2, 0, 99]);
        let found: Vec<_> = options(&bytes).unwrap().map(Result::unwrap).collect();
        let kinds: Vec<_> = found.iter().map(|o| (o.kind, o.data)).collect();
        assert_eq!(kinds, [(2, &[5, 0xb4][..]), (3, &[7]), (4, &[])]);
        for bad in [[2, 5, 0, 0], [2, 0, 0, 0], [2, 1, 0, 0], [1, 1, 1, 2]] {
            let bytes = with_options(&bad);
            let items: Vec<_> = options(&bytes).unwrap().collect();
            assert_eq!(items, [Err(Error::BadOption)], "{bad:?}");
        }
        assert_eq!(options(&bytes[..31]).unwrap_err(), Error::Truncated);
        assert_eq!(options(&[0; 20]).unwrap_err(), Error::BadHeaderLength);
    }
}
