//! When flows may go: two heaps of record numbers, by time.
//!
//! Packets do not move their flows in the heaps. A flow lies where it belonged when it was last looked at, which is never
//! too late: its time can only have grown since, but for the few events that shorten it and say so. Who takes the first
//! flow of a heap therefore looks at its record, and puts it back if it was used meanwhile. Where a flow lies its record says.

use super::record::{Flow, Slab};
use std::sync::atomic::Ordering::Relaxed;

/// The heap of flows that may be removed to make room.
pub(super) const BEST_EFFORT: usize = 0;
/// The heap of flows that are guaranteed to stay.
pub(super) const GUARANTEED: usize = 1;

/// The place of a record that is in no heap; others are a place in a heap and, as the highest bit, which heap.
const NOWHERE: u32 = u32::MAX;
const HEAP_SHIFT: u32 = 31;

/// Both heaps. A record is in one of them, or in none.
#[derive(Default)]
pub(super) struct Expiry {
    heaps: [Vec<(u64, u32)>; 2],
}

/// A record's heap and its place there.
fn place_of(slab: &Slab, record: u32) -> Option<(usize, usize)> {
    let place = slab.get(record)?.place.load(Relaxed);
    let in_heap = place & !(1 << HEAP_SHIFT);
    (place != NOWHERE).then_some(((place >> HEAP_SHIFT) as usize, in_heap as usize))
}

impl Expiry {
    /// The first flow of a heap: its time and its record.
    pub(super) fn first(&self, heap: usize) -> Option<(u64, u32)> {
        self.heaps[heap].first().copied()
    }

    /// Puts a record into a heap, wherever it was in these.
    pub(super) fn set(&mut self, slab: &Slab, record: u32, heap: usize, at_ms: u64) {
        self.remove(slab, record);
        let end = self.heaps[heap].len();
        self.heaps[heap].push((at_ms, record));
        self.note(slab, heap, end);
        self.rise(slab, heap, end);
    }

    /// Puts a record into a heap that is in none.
    #[inline]
    pub(super) fn add(&mut self, slab: &Slab, record: u32, flow: &Flow, heap: usize, at_ms: u64) {
        let items = &mut self.heaps[heap];
        let end = items.len();
        items.push((at_ms, record));
        flow.place.store((heap as u32) << HEAP_SHIFT | end as u32, Relaxed);
        self.rise(slab, heap, end);
    }

    /// Takes a record out of its heap.
    pub(super) fn remove(&mut self, slab: &Slab, record: u32) {
        let Some((heap, at)) = place_of(slab, record) else { return };
        if let Some(flow) = slab.get(record) {
            flow.place.store(NOWHERE, Relaxed);
        }
        self.heaps[heap].swap_remove(at);
        if at < self.heaps[heap].len() {
            self.note(slab, heap, at);
            self.rise(slab, heap, at);
            self.sink(slab, heap, at);
        }
    }

    fn note(&mut self, slab: &Slab, heap: usize, at: usize) {
        if let Some(flow) = slab.get(self.heaps[heap][at].1) {
            flow.place.store((heap as u32) << HEAP_SHIFT | at as u32, Relaxed);
        }
    }

    fn swap(&mut self, slab: &Slab, heap: usize, a: usize, b: usize) {
        self.heaps[heap].swap(a, b);
        self.note(slab, heap, a);
        self.note(slab, heap, b);
    }

    fn rise(&mut self, slab: &Slab, heap: usize, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heaps[heap][parent] <= self.heaps[heap][at] {
                return;
            }
            self.swap(slab, heap, parent, at);
            at = parent;
        }
    }

    fn sink(&mut self, slab: &Slab, heap: usize, mut at: usize) {
        loop {
            let items = &self.heaps[heap];
            let children = 2 * at + 1..(2 * at + 3).min(items.len());
            let Some(child) = children.min_by_key(|&child| items[child]) else { return };
            if items[at] <= items[child] {
                return;
            }
            self.swap(slab, heap, child, at);
            at = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The first of each heap is the smallest of a naive list, whatever moves between the heaps.
        #[test]
        fn as_lists(ops in prop::collection::vec((0u32..40, 0usize..3, 0u64..100), 0..300)) {
            let (mut expiry, slab) = (Expiry::default(), Slab::default());
            let mut model: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
            for (record, heap, at) in ops {
                let flow = slab.make(record).expect("a small number");
                if heap == 2 {
                    expiry.remove(&slab, record);
                    model.remove(&record);
                } else if model.insert(record, (heap, at)).is_none() {
                    expiry.add(&slab, record, flow, heap, at);
                } else {
                    expiry.set(&slab, record, heap, at);
                }
                for heap in [BEST_EFFORT, GUARANTEED] {
                    let all = model.iter().filter(|(_, place)| place.0 == heap);
                    let first = all.map(|(&record, place)| (place.1, record)).min();
                    prop_assert_eq!(expiry.first(heap), first);
                }
                let heap = place_of(&slab, record).map(|(heap, _)| heap);
                prop_assert_eq!(heap, model.get(&record).map(|place| place.0));
            }
        }
    }
}
