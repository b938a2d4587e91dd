//! Sets the packet type annotation.
//!
//! ```click
//! SetPacketType(TYPE)
//! ```
//!
//! The annotation says to whom a packet was addressed, and otherwise comes from the frame's link-layer address.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `TYPE` (`HOST`, `BROADCAST`, `MULTICAST`, `OTHERHOST`, `OUTGOING` or `LOOPBACK`, in any case): the type.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> SetPacketType(BROADCAST) -> DropBroadcasts -> Discard
//! ```
//!
//! # See also
//! DropBroadcasts

use packet::{Kind, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetPacketType", create).pure().live().doc(router::manual!("set_packet_type.rs"));

struct SetPacketType {
    kind: Kind,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut name = String::new();
    config.args().required("TYPE", &mut name).finish()?;
    let kind = match name.to_ascii_uppercase().as_str() {
        "HOST" => Kind::Host,
        "BROADCAST" => Kind::Broadcast,
        "MULTICAST" => Kind::Multicast,
        "OTHERHOST" => Kind::OtherHost,
        "OUTGOING" => Kind::Outgoing,
        "LOOPBACK" => Kind::FastRoute,
        _ => return Err(format!("unrecognized packet type '{name}'").into()),
    };
    Ok(Box::new(PerPacket(SetPacketType { kind })))
}

impl Simple for SetPacketType {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.set_kind(self.kind);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send_one;
    use packet::Kind;

    #[test]
    fn sets_the_type_and_refuses_unknown_ones() {
        let flow = send_one("Inject -> SetPacketType(otherHost) -> Collect(0)", vec![1]);
        assert_eq!(flow.only(0).kind(), Kind::OtherHost);
        assert!(errors("Idle -> SetPacketType(x) -> Discard").contains("unrecognized packet type 'x'"));
    }
}
