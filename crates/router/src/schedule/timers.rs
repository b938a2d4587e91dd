//! Timers of one worker.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads elements and keys, which no sender of packets chooses: a timer is set for each burst of a source, and found again two or three
/// times.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u32(byte.into()));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        // Fibonacci hashing; the table takes both ends.
        let product = (self.0 ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }
}

/// Expiry times by element and key; setting a key again moves it.
#[derive(Default)]
pub(crate) struct Timers {
    /// (time, sequence number, element, key); outdated entries are skipped when they come up.
    heap: BinaryHeap<Reverse<(i64, u64, u32, u32)>>,
    current: HashMap<(u32, u32), u64, BuildHasherDefault<Mix>>,
    sequence: u64,
}

impl Timers {
    pub(crate) fn set(&mut self, element: u32, key: u32, at_ns: i64) {
        self.sequence += 1;
        self.current.insert((element, key), self.sequence);
        self.heap.push(Reverse((at_ns, self.sequence, element, key)));
    }

    pub(crate) fn cancel(&mut self, element: u32, key: u32) {
        self.current.remove(&(element, key));
    }

    #[inline]
    pub(crate) fn is_set(&self, element: u32, key: u32) -> bool {
        self.current.contains_key(&(element, key))
    }

    /// The time of the earliest timer.
    pub(crate) fn next_ns(&mut self) -> Option<i64> {
        while let Some(&Reverse((at, sequence, element, key))) = self.heap.peek() {
            if self.current.get(&(element, key)) == Some(&sequence) {
                return Some(at);
            }
            self.heap.pop();
        }
        None
    }

    /// Takes out a timer that is due: its element and key.
    #[inline]
    pub(crate) fn pop_due(&mut self, now_ns: i64) -> Option<(u32, u32)> {
        // An outdated entry may come up too early, but none too late.
        let Reverse((earliest, ..)) = self.heap.peek()?;
        if *earliest > now_ns { None } else { self.pop(now_ns) }
    }

    #[inline(never)]
    fn pop(&mut self, now_ns: i64) -> Option<(u32, u32)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        let Reverse((_, _, element, key)) = self.heap.pop()?;
        self.current.remove(&(element, key));
        Some((element, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moving and cancelling hold, too.
    #[test]
    fn timers_expire_in_order_of_time_then_of_setting() {
        let mut t = Timers::default();
        t.set(1, 0, 50);
        t.set(2, 0, 10);
        t.set(3, 0, 10);
        t.set(1, 0, 5);
        t.set(4, 0, 1);
        t.cancel(4, 0);
        assert_eq!(t.next_ns(), Some(5));
        let due: Vec<_> = std::iter::from_fn(|| t.pop_due(20)).collect();
        assert_eq!(due, [(1, 0), (2, 0), (3, 0)]);
        assert_eq!(t.next_ns(), None);
    }
}
