//! Flow records, and the slab that they live in.
//!
//! A record is one cache line of atomics. A worker that creates a flow fills in a record that no reader knows, then publishes its
//! number in the index with a release store; readers acquire the number and find the record complete. A record of a
//! removed flow is used again only when a grace period has passed, so that a reader may use what it found until its turn
//! ends. No reference to a record is ever invalid: the slab grows in chunks and never moves or frees any.

use super::deltas::Deltas;
use super::flow_events::{Event, What};
use super::sync::{AtomicU32, AtomicU64, FIRST_CHUNK as FIRST, LINES};
use elements_shared::flow_id::{FlowId, Key};
use packet::Roomy;
use rcu::{OptionCell, Turn};
use std::sync::OnceLock;
use std::sync::atomic::{
    self, AtomicU8, AtomicU16,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
};
use wire::ip_proto;

/// The map of a record whose flow was removed: no key has it.
const DEAD: u32 = u32::MAX;

/// The bit of a map's number that stands for the mappings of its flows' endpoints, which are records, too; see `super::endpoints`.
pub(super) const MAPPINGS: u32 = 1 << 30;

/// Bits of a record's flags. For TCP, by direction: whether it has ended, and whether data was seen.
pub(super) mod flag {
    /// The forward direction has ended.
    pub(crate) const FORWARD_DONE: u16 = 1;
    /// Both directions have ended.
    pub(crate) const BOTH_DONE: u16 = 3;
    /// Data was seen in the forward direction.
    pub(crate) const FORWARD_DATA: u16 = 4;
    /// Data was seen in both directions.
    pub(crate) const BOTH_DATA: u16 = 12;
    /// TCP: the other side has answered, by other than a reset.
    pub(crate) const ANSWERED: u16 = 0x100;
    /// TCP: who began has acknowledged the answer: the handshake is complete.
    pub(crate) const COMPLETE: u16 = 0x200;
    /// UDP: a packet was seen in the reply direction.
    pub(crate) const REPLIED: u16 = 1;
    /// UDP: one packet, in the counter above [`REPLIED`] that stops at three.
    pub(crate) const PACKET: u16 = 2;
    /// A packet came after the flow's first one.
    pub(crate) const CONFIRMED: u16 = 0x20;
    /// The flow counts for the mapping of its endpoint.
    pub(crate) const MAPPED: u16 = 0x40;
    /// Sequence numbers are changed.
    pub(crate) const DELTAS: u16 = 0x80;
}

/// A flow's two directions as indices.
pub(super) const FORWARD: usize = 0;
/// The direction of replies.
pub(super) const REPLY: usize = 1;

/// What is needed to make a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewFlow {
    /// The map of both directions.
    pub(super) map: u32,
    pub(super) protocol: u8,
    /// The identifier of packets as they arrive, and as they leave.
    pub(super) id: FlowId,
    pub(super) rewritten: FlowId,
    /// Where packets of the two directions leave.
    pub(super) outputs: [u16; 2],
    /// The input whose specification made the flow.
    pub(super) input: u16,
    /// The one's complement changes of the IP checksum and of the transport checksum, going forward.
    pub(super) ip_change: u16,
    pub(super) transport_change: u16,
    pub(super) reply_anno: u8,
    /// Whether it counts for the mapping of its endpoint.
    pub(super) mapped: bool,
}

impl NewFlow {
    /// What packets of both directions will be found by.
    pub(super) fn keys(&self) -> [Key; 2] {
        [self.id, self.rewritten.reversed()].map(|id| Key::new(self.map, id))
    }

    /// The mapping of the endpoint that sends the flow. With a `peer`, the note that the endpoint sends to this address; without one, that
    /// is 0, the mapping itself. It is found by the endpoint and the input, or by what the endpoint is outside.
    pub(super) fn mapping(&self, peer: u32) -> NewFlow {
        NewFlow {
            map: self.map | MAPPINGS,
            id: FlowId { daddr: peer, dport: self.input, ..self.id },
            rewritten: FlowId { daddr: peer, dport: 0, ..self.rewritten },
            ip_change: 0,
            transport_change: 0,
            mapped: false,
            ..*self
        }
    }

    /// The event that this flow, or mapping, was made or has ended. A note of whom an endpoint sends to is none.
    pub(super) fn event(&self, is_made: bool) -> Option<Event> {
        let is_mapping = self.map & MAPPINGS != 0;
        let what = match (is_mapping, is_made) {
            (false, true) => What::SessionMade,
            (false, false) => What::SessionEnded,
            (true, true) => What::MappingMade,
            (true, false) => What::MappingEnded,
        };
        // The second port of a ping stands for the first one, that of a mapping for the input.
        let has_port = !is_mapping && self.protocol != ip_proto::ICMP;
        let ends =
            |id: FlowId| [(id.source(), id.sport), (id.destination(), if has_port { id.dport } else { 0 })];
        let (ends, translated) = (ends(self.id).map(|(at, port)| (at.into(), port)), ends(self.rewritten));
        let event = Event { protocol: self.protocol, ends, translated, ..Event::new(what) };
        Some(event).filter(|_| !(is_mapping && self.id.daddr != 0))
    }

    /// All that the flow may count for: see [`NewFlow::mapping`].
    pub(super) fn mappings(&self) -> impl Iterator<Item = NewFlow> {
        let peer = Some(self.id.daddr).filter(|&peer| peer != 0);
        [Some(0), peer].into_iter().flatten().map(|peer| self.mapping(peer))
    }
}

/// One flow.
#[repr(align(64))]
pub(super) struct Flow {
    /// The keys of both directions.
    addresses: [AtomicU64; 2],
    last_ms: AtomicU64,
    /// Of interest if [`flag::DELTAS`] is set; replaced by the table's editor.
    pub(super) deltas: OptionCell<Deltas>,
    ports: [AtomicU32; 2],
    map: AtomicU32,
    /// The changes of the IP checksum (upper half) and of the transport checksum. A mapping, which changes no packet, counts its flows here.
    changes: AtomicU32,
    outputs: [AtomicU16; 2],
    input: AtomicU16,
    flags: AtomicU16,
    protocol: AtomicU8,
    reply_anno: AtomicU8,
    /// The part of the table that the record belongs to, and whether it is in a queue there; see `super::expiry`.
    pub(super) lane: AtomicU8,
    pub(super) place: AtomicU8,
}

const _: () = assert!(size_of::<Flow>() == 64 || !LINES);

impl Flow {
    /// A record without a flow.
    fn unused() -> Flow {
        Flow {
            addresses: Default::default(),
            last_ms: AtomicU64::new(0),
            deltas: OptionCell::new(None),
            ports: Default::default(),
            map: AtomicU32::new(DEAD),
            changes: AtomicU32::new(0),
            outputs: Default::default(),
            input: AtomicU16::new(0),
            flags: AtomicU16::new(0),
            protocol: AtomicU8::new(0),
            reply_anno: AtomicU8::new(0),
            lane: AtomicU8::new(0),
            place: AtomicU8::new(0),
        }
    }

    /// The changes of sequence numbers, if there are any.
    #[inline]
    pub(super) fn deltas<'t>(&'t self, turn: Turn<'t>) -> Option<&'t Deltas> {
        // What an earlier flow of the record had may still be in the cell.
        if self.flags() & flag::DELTAS == 0 { None } else { self.deltas.read(turn) }
    }

    /// Fills in a record that no reader can know.
    pub(super) fn fill(&self, new: &NewFlow, now_ms: u64) {
        for (direction, id) in [new.id, new.rewritten.reversed()].into_iter().enumerate() {
            self.addresses[direction].store(id.addresses(), Relaxed);
            self.ports[direction].store(id.ports(), Relaxed);
            self.outputs[direction].store(new.outputs[direction], Relaxed);
        }
        self.last_ms.store(now_ms, Relaxed);
        self.changes.store(u32::from(new.ip_change) << 16 | u32::from(new.transport_change), Relaxed);
        self.input.store(new.input, Relaxed);
        self.flags.store(if new.mapped { flag::MAPPED } else { 0 }, Relaxed);
        self.protocol.store(new.protocol, Relaxed);
        self.reply_anno.store(new.reply_anno, Relaxed);
        self.map.store(new.map, Release);
    }

    /// Says that the flow was removed.
    pub(super) fn bury(&self) {
        self.map.store(DEAD, Relaxed);
    }

    /// The flow's map; `None` once it was removed.
    #[inline]
    pub(super) fn map(&self) -> Option<u32> {
        Some(self.map.load(Acquire)).filter(|&map| map != DEAD)
    }

    /// Whether it is the mapping of an endpoint, not a flow.
    pub(super) fn is_mapping(&self) -> bool {
        self.map().is_some_and(|map| map & MAPPINGS != 0)
    }

    /// One flow more counts for a mapping.
    pub(super) fn hold(&self) {
        self.changes.fetch_add(1, Relaxed);
    }

    /// One flow less does. Whether it was the last one.
    pub(super) fn release(&self) -> bool {
        self.changes.fetch_sub(1, Relaxed) == 1
    }

    /// How many flows count for a mapping.
    pub(super) fn holders(&self) -> u32 {
        self.changes.load(Relaxed)
    }

    /// Whether this is the key of a direction.
    #[inline]
    pub(super) fn matches(&self, direction: usize, key: Key) -> bool {
        self.addresses[direction].load(Relaxed) == key.addresses()
            && self.ports[direction].load(Relaxed) == key.ports()
            && self.map.load(Relaxed) == key.map()
    }

    /// The key of a direction.
    #[inline]
    pub(super) fn key(&self, direction: usize) -> Key {
        let (addresses, ports) = (&self.addresses[direction], &self.ports[direction]);
        Key::of_words(self.map.load(Relaxed), addresses.load(Relaxed), ports.load(Relaxed))
    }

    /// The identifier of packets of a direction, as they arrive.
    #[inline]
    pub(super) fn id(&self, direction: usize) -> FlowId {
        FlowId::from_words(self.addresses[direction].load(Relaxed), self.ports[direction].load(Relaxed))
    }

    /// The identifier of packets of a direction, as they leave.
    #[inline]
    pub(super) fn rewritten(&self, direction: usize) -> FlowId {
        self.id(1 - direction).reversed()
    }

    /// Where packets of a direction leave.
    #[inline]
    pub(super) fn output(&self, direction: usize) -> usize {
        usize::from(self.outputs[direction].load(Relaxed))
    }

    /// The input whose specification made the flow.
    pub(super) fn input(&self) -> usize {
        usize::from(self.input.load(Relaxed))
    }

    /// The IP protocol; 0 if it does not matter.
    #[inline]
    pub(super) fn protocol(&self) -> u8 {
        self.protocol.load(Relaxed)
    }

    /// The annotation that packets of the reply direction get.
    #[inline]
    pub(super) fn reply_anno(&self) -> u8 {
        self.reply_anno.load(Relaxed)
    }

    /// The part of the table that the record belongs to.
    pub(super) fn lane(&self) -> usize {
        usize::from(self.lane.load(Relaxed))
    }

    /// Sets that annotation.
    pub(super) fn set_reply_anno(&self, value: u8) {
        self.reply_anno.store(value, Relaxed);
    }

    /// The change of the IP checksum in a direction.
    #[inline]
    pub(super) fn ip_change(&self, direction: usize) -> u16 {
        turned((self.changes.load(Relaxed) >> 16) as u16, direction)
    }

    /// The change of the transport checksum in a direction.
    #[inline]
    pub(super) fn transport_change(&self, direction: usize) -> u16 {
        turned(self.changes.load(Relaxed) as u16, direction)
    }

    /// When the flow's last packet passed.
    #[inline]
    pub(super) fn last_ms(&self) -> u64 {
        self.last_ms.load(Relaxed)
    }

    /// Notes that a packet passes. Stores only what changes, so that the line stays shared between workers that meet
    /// the flow in the same millisecond.
    #[inline]
    pub(super) fn touch(&self, now_ms: u64) {
        if self.last_ms.load(Relaxed) != now_ms {
            self.last_ms.store(now_ms, Relaxed);
        }
    }

    /// The flags.
    #[inline]
    pub(super) fn flags(&self) -> u16 {
        self.flags.load(Relaxed)
    }

    /// Whether a packet came after the first one.
    pub(super) fn is_confirmed(&self) -> bool {
        self.flags() & flag::CONFIRMED != 0
    }

    /// Changes flags. Two workers may change different bits at once.
    pub(super) fn change_flags(&self, clear: u16, set: u16) {
        if clear != 0 {
            self.flags.fetch_and(!clear, Relaxed);
        }
        // Whether a copy is kept is looked at after that: see `FlowSet::confirm`.
        self.flags.fetch_or(set, SeqCst);
    }

    /// Replaces all flags, for a flow that is copied.
    pub(super) fn set_flags(&self, flags: u16) {
        self.flags.store(flags, Relaxed);
    }

    /// The flow as it could be made again.
    pub(super) fn describe(&self) -> NewFlow {
        NewFlow {
            map: self.map.load(Relaxed),
            protocol: self.protocol(),
            id: self.id(FORWARD),
            rewritten: self.rewritten(FORWARD),
            outputs: [0, 1].map(|direction| self.outputs[direction].load(Relaxed)),
            input: self.input.load(Relaxed),
            ip_change: self.ip_change(FORWARD),
            transport_change: self.transport_change(FORWARD),
            reply_anno: self.reply_anno(),
            mapped: self.flags() & flag::MAPPED != 0,
        }
    }
}

/// Where a flow is in its queue, beside its record. For who holds its lane; see `super::expiry`.
#[derive(Default)]
pub(super) struct Node {
    // The lane's lock orders all that is done to these.
    /// The lower half of the time.
    pub(super) at_ms: atomic::AtomicU32,
    pub(super) after: atomic::AtomicU32,
    pub(super) before: atomic::AtomicU32,
}

const _: () = assert!(size_of::<Node>() == 12 || !LINES);

/// Records that lie together, and as many nodes.
struct Chunk {
    flows: Roomy<Flow>,
    nodes: Roomy<Node>,
}

/// A one's complement number, negated for the reply direction.
#[inline]
fn turned(change: u16, direction: usize) -> u16 {
    change ^ (direction as u16).wrapping_neg()
}

/// Chunks in which the number of records doubles, as a power of two: no more than a sixteenth is made in vain.
const STEPS: u32 = 4;
const CHUNKS: usize = (32 - FIRST.ilog2() as usize) << STEPS;

/// All records of a table, by number.
pub(super) struct Slab {
    chunks: [OnceLock<Chunk>; CHUNKS],
}

impl Default for Slab {
    fn default() -> Slab {
        Slab { chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

/// The records of a chunk.
#[inline]
fn records(chunk: usize) -> usize {
    (FIRST as usize >> STEPS) << (chunk >> STEPS)
}

impl Slab {
    /// The chunk of a record, and the record's place in it.
    #[inline]
    fn place(number: u32) -> (usize, usize) {
        /// What comes out for the first record.
        const LOWEST: u64 = (FIRST.ilog2() as u64 + 1023) << STEPS;
        let n = i64::from(number) + i64::from(FIRST);
        // The exponent of a floating-point number is its logarithm, and the next bits tell the steps between. An instruction that finds the
        // highest bit would do, but x86-64's first one waits for the former contents of its target, which in a loop is what the last
        // turn loads.
        let chunk = (((n as f64).to_bits() >> (52 - STEPS)) - LOWEST) as usize;
        (chunk, n as usize & (records(chunk) - 1))
    }

    /// A record, if its chunk exists.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<&Flow> {
        let (chunk, at) = Slab::place(number);
        self.chunks.get(chunk)?.get()?.flows.get(at)
    }

    /// A record and its node, if its chunk exists.
    #[inline]
    pub(super) fn both(&self, number: u32) -> Option<(&Flow, &Node)> {
        let (chunk, at) = Slab::place(number);
        let chunk = self.chunks.get(chunk)?.get()?;
        Some((chunk.flows.get(at)?, chunk.nodes.get(at)?))
    }

    /// A record's node, if its chunk exists.
    #[inline]
    pub(super) fn node(&self, number: u32) -> Option<&Node> {
        let (chunk, at) = Slab::place(number);
        self.chunks.get(chunk)?.get()?.nodes.get(at)
    }

    /// The first record of the next chunk, for the record in the middle of one: time to think of it.
    pub(super) fn soon(number: u32) -> Option<u32> {
        let (chunk, at) = Slab::place(number);
        let next = u64::from(number) + (records(chunk) - at) as u64;
        u32::try_from(next).ok().filter(|_| at == records(chunk) / 2)
    }

    /// A record and its node, whose chunk is made if need be. `None` beyond the largest number.
    pub(super) fn make(&self, number: u32) -> Option<(&Flow, &Node)> {
        let (chunk, _) = Slab::place(number);
        let made = || {
            let records = records(chunk);
            Chunk { flows: Roomy::new(records, Flow::unused), nodes: Roomy::new(records, Node::default) }
        };
        self.chunks.get(chunk)?.get_or_init(made);
        self.both(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_leads_to_its_chunk() {
        assert_eq!([0, 63, 64, 1023].map(Slab::place), [(0, 0), (0, 63), (1, 0), (15, 63)]);
        assert_eq!(
            [1024, 1151, 1152, 3071, 3072].map(Slab::place),
            [(16, 0), (16, 127), (17, 0), (31, 127), (32, 0)]
        );
        let mut first = 0;
        for chunk in 0..CHUNKS {
            assert_eq!(Slab::place(first), (chunk, 0));
            first = first.saturating_add(records(chunk) as u32);
            if chunk + 1 < CHUNKS {
                assert_eq!(Slab::place(first - 1), (chunk, records(chunk) - 1));
            }
        }
        assert_eq!(Slab::place(u32::MAX).0, CHUNKS, "out of range, not out of bounds");
        assert!(Slab::default().get(0).is_none());
        let soon = [32, 3072 + 127, 3072 + 128, 3072 + 129].map(Slab::soon);
        assert_eq!(soon, [Some(64), None, Some(3072 + 256), None]);
    }
}
