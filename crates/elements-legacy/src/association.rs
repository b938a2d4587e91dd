//! Security associations of Click's IPsec elements: keys that the operator has written down, and how far numbers have come.
//!
//! Nothing here can be printed that has keys in it.

use super::chain::DIGEST_LEN;
use super::replay::Replay;
use aes::Aes128;
use aes::cipher::{BlockCipherEncrypt, KeyInit};
use des::Des;
use elements_shared::esp_front::IV_LEN;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Octets of a key.
pub(super) const KEY_LEN: usize = 16;

/// What both ends have agreed on.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Terms {
    pub(super) spi: u32,
    pub(super) encryption: [u8; KEY_LEN],
    pub(super) authentication: [u8; KEY_LEN],
    /// The first sequence number.
    pub(super) first: u32,
    /// How many numbers a packet may be late.
    pub(super) window: u8,
}

/// An association: the same for both directions, as Click has it.
pub(super) struct Association {
    /// By which packets name it. No other one of this program ever has the same.
    pub(super) id: u64,
    pub(super) terms: Terms,
    pub(super) aes: Aes128,
    pub(super) des: Des,
    hmac: Hmac<Sha1>,
    /// The next number to send.
    next: AtomicU64,
    /// What initialisation vectors are made of, beside that.
    start: OnceLock<u64>,
    seed: u64,
    pub(super) replay: Replay,
}

/// The DES key in the first half of a longer one.
fn des(key: &[u8; KEY_LEN]) -> Des {
    Des::new(&key.first_chunk::<8>().copied().unwrap_or_default().into())
}

/// The check values under a key, which zeros make as long as a block, as HMAC has it.
fn hmac(key: &[u8; KEY_LEN]) -> Hmac<Sha1> {
    let mut block = [0; 64];
    block[..KEY_LEN].copy_from_slice(key);
    Hmac::new(&block.into())
}

impl Association {
    /// One whose numbers begin. The seed is another one in each run.
    pub(super) fn new(terms: Terms, seed: u64) -> Association {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Association {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            aes: Aes128::new(&terms.encryption.into()),
            des: des(&terms.encryption),
            hmac: hmac(&terms.authentication),
            next: AtomicU64::new(terms.first.into()),
            start: OnceLock::new(),
            seed,
            replay: Replay::new(terms.first, terms.window),
            terms,
        }
    }

    /// The next number to send; none if they are used up: they never begin anew. Nothing else depends on it, so any order of
    /// memory will do.
    pub(super) fn number(&self) -> Option<u32> {
        u32::try_from(self.next.fetch_add(1, Ordering::Relaxed)).ok()
    }

    /// The last number that was sent; the one before the first if none was.
    pub(super) fn last_sent(&self) -> u64 {
        self.next.load(Ordering::Relaxed).min(1 << 32) - 1
    }

    /// The initialisation vector of a packet. It cannot be foretold without the key: it is an encrypted number (NIST SP 800-38A, appendix
    /// C), which comes once, also if sequence numbers begin anew with the router.
    pub(super) fn vector(&self, number: u32, now_ns: i64) -> [u8; IV_LEN] {
        let start = *self.start.get_or_init(|| self.seed.wrapping_add(now_ns as u64));
        let mut block = (u128::from(start) << 64 | u128::from(number)).to_be_bytes();
        self.aes.encrypt_block((&mut block).into());
        block.first_chunk().copied().unwrap_or_default()
    }

    /// The check value of a packet.
    pub(super) fn digest(&self, data: &[u8]) -> [u8; DIGEST_LEN] {
        let digest = self.hmac.clone().chain_update(data).finalize().into_bytes();
        digest.first_chunk().copied().unwrap_or_default()
    }

    /// Whether that is the check value of a packet; it takes as long whatever is wrong.
    pub(super) fn is_digest(&self, data: &[u8], digest: &[u8; DIGEST_LEN]) -> bool {
        self.hmac.clone().chain_update(data).verify_truncated_left(digest).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        Terms {
            spi: 234,
            encryption: [1; 16],
            authentication: *b"Jefe\0\0\0\0\0\0\0\0\0\0\0\0",
            first: 300,
            window: 64,
        }
    }

    /// As RFC 2202, section 3, test case 2, has it, whose key has 4 octets: zeros behind it make no difference.
    #[test]
    fn check_values_by_the_standard() {
        let (association, data) = (Association::new(terms(), 0), b"what do ya want for nothing?");
        let digest = [0xef, 0xfc, 0xdf, 0x6a, 0xe5, 0xeb, 0x2f, 0xa2, 0xd2, 0x74, 0x16, 0xd5];
        assert_eq!(association.digest(data), digest);
        assert!(association.is_digest(data, &digest));
        for at in 0..DIGEST_LEN {
            let mut wrong = digest;
            wrong[at] ^= 1;
            assert!(!association.is_digest(data, &wrong), "{at}");
        }
    }

    /// Numbers end; vectors differ with the number, the start and the key.
    #[test]
    fn numbers_and_vectors() {
        let association = Association::new(Terms { first: u32::MAX - 1, ..terms() }, 7);
        assert_eq!(association.last_sent(), u64::from(u32::MAX) - 2);
        assert_eq!([(); 4].map(|()| association.number()), [Some(u32::MAX - 1), Some(u32::MAX), None, None]);
        assert_eq!(association.last_sent(), u64::from(u32::MAX));
        let later = Association::new(terms(), 7);
        let other = Association::new(Terms { encryption: [2; 16], ..terms() }, 7);
        let vectors =
            [association.vector(1, 5), association.vector(2, 5), later.vector(1, 6), other.vector(1, 5)];
        let different: std::collections::BTreeSet<_> = vectors.iter().collect();
        assert_eq!(different.len(), 4);
        assert_eq!(association.vector(1, 99), vectors[0]);
    }
}
