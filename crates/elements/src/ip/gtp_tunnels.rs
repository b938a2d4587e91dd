//! What a GTPTable knows of tunnels, and the GTPLookups that use it.

use super::gtp_decap::header_len;
use super::gtp_encap::HEADER_LEN;
use crate::rewrite::flow_id::FlowId;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wire::{ip_proto, ipv4, udp};

const NS_PER_S: i64 = 1_000_000_000;
/// When what was not used is forgotten, if there is no room otherwise.
const IDLE_NS: i64 = 300 * NS_PER_S;

/// One direction of a tunnel, as the headers in front of its packets say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tunnel {
    pub(super) src: Ipv4Addr,
    pub(super) dst: Ipv4Addr,
    /// The ports of source and destination.
    pub(super) ports: [u16; 2],
    /// The endpoint.
    pub(super) teid: u32,
}

/// Where headers begin in a packet of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) udp: usize,
    pub(super) gtp: usize,
    pub(super) inner: usize,
}

/// The tunnel of a packet that begins with its IP header.
pub(super) fn tunnel_of(data: &[u8]) -> Option<(Tunnel, Layout)> {
    let extent = ipv4::check(data, false).ok()?;
    let ip = ipv4::Header::new_checked(data).ok()?;
    if !ip.begins(ip_proto::UDP) {
        return None;
    }
    let at = extent.header_len;
    let datagram = udp::Header::new_checked(data.get(at..)?).ok()?;
    let gtp = at + udp::HEADER_LEN;
    let &[flags, _, _, _, teid @ ..] = data.get(gtp..)?.first_chunk::<HEADER_LEN>()?;
    let tunnel = Tunnel {
        src: ip.src(),
        dst: ip.dst(),
        ports: [datagram.src_port(), datagram.dst_port()],
        teid: u32::from_be_bytes(teid),
    };
    let inner = gtp + header_len(flags);
    (inner <= data.len()).then_some((tunnel, Layout { udp: at, gtp, inner }))
}

/// A ping that waits for its answer: its source and number, which are in the answer, too.
pub(super) type Ping = (Ipv4Addr, u32);

/// A table of limited size.
struct Aging<K, V> {
    /// Values, and when they were last used. The hasher has a secret, so that nobody can choose keys that collide.
    values: HashMap<K, (V, i64)>,
    capacity: usize,
    swept_ns: i64,
}

impl<K: Eq + Hash, V: Copy> Aging<K, V> {
    fn new(capacity: usize) -> Aging<K, V> {
        // With its room from the beginning, it never grows while packets come.
        Aging { values: HashMap::with_capacity(capacity), capacity, swept_ns: i64::MIN / 2 }
    }

    fn get(&mut self, key: &K, now_ns: i64) -> Option<V> {
        let (value, used_ns) = self.values.get_mut(key)?;
        *used_ns = now_ns;
        Some(*value)
    }

    /// Puts a value in, if there is room or its key is there.
    fn put(&mut self, key: K, value: V, now_ns: i64) {
        if self.values.len() >= self.capacity {
            self.sweep(now_ns);
        }
        if self.values.len() < self.capacity || self.values.contains_key(&key) {
            self.values.insert(key, (value, now_ns));
        }
    }

    /// Makes room, at most once a second.
    #[cold]
    fn sweep(&mut self, now_ns: i64) {
        if now_ns - self.swept_ns >= NS_PER_S {
            self.swept_ns = now_ns;
            self.values.retain(|_, (_, used_ns)| now_ns - *used_ns < IDLE_NS);
        }
    }
}

/// What is known.
pub(super) struct Known {
    /// The other direction of each tunnel, once a ping was answered.
    back: Aging<Tunnel, Tunnel>,
    /// The tunnels that pings went through.
    pings: Aging<Ping, Tunnel>,
    /// The tunnel through which the packets of a flow came, by protocol, addresses and ports of answers.
    inner: Aging<(u32, FlowId), Tunnel>,
}

impl Known {
    /// Whether a tunnel's other direction is known.
    pub(super) fn has_back(&mut self, tunnel: Tunnel, now_ns: i64) -> bool {
        self.back.get(&tunnel, now_ns).is_some()
    }

    /// Notes a ping through a tunnel.
    pub(super) fn add_ping(&mut self, ping: Ping, tunnel: Tunnel, now_ns: i64) {
        self.pings.put(ping, tunnel, now_ns);
    }

    /// Notes through which tunnel a ping was answered. False if there was none.
    pub(super) fn answer(&mut self, ping: Ping, back: Tunnel, now_ns: i64) -> bool {
        let Some((tunnel, _)) = self.pings.values.remove(&ping) else { return false };
        self.back.put(tunnel, back, now_ns);
        true
    }

    /// Notes the tunnel of a flow.
    pub(super) fn add_flow(&mut self, map: u32, answers: FlowId, tunnel: Tunnel, now_ns: i64) {
        self.inner.put((map, answers), tunnel, now_ns);
    }

    /// The tunnel for answers of a flow: nothing if the flow is not known, or, inside, if its tunnel's other direction is not.
    pub(super) fn way_back(&mut self, map: u32, answers: FlowId, now_ns: i64) -> Option<Option<Tunnel>> {
        let tunnel = self.inner.get(&(map, answers), now_ns)?;
        Some(self.back.get(&tunnel, now_ns))
    }

    /// How many tunnels' other directions are known.
    pub(super) fn len(&self) -> usize {
        self.back.values.len()
    }
}

/// What a table and its users share. Whoever has packets takes the lock once for a batch.
pub(super) struct Tunnels(Mutex<Known>);

impl Tunnels {
    /// Room for so many tunnels, pings and flows.
    pub(super) fn new(capacity: usize) -> Tunnels {
        let (back, pings, inner) = (Aging::new(capacity), Aging::new(capacity), Aging::new(capacity));
        Tunnels(Mutex::new(Known { back, pings, inner }))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not used makes room, but not at once; what is there can always be replaced.
    #[test]
    fn ages() {
        let mut table: Aging<u8, u8> = Aging::new(2);
        table.put(1, 10, 0);
        table.put(2, 20, 0);
        table.put(3, 30, 1);
        table.put(2, 21, 2);
        let get = |table: &mut Aging<u8, u8>, now_ns| [1, 2, 3].map(|key| table.get(&key, now_ns));
        assert_eq!(get(&mut table, 3), [Some(10), Some(21), None]);
        assert_eq!(table.get(&2, IDLE_NS), Some(21));
        table.put(3, 31, IDLE_NS + 3);
        assert_eq!(get(&mut table, IDLE_NS + 4), [None, Some(21), Some(31)]);
    }
}
