//! What is seen of packets by those who ask: views of packets, traces, captures.
//!
//! Workers write, one thread of the program's reads. All of it is bounded: a ring that is full counts what it loses.

use crate::configuration::filter::Filter;
use crossbeam_queue::ArrayQueue;
use packet::Packet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Bytes of a packet that traces and samples of drops keep.
const HEAD: usize = 192;
/// Steps of a trace that may wait for the reader.
const STEPS: usize = 8_192;
/// Steps of one packet, at most: a loop in the graph never ends.
const STEPS_A_PACKET: u32 = 512;
/// Packets of a capture that may wait for the reader, and their bytes.
const CAPTURED: usize = 4_096;
const CAPTURED_BYTES: usize = 8 << 20;

/// Numbers of traced packets, over all routers of this process: a packet that a queue kept from an earlier trace is none of a later one.
static NUMBERS: AtomicU32 = AtomicU32::new(1);

/// What a packet looked like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// When, in nanoseconds since the epoch.
    pub at_ns: i64,
    /// Bytes that the packet had.
    pub len: usize,
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// Where its network header begins, if an element has said so.
    pub network: Option<usize>,
    /// Its destination annotation: the next hop.
    pub next_hop: u32,
}

impl View {
    /// That of a packet at a time.
    pub fn of(packet: &Packet, at_ns: i64) -> View {
        View::cut(packet, at_ns, HEAD)
    }

    fn cut(packet: &Packet, at_ns: i64, most: usize) -> View {
        let data = packet.data();
        View {
            at_ns,
            len: data.len(),
            bytes: data[..data.len().min(most)].to_vec(),
            network: packet.network_offset().and_then(|offset| usize::try_from(offset).ok()),
            next_hop: packet.dst_ip().to_bits(),
        }
    }
}

/// What a step of a traced packet is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An element that has made it, or got it from outside, sends it out.
    Starts,
    /// It arrives at an input.
    Arrives {
        /// The input.
        port: usize,
        /// What the element says of its decision.
        because: Option<String>,
    },
    /// The element has dropped it.
    Dropped(&'static str),
    /// The element keeps it for a while.
    Kept,
    /// It has reached its destination in the element.
    Ends,
}

/// A step of a traced packet.
#[derive(Clone, Debug)]
pub struct Step {
    /// The packet: its copies, and what elements have made because of it, have the same number. Counts from 0.
    pub packet: u32,
    /// Where it is.
    pub element: usize,
    /// The worker that saw it.
    pub worker: usize,
    /// What happened.
    pub what: What,
    /// The packet, before the element did anything to it.
    pub view: View,
}

/// A trace: which packets, how many, and what was seen of them.
pub struct Trace {
    filter: Filter,
    first: u32,
    packets: u32,
    begun: AtomicU32,
    /// When it ends by itself, in nanoseconds since the epoch.
    pub(crate) until_ns: i64,
    over: AtomicBool,
    steps: ArrayQueue<Step>,
    lost: AtomicU64,
    counts: Vec<AtomicU32>,
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("packets", &self.packets)
            .field("begun", &self.begun)
            .finish_non_exhaustive()
    }
}

impl Trace {
    /// Packets that a trace follows, at most.
    pub const PACKETS_MAX: u32 = 10_000;

    /// One of so many packets that ends at a time.
    pub(crate) fn new(filter: Filter, packets: u32, until_ns: i64) -> Trace {
        let packets = packets.clamp(1, Trace::PACKETS_MAX);
        Trace {
            filter,
            first: NUMBERS.fetch_add(packets, Relaxed),
            packets,
            begun: AtomicU32::new(0),
            until_ns,
            over: AtomicBool::new(false),
            steps: ArrayQueue::new(STEPS),
            lost: AtomicU64::new(0),
            counts: (0..packets).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// The packet with this number, if it is one of this trace.
    pub(crate) fn known(&self, number: u32) -> Option<u32> {
        let place = number.wrapping_sub(self.first);
        (place < self.packets && number != 0).then_some(place)
    }

    /// Whether a packet is one of this trace: it has been, or it is meant and there is room for one more, which gets a number.
    pub(crate) fn takes(&self, packet: &mut Packet) -> Option<u32> {
        if let Some(place) = self.known(packet.trace()) {
            return Some(place);
        }
        if self.is_full() || !(self.filter)(packet) {
            return None;
        }
        let place = self.begun.fetch_add(1, Relaxed);
        if place >= self.packets {
            self.begun.store(self.packets, Relaxed);
            return None;
        }
        packet.set_trace(self.first.wrapping_add(place));
        Some(place)
    }

    /// Notes a step.
    pub(crate) fn note(&self, step: Step) {
        let count = self.counts.get(step.packet as usize).map(|count| count.fetch_add(1, Relaxed));
        if count.is_none_or(|count| count >= STEPS_A_PACKET) || self.steps.push(step).is_err() {
            self.lost.fetch_add(1, Relaxed);
        }
    }

    /// The next step.
    pub fn next(&self) -> Option<Step> {
        self.steps.pop()
    }

    /// Steps that were not kept.
    pub fn lost(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Packets that it follows so far.
    pub fn begun(&self) -> u32 {
        self.begun.load(Relaxed).min(self.packets)
    }

    /// Whether it follows as many packets as it is to.
    pub fn is_full(&self) -> bool {
        self.begun.load(Relaxed) >= self.packets
    }

    /// Ends it.
    pub(crate) fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Whether it has ended, or its time has.
    pub(crate) fn is_over(&self, now_ns: i64) -> bool {
        self.over.load(Relaxed) || now_ns >= self.until_ns
    }
}

/// One side of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The element.
    pub element: usize,
    /// Whether it is one of its inputs.
    pub input: bool,
    /// Which one.
    pub port: usize,
}

/// A capture: which packets of an edge, and those that were seen.
pub struct Capture {
    filter: Option<Filter>,
    snaplen: usize,
    full: ArrayQueue<View>,
    /// Views that the reader has given back: their memory is used again.
    free: ArrayQueue<View>,
    seen: AtomicU64,
    lost: AtomicU64,
    over: AtomicBool,
    pub(crate) until_ns: i64,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Capture").field("snaplen", &self.snaplen).finish_non_exhaustive()
    }
}

impl Capture {
    /// Bytes of each packet that a capture keeps, at most.
    pub const SNAPLEN_MAX: usize = 32_768;

    /// One that keeps so many bytes of each packet. Its memory is there from the beginning.
    pub(crate) fn new(filter: Option<Filter>, snaplen: usize, until_ns: i64) -> Capture {
        let snaplen = snaplen.clamp(1, Capture::SNAPLEN_MAX);
        let places = (CAPTURED_BYTES / snaplen).clamp(64, CAPTURED);
        let free = ArrayQueue::new(places);
        for _ in 0..places {
            let _ = free.push(View { bytes: Vec::with_capacity(snaplen), ..View::default() });
        }
        Capture {
            filter,
            snaplen,
            full: ArrayQueue::new(places),
            free,
            seen: AtomicU64::new(0),
            lost: AtomicU64::new(0),
            over: AtomicBool::new(false),
            until_ns,
        }
    }

    /// Keeps a packet if it is meant.
    pub(crate) fn see(&self, packet: &Packet, at_ns: i64) {
        if self.is_over(at_ns) || self.filter.as_ref().is_some_and(|wants| !wants(packet)) {
            return;
        }
        self.seen.fetch_add(1, Relaxed);
        let Some(mut view) = self.free.pop() else {
            self.lost.fetch_add(1, Relaxed);
            return;
        };
        let data = packet.data();
        view.bytes.clear();
        view.bytes.extend_from_slice(&data[..data.len().min(self.snaplen)]);
        (view.at_ns, view.len) = (at_ns, data.len());
        view.network = packet.network_offset().and_then(|offset| usize::try_from(offset).ok());
        let _ = self.full.push(view); // as many places as views
    }

    /// The next packet. Its memory is to be given back.
    pub fn next(&self) -> Option<View> {
        self.full.pop()
    }

    /// Gives the memory of a packet back.
    pub fn give_back(&self, view: View) {
        let _ = self.free.push(view); // as many places as views
    }

    /// Packets that were meant, and those of them that found no memory.
    pub fn counts(&self) -> (u64, u64) {
        (self.seen.load(Relaxed), self.lost.load(Relaxed))
    }

    pub(crate) fn end(&self) {
        self.over.store(true, Relaxed);
    }

    pub(crate) fn is_over(&self, now_ns: i64) -> bool {
        self.over.load(Relaxed) || now_ns >= self.until_ns
    }
}

/// Classes of batch sizes: 1, 2 to 3, 4 to 7, and so on.
pub const SIZES: usize = 9;

/// What the turns that were looked at say of an element's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Calls that brought packets, or made them.
    pub batches: u64,
    /// The packets.
    pub packets: u64,
    /// Nanoseconds in the element alone.
    pub ns: u64,
    /// Batches by the binary logarithm of their sizes.
    pub sizes: [u64; SIZES],
}

impl Cost {
    /// Adds a call.
    pub(crate) fn add(&mut self, packets: usize, ns: u64) {
        self.ns += ns;
        if packets > 0 {
            self.batches += 1;
            self.packets += packets as u64;
            self.sizes[(packets.ilog2() as usize).min(SIZES - 1)] += 1;
        }
    }

    /// Adds another worker's.
    pub fn merge(&mut self, other: &Cost) {
        self.batches += other.batches;
        self.packets += other.packets;
        self.ns += other.ns;
        self.sizes.iter_mut().zip(other.sizes).for_each(|(mine, other)| *mine += other);
    }
}
