//! Ensures that IP packets have an Ethernet header.
//!
//! ```click
//! EnsureEther([ETHERTYPE, SRC, DST])
//! ```
//!
//! Checks packets with a marked network header. If the network header follows an Ethernet header with the type of
//! IPv4 or IPv6, the packet passes unchanged; if such an Ethernet header was stripped, it is restored, unless it is
//! known to have been elsewhere, as of packets from a device or a dump that were in a tunnel. Otherwise everything before the network header is
//! replaced by a header made from the arguments. Packets without a marked network header, or with another than IP's, pass unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ETHERTYPE` (integer, default 0x0800): the EtherType.
//! - `SRC` (Ethernet address, default 1:1:1:1:1:1): source.
//! - `DST` (Ethernet address, default 2:2:2:2:2:2): destination.
//!
//! # Example
//! ```click
//! Idle -> CheckIPHeader -> EnsureEther -> ToDump(out.pcap);
//! ```
//!
//! # See also
//! EtherEncap, MarkIPHeader

use elements_shared::ether_header::{NO_ROOM, encapsulate};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, Header, ether_type, header};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EnsureEther", create).live().doc(router::manual!("ensure_ether.rs"));

struct EnsureEther {
    header: [u8; HEADER_LEN],
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut src, mut dst) = (ether_type::IPV4, MacAddr([1; 6]), MacAddr([2; 6]));
    config
        .args()
        .positional("ETHERTYPE", &mut kind)
        .positional("SRC", &mut src)
        .positional("DST", &mut dst)
        .finish()?;
    Ok(Box::new(PerPacket(EnsureEther { header: header(dst, src, kind) })))
}

fn starts_with_header(packet: &Packet) -> bool {
    let kind = Header::new_checked(packet.data()).map(|header| header.ether_type());
    matches!(kind, Ok(ether_type::IPV4 | ether_type::IPV6))
}

impl Simple for EnsureEther {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(offset) = packet.network_offset().and_then(|at| usize::try_from(at).ok()) else {
            return Verdict::Pass;
        };
        if !packet.network().is_some_and(|bytes| matches!(bytes.first().map(|byte| byte >> 4), Some(4 | 6))) {
            return Verdict::Pass;
        }
        if offset == HEADER_LEN && starts_with_header(packet) {
            return Verdict::Pass;
        }
        // What else is in front of a packet whose frame is known is not an Ethernet header, whatever it looks like.
        let may_be_behind_it = packet.mac_offset().is_none_or(|at| at == -(HEADER_LEN as isize));
        if offset == 0 && may_be_behind_it && packet.push(HEADER_LEN) {
            if starts_with_header(packet) {
                return Verdict::Pass;
            }
            let _ = packet.pull(HEADER_LEN); // just pushed
        }
        if packet.pull(offset) && encapsulate(packet, &self.header) {
            Verdict::Pass
        } else {
            Verdict::Drop(NO_ROOM)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_one;

    #[test]
    fn an_ethernet_header_is_kept_or_put_in_front() {
        let own = [&[2; 6][..], &[1; 6], &[8, 0]].concat();
        let theirs = |kind: [u8; 2]| [&[7; 12][..], &kind].concat();
        let ip = [0x45; 30];
        for (elements, data, expected) in [
            ("MarkIPHeader(14)", [&theirs([8, 0]), &ip[..]].concat(), [&theirs([8, 0]), &ip[..]].concat()),
            ("MarkIPHeader(14)", [&theirs([8, 1]), &ip[..]].concat(), [&own, &ip[..]].concat()),
            (
                "MarkMACHeader -> Strip(14) -> MarkIPHeader",
                [&theirs([0x86, 0xdd]), &ip[..]].concat(),
                [&theirs([0x86, 0xdd]), &ip[..]].concat(),
            ),
            (
                "MarkMACHeader -> Strip(14) -> MarkIPHeader",
                [&theirs([9, 9]), &ip[..]].concat(),
                [&own, &ip[..]].concat(),
            ),
            (
                "Strip(14) -> MarkIPHeader",
                [&theirs([8, 0]), &ip[..]].concat(),
                [&theirs([8, 0]), &ip[..]].concat(),
            ),
            // The end of another header is no Ethernet header.
            (
                "MarkMACHeader -> Strip(16) -> MarkIPHeader",
                [&[7; 14][..], &[8, 0], &ip].concat(),
                [&own, &ip[..]].concat(),
            ),
            ("MarkIPHeader(3)", [&[9; 3], &ip[..]].concat(), [&own, &ip[..]].concat()),
            ("Null", ip.to_vec(), ip.to_vec()),
        ] {
            let flow = send_one(&format!("Inject -> {elements} -> EnsureEther -> Collect(0)"), data);
            assert_eq!(flow.only(0).data(), expected, "{elements}");
        }
    }
}
