//! The station table of a switch: behind which port each Ethernet address is.
//!
//! All workers learn and look up at once, without locks and without memory to reclaim: a station is one word, so that a
//! store replaces it as a whole. The table has a fixed size. Where it is full the station that was silent for longest
//! makes room; a station that is forgotten is only sent to everywhere until it speaks again.

use elements_shared::keyed_hash::HashKey;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering::Relaxed};
use wire::MacAddr;

/// Sets of the table, a power of two, and stations in each. Four times the room that 65,536 stations take: a hash fills sets unevenly, and
/// those that overflow are rare only where most are nearly empty.
const SETS: usize = 32_768;
const WAYS: usize = 8;
const SECOND_NS: i64 = 1_000_000_000;
/// A sign of life is noted this often at most, so that workers do not pass a busy station's cache line to and fro.
const REFRESH_NS: i64 = SECOND_NS / 10;

#[derive(Default)]
struct Cell {
    /// Address and port plus one, or 0.
    station: AtomicU64,
    seen_ns: AtomicI64,
}

pub(super) struct Stations {
    cells: Box<[[Cell; WAYS]]>,
    /// Makes it hard to choose addresses that share a set.
    key: HashKey,
    timeout_s: AtomicU32,
}

fn key(mac: MacAddr) -> u64 {
    mac.octets().iter().fold(0, |key, &octet| key << 8 | u64::from(octet))
}

fn parts(station: u64) -> (MacAddr, usize) {
    let [a, b, c, d, e, f, ..] = station.to_be_bytes();
    (MacAddr([a, b, c, d, e, f]), (station & 0xffff) as usize - 1)
}

impl Stations {
    pub(super) fn new(timeout_s: u32, seed: u64) -> Stations {
        let cells = (0..SETS).map(|_| Default::default()).collect();
        Stations { cells, key: HashKey::new(seed), timeout_s: AtomicU32::new(timeout_s) }
    }

    pub(super) fn timeout_s(&self) -> u32 {
        self.timeout_s.load(Relaxed)
    }

    pub(super) fn set_timeout_s(&self, seconds: u32) {
        self.timeout_s.store(seconds, Relaxed);
    }

    #[inline]
    fn set(&self, key: u64) -> &[Cell; WAYS] {
        &self.cells[(self.key.hash([key]) >> 40) as usize % SETS]
    }

    /// Notes that an address is behind a port.
    #[inline]
    pub(super) fn learn(&self, mac: MacAddr, port: usize, now_ns: i64) {
        let key = key(mac);
        let station = key << 16 | (port as u64 + 1) & 0xffff;
        let set = self.set(key);
        let (mut oldest, mut oldest_ns) = (&set[0], i64::MAX);
        for cell in set {
            let known = cell.station.load(Relaxed);
            let seen_ns = if known == 0 { i64::MIN } else { cell.seen_ns.load(Relaxed) };
            if known != 0 && known >> 16 == key {
                if known != station || now_ns.saturating_sub(seen_ns) >= REFRESH_NS {
                    cell.seen_ns.store(now_ns, Relaxed);
                }
                if known != station {
                    cell.station.store(station, Relaxed);
                }
                return;
            }
            if seen_ns < oldest_ns {
                (oldest, oldest_ns) = (cell, seen_ns);
            }
        }
        oldest.seen_ns.store(now_ns, Relaxed);
        oldest.station.store(station, Relaxed);
    }

    /// The port behind which an address is, if it is known and has not been silent for too long.
    #[inline]
    pub(super) fn port(&self, mac: MacAddr, now_ns: i64) -> Option<usize> {
        let key = key(mac);
        for cell in self.set(key) {
            let known = cell.station.load(Relaxed);
            if known != 0 && known >> 16 == key {
                let age_ns = now_ns.saturating_sub(cell.seen_ns.load(Relaxed));
                if age_ns < i64::from(self.timeout_s()) * SECOND_NS {
                    return Some(parts(known).1);
                }
                // Another worker may just have heard of it again: then it stays.
                let _ = cell.station.compare_exchange(known, 0, Relaxed, Relaxed);
                return None;
            }
        }
        None
    }

    /// Learns what another table knows of the first so many ports.
    pub(super) fn adopt(&self, old: &Stations, ports: usize) {
        for cell in old.cells.iter().flatten() {
            let station = cell.station.load(Relaxed);
            if station != 0 && parts(station).1 < ports {
                let (mac, port) = parts(station);
                self.learn(mac, port, cell.seen_ns.load(Relaxed));
            }
        }
    }

    /// All stations, sorted by address.
    pub(super) fn list(&self) -> Vec<(MacAddr, usize)> {
        let known = self.cells.iter().flatten().map(|cell| cell.station.load(Relaxed));
        let mut list: Vec<_> = known.filter(|&station| station != 0).map(parts).collect();
        list.sort_unstable();
        // Two workers that meet a new station at the same time may both enter it.
        list.dedup_by_key(|(mac, _)| *mac);
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// As a map from addresses to ports and times would answer.
        #[test]
        fn like_a_map(steps in prop::collection::vec((0u8..12, 0usize..4, 0i64..4, any::<bool>()), 1..200)) {
            let table = Stations::new(3, 77);
            let mut map: HashMap<MacAddr, (usize, i64)> = HashMap::new();
            let mut now_ns = SECOND_NS;
            for (address, port, seconds, learn) in steps {
                now_ns += seconds * SECOND_NS;
                let mac = MacAddr([0, 0, 0, 0, 0, address]);
                if learn {
                    table.learn(mac, port, now_ns);
                    map.insert(mac, (port, now_ns));
                } else {
                    let known = map.get(&mac).filter(|(_, seen)| now_ns - seen < 3 * SECOND_NS);
                    prop_assert_eq!(table.port(mac, now_ns), known.map(|(port, _)| *port));
                    if known.is_none() {
                        map.remove(&mac);
                    }
                }
                let mut list: Vec<_> = map.iter().map(|(mac, (port, _))| (*mac, *port)).collect();
                list.sort_unstable();
                prop_assert_eq!(table.list(), list);
            }
        }
    }

    /// A flood of addresses takes no more room than there is, and those heard of last stay.
    #[test]
    fn a_flood_of_addresses_stays_within_bounds() {
        let table = Stations::new(300, 1);
        let mac = |i: u32| {
            let [a, b, c, d] = i.to_be_bytes();
            MacAddr([2, 0, a, b, c, d])
        };
        for i in 0..1_000_000 {
            table.learn(mac(i), 1, i64::from(i));
        }
        assert!(table.list().len() <= SETS * WAYS);
        assert_eq!(table.port(mac(999_999), 1_000_000), Some(1));
    }

    #[test]
    fn as_many_stations_are_known_as_the_manual_says() {
        for (seed, stations, forgotten) in [(1, 65_536u32, 40), (2, 65_536, 40), (3, 131_072, 1_400)] {
            let table = Stations::new(300, seed);
            for i in 0..stations {
                let [_, b, c, d] = i.to_be_bytes();
                table.learn(MacAddr([2, 0, 0, b, c, d]), 1, i64::from(i));
            }
            let known = table.list().len() as u32;
            assert!(stations - known <= forgotten, "{stations}: {known}");
        }
    }
}
