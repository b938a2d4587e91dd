//! Counters of a queue: one writer, any number of readers.

use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a queue, or all queues of an interface together, have seen so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Frames received or sent.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames lost because the ring they should have gone to was full.
    pub dropped: u64,
    /// Samples lost because the tap's ring was full.
    pub tap_overflow: u64,
}

impl Add for Stats {
    type Output = Stats;

    fn add(self, other: Stats) -> Stats {
        Stats {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
            dropped: self.dropped + other.dropped,
            tap_overflow: self.tap_overflow + other.tap_overflow,
        }
    }
}

/// Only the owner of the queue writes: adding is a load and a store, no read-modify-write.
#[derive(Debug, Default)]
pub(super) struct Counters {
    packets: AtomicU64,
    bytes: AtomicU64,
    dropped: AtomicU64,
    tap_overflow: AtomicU64,
}

impl Counters {
    pub(super) fn add(&self, packets: u64, bytes: u64) {
        bump(&self.packets, packets);
        bump(&self.bytes, bytes);
    }

    pub(super) fn add_dropped(&self, frames: u64) {
        bump(&self.dropped, frames);
    }

    pub(super) fn add_tap_overflow(&self) {
        bump(&self.tap_overflow, 1);
    }

    pub(super) fn stats(&self) -> Stats {
        Stats {
            packets: self.packets.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            tap_overflow: self.tap_overflow.load(Ordering::Relaxed),
        }
    }
}

fn bump(counter: &AtomicU64, by: u64) {
    counter.store(counter.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}
