//! Writes consecutive numbers into packets.
//!
//! ```click
//! NumberPacket([OFFSET, KEYWORDS])
//! ```
//!
//! Writes 0 into the first packet, 1 into the second, and so on, as eight-byte numbers. A packet too short for its
//! number is extended with zeros, and the length in its IPv4 header, if marked, is updated. It is FastClick's
//! element, but its numbers are unique and in order even with several workers.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: shared; each number is used once.
//!
//! # Arguments
//! - `OFFSET` (integer, default 40): where in the packet to write.
//! - `NET_ORDER` (boolean, default false): whether to use network byte order, instead of host byte order.
//!
//! # Handlers
//! - `count` (read): the next number.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 5) -> NumberPacket(14) -> Discard
//! ```
//!
//! # See also
//! CheckNumberPacket, RecordTimestamp, TimestampDiff, StoreData

use elements_shared::packet_end::write_behind_end;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Pull, Residency, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("NumberPacket", create).residency(Residency::Shared).doc(router::manual!("number_packet.rs"));

/// Bytes of a number.
pub(super) const SIZE: usize = 8;
/// Where numbers are unless another place is said.
pub(super) const OFFSET: u32 = 40;

/// The next number, and how numbers are written.
pub(super) struct Numbers {
    next: AtomicU64,
    pub(super) net_order: bool,
}

/// Reads the number in a packet.
#[inline]
pub(super) fn number(packet: &Packet, offset: usize, net_order: bool) -> Option<u64> {
    let bytes = packet.data().get(offset..)?.first_chunk::<SIZE>()?;
    Some(if net_order { u64::from_be_bytes(*bytes) } else { u64::from_ne_bytes(*bytes) })
}

struct NumberPacket {
    numbers: Arc<Numbers>,
    offset: u32,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut offset, mut net_order) = (i64::from(OFFSET), false);
    config.args().positional("OFFSET", &mut offset).keyword("NET_ORDER", &mut net_order).finish()?;
    let offset = u32::try_from(offset).map_err(|_| "Offset must be >= 0")?;
    let numbers = config.shared(|| Ok(Numbers { next: AtomicU64::new(0), net_order }))?;
    Ok(Box::new(NumberPacket { numbers, offset }))
}

impl NumberPacket {
    /// Numbers a batch: its packets' numbers are taken together.
    fn process(&mut self, cx: &mut Cx<'_>, batch: Batch) -> Batch {
        let mut next = self.numbers.next.fetch_add(batch.len() as u64, Relaxed);
        cx.sift(batch, |_, packet| {
            let written = self.write(packet, next);
            next += 1;
            if written { Verdict::Pass } else { Verdict::Drop("no room for a number") }
        })
    }

    /// Writes a number, unless there is no room for it.
    #[inline]
    fn write(&self, packet: &mut Packet, number: u64) -> bool {
        let number = if self.numbers.net_order { number.to_be_bytes() } else { number.to_ne_bytes() };
        let Some(place) = packet.data_array_mut(self.offset) else {
            return lengthen_for(packet, self.offset, number);
        };
        *place = number;
        true
    }
}

/// Lengthens a packet that is too short for its number, writes that, and has the IPv4 header, if there is one, end where the packet does.
#[cold]
fn lengthen_for(packet: &mut Packet, offset: u32, number: [u8; SIZE]) -> bool {
    let lengthened = write_behind_end(packet, offset as usize, number);
    if lengthened {
        lengthen(packet);
    }
    lengthened
}

/// Has the length in a packet's IPv4 header, if there is one, end where the packet does.
fn lengthen(packet: &mut Packet) {
    const VERSION: u8 = 4;
    if let Some(header) = packet.network_mut()
        && header.len() >= 20
        && header[0] >> 4 == VERSION
    {
        let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
        header[2..4].copy_from_slice(&length.to_be_bytes());
    }
}

impl Element for NumberPacket {
    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let batch = self.process(cx, batch);
        cx.emit(0, batch);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        Pull::Give(self.process(cx, batch))
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut NumberPacket, _| e.numbers.next.load(Relaxed));
    }
}
