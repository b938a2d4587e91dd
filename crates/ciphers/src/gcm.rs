//! AES-GCM. Two implementations stand behind it. The crate `aes-gcm` runs everywhere, and is the quicker one for short packets; graviola
//! is about twice as quick for long ones, needs processors with certain instructions, and no C compiler to be built.

use super::{Place, fast};
use aes::{Aes128Enc, Aes256Enc};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, AesGcm, KeyInit, aead::consts::U12};

/// Shorter texts go to the portable implementation. Where the lines through what both take for 64 and 340 octets meet.
const SHORT: usize = 112;

/// AES-GCM with its key, that of AES-128 or of AES-256. What says where the key of a text lies comes first, in one cache line.
#[repr(C)]
pub struct Gcm {
    fast: Option<Box<fast::Gcm>>,
    portable: Portable,
}

/// GCM never decrypts by AES, so that half of AES's key schedules is enough.
#[repr(u8)]
enum Portable {
    Aes128(AesGcm<Aes128Enc, U12>),
    Aes256(AesGcm<Aes256Enc, U12>),
}

impl Gcm {
    /// By a key of 16 or 32 octets, or none. Two implementations if the processor has what the quicker one needs.
    pub fn new(key: &[u8]) -> Option<Gcm> {
        let mut gcm = Gcm::portable(key)?;
        gcm.fast = fast::gcm(key).map(Box::new);
        Some(gcm)
    }

    /// The portable implementation alone, which leaves a text as it is that was changed on its way; the other one wipes it.
    pub fn portable(key: &[u8]) -> Option<Gcm> {
        let portable = match key.len() {
            16 => Portable::Aes128(AesGcm::new_from_slice(key).ok()?),
            32 => Portable::Aes256(AesGcm::new_from_slice(key).ok()?),
            _ => return None,
        };
        Some(Gcm { fast: None, portable })
    }

    /// Where the key lies that a text of so many octets needs.
    pub(crate) fn place(&self, text: usize) -> Place {
        match (&self.fast, &self.portable) {
            (Some(fast), _) if text >= SHORT => Place::of(&**fast),
            (_, Portable::Aes128(aes)) => Place::of(aes),
            (_, Portable::Aes256(aes)) => Place::of(aes),
        }
    }

    /// Encrypts in place; the check value.
    #[must_use]
    pub fn seal(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        if let Some(fast) = self.fast.as_ref().filter(|_| text.len() >= SHORT) {
            return fast::seal_gcm(fast, &nonce, data, text);
        }
        let (nonce, text) = (nonce.into(), InOutBuf::from(text));
        let sealed = match &self.portable {
            Portable::Aes128(aes) => aes.encrypt_inout_detached(&nonce, data, text),
            Portable::Aes256(aes) => aes.encrypt_inout_detached(&nonce, data, text),
        };
        // Fails beyond 64 GiB, which no packet has.
        sealed.map_or([0; 16], Into::into)
    }

    /// Decrypts in place if the check value is right. Otherwise no octet of the text is decrypted, and the quicker implementation has wiped it.
    #[must_use]
    pub fn open(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8], check: [u8; 16]) -> bool {
        if let Some(fast) = self.fast.as_ref().filter(|_| text.len() >= SHORT) {
            return fast::open_gcm(fast, &nonce, data, text, &check);
        }
        let (nonce, check, text) = (nonce.into(), check.into(), InOutBuf::from(text));
        let opened = match &self.portable {
            Portable::Aes128(aes) => aes.decrypt_inout_detached(&nonce, data, text, &check),
            Portable::Aes256(aes) => aes.decrypt_inout_detached(&nonce, data, text, &check),
        };
        opened.is_ok()
    }
}
