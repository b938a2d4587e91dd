//! Which route was found for a destination lately, so that it need not be looked up again.
//!
//! Each worker has a cache of its own, of a fixed size, which no other worker looks at (Li, Qing, Macy, "Optimizing the
//! BSD routing system for parallel processing", PRESTO 2009, section 4.2: the flow table in its mode that hashes the
//! destination). What it holds counts only as long as the routes of its region of addresses are what they were: each region has a number that every
//! change there moves on, so nothing is ever forwarded elsewhere than without a cache, and no updater has to find what to take out.
//! A sender to ever other destinations makes each packet cost a look in vain, a few nanoseconds, and the lookup
//! that it costs anyway.

use super::family::Family;
use super::regions::Regions;
use super::table::RouteTable;
use elements_shared::flow_hash::Flows;
use lpm::{Key, LongestMatch};
use packet::BATCH_MAX;
use rcu::Turn;

/// What was found for a destination.
#[derive(Clone, Copy)]
struct Entry<K> {
    address: K,
    id: u32,
    /// The number of its region when it was found; 0 for an entry that holds nothing.
    version: u64,
}

/// The cache.
pub(super) struct Cache<K> {
    entries: Box<[Entry<K>]>,
    /// Lookups that it spared, and those that it did not.
    pub(super) hits: u64,
    pub(super) misses: u64,
}

impl<K: Key> Cache<K> {
    /// A cache for at least so many destinations.
    pub(super) fn new(destinations: usize) -> Self {
        let nothing = Entry { address: K::default(), id: lpm::NONE, version: 0 };
        Cache { entries: vec![nothing; destinations.max(1).next_power_of_two()].into(), hits: 0, misses: 0 }
    }

    /// What was found for an address with this hash when its region had this number.
    #[inline]
    pub(super) fn get(&mut self, hash: u64, address: K, version: u64) -> Option<u32> {
        let entry = &self.entries[hash as usize & (self.entries.len() - 1)];
        let known = entry.version == version && entry.address == address;
        self.hits += u64::from(known);
        self.misses += u64::from(!known);
        known.then_some(entry.id)
    }

    /// Remembers what was found, in the place of another address perhaps.
    #[inline]
    pub(super) fn put(&mut self, hash: u64, address: K, id: u32, version: u64) {
        self.entries[hash as usize & (self.entries.len() - 1)] = Entry { address, id, version };
    }
}

impl<K: Key> Cache<K> {
    /// The next hop ids of some addresses, at most a batch: looks up what is not remembered.
    #[inline]
    pub(super) fn find<F: Family<Key = K>, T: LongestMatch<K>>(
        &mut self,
        table: &RouteTable<F, T>,
        flows: &Flows,
        addresses: &[K],
        ids: &mut [u32],
        turn: Turn<'_>,
    ) {
        let (mut missing, mut hashes) = ([K::default(); BATCH_MAX], [(0u64, 0u64); BATCH_MAX]);
        let (mut places, mut found) = ([0u8; BATCH_MAX], [lpm::NONE; BATCH_MAX]);
        let mut count = 0;
        for (at, (&address, id)) in addresses.iter().zip(ids.iter_mut()).enumerate() {
            let hash = flows.of_address(F::address(address).into());
            let version = table.regions.number(address);
            match self.get(hash, address, version) {
                Some(known) => *id = known,
                None => {
                    (missing[count], hashes[count], places[count]) = (address, (hash, version), at as u8);
                    count += 1;
                }
            }
        }
        if count == 0 {
            return;
        }
        table.lookup(&missing[..count], &mut found[..count], turn);
        Regions::<F>::looked_up();
        for i in 0..count {
            ids[usize::from(places[i])] = found[i];
            let (hash, version) = hashes[i];
            if table.regions.was(missing[i], version) {
                self.put(hash, missing[i], found[i], version);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::V4;
    use super::super::slots::SlotPolicy;
    use super::super::table::Change;
    use super::super::target::{Hop, Route, Target};
    use super::*;
    use elements_shared::flow_hash::Fields;
    use elements_shared::keyed_hash::HashKey;
    use lpm::{Prefix, Table4};
    use rcu::Domain;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// While a route changes under it, a cache never says what was not so any more when it was asked.
    #[test]
    fn never_out_of_date() {
        let table = RouteTable::<V4, Table4>::new(SlotPolicy::Holes);
        let prefix = Prefix::new(10 << 24, 8).expect("a length");
        let lead = |port| {
            let to = Target::One(Hop { gateway: V4::DIRECT, port });
            table.change([Change::Set(Route { prefix, to })]).expect("room");
        };
        let (last, flows) = (AtomicU32::new(0), Flows { key: HashKey::new(3), fields: Fields::Addresses });
        lead(0);
        let changes = if cfg!(debug_assertions) { 20_000 } else { 200_000 };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for port in 1..=changes {
                    lead(port);
                    last.store(port, Ordering::Release);
                    // Now and then a pause, so that the cache is of use.
                    (0..port % 64).for_each(|_| std::hint::spin_loop());
                }
            });
            let mut cache = Cache::new(8);
            while last.load(Ordering::Relaxed) < changes {
                let guard = Domain::global().guard();
                let least = last.load(Ordering::Acquire);
                let mut id = [lpm::NONE];
                cache.find(&table, &flows, &[10 << 24 | 7], &mut id, guard.turn());
                let port = table
                    .forwarding(id[0], guard.turn())
                    .and_then(|forwarding| forwarding.pick(|| 0))
                    .map(|hop| hop.port);
                assert!(port >= Some(least), "{port:?} after {least}");
            }
            assert!(cache.hits > 0 && cache.misses > 0, "{} {}", cache.hits, cache.misses);
        });
    }

    /// A change elsewhere empties nothing; one of a covering prefix does.
    #[test]
    fn changes_elsewhere_empty_nothing() {
        let table = RouteTable::<V4, Table4>::new(SlotPolicy::Holes);
        let flows = Flows { key: HashKey::new(3), fields: Fields::Addresses };
        let lead = |address, len, port| {
            let prefix = Prefix::new(address, len).expect("a length");
            let to = Target::One(Hop { gateway: V4::DIRECT, port });
            table.change([Change::Set(Route { prefix, to })]).expect("room");
        };
        let mut cache = Cache::new(64);
        let mut hits = || {
            let (guard, before) = (Domain::global().guard(), cache.hits);
            cache.find(&table, &flows, &[10 << 24 | 7, 11 << 24 | 7], &mut [0; 2], guard.turn());
            cache.hits - before
        };
        lead(10 << 24, 8, 1);
        assert_eq!((hits(), hits()), (0, 2));
        lead(12 << 24, 8, 1);
        lead(10 << 24 | 1 << 20, 12, 1);
        assert_eq!(hits(), 2, "other regions changed");
        lead(11 << 24, 24, 1);
        assert_eq!((hits(), hits()), (1, 2));
        lead(0, 0, 1);
        assert_eq!((hits(), hits()), (0, 2));
    }

    /// It knows what it was told last for a place, and for that table alone.
    #[test]
    fn knows_one_table() {
        let mut cache = Cache::new(3);
        assert_eq!(cache.get(1, 10u32, 2), None);
        cache.put(1, 10, 7, 2);
        assert_eq!((cache.get(1, 10, 2), cache.get(5, 10, 2)), (Some(7), Some(7)), "four places");
        assert_eq!((cache.get(1, 10, 4), cache.get(1, 11, 2), cache.get(2, 10, 2)), (None, None, None));
        cache.put(5, 11, lpm::NONE, 2);
        assert_eq!((cache.get(1, 10, 2), cache.get(1, 11, 2)), (None, Some(lpm::NONE)));
        assert_eq!((cache.hits, cache.misses), (3, 5));
    }
}
