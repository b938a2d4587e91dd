//! Callbacks that may block: a few threads of their own.
//!
//! The reclaimer hands such a callback over by pushing it onto a list. That never waits, however many callbacks
//! are stuck, so a full pool delays nobody else. The list needs no bound of its own, because a callback stays
//! charged to the domain's limit until it has run. Threads are started when there is something to run and end when
//! there is not: for a callback that may block for milliseconds, starting a thread costs little.

use std::{collections::VecDeque, sync::PoisonError};

use crate::{
    grace::Shared,
    queue::Deferred,
    sync::{Backoff, Mutex, MutexGuard},
};

/// The callbacks whose grace period is over and that may block.
pub(crate) struct Pool {
    jobs: Mutex<Jobs>,
    /// How many threads there may be.
    #[cfg_attr(loom, expect(dead_code, reason = "a model starts no threads behind its back"))]
    threads_max: usize,
}

/// A callback with its number; numbers grow in the order of handing over.
struct Job {
    number: u64,
    callback: Deferred,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// The numbers of those that run.
    running: Vec<u64>,
    /// How many were ever handed over.
    count: u64,
    #[cfg_attr(loom, expect(dead_code, reason = "as above"))]
    threads: usize,
}

impl Jobs {
    /// Whether a job before number `end` waits or runs.
    fn unfinished(&self, end: u64) -> bool {
        let waiting = self.waiting.front().is_some_and(|job| job.number < end);
        waiting || self.running.iter().any(|number| *number < end)
    }
}

impl Pool {
    pub(crate) fn new(threads_max: usize) -> Self {
        Self { jobs: Mutex::new(Jobs::default()), threads_max: threads_max.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        // Callbacks run without the lock, so whoever panicked with it left the list whole.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a callback over. It runs once [`staff`] sees to it, or in a barrier.
    pub(crate) fn push(&self, callback: Deferred) {
        let mut jobs = self.lock();
        let number = jobs.count;
        jobs.count += 1;
        jobs.waiting.push_back(Job { number, callback });
    }

    /// The next job numbered below `end`, which then counts as running.
    fn take(&self, end: u64) -> Option<Job> {
        let mut jobs = self.lock();
        let job = jobs.waiting.pop_front_if(|job| job.number < end)?;
        jobs.running.push(job.number);
        Some(job)
    }

    fn finished(&self, number: u64) {
        self.lock().running.retain(|running| *running != number);
    }

    /// How many callbacks wait for a thread or run.
    pub(crate) fn len(&self) -> usize {
        let jobs = self.lock();
        jobs.waiting.len() + jobs.running.len()
    }
}

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
#[cfg(not(loom))]
pub(crate) fn staff(shared: &crate::sync::Arc<Shared>) {
    let pool = &shared.pool;
    loop {
        let mut jobs = pool.lock();
        if jobs.threads >= pool.threads_max.min(jobs.waiting.len() + jobs.running.len()) {
            return;
        }
        jobs.threads += 1;
        drop(jobs);
        let theirs = shared.clone();
        let thread = std::thread::Builder::new().name("rcu-blocking".into());
        if thread.spawn(move || serve(&theirs)).is_err() {
            pool.lock().threads -= 1;
            return;
        }
    }
}

/// Runs jobs until there is none.
#[cfg(not(loom))]
fn serve(shared: &Shared) {
    loop {
        while let Some(job) = shared.pool.take(u64::MAX) {
            shared.run_job(job);
        }
        let mut jobs = shared.pool.lock();
        // Leaving and being needed are decided under one lock, so no job is left without a thread.
        if jobs.waiting.is_empty() {
            jobs.threads -= 1;
            return;
        }
    }
}
