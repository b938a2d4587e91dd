//! Swaps source and destination of IPv6 packets.
//!
//! ```click
//! IP6Mirror
//! ```
//!
//! Expects packets with a marked IPv6 header, and drops others. Swaps their addresses, and the ports of TCP and UDP
//! packets. This does not affect checksums.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! Idle -> CheckIP6Header -> IP6Mirror -> Discard;
//! ```
//!
//! # See also
//! CheckIP6Header, EtherMirror

use super::header::{NO_HEADER, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ip_proto::{TCP, UDP};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6Mirror", create).pure().doc(router::manual!("ip6_mirror.rs"));

struct Ip6Mirror;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Ip6Mirror)))
}

impl Simple for Ip6Mirror {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut header) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let (src, dst) = (header.src(), header.dst());
        header.set_src(dst);
        header.set_dst(src);
        if matches!(header.next_header(), TCP | UDP)
            && let Some([a, b, c, d, ..]) =
                packet.transport_mut().and_then(|bytes| bytes.first_chunk_mut::<8>())
        {
            std::mem::swap(a, c);
            std::mem::swap(b, d);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::{DST, SRC, hostile, udp, with_addresses, with_body};
    use proptest::prelude::*;

    const MIRROR: &str = "Inject -> MarkIP6Header -> IP6Mirror -> Collect(0)";

    #[test]
    fn swaps_addresses_and_ports() {
        let mut expected = with_addresses(udp(4), DST, SRC);
        expected[40..44].copy_from_slice(&[0x13, 0x89, 0x13, 0x88]);
        assert_eq!(send_one(MIRROR, udp(4)).only(0).data(), expected);
        // No ports: another protocol.
        let other = with_body(58, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let expected = with_addresses(other.clone(), DST, SRC);
        assert_eq!(send_one(MIRROR, other).only(0).data(), expected);
        assert_eq!(send_one("Inject -> IP6Mirror -> Collect(0)", udp(4)).drops(), [("no IPv6 header", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Mirrored twice a packet is what it was.
        #[test]
        fn whatever_comes(packets in hostile()) {
            let whole: Vec<_> = packets.iter().filter(|packet| packet.len() >= 40).cloned().collect();
            let flow = send("Inject -> MarkIP6Header -> IP6Mirror -> IP6Mirror -> Collect(0)", packets);
            prop_assert_eq!(flow.data(0), whole);
        }
    }
}
