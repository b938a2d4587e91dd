//! Finds and marks the IP header of Ethernet frames.
//!
//! ```click
//! AutoMarkIPHeader
//! ```
//!
//! Marks the IPv4 or IPv6 header after an Ethernet header, which may have VLAN tags (802.1Q, 802.1ad). Frames of other types, and
//! those too short for the header, pass unmarked. Nothing else is checked. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> AutoMarkIPHeader -> IPPrint -> Discard
//! ```
//!
//! # See also
//! MarkIPHeader, CheckIPHeader

use elements_shared::ether_header::{behind_tags, type_before};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::ipv6;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("AutoMarkIPHeader", create).pure().doc(router::manual!("auto_mark_ip_header.rs"));

struct AutoMarkIpHeader;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(AutoMarkIpHeader)))
}

/// Where the IP header is, and how long.
#[inline]
fn find(data: &[u8]) -> Option<(usize, usize)> {
    let at = behind_tags(data, HEADER_LEN);
    let first = data.get(at)?;
    match type_before(data, at)? {
        ether_type::IPV4 => Some((at, usize::from(first & 0x0f) * 4)),
        ether_type::IPV6 => Some((at, ipv6::HEADER_LEN)),
        _ => None,
    }
}

impl Simple for AutoMarkIpHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match find(packet.data()) {
            Some((at, header_len)) => packet.set_network(at as isize, header_len),
            None => packet.clear_network(),
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn marks_headers_behind_ethernet_and_vlan() {
        let frame = |types: &[u8], rest: &[u8]| [&[0; 12], types, rest].concat();
        let frames = [
            frame(&[8, 0], &[0x46, 0]),
            frame(&[0x81, 0, 0, 5, 8, 0], &[0x45]),
            frame(&[0x88, 0xa8, 0, 5, 8, 0], &[0x45]),
            frame(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xdd], &[0x60]),
            frame(&[0x86, 0xdd], &[0x60]),
            frame(&[8, 6], &[0; 28]),
            frame(&[0x81, 0, 0, 5, 8], &[]),
            frame(&[8, 0], &[]),
            vec![8],
        ];
        let flow = send("Inject -> MarkIPHeader -> AutoMarkIPHeader -> Collect(0)", frames);
        let marks: Vec<_> =
            flow.seen.iter().map(|(_, p)| (p.network_offset(), p.transport_offset())).collect();
        let none = (None, None);
        let marked =
            [(14, 38), (18, 38), (18, 38), (22, 62), (14, 54)].map(|(ip, rest)| (Some(ip), Some(rest)));
        assert_eq!(marks, [&marked[..], &[none; 4]].concat());
    }
}
