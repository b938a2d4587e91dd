//! Sets the explicit congestion notification bits of IPv6 packets.
//!
//! ```click
//! SetIP6ECN(ECN)
//! ```
//!
//! Expects packets with a marked IPv6 header, and drops others. The DSCP next to the two bits is not changed.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ECN`: `0`, `no` or `-` (not capable), `1`, `ect1` or `ECT(1)`, `2`, `ect2` or `ECT(0)`, `3`, `ce` or `CE`
//!   (congestion experienced).
//!
//! # Handlers
//! - `ecn` (read, write): the argument.
//! - `config` (write): replaces the argument.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> SetIP6ECN(ect2) -> Discard;
//! ```
//!
//! # See also
//! SetIP6DSCP, SetIPECN

use super::header::NO_HEADER;
use crate::ip::set_ip_ecn::CodePoint;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIP6ECN", create).pure().live().doc(router::manual!("set_ip6_ecn.rs"));

struct SetIp6Ecn(CodePoint);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    Ok(Box::new(PerPacket(SetIp6Ecn(CodePoint::read(config)?))))
}

impl Simple for SetIp6Ecn {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        // The traffic class straddles the first two bytes; its last two bits are these of the second.
        let Some(second) = packet.network_mut().and_then(|bytes| bytes.get_mut(1)) else {
            return Verdict::Drop(NO_HEADER);
        };
        *second = *second & 0xcf | self.0.bits << 4;
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        CodePoint::handlers(h, |e: &mut SetIp6Ecn| &mut e.0);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;

    #[test]
    fn leaves_the_code_point() {
        let packet = |second: u8| [&[0x6f, second][..], &[0; 38]].concat();
        for (argument, bits) in [("no", 0), ("ECT(1)", 1), ("ect2", 2), ("CE", 3)] {
            let config = format!("Inject -> MarkIP6Header -> s :: SetIP6ECN({argument}) -> Collect(0)");
            let mut flow = send(&config, [packet(0xff), packet(0x80), vec![0x60]]);
            assert_eq!(flow.data(0), [packet(0xcf | bits << 4), packet(0x80 | bits << 4)]);
            assert_eq!(
                (flow.read("s.ecn"), flow.drops()),
                (argument.to_owned(), vec![("no IPv6 header", 1)])
            );
        }
        assert!(errors("Idle -> SetIP6ECN(ecn) -> Discard").contains("bad ECN argument"));
    }
}
