//! Flows as they leave a table and enter another: for lists of them, for hot swap, and for a second server.

use super::{Table, keys};
use crate::key::Key;
use crate::limits::Refused;
use crate::records::{CONFIRMED, LIVE, Record, Slot};
use crate::time::{Instant, duration, steps};
use std::time::Duration;

/// A flow, with all that a table knows of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow<K, V> {
    /// Its first key.
    pub key: K,
    /// Its second key, if it has two.
    pub second: Option<K>,
    /// How long ago its last packet came.
    pub idle: Duration,
    /// Its state.
    pub state: u8,
    /// Whether it is confirmed.
    pub confirmed: bool,
    /// Its value.
    pub value: V,
}

impl<K: Key, V: Default, const KEYS: usize> Table<K, V, KEYS> {
    /// All flows, in no particular order.
    pub fn iter(&self, now_ns: i64) -> impl Iterator<Item = (Slot, Flow<K, &V>)> {
        let now = Instant::from_ns(now_ns);
        self.records.iter().map(move |(number, record)| (Slot(number), flow(record, now, &record.value)))
    }

    /// Hands the first keys and the values of some flows to `f`, those in `places` places for records from number `from` on; where
    /// to go on, or `None` at the end. The work is bounded by the places. A flow that is there all the while is handed out once,
    /// however the table changes between two calls.
    pub fn walk(&self, from: u32, places: usize, mut f: impl FnMut(K, &V)) -> Option<u32> {
        self.walk_records(from, places, |record| f(record.keys[0], &record.value))
    }

    /// The same with all that the table knows of the flows.
    pub fn walk_flows(
        &self,
        from: u32,
        places: usize,
        now_ns: i64,
        mut f: impl FnMut(Flow<K, &V>),
    ) -> Option<u32> {
        let now = Instant::from_ns(now_ns);
        self.walk_records(from, places, |record| f(flow(record, now, &record.value)))
    }

    fn walk_records(&self, from: u32, places: usize, mut f: impl FnMut(&Record<K, V, KEYS>)) -> Option<u32> {
        let mut next = from;
        for _ in 0..places {
            let (number, record) = self.records.place_from(next)?;
            if record.is(LIVE) {
                f(record);
            }
            next = number + 1;
        }
        self.records.place_from(next).map(|(number, _)| number)
    }

    /// Takes all flows out.
    pub fn drain(&mut self, now_ns: i64) -> Vec<Flow<K, V>> {
        let numbers: Vec<u32> = self.records.iter().map(|(number, _)| number).collect();
        let now = Instant::from_ns(now_ns);
        let mut flows = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some(whole) = self.records.get(number).map(|record| flow(record, now, ())) else { continue };
            let Some((key, value)) = self.end(number) else { continue };
            let Flow { second, idle, state, confirmed, .. } = whole;
            flows.push(Flow { key, second, idle, state, confirmed, value });
        }
        flows
    }

    /// Takes in a flow of another table, as it was there. If there is no room, an unconfirmed flow goes. Only an unconfirmed one is refused for
    /// a quota, or because it comes for the first time.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn restore(&mut self, flow: Flow<K, V>, now_ns: i64) -> Result<Slot, Refused> {
        self.restore_with(flow, now_ns, &mut |_, _| ())
    }

    /// The same. Whatever makes room is handed to `gone`.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn restore_with(
        &mut self,
        flow: Flow<K, V>,
        now_ns: i64,
        gone: &mut impl FnMut(K, V),
    ) -> Result<Slot, Refused> {
        let hashed = |key: K| (self.hash(&key), key);
        let (first, second) = (hashed(flow.key), flow.second.map(hashed));
        let slot = self.enter(first, second, flow.value, now_ns, flow.confirmed, gone)?;
        if let Some(record) = self.live_mut(slot) {
            record.seen = Instant::from_ns(now_ns).mark_before(steps(flow.idle));
            record.state = flow.state;
        }
        if flow.confirmed {
            self.confirm(slot, now_ns);
        }
        Ok(slot)
    }
}

fn flow<K: Key, V, T, const KEYS: usize>(record: &Record<K, V, KEYS>, now: Instant, value: T) -> Flow<K, T> {
    let (key, second) = keys(record);
    let (idle, confirmed) = (duration(now.since(record.seen)), record.is(CONFIRMED));
    Flow { key, second, idle, state: record.state, confirmed, value }
}
