//! The header of IPsec's encapsulating security payload (RFC 4303, section 2), and what packets of it may be protected with.

use crate::field::{get_u32, set_u32, view};
use std::ops::{Deref, DerefMut};

/// Octets in the header.
pub const HEADER_LEN: usize = 8;

/// Octets behind the padding: how much of it there is, and the protocol of what is in front of it.
pub const TRAILER_LEN: usize = 2;

/// What is in front of the padding and behind the header ends at a multiple of so many octets.
pub const ALIGNMENT: usize = 4;

/// How packets are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// AES-GCM with a check value of 16 octets (RFC 4106). The key is followed by 4 octets of salt.
    AesGcm,
    /// AES-GMAC: packets can be read, but not changed (RFC 4543). The key is followed by 4 octets of salt.
    AesGmac,
    /// ChaCha20-Poly1305 (RFC 7634). The key is followed by 4 octets of salt.
    ChaCha20Poly1305,
    /// AES-CBC (RFC 3602) with HMAC-SHA-256-128 (RFC 4868). The key of AES is followed by the 32 octets of HMAC's.
    AesCbcSha256,
}

impl Algorithm {
    /// All of them, with their names in commands.
    pub const ALL: [(&'static str, Algorithm); 4] = [
        ("aes-gcm", Algorithm::AesGcm),
        ("aes-gmac", Algorithm::AesGmac),
        ("chacha20-poly1305", Algorithm::ChaCha20Poly1305),
        ("aes-cbc-sha256", Algorithm::AesCbcSha256),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Algorithm::ALL.iter().find(|(_, of)| *of == self).map_or("", |(name, _)| name)
    }
}

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

/// Octets of padding behind `len` octets of payload, so that the trailer ends at a multiple of so many octets, a power of two.
#[inline]
#[must_use]
pub fn padding(len: usize, multiple: usize) -> usize {
    (len + TRAILER_LEN).next_multiple_of(multiple) - (len + TRAILER_LEN)
}

/// Fills the padding, which counts up from 1 (section 2.4), and the trailer behind it: all that `place` has room for.
#[inline]
pub fn fill_trailer(place: &mut [u8], next_header: u8) {
    if let Some((padding, trailer)) = place.split_last_chunk_mut() {
        match padding {
            [] => {}
            [a] => *a = 1,
            [a, b] => (*a, *b) = (1, 2),
            [a, b, c] => (*a, *b, *c) = (1, 2, 3),
            _ => (1..).zip(padding.iter_mut()).for_each(|(at, byte)| *byte = at),
        }
        *trailer = [padding.len() as u8, next_header];
    }
}

/// Octets of payload in what stands in front of the trailer, which says how much of that is padding. None if it is not.
#[inline]
#[must_use]
pub fn payload_len(text: &[u8], padding: u8) -> Option<usize> {
    let len = text.len().checked_sub(usize::from(padding))?;
    (1..=u8::MAX).zip(&text[len..]).all(|(at, &byte)| at == byte).then_some(len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_fields_and_padding_follow_the_rfc() {
        let mut bytes = [0; HEADER_LEN];
        let mut header = Header::new(&mut bytes);
        header.set_spi(0x0102_0304);
        header.set_sequence(0x0506_0708);
        assert_eq!((header.spi(), header.sequence()), (0x0102_0304, 0x0506_0708));
        assert_eq!(bytes, [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!([20, 21, 22, 23, 24].map(|len| padding(len, ALIGNMENT)), [2, 1, 0, 3, 2]);
        assert_eq!([0, 5, 6, 7, 8].map(|len| padding(len, 8)), [6, 1, 0, 7, 6]);
    }

    #[test]
    fn trailers_are_written_and_bad_ones_refused() {
        let mut text = [9; 8];
        fill_trailer(&mut text[3..], 4);
        assert_eq!(text, [9, 9, 9, 1, 2, 3, 3, 4]);
        assert_eq!(payload_len(&text[..6], 3), Some(3));
        for (text, padding) in [(&text[..6], 2), (&text[..6], 7), (&text[..5], 3), (&[], 1)] {
            assert_eq!(payload_len(text, padding), None, "{text:?} {padding}");
        }
        assert_eq!(payload_len(&[], 0), Some(0));
        let longest: Vec<u8> = (1..=255).collect();
        assert_eq!((payload_len(&longest, 255), payload_len(&longest, 0)), (Some(0), Some(255)));
        fill_trailer(&mut [0], 4);
        for padding in 0..20 {
            let mut place = vec![9; padding + TRAILER_LEN];
            fill_trailer(&mut place, 4);
            let counted = (1..).take(padding).chain([padding as u8, 4]);
            assert_eq!(place, counted.collect::<Vec<u8>>());
        }
    }
}
