//! The header of IPsec's encapsulating security payload (RFC 4303, section 2).

use crate::field::{get_u32, set_u32, view};
use std::ops::{Deref, DerefMut};

/// Octets in the header.
pub const HEADER_LEN: usize = 8;

/// Octets behind the padding: how much of it there is, and the protocol of what is in front of it.
pub const TRAILER_LEN: usize = 2;

/// What is in front of the padding and behind the header ends at a multiple of so many octets.
pub const ALIGNMENT: usize = 4;

view! {
    /// An ESP header.
    Header, HEADER_LEN
}

impl<B: Deref<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Security parameters index: to the receiver, which association this is.
    #[inline]
    pub fn spi(&self) -> u32 {
        get_u32::<0, _>(&self.0)
    }

    /// Sequence number, or its lower half where they have 64 bits.
    #[inline]
    pub fn sequence(&self) -> u32 {
        get_u32::<4, _>(&self.0)
    }
}

impl<B: DerefMut<Target = [u8; HEADER_LEN]>> Header<B> {
    /// Sets the security parameters index.
    #[inline]
    pub fn set_spi(&mut self, spi: u32) {
        set_u32::<0, _>(&mut self.0, spi);
    }

    /// Sets the sequence number.
    #[inline]
    pub fn set_sequence(&mut self, sequence: u32) {
        set_u32::<4, _>(&mut self.0, sequence);
    }
}

/// Octets of padding behind `len` octets of payload, so that the trailer ends where it must.
#[inline]
#[must_use]
pub fn padding(len: usize) -> usize {
    (len + TRAILER_LEN).next_multiple_of(ALIGNMENT) - (len + TRAILER_LEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        let mut bytes = [0; HEADER_LEN];
        let mut header = Header::new(&mut bytes);
        header.set_spi(0x0102_0304);
        header.set_sequence(0x0506_0708);
        assert_eq!((header.spi(), header.sequence()), (0x0102_0304, 0x0506_0708));
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!([20, 21, 22, 23, 24].map(padding), [2, 1, 0, 3, 2]);
    }
}
