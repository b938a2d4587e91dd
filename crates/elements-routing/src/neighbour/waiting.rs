//! Packets that wait for an address, on one worker.

use packet::Packet;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::net::Ipv4Addr;

/// The packets that wait for one address.
struct Queue {
    packets: VecDeque<Packet>,
    /// When the table is to be asked about the address again.
    again_ns: i64,
    arrival: u64,
}

/// Packets that wait, by the address that they wait for.
pub(crate) struct Waiting<A = Ipv4Addr> {
    queues: HashMap<A, Queue>,
    /// Addresses in the order in which they were first wanted.
    order: BTreeMap<u64, A>,
    arrivals: u64,
}

impl<A> Default for Waiting<A> {
    fn default() -> Waiting<A> {
        Waiting { queues: HashMap::new(), order: BTreeMap::new(), arrivals: 0 }
    }
}

impl<A: Copy + Eq + Hash> Waiting<A> {
    /// Whether an address is waited for.
    #[inline]
    pub(crate) fn concerns(&self, ip: A) -> bool {
        !self.queues.is_empty() && self.queues.contains_key(&ip)
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.queues.values().map(|queue| queue.packets.len()).sum()
    }

    /// Packets that wait for an address, and when to ask again; `None` if it is not waited for.
    pub(crate) fn state(&self, ip: A) -> Option<(usize, i64)> {
        self.queues.get(&ip).map(|queue| (queue.packets.len(), queue.again_ns))
    }

    /// The packet that has waited longest for an address.
    pub(crate) fn first(&self, ip: A) -> Option<&Packet> {
        self.queues.get(&ip)?.packets.front()
    }

    /// Waits for an address, to be asked for again at `again_ns`.
    pub(crate) fn expect(&mut self, ip: A, again_ns: i64) {
        let (order, arrivals) = (&mut self.order, &mut self.arrivals);
        let queue = self.queues.entry(ip).or_insert_with(|| {
            *arrivals += 1;
            order.insert(*arrivals, ip);
            Queue { packets: VecDeque::new(), again_ns, arrival: *arrivals }
        });
        queue.again_ns = again_ns;
    }

    /// Adds a packet that waits for an address that is waited for; the packet back if it is not.
    pub(crate) fn push(&mut self, ip: A, packet: Packet) -> Option<Packet> {
        match self.queues.get_mut(&ip) {
            Some(queue) => {
                queue.packets.push_back(packet);
                None
            }
            None => Some(packet),
        }
    }

    /// Stops waiting for an address and returns the packets.
    pub(crate) fn take(&mut self, ip: A) -> VecDeque<Packet> {
        let Some(queue) = self.queues.remove(&ip) else { return VecDeque::new() };
        self.order.remove(&queue.arrival);
        queue.packets
    }

    /// Takes the oldest packet of the address that was wanted first and has packets.
    pub(crate) fn pop_oldest(&mut self) -> Option<Packet> {
        self.order.values().find_map(|ip| self.queues.get_mut(ip)?.packets.pop_front())
    }

    /// The addresses that are waited for, in the order in which they were first wanted.
    pub(crate) fn addresses(&self) -> Vec<A> {
        self.order.values().copied().collect()
    }
}
