//! AES-CBC (RFC 3602) with HMAC-SHA-256-128 (RFC 4868): for peers that know nothing better.

use super::{Head, IV_CBC};
use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Aes256};
use hmac::{Hmac, Mac};
use sha2::Sha256;

/// Octets of the key of HMAC, which stands behind that of AES.
const AUTHENTICATION: usize = 32;

/// Both, with their keys.
pub(crate) struct CbcSha256 {
    aes: Aes,
    hmac: Hmac<Sha256>,
    /// Makes initialisation vectors of sequence numbers: others must not be able to guess them (RFC 3602, section 3).
    vectors: Aes128,
}

enum Aes {
    Aes128(Box<Aes128>),
    Aes256(Box<Aes256>),
}

impl CbcSha256 {
    /// By the key of AES, of 16 or 32 octets, and that of HMAC behind it.
    pub(crate) fn new(material: &[u8]) -> Option<CbcSha256> {
        let (key, authentication) = material.split_last_chunk::<AUTHENTICATION>()?;
        let aes = match key.len() {
            16 => Aes::Aes128(Box::new(Aes128::new_from_slice(key).ok()?)),
            32 => Aes::Aes256(Box::new(Aes256::new_from_slice(key).ok()?)),
            _ => return None,
        };
        let hmac = <Hmac<Sha256> as KeyInit>::new_from_slice(authentication).ok()?;
        let drawn =
            hmac.clone().chain_update(b"initialisation vectors of this association").finalize().into_bytes();
        let vectors = Aes128::new_from_slice(&drawn[..16]).ok()?;
        Some(CbcSha256 { aes, hmac, vectors })
    }

    /// The initialisation vector for a number that comes once.
    pub(crate) fn vector(&self, number: u64) -> [u8; IV_CBC] {
        let mut block = Block::<Aes128>::default();
        block[8..].copy_from_slice(&number.to_be_bytes());
        self.vectors.encrypt_block(&mut block);
        block.into()
    }

    /// Encrypts whole blocks in place: each hides what the one before it has become.
    pub(crate) fn encrypt(&self, iv: [u8; IV_CBC], text: &mut [u8]) {
        let (blocks, mut before) = (text.as_chunks_mut::<IV_CBC>().0, iv);
        for block in blocks {
            block.iter_mut().zip(before).for_each(|(byte, before)| *byte ^= before);
            let mut one = Block::<Aes128>::from(*block);
            match &self.aes {
                Aes::Aes128(aes) => aes.encrypt_block(&mut one),
                Aes::Aes256(aes) => aes.encrypt_block(&mut one),
            }
            *block = one.into();
            before = *block;
        }
    }

    /// Decrypts whole blocks in place, several at once: processors have several on their way.
    pub(crate) fn decrypt(&self, iv: [u8; IV_CBC], text: &mut [u8]) {
        const AT_ONCE: usize = 8;
        let (blocks, mut before) = (text.as_chunks_mut::<IV_CBC>().0, iv);
        for some in blocks.chunks_mut(AT_ONCE) {
            let mut plain = [Block::<Aes128>::default(); AT_ONCE];
            plain.iter_mut().zip(some.iter()).for_each(|(plain, block)| *plain = (*block).into());
            match &self.aes {
                Aes::Aes128(aes) => aes.decrypt_blocks(&mut plain[..some.len()]),
                Aes::Aes256(aes) => aes.decrypt_blocks(&mut plain[..some.len()]),
            }
            for (block, plain) in some.iter_mut().zip(plain) {
                let next = *block;
                block
                    .iter_mut()
                    .zip(plain.iter().zip(before))
                    .for_each(|(byte, (plain, before))| *byte = plain ^ before);
                before = next;
            }
        }
    }

    fn mac(&self, head: Head, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.hmac.clone();
        mac.update(bytes);
        if head.extended {
            mac.update(&((head.number >> 32) as u32).to_be_bytes());
        }
        mac
    }

    /// The check value of everything in front of it.
    pub(crate) fn check_value(&self, head: Head, bytes: &[u8]) -> [u8; 16] {
        let mut check = [0; 16];
        check.copy_from_slice(&self.mac(head, bytes).finalize().into_bytes()[..16]);
        check
    }

    /// Whether that is the check value, found out in a time that does not depend on where it differs.
    #[must_use]
    pub(crate) fn is_check_value(&self, head: Head, bytes: &[u8], check: &[u8; 16]) -> bool {
        self.mac(head, bytes).verify_truncated_left(check).is_ok()
    }
}
