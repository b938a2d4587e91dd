//! When flows may go: two queues of record numbers, by time.
//!
//! Packets do not move their flows in the queues. A flow lies where it belonged when it was last looked at, which is never
//! too late: its time can only have grown since, but for the few events that shorten it and say so. Who takes the first
//! flow of a queue therefore looks at its record, and puts it back if it was used meanwhile. Where a flow lies its record says.
//!
//! A queue is a wheel: lists, each of the flows of an eighth of a second, in no order. The earliest list is sorted when its first flow is
//! asked for. So a flow comes and goes in the same few steps, however many there are, and still the first one is exactly that. What
//! belongs before the lists that are left, as little does, lies in a heap.

use super::record::{Flow, Slab};
use std::cmp::Reverse;
use std::sync::atomic::Ordering::Relaxed;

/// The queue of flows that may be removed to make room.
pub(super) const BEST_EFFORT: usize = 0;
/// The queue of flows that are guaranteed to stay.
pub(super) const GUARANTEED: usize = 1;

/// The place of a record that is in no queue; others are the number of a node.
const NOWHERE: u32 = u32::MAX;
/// What stands for "no node" in lists.
const END: u32 = u32::MAX;
/// Milliseconds of a list, as a power of two.
const LIST_BITS: u32 = 7;
/// Lists of a wheel: nearly nine minutes. Flows that stay for longer lie in the last one, and go round again.
const LISTS: u64 = 4096;

/// Where a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// In no queue.
    Unused,
    /// The first one of a list of the wheel, and behind another node.
    First {
        list: u32,
    },
    Behind {
        before: u32,
    },
    /// In the sorted list, at this place.
    Sorted {
        at: u32,
    },
    /// In the heap, at this place.
    Heap {
        at: u32,
    },
}

/// A record in a queue.
#[derive(Clone, Copy)]
struct Node {
    at_ms: u64,
    record: u32,
    /// The next one in a list of the wheel, or of the unused ones.
    after: u32,
    place: Where,
    queue: u8,
}

/// A time, a record and its node, in the order in which flows go.
type Item = (u64, u32, u32);

/// All nodes of a lane.
struct Nodes {
    all: Vec<Node>,
    unused: u32,
}

impl Nodes {
    #[inline]
    fn make(&mut self, node: Node) -> u32 {
        let Some(unused) = self.all.get_mut(self.unused as usize) else {
            self.all.push(node);
            return (self.all.len() - 1) as u32;
        };
        let after = std::mem::replace(unused, node).after;
        std::mem::replace(&mut self.unused, after)
    }

    fn free(&mut self, number: u32) {
        let node = &mut self.all[number as usize];
        (node.place, node.after) = (Where::Unused, self.unused);
        self.unused = number;
    }

    fn note(&mut self, (_, _, number): Item, place: Where) {
        self.all[number as usize].place = place;
    }
}

/// A queue.
#[derive(Default)]
struct Queue {
    /// The first node of each list of the wheel; none before they are needed.
    heads: Vec<u32>,
    /// Nodes in the wheel.
    turning: usize,
    /// The earliest list that is left, as lists are numbered that never end.
    edge: u64,
    /// The nodes of a list before, the first one last. Those that are gone have no node.
    sorted: Vec<Item>,
    /// What came before the edge otherwise: a heap.
    heap: Vec<Item>,
}

/// The list of a time.
#[inline]
fn list_of(at_ms: u64) -> u64 {
    at_ms >> LIST_BITS
}

impl Queue {
    /// Puts a node into the queue. Now it is `now_ms` or later.
    #[inline]
    fn put(&mut self, nodes: &mut Nodes, number: u32, now_ms: u64) {
        let Node { at_ms, record, .. } = nodes.all[number as usize];
        if self.turning == 0 {
            self.edge = self.edge.max(list_of(now_ms));
        }
        let list = list_of(at_ms).min(self.edge + LISTS - 1);
        if list < self.edge {
            self.push(nodes, (at_ms, record, number));
        } else {
            self.turn(nodes, number, list);
        }
    }

    #[inline]
    fn turn(&mut self, nodes: &mut Nodes, number: u32, list: u64) {
        if self.heads.is_empty() {
            self.heads = vec![END; LISTS as usize];
        }
        let list = (list % LISTS) as u32;
        let second = std::mem::replace(&mut self.heads[list as usize], number);
        if let Some(second) = nodes.all.get_mut(second as usize) {
            second.place = Where::Behind { before: number };
        }
        let node = &mut nodes.all[number as usize];
        (node.place, node.after) = (Where::First { list }, second);
        self.turning += 1;
    }

    /// Takes a node out of the queue.
    fn take(&mut self, nodes: &mut Nodes, number: u32) {
        let Node { after, place, .. } = nodes.all[number as usize];
        match place {
            Where::Unused => {}
            Where::First { .. } | Where::Behind { .. } => {
                self.turning -= 1;
                if let Some(after) = nodes.all.get_mut(after as usize) {
                    after.place = place;
                }
                match place {
                    Where::Behind { before } => nodes.all[before as usize].after = after,
                    Where::First { list } => self.heads[list as usize] = after,
                    _ => {}
                }
            }
            Where::Sorted { at } => {
                self.sorted[at as usize].2 = END;
                while self.sorted.last().is_some_and(|item| item.2 == END) {
                    self.sorted.pop();
                }
            }
            Where::Heap { at } => self.leave_heap(nodes, at as usize),
        }
    }

    /// The first item; of the wheel only if it is in a list that begins `until` then.
    fn first(&mut self, nodes: &mut Nodes, until_ms: u64) -> Option<(u64, u32)> {
        while self.sorted.is_empty() && self.heap.is_empty() && self.turning > 0 {
            if self.edge > list_of(until_ms) {
                return None;
            }
            self.sort_next(nodes);
        }
        let first = [self.sorted.last(), self.heap.first()].into_iter().flatten().min();
        first.map(|(at_ms, record, _)| (*at_ms, *record))
    }

    /// Sorts the earliest list that is left; there is none sorted.
    fn sort_next(&mut self, nodes: &mut Nodes) {
        let mut number = std::mem::replace(&mut self.heads[(self.edge % LISTS) as usize], END);
        let ends = self.edge;
        self.edge += 1;
        while number != END {
            let Node { at_ms, record, after, .. } = nodes.all[number as usize];
            self.turning -= 1;
            if list_of(at_ms) <= ends {
                self.sorted.push((at_ms, record, number));
            } else {
                self.turn(nodes, number, list_of(at_ms).min(self.edge + LISTS - 1));
            }
            number = after;
        }
        // Mostly in this order already: who comes later stays for longer.
        self.sorted.sort_unstable_by_key(|&item| Reverse(item));
        for (at, &item) in self.sorted.iter().enumerate() {
            nodes.note(item, Where::Sorted { at: at as u32 });
        }
    }

    fn push(&mut self, nodes: &mut Nodes, item: Item) {
        self.heap.push(item);
        let end = self.heap.len() - 1;
        nodes.note(item, Where::Heap { at: end as u32 });
        self.rise(nodes, end);
    }

    fn leave_heap(&mut self, nodes: &mut Nodes, at: usize) {
        self.heap.swap_remove(at);
        if let Some(&moved) = self.heap.get(at) {
            nodes.note(moved, Where::Heap { at: at as u32 });
            self.rise(nodes, at);
            self.sink(nodes, at);
        }
    }

    fn swap(&mut self, nodes: &mut Nodes, a: usize, b: usize) {
        self.heap.swap(a, b);
        for at in [a, b] {
            nodes.note(self.heap[at], Where::Heap { at: at as u32 });
        }
    }

    fn rise(&mut self, nodes: &mut Nodes, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heap[parent] <= self.heap[at] {
                return;
            }
            self.swap(nodes, parent, at);
            at = parent;
        }
    }

    fn sink(&mut self, nodes: &mut Nodes, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let Some(child) = children.min_by_key(|&child| self.heap[child]) else { return };
            if self.heap[at] <= self.heap[child] {
                return;
            }
            self.swap(nodes, child, at);
            at = child;
        }
    }
}

/// Both queues. A record is in one of them, or in none.
pub(super) struct Expiry {
    nodes: Nodes,
    queues: [Queue; 2],
}

impl Default for Expiry {
    fn default() -> Expiry {
        Expiry { nodes: Nodes { all: Vec::new(), unused: END }, queues: Default::default() }
    }
}

impl Expiry {
    /// The first flow of a queue: its time and its record.
    pub(super) fn first(&mut self, queue: usize) -> Option<(u64, u32)> {
        self.queues[queue].first(&mut self.nodes, u64::MAX)
    }

    /// The same if its time has come.
    #[inline]
    pub(super) fn due(&mut self, queue: usize, now_ms: u64) -> Option<(u64, u32)> {
        self.queues[queue].first(&mut self.nodes, now_ms).filter(|first| first.0 <= now_ms)
    }

    /// Puts a record into a queue, wherever it was in these.
    pub(super) fn set(&mut self, slab: &Slab, record: u32, queue: usize, at_ms: u64) {
        self.remove(slab, record);
        if let Some(flow) = slab.get(record) {
            self.add(record, flow, queue, at_ms);
        }
    }

    /// Puts a record into a queue that is in none.
    #[inline]
    pub(super) fn add(&mut self, record: u32, flow: &Flow, queue: usize, at_ms: u64) {
        let node = Node { at_ms, record, after: END, place: Where::Unused, queue: queue as u8 };
        let number = self.nodes.make(node);
        flow.place.store(number, Relaxed);
        self.queues[queue].put(&mut self.nodes, number, flow.last_ms());
    }

    /// Takes a record out of its queue.
    pub(super) fn remove(&mut self, slab: &Slab, record: u32) {
        let Some(flow) = slab.get(record) else { return };
        let number = flow.place.load(Relaxed);
        if number == NOWHERE {
            return;
        }
        flow.place.store(NOWHERE, Relaxed);
        let queue = self.nodes.all[number as usize].queue;
        self.queues[usize::from(queue)].take(&mut self.nodes, number);
        self.nodes.free(number);
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
                let flow = slab.make(record).expect("a small number");
                flow.touch(now);
                let at = now + stays;
                match op {
                    BEST_EFFORT | GUARANTEED if model.insert(record, (op, at)).is_none() => {
                        expiry.add(record, flow, op, at);
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
                    prop_assert_eq!(expiry.due(queue, now), first.filter(|first| first.0 <= now));
                    if op == 3 {
                        prop_assert_eq!(expiry.first(queue), first);
                    }
                }
                let is_there = flow.place.load(Relaxed) != NOWHERE;
                prop_assert_eq!(is_there, model.contains_key(&record));
            }
            // As many nodes as records, however often they came and went; and nothing is left behind.
            prop_assert!(expiry.nodes.all.len() <= 40);
            (0..40).for_each(|record| expiry.remove(&slab, record));
            let is_empty = |queue: &Queue| {
                let lists = queue.heads.iter().all(|&head| head == END);
                lists && queue.turning == 0 && queue.sorted.is_empty() && queue.heap.is_empty()
            };
            prop_assert!(expiry.queues.iter().all(is_empty));
        }
    }
}
