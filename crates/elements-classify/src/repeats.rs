//! How often packets are of the same flow as the packet before: what IPFilter counts with CACHING.

use packet::Packet;
use router::Handlers;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use elements_shared::sprintf::general;

/// What all workers have counted.
#[derive(Debug, Default)]
pub(super) struct Counts {
    hits: AtomicU64,
    total: AtomicU64,
}

impl Counts {
    fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    fn misses(&self) -> u64 {
        self.total().saturating_sub(self.hits())
    }

    /// How much of all packets a part is, in percent.
    fn ratio(&self, part: u64) -> String {
        general(part as f64 * 100.0 / self.total().max(1) as f64)
    }
}

/// Counts one worker's packets.
#[derive(Debug)]
pub(super) struct Repeats {
    last: Option<Flow>,
    counts: Arc<Counts>,
}

impl Repeats {
    /// With nothing counted yet by this worker.
    pub(super) fn new(counts: Arc<Counts>) -> Repeats {
        Repeats { last: None, counts }
    }

    /// Counts packets that come together; workers' counters meet once for all of them.
    pub(super) fn count<'a>(&mut self, packets: impl Iterator<Item = &'a Packet>) {
        let (mut hits, mut total) = (0, 0);
        for packet in packets {
            let flow = Flow::of(packet);
            hits += u64::from(flow.is_some() && flow == self.last);
            total += 1;
            self.last = flow;
        }
        self.counts.hits.fetch_add(hits, Relaxed);
        self.counts.total.fetch_add(total, Relaxed);
    }
}

/// Addresses, protocol and the first word behind the header, which has the ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Flow {
    addresses: [u8; 8],
    protocol: u8,
    ports: [u8; 4],
}

impl Flow {
    fn of(packet: &Packet) -> Option<Flow> {
        let network = packet.network()?;
        let ports = packet.transport().and_then(|transport| transport.first_chunk().copied());
        Some(Flow {
            addresses: *network.get(12..)?.first_chunk()?,
            protocol: network[9],
            ports: ports.unwrap_or_default(),
        })
    }
}

/// The handlers of an element that may count; -1 is read where it does not.
pub(super) fn handlers<E: 'static>(h: &mut Handlers, of: fn(&E) -> Option<&Repeats>) {
    let mut add = |name, value: fn(&Counts) -> String| {
        h.read(name, move |e: &mut E, _| {
            of(e).map_or_else(|| "-1".to_owned(), |repeats| value(&repeats.counts))
        });
    };
    add("cache_hits_count", |counts| counts.hits().to_string());
    add("cache_misses_count", |counts| counts.misses().to_string());
    add("cache_total_count", |counts| counts.total().to_string());
    add("cache_hits_ratio", |counts| counts.ratio(counts.hits()));
    add("cache_misses_ratio", |counts| counts.ratio(counts.misses()));
}
