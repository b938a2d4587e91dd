//! Radiotap headers: what a wireless interface says of a frame, in front of it.
//!
//! A header starts with bitmaps of the fields that it has; the fields follow in the bitmaps' order, each at a multiple of its
//! alignment from the header's beginning.

use crate::Error;

/// Octets in front of the first field, with one bitmap.
pub const HEADER_LEN: usize = 8;

/// Numbers of fields.
pub mod field {
    /// When the first bit arrived, in microseconds.
    pub const TSFT: u8 = 0;
    /// Flags.
    pub const FLAGS: u8 = 1;
    /// Rate, in units of 500 kbit/s.
    pub const RATE: u8 = 2;
    /// Frequency, and flags of the channel.
    pub const CHANNEL: u8 = 3;
    /// Signal, in dBm.
    pub const DBM_SIGNAL: u8 = 5;
    /// Noise, in dBm.
    pub const DBM_NOISE: u8 = 6;
    /// Signal, in dB.
    pub const DB_SIGNAL: u8 = 12;
    /// Noise, in dB.
    pub const DB_NOISE: u8 = 13;
    /// Flags of a received frame.
    pub const RX_FLAGS: u8 = 14;
    /// Flags of a frame to send, or that was sent.
    pub const TX_FLAGS: u8 = 15;
    /// How often it may be sent again, or was.
    pub const DATA_RETRIES: u8 = 17;
    /// Modulation and coding: what is known, flags, index.
    pub const MCS: u8 = 19;
    /// Not a field: the next bitmap is of radiotap's fields again.
    pub const NAMESPACE: u8 = 29;
    /// Not a field that is for others: the next bitmap is a vendor's.
    pub const VENDOR: u8 = 30;
    /// Not a field: another bitmap follows.
    pub const MORE: u8 = 31;
}

/// Bits of [`field::FLAGS`].
pub mod flag {
    /// The frame ends with its check sequence.
    pub const CHECK_SEQUENCE: u8 = 0x10;
    /// Padding makes the frame's header a multiple of four octets long.
    pub const PADDED: u8 = 0x20;
    /// The check sequence is wrong.
    pub const BAD_CHECK_SEQUENCE: u8 = 0x40;
}

/// Alignment and size of fields 0 to 27.
const LAYOUT: [(u8, u8); 28] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (2, 4),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (4, 8),
    (1, 3),
    (4, 8),
    (2, 12),
    (8, 12),
    (2, 12),
    (2, 12),
    (2, 6),
    (1, 1),
    (2, 4),
];

/// The bits that are set, from the lowest on.
fn bits(mut map: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = map.trailing_zeros();
        map &= map.wrapping_sub(1);
        (bit < u32::BITS).then_some(bit as u8)
    })
}

/// A header whose length is in order.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a>(&'a [u8]);

impl<'a> Header<'a> {
    /// The header at the beginning of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] if it is longer than `bytes`, [`Error::BadVersion`] if it is of another version,
    /// [`Error::BadHeaderLength`] if its bitmaps do not fit into it.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Header<'a>, Error> {
        let &[version, _, low, high, ..] = bytes.first_chunk::<HEADER_LEN>().ok_or(Error::Truncated)?;
        if version != 0 {
            return Err(Error::BadVersion);
        }
        let len = usize::from(u16::from_le_bytes([low, high]));
        let header = Header(bytes.get(..len).ok_or(Error::Truncated)?);
        let mut at = 4;
        while header.bitmap(at).ok_or(Error::BadHeaderLength)? >> field::MORE != 0 {
            at += 4;
        }
        Ok(header)
    }

    /// How long it is.
    #[allow(clippy::len_without_is_empty)] // there is no empty one
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn bitmap(&self, at: usize) -> Option<u32> {
        self.0.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// The fields, number and contents of each, up to the first whose size is not known or that is not whole.
    pub fn fields(self) -> impl Iterator<Item = (u8, &'a [u8])> {
        let bitmaps = |at: &usize| self.bitmap(*at).is_some_and(|map| map >> field::MORE != 0);
        let count = (4..).step_by(4).take_while(bitmaps).count() + 1;
        let mut place = 4 + 4 * count;
        (0..count)
            .flat_map(move |map| {
                let map = self.bitmap(4 + 4 * map).unwrap_or(0);
                bits(map & !(1 << field::MORE))
            })
            .filter(|bit| *bit != field::NAMESPACE)
            .map_while(move |bit| {
                let (align, size) = *LAYOUT.get(usize::from(bit))?;
                // A power of two.
                let start = (place + usize::from(align - 1)) & !usize::from(align - 1);
                place = start + usize::from(size);
                Some((bit, self.0.get(start..place)?))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(maps: &[u32], rest: &[u8]) -> Vec<u8> {
        let len = 4 + 4 * maps.len() + rest.len();
        let maps = maps.iter().flat_map(|map| map.to_le_bytes());
        [0, 0, len as u8, 0].into_iter().chain(maps).chain(rest.iter().copied()).collect()
    }

    #[test]
    fn fields_lie_at_multiples_of_their_alignment() {
        let bytes = header(&[0b1110], &[0x10, 22, 0x6c, 0x09, 0xc0, 0]);
        let fields: Vec<_> = Header::new_checked(&bytes).unwrap().fields().collect();
        assert_eq!(fields, [(1, &[0x10][..]), (2, &[22]), (3, &[0x6c, 0x09, 0xc0, 0])]);
        let bytes = header(&[0b1010], &[0x10, 99, 0x6c, 0x09, 0xc0, 0]);
        let fields: Vec<_> = Header::new_checked(&bytes).unwrap().fields().collect();
        assert_eq!(fields, [(1, &[0x10][..]), (3, &[0x6c, 0x09, 0xc0, 0])]);
    }

    #[test]
    fn fields_of_several_bitmaps_are_read_and_a_vendors_skipped() {
        let more = 1 << field::MORE | 1 << field::NAMESPACE;
        let bytes = header(&[more | 4, 4], &[11, 12]);
        let fields: Vec<_> = Header::new_checked(&bytes).unwrap().fields().collect();
        assert_eq!(fields, [(2, &[11][..]), (2, &[12])]);
        let vendor = header(&[1 << field::MORE | 1 << field::VENDOR | 4, 4], &[11, 12, 13, 14, 15, 16, 17]);
        assert_eq!(Header::new_checked(&vendor).unwrap().fields().collect::<Vec<_>>(), [(2, &[11][..])]);
    }

    #[test]
    fn a_damaged_header_is_refused_or_has_fewer_fields() {
        let good = header(&[1], &[0; 8]);
        assert_eq!(Header::new_checked(&good).unwrap().fields().count(), 1);
        assert_eq!(Header::new_checked(&good[..15]).unwrap_err(), Error::Truncated);
        assert_eq!(Header::new_checked(&header(&[1], &[0; 7])).unwrap().fields().count(), 0);
        let mut other = good.clone();
        other[0] = 1;
        assert_eq!(Header::new_checked(&other).unwrap_err(), Error::BadVersion);
        other = header(&[1 << field::MORE], &[0, 0, 0]);
        assert_eq!(Header::new_checked(&other).unwrap_err(), Error::BadHeaderLength);
    }
}
