//! Grace periods: how they begin and how their end is noticed. The crate's documentation has the proof.

use std::time::Duration;

use crate::{
    period::{Period, Token},
    shared::{Shared, nanos},
    slot::OFFLINE,
    stats::Stats,
    sync::{Backoff, Ordering, fence, ordering, protect},
};

impl Shared {
    /// Starts a grace period for everything unlinked so far by this thread, or before it in happens-before.
    pub(crate) fn start(&self) -> Token {
        self.begin().token
    }

    /// [`start`](Self::start), noting the time.
    pub(crate) fn begin(&self) -> Period {
        // What was unlinked comes before the scans for this epoch, in the eyes of a reader that is coming
        // online (rule 3). Every scan that counts acquires the epoch, so the fence is before it.
        protect!("start_fence", fence(Ordering::SeqCst));
        // Release: a reader that acquires this epoch, or a later one, sees what was unlinked (rule 2). Being a
        // read-modify-write it prolongs the release sequences of earlier epochs. The fence alone would do as a
        // release, too; but scans by other threads are to come after what the fence has met (rule 3), and not
        // every reading of the memory model, loom's for one, has a fence pass that on.
        let epoch = self.epoch.fetch_add(1, ordering!("start_release", Release)) + 1;
        let since = self.now();
        self.starts.note(epoch, since);
        Period { token: Token::of(epoch), since }
    }

    /// The next grace period that any thread starts, for everything unlinked so far by this thread.
    ///
    /// The thread that starts it knows nothing of what this thread unlinked. But the write below, though it changes
    /// nothing, stands before the start in the order of the epoch's writes, and being a read-modify-write the
    /// start prolongs its release sequence: a scan that acquires the epoch comes after the fence here (rule 3),
    /// and a reader that acquires it finds what was unlinked here (rule 2), as if this thread had started it.
    fn join(&self) -> Token {
        protect!("join_fence", fence(Ordering::SeqCst));
        if cfg!(rcu_mutant = "join_write") {
            return Token::of(self.epoch.load(Ordering::Relaxed) + 1);
        }
        Token::of(self.epoch.fetch_add(0, Ordering::Release) + 1)
    }

    /// Starts the grace period that was joined, unless another thread has.
    fn begin_joined(&self, token: Token) {
        let epoch = token.epoch();
        // The fence in `join` stands for the one in `begin`.
        let started = self.epoch.compare_exchange(epoch - 1, epoch, Ordering::Release, Ordering::Relaxed);
        if started.is_ok() {
            self.starts.note(epoch, self.now());
        }
    }

    pub(crate) fn synchronize_shared(&self, max_wait: Duration) {
        let token = self.join();
        let since = self.now();
        let mut backoff = Backoff::default();
        while self.epoch.load(Ordering::Relaxed) < token.epoch()
            && self.now().saturating_sub(since) < nanos(max_wait)
        {
            backoff.snooze();
        }
        self.begin_joined(token);
        self.wait(token);
    }

    /// The newest grace period that began, as one to wait for from now on.
    pub(crate) fn latest(&self) -> Period {
        Period { token: Token::of(self.epoch.load(Ordering::Relaxed)), since: self.now() }
    }

    pub(crate) fn poll(&self, token: Token) -> bool {
        let epoch = token.epoch() - u64::from(cfg!(rcu_mutant = "one_step_early"));
        // Acquire: the caller that acts on the end of a grace period comes after the turns that it waited for.
        self.over.load(ordering!("over_acquire", Acquire)) >= epoch || self.scan() >= epoch
    }

    /// Looks at every reader. Returns the newest epoch that is now known to be over.
    fn scan(&self) -> u64 {
        // The start of every epoch up to this one comes before the looks below.
        let begun = self.epoch.load(ordering!("scan_epoch_acquire", Acquire));
        let slots = self.readers.live();
        // Acquire: the turns that these announcements ended are over (rule 1).
        let seen = slots.map(|slot| slot.seen.load(ordering!("scan_acquire", Acquire)));
        let online = seen.filter(|seen| *seen != OFFLINE && !cfg!(rcu_mutant = "ignore_readers"));
        let oldest = online.fold(begun, u64::min);
        // Release passes on what was acquired to those who only read `over`.
        let before = self.over.fetch_max(oldest, ordering!("over_release", AcqRel));
        self.count_periods(before, oldest);
        before.max(oldest)
    }

    /// Counts the grace periods in `before + 1 ..= after`, as far as their start is remembered.
    fn count_periods(&self, before: u64, after: u64) {
        if after <= before {
            return;
        }
        let now = self.now();
        let remembered = after.saturating_sub(63).max(before + 1);
        (remembered..=after)
            .filter_map(|epoch| self.starts.age(epoch, now))
            .for_each(|ns| self.metrics.count_period(ns));
    }

    pub(crate) fn wait(&self, token: Token) {
        self.wait_for(Period { token, since: self.now() });
    }

    /// Waits for so long at most; says whether the grace period is over.
    pub(crate) fn wait_up_to(&self, token: Token, timeout: Duration) -> bool {
        let period = Period { token, since: self.now() };
        let mut backoff = Backoff::default();
        while !self.poll(token) {
            if self.now().saturating_sub(period.since) >= nanos(timeout) {
                return false;
            }
            self.urge(period);
            self.check_not_waiting_for_myself(period);
            backoff.snooze();
        }
        true
    }

    pub(crate) fn wait_for(&self, period: Period) {
        let mut backoff = Backoff::default();
        while !self.poll(period.token) {
            self.urge(period);
            self.check_not_waiting_for_myself(period);
            backoff.snooze();
        }
    }

    pub(crate) fn stats(&self) -> Stats {
        self.look_at_accounts(self.now());
        let over = self.scan();
        self.report_stalls(over);
        let readers = self.readers.live().filter(|slot| slot.seen.load(Ordering::Relaxed) != OFFLINE).count();
        Stats {
            grace_periods: over - 1,
            callbacks_waiting: self.callbacks_waiting(),
            bytes_waiting: self.bytes_waiting(),
            accounts: self.accounts(),
            bytes_limit: self.budget.limit.load(Ordering::Relaxed),
            callbacks_run: self.metrics.callbacks_run.load(Ordering::Relaxed),
            callbacks_panicked: self.metrics.callbacks_panicked.load(Ordering::Relaxed),
            callbacks_refused: self.budget.refused.load(Ordering::Relaxed),
            readers,
            blocking_waiting: self.pool.len(),
            quiescences_forced: self.metrics.forced.load(Ordering::Relaxed),
            stalls: self.metrics.stalls.load(Ordering::Relaxed),
            stalled: self.stalled(over),
            latency: self.metrics.latency(),
        }
    }

    fn callbacks_waiting(&self) -> usize {
        let queued: usize =
            self.queues.live().map(|queue| queue.len() + queue.held.load(Ordering::Relaxed)).sum();
        queued + self.budget.callbacks.load(Ordering::Relaxed)
    }

    fn bytes_waiting(&self) -> usize {
        self.budget.bytes.load(Ordering::Relaxed).saturating_sub(self.taken_in_advance())
    }
}
