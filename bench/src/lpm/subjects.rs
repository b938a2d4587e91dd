//! The tables of this process, and how lookups in them are timed.

use super::family::Family;
use crate::rcu::processor_time;
use ip_network_table::IpNetworkTable;
use lpm::{Key, NONE, Prefix, Table};
use prefix_trie::PrefixMap;
use rcu::{Domain, Turn};
use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};

/// What a line of the report measures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Workload {
    /// Addresses that are looked up together; 0 is one at a time, each waiting for the one before.
    pub(super) batch: usize,
    /// Cache lines of packets that are written for each address.
    pub(super) cold: usize,
}

/// Bytes of packets that are written in turn.
const RING: usize = 16 << 20;

/// Packets that pass through the caches.
pub(super) struct Packets {
    bytes: Vec<u8>,
    at: usize,
}

impl Packets {
    pub(super) fn new() -> Self {
        Self { bytes: vec![1; RING], at: 0 }
    }

    fn touch(&mut self, lines: usize) {
        for _ in 0..lines {
            self.bytes[self.at % RING] = self.bytes[self.at % RING].wrapping_add(1);
            self.at = (self.at + 64) % RING;
        }
    }
}

/// Something that lookups can be timed in.
pub(super) trait Subject<K> {
    /// Nanoseconds of processor time a lookup, after some others.
    fn time(&mut self, warm: &[K], addrs: &[K], workload: Workload, packets: &mut Packets) -> f64;
}

/// A table in this process.
pub(super) trait Lookup<K: Copy> {
    /// The id for one address.
    fn one(&self, addr: K, turn: Turn<'_>) -> u32;

    /// The ids for some.
    fn many(&self, addrs: &[K], out: &mut [u32], turn: Turn<'_>) {
        for (out, &addr) in out.iter_mut().zip(addrs) {
            *out = self.one(addr, turn);
        }
    }
}

impl<K: Key> Lookup<K> for Table<K> {
    #[inline]
    fn one(&self, addr: K, turn: Turn<'_>) -> u32 {
        self.lookup(addr, turn).unwrap_or(NONE)
    }

    #[inline]
    fn many(&self, addrs: &[K], out: &mut [u32], turn: Turn<'_>) {
        self.lookup_batch(addrs, out, turn);
    }
}

/// The crate `prefix-trie`.
pub(super) struct Trie<P: prefix_trie::Prefix>(PrefixMap<P, u32>);

impl<K: Family> Trie<(K, u8)>
where
    (K, u8): prefix_trie::Prefix,
{
    pub(super) fn new(routes: &[(Prefix<K>, u32)]) -> Self {
        Self(routes.iter().map(|&(prefix, id)| ((prefix.addr(), prefix.len()), id)).collect())
    }
}

impl<K: Family> Lookup<K> for Trie<(K, u8)>
where
    (K, u8): prefix_trie::Prefix,
{
    fn one(&self, addr: K, _: Turn<'_>) -> u32 {
        self.0.get_lpm(&(addr, K::BITS as u8)).map_or(NONE, |(_, &id)| id)
    }
}

/// The crate `ip_network_table`, which is a tree bitmap.
pub(super) struct TreeBitmap(IpNetworkTable<u32>);

impl TreeBitmap {
    pub(super) fn new<K: Family>(routes: &[(Prefix<K>, u32)]) -> Result<Self, String> {
        let mut table = IpNetworkTable::new();
        for &(prefix, id) in routes {
            let network = ip_network::IpNetwork::new(prefix.addr().to_ip(), prefix.len());
            table.insert(network.map_err(|e| format!("{prefix}: {e}"))?, id);
        }
        Ok(Self(table))
    }
}

impl Lookup<u32> for TreeBitmap {
    fn one(&self, addr: u32, _: Turn<'_>) -> u32 {
        self.0.longest_match_ipv4(Ipv4Addr::from(addr)).map_or(NONE, |(_, &id)| id)
    }
}

impl Lookup<u128> for TreeBitmap {
    fn one(&self, addr: u128, _: Turn<'_>) -> u32 {
        self.0.longest_match_ipv6(Ipv6Addr::from(addr)).map_or(NONE, |(_, &id)| id)
    }
}

/// A table whose lookups are timed.
pub(super) struct Timed<T>(pub(super) T);

impl<K: Family, T: Lookup<K>> Subject<K> for Timed<T> {
    fn time(&mut self, warm: &[K], addrs: &[K], workload: Workload, packets: &mut Packets) -> f64 {
        pass(&self.0, warm, workload, packets);
        let timed = |run: &mut dyn FnMut()| {
            let start = processor_time();
            run();
            (processor_time() - start).as_nanos() as f64 / addrs.len() as f64
        };
        let with = timed(&mut || pass(&self.0, addrs, workload, packets));
        if workload.cold == 0 {
            return with;
        }
        let step = workload.batch.max(1);
        with - timed(&mut || (0..addrs.len() / step).for_each(|_| packets.touch(workload.cold * step)))
    }
}

fn pass<K: Family>(table: &impl Lookup<K>, addrs: &[K], workload: Workload, packets: &mut Packets) {
    let guard = Domain::global().guard();
    match workload.batch {
        0 => {
            let (zero, mut id) = (black_box(0), 0);
            for &addr in addrs {
                packets.touch(workload.cold);
                id = table.one(addr.xor(id & zero), guard.turn());
            }
            black_box(id);
        }
        1 => {
            for &addr in addrs {
                packets.touch(workload.cold);
                black_box(table.one(addr, guard.turn()));
            }
        }
        _ => {
            let mut out = vec![0; workload.batch];
            for addrs in addrs.chunks_exact(workload.batch) {
                packets.touch(workload.cold * workload.batch);
                table.many(addrs, &mut out, guard.turn());
                black_box(&out);
            }
        }
    }
}
