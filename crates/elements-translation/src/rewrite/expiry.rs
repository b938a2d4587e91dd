//! When flows may go: two queues of record numbers, by time.
//!
//! Packets do not move their flows in the queues. A flow lies where it belonged when it was last looked at, which is never
//! too late: its time can only have grown since, but for the few events that shorten it and say so. Who takes the first
//! flow of a queue therefore looks at its record, and puts it back if it was used meanwhile. Where a flow lies its record says.
//!
//! A queue is a wheel: lists, each of the flows of an eighth of a second, in no order. The earliest list is sorted when its first flow is
//! asked for. So a flow comes and goes in the same few steps, however many there are, and still the first one is exactly that. What
//! belongs before the lists that are left, as little does, lies in a heap.

use super::record::{Flow, Node, Slab};
use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

/// The queue of flows that may be removed to make room.
pub(super) const BEST_EFFORT: usize = 0;
/// The queue of flows that are guaranteed to stay.
pub(super) const GUARANTEED: usize = 1;

/// What stands for "no record" in lists.
const END: u32 = u32::MAX;
/// Added to the number of a list, where the first flow of it has that in the place of the one before.
const FIRST: u32 = 1 << 31;
/// Milliseconds of a list, as a power of two.
const LIST_BITS: u32 = 7;
/// Lists of a wheel: nearly nine minutes. Flows that stay for longer lie in the last one, and go round again.
const LISTS: u64 = 4096;

/// Where a record is: in no queue, in a list of the wheel, in the sorted list, or in the heap. Records in the latter two have their place there where others have
/// the next record.
const NOWHERE: u8 = 0;
const TURNING: u8 = 1;
const SORTED: u8 = 2;
const HEAP: u8 = 3;
/// Added to these for [`GUARANTEED`].
const QUEUE: u8 = 4;

/// A time and a record, in the order in which flows go.
type Item = (u64, u32);

/// A queue.
#[derive(Default)]
struct Queue {
    /// [`QUEUE`], if it is that one.
    bit: u8,
    /// The first record of each list of the wheel; none before they are needed.
    heads: Vec<u32>,
    /// Records in the wheel.
    turning: usize,
    /// The earliest list that is left, as lists are numbered that never end.
    edge: u64,
    /// The records of a list before, the first one last. In the place of those that are gone stands none.
    sorted: Vec<Item>,
    /// What came before the edge otherwise: a heap.
    heap: Vec<Item>,
}

/// The list of a time.
#[inline]
fn list_of(at_ms: u64) -> u64 {
    at_ms >> LIST_BITS
}

/// The time of which a node has the lower half: the first one from the beginning of a list on.
#[inline]
fn whole(at_ms: u32, list: u64) -> u64 {
    let begin_ms = list << LIST_BITS;
    begin_ms + u64::from(at_ms.wrapping_sub(begin_ms as u32))
}

/// Notes where a record is that has no others beside it.
fn note(slab: &Slab, (_, record): Item, place: u8, at: usize) {
    if let Some((flow, node)) = slab.both(record) {
        flow.place.store(place, Relaxed);
        node.after.store(at as u32, Relaxed);
    }
}

impl Queue {
    /// Puts a record into the queue. Now it is `now_ms` or later.
    #[inline]
    fn put(&mut self, slab: &Slab, (flow, node): (&Flow, &Node), (at_ms, record): Item, now_ms: u64) {
        if self.turning == 0 {
            self.edge = self.edge.max(list_of(now_ms));
        }
        let at_ms = at_ms.min(self.latest_ms());
        node.at_ms.store(at_ms as u32, Relaxed);
        let list = list_of(at_ms).min(self.edge + LISTS - 1);
        if list < self.edge {
            self.push(slab, (at_ms, record));
        } else {
            flow.place.store(TURNING | self.bit, Relaxed);
            self.turn(slab, node, record, list);
        }
    }

    /// The latest time that a node can tell, as long as its record is in the wheel: 49 days from now. What stays for longer is looked at then.
    #[inline]
    fn latest_ms(&self) -> u64 {
        (self.edge << LIST_BITS).saturating_add(u64::from(u32::MAX))
    }

    #[inline]
    fn turn(&mut self, slab: &Slab, node: &Node, record: u32, list: u64) {
        if self.heads.is_empty() {
            self.heads = vec![END; LISTS as usize];
        }
        let list = (list % LISTS) as u32;
        let second = std::mem::replace(&mut self.heads[list as usize], record);
        if second != END
            && let Some(second) = slab.node(second)
        {
            second.before.store(record, Relaxed);
        }
        node.after.store(second, Relaxed);
        node.before.store(FIRST | list, Relaxed);
        self.turning += 1;
    }

    /// Takes a record out of the queue, which is in it at this place.
    fn take(&mut self, slab: &Slab, node: &Node, place: u8) {
        let (before, after) = (node.before.load(Relaxed), node.after.load(Relaxed));
        match place & !QUEUE {
            TURNING => {
                self.turning -= 1;
                if let Some(after) = slab.node(after).filter(|_| after != END) {
                    after.before.store(before, Relaxed);
                }
                if before & FIRST != 0 {
                    self.heads[(before & !FIRST) as usize] = after;
                } else if let Some(before) = slab.node(before) {
                    before.after.store(after, Relaxed);
                }
            }
            SORTED => {
                self.sorted[after as usize].1 = END;
                while self.sorted.last().is_some_and(|item| item.1 == END) {
                    self.sorted.pop();
                }
            }
            HEAP => self.leave_heap(slab, after as usize),
            _ => {}
        }
    }

    /// Whether there is nothing that has to be looked at before this time.
    #[inline]
    fn is_idle(&self, now_ms: u64) -> bool {
        let waits = self.turning == 0 || self.edge > list_of(now_ms);
        waits && self.sorted.is_empty() && self.heap.is_empty()
    }

    /// The first item; of the wheel only if it is in a list that begins `until` then.
    fn first(&mut self, slab: &Slab, until_ms: u64) -> Option<Item> {
        while self.sorted.is_empty() && self.heap.is_empty() && self.turning > 0 {
            if self.edge > list_of(until_ms) {
                return None;
            }
            self.sort_next(slab);
        }
        [self.sorted.last(), self.heap.first()].into_iter().flatten().min().copied()
    }

    /// Sorts the earliest list that is left; there is none sorted.
    fn sort_next(&mut self, slab: &Slab) {
        let mut record = std::mem::replace(&mut self.heads[(self.edge % LISTS) as usize], END);
        let ends = self.edge;
        self.edge += 1;
        while record != END
            && let Some(node) = slab.node(record)
        {
            let (at_ms, after) = (whole(node.at_ms.load(Relaxed), ends), node.after.load(Relaxed));
            self.turning -= 1;
            if list_of(at_ms) <= ends {
                self.sorted.push((at_ms, record));
            } else {
                self.turn(slab, node, record, list_of(at_ms).min(self.edge + LISTS - 1));
            }
            record = after;
        }
        // Mostly in this order already: who comes later stays for longer.
        self.sorted.sort_unstable_by_key(|&item| Reverse(item));
        for (at, &item) in self.sorted.iter().enumerate() {
            note(slab, item, SORTED | self.bit, at);
        }
    }

    fn push(&mut self, slab: &Slab, item: Item) {
        self.heap.push(item);
        let end = self.heap.len() - 1;
        note(slab, item, HEAP | self.bit, end);
        self.rise(slab, end);
    }

    fn leave_heap(&mut self, slab: &Slab, at: usize) {
        self.heap.swap_remove(at);
        if let Some(&moved) = self.heap.get(at) {
            note(slab, moved, HEAP | self.bit, at);
            self.rise(slab, at);
            self.sink(slab, at);
        }
    }

    fn swap(&mut self, slab: &Slab, a: usize, b: usize) {
        self.heap.swap(a, b);
        for at in [a, b] {
            note(slab, self.heap[at], HEAP | self.bit, at);
        }
    }

    fn rise(&mut self, slab: &Slab, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] <= self.heap[at] {
                return;
            }
            self.swap(slab, parent, at);
            at = parent;
        }
    }

    fn sink(&mut self, slab: &Slab, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(child) = children.min_by_key(|&child| self.heap[child]) else { return };
            if self.heap[at] <= self.heap[child] {
                return;
            }
            self.swap(slab, child, at);
            at = child;
        }
    }
}

/// Both queues. A record is in one of them, or in none.
pub(super) struct Expiry {
    queues: [Queue; 2],
}

impl Default for Expiry {
    fn default() -> Expiry {
        Expiry { queues: [Queue::default(), Queue { bit: QUEUE, ..Queue::default() }] }
    }
}

impl Expiry {
    /// The first flow of a queue: its time and its record.
    pub(super) fn first(&mut self, slab: &Slab, queue: usize) -> Option<(u64, u32)> {
        self.queues[queue].first(slab, u64::MAX)
    }

    /// The same if its time has come.
    #[inline]
    pub(super) fn due(&mut self, slab: &Slab, queue: usize, now_ms: u64) -> Option<(u64, u32)> {
        if self.queues[queue].is_idle(now_ms) {
            return None;
        }
        self.queues[queue].first(slab, now_ms).filter(|first| first.0 <= now_ms)
    }

    /// Puts a record into a queue, wherever it was in these.
    pub(super) fn set(&mut self, slab: &Slab, record: u32, queue: usize, at_ms: u64) {
        self.remove(slab, record);
        if let Some((flow, node)) = slab.both(record) {
            self.add(slab, (record, flow, node), queue, at_ms, flow.last_ms());
        }
    }

    /// Puts a record into a queue that is in none. Now it is `now_ms` or later.
    #[inline]
    pub(super) fn add(
        &mut self,
        slab: &Slab,
        (record, flow, node): (u32, &Flow, &Node),
        queue: usize,
        at_ms: u64,
        now_ms: u64,
    ) {
        self.queues[queue].put(slab, (flow, node), (at_ms, record), now_ms);
    }

    /// Takes a record out of its queue.
    pub(super) fn remove(&mut self, slab: &Slab, record: u32) {
        let Some((flow, node)) = slab.both(record) else { return };
        let place = flow.place.load(Relaxed);
        if place != NOWHERE {
            flow.place.store(NOWHERE, Relaxed);
            self.queues[usize::from(place / QUEUE)].take(slab, node, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What is asked for, how long it takes until a record's time comes, and how much time passes.
    fn ops() -> impl Strategy<Value = Vec<(u32, usize, u64, u64)>> {
        let turn = LISTS << LIST_BITS;
        let stays = prop_oneof![0u64..100, 0u64..2000, 0u64..3 * turn, Just(turn), Just(turn - 1)];
        let passes = prop_oneof![3 => Just(0u64), 2 => 0u64..300, 1 => 0u64..2 * turn];
        prop::collection::vec((0u32..40, 0usize..4, stays, passes), 0..300)
    }

    proptest! {
        /// The first of each queue is the smallest of a naive list, and so is the first whose time has come, whatever moves between
        /// the queues and however much time passes.
        #[test]
        fn as_lists(ops in ops()) {
            let (mut expiry, slab) = (Expiry::default(), Slab::default());
            let mut model: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
            let mut now = 1_700_000_000_000;
            for (record, op, stays, passes) in ops {
                now += passes;
                let (flow, node) = slab.make(record).expect("a small number");
                flow.touch(now);
                let at = now + stays;
                match op {
                    BEST_EFFORT | GUARANTEED if model.insert(record, (op, at)).is_none() => {
                        expiry.add(&slab, (record, flow, node), op, at, now);
                    }
                    BEST_EFFORT | GUARANTEED => expiry.set(&slab, record, op, at),
                    2 => {
                        expiry.remove(&slab, record);
                        model.remove(&record);
                    }
                    _ => {}
                }
                for queue in [BEST_EFFORT, GUARANTEED] {
                    let all = model.iter().filter(|(_, place)| place.0 == queue);
                    let first = all.map(|(&record, place)| (place.1, record)).min();
                    prop_assert_eq!(expiry.due(&slab, queue, now), first.filter(|first| first.0 <= now));
                    if op == 3 {
                        prop_assert_eq!(expiry.first(&slab, queue), first);
                    }
                }
                let is_there = flow.place.load(Relaxed) != NOWHERE;
                prop_assert_eq!(is_there, model.contains_key(&record));
            }
            // Nothing is left behind.
            (0..40).for_each(|record| expiry.remove(&slab, record));
            let is_empty = |queue: &Queue| {
                let lists = queue.heads.iter().all(|&head| head == END);
                lists && queue.turning == 0 && queue.sorted.is_empty() && queue.heap.is_empty()
            };
            prop_assert!(expiry.queues.iter().all(is_empty));
        }
    }

    /// A time that is further away than a node can tell is none that is forgotten: the flow is looked at before, and put back.
    #[test]
    fn far_times_are_looked_at_before() {
        const DAY_MS: u64 = 86_400_000;
        let (mut expiry, slab, now) = (Expiry::default(), Slab::default(), 1_700_000_000_000);
        let (flow, node) = slab.make(1).expect("a small number");
        flow.touch(now);
        let at = now + 60 * DAY_MS;
        expiry.add(&slab, (1, flow, node), BEST_EFFORT, at, now);
        let (looked_at, record) = expiry.first(&slab, BEST_EFFORT).expect("it is there");
        assert!((now + 49 * DAY_MS..at).contains(&looked_at) && record == 1);
        assert_eq!(expiry.due(&slab, BEST_EFFORT, looked_at - 1), None);
        expiry.set(&slab, 1, BEST_EFFORT, at);
        assert_eq!(expiry.first(&slab, BEST_EFFORT), Some((at, 1)));
    }
}
