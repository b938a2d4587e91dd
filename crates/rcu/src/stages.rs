//! What an updater that reclaims for itself has unlinked, ordered by how far the grace periods are.

use crate::{period::Period, shared::Shared};

/// How many updates share a grace period.
pub(crate) const BATCH: usize = if cfg!(loom) { 1 } else { 256 };

/// Things that go through a grace period in batches.
///
/// *Invariant:* a batch is closed, then its grace period starts, and it is ready when that is over.
pub(crate) struct Stages<E> {
    /// Unlinked since the last grace period of this updater started, oldest first.
    filling: Vec<E>,
    /// What waits for that grace period.
    waiting: Vec<E>,
    period: Option<Period>,
    /// What no thread holds any more, oldest last, if it is used up before the next becomes ready.
    pub(crate) ready: Vec<E>,
}

impl<E> Stages<E> {
    pub(crate) fn new() -> Self {
        Self { filling: Vec::new(), waiting: Vec::new(), period: None, ready: Vec::new() }
    }

    /// Adds something that has just been unlinked. True if that makes a batch complete.
    #[inline]
    pub(crate) fn push(&mut self, new: E) -> bool {
        self.filling.push(new);
        self.filling.len().is_multiple_of(BATCH)
    }

    /// Makes ready what waited, if its grace period is over, and starts the next; never waits. True if one is under way
    /// then.
    pub(crate) fn advance(&mut self, shared: &Shared) -> bool {
        if let Some(period) = self.period {
            if !cfg!(rcu_mutant = "local_wait") && !shared.poll(period.token) {
                shared.urge(period);
                return true;
            }
            self.period = None;
            if self.ready.is_empty() {
                std::mem::swap(&mut self.waiting, &mut self.ready);
                self.ready.reverse();
            } else {
                self.ready.append(&mut self.waiting);
            }
        }
        if !self.filling.is_empty() {
            std::mem::swap(&mut self.filling, &mut self.waiting);
            self.period = Some(shared.begin());
        }
        self.period.is_some()
    }

    /// Waits for the grace period under way.
    pub(crate) fn wait(&self, shared: &Shared) {
        if let Some(period) = self.period {
            shared.wait_for(period);
        }
    }

    /// True if nothing has been added since the last grace period started.
    pub(crate) fn is_fresh(&self) -> bool {
        self.filling.is_empty()
    }

    /// How many are not ready.
    pub(crate) fn waiting(&self) -> usize {
        self.filling.len() + self.waiting.len()
    }

    /// Takes everything out, oldest first.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = E> {
        self.period = None;
        let ready = std::mem::take(&mut self.ready).into_iter().rev();
        ready.chain(std::mem::take(&mut self.waiting)).chain(std::mem::take(&mut self.filling))
    }
}
