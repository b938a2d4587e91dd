//! Decompresses the headers of TCP packets.
//!
//! ```click
//! RFC2507Decomp
//! ```
//!
//! Takes packets from RFC2507Comp, in order, and restores the original packets. IP header checksums are recomputed,
//! and headers are not marked. Packets that RFC2507Comp cannot have sent are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> RFC2507Comp -> link :: Queue -> Unqueue -> RFC2507Decomp -> CheckIPHeader -> Discard
//! ```
//!
//! # Differences from Click
//! Nothing is printed.
//!
//! # See also
//! RFC2507Comp

use super::header_compression::{
    COMPRESSED, CONNECTIONS, FIXED_LEN, FULL, HEADERS_LEN, Headers, OTHER, apply, at,
};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Residency, Simple, Verdict};
use wire::ipv4::{HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("RFC2507Decomp", create)
    .residency(Residency::Exclusive)
    .doc(include_str!("rfc2507_decomp.rs"));

/// The last headers of each connection.
struct Rfc2507Decomp([Option<Headers>; CONNECTIONS]);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(Rfc2507Decomp([None; CONNECTIONS]))))
}

impl Rfc2507Decomp {
    fn context(&mut self, number: u8) -> Option<&mut Option<Headers>> {
        self.0.get_mut(usize::from(number).checked_sub(1)?)
    }

    /// Puts the headers back; none if that is impossible.
    fn decompress(&mut self, packet: &mut Packet) -> Option<()> {
        match *packet.data() {
            [OTHER, _, ..] => packet.pull(1).then_some(()),
            [FULL, number, ref whole @ ..] => {
                *self.context(number)? = Some(*whole.first_chunk()?);
                packet.pull(2).then_some(())
            }
            [COMPRESSED, number, changes, high, low, ref rest @ ..] => {
                let context = self.context(number)?.as_mut()?;
                let mut headers = *context;
                let front = FIXED_LEN + apply(&mut headers, changes, rest)?;
                headers[at::CHECKSUM..at::CHECKSUM + 2].copy_from_slice(&[high, low]);
                let len = u16::try_from(packet.len() - front + HEADERS_LEN).ok()?;
                let mut ip = Header::new_checked_mut(&mut headers[..HEADER_LEN]).ok()?;
                ip.set_total_len(len);
                ip.fill_checksum();
                *context = headers;
                let pulled = packet.pull(front);
                *packet.push_array().filter(|_| pulled)? = headers;
                Some(())
            }
            _ => None,
        }
    }
}

impl Simple for Rfc2507Decomp {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        packet.clear_network();
        match self.decompress(packet) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop("no compressed packet"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{edited, hostile, udp};
    use crate::inject::send;
    use proptest::prelude::*;

    const BOTH: &str = "Inject -> RFC2507Comp -> RFC2507Decomp -> Collect(0)";

    /// A TCP packet, whose checksum does not matter here.
    fn tcp(port: u8, id: u16, numbers: [u32; 2], flags: u8, window_and_urgent: [u16; 2]) -> Vec<u8> {
        let mut data = edited(udp(20), |ip| {
            ip.set_protocol(6);
            ip.set_id(id);
        });
        let [window, urgent] = window_and_urgent.map(u16::to_be_bytes);
        let header = [
            &[0, port, 0, 80][..],
            &numbers[0].to_be_bytes(),
            &numbers[1].to_be_bytes(),
            &[0x50, flags],
            &window,
            &[flags ^ window[1], port],
            &urgent,
        ];
        data[20..40].copy_from_slice(&header.concat());
        data
    }

    /// What a packet of each kind looks like on its way.
    #[test]
    fn on_the_way() {
        let packets = [
            tcp(7, 1, [100, 50], 0x02, [9, 0]),
            tcp(7, 1, [101, 51], 0x10, [9, 0]),
            tcp(7, 2, [101, 51 + 0x300], 0x18, [10, 0]),
            tcp(7, 5, [101 + 0x1_0000, 51 + 0x300], 0x10, [10, 0]),
            tcp(7, 9, [101 + 0x1_0000, 51 + 0x300], 0x30, [10, 1]),
        ];
        let flow = send("Inject -> RFC2507Comp -> Collect(0)", packets.clone());
        let [syn, first, second, far, urgent] = &flow.data(0)[..] else { panic!("five packets") };
        assert_eq!(*syn, [&[0], &packets[0][..]].concat());
        assert_eq!(*first, [&[1, 1], &packets[1][..]].concat());
        assert_eq!(*second, [&[2, 1, 0b1_0110, 0x18 ^ 10, 7, 1, 0, 3, 0], &packets[2][40..]].concat());
        assert_eq!(*far, [&[1, 1], &packets[3][..]].concat());
        assert_eq!(*urgent, [&[2, 1, 0b10_0001, 0x30 ^ 10, 7, 1, 4], &packets[4][40..]].concat());
        assert_eq!(send(BOTH, packets.clone()).data(0), packets);
    }

    proptest! {
        /// More connections than there are contexts, whatever their packets change.
        #[test]
        fn comes_back(
            steps in prop::collection::vec(
                (0u8..20, prop_oneof![0u16..3, any::<u16>()], prop_oneof![0u32..70_000, any::<u32>()], 0u32..600, any::<u8>(), any::<[u8; 2]>()),
                1..80,
            )
        ) {
            let (mut id, mut numbers) = (0u16, [0u32; 2]);
            let packets: Vec<_> = steps.into_iter().map(|(port, more, seq, ack, flags, [window, urgent])| {
                id = id.wrapping_add(more);
                numbers = [numbers[0].wrapping_add(seq), numbers[1].wrapping_add(ack)];
                let flags = if flags & 3 == 0 { flags } else { flags & 0x28 | 0x10 };
                tcp(port % (1 + flags % 20), id, numbers, flags, [window, urgent % 3].map(u16::from))
            }).collect();
            prop_assert_eq!(send(BOTH, packets.clone()).data(0), packets);
        }

        #[test]
        fn whatever_comes(packets in hostile()) {
            send("Inject -> RFC2507Decomp -> Collect(0)", packets.clone());
            send(BOTH, packets);
        }
    }
}
