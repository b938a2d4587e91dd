//! When flows may go: two heaps of record numbers, by time.
//!
//! Packets do not move their flows in the heaps. A flow lies where it belonged when it was last looked at, which is never
//! too late: its time can only have grown since, but for the few events that shorten it and say so. Who takes the first
//! flow of a heap therefore looks at its record, and puts it back if it was used meanwhile.

/// The heap of flows that may be removed to make room.
pub(super) const BEST_EFFORT: usize = 0;
/// The heap of flows that are guaranteed to stay.
pub(super) const GUARANTEED: usize = 1;

/// Not in a heap.
const NOWHERE: u32 = u32::MAX;

/// Both heaps. A record is in one of them, or in none.
#[derive(Default)]
pub(super) struct Expiry {
    heaps: [Vec<(u64, u32)>; 2],
    /// For each record, its heap and its place there.
    places: Vec<(u8, u32)>,
}

impl Expiry {
    /// The first flow of a heap: its time and its record.
    pub(super) fn first(&self, heap: usize) -> Option<(u64, u32)> {
        self.heaps[heap].first().copied()
    }

    /// The heap in which a record is.
    #[cfg(test)]
    fn heap_of(&self, record: u32) -> Option<usize> {
        self.places.get(record as usize).filter(|place| place.1 != NOWHERE).map(|place| usize::from(place.0))
    }

    /// Puts a record into a heap, wherever it was.
    pub(super) fn set(&mut self, record: u32, heap: usize, at_ms: u64) {
        self.remove(record);
        if self.places.len() <= record as usize {
            self.places.resize(record as usize + 1, (0, NOWHERE));
        }
        let end = self.heaps[heap].len();
        self.heaps[heap].push((at_ms, record));
        self.places[record as usize] = (heap as u8, end as u32);
        self.rise(heap, end);
    }

    /// Takes a record out of its heap.
    pub(super) fn remove(&mut self, record: u32) {
        let Some(&(heap, at)) = self.places.get(record as usize).filter(|place| place.1 != NOWHERE) else {
            return;
        };
        let (heap, at) = (usize::from(heap), at as usize);
        self.places[record as usize].1 = NOWHERE;
        self.heaps[heap].swap_remove(at);
        if at < self.heaps[heap].len() {
            self.note(heap, at);
            self.rise(heap, at);
            self.sink(heap, at);
        }
    }

    fn note(&mut self, heap: usize, at: usize) {
        let record = self.heaps[heap][at].1;
        self.places[record as usize] = (heap as u8, at as u32);
    }

    fn swap(&mut self, heap: usize, a: usize, b: usize) {
        self.heaps[heap].swap(a, b);
        self.note(heap, a);
        self.note(heap, b);
    }

    fn rise(&mut self, heap: usize, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.heaps[heap][parent] <= self.heaps[heap][at] {
                return;
            }
            self.swap(heap, parent, at);
            at = parent;
        }
    }

    fn sink(&mut self, heap: usize, mut at: usize) {
        loop {
            let items = &self.heaps[heap];
            let children = 2 * at + 1..(2 * at + 3).min(items.len());
            let Some(child) = children.min_by_key(|&child| items[child]) else { return };
            if items[at] <= items[child] {
                return;
            }
            self.swap(heap, child, at);
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
            let mut expiry = Expiry::default();
            let mut model: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
            for (record, heap, at) in ops {
                if heap == 2 {
                    expiry.remove(record);
                    model.remove(&record);
                } else {
                    expiry.set(record, heap, at);
                    model.insert(record, (heap, at));
                }
                for heap in [BEST_EFFORT, GUARANTEED] {
                    let all = model.iter().filter(|(_, place)| place.0 == heap);
                    let first = all.map(|(&record, place)| (place.1, record)).min();
                    prop_assert_eq!(expiry.first(heap), first);
                }
                prop_assert_eq!(expiry.heap_of(record), model.get(&record).map(|place| place.0));
            }
        }
    }
}
