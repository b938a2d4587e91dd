//! Drops packets that arrived as link-layer broadcasts or multicasts.
//!
//! ```click
//! DropBroadcasts
//! ```
//!
//! Checks the packet type annotation, which devices and HostEtherFilter set; a router must not forward such packets
//! (RFC 1812, section 5.3.4). They leave by output 1 or, if that is not connected, are dropped; the first one is
//! reported on standard error.
//!
//! Ports: 1 input, 1-2 outputs. Processing: agnostic, output 1 push. Workers: replicated; counts add up.
//!
//! # Handlers
//! - `drops` (read): packets dropped.
//!
//! # Example
//! ```click
//! ... -> DropBroadcasts -> IPGWOptions(18.26.4.24) -> ...
//! ```
//!
//! # See also
//! CheckIPHeader, ICMPError

use packet::{Kind, Packet};
use router::{
    Class, Config, ConfigError, Cx, Decision, Element, Handlers, Look, Merge, PerPacket, Simple, Verdict,
};

/// The class.
pub(crate) const CLASS: Class = Class::new("DropBroadcasts", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("drop_broadcasts.rs"));

/// Why they are dropped.
pub(super) const REASON: &str = "link-layer broadcast or multicast";

struct DropBroadcasts {
    outputs: usize,
    drops: u64,
}

/// Whether a packet arrived as a link-layer broadcast or multicast.
#[inline]
pub(super) fn is_broadcast(packet: &Packet) -> bool {
    matches!(packet.kind(), Kind::Broadcast | Kind::Multicast)
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(DropBroadcasts { outputs: config.outputs(), drops: 0 })))
}

impl DropBroadcasts {
    #[cold]
    fn reject(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if self.drops == 0 {
            cx.complain("DropBroadcasts: dropped a packet", REASON);
        }
        self.drops += 1;
        elements_shared::verdict::fail(self.outputs, REASON)
    }
}

impl Simple for DropBroadcasts {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if is_broadcast(packet) { self.reject(cx) } else { Verdict::Pass }
    }

    fn explain(&self, _look: &Look<'_>, packet: &mut Packet) -> Option<Decision> {
        if is_broadcast(packet) {
            return Some(Decision::new(elements_shared::verdict::fail(self.outputs, REASON), REASON));
        }
        Some(Decision::new(Verdict::Pass, ""))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut DropBroadcasts, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Kind;

    #[test]
    fn by_packet_type() {
        let kinds = [Kind::Host, Kind::Broadcast, Kind::OtherHost, Kind::Multicast, Kind::Outgoing];
        let sent = kinds.map(|kind| Sent { data: vec![kind as u8], kind, ..Sent::default() });
        let mut flow = send("Inject -> d :: DropBroadcasts -> Collect(0); d[1] -> Collect(1);", sent.clone());
        let marks = |kinds: &[Kind]| kinds.iter().map(|&kind| vec![kind as u8]).collect::<Vec<_>>();
        assert_eq!(flow.data(0), marks(&[Kind::Host, Kind::OtherHost, Kind::Outgoing]));
        assert_eq!(flow.data(1), marks(&[Kind::Broadcast, Kind::Multicast]));
        assert_eq!(
            (flow.read("d.drops"), flow.log()),
            ("2".into(), "DropBroadcasts: dropped a packet\n".into())
        );
        let flow = send("Inject -> DropBroadcasts -> Collect(0)", sent);
        assert_eq!(flow.drops(), [("link-layer broadcast or multicast", 2)]);
    }
}
