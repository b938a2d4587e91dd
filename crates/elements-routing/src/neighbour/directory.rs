//! What a neighbour table knows behind its mutex.

use super::address::Address;
use super::effects::Waiter;
use super::state::{Entry, State, Timing};
use rcu::{Domain, Updater};
use std::collections::{BTreeMap, HashMap};

const SECOND: i64 = 1_000_000_000;

/// What the directory knows about an address.
pub(super) struct Record {
    pub(super) entry: Entry,
    /// Its place in one of the orders of age.
    pub(super) place: (i64, u64),
    pub(super) waiters: Vec<Waiter>,
}

/// An order of age: addresses by the time of their last sign of life, and for equal times by arrival.
pub(super) type AgeIndex<A> = BTreeMap<(i64, u64), A>;

/// Everything but what look-ups read.
pub(super) struct Directory<A> {
    pub(super) records: HashMap<A, Record>,
    /// Addresses that are known, but for permanent ones.
    pub(super) known: AgeIndex<A>,
    /// Addresses that are not.
    pub(super) unknown: AgeIndex<A>,
    arrivals: u64,
    /// Addresses learned unasked since a time.
    unasked: (i64, u32),
    /// What replaces buckets.
    pub(super) updater: Updater,
}

impl<A: Address> Directory<A> {
    pub(super) fn new() -> Directory<A> {
        Directory {
            records: HashMap::new(),
            known: AgeIndex::new(),
            unknown: AgeIndex::new(),
            arrivals: 0,
            unasked: (0, 0),
            updater: Domain::global().updater(),
        }
    }

    /// Whether one more address may be learned unasked at this time, with so many a second; it counts as learned then.
    pub(super) fn may_learn_unasked(&mut self, a_second: u32, now_ns: i64) -> bool {
        let (since_ns, count) = self.unasked;
        if !(since_ns..since_ns + SECOND).contains(&now_ns) {
            self.unasked = (now_ns, 1);
            return true;
        }
        self.unasked.1 = count.saturating_add(1);
        count < a_second
    }

    pub(super) fn order(&mut self, state: State) -> Option<&mut AgeIndex<A>> {
        match state {
            State::Permanent => None,
            state if state.is_known() => Some(&mut self.known),
            _ => Some(&mut self.unknown),
        }
    }

    /// Puts an entry in the place of what was known of an address, and puts that in its place in the orders. `state` is the
    /// entry's at this time.
    pub(super) fn put(&mut self, ip: A, entry: Entry, state: State, timing: &Timing, now_ns: i64) {
        self.arrivals += 1;
        let place = (entry.confirmed_ns(), self.arrivals);
        let old = match self.records.get_mut(&ip) {
            Some(record) => {
                let old = (record.entry.state(timing, now_ns), record.place);
                let keeps = record.place.0 == place.0 && old.0.is_known() == state.is_known();
                record.entry = entry;
                // One that has not aged stays where it is among those of the same age.
                record.place = if keeps { record.place } else { place };
                Some(old)
            }
            None => {
                self.records.insert(ip, Record { entry, place, waiters: Vec::new() });
                None
            }
        };
        if let Some((_, old)) = old {
            self.known.remove(&old);
            self.unknown.remove(&old);
        }
        let place = self.records.get(&ip).map_or(place, |record| record.place);
        if let Some(order) = self.order(state) {
            order.insert(place, ip);
        }
    }

    pub(super) fn remove(&mut self, ip: A) -> Option<Record> {
        let record = self.records.remove(&ip)?;
        self.known.remove(&record.place);
        self.unknown.remove(&record.place);
        Some(record)
    }
}
