//! Encrypts or decrypts packets of an IPsec tunnel by AES, in Click's own way (old).
//!
//! ```click
//! IPsecAES(ENCRYPT)
//! ```
//!
//! For configurations that use Click's IPsec elements, and tunnels to routers that run Click; new ones should use ESPEncap and ESPDecap, which
//! other systems understand too. The encryption follows no standard: Click's initialisation vector has 8 octets, where AES in CBC mode needs 16
//! (RFC 3602), so that only the first half of each block is chained to the block before it.
//!
//! A packet has to begin with an ESP header and that vector. The rest is encrypted or decrypted with the encryption key of the association that
//! RadixIPsecLookup has found for the packet, except for the last 12 octets, the check value of IPsecAuthHMACSHA1. If the octets before the check
//! value are not a whole number of blocks, its first 8 octets are encrypted too. Packets without an association are dropped, and so are packets
//! that are too short.
//!
//! Decrypting alone does not show whether a packet was changed: IPsecAuthHMACSHA1 must follow.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ENCRYPT` (integer): 0 to decrypt, otherwise to encrypt.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 \<0183A947 1ABE01FF FA04103B B1020304> \<112233EE 55667788 88776655 44332211> 300 64);
//! r[0] -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> Discard;
//! r[1] -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> IPsecAES(1) -> IPsecEncap(esp) -> Discard;
//! ```
//!
//! # See also
//! RadixIPsecLookup, IPsecAuthHMACSHA1, IPsecDES, ESPEncap, ESPDecap

use super::chain::{DIGEST_LEN, decrypt, encrypt, parts};
use super::table::Associations;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsecAES", create).doc(router::manual!("ipsec_aes.rs"));

struct IpsecAes {
    encrypt: bool,
    /// There from the start on.
    associations: Associations,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut encrypt = 0i32;
    config.args().required("ENCRYPT", &mut encrypt).finish()?;
    Ok(Box::new(PerPacket(IpsecAes { encrypt: encrypt != 0, associations: Associations::default() })))
}

impl IpsecAes {
    fn turn(&self, cx: &Cx<'_>, packet: &mut Packet) -> Result<(), &'static str> {
        let aes = &self.associations.needed(packet, cx.turn())?.aes;
        let (iv, blocks) = parts::<16>(packet.data_mut(), DIGEST_LEN)?;
        if self.encrypt {
            encrypt(iv, blocks, |block| aes.encrypt_block(block.into()));
        } else {
            decrypt(iv, blocks, |block| aes.decrypt_block(block.into()));
        }
        Ok(())
    }
}

impl Simple for IpsecAes {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        self.turn(cx, packet).map_or_else(Verdict::Drop, |()| Verdict::Pass)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.associations = Associations::of(cx);
        Ok(())
    }
}
