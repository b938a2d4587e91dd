//! Appends a check value to packets of an IPsec tunnel, or checks it (old).
//!
//! ```click
//! IPsecAuthHMACSHA1(VERIFY)
//! ```
//!
//! For configurations that use Click's IPsec elements; new ones should use ESPEncap and ESPDecap, which encrypt and check in one step. SHA-1 is
//! broken as a hash. HMAC-SHA-1 is not, but the keys here have 16 octets where RFC 2404 requires 20.
//!
//! The check value is the first 12 octets of HMAC-SHA-1 (RFC 2404) over the whole packet, from its ESP header on, with the authentication key of
//! the association that RadixIPsecLookup has found for the packet. Packets without an association are dropped. Packets with a wrong check value
//! leave by output 1 if it is in use, and are dropped otherwise; the first one is reported.
//!
//! Ports: 1 input, 1 or more outputs. Processing: agnostic; outputs from 1 on are push. Workers: replicated.
//!
//! # Arguments
//! - `VERIFY` (integer): 0 to append the check value; otherwise, to check and remove it.
//!
//! # Handlers
//! - `drops` (read): packets with a wrong check value.
//!
//! # Example
//! ```click
//! Idle -> r :: RadixIPsecLookup(10.0.2.0/24 192.0.2.2 1 234 \<0183A947 1ABE01FF FA04103B B1020304> \<112233EE 55667788 88776655 44332211> 300 64);
//! r[0] -> StripIPHeader -> IPsecAES(0) -> IPsecAuthHMACSHA1(1) -> IPsecESPUnencap -> CheckIPHeader -> Discard;
//! r[1] -> IPsecESPEncap -> IPsecAuthHMACSHA1(0) -> IPsecAES(1) -> IPsecEncap(esp) -> Discard;
//! ```
//!
//! # See also
//! RadixIPsecLookup, IPsecAES, IPsecESPEncap, IPsecESPUnencap, ESPEncap, ESPDecap

use super::check::{Checker, append, split};
use super::table::Associations;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsecAuthHMACSHA1", create)
    .ports("1/1-")
    .processing("a/ah")
    .doc(router::manual!("ipsec_auth_hmac_sha1.rs"));

struct IpsecAuthHmacSha1 {
    checker: Checker,
    /// There from the start on.
    associations: Associations,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let checker = Checker::new(config)?;
    Ok(Box::new(PerPacket(IpsecAuthHmacSha1 { checker, associations: Associations::default() })))
}

impl Simple for IpsecAuthHmacSha1 {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let association = match self.associations.needed(packet, cx.turn()) {
            Ok(association) => association,
            Err(reason) => return Verdict::Drop(reason),
        };
        if !self.checker.verify {
            let digest = association.digest(packet.data());
            return append(packet, digest);
        }
        let is_right = split(packet.data()).is_some_and(|(data, digest)| association.is_digest(data, digest));
        self.checker.judge(cx, packet, is_right)
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.associations = Associations::of(cx);
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut Self, _| e.checker.drops).merged(Merge::Sum);
    }
}
