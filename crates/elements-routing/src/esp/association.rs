//! Security associations: what both ends of a tunnel agree on, and what they do with it. Ciphers are those of the IPsec element.

use ciphers::{CHECK_LEN, Gcm, Head, SALT_LEN, nonce};
use elements_shared::esp_front::IV_LEN;
use elements_shared::hexadecimal::from_hexadecimal;
use elements_shared::key_argument::without_key;
use router::{Bytes, Config, ConfigError, FileName};

/// Octets of the integrity check value, which stands behind it.
pub(super) const ICV_LEN: usize = CHECK_LEN;

/// Their arguments without KEY, for handlers.
pub(super) fn shown(config: &str) -> Option<String> {
    without_key(config, 1, &["SPI", "KEYFILE", "ESN", "WINDOW"])
}

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
                cipher(&bytes, Gcm::new)?;
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

    /// The association. A key's file is read when the router starts, not when its configuration is checked. Packets that were changed stay as they
    /// came if that is wanted, which costs time on some processors.
    pub(super) fn associate(&self, as_they_came: bool) -> Result<Association, ConfigError> {
        let material = match &self.secret {
            Secret::Bytes(bytes) => bytes.clone(),
            Secret::File(name) => {
                let bytes =
                    elements_shared::files::read(name).map_err(|why| format!("KEYFILE: {name}: {why}"))?;
                from_hexadecimal(&bytes).unwrap_or(bytes)
            }
        };
        let (cipher, salt) = cipher(&material, if as_they_came { Gcm::restoring } else { Gcm::new })?;
        Ok(Association { spi: self.spi, extended: self.extended, cipher, salt, material })
    }
}

/// The cipher by its key, and the salt behind that.
fn cipher(material: &[u8], new: fn(&[u8]) -> Option<Gcm>) -> Result<(Gcm, [u8; SALT_LEN]), ConfigError> {
    let parts = material.split_last_chunk();
    parts.and_then(|(key, &salt)| Some((new(key)?, salt))).ok_or_else(|| {
        ConfigError::from("the key must have 20 or 36 octets: those of AES-128 or AES-256, and 4 of salt")
    })
}

/// One direction of a tunnel.
pub(super) struct Association {
    pub(super) spi: u32,
    extended: bool,
    cipher: Gcm,
    salt: [u8; SALT_LEN],
    material: Vec<u8>,
}

#[cfg(test)]
impl Association {
    /// One with this key and salt.
    pub(super) fn with(spi: u32, material: &[u8]) -> Association {
        let (cipher, salt) = cipher(material, Gcm::new).unwrap_or_else(|_| panic!("no key"));
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
        self.cipher.seal_esp(nonce(self.salt, iv), self.head(number), text)
    }

    /// Decrypts `text` if what stands behind it says that nothing was changed. Otherwise the answer is false, and no
    /// octet is decrypted.
    #[inline]
    #[must_use]
    pub(super) fn open(&self, number: u64, iv: [u8; IV_LEN], text: &mut [u8], icv: [u8; ICV_LEN]) -> bool {
        self.cipher.open_esp(nonce(self.salt, iv), self.head(number), text, icv)
    }

    fn head(&self, number: u64) -> Head {
        Head { spi: self.spi, number, extended: self.extended }
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
            assert!(cipher(&vec![0; len], Gcm::new).is_err(), "{len}");
        }
    }
}
