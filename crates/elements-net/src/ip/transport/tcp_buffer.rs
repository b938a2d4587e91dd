//! Puts the TCP packets of one connection in order.
//!
//! ```click
//! TCPBuffer([SKIP])
//! ```
//!
//! Stores TCP packets with a marked IP header that are pushed to it, and returns them in the order of their sequence
//! numbers when pulled. The first packet returned is the one with the lowest number; after that, a packet is returned
//! only if it follows the previous one without a gap. Packets with the same number as a stored one, and packets that
//! precede one already returned, are dropped. Pullers downstream sleep while there is nothing for them.
//!
//! It holds at most 16,384 packets, and drops any beyond that.
//!
//! Ports: 1 input, 1 output. Processing: push input, pull output. Workers: exclusive.
//!
//! # Arguments
//! - `SKIP` (boolean, default false): whether to return packets even if earlier ones are missing.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(in.pcap, FORCE_IP true) -> IPFilter(allow src tcp port 80) -> TCPBuffer -> Unqueue -> IPPrint -> Discard
//! ```
//!
//! # See also
//! TCPReorder, Queue

use super::message::Message;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Pull, Residency};
use std::any::Any;
use std::collections::VecDeque;
use wire::tcp::flag::{FIN, SYN};
use wire::{ip_proto, tcp};

/// The class.
pub(crate) const CLASS: Class = Class::new("TCPBuffer", create)
    .processing("h/l")
    .residency(Residency::Exclusive)
    .holds("packets to be pulled")
    .doc(router::manual!("tcp_buffer.rs"));

/// Packets that are stored at most.
const MOST: usize = 16_384;

/// A stored packet.
struct Stored {
    number: u32,
    /// The number behind what it carries.
    next: u32,
    packet: Packet,
}

/// What is stored, in the order of numbers, and the number to be given next, once there is one.
#[derive(Default)]
struct Buffer {
    stored: VecDeque<Stored>,
    next: Option<u32>,
}

struct TcpBuffer {
    skips: bool,
    buffer: Buffer,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut skips = false;
    config.args().positional("SKIP", &mut skips).finish()?;
    Ok(Box::new(TcpBuffer { skips, buffer: Buffer::default() }))
}

/// Whether a number comes before another one; they start again at 0 behind the largest.
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// A packet's number, and the one behind what it carries.
fn numbers(packet: &Packet) -> Option<(u32, u32)> {
    let message =
        Message::of(packet).filter(|message| message.protocol == ip_proto::TCP && !message.fragment)?;
    let header = tcp::Header::new_checked(packet.transport()?).ok()?;
    let data = message.end.saturating_sub(message.start + header.header_len()) as u32;
    let ends = u32::from(header.flags() & (SYN | FIN) != 0);
    Some((header.sequence(), header.sequence().wrapping_add(data + ends)))
}

impl Buffer {
    /// Stores a packet, or gives it back and says why not.
    fn store(&mut self, packet: Packet) -> Result<(), (Packet, &'static str)> {
        let Some((number, next)) = numbers(&packet) else { return Err((packet, "no TCP packet")) };
        if self.next.is_some_and(|next| is_before(number, next)) {
            return Err((packet, "before what was given"));
        }
        // Most packets come in order.
        let place = self.stored.iter().rposition(|other| !is_before(number, other.number));
        if place.is_some_and(|at| self.stored[at].number == number) {
            return Err((packet, "stored already"));
        }
        if self.stored.len() >= MOST {
            return Err((packet, "no room"));
        }
        self.stored.insert(place.map_or(0, |at| at + 1), Stored { number, next, packet });
        Ok(())
    }

    /// Whether there is a packet to give.
    fn is_ready(&self, skips: bool) -> bool {
        let first = self.stored.front().map(|first| first.number);
        first.is_some_and(|number| skips || self.next.is_none_or(|next| next == number))
    }

    fn give(&mut self, skips: bool) -> Option<Packet> {
        let first = self.is_ready(skips).then(|| self.stored.pop_front()).flatten()?;
        self.next = Some(first.next);
        Some(first.packet)
    }
}

impl Element for TcpBuffer {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        cx.signals().provide();
        cx.signals().set(false);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        batch.drain(|packet| {
            if let Err((packet, reason)) = self.buffer.store(packet) {
                cx.drop(packet, reason);
            }
        });
        cx.consume(batch);
        cx.signals().set(self.buffer.is_ready(self.skips));
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        let mut batch = cx.batch();
        while batch.len() < want
            && !batch.is_full()
            && let Some(packet) = self.buffer.give(self.skips)
        {
            batch.push(packet);
        }
        cx.signals().set(self.buffer.is_ready(self.skips));
        Pull::Give(batch)
    }

    fn held(&self) -> usize {
        self.buffer.stored.len()
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(std::mem::take(&mut self.buffer)))
    }

    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(buffer) = state.downcast::<Buffer>() {
            self.buffer = *buffer;
        }
        cx.signals().set(self.buffer.is_ready(self.skips));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;
    use elements_testing::samples::hostile;
    use elements_testing::transport_samples::{carrying, tcp};
    use proptest::prelude::*;

    fn packet(number: u32, flags: u8, data: &[u8]) -> Vec<u8> {
        let mut segment = tcp(data);
        segment[4..8].copy_from_slice(&number.to_be_bytes());
        segment[13] = flags;
        carrying(6, 0, &segment)
    }

    fn numbers(skip: bool, packets: &[Vec<u8>]) -> (Vec<u32>, Vec<(&'static str, u64)>) {
        let config = format!("Inject -> MarkIPHeader -> TCPBuffer({skip}) -> Unqueue -> Collect(0)");
        let flow = send_singly(&config, packets.to_vec());
        let number = |data: &Vec<u8>| u32::from_be_bytes(*data[24..].first_chunk().unwrap());
        (flow.data(0).iter().map(number).collect(), flow.drops())
    }

    /// In order, also behind the largest number; a gap stops all, or is passed over.
    #[test]
    fn segments_leave_in_order() {
        let last = u32::MAX;
        let packets = [
            packet(last, 2, b""),
            packet(3, 16, b"de"),
            packet(0, 16, b"abc"),
            packet(9, 16, b"x"),
            packet(5, 1, b""),
        ];
        assert_eq!(numbers(false, &packets).0, [last, 0, 3, 5]);
        let (seen, drops) = numbers(true, &packets);
        assert_eq!((seen, drops), (vec![last, 3, 9], vec![("before what was given", 2)]));
    }

    #[test]
    fn repeated_and_foreign_packets_are_refused() {
        let packets = [
            packet(1, 16, b"a"),
            packet(4, 16, b"a"),
            packet(4, 16, b"a"),
            packet(1, 16, b"a"),
            vec![0x45; 30],
        ];
        let (seen, drops) = numbers(false, &packets);
        assert_eq!(seen, [1]);
        assert_eq!(drops, [("before what was given", 1), ("no TCP packet", 1), ("stored already", 1)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn whatever_comes(packets in hostile(), skip in any::<bool>()) {
            numbers(skip, &packets);
        }
    }
}
