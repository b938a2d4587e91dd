//! What elements do to the number of packets, where packets are counted.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// What one instance of an element has done to the number of packets. Its worker writes, others may read.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// Packets that were handed to it.
    pub(crate) arrived: AtomicU64,
    /// Packets that it handed on.
    pub(crate) left: AtomicU64,
    /// Packets that came into being in one of its calls, more than ended there.
    pub(crate) made: AtomicU64,
    /// Packets that ended in one of its calls, more than came into being or were counted as dropped there.
    pub(crate) ended: AtomicU64,
    /// Packets that it gave away as part of its state.
    pub(crate) given: AtomicI64,
    /// Packets that it took over as part of another's state.
    pub(crate) taken: AtomicI64,
}

impl Ledger {
    /// Notes what came of one call of the instance: how many packets were handed to it and how many it handed on; how many more exist
    /// now, and how many it has counted as dropped.
    pub(crate) fn note(&self, arrived: u64, left: u64, more: i64, dropped: u64) {
        self.arrived.fetch_add(arrived, Relaxed);
        self.left.fetch_add(left, Relaxed);
        let surplus = more + dropped as i64;
        let side = if surplus > 0 { &self.made } else { &self.ended };
        side.fetch_add(surplus.unsigned_abs(), Relaxed);
    }
}
