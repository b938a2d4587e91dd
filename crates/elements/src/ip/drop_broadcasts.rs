//! Drops packets that arrived as link-level broadcast or multicast.
//!
//! ```click
//! DropBroadcasts()
//! ```
//!
//! Goes by the packet type annotation, which devices set. A router must not forward such packets (RFC 1812, section
//! 5.3.4).
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Handlers
//! - `drops` (read): packets dropped.
//!
//! # Example
//! ```click
//! InfiniteSource -> DropBroadcasts -> Discard
//! ```

use packet::{Kind, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("DropBroadcasts", create).doc(include_str!("drop_broadcasts.rs"));

struct DropBroadcasts(u64);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(DropBroadcasts(0))))
}

impl Simple for DropBroadcasts {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if matches!(packet.kind(), Kind::Broadcast | Kind::Multicast) {
            self.0 += 1;
            return Verdict::Drop("link-level broadcast");
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut DropBroadcasts, _| e.0).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::run_and_read;

    #[test]
    fn others_pass() {
        let config = "InfiniteSource(LIMIT 2, STOP true) -> b :: DropBroadcasts -> d :: Discard";
        assert_eq!(run_and_read(config, &["d.count", "b.drops"]), ["2", "0"]);
    }
}
