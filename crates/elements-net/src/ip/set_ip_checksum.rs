//! Computes the IP header checksum.
//!
//! ```click
//! SetIPChecksum()
//! ```
//!
//! Expects packets with a marked IP header. Packets whose header is truncated, or has an invalid length, are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Handlers
//! - `drops` (read): packets dropped.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader -> SetIPChecksum -> Discard
//! ```
//!
//! # See also
//! CheckIPHeader

use elements_shared::ip_header::header_mut;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetIPChecksum", create).pure().doc(router::manual!("set_ip_checksum.rs"));

/// Why packets are dropped.
const REASON: &str = "bad IP header";

struct SetIpChecksum(u64);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(SetIpChecksum(0))))
}

impl SetIpChecksum {
    /// A header with options, one that is not marked, or none.
    fn set_any(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let marked = packet.network_offset().is_some();
        let header = if marked { packet.network_mut().unwrap_or_default() } else { packet.data_mut() };
        match ipv4::fill_checksum(header) {
            Ok(()) => Verdict::Pass,
            Err(_) => {
                if self.0 == 0 {
                    cx.complain("SetIPChecksum: bad input packet", REASON);
                }
                self.0 += 1;
                Verdict::Drop(REASON)
            }
        }
    }
}

impl Simple for SetIpChecksum {
    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(mut header) = header_mut(packet)
            && header.has_no_options()
        {
            header.fill_checksum();
            return Verdict::Pass;
        }
        self.set_any(cx, packet)
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut SetIpChecksum, _| e.0).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{hostile, udp, with_options};
    use proptest::prelude::*;

    #[test]
    fn with_and_without_options_and_marks() {
        let good = [udp(3), with_options(&[7, 7, 4, 0, 0, 0, 0, 0], 3)];
        let spoilt = good.clone().map(|mut data| {
            (data[10], data[11]) = (0xab, 0xcd);
            data
        });
        assert_eq!(send("Inject -> SetIPChecksum -> Collect(0)", spoilt.clone()).data(0), good);
        let marked = "Inject -> MarkIPHeader(14) -> SetIPChecksum -> Collect(0)";
        let framed =
            |packets: &[Vec<u8>]| packets.iter().map(|p| [&[9; 14], &p[..]].concat()).collect::<Vec<_>>();
        assert_eq!(send(marked, framed(&spoilt)).data(0), framed(&good));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.len();
            let mut flow = send("Inject -> s :: SetIPChecksum -> Collect(0)", packets);
            let correct = |data: &Vec<u8>| wire::checksum::verify(wire::ipv4::header_bytes(data).unwrap());
            prop_assert!(flow.data(0).iter().all(correct));
            prop_assert_eq!(flow.read("s.drops"), (n - flow.seen.len()).to_string());
            let message = if n > flow.seen.len() { "SetIPChecksum: bad input packet\n" } else { "" };
            prop_assert_eq!(flow.log(), message);
        }
    }
}
