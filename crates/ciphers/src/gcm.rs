//! AES-GCM. The crate `gcm` is the quickest, where the processor has VAES and VPCLMULQDQ with AVX-512. Elsewhere two implementations share the work: the
//! crate `aes-gcm` runs everywhere, and is the quicker one for short packets; graviola is about twice as quick for long ones, needs processors with
//! certain instructions, and no C compiler to be built.

use super::{Head, Place, fast};
use aes::{Aes128Enc, Aes256Enc};
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, AesGcm, KeyInit, aead::consts::U12};

/// Shorter texts go to the portable implementation. Where the lines through what both take for 64 and 340 octets meet.
const SHORT: usize = 112;

/// AES-GCM with its key, that of AES-128 or of AES-256.
pub struct Gcm(Implementation);

/// What says where the key of a text lies comes first, in one cache line.
#[repr(u8)]
#[allow(
    clippy::large_enum_variant,
    reason = "a key in its place is one pointer less to follow, and all keys of a machine are of one kind"
)]
enum Implementation {
    Wide(gcm::Key),
    Two(Option<Box<fast::Gcm>>, Portable),
}

/// GCM never decrypts by AES, so that half of AES's key schedules is enough.
#[repr(u8)]
enum Portable {
    Aes128(AesGcm<Aes128Enc, U12>),
    Aes256(AesGcm<Aes256Enc, U12>),
}

impl Portable {
    /// By a key of 16 or 32 octets, or none.
    fn new(key: &[u8]) -> Option<Portable> {
        Some(match key.len() {
            16 => Portable::Aes128(AesGcm::new_from_slice(key).ok()?),
            32 => Portable::Aes256(AesGcm::new_from_slice(key).ok()?),
            _ => return None,
        })
    }

    fn place(&self) -> Place {
        match self {
            Portable::Aes128(aes) => Place::of(aes),
            Portable::Aes256(aes) => Place::of(aes),
        }
    }

    fn seal(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        let (nonce, text) = (nonce.into(), InOutBuf::from(text));
        let sealed = match self {
            Portable::Aes128(aes) => aes.encrypt_inout_detached(&nonce, data, text),
            Portable::Aes256(aes) => aes.encrypt_inout_detached(&nonce, data, text),
        };
        // Fails beyond 64 GiB, which no packet has.
        sealed.map_or([0; 16], Into::into)
    }

    fn open(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8], check: [u8; 16]) -> bool {
        let (nonce, check, text) = (nonce.into(), check.into(), InOutBuf::from(text));
        let opened = match self {
            Portable::Aes128(aes) => aes.decrypt_inout_detached(&nonce, data, text, &check),
            Portable::Aes256(aes) => aes.decrypt_inout_detached(&nonce, data, text, &check),
        };
        opened.is_ok()
    }
}

impl Gcm {
    /// By a key of 16 or 32 octets, or none. The quickest implementation that the processor can run.
    pub fn new(key: &[u8]) -> Option<Gcm> {
        match gcm::Key::new(key) {
            Some(wide) => Some(Gcm(Implementation::Wide(wide))),
            None => Gcm::with_graviola(key),
        }
    }

    /// The two implementations for processors without wide vectors; one, if the processor lacks what the quicker one needs.
    pub(crate) fn with_graviola(key: &[u8]) -> Option<Gcm> {
        let portable = Portable::new(key)?;
        Some(Gcm(Implementation::Two(fast::gcm(key).map(Box::new), portable)))
    }

    /// The quickest implementation that leaves a text as it is that was changed on its way: graviola wipes it.
    pub fn restoring(key: &[u8]) -> Option<Gcm> {
        match gcm::Key::new(key) {
            Some(wide) => Some(Gcm(Implementation::Wide(wide))),
            None => Gcm::portable(key),
        }
    }

    /// The portable implementation alone.
    pub(crate) fn portable(key: &[u8]) -> Option<Gcm> {
        Some(Gcm(Implementation::Two(None, Portable::new(key)?)))
    }

    /// Where the key lies that a text of so many octets needs.
    pub(crate) fn place(&self, text: usize) -> Place {
        match &self.0 {
            Implementation::Wide(wide) => {
                let part = wide.part(text);
                Place { start: part.as_ptr(), octets: part.len() }
            }
            Implementation::Two(Some(fast), _) if text >= SHORT => Place::of(&**fast),
            Implementation::Two(_, portable) => portable.place(),
        }
    }

    /// Encrypts in place; the check value.
    #[must_use]
    pub fn seal(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8]) -> [u8; 16] {
        match &self.0 {
            Implementation::Wide(wide) => wide.seal(&nonce, data, text),
            Implementation::Two(Some(fast), _) if text.len() >= SHORT => {
                fast::seal_gcm(fast, &nonce, data, text)
            }
            Implementation::Two(_, portable) => portable.seal(nonce, data, text),
        }
    }

    /// As [`Gcm::seal`], with what ESP's header says.
    #[must_use]
    pub fn seal_esp(&self, nonce: [u8; 12], head: Head, text: &mut [u8]) -> [u8; 16] {
        if let Implementation::Wide(wide) = &self.0 {
            return wide.seal_short(&nonce, short(head), text);
        }
        let (data, len) = head.additional_data();
        self.seal(nonce, &data[..len], text)
    }

    /// As [`Gcm::open`], with what ESP's header says.
    #[must_use]
    pub fn open_esp(&self, nonce: [u8; 12], head: Head, text: &mut [u8], check: [u8; 16]) -> bool {
        if let Implementation::Wide(wide) = &self.0 {
            return wide.open_short(&nonce, short(head), text, &check);
        }
        let (data, len) = head.additional_data();
        self.open(nonce, &data[..len], text, check)
    }

    /// Decrypts in place if the check value is right. Otherwise no octet of the text is decrypted, and graviola has wiped it.
    #[must_use]
    pub fn open(&self, nonce: [u8; 12], data: &[u8], text: &mut [u8], check: [u8; 16]) -> bool {
        match &self.0 {
            Implementation::Wide(wide) => wide.open(&nonce, data, text, &check),
            Implementation::Two(Some(fast), _) if text.len() >= SHORT => {
                fast::open_gcm(fast, &nonce, data, text, &check)
            }
            Implementation::Two(_, portable) => portable.open(nonce, data, text, check),
        }
    }
}

/// [`Head::additional_data`], in registers.
#[inline]
fn short(head: Head) -> gcm::Short {
    let spi = u128::from(head.spi) << 96;
    match head.extended {
        true => gcm::Short::new(spi | u128::from(head.number) << 32, 12),
        false => gcm::Short::new(spi | u128::from(head.number as u32) << 64, 8),
    }
}
