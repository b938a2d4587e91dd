//! Records when numbered packets passed.
//!
//! ```click
//! RecordTimestamp([KEYWORDS])
//! ```
//!
//! Passes packets on, and records the time for TimestampDiff: under the number that NumberPacket wrote into the
//! packet or, without OFFSET, under 0 for the first packet, 1 for the second, and so on. Times are those at which the
//! worker's turn began. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: shared.
//!
//! # Arguments
//! - `COUNTER` (element): a NumberPacket whose NET_ORDER is used here too.
//! - `N` (integer, default 65536): the capacity, in numbers. Times of packets with higher numbers are not recorded.
//! - `OFFSET` (integer, default -1): where the number is in the packet; negative: count packets instead.
//! - `DYNAMIC` (boolean, default false): whether the capacity grows for higher numbers, up to N times 65,535, and at
//!   most 268,435,456.
//! - `NET_ORDER` (boolean, default false): whether numbers are in network byte order, instead of host byte order.
//! - `SAMPLE` (integer, default 1): record only packets whose number is a multiple of this; N counts only these. With
//!   OFFSET only.
//!
//! # Handlers
//! - `missed` (read): packets whose time was not recorded.
//!
//! # Example
//! ```click
//! InfiniteSource(LIMIT 5) -> NumberPacket -> r :: RecordTimestamp(OFFSET 40) -> Queue -> DelayUnqueue(1ms)
//!   -> TimestampDiff(r) -> Discard
//! ```
//!
//! # See also
//! NumberPacket, TimestampDiff, SetTimestamp

use super::number_packet::{Numbers, number};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, ElementName, Handlers, PerPacket, Residency, Simple, TableSize,
    Verdict,
};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// The class.
pub(crate) const CLASS: Class = Class::new("RecordTimestamp", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("record_timestamp.rs"));

/// The time of a packet that has not passed, or whose time was taken.
const NONE: i64 = i64::MIN;
/// Pieces of the table of times. The first has room for N, each of the others for twice as many as the one before.
const PIECES: usize = 16;

/// When packets passed, by number.
pub(super) struct Times {
    pieces: [OnceLock<Box<[AtomicI64]>>; PIECES],
    first: usize,
    /// Pieces that may be made.
    allowed: usize,
    /// The next number where packets have none.
    next: AtomicU64,
    missed: AtomicU64,
    /// Only times of numbers that this divides are kept.
    pub(super) sample: u64,
    /// Whether numbers are in network order.
    pub(super) net_order: AtomicBool,
}

impl Times {
    /// The piece in which a number is, and its place there.
    fn place(&self, number: u64) -> Option<(usize, usize)> {
        let number = usize::try_from(number / self.sample).ok()?;
        let piece = (number / self.first).checked_add(1)?.ilog2() as usize;
        (piece < self.allowed).then(|| (piece, number - self.first * ((1 << piece) - 1)))
    }

    fn keep(&self, number: u64, now_ns: i64) -> Option<()> {
        let (piece, at) = self.place(number)?;
        let make = || (0..self.first << piece).map(|_| AtomicI64::new(NONE)).collect();
        self.pieces[piece].get_or_init(make).get(at)?.store(now_ns, Relaxed);
        Some(())
    }

    /// Takes the time of a packet out.
    pub(super) fn take(&self, number: u64) -> Option<i64> {
        let (piece, at) = self.place(number)?;
        let time = self.pieces[piece].get()?.get(at)?.swap(NONE, Relaxed);
        (time != NONE).then_some(time)
    }
}

struct RecordTimestamp {
    times: Arc<Times>,
    offset: Option<usize>,
    counter: Option<ElementName>,
    net_order: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    const DEFAULT: usize = 65536;
    let (mut counter, mut n, mut offset) = (None::<ElementName>, TableSize(DEFAULT), -1i32);
    let (mut dynamic, mut net_order, mut sample) = (false, false, 1u32);
    config
        .args()
        .keyword("COUNTER", &mut counter)
        .keyword("N", &mut n)
        .keyword("OFFSET", &mut offset)
        .keyword("DYNAMIC", &mut dynamic)
        .keyword("NET_ORDER", &mut net_order)
        .keyword("SAMPLE", &mut sample)
        .finish()?;
    if let Some(counter) = &counter
        && config.class_of(counter.index) != "NumberPacket"
    {
        return Err("COUNTER must be a valid NumberPacket element".into());
    }
    let sample = if offset < 0 { 1 } else { u64::from(sample.max(1)) };
    let first = if n.0 == 0 { DEFAULT } else { n.0 };
    let times = config.shared(|| {
        Ok(Times {
            pieces: Default::default(),
            first,
            allowed: if dynamic { pieces(first) } else { 1 },
            next: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            sample,
            net_order: AtomicBool::new(net_order),
        })
    })?;
    let offset = usize::try_from(offset).ok();
    Ok(Box::new(PerPacket(RecordTimestamp { times, offset, counter, net_order })))
}

/// Pieces that may be made, if the first has so much room. Numbers come from packets, and must not take all memory.
fn pieces(first: usize) -> usize {
    let fits = |&count: &usize| first.saturating_mul((1 << count) - 1) <= TableSize::MAX;
    (1..=PIECES).rev().find(fits).unwrap_or(1)
}

impl Simple for RecordTimestamp {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if let Some(counter) = &self.counter {
            self.net_order = cx.shared_of::<Numbers>(&counter.name, "NumberPacket")?.net_order;
            self.times.net_order.store(self.net_order, Relaxed); // TimestampDiff wants to know
        }
        Ok(())
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let number = match self.offset {
            Some(offset) => number(packet, offset, self.net_order),
            None => Some(self.times.next.fetch_add(1, Relaxed)),
        };
        if number.is_some_and(|number| !number.is_multiple_of(self.times.sample)) {
            return Verdict::Pass;
        }
        if number.and_then(|number| self.times.keep(number, cx.now_ns())).is_none() {
            self.times.missed.fetch_add(1, Relaxed);
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("missed", |e: &mut RecordTimestamp, _| e.times.missed.load(Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every number below the end has a place of its own, in pieces that are filled from the front.
    #[test]
    fn every_number_has_a_place_of_its_own() {
        let times = Times {
            pieces: Default::default(),
            first: 3,
            allowed: 3,
            next: AtomicU64::new(0),
            missed: AtomicU64::new(0),
            sample: 1,
            net_order: AtomicBool::new(false),
        };
        let expected = [(0, 3), (1, 6), (2, 12)].map(|(piece, room)| (0..room).map(move |at| (piece, at)));
        let places = (0..21).map(|number| times.place(number).expect("a place"));
        assert!(places.eq(expected.into_iter().flatten()));
        assert_eq!(times.place(21), None);
        assert_eq!(times.place(u64::MAX), None);
        assert_eq!((times.keep(20, 7), times.take(20), times.take(20)), (Some(()), Some(7), None));
    }

    /// However large a packet's number is, and whatever N is, there is memory for the table.
    #[test]
    fn bounded_pieces() {
        assert_eq!([1, 65_536, TableSize::MAX].map(pieces), [16, 12, 1]);
        for element in
            ["RecordTimestamp(N 4294967295)", "r :: RecordTimestamp -> TimestampDiff(r, N 4294967295)"]
        {
            let said = crate::testing::errors(&format!("Idle -> {element} -> Discard"));
            assert!(said.contains("N: out of range, bound 268435456"), "{said}");
        }
    }
}
