//! The table.

mod growth;
mod meet;
mod transfer;

pub use meet::{Guess, Met};
pub use transfer::Flow;

use crate::door::Door;
use crate::hash::HashKey;
use crate::index::{Index, NOTHING, PERHAPS};
use crate::key::Key;
use crate::limits::{Limits, Refused, STATES, Stats};
use crate::lists::{Lists, NO_LIST};
use crate::quota::Quota;
use crate::records::{CONFIRMED, END, LIVE, MARK, PAIR, Record, Records, Slot, TOUCHED};
use crate::time::{Instant, steps};
use growth::Growth;

/// Look-ups that [`Table::find_batch`] works on together.
const TOGETHER: usize = 32;
/// Unconfirmed flows that a new one passes over because they had a second packet, at most.
const SPARED: usize = 4;

/// A table whose records have two keys: those of a flow and of its replies.
pub type Pairs<K, V> = Table<K, V, 2>;

/// Flows of one worker, with `KEYS` keys each (one or two) and a value.
///
/// Hashes that are handed to it are those of [`Table::hash`]. Times are in nanoseconds of any clock that does not go back. A [`Slot`] counts
/// until its record is gone: by [`Table::remove`], [`Table::expire`], or because a new flow displaces it.
pub struct Table<K, V, const KEYS: usize = 1> {
    index: Index,
    growth: Growth,
    records: Records<K, V, KEYS>,
    lists: Lists,
    quota: Quota,
    door: Door,
    key: HashKey,
    limits: Limits,
    /// The limits' timeouts in steps; 0 for ever.
    timeouts: [i64; STATES],
    unconfirmed_timeout: i64,
    len: usize,
    unconfirmed: usize,
    stats: Stats,
}

impl<K: Key, V: Default, const KEYS: usize> Table<K, V, KEYS> {
    /// An empty table, with memory for all that it may hold. Its hashes follow from a key, which is secret where strangers choose the flows.
    ///
    /// # Panics
    /// Does not compile for other than one or two keys.
    pub fn new(limits: Limits, key: HashKey) -> Self {
        const { assert!(KEYS == 1 || KEYS == 2, "one key or two") };
        let records = Records::new(limits.capacity);
        let capacity = limits.capacity.min(records.capacity());
        let limits = Limits { capacity, unconfirmed: limits.unconfirmed.min(capacity), ..limits };
        let mut table = Table {
            index: Index::new(capacity * KEYS),
            growth: Growth::default(),
            records,
            lists: Lists::new(),
            quota: Quota::new(&limits),
            door: Door::new(limits.unconfirmed, limits.earned),
            key,
            limits,
            timeouts: [0; STATES],
            unconfirmed_timeout: 0,
            len: 0,
            unconfirmed: 0,
            stats: Stats::default(),
        };
        table.set_timeouts(limits);
        table
    }

    fn set_timeouts(&mut self, limits: Limits) {
        self.timeouts = limits.timeouts.map(steps);
        self.unconfirmed_timeout = steps(limits.unconfirmed_timeout);
    }

    /// A key's hash.
    #[inline]
    pub fn hash(&self, key: &K) -> u64 {
        key.hash(&self.key)
    }

    /// The record that has a key. Counts as a hit or a miss.
    #[inline]
    pub fn find(&mut self, hash: u64, key: &K) -> Option<Slot> {
        let found = self.peek(hash, key);
        self.stats.hits += u64::from(found.is_some());
        self.stats.misses += u64::from(found.is_none());
        found
    }

    /// The same, uncounted.
    #[inline]
    pub fn peek(&self, hash: u64, key: &K) -> Option<Slot> {
        let is = |name: u32| self.has(name, key);
        let found = self.index.find(hash, is);
        found.or_else(|| self.growth.find(hash, is)).map(Slot)
    }

    /// Whether a name of the index, or none, leads to a key.
    #[inline]
    fn has(&self, name: u32, key: &K) -> bool {
        let record = self.records.get(name & !MARK);
        record.and_then(|record| record.key(name)).is_some_and(|known| known == key)
    }

    /// Looks up many keys with their hashes, as [`Table::find`] does one by one: asks for the memory of some dozens first.
    #[inline]
    pub fn find_batch(&mut self, wanted: &[(u64, K)], found: &mut [Option<Slot>]) {
        for (wanted, found) in wanted.chunks(TOGETHER).zip(found.chunks_mut(TOGETHER)) {
            wanted.iter().for_each(|(hash, _)| self.prefetch(*hash));
            let mut guesses = [NOTHING; TOGETHER];
            for ((hash, _), guess) in wanted.iter().zip(&mut guesses) {
                *guess = self.guess(*hash);
            }
            for (((hash, key), guess), found) in wanted.iter().zip(guesses).zip(found) {
                // A name that leads to the key is its only one, wherever else it may be looked for.
                *found = match guess {
                    NOTHING => {
                        self.stats.misses += 1;
                        None
                    }
                    name if self.has(name, key) => {
                        self.stats.hits += 1;
                        Some(Slot(name))
                    }
                    _ => self.find(*hash, key),
                };
            }
        }
    }

    /// Asks for the memory that a look-up begins with.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        self.index.prefetch(hash);
    }

    /// Asks for the record that a hash most likely belongs to; what the index says.
    #[inline]
    fn guess(&self, hash: u64) -> u32 {
        let name = match self.index.guess(hash) {
            NOTHING if self.growth.is_moving() => PERHAPS,
            name => name,
        };
        self.prefetch_record(name);
        name
    }

    #[inline]
    fn prefetch_record(&self, name: u32) {
        if let Some(record) = self.records.get(name & !MARK) {
            packet::prefetch(record);
            if size_of::<Record<K, V, KEYS>>() > 64 {
                packet::prefetch(&record.value);
            }
        }
    }

    /// A flow's value.
    #[inline]
    pub fn value(&self, slot: Slot) -> Option<&V> {
        self.live(slot).map(|record| &record.value)
    }

    /// The same, to change it.
    #[inline]
    pub fn value_mut(&mut self, slot: Slot) -> Option<&mut V> {
        self.live_mut(slot).map(|record| &mut record.value)
    }

    /// A flow's first key, and its second one if it has two.
    pub fn keys(&self, slot: Slot) -> Option<(K, Option<K>)> {
        self.live(slot).map(keys)
    }

    /// A flow's state.
    pub fn state(&self, slot: Slot) -> Option<u8> {
        self.live(slot).map(|record| record.state)
    }

    /// Whether a flow is confirmed.
    pub fn is_confirmed(&self, slot: Slot) -> bool {
        self.live(slot).is_some_and(|record| record.is(CONFIRMED))
    }

    #[inline]
    fn live(&self, slot: Slot) -> Option<&Record<K, V, KEYS>> {
        self.records.get(slot.number()).filter(|record| record.is(LIVE))
    }

    #[inline]
    fn live_mut(&mut self, slot: Slot) -> Option<&mut Record<K, V, KEYS>> {
        self.records.get_mut(slot.number()).filter(|record| record.is(LIVE))
    }

    /// Notes that a flow has a packet now.
    #[inline]
    pub fn touch(&mut self, slot: Slot, now_ns: i64) {
        if let Some(record) = self.live_mut(slot) {
            record.seen = Instant::from_ns(now_ns).mark();
            record.flags |= TOUCHED;
        }
    }

    /// Whether a flow's time is over, though [`Table::expire`] has not come to it yet.
    #[inline]
    pub fn is_over(&self, slot: Slot, now_ns: i64) -> bool {
        let idle = |record: &Record<K, V, KEYS>| {
            let timeout = self.timeout(record.flags, record.state);
            timeout > 0 && Instant::from_ns(now_ns).since(record.seen) > timeout
        };
        self.live(slot).is_some_and(idle)
    }

    #[inline]
    fn timeout(&self, flags: u8, state: u8) -> i64 {
        if flags & CONFIRMED == 0 {
            return self.unconfirmed_timeout;
        }
        self.timeouts[usize::from(state) % STATES]
    }

    /// A record for a new flow, which is unconfirmed and has state 0. If there is no room for it, the unconfirmed flow that came first goes.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn insert(&mut self, hash: u64, key: K, value: V, now_ns: i64) -> Result<Slot, Refused> {
        self.insert_with((hash, key), None, value, now_ns, &mut |_, _| ())
    }

    /// The same, with a second key or without one. Whatever makes room is handed to `gone`.
    ///
    /// # Errors
    /// [`Refused`]. A second key is taken for none where records have one key each.
    pub fn insert_with(
        &mut self,
        first: (u64, K),
        second: Option<(u64, K)>,
        value: V,
        now_ns: i64,
        gone: &mut impl FnMut(K, V),
    ) -> Result<Slot, Refused> {
        self.enter(first, second, value, now_ns, false, gone)
    }

    /// The same. One that `was_confirmed` in another table has earned its place: what bounds new flows does not count for it.
    fn enter(
        &mut self,
        first: (u64, K),
        second: Option<(u64, K)>,
        value: V,
        now_ns: i64,
        was_confirmed: bool,
        gone: &mut impl FnMut(K, V),
    ) -> Result<Slot, Refused> {
        if let Err(why) = self.admit(first, second, was_confirmed, gone) {
            let count = match why {
                Refused::Full => &mut self.stats.refused_full,
                Refused::Quota => &mut self.stats.refused_quota,
                Refused::First => &mut self.stats.refused_first,
                Refused::Taken => &mut self.stats.refused_taken,
            };
            *count += 1;
            return Err(why);
        }
        let pair = second.is_some() && KEYS == 2;
        let mut keys = [first.1; KEYS];
        if let (Some((_, key)), Some(last)) = (second, keys.get_mut(1)) {
            *last = key;
        }
        let seen = Instant::from_ns(now_ns).mark();
        let flags = if pair { LIVE | PAIR } else { LIVE };
        let record = Record { keys, seen, before: NO_LIST, after: END, state: 0, flags, value };
        let number = self.records.put(record).ok_or(Refused::Full)?;
        self.index.insert(first.0, number);
        if let Some((hash, _)) = second.filter(|_| pair) {
            self.index.insert(hash, number | MARK);
        }
        self.lists.queue(&mut self.records, number);
        self.quota.take(&first.1, &self.key);
        self.len += 1;
        self.unconfirmed += 1;
        self.stats.inserted += 1;
        Ok(Slot(number))
    }

    /// Makes room for a flow, if there may be one.
    fn admit(
        &mut self,
        first: (u64, K),
        second: Option<(u64, K)>,
        was_confirmed: bool,
        gone: &mut impl FnMut(K, V),
    ) -> Result<(), Refused> {
        let crowded =
            !was_confirmed && self.unconfirmed >= self.limits.unconfirmed || self.len >= self.limits.capacity;
        if crowded && !was_confirmed && !self.door.knows(first.0) {
            return Err(Refused::First);
        }
        let is_taken = |(hash, key): (u64, K)| self.peek(hash, &key).is_some();
        if is_taken(first) || second.is_some_and(|second| is_taken(second) || second.1 == first.1) {
            return Err(Refused::Taken);
        }
        if !was_confirmed && self.quota.is_used(&first.1, &self.key) {
            return Err(Refused::Quota);
        }
        if crowded {
            let number = self.displaced().ok_or(Refused::Full)?;
            self.stats.evicted += 1;
            if let Some((key, value)) = self.end(number) {
                gone(key, value);
            }
        }
        Ok(())
    }

    /// The unconfirmed flow that makes room: the first one that had no second packet since it came or was passed over.
    fn displaced(&mut self) -> Option<u32> {
        for _ in 0..SPARED {
            let number = self.lists.oldest()?;
            let record = self.records.get_mut(number).filter(|record| record.is(TOUCHED));
            let Some(record) = record else { return Some(number) };
            record.flags &= !TOUCHED;
            self.lists.leave(&mut self.records, number, true);
            self.lists.queue(&mut self.records, number);
        }
        self.lists.oldest()
    }

    /// Confirms a flow: from now on its state's timeout counts, and no unconfirmed flow displaces it.
    pub fn confirm(&mut self, slot: Slot, now_ns: i64) {
        let number = slot.number();
        let Some(record) = self.live_mut(slot).filter(|record| !record.is(CONFIRMED)) else { return };
        record.flags |= CONFIRMED;
        let key = record.keys[0];
        self.lists.leave(&mut self.records, number, true);
        self.quota.give(&key, &self.key);
        self.unconfirmed -= 1;
        self.stats.confirmed += 1;
        self.turn(number, Instant::from_ns(now_ns));
    }

    /// Puts a flow into another state (of [`STATES`]), whose timeout counts from its last packet on.
    pub fn set_state(&mut self, slot: Slot, state: u8, now_ns: i64) {
        let number = slot.number();
        let Some(record) = self.live_mut(slot).filter(|record| record.state != state) else { return };
        record.state = state;
        if record.is(CONFIRMED) {
            self.lists.leave(&mut self.records, number, false);
            self.turn(number, Instant::from_ns(now_ns));
        }
    }

    /// Puts a confirmed flow that is in no list where it is looked at when it may be over.
    fn turn(&mut self, number: u32, now: Instant) {
        let Some(record) = self.records.get(number) else { return };
        let timeout = self.timeout(record.flags, record.state);
        if timeout > 0 {
            let rest = (timeout - now.since(record.seen)).max(0);
            self.lists.turn(&mut self.records, number, now, rest);
        }
    }

    /// Takes a flow out; its first key and its value.
    pub fn remove(&mut self, slot: Slot) -> Option<(K, V)> {
        self.live(slot)?;
        self.stats.removed += 1;
        self.end(slot.number())
    }

    /// Ends flows whose time is over, and hands them to `ended`. Looks at `budget` flows; whether there may be more to look at.
    pub fn expire(&mut self, now_ns: i64, budget: usize, ended: &mut impl FnMut(K, V)) -> bool {
        self.expire_with(now_ns, budget, &mut |key, value, _| ended(key, value))
    }

    /// The same, of which `ended` gets the first keys, and whether they were confirmed.
    pub fn expire_flows(&mut self, now_ns: i64, budget: usize, ended: &mut impl FnMut(K, bool)) -> bool {
        self.expire_with(now_ns, budget, &mut |key, _, was_confirmed| ended(key, was_confirmed))
    }

    #[inline]
    fn expire_with(&mut self, now_ns: i64, budget: usize, ended: &mut impl FnMut(K, V, bool)) -> bool {
        let now = Instant::from_ns(now_ns);
        for _ in 0..budget {
            let Some(number) = self.due(now) else { return false };
            let over = self.is_over(Slot(number), now_ns);
            if over {
                self.stats.expired += 1;
                let was_confirmed = self.is_confirmed(Slot(number));
                if let Some((key, value)) = self.end(number) {
                    ended(key, value, was_confirmed);
                }
                continue;
            }
            let queued = self.records.get(number).is_some_and(|record| !record.is(CONFIRMED));
            self.lists.leave(&mut self.records, number, queued);
            if queued {
                self.lists.queue(&mut self.records, number);
            } else {
                self.turn(number, now);
            }
        }
        true
    }

    /// A flow that may be over.
    fn due(&mut self, now: Instant) -> Option<u32> {
        let oldest = self.lists.oldest().filter(|_| self.unconfirmed_timeout > 0);
        let is_due = |number: &u32| {
            // One that had a packet after its first is behind those that came before that packet, once it was looked at.
            self.records.get(*number).is_some_and(|record| {
                record.is(TOUCHED) && self.unconfirmed > 1
                    || now.since(record.seen) > self.unconfirmed_timeout
            })
        };
        match oldest.filter(is_due) {
            Some(number) => {
                if let Some(record) = self.records.get_mut(number) {
                    record.flags &= !TOUCHED;
                }
                Some(number)
            }
            None => self.lists.due(now),
        }
    }

    /// Takes a record out.
    fn end(&mut self, number: u32) -> Option<(K, V)> {
        let record = self.records.get(number)?;
        let (key, queued, pair) = (record.keys[0], !record.is(CONFIRMED), record.is(PAIR));
        let second = record.keys.get(1).copied().filter(|_| pair);
        self.forget(key.hash(&self.key), number);
        if let Some(second) = second {
            self.forget(second.hash(&self.key), number | MARK);
        }
        self.lists.leave(&mut self.records, number, queued);
        if queued {
            self.quota.give(&key, &self.key);
            self.unconfirmed -= 1;
        }
        self.len -= 1;
        self.records.free(number).map(|value| (key, value))
    }

    fn forget(&mut self, hash: u64, name: u32) {
        if !self.index.remove(hash, name) {
            self.growth.remove(hash, name);
        }
    }

    /// Flows that there are, confirmed or not.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Flows that are not confirmed.
    pub fn unconfirmed(&self) -> usize {
        self.unconfirmed
    }

    /// What it may hold.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What it counted.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Bytes that it takes when it is full.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.records.bytes() + self.growth.bytes()
    }
}

impl<K: Key, V: Default> Pairs<K, V> {
    /// A record for a new flow and its replies, as [`Table::insert`]. It is found by both keys.
    ///
    /// # Errors
    /// [`Refused`].
    pub fn insert_pair(
        &mut self,
        hash_a: u64,
        a: K,
        hash_b: u64,
        b: K,
        value: V,
        now_ns: i64,
    ) -> Result<Slot, Refused> {
        self.insert_with((hash_a, a), Some((hash_b, b)), value, now_ns, &mut |_, _| ())
    }
}

/// A record's keys.
fn keys<K: Key, V, const KEYS: usize>(record: &Record<K, V, KEYS>) -> (K, Option<K>) {
    (record.keys[0], record.keys.get(1).copied().filter(|_| record.is(PAIR)))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
