//! Removes the IP header.
//!
//! ```click
//! StripIPHeader
//! ```
//!
//! Removes everything before the transport header, as marked by CheckIPHeader or MarkIPHeader. The marks stay.
//! Packets without a mark are dropped. An IP packet that was in an IP packet has the congestion mark afterwards that
//! RFC 6040 says; if the outer header tells of congestion and the inner one cannot, the packet is dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> CheckIPHeader -> StripIPHeader -> ...
//! ```
//!
//! # See also
//! CheckIPHeader, MarkIPHeader, Strip

use elements_shared::ecn;
use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("StripIPHeader", create).pure().doc(router::manual!("strip_ip_header.rs"));

struct StripIpHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(StripIpHeader)))
}

/// Whether what follows the marked header is an IP packet.
#[inline]
fn is_tunnel(packet: &Packet) -> bool {
    let protocol = packet.network().and_then(|bytes| match bytes.first()? >> 4 {
        4 => bytes.get(9),
        6 => bytes.get(6),
        _ => None,
    });
    matches!(protocol, Some(&(ip_proto::IPIP | ip_proto::IPV6)))
}

impl Simple for StripIpHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match packet.transport_offset() {
            Some(offset) if packet.pull(usize::try_from(offset).unwrap_or(0)) => {}
            _ => return Verdict::Drop(NO_HEADER),
        }
        let outer = if is_tunnel(packet) { ecn::outer_mark(packet) } else { None };
        if ecn::leave_tunnel(packet, outer) { Verdict::Pass } else { Verdict::Drop(ecn::CONGESTION) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::samples::{udp, with_options};

    #[test]
    fn leaves_the_transport_header() {
        let data = with_options(&[1; 8], 5);
        let config = "Inject -> MarkIPHeader -> StripIPHeader -> Collect(0)";
        let flow = send(config, [data.clone(), udp(5), udp(5)[..15].to_vec()]);
        assert_eq!(flow.data(0), [data[28..].to_vec(), udp(5)[20..].to_vec()]);
        assert!(flow.seen.iter().all(|(_, packet)| packet.transport_offset() == Some(0)));
        assert_eq!(flow.drops(), [("no IP header", 1)]);
        assert_eq!(send_one("Inject -> StripIPHeader -> Collect(0)", udp(5)).drops(), [("no IP header", 1)]);
    }
}
