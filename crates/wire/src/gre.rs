//! Generic routing encapsulation (RFC 2784), with keys and sequence numbers (RFC 2890).

use crate::Error;
use crate::checksum;

/// Octets of a header without options, and of each option.
pub const HEADER_LEN: usize = 4;
/// Octets of a header with all options.
pub const LONGEST: usize = HEADER_LEN + 3 * OPTION_LEN;
const OPTION_LEN: usize = 4;

/// Bits of the first two octets.
mod flag {
    pub(super) const CHECKSUM: u16 = 0x8000;
    pub(super) const KEY: u16 = 0x2000;
    pub(super) const SEQUENCE: u16 = 0x1000;
    /// Others that a receiver must not ignore: RFC 1701's routing, whose length a receiver cannot tell from here.
    pub(super) const UNKNOWN: u16 = 0x4c00;
    pub(super) const VERSION: u16 = 0x0007;
}

/// What a header says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Type of what is inside, as Ethernet has them.
    pub protocol: u16,
    /// Whether there is a checksum, over the header and all behind it.
    pub summed: bool,
    /// To which of several tunnels the packet belongs.
    pub key: Option<u32>,
    /// The packet's number.
    pub sequence: Option<u32>,
}

impl Header {
    /// The header at the beginning of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] without the first four octets, [`Error::BadVersion`] of another version than 0, [`Error::BadHeaderLength`] if its options
    /// do not fit into `bytes`, or if it has some of which the length is not known.
    #[inline]
    pub fn read(bytes: &[u8]) -> Result<Header, Error> {
        let &[high, low, p0, p1] = bytes.first_chunk().ok_or(Error::Truncated)?;
        let flags = u16::from_be_bytes([high, low]);
        if flags & flag::VERSION != 0 {
            return Err(Error::BadVersion);
        }
        if flags & flag::UNKNOWN != 0 {
            return Err(Error::BadHeaderLength);
        }
        let mut options = bytes[HEADER_LEN..].chunks_exact(OPTION_LEN);
        let mut option = |bit: u16| match flags & bit {
            0 => Ok(None),
            _ => options.next().and_then(<[u8]>::first_chunk).map(Some).ok_or(Error::BadHeaderLength),
        };
        let summed = option(flag::CHECKSUM)?.is_some();
        let key = option(flag::KEY)?.map(|bytes| u32::from_be_bytes(*bytes));
        let sequence = option(flag::SEQUENCE)?.map(|bytes| u32::from_be_bytes(*bytes));
        Ok(Header { protocol: u16::from_be_bytes([p0, p1]), summed, key, sequence })
    }

    /// How long it is.
    #[inline]
    #[allow(clippy::len_without_is_empty)] // there is no empty one
    pub fn len(&self) -> usize {
        let options = [self.summed, self.key.is_some(), self.sequence.is_some()];
        HEADER_LEN + options.iter().filter(|there| **there).count() * OPTION_LEN
    }

    /// Its octets, as many as [`len`](Header::len) says, without the checksum.
    #[inline]
    pub fn bytes(&self) -> [u8; LONGEST] {
        let (mut bytes, mut flags, mut at) = ([0; LONGEST], 0, HEADER_LEN);
        let options = [
            (flag::CHECKSUM, self.summed.then_some(0)),
            (flag::KEY, self.key),
            (flag::SEQUENCE, self.sequence),
        ];
        for (bit, value) in options {
            if let Some(value) = value {
                flags |= bit;
                bytes[at..at + OPTION_LEN].copy_from_slice(&u32::to_be_bytes(value));
                at += OPTION_LEN;
            }
        }
        bytes[..2].copy_from_slice(&u16::to_be_bytes(flags));
        bytes[2..4].copy_from_slice(&self.protocol.to_be_bytes());
        bytes
    }
}

/// Fills in the checksum of a packet whose header has a place for one, in which nothing stands.
#[inline]
pub fn fill_checksum(packet: &mut [u8]) {
    let sum = checksum::checksum(packet).to_be_bytes();
    if let Some(place) = packet.get_mut(HEADER_LEN..HEADER_LEN + 2) {
        place.copy_from_slice(&sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (summed, key, sequence, len) in [
            (false, None, None, 4),
            (true, None, None, 8),
            (false, Some(5), None, 8),
            (true, Some(7), Some(u32::MAX), 16),
            (false, None, Some(0), 8),
        ] {
            let header = Header { protocol: 0x0800, summed, key, sequence };
            let bytes = header.bytes();
            assert_eq!((header.len(), Header::read(&bytes[..len])), (len, Ok(header)));
            let short = Header::read(&bytes[..len - 1]);
            let error = if len > 4 { Error::BadHeaderLength } else { Error::Truncated };
            assert_eq!(short, Err(error));
        }
        let all = Header { protocol: 0x86dd, summed: true, key: Some(0x01020304), sequence: Some(9) };
        assert_eq!(all.bytes(), [0xb0, 0, 0x86, 0xdd, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 9]);
    }

    #[test]
    fn other_versions_and_routing_are_refused() {
        assert_eq!(Header::read(&[0, 1, 8, 0, 0, 0]), Err(Error::BadVersion));
        for routing in [0x40, 0x08, 0x04] {
            assert_eq!(Header::read(&[routing, 0, 8, 0, 0, 0, 0, 0]), Err(Error::BadHeaderLength));
        }
        assert!(Header::read(&[0, 0x80, 8, 0]).is_ok(), "reserved bits are ignored");
    }

    #[test]
    fn the_checksum_covers_header_and_payload() {
        let mut packet = [0x80, 0, 8, 0, 0, 0, 0, 0, 0x12, 0x34, 0x56];
        fill_checksum(&mut packet);
        // 8000 + 0800 + 1234 + 5600 = f034
        assert_eq!(packet[4..6], [0x0f, 0xcb]);
        assert!(checksum::verify(&packet));
    }
}
