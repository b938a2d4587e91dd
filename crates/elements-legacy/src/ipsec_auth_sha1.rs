//! Appends a check value without a key to packets, or checks it (old).
//!
//! ```click
//! IPsecAuthSHA1(VERIFY)
//! ```
//!
//! For configurations that use Click's IPsec elements. It protects against accidents only: there is no key, so a host that changes a packet can
//! compute its check value; and SHA-1 is broken. Use ESPEncap and ESPDecap instead.
//!
//! The check value is the first 12 octets of SHA-1 over the whole packet. Packets with a wrong check value leave by output 1 if it is in use, and
//! are dropped otherwise; the first one is reported.
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
//! InfiniteSource -> IPsecAuthSHA1(0) -> IPsecAuthSHA1(1) -> Discard
//! ```
//!
//! # See also
//! IPsecAuthHMACSHA1, IPsecESPEncap, ESPEncap, ESPDecap

use super::chain::DIGEST_LEN;
use super::check::{Checker, append, split};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use sha1::{Digest, Sha1};

/// The class.
pub(crate) const CLASS: Class = Class::new("IPsecAuthSHA1", create)
    .ports("1/1-")
    .processing("a/ah")
    .doc(router::manual!("ipsec_auth_sha1.rs"));

struct IpsecAuthSha1(Checker);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(IpsecAuthSha1(Checker::new(config)?))))
}

fn digest(data: &[u8]) -> [u8; DIGEST_LEN] {
    Sha1::digest(data).first_chunk().copied().unwrap_or_default()
}

impl Simple for IpsecAuthSha1 {
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.0.verify {
            let digest = digest(packet.data());
            return append(packet, digest);
        }
        let is_right = split(packet.data()).is_some_and(|(data, found)| digest(data) == *found);
        self.0.judge(cx, packet, is_right)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut Self, _| e.0.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::send;

    /// As FIPS 180 has it for its first example.
    #[test]
    fn by_the_standard() {
        assert_eq!(digest(b"abc"), [0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e, 0x25, 0x71]);
    }

    /// What is changed or too short leaves at output 1 as it came, and a message says so once.
    #[test]
    fn changes_show() {
        let sealed = send("Inject -> IPsecAuthSHA1(0) -> Collect(0)", [b"abc".to_vec()]).data(0)[0].clone();
        assert_eq!(sealed.len(), 15);
        let wrong = (0..15).map(|at| {
            let mut wrong = sealed.clone();
            wrong[at] ^= 0x80;
            wrong
        });
        let wrong: Vec<_> = wrong.chain([vec![1; 11], vec![1]]).collect();
        let mut flow = send(
            "Inject -> s :: IPsecAuthSHA1(1) -> Collect(0); s[1] -> Collect(1)",
            wrong.iter().cloned().chain([sealed.clone()]),
        );
        assert_eq!((flow.data(0), flow.data(1)), (vec![b"abc".to_vec()], wrong));
        assert_eq!(
            (flow.read("s.drops"), flow.log()),
            ("17".into(), "Invalid SHA1 authentication digest\n".into())
        );
    }
}
