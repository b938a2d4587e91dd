//! How many packets there are before and after a call of an element.

use crate::context::core::Core;
use crate::context::work::Work;
use crate::shared::ledger::Ledger;
use std::sync::Arc;

/// What is known before a call of an element: how many packets exist, as far as this worker changes that, and how many the element has
/// dropped.
pub(crate) struct Before {
    existing: i64,
    dropped: u64,
    emitted: u64,
}

impl Core {
    /// Where the running element's packets are counted, if they are.
    pub(crate) fn ledger(&self) -> Option<Arc<Ledger>> {
        self.info.ledger(self.worker, self.here as usize)
    }

    /// What is known before a call.
    pub(crate) fn before(&self) -> Before {
        Before { existing: self.existing(), dropped: self.dropped(), emitted: self.emitted() }
    }

    /// Notes what came of a call to which so many packets were handed and that returned so many, beside those that it emitted.
    pub(crate) fn note(&self, ledger: &Ledger, before: &Before, arrived: u64, returned: u64) {
        let more = self.existing() - before.existing;
        ledger.note(
            arrived,
            returned + self.emitted() - before.emitted,
            more,
            self.dropped() - before.dropped,
        );
    }

    fn existing(&self) -> i64 {
        self.pool.drawn().wrapping_sub(packet::strays() as i64)
    }

    fn dropped(&self) -> u64 {
        self.drops[self.here as usize].iter().map(|(_, packets)| packets).sum()
    }

    /// Packets in the work items that the running element has made.
    fn emitted(&self) -> u64 {
        self.first.iter().chain(&self.list[self.base..]).map(Work::packets).sum()
    }
}
