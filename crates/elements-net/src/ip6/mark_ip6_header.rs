//! Marks the position of the IPv6 header.
//!
//! ```click
//! MarkIP6Header([OFFSET])
//! ```
//!
//! Marks the network header at OFFSET and the transport header 40 bytes after it, without checking either; extension
//! headers count as transport header. Packets that end before OFFSET are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `OFFSET` (integer, default 0): where the header starts.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIP6Header(14) -> Discard
//! ```
//!
//! # See also
//! CheckIP6Header, MarkIPHeader

use super::header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ipv6::HEADER_LEN;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("MarkIP6Header", create).pure().doc(router::manual!("mark_ip6_header.rs"));

struct MarkIp6Header(usize);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut offset = 0_u32;
    config.args().positional("OFFSET", &mut offset).finish()?;
    Ok(Box::new(PerPacket(MarkIp6Header(offset as usize))))
}

impl Simple for MarkIp6Header {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if self.0 >= packet.len() {
            return Verdict::Drop(NO_HEADER);
        }
        packet.set_network(self.0 as isize, HEADER_LEN);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn marks_both_headers() {
        let flow = send("Inject -> MarkIP6Header(4) -> Collect(0)", [vec![0; 5], vec![0; 4]]);
        let packet = flow.only(0);
        assert_eq!((packet.network_offset(), packet.transport_offset()), (Some(4), Some(44)));
        assert_eq!(flow.drops(), [("no IPv6 header", 1)]);
    }
}
