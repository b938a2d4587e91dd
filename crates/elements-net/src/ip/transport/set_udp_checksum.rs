//! Computes the UDP checksum.
//!
//! ```click
//! SetUDPChecksum()
//! ```
//!
//! Expects UDP packets with a marked IP header. Fragments, whose checksum would need the whole datagram, and packets
//! shorter than their length field leave unchanged by output 1 if it is connected and are dropped otherwise; the
//! first one is reported.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Example
//! ```click
//! ... -> MarkIPHeader -> StoreIPAddress(1.2.3.4, 12) -> SetIPChecksum -> SetUDPChecksum -> ...
//! ```
//!
//! # See also
//! CheckUDPHeader, SetTCPChecksum, SetIPChecksum, UDPIPEncap

use super::message::Message;
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::udp;

/// The class.
pub(crate) const CLASS: Class = Class::new("SetUDPChecksum", create)
    .ports("1/1-2")
    .processing("a/ah")
    .doc(router::manual!("set_udp_checksum.rs"));

/// Why packets are dropped.
const REASON: &str = "fragment or short packet";

struct SetUdpChecksum {
    outputs: usize,
    reported: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(SetUdpChecksum { outputs: config.outputs(), reported: false })))
}

/// Fills the checksum in; none if there is nothing to compute it from.
#[inline]
pub(super) fn fill(packet: &mut Packet) -> Option<()> {
    let message = Message::of(packet).filter(|message| !message.fragment)?;
    // UDP's own length counts.
    let bytes = packet.network_mut()?.get_mut(message.start..)?;
    let len = udp::datagram(bytes).ok()?.len();
    udp::fill_checksum_v4(message.src, message.dst, bytes.get_mut(..len)?).ok()
}

impl SetUdpChecksum {
    #[cold]
    fn reject(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if self.outputs < 2 && !self.reported {
            self.reported = true;
            cx.complain(format_args!("{} :: SetUDPChecksum: {REASON}", cx.name()), REASON);
        }
        fail(self.outputs, REASON)
    }
}

impl Simple for SetUdpChecksum {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match fill(packet) {
            Some(()) => Verdict::Pass,
            None => self.reject(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::{edited, hostile};
    use elements_testing::transport_samples::{carrying, data, naive_with_pseudo_header, summed, udp};
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> MarkIPHeader -> s :: SetUDPChecksum -> Collect(0); s[1] -> Collect(1);";

    #[test]
    fn fragments_and_short_packets() {
        let whole = carrying(17, 0, &udp(b"abc"));
        let bad = [0x2000, 0x0001].map(|field| edited(whole.clone(), |ip| ip.set_fragment_field(field)));
        let bad = [bad[0].clone(), bad[1].clone(), whole[..30].to_vec()];
        assert_eq!(send(BOTH, bad.clone()).data(1), bad);
        let flow = send("Inject -> MarkIPHeader -> s :: SetUDPChecksum -> Collect(0)", bad);
        assert_eq!(flow.drops(), [("fragment or short packet", 3)]);
        assert_eq!(flow.log(), "s :: SetUDPChecksum: fragment or short packet\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn as_the_naive_sum(data in data(), words in 0usize..11, old in any::<u16>(), padding in 0usize..9) {
            let sum = match naive_with_pseudo_header(17, &udp(&data)) {
                0 => 0xffff, // zero would mean none
                sum => sum,
            };
            let pad = |mut data: Vec<u8>| { data.resize(data.len() + padding, 0xaa); data };
            let packet = pad(carrying(17, words, &summed(udp(&data), 6, old)));
            let right = pad(carrying(17, words, &summed(udp(&data), 6, sum)));
            prop_assert_eq!(send(BOTH, [packet]).data(0), [right]);
        }

        #[test]
        fn whatever_comes(packets in hostile()) {
            let n = packets.iter().filter(|data| !data.is_empty()).count();
            prop_assert_eq!(send(BOTH, packets).seen.len(), n);
        }
    }
}
