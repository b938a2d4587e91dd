//! ChaCha20-Poly1305 (RFC 8439): for processors without instructions for AES.

use super::fast;
use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit};

/// A cipher with its key.
pub(crate) struct ChaCha {
    portable: Box<ChaCha20Poly1305>,
    fast: Option<fast::ChaCha>,
}

impl ChaCha {
    /// By a key of 32 octets.
    pub(crate) fn new(key: &[u8]) -> Option<ChaCha> {
        let key: [u8; 32] = key.try_into().ok()?;
        Some(ChaCha { portable: Box::new(ChaCha20Poly1305::new(&key.into())), fast: fast::chacha(key) })
    }

    /// Encrypts in place; the check value.
    pub(crate) fn seal(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        match &self.fast {
            Some(fast) => fast::seal_chacha(fast, &nonce, data, text),
            None => {
                let sealed = self.portable.encrypt_inout_detached(&nonce.into(), data, InOutBuf::from(text));
                sealed.map_or([0; 16], Into::into)
            }
        }
    }

    /// Decrypts in place if the check value is right. Otherwise no octet of the text is decrypted.
    #[must_use]
    pub(crate) fn open(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8], check: [u8; 16]) -> bool {
        match &self.fast {
            Some(fast) => fast::open_chacha(fast, &nonce, data, text, &check),
            None => {
                let text = InOutBuf::from(text);
                self.portable.decrypt_inout_detached(&nonce.into(), data, text, &check.into()).is_ok()
            }
        }
    }
}
