//! A worker's flows: which flow a packet belongs to, and which flows are over.
//!
//! All room is there from the beginning. A flow that is over is found by a wheel of seconds: each flow is in the list
//! of the second in which it would end if nothing came after it was put there. Packets only note their time; when the
//! second comes, the flow ends or goes into the list of a later one.

use super::index::Index;
use elements_shared::flow_id::Key;
use elements_shared::keyed_hash::HashKey;

/// The end of a list.
const END: u32 = u32::MAX;
const NS_PER_S: i64 = 1_000_000_000;
/// Seconds that the wheel has at most; flows that live longer are looked at on the way.
const MAX_WHEEL: usize = 4096;

/// A flow's place: half of a cache line.
#[repr(align(32))]
struct Slot {
    key: Key,
    seen_ns: i64,
    /// Odd while there is a flow.
    generation: u32,
    /// The next flow in the list of a second.
    next: u32,
}

const _: () = assert!(size_of::<Slot>() == 32);

/// The flows of one worker.
pub(super) struct Table {
    index: Index,
    slots: Vec<Slot>,
    free: Vec<u32>,
    capacity: usize,
    key: HashKey,
    /// What the generations of places begin above.
    base: u32,
    /// Nanoseconds after which a flow without packets is over; 0 for never.
    timeout_ns: i64,
    /// Lists of flows, by the second in which to look at them.
    wheel: Vec<u32>,
    /// The first second that was not looked at.
    second: i64,
    /// Flows that are yet to be looked at of seconds before that.
    due: u32,
}

impl Table {
    /// Room for so many flows, which end after so many seconds without packets, or never after 0.
    pub(super) fn new(capacity: usize, timeout_s: u32, seed: u64) -> Table {
        let seconds = (timeout_s as usize + 2).min(MAX_WHEEL);
        Table {
            index: Index::new(capacity),
            slots: packet::roomy_vec(capacity),
            free: Vec::with_capacity(capacity),
            capacity,
            key: HashKey::new(seed),
            base: 0,
            timeout_ns: i64::from(timeout_s) * NS_PER_S,
            wheel: vec![END; if timeout_s == 0 { 0 } else { seconds }],
            second: 0,
            due: END,
        }
    }

    /// Says what the generations of places begin above, an even number. For the beginning.
    pub(super) fn set_base(&mut self, base: u32) {
        self.base = base;
    }

    /// All flows, for a table that replaces this one.
    pub(super) fn give(&mut self) -> Table {
        self.wheel.fill(END);
        self.due = END;
        Table {
            index: std::mem::take(&mut self.index),
            slots: std::mem::take(&mut self.slots),
            free: std::mem::take(&mut self.free),
            wheel: Vec::new(),
            due: END,
            ..*self
        }
    }

    /// Takes over the flows of another table, in their places, with `shift` added to generations; this one has none
    /// yet. Says how many flows are lost, for want of room.
    pub(super) fn adopt(&mut self, old: Table, shift: u32, now_ns: i64) -> usize {
        let flows = old.len();
        (self.slots, self.free, self.key) = (old.slots, old.free, old.key);
        self.slots.truncate(self.capacity);
        self.free.retain(|&at| (at as usize) < self.capacity);
        self.slots.reserve(self.capacity - self.slots.len());
        self.free.reserve(self.capacity - self.free.len());
        self.second = now_ns / NS_PER_S;
        for at in 0..self.slots.len() {
            self.slots[at].generation = self.slots[at].generation.wrapping_add(shift);
            if self.slots[at].generation % 2 == 1 {
                self.index.insert(self.hash(self.slots[at].key), at as u32);
                self.place(at as u32);
            }
        }
        flows - self.len()
    }

    /// Begins generations beyond those of another table's places, whose flows wait elsewhere, so that no packet's tag fits by chance. They
    /// are counted from `base`, with `shift` added to the other's. For the beginning; several tables may be named one after the other.
    pub(super) fn begin_behind(&mut self, old: &Table, shift: u32, base: u32) {
        let counted = |slot: &Slot| slot.generation.wrapping_add(shift).wrapping_sub(base);
        let last = old.slots.iter().map(counted).max().unwrap_or(0);
        // Even, as of flows that there are not.
        let next = (last & !1).wrapping_add(4);
        self.base = base.wrapping_add(next.max(self.base.wrapping_sub(base)));
    }

    /// Flows that there are: place, key, generation, and when the last packet came.
    pub(super) fn flows(&self) -> impl Iterator<Item = (u32, Key, u32, i64)> {
        let live = (0..).zip(&self.slots).filter(|(_, slot)| slot.generation % 2 == 1);
        live.map(|(at, slot)| (at, slot.key, slot.generation, slot.seen_ns))
    }

    /// Nanoseconds after which a flow without packets is over; 0 for never.
    pub(super) fn timeout_ns(&self) -> i64 {
        self.timeout_ns
    }

    /// The generations of all places that were in use so far.
    pub(super) fn generations(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().map(|slot| slot.generation)
    }

    /// Flows that there are.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether flows end by themselves.
    pub(super) fn ages(&self) -> bool {
        self.timeout_ns > 0
    }

    /// What a flow is found by.
    #[inline]
    pub(super) fn hash(&self, key: Key) -> u32 {
        key.hash(&self.key) as u32
    }

    /// Asks for the memory that [`Self::guess`] looks at.
    #[inline]
    pub(super) fn prefetch(&self, hash: u32) {
        self.index.prefetch(hash);
    }

    /// Asks for the memory of the flow that a hash most likely belongs to.
    #[inline]
    pub(super) fn guess(&self, hash: u32) {
        if let Some(slot) = self.index.find(hash, |_| true).and_then(|at| self.slots.get(at as usize)) {
            packet::prefetch(slot);
        }
    }

    /// The place and generation of a flow that has a packet now, and whether it is new. None if it is, and there is no room.
    #[inline]
    pub(super) fn enter_hashed(&mut self, key: Key, hash: u32, now_ns: i64) -> Option<(u32, u32, bool)> {
        let slots = &mut self.slots;
        match self.index.find(hash, |at| slots.get(at as usize).is_some_and(|slot| slot.key == key)) {
            Some(at) => {
                let slot = slots.get_mut(at as usize)?;
                slot.seen_ns = now_ns;
                Some((at, slot.generation, false))
            }
            None => self.add(key, hash, now_ns),
        }
    }

    #[cold]
    fn add(&mut self, key: Key, hash: u32, now_ns: i64) -> Option<(u32, u32, bool)> {
        let at = match self.free.pop() {
            Some(at) => at,
            None if self.slots.len() < self.capacity => {
                self.slots.push(Slot { key, seen_ns: 0, generation: self.base, next: END });
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        if self.index.len() == 0 {
            self.second = self.second.max(now_ns / NS_PER_S);
        }
        self.index.insert(hash, at);
        let slot = &mut self.slots[at as usize];
        (slot.key, slot.seen_ns) = (key, now_ns);
        slot.generation = slot.generation.wrapping_add(1);
        let generation = slot.generation;
        self.place(at);
        Some((at, generation, true))
    }

    /// Puts a flow into the list of the second in which it ends if nothing more comes.
    fn place(&mut self, at: u32) {
        if self.wheel.is_empty() {
            return;
        }
        let seconds = self.wheel.len() as i64;
        let slot = &mut self.slots[at as usize];
        // The second after the one in which its time is over: when that begins, it is over.
        let end = (slot.seen_ns + self.timeout_ns) / NS_PER_S + 1;
        let end = end.clamp(self.second, self.second + seconds - 1);
        let list = &mut self.wheel[end.rem_euclid(seconds) as usize];
        slot.next = std::mem::replace(list, at);
    }

    /// Ends flows whose time is over, and says which and with what generation from now on; looks at `most` of them.
    /// Whether there may be more.
    pub(super) fn expire(&mut self, now_ns: i64, most: usize, mut ended: impl FnMut(u32, u32)) -> bool {
        for _ in 0..most {
            let Some(at) = self.next_due(now_ns) else { return false };
            let slot = &mut self.slots[at as usize];
            if slot.seen_ns + self.timeout_ns > now_ns {
                self.place(at);
                continue;
            }
            slot.generation = slot.generation.wrapping_add(1);
            ended(at, slot.generation);
            let key = slot.key;
            self.index.remove(self.hash(key), at);
            self.free.push(at);
        }
        true
    }

    /// The next flow to look at.
    fn next_due(&mut self, now_ns: i64) -> Option<u32> {
        let (now, seconds) = (now_ns / NS_PER_S, self.wheel.len() as i64);
        while self.due == END {
            if self.second > now || seconds == 0 || self.index.len() == 0 {
                return None;
            }
            // After a long sleep each list is looked at once.
            self.second = self.second.max(now - seconds + 1);
            let list = &mut self.wheel[self.second.rem_euclid(seconds) as usize];
            self.due = std::mem::replace(list, END);
            self.second += 1;
        }
        let at = self.due;
        self.due = self.slots[at as usize].next;
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use elements_shared::flow_id::FlowId;
    use std::net::Ipv4Addr;

    impl Table {
        fn meet(&mut self, key: Key, now_ns: i64) -> Option<(u32, u32, bool)> {
            self.enter_hashed(key, self.hash(key), now_ns)
        }
    }

    fn key(n: u16) -> Key {
        Key::new(17, FlowId::new(Ipv4Addr::new(10, 0, 0, 1), n, Ipv4Addr::new(10, 0, 0, 2), 80))
    }

    fn ended(table: &mut Table, second: i64) -> Vec<u32> {
        let mut all = Vec::new();
        while table.expire(second * NS_PER_S, 2, |at, _| all.push(at)) {}
        all.sort_unstable();
        all
    }

    #[test]
    fn finds_and_fills_up() {
        let mut table = Table::new(2, 0, 7);
        assert_eq!(table.meet(key(1), 0), Some((0, 1, true)));
        assert_eq!(table.meet(key(2), 0), Some((1, 1, true)));
        assert_eq!(table.meet(key(1), 5), Some((0, 1, false)));
        assert_eq!(table.meet(key(3), 5), None);
        assert!(!table.expire(1 << 60, 10, |_, _| ()), "flows never end");
        assert_eq!(table.len(), 2);
    }

    /// A flow ends once it had no packet for the time, neither earlier nor much later, and its place is used again.
    #[test]
    fn ends_flows() {
        let mut table = Table::new(8, 10, 7);
        for n in 0..5 {
            table.meet(key(n), i64::from(n) * NS_PER_S);
        }
        table.meet(key(0), 7 * NS_PER_S);
        assert_eq!(ended(&mut table, 10), []);
        assert_eq!(ended(&mut table, 12), [1, 2]);
        assert_eq!(ended(&mut table, 15), [3, 4]);
        assert_eq!(ended(&mut table, 16), []);
        assert_eq!(ended(&mut table, 18), [0]);
        assert_eq!(table.len(), 0);
        let (at, generation, new) = table.meet(key(9), 20 * NS_PER_S).unwrap();
        assert_eq!((at, generation, new), (0, 3, true));
    }

    /// Flows go on in another table, with its time; those that have no place there are gone, and can come again.
    #[test]
    fn goes_on_in_another_table() {
        let filled = || {
            let mut table = Table::new(8, 10, 7);
            for n in 0..5 {
                table.meet(key(n), i64::from(n) * NS_PER_S);
            }
            assert_eq!(ended(&mut table, 11), [0, 1]);
            table
        };
        for (capacity, lost) in [(16, 0), (8, 0), (4, 1)] {
            let mut table = Table::new(capacity, 20, 8);
            assert_eq!(table.adopt(filled().give(), 100, 12 * NS_PER_S), lost);
            assert_eq!(table.len(), 3 - lost);
            let seen = 13 * NS_PER_S;
            assert_eq!(table.meet(key(3), seen), Some((3, 101, false)));
            assert_eq!(table.meet(key(9), seen), Some((0, 103, true)), "the place that ended last");
            assert_eq!(table.meet(key(4), seen).map(|(_, _, new)| new), Some(lost == 1));
            assert_eq!(table.generations().filter(|generation| generation % 2 == 1).count(), 4);
            assert_eq!(ended(&mut table, 24), [2]);
            assert_eq!(ended(&mut table, 40).len(), 3);
        }
    }

    /// Where flows of several tables wait elsewhere, no flow begins with a generation that one of them had.
    #[test]
    fn begins_behind_others() {
        let old = |flows: u16| {
            let mut table = Table::new(8, 1, 7);
            table.set_base(40);
            for second in 0..i64::from(flows) {
                table.meet(key(1), second * 10 * NS_PER_S);
                ended(&mut table, second * 10 + 5);
            }
            table
        };
        for flows in [[3, 1], [1, 3], [0, 3], [0, 0]] {
            let mut table = Table::new(8, 0, 7);
            table.set_base(100);
            flows.iter().for_each(|&flows| table.begin_behind(&old(flows), 60, 100));
            let (_, generation, _) = table.meet(key(1), 0).unwrap();
            assert!(
                generation % 2 == 1 && generation > 100 + 2 * 3.min(u32::from(flows[0].max(flows[1]))) + 1
            );
        }
    }

    /// Times beyond the wheel, and sleep for longer than it turns, lose no flow.
    #[test]
    fn long_times() {
        let mut table = Table::new(8, 10_000, 7);
        table.meet(key(1), 0);
        table.meet(key(2), 5_000 * NS_PER_S);
        for second in [1, 4_000, 4_097, 9_000, 9_999] {
            assert_eq!(ended(&mut table, second), [], "{second}");
        }
        assert_eq!(ended(&mut table, 10_001), [0]);
        assert_eq!(ended(&mut table, 90_000), [1]);
    }
}
