//! Turns any packet into a valid IP packet.
//!
//! ```click
//! ForceIP()
//! ```
//!
//! Sets the version, length and checksum of the IP header at the start of each packet, so that it is valid, and marks
//! it. A header length that is too small, or beyond the packet, becomes the largest for which the packet has room.
//! The fragment field is set to 0, except in the second packet and every eighth after it, where it stays as it is.
//! Packets with fewer than 20 bytes, and those too long for IP, are dropped.
//!
//! It is meant for testing other elements with random packets.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated; each counts packets separately.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! RandomSource(40) -> SetIPAddress(1.2.3.4) -> StoreIPAddress(16) -> ForceIP -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ForceTCP, ForceUDP, ForceICMP, CheckIPHeader

use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ipv4::{self, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("ForceIP", create).doc(router::manual!("force_ip.rs"));

/// The largest header: 15 words.
const MOST: usize = 60;

#[derive(Default)]
struct ForceIp {
    count: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(ForceIp::default())))
}

impl ForceIp {
    /// Corrects a header: its length, or none if there can be no header.
    fn correct(&mut self, bytes: &mut [u8]) -> Option<usize> {
        let len = u16::try_from(bytes.len()).ok()?;
        let mut ip = Header::new_checked_mut(&mut *bytes).ok()?;
        let room = usize::from(len);
        let header_len = match ip.header_len() {
            given if (HEADER_LEN..=room).contains(&given) => given,
            _ => (room & !3).min(MOST),
        };
        ip.set_version_and_header_len(header_len);
        ip.set_total_len(len);
        if self.count & 7 != 1 {
            ip.set_fragment_field(0);
        }
        self.count = self.count.wrapping_add(1);
        ipv4::fill_checksum(bytes).ok()?;
        Some(header_len)
    }
}

impl Simple for ForceIp {
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(header_len) = self.correct(packet.data_mut()) else {
            return Verdict::Drop("no IP packet can have this length");
        };
        packet.set_network(0, header_len);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;
    use elements_testing::samples::hostile;
    use proptest::prelude::*;

    const CONFIG: &str = "Inject -> ForceIP -> Collect(0)";

    /// Other lengths stay; the second packet keeps its fragment field.
    #[test]
    fn impossible_header_lengths_are_corrected() {
        let packet = |first: u8, len: usize| {
            let mut data = vec![9; len];
            data[0] = first;
            data
        };
        let packets = [packet(0x06, 24), packet(0x64, 21), packet(0x4f, 64), packet(0xff, 58), vec![9; 19]];
        let flow = send(CONFIG, packets);
        let seen: Vec<_> = flow.data(0).iter().map(|data| (data[0], data[3], [data[6], data[7]])).collect();
        assert_eq!(seen, [(0x46, 24, [0; 2]), (0x45, 21, [9; 2]), (0x4f, 64, [0; 2]), (0x4e, 58, [0; 2])]);
        assert_eq!(flow.seen[1].1.transport_offset(), Some(20));
        assert_eq!(flow.drops(), [("no IP packet can have this length", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever comes is right afterwards.
        #[test]
        fn whatever_comes(packets in hostile()) {
            let long = packets.iter().filter(|data| data.len() >= 20).count();
            let flow = send(CONFIG, packets);
            let seen: Vec<_> = flow.data(0);
            prop_assert_eq!(seen.len(), long);
            prop_assert!(seen.iter().all(|data| wire::ipv4::check(data, true).is_ok()));
        }
    }
}
