//! Computes the ICMP checksum.
//!
//! ```click
//! SetICMPChecksum()
//! ```
//!
//! Expects ICMP packets with a marked IP header. Fragments, whose checksum would need the whole message, and packets
//! shorter than their length field leave unchanged by output 1 if it is connected and are dropped otherwise. Click
//! has no such element; its name and ports follow SetUDPChecksum.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> MarkIPHeader -> SetICMPChecksum -> ...
//! ```
//!
//! # See also
//! CheckICMPHeader, SetUDPChecksum, SetTCPChecksum, SetIPChecksum

use super::message::Message;
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::icmpv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("SetICMPChecksum", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("set_icmp_checksum.rs"));

struct SetIcmpChecksum {
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(SetIcmpChecksum { outputs: config.outputs() })))
}

/// Fills the checksum in; none if there is nothing to compute it from.
#[inline]
fn fill(packet: &mut Packet) -> Option<()> {
    let message = Message::of(packet).filter(|message| !message.fragment)?;
    icmpv4::fill_checksum(message.bytes_mut(packet)?).ok()
}

impl Simple for SetIcmpChecksum {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match fill(packet) {
            Some(()) => Verdict::Pass,
            None => fail(self.outputs, "fragment or short packet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{edited, hostile};
    use elements_testing::transport_samples::{carrying, data, naive_checksum, summed};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIPHeader -> s :: SetICMPChecksum -> Collect(0); s[1] -> Collect(1);";

    #[test]
    fn fragments_and_short_packets() {
        let whole = carrying(1, 0, &[8; 12]);
        let bad = [
            edited(whole.clone(), |ip| ip.set_fragment_field(0x2000)),
            whole[..30].to_vec(),
            carrying(1, 0, &[8; 7]),
        ];
        assert_eq!(send(BOTH, bad.clone()).data(1), bad);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn as_the_naive_sum(data in data(), words in 0usize..11, old in any::<u16>()) {
            let message = [&[8, 0, 0, 0, 1, 2, 3, 4], &data[..]].concat();
            let sum = naive_checksum(&message);
            let packet = carrying(1, words, &summed(message.clone(), 2, old));
            prop_assert_eq!(send(BOTH, [packet]).data(0), [carrying(1, words, &summed(message, 2, sum))]);
        }

        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            prop_assert_eq!(send(BOTH, packets).seen.len(), n);
        }
    }
}
