//! Removes the GRE header.
//!
//! ```click
//! StripGREHeader
//! ```
//!
//! Removes a GRE header (RFC 2784) with its options from the front of packets. Packets without one are dropped.
//! If the outer IP header is marked, an IP packet inside has the congestion mark afterwards that RFC 6040 says, or is
//! dropped. CheckGREHeader supports more options. It comes from Click's package `gre`.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPFilter(allow proto 47) -> StripIPHeader -> CheckGREHeader -> StripGREHeader -> CheckIPHeader -> Discard;
//! ```
//!
//! # See also
//! GREEncap, CheckGREHeader, StripIPHeader

use elements_shared::ecn;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::ether_type;
use wire::gre::Header;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StripGREHeader", create).doc(router::manual!("strip_gre_header.rs"));

/// Why packets are dropped.
const NO_HEADER: &str = "no GRE header";

struct StripGreHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(StripGreHeader)))
}

impl Simple for StripGreHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match Header::read(packet.data()) {
            Ok(header) => strip(packet, &header),
            Err(_) => Verdict::Drop(NO_HEADER),
        }
    }
}

/// Removes the header that a packet begins with. A packet that leaves a tunnel by that has its congestion mark.
#[inline]
pub(super) fn strip(packet: &mut Packet, header: &Header) -> Verdict {
    if !packet.pull(header.len()) {
        return Verdict::Drop(NO_HEADER);
    }
    let ip = matches!(header.protocol, ether_type::IPV4 | ether_type::IPV6);
    let outer = ecn::outer_mark(packet).filter(|_| ip);
    if ecn::leave_tunnel(packet, outer) { Verdict::Pass } else { Verdict::Drop(ecn::CONGESTION) }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn strips_the_header_with_its_options() {
        let flow = send(
            "Inject -> StripGREHeader -> Collect(0)",
            [
                vec![0, 0, 8, 0, 1],
                vec![0x20, 0, 8, 0, 0, 0, 0, 5, 2],
                vec![0xb0, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9, 3],
                vec![0x20, 0, 8, 0, 0, 0, 0],
                vec![0, 1, 8, 0, 1],
            ],
        );
        assert_eq!(
            (flow.data(0), flow.drops()),
            (vec![vec![1], vec![2], vec![3]], vec![("no GRE header", 2)])
        );
    }
}
