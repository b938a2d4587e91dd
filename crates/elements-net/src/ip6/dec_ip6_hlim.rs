//! Decrements the IPv6 hop limit.
//!
//! ```click
//! DecIP6HLIM
//! ```
//!
//! Expects packets with a marked IPv6 header. Packets whose hop limit is 0 or 1 leave unchanged by output 1 if it is
//! connected, for ICMP6Error, and are dropped otherwise.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated; counts add up.
//!
//! # Handlers
//! - `drops` (read): packets whose hop limit had expired.
//!
//! # Example
//! ```click
//! InfiniteSource -> CheckIP6Header -> h :: DecIP6HLIM -> Discard;
//! h[1] -> ICMP6Error(2001:db8::1, 3, 0) -> Discard
//! ```
//!
//! # See also
//! ICMP6Error, CheckIP6Header, DecIPTTL

use super::header::{NO_HEADER, header_mut};
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("DecIP6HLIM", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("dec_ip6_hlim.rs"));

struct DecIp6Hlim {
    outputs: usize,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(DecIp6Hlim { outputs: config.outputs(), drops: 0 })))
}

impl Simple for DecIp6Hlim {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(mut header) = header_mut(packet) else { return Verdict::Drop(NO_HEADER) };
        let limit = header.hop_limit();
        if limit <= 1 {
            self.drops += 1;
            return fail(self.outputs, "hop limit reached");
        }
        header.set_hop_limit(limit - 1);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut DecIp6Hlim, _| e.drops).merged(Merge::Sum);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::ip6_samples::{hostile, udp};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIP6Header -> h :: DecIP6HLIM -> Collect(0); h[1] -> Collect(1);";

    fn limited(limit: u8) -> Vec<u8> {
        let mut data = udp(4);
        data[7] = limit;
        data
    }

    #[test]
    fn counts_down() {
        let mut flow = send(BOTH, [0, 1, 2, 255].map(limited));
        assert_eq!(
            (flow.data(0), flow.data(1)),
            (vec![limited(1), limited(254)], vec![limited(0), limited(1)])
        );
        assert_eq!(flow.read("h.drops"), "2");
        let flow = send_one("Inject -> MarkIP6Header -> DecIP6HLIM -> Collect(0)", limited(1));
        assert_eq!(flow.drops(), [("hop limit reached", 1)]);
        assert_eq!(send_one("Inject -> DecIP6HLIM -> Collect(0)", udp(4)).drops(), [("no IPv6 header", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.len() as u64;
            let flow = send(BOTH, packets);
            prop_assert_eq!(flow.seen.len() as u64 + flow.drops().iter().map(|(_, n)| n).sum::<u64>(), n);
        }
    }
}
