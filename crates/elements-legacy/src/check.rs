//! What the elements have in common that put a check value behind packets, or take it away.

use super::chain::DIGEST_LEN;
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Config, ConfigError, Cx, Verdict};

/// How such an element was told to be, and what it has found wrong.
pub(super) struct Checker {
    pub(super) verify: bool,
    outputs: usize,
    pub(super) drops: u64,
}

/// A packet's check value, and what is in front of it.
pub(super) fn split(data: &[u8]) -> Option<(&[u8], &[u8; DIGEST_LEN])> {
    data.split_last_chunk()
}

/// Puts a check value behind a packet.
pub(super) fn append(packet: &mut Packet, digest: [u8; DIGEST_LEN]) -> Verdict {
    if !packet.put(DIGEST_LEN) {
        return Verdict::Drop("no room");
    }
    if let Some(place) = packet.data_mut().last_chunk_mut() {
        *place = digest;
    }
    Verdict::Pass
}

/// Why packets are refused.
const REASON: &str = "wrong check value";

impl Checker {
    pub(super) fn new(config: &Config<'_>) -> Result<Checker, ConfigError> {
        let mut verify = 0i32;
        config.args().required("VERIFY", &mut verify).finish()?;
        Ok(Checker { verify: verify != 0, outputs: config.outputs(), drops: 0 })
    }

    /// What becomes of a packet with a check value, of which it is known whether it is right.
    pub(super) fn judge(&mut self, cx: &Cx<'_>, packet: &mut Packet, is_right: bool) -> Verdict {
        if is_right && packet.take(DIGEST_LEN) {
            return Verdict::Pass;
        }
        if self.drops == 0 {
            cx.complain("Invalid SHA1 authentication digest", REASON);
        }
        self.drops += 1;
        fail(self.outputs, REASON)
    }
}
