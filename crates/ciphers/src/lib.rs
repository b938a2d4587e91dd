//! What protects the contents of ESP packets. One file a cipher; how each lies in a packet is here.
//!
//! A packet of ESP is, in this order: the header, an initialisation vector, the text with its padding and trailer, the check value (RFC 4303,
//! section 2). [`Cipher::seal`] makes one in place, and [`Cipher::open`] decrypts one. [`Gcm`] is AES-GCM alone, for those who lay out packets
//! themselves. The crate knows nothing of associations, of replays or of packet buffers; of `wire` it has the header of ESP. Tests are in `tests.rs`:
//! the RFCs' vectors, the implementations of AES-GCM against each other, and packets that were changed.
//!
//! # Compiled as one
//!
//! The release profile compiles this crate in one code generation unit, and functions that call a cipher are not inlined into other crates: the generic
//! code of the ciphers would be compiled there again, spread over units, where its small functions are not inlined.
#![forbid(unsafe_code)]

mod cbc_sha256;
mod chacha;
mod fast;
mod gcm;
mod gmac;

pub use gcm::Gcm;

use cbc_sha256::CbcSha256;
use chacha::ChaCha;
use gmac::Gmac;
use wire::esp::{self, Algorithm, HEADER_LEN};

/// Octets of the check value, in all of them.
pub const CHECK_LEN: usize = 16;
/// Octets of the initialisation vector of all but CBC (RFC 4106, section 3.1).
pub const IV_LEN: usize = 8;
/// Octets of CBC's initialisation vector.
const IV_CBC: usize = 16;
/// Octets of the salt, which stands behind the key in what is agreed on (RFC 4106, section 8.1).
pub const SALT_LEN: usize = 4;

/// Whether this processor runs graviola, the quicker implementation, which others may want to use, too. It panics on processors that lack what it
/// needs.
pub fn has_graviola() -> bool {
    fast::runs()
}

/// What the header of a packet says, and the half of the sequence number that it does not.
#[derive(Clone, Copy)]
pub struct Head {
    /// Security parameters index.
    pub spi: u32,
    /// Sequence number.
    pub number: u64,
    /// Whether numbers have 64 bits.
    pub extended: bool,
}

impl Head {
    /// What is not encrypted, but must not be changed either: the header, with all of the sequence number (RFC 4106, section 5). And how many
    /// octets of this array that is.
    #[inline]
    #[must_use]
    pub fn additional_data(self) -> ([u8; 12], usize) {
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

/// Where a key lies, for a caller that asks for its cache lines ahead.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Where it begins.
    pub start: *const u8,
    /// How long it is.
    pub octets: usize,
}

impl Place {
    fn of<T>(key: &T) -> Place {
        Place { start: std::ptr::from_ref(key).cast(), octets: size_of::<T>() }
    }
}

/// A cipher with its key.
pub struct Cipher(Kind);

/// What says where the key lies comes first.
#[repr(u8)]
#[allow(
    clippy::large_enum_variant,
    reason = "a key in its place is one pointer less to follow, and most are of AES-GCM"
)]
enum Kind {
    Gcm([u8; SALT_LEN], Gcm),
    Gmac(Gmac),
    ChaCha([u8; SALT_LEN], ChaCha),
    CbcSha256(Box<CbcSha256>),
}

/// The nonce of RFC 4106, section 4, and of RFC 7634, section 2.
#[inline]
#[must_use]
pub fn nonce(salt: [u8; SALT_LEN], iv: [u8; IV_LEN]) -> [u8; 12] {
    let ([a, b, c, d], [e, f, g, h, i, j, k, l]) = (salt, iv);
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

impl Cipher {
    /// By what both ends have agreed on.
    ///
    /// # Errors
    /// The key has a wrong length; the sentence says which it should have.
    pub fn new(algorithm: Algorithm, material: &[u8]) -> Result<Cipher, &'static str> {
        let salted = material.split_last_chunk::<SALT_LEN>();
        let kind = match algorithm {
            Algorithm::AesGcm => salted.and_then(|(key, salt)| Some(Kind::Gcm(*salt, Gcm::new(key)?))),
            Algorithm::AesGmac => salted.and_then(|(key, salt)| Gmac::new(key, *salt)).map(Kind::Gmac),
            Algorithm::ChaCha20Poly1305 => {
                salted.and_then(|(key, salt)| Some(Kind::ChaCha(*salt, ChaCha::new(key)?)))
            }
            Algorithm::AesCbcSha256 => CbcSha256::new(material).map(|both| Kind::CbcSha256(Box::new(both))),
        };
        kind.map(Cipher).ok_or(match algorithm {
            Algorithm::AesGcm | Algorithm::AesGmac => {
                "the key must have 20 or 36 octets: those of AES-128 or AES-256, and 4 of salt"
            }
            Algorithm::ChaCha20Poly1305 => "the key must have 36 octets: those of ChaCha20, and 4 of salt",
            Algorithm::AesCbcSha256 => {
                "the key must have 48 or 64 octets: those of AES-128 or AES-256, and 32 of HMAC"
            }
        })
    }

    /// Where the key lies that a text of so many octets needs. Of the cipher only which one it is, is read.
    #[inline]
    #[must_use]
    pub fn place(&self, text: usize) -> Place {
        match &self.0 {
            Kind::Gcm(_, gcm) => gcm.place(text),
            Kind::Gmac(gmac) => gmac.place(),
            Kind::ChaCha(_, chacha) => Place::of(chacha),
            Kind::CbcSha256(both) => Place::of(&**both),
        }
    }

    /// Octets of the initialisation vector.
    #[inline]
    #[must_use]
    pub fn iv_len(&self) -> usize {
        if matches!(self.0, Kind::CbcSha256(_)) { IV_CBC } else { IV_LEN }
    }

    /// The text with its trailer is a multiple of so many octets.
    #[inline]
    #[must_use]
    pub fn alignment(&self) -> usize {
        if matches!(self.0, Kind::CbcSha256(_)) { IV_CBC } else { esp::ALIGNMENT }
    }

    /// Makes a packet of ESP of a place that has the text in it, with room around: writes the header, an initialisation vector of `once`, which no
    /// other packet may have, and the check value. False if the place is too short.
    #[must_use]
    pub fn seal(&self, head: Head, once: u64, packet: &mut [u8]) -> bool {
        let Some((front, check)) = packet.split_last_chunk_mut::<CHECK_LEN>() else { return false };
        let Some((header, rest)) = front.split_first_chunk_mut::<HEADER_LEN>() else { return false };
        *header = head.bytes();
        if let Kind::CbcSha256(both) = &self.0 {
            let Some((iv, text)) = rest.split_first_chunk_mut::<IV_CBC>() else { return false };
            *iv = both.vector(once);
            both.encrypt(*iv, text);
            *check = both.check_value(head, front);
            return true;
        }
        let Some((iv, text)) = rest.split_first_chunk_mut::<IV_LEN>() else { return false };
        *iv = once.to_be_bytes();
        *check = match &self.0 {
            Kind::Gcm(salt, gcm) => gcm.seal_esp(nonce(*salt, *iv), head, text),
            Kind::ChaCha(salt, chacha) => {
                let (data, len) = head.additional_data();
                chacha.seal(nonce(*salt, *iv), &data[..len], text)
            }
            Kind::Gmac(gmac) => return gmac.seal(head, packet),
            Kind::CbcSha256(_) => return false,
        };
        true
    }

    /// Decrypts the text of a packet of ESP in place, if nothing of the packet was changed. Otherwise no octet of it is decrypted, and a quicker
    /// implementation may have overwritten it.
    #[must_use]
    pub fn open(&self, head: Head, packet: &mut [u8]) -> bool {
        if let Kind::Gmac(gmac) = &self.0 {
            return gmac.open(head, packet);
        }
        let Some((front, check)) = packet.split_last_chunk_mut::<CHECK_LEN>() else { return false };
        if let Kind::CbcSha256(both) = &self.0 {
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
        match &self.0 {
            Kind::Gcm(salt, gcm) => gcm.open_esp(nonce(*salt, *iv), head, text, *check),
            Kind::ChaCha(salt, chacha) => {
                let (data, len) = head.additional_data();
                chacha.open(nonce(*salt, *iv), &data[..len], text, *check)
            }
            Kind::Gmac(_) | Kind::CbcSha256(_) => false,
        }
    }
}

#[cfg(test)]
mod tests;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
