//! Encrypts or decrypts packets of an IPsec tunnel by DES (old).
//!
//! ```click
//! IPsecDES(ENCRYPT [, KEY, IGNORE])
//! ```
//!
//! For configurations that use Click's IPsec elements. DES has keys of 56 bits, which can be found by trying them all: it keeps nothing secret
//! today. Use ESPEncap and ESPDecap instead.
//!
//! A packet has to begin with an ESP header and an initialisation vector of 8 octets. The rest, except for the check value at the end, is
//! encrypted or decrypted in CBC mode (RFC 2405) with KEY, or without KEY with the first 8 octets of the encryption key of the association that
//! RadixIPsecLookup has found for the packet. If that is not a whole number of blocks of 8 octets, the first octets of the check value complete the
//! last block. Packets without a key are dropped, and so are packets that are too short.
//!
//! Decrypting alone does not show whether a packet was changed: IPsecAuthHMACSHA1 must follow.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ENCRYPT` (integer): 0 to decrypt, otherwise to encrypt.
//! - `KEY` (string): 8 octets, which may be written as 16 hexadecimal digits. It is in Click's documentation, but Click itself uses only the keys
//!   of associations.
//! - `IGNORE` (integer, default 12): the number of octets at the end that are not encrypted; also only in Click's documentation. With 0,
//!   IPsecAuthHMACSHA1 can come after the encryption, as RFC 4303 requires.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> IPsecESPEncap(234) -> IPsecAuthSHA1(0) -> IPsecDES(1, \<01234567 89abcdef>)
//!   -> IPsecDES(0, \<01234567 89abcdef>) -> IPsecAuthSHA1(1) -> IPsecESPUnencap -> Discard
//! ```
//!
//! # See also
//! RadixIPsecLookup, IPsecAuthHMACSHA1, IPsecAES, ESPEncap, ESPDecap

use super::chain::{DIGEST_LEN, decrypt, encrypt, parts};
use super::table::Associations;
use super::words;
use des::Des;
use des::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use elements_shared::key_argument::without_key;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, FromArg, PerPacket, Scope, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsecDES", create)
    .hides(|config| without_key(config, 1, &["ENCRYPT", "IGNORE"]))
    .doc(router::manual!("ipsec_des.rs"));

struct IpsecDes {
    encrypt: bool,
    /// The cipher of KEY.
    own: Option<Des>,
    ignore: usize,
    /// There from the start on.
    associations: Associations,
}

/// A key as an argument.
struct Key([u8; 8]);

/// How many octets to ignore. Early Clicks had a key in this place, which no message may say.
struct Ignore(u32);

impl FromArg for Ignore {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        words::number(text, scope, 0, u32::MAX).map(Ignore)
    }
}

impl FromArg for Key {
    fn from_arg(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        words::key(text, scope).map(Key)
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut encrypt, mut key, mut ignore) = (0i32, None::<Key>, Ignore(DIGEST_LEN as u32));
    config
        .args()
        .required("ENCRYPT", &mut encrypt)
        .positional("KEY", &mut key)
        .positional("IGNORE", &mut ignore)
        .finish()?;
    Ok(Box::new(PerPacket(IpsecDes {
        encrypt: encrypt != 0,
        own: key.map(|Key(key)| Des::new(&key.into())),
        ignore: ignore.0 as usize,
        associations: Associations::default(),
    })))
}

impl IpsecDes {
    fn turn(&self, cx: &Cx<'_>, packet: &mut Packet) -> Result<(), &'static str> {
        let des = match &self.own {
            Some(own) => own,
            None => &self.associations.needed(packet, cx.turn())?.des,
        };
        let (iv, blocks) = parts::<8>(packet.data_mut(), self.ignore)?;
        if self.encrypt {
            encrypt(iv, blocks, |block| des.encrypt_block(block.into()));
        } else {
            decrypt(iv, blocks, |block| des.decrypt_block(block.into()));
        }
        Ok(())
    }
}

impl Simple for IpsecDes {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.turn(cx, packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.associations = Associations::of(cx);
        Ok(())
    }
}
