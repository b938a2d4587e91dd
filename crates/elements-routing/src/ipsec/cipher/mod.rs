//! What protects the contents of ESP packets. One file a cipher; how each lies in a packet is here.
//!
//! A packet of ESP is, in this order: the header, an initialisation vector, the text with its padding and trailer, the check value (RFC 4303,
//! section 2).

mod cbc_sha256;
mod chacha;
mod fast;
pub(crate) mod gcm;

use cbc_sha256::CbcSha256;
use chacha::ChaCha;
use elements_shared::esp_front::IV_LEN;
use elements_shared::ipsec_port::Algorithm;
use gcm::Gcm;
use wire::esp::{self, HEADER_LEN};

/// Octets of the check value, in all of them.
pub(crate) const CHECK_LEN: usize = 16;
/// Octets of CBC's initialisation vector.
pub(crate) const IV_CBC: usize = 16;
/// Octets of the salt, which stands behind the key in what is agreed on (RFC 4106, section 8.1).
pub(crate) const SALT_LEN: usize = 4;

/// What the header of a packet says, and the half of the sequence number that it does not.
#[derive(Clone, Copy)]
pub(crate) struct Head {
    pub(crate) spi: u32,
    pub(crate) number: u64,
    /// Whether numbers have 64 bits.
    pub(crate) extended: bool,
}

impl Head {
    /// What is not encrypted, but must not be changed either: the header, with all of the sequence number (RFC 4106, section 5). And how many
    /// octets of this array that is.
    #[inline]
    pub(crate) fn additional_data(self) -> ([u8; 12], usize) {
        let mut data = [0; 12];
        data[..4].copy_from_slice(&self.spi.to_be_bytes());
        if self.extended {
            data[4..].copy_from_slice(&self.number.to_be_bytes());
            return (data, 12);
        }
        data[4..8].copy_from_slice(&(self.number as u32).to_be_bytes());
        (data, 8)
    }

    /// The octets of the header.
    #[inline]
    fn bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        let mut header = esp::Header::new(&mut bytes);
        header.set_spi(self.spi);
        header.set_sequence(self.number as u32);
        bytes
    }
}

/// A cipher with its key.
pub(crate) enum Cipher {
    Gcm(Gcm, [u8; SALT_LEN]),
    Gmac(Gcm, [u8; SALT_LEN]),
    ChaCha(ChaCha, [u8; SALT_LEN]),
    CbcSha256(Box<CbcSha256>),
}

/// The nonce of RFC 4106, section 4, and of RFC 7634, section 2.
#[inline]
pub(crate) fn nonce(salt: [u8; SALT_LEN], iv: [u8; IV_LEN]) -> [u8; 12] {
    let ([a, b, c, d], [e, f, g, h, i, j, k, l]) = (salt, iv);
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

impl Cipher {
    /// By what both ends have agreed on.
    ///
    /// # Errors
    /// The key has a wrong length; the sentence says which it should have.
    pub(crate) fn new(algorithm: Algorithm, material: &[u8]) -> Result<Cipher, &'static str> {
        let salted = material.split_last_chunk::<SALT_LEN>();
        let cipher = match algorithm {
            Algorithm::AesGcm => salted.and_then(|(key, salt)| Some(Cipher::Gcm(Gcm::new(key)?, *salt))),
            Algorithm::AesGmac => salted.and_then(|(key, salt)| Some(Cipher::Gmac(Gcm::new(key)?, *salt))),
            Algorithm::ChaCha20Poly1305 => {
                salted.and_then(|(key, salt)| Some(Cipher::ChaCha(ChaCha::new(key)?, *salt)))
            }
            Algorithm::AesCbcSha256 => CbcSha256::new(material).map(|both| Cipher::CbcSha256(Box::new(both))),
        };
        cipher.ok_or(match algorithm {
            Algorithm::AesGcm | Algorithm::AesGmac => {
                "the key must have 20 or 36 octets: those of AES-128 or AES-256, and 4 of salt"
            }
            Algorithm::ChaCha20Poly1305 => "the key must have 36 octets: those of ChaCha20, and 4 of salt",
            Algorithm::AesCbcSha256 => {
                "the key must have 48 or 64 octets: those of AES-128 or AES-256, and 32 of HMAC"
            }
        })
    }

    /// Octets of the initialisation vector.
    #[inline]
    pub(crate) fn iv_len(&self) -> usize {
        if matches!(self, Cipher::CbcSha256(_)) { IV_CBC } else { IV_LEN }
    }

    /// The text with its trailer is a multiple of so many octets.
    #[inline]
    pub(crate) fn alignment(&self) -> usize {
        if matches!(self, Cipher::CbcSha256(_)) { IV_CBC } else { esp::ALIGNMENT }
    }

    /// Makes a packet of ESP of a place that has the text in it, with room around: writes the header, an initialisation vector of `once`, which no
    /// other packet may have, and the check value. False if the place is too short.
    #[inline]
    #[must_use]
    pub(crate) fn seal(&self, head: Head, once: u64, packet: &mut [u8]) -> bool {
        let Some((front, check)) = packet.split_last_chunk_mut::<CHECK_LEN>() else { return false };
        let Some((header, rest)) = front.split_first_chunk_mut::<HEADER_LEN>() else { return false };
        *header = head.bytes();
        if let Cipher::CbcSha256(both) = self {
            let Some((iv, text)) = rest.split_first_chunk_mut::<IV_CBC>() else { return false };
            *iv = both.vector(once);
            both.encrypt(*iv, text);
            *check = both.check_value(head, front);
            return true;
        }
        let Some((iv, text)) = rest.split_first_chunk_mut::<IV_LEN>() else { return false };
        *iv = once.to_be_bytes();
        let (data, len) = head.additional_data();
        *check = match self {
            Cipher::Gcm(gcm, salt) => gcm.seal(nonce(*salt, *iv), &data[..len], text),
            Cipher::ChaCha(chacha, salt) => chacha.seal(nonce(*salt, *iv), &data[..len], text),
            Cipher::Gmac(gcm, salt) => gcm.seal(nonce(*salt, *iv), front, &mut []),
            Cipher::CbcSha256(_) => return false,
        };
        true
    }

    /// Decrypts the text of a packet of ESP in place, if nothing of the packet was changed. Otherwise no octet of it is decrypted.
    #[inline]
    #[must_use]
    pub(crate) fn open(&self, head: Head, packet: &mut [u8]) -> bool {
        let Some((front, check)) = packet.split_last_chunk_mut::<CHECK_LEN>() else { return false };
        if let Cipher::CbcSha256(both) = self {
            if !both.is_check_value(head, front, check) {
                return false;
            }
            let iv = front.get_mut(HEADER_LEN..).and_then(<[u8]>::split_first_chunk_mut::<IV_CBC>);
            let Some((iv, text)) = iv else { return false };
            if text.len() % IV_CBC != 0 {
                return false;
            }
            both.decrypt(*iv, text);
            return true;
        }
        let Some((iv, text)) = front.get_mut(HEADER_LEN..).and_then(<[u8]>::split_first_chunk_mut::<IV_LEN>)
        else {
            return false;
        };
        let (data, len) = head.additional_data();
        match self {
            Cipher::Gcm(gcm, salt) => gcm.open(nonce(*salt, *iv), &data[..len], text, *check),
            Cipher::ChaCha(chacha, salt) => chacha.open(nonce(*salt, *iv), &data[..len], text, *check),
            Cipher::Gmac(gcm, salt) => gcm.open(nonce(*salt, *iv), front, &mut [], *check),
            Cipher::CbcSha256(_) => false,
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
