//! How much waits to be reclaimed, and how much may.

use std::sync::atomic as unordered;

use crate::sync::Ordering;

/// Room is taken from the domain's limit in such pieces.
pub(crate) const PIECE_BYTES: usize = 16 << 10;

/// How much waits, and how much may. Counters only: they order nothing.
pub(crate) struct Budget {
    pub(crate) limit: unordered::AtomicUsize,
    /// What waits, and what updaters have taken in advance.
    pub(crate) bytes: unordered::AtomicUsize,
    /// Callbacks that wait elsewhere than in a queue.
    pub(crate) callbacks: unordered::AtomicUsize,
    pub(crate) refused: unordered::AtomicU64,
}

impl Budget {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.into(), bytes: 0.into(), callbacks: 0.into(), refused: 0.into() }
    }

    /// Takes bytes, if the limit allows it. When nothing waits, any number.
    pub(crate) fn take(&self, charge: usize) -> bool {
        self.take_within(charge, self.limit.load(Ordering::Relaxed))
    }

    /// Takes a piece in advance, if that leaves half of the limit free.
    pub(crate) fn take_piece(&self) -> bool {
        let half = self.limit.load(Ordering::Relaxed) / 2;
        half >= PIECE_BYTES && self.take_within(PIECE_BYTES, half)
    }

    /// Takes any number of bytes, if all that is taken already is `in_advance`, so that nothing waits.
    pub(crate) fn take_alone(&self, charge: usize, in_advance: usize) -> bool {
        let sum = in_advance.saturating_add(charge);
        self.bytes.compare_exchange(in_advance, sum, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    fn take_within(&self, charge: usize, limit: usize) -> bool {
        let fits = |now: usize| match now.checked_add(charge) {
            Some(sum) if now == 0 || sum <= limit || cfg!(rcu_mutant = "no_limit") => Some(sum),
            _ => None,
        };
        self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
    }

    /// Takes bytes that wait already, whatever the limit.
    pub(crate) fn take_anyway(&self, charge: usize) {
        self.bytes.fetch_add(charge, Ordering::Relaxed);
    }

    /// Whether more is taken than may.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed)
    }

    /// Whether nothing waits, `in_advance` being what is taken and not used.
    pub(crate) fn is_idle(&self, in_advance: usize) -> bool {
        self.bytes.load(Ordering::Relaxed) <= in_advance
    }

    /// Whether [`take`](Self::take) or [`take_alone`](Self::take_alone) would succeed at this moment.
    pub(crate) fn has_room(&self, charge: usize, in_advance: usize) -> bool {
        let sum = self.bytes.load(Ordering::Relaxed).saturating_add(charge);
        sum <= self.limit.load(Ordering::Relaxed) || self.is_idle(in_advance)
    }

    /// Gives bytes back.
    pub(crate) fn refund(&self, bytes: usize) {
        if bytes > 0 {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// More than this is not left waiting for a batch to be complete.
    pub(crate) fn large(&self) -> usize {
        self.limit.load(Ordering::Relaxed) / 16
    }

    /// True if readers should hurry.
    pub(crate) fn is_tight(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed) / 2
    }
}
