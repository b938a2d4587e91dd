//! Computes the TCP checksum.
//!
//! ```click
//! SetTCPChecksum([FIXOFF])
//! ```
//!
//! Expects TCP packets with a marked IP header. Packets shorter than their length field are dropped; the first one is
//! reported. Fragments pass unchanged: the checksum covers the whole segment, of which they have only a part (Click
//! overwrites it with the checksum of that part).
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `FIXOFF` (boolean, default false): whether to correct a header length that is too small, or beyond the packet.
//!
//! # Example
//! ```click
//! ... -> MarkIPHeader -> StoreIPAddress(1.2.3.4, 12) -> SetIPChecksum -> SetTCPChecksum -> ...
//! ```
//!
//! # See also
//! CheckTCPHeader, SetUDPChecksum, SetIPChecksum

use super::message::Message;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::tcp;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("SetTCPChecksum", create).doc(router::manual!("set_tcp_checksum.rs"));

/// The octet of the header whose upper half is the header's length in words.
const OFFSET_OCTET: usize = 12;

/// Why packets are dropped.
const REASON: &str = "bad TCP length";

struct SetTcpChecksum {
    fix_offset: bool,
    reported: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = SetTcpChecksum { fix_offset: false, reported: false };
    config.args().positional("FIXOFF", &mut e.fix_offset).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Gives the segment a header length that it can have; other bits of the octet stay.
fn fix_offset(segment: &mut [u8]) {
    let len = segment.len();
    if let Some(octet) = segment.get_mut(OFFSET_OCTET) {
        let words = usize::from(*octet >> 4);
        let fixed = if words * 4 > len { len / 4 } else { words.max(tcp::HEADER_LEN / 4) };
        *octet = (fixed as u8) << 4 | *octet & 0x0f;
    }
}

impl SetTcpChecksum {
    #[inline]
    fn fill(&self, packet: &mut Packet) -> Option<()> {
        let message = Message::of(packet)?;
        if message.fragment {
            return Some(());
        }
        let segment = message.bytes_mut(packet).filter(|segment| segment.len() >= tcp::HEADER_LEN)?;
        if self.fix_offset {
            fix_offset(segment);
        }
        tcp::fill_checksum_v4(message.src, message.dst, segment).ok()
    }

    #[cold]
    fn reject(&mut self, cx: &mut Cx<'_>) -> Verdict {
        if !self.reported {
            self.reported = true;
            cx.complain("SetTCPChecksum: bad lengths", REASON);
        }
        Verdict::Drop(REASON)
    }
}

impl Simple for SetTcpChecksum {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        match self.fill(packet) {
            Some(()) => Verdict::Pass,
            None => self.reject(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{send, send_one};
    use elements_testing::samples::{edited, hostile};
    use elements_testing::transport_samples::{carrying, data, naive_with_pseudo_header, summed, tcp};
    use proptest::prelude::*;

    const CONFIG: &str = "Inject -> MarkIPHeader -> SetTCPChecksum -> Collect(0);";

    #[test]
    fn fragments_and_short_packets() {
        let whole = carrying(6, 0, &tcp(b"abc"));
        let fragments =
            [0x2000, 0x0001].map(|field| edited(whole.clone(), |ip| ip.set_fragment_field(field)));
        assert_eq!(send(CONFIG, fragments.clone()).data(0), fragments);
        let flow = send(CONFIG, [whole[..30].to_vec(), carrying(6, 0, &[0; 19])]);
        assert_eq!(flow.drops(), [("bad TCP length", 2)]);
        assert_eq!(flow.log(), "SetTCPChecksum: bad lengths\n");
    }

    #[test]
    fn fixes_the_header_length() {
        let config = "Inject -> MarkIPHeader -> SetTCPChecksum(true) -> CheckTCPHeader -> Collect(0);";
        for (octet, fixed) in [(0x01, 0x51), (0x4f, 0x5f), (0x50, 0x50), (0x60, 0x60), (0xf2, 0x62)] {
            let mut segment = tcp(b"abcdefg");
            segment[12] = octet;
            let flow = send_one(config, carrying(6, 0, &segment));
            assert_eq!(flow.only(0).data()[20 + 12], fixed, "{octet:#x}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn as_the_naive_sum(data in data(), words in 0usize..11, old in any::<u16>(), padding in 0usize..9) {
            let sum = naive_with_pseudo_header(6, &tcp(&data));
            let pad = |mut data: Vec<u8>| { data.resize(data.len() + padding, 0xaa); data };
            let packet = pad(carrying(6, words, &summed(tcp(&data), 16, old)));
            let right = pad(carrying(6, words, &summed(tcp(&data), 16, sum)));
            prop_assert_eq!(send(CONFIG, [packet]).data(0), [right]);
        }

        #[test]
        fn whatever_comes(packets in hostile(), fix in any::<bool>()) {
            send(&format!("Inject -> MarkIPHeader -> SetTCPChecksum({fix}) -> Collect(0);"), packets);
        }
    }
}
