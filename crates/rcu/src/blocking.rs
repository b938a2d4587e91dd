//! Callbacks that may block: a few threads of their own.
//!
//! The reclaimer hands such a callback over by pushing it onto a list. That never waits, however many callbacks
//! are stuck, so a full pool delays no other thread. The list needs no bound of its own, because a callback stays
//! charged to the domain's limit until it has run. Threads are started when there is something to run and end when
//! there is not: for a callback that may block for milliseconds, starting a thread costs little.

use crate::{
    pool::Job,
    shared::Shared,
    sync::{Arc, Backoff, thread},
};

impl Shared {
    fn run_job(&self, job: Job) {
        self.run_blocking(job.callback);
        self.pool.finished(job.number);
    }

    /// Returns when everything handed over before the call has run; helps with what no thread has taken.
    pub(crate) fn drain_pool(&self) {
        let end = self.pool.lock().count;
        while let Some(job) = self.pool.take(end) {
            self.run_job(job);
        }
        let mut backoff = Backoff::default();
        while self.pool.lock().unfinished(end) {
            backoff.snooze();
        }
    }
}

/// Sees to it that what is in the pool gets run: starts threads, up to the limit.
///
/// Should the system refuse a thread, those that run already go on; if there is none, the next call tries again,
/// and barriers run the callbacks themselves.
pub(crate) fn staff(shared: &Arc<Shared>) {
    let pool = &shared.pool;
    loop {
        let mut jobs = pool.lock();
        if jobs.threads >= pool.threads_max.min(jobs.waiting.len() + jobs.running.len()) {
            return;
        }
        jobs.threads += 1;
        drop(jobs);
        let theirs = shared.clone();
        let thread = thread::Builder::new().name("rcu-blocking".into());
        if thread.spawn(move || serve(&theirs)).is_err() {
            pool.lock().threads -= 1;
            return;
        }
    }
}

/// Runs jobs until there is none.
fn serve(shared: &Shared) {
    loop {
        while let Some(job) = shared.pool.take(u64::MAX) {
            shared.run_job(job);
        }
        let mut jobs = shared.pool.lock();
        // Leaving and being needed are decided under one lock, so no job is left without a thread.
        if jobs.waiting.is_empty() || cfg!(rcu_mutant = "leave_unseen") {
            jobs.threads -= 1;
            return;
        }
    }
}
