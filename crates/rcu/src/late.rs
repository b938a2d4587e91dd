//! Readers that are late: asked to hurry, then named.
//!
//! Nothing here orders memory accesses: asking is advice, and naming is for people. A kernel whose readers cannot
//! be preempted may force a quiescent state, by running something else on the reader's processor. In user space
//! that does not work: a preempted reader still holds its references.

use std::{
    sync::{PoisonError, atomic::Ordering},
    time::Duration,
};

use crate::{
    callbacks::survives,
    period::{Period, Token},
    shared::{Shared, nanos},
    slot::{OFFLINE, Slot},
    stats::{Stall, thread_id},
};

/// Late readers are asked to hurry when a grace period is this old.
const ASK_AFTER: Duration = Duration::from_millis(1);

impl Shared {
    /// Asks late readers to hurry, and reports those that are later than the stall limit.
    pub(crate) fn urge(&self, period: Period) {
        let age = self.now().saturating_sub(period.since);
        if age > nanos(ASK_AFTER) || self.budget.is_tight() {
            self.late(period.token).for_each(|slot| self.ask(slot));
        }
        if age > self.stall_limit() {
            self.late(period.token).for_each(|slot| self.report_stall(slot, age));
        }
    }

    /// Asks one reader to hurry. Looks first, so that asking again costs the reader no cache miss.
    fn ask(&self, slot: &Slot) {
        if !slot.asked.load(Ordering::Relaxed) && !slot.asked.swap(true, Ordering::Relaxed) {
            self.metrics.forced.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn report_stall(&self, slot: &Slot, age: u64) {
        let seen = slot.seen.load(Ordering::Relaxed);
        if seen == OFFLINE || slot.reported.swap(seen, Ordering::Relaxed) == seen {
            return;
        }
        self.metrics.stalls.fetch_add(1, Ordering::Relaxed);
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let stall = Stall { reader: slot.name(), waited: Duration::from_nanos(age) };
        // Whichever thread this is, the reclaimer's perhaps, it goes on.
        if cfg!(rcu_mutant = "hook_unguarded") {
            return hook(&stall);
        }
        if !survives(|| hook(&stall)) {
            self.metrics.count_callbacks(0, 1);
        }
    }

    /// A wait that cannot end is a bug of the caller; say so instead of hanging.
    pub(crate) fn check_not_waiting_for_myself(&self, period: Period) {
        if self.now().saturating_sub(period.since) <= self.stall_limit() {
            return;
        }
        let me = thread_id();
        let mine = self.late(period.token).find(|slot| slot.owner.load(Ordering::Relaxed) == me);
        if let Some(slot) = mine {
            panic!("this thread waits for a grace period while its own {} is online", slot.name());
        }
    }

    /// The readers that `token`'s grace period still waits for.
    fn late(&self, token: Token) -> impl Iterator<Item = &Slot> {
        let epoch = token.epoch();
        self.readers.live().filter(move |slot| (1..epoch).contains(&slot.seen.load(Ordering::Relaxed)))
    }

    /// Reports the readers that the oldest unfinished grace period has awaited beyond the stall limit, for the
    /// case that no thread waits for it.
    pub(crate) fn report_stalls(&self, over: u64) {
        if let Some((token, age)) = self.stalled_period(over) {
            self.late(token).for_each(|slot| self.report_stall(slot, age));
        }
    }

    /// The readers that [`report_stalls`](Self::report_stalls) has named and that are still late.
    pub(crate) fn stalled(&self, over: u64) -> Vec<Stall> {
        let Some((token, age)) = self.stalled_period(over) else { return Vec::new() };
        let waited = Duration::from_nanos(age);
        self.late(token).map(|slot| Stall { reader: slot.name(), waited }).collect()
    }

    /// The oldest unfinished grace period and its age in nanoseconds, if that is beyond the stall limit.
    fn stalled_period(&self, over: u64) -> Option<(Token, u64)> {
        let epoch = over + 1;
        let age = self.starts.age(epoch, self.now())?;
        let stalled = epoch <= self.epoch.load(Ordering::Relaxed) && age > self.stall_limit();
        stalled.then(|| (Token::of(epoch), age))
    }

    fn stall_limit(&self) -> u64 {
        self.stall_limit.load(Ordering::Relaxed)
    }
}
