//! Removes everything before the network header.
//!
//! ```click
//! StripToNetworkHeader()
//! ```
//!
//! Makes packets start at their marked network header. Packets without a mark are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! FromDump(file.pcap, FORCE_IP true) -> StripToNetworkHeader -> ...
//! ```
//!
//! # See also
//! Strip, StripIPHeader, MarkIPHeader

use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StripToNetworkHeader", create).pure().doc(router::manual!("strip_to_network_header.rs"));

struct StripToNetworkHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(StripToNetworkHeader)))
}

impl Simple for StripToNetworkHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.network_offset() {
            Some(offset) if offset < 0 => super::unstrip_to(packet, Some(offset)),
            Some(offset) if packet.pull(offset.unsigned_abs()) => Verdict::Pass,
            _ => Verdict::Drop(NO_HEADER),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;
    use elements_testing::samples::udp;

    #[test]
    fn starts_at_the_mark() {
        let framed = [&[9; 14], &udp(3)[..]].concat();
        for strip in [0, 10, 14, 20] {
            let config =
                format!("Inject -> MarkIPHeader(14) -> Strip({strip}) -> StripToNetworkHeader -> Collect(0)");
            let flow = send_one(&config, framed.clone());
            assert_eq!((flow.data(0), flow.only(0).network_offset()), (vec![udp(3)], Some(0)), "{strip}");
        }
        let flow = send_one("Inject -> StripToNetworkHeader -> Collect(0)", framed);
        assert_eq!(flow.drops(), [("no IP header", 1)]);
    }
}
