//! What structures keep for themselves until a grace period is over.

use std::{
    ptr::NonNull,
    sync::{Mutex as StdMutex, PoisonError},
};

use crate::{
    period::Period,
    registry::Entry,
    shared::Shared,
    sync::{Arc, Ordering},
};

/// Memory that waits for grace periods in the caller's hands, by [`Domain::start`](crate::Domain::start) and
/// [`Domain::poll`](crate::Domain::poll), so that the domain's figures and its limit know of it.
///
/// Each structure has an account and tells it after each change how much waits. Whether to refuse a change is the
/// structure's own decision: [`has_room`](Self::has_room).
///
/// ```
/// let domain = rcu::Domain::global();
/// let blocks = domain.account("blocks");
/// let reader = domain.register("reader");
/// reader.turn();
/// assert!(blocks.has_room());
/// let token = domain.start();
/// blocks.set(4096); // unlinked, and to be used again when the grace period is over
/// assert!(domain.stats().bytes_waiting >= 4096);
/// drop(reader);
/// assert!(domain.poll(token));
/// blocks.set(0);
/// ```
pub struct Account {
    shared: Arc<Shared>,
    entry: NonNull<Entry<Held>>,
}

// SAFETY: a shared domain, and an entry that has no owner but this one, whichever thread it is used from.
unsafe impl Send for Account {}
// SAFETY: as above; what is done by a shared reference is done under the entry's lock.
unsafe impl Sync for Account {}

/// What waits in one account.
#[derive(Default)]
pub(crate) struct Held(StdMutex<Sum>);

#[derive(Clone, Copy, Default)]
struct Sum {
    bytes: usize,
    /// Nothing waits any more when this grace period is over.
    until: u64,
    name: &'static str,
}

impl Account {
    pub(crate) fn new(shared: Arc<Shared>, name: &'static str) -> Self {
        let entry = shared.accounts.claim();
        let account = Self { shared, entry };
        account.held().change(|sum| sum.name = name);
        account
    }

    fn held(&self) -> &Held {
        // SAFETY: entries live as long as their registry, which `shared` keeps alive.
        unsafe { self.entry.as_ref() }.value()
    }

    /// Says how many bytes wait. The domain may forget them again once a grace period that starts after this call is over.
    pub fn set(&self, bytes: usize) {
        // The next grace period to start. For figures: what may be used again is decided by the caller's own token.
        let until = self.shared.epoch.load(Ordering::Relaxed) + 1;
        let before = self.held().change(|sum| (sum.bytes, sum.until) = (bytes, until)).bytes;
        if bytes > before {
            self.shared.budget.take_anyway(bytes - before);
        } else {
            self.shared.budget.refund(before - bytes);
        }
    }

    /// False if more than the domain's limit waits; then a change that lets still more wait is better refused.
    pub fn has_room(&self) -> bool {
        !self.shared.is_over_limit() || {
            // What waits may be other accounts', for a grace period that no thread has started or looked at.
            self.shared.look_at_accounts(self.shared.now());
            !self.shared.is_over_limit()
        }
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.set(0);
        // SAFETY: claimed in `new`, released here only.
        unsafe { self.shared.accounts.release(self.entry) };
    }
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Account").field("bytes", &self.held().change(|_| ()).bytes).finish()
    }
}

impl Held {
    /// Changes the sum; returns what it was.
    fn change(&self, change: impl FnOnce(&mut Sum)) -> Sum {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *sum;
        change(&mut sum);
        before
    }
}

impl Shared {
    /// Forgets what waited in accounts and does not any more, though its owner has not looked since.
    pub(crate) fn settle_accounts(&self) {
        let over = self.over.load(Ordering::Relaxed);
        for held in self.accounts.iter() {
            let before = held.change(|sum| {
                if sum.until <= over {
                    sum.bytes = 0;
                }
            });
            if before.until <= over {
                self.budget.refund(before.bytes);
            }
        }
    }

    /// What waits in accounts, by their names.
    pub(crate) fn accounts(&self) -> Vec<(&'static str, usize)> {
        let mut sums: Vec<(&'static str, usize)> = Vec::new();
        for Sum { bytes, name, .. } in self.accounts.iter().map(|held| held.change(|_| ())) {
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += bytes,
                None => sums.push((name, bytes)),
            }
        }
        sums.retain(|(name, _)| !name.is_empty());
        sums.sort_unstable();
        sums
    }

    /// Starts a grace period if something waits in an account for one that no thread has started, and settles accounts. Has
    /// readers hurry that are late for a thread that has waited since then.
    pub(crate) fn look_at_accounts(&self, since: u64) {
        let epoch = self.epoch.load(Ordering::Relaxed);
        let mut sums = self.accounts.iter().map(|held| held.change(|_| ())).filter(|sum| sum.bytes > 0);
        let Some(first) = sums.next() else { return };
        if first.until > epoch || sums.any(|sum| sum.until > epoch) {
            self.start();
        }
        let period = Period { since, ..self.latest() };
        if !self.poll(period.token) {
            self.urge(period);
        }
        self.settle_accounts();
    }

    /// Whether more waits than may; what is taken in advance counts, as where room is taken.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.budget.is_over() && {
            self.settle_accounts();
            self.budget.is_over() && !self.budget.is_idle(self.taken_in_advance())
        }
    }
}
