//! Security associations: what both ends of a tunnel agree on, and what they do with it. The ciphers are the crate
//! `aes-gcm`'s, which uses the processor's instructions for them and, unlike others as fast, needs no C compiler to
//! be built.

use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{AeadInOut, Aes128Gcm, Aes256Gcm, KeyInit, Nonce, Tag};
use elements_shared::esp_front::IV_LEN;
use elements_shared::hexadecimal::from_hexadecimal;
use router::{Bytes, Config, ConfigError, FileName};

/// Octets of the integrity check value, which stands behind it.
pub(super) const ICV_LEN: usize = 16;
/// Octets of the salt, which stands behind the key in what is agreed on (RFC 4106, section 8.1).
const SALT_LEN: usize = 4;

/// What elements of an association are told.
pub(super) struct Settings {
    pub(super) spi: u32,
    /// Whether sequence numbers have 64 bits, of which the lower half is sent.
    pub(super) extended: bool,
    secret: Secret,
}

/// Where the key and the salt are.
enum Secret {
    Bytes(Vec<u8>),
    File(String),
}

impl Settings {
    /// Reads the arguments SPI, KEY, KEYFILE and ESN, and WINDOW where there is one.
    pub(super) fn read(config: &mut Config<'_>, window: Option<&mut u32>) -> Result<Settings, ConfigError> {
        let (mut spi, mut extended) = (0, false);
        let (mut key, mut key_file) = (None::<Bytes>, None::<FileName>);
        let mut args = config
            .args()
            .required("SPI", &mut spi)
            .positional("KEY", &mut key)
            .keyword("KEYFILE", &mut key_file)
            .keyword("ESN", &mut extended);
        if let Some(window) = window {
            args = args.keyword("WINDOW", window);
        }
        args.finish()?;
        if spi < 256 {
            return Err("SPI must be at least 256: those below are reserved".into());
        }
        let secret = match (key, key_file) {
            (Some(Bytes(bytes)), None) => {
                Cipher::of(&bytes)?;
                Secret::Bytes(bytes)
            }
            (None, Some(FileName(name))) => {
                elements_shared::key_file::warn_if_open(config, &name);
                Secret::File(name)
            }
            _ => return Err("either KEY or KEYFILE is needed".into()),
        };
        Ok(Settings { spi, extended, secret })
    }

    /// The association. A key's file is read when the router starts, not when its configuration is checked.
    pub(super) fn associate(&self) -> Result<Association, ConfigError> {
        let material = match &self.secret {
            Secret::Bytes(bytes) => bytes.clone(),
            Secret::File(name) => {
                let bytes =
                    elements_shared::files::read(name).map_err(|why| format!("KEYFILE: {name}: {why}"))?;
                from_hexadecimal(&bytes).unwrap_or(bytes)
            }
        };
        let (cipher, salt) = Cipher::of(&material)?;
        Ok(Association { spi: self.spi, extended: self.extended, cipher, salt, material })
    }
}

enum Cipher {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
}

impl Cipher {
    /// The cipher by its key, and the salt behind that.
    fn of(material: &[u8]) -> Result<(Cipher, [u8; SALT_LEN]), ConfigError> {
        let wrong = || {
            ConfigError::from("the key must have 20 or 36 octets: those of AES-128 or AES-256, and 4 of salt")
        };
        let (key, &salt) = material.split_last_chunk().ok_or_else(wrong)?;
        let cipher = match key.len() {
            16 => Aes128Gcm::new_from_slice(key).ok().map(|cipher| Cipher::Aes128(Box::new(cipher))),
            32 => Aes256Gcm::new_from_slice(key).ok().map(|cipher| Cipher::Aes256(Box::new(cipher))),
            _ => None,
        };
        Ok((cipher.ok_or_else(wrong)?, salt))
    }
}

/// One direction of a tunnel.
pub(super) struct Association {
    pub(super) spi: u32,
    extended: bool,
    cipher: Cipher,
    salt: [u8; SALT_LEN],
    material: Vec<u8>,
}

#[cfg(test)]
impl Association {
    /// One with this key and salt.
    pub(super) fn with(spi: u32, material: &[u8]) -> Association {
        let (cipher, salt) = Cipher::of(material).unwrap_or_else(|_| panic!("no key"));
        Association { spi, extended: false, cipher, salt, material: material.to_vec() }
    }
}

impl Association {
    /// Whether numbers that were used with one cannot be used with the other.
    pub(super) fn is_same(&self, other: &Association) -> bool {
        (self.spi, self.extended, &self.material) == (other.spi, other.extended, &other.material)
    }

    /// The last sequence number: none may come twice (RFC 4303, section 3.3.3).
    pub(super) fn last_number(&self) -> u64 {
        if self.extended { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Encrypts `text`, and says what is to stand behind it.
    #[inline]
    pub(super) fn seal(&self, number: u64, iv: [u8; IV_LEN], text: &mut [u8]) -> [u8; ICV_LEN] {
        let (data, len) = self.additional_data(number);
        let (nonce, text) = (self.nonce(iv), InOutBuf::from(text));
        let sealed = match &self.cipher {
            Cipher::Aes128(aes) => aes.encrypt_inout_detached(&nonce, &data[..len], text),
            Cipher::Aes256(aes) => aes.encrypt_inout_detached(&nonce, &data[..len], text),
        };
        // Fails beyond 64 GiB, which no packet has.
        sealed.map_or([0; ICV_LEN], Into::into)
    }

    /// Decrypts `text` if what stands behind it says that nothing was changed. Otherwise all stays as it is, and the answer is false.
    #[inline]
    #[must_use]
    pub(super) fn open(&self, number: u64, iv: [u8; IV_LEN], text: &mut [u8], icv: [u8; ICV_LEN]) -> bool {
        let (data, len) = self.additional_data(number);
        let (nonce, tag, text) = (self.nonce(iv), Tag::from(icv), InOutBuf::from(text));
        let opened = match &self.cipher {
            Cipher::Aes128(aes) => aes.decrypt_inout_detached(&nonce, &data[..len], text, &tag),
            Cipher::Aes256(aes) => aes.decrypt_inout_detached(&nonce, &data[..len], text, &tag),
        };
        opened.is_ok()
    }

    fn nonce(&self, iv: [u8; IV_LEN]) -> Nonce<aes_gcm::aead::consts::U12> {
        let ([a, b, c, d], [e, f, g, h, i, j, k, l]) = (self.salt, iv);
        [a, b, c, d, e, f, g, h, i, j, k, l].into()
    }

    /// What is not encrypted, but must not be changed either: the header, with all of the sequence number (RFC 4106,
    /// section 5). And how many octets of this array that is.
    fn additional_data(&self, number: u64) -> ([u8; 12], usize) {
        let mut data = [0; 12];
        data[..4].copy_from_slice(&self.spi.to_be_bytes());
        if self.extended {
            data[4..].copy_from_slice(&number.to_be_bytes());
            return (data, 12);
        }
        data[4..8].copy_from_slice(&(number as u32).to_be_bytes());
        (data, 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_files() {
        assert_eq!(from_hexadecimal(b"0x00fFa1\n"), Some(vec![0, 0xff, 0xa1]));
        assert_eq!(from_hexadecimal(b"0102"), Some(vec![1, 2]));
        for bytes in [&b"0x1"[..], b"zz", b"\xff\x00"] {
            assert_eq!(from_hexadecimal(bytes), None);
        }
        for len in [0, 4, 16, 19, 21, 32, 40] {
            assert!(Cipher::of(&vec![0; len]).is_err(), "{len}");
        }
    }
}
