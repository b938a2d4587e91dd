//! Callbacks whose grace period is over and that may block, in the order of handing over.

use std::{collections::VecDeque, sync::PoisonError};

use crate::{
    queue::Deferred,
    sync::{Mutex, MutexGuard},
};

/// The callbacks whose grace period is over and that may block.
pub(crate) struct Pool {
    jobs: Mutex<Jobs>,
    /// How many threads there may be.
    pub(crate) threads_max: usize,
}

/// A callback with its number; numbers grow in the order of handing over.
pub(crate) struct Job {
    pub(crate) number: u64,
    pub(crate) callback: Deferred,
}

#[derive(Default)]
pub(crate) struct Jobs {
    pub(crate) waiting: VecDeque<Job>,
    /// The numbers of those that run.
    pub(crate) running: Vec<u64>,
    /// How many were ever handed over.
    pub(crate) count: u64,
    pub(crate) threads: usize,
}

impl Jobs {
    /// Whether a job before number `end` waits or runs.
    pub(crate) fn unfinished(&self, end: u64) -> bool {
        let waiting = self.waiting.front().is_some_and(|job| job.number < end);
        waiting || self.running.iter().any(|number| *number < end)
    }
}

impl Pool {
    pub(crate) fn new(threads_max: usize) -> Self {
        Self { jobs: Mutex::new(Jobs::default()), threads_max: threads_max.max(1) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Jobs> {
        // Callbacks run without the lock, so a thread that panicked with it left the list whole.
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a callback over. It runs once [`staff`](crate::blocking::staff) sees to it, or in a barrier.
    pub(crate) fn push(&self, callback: Deferred) {
        let mut jobs = self.lock();
        let number = jobs.count;
        jobs.count += 1;
        jobs.waiting.push_back(Job { number, callback });
    }

    /// The next job numbered below `end`, which then counts as running.
    pub(crate) fn take(&self, end: u64) -> Option<Job> {
        let mut jobs = self.lock();
        let job = jobs.waiting.pop_front_if(|job| job.number < end)?;
        jobs.running.push(job.number);
        Some(job)
    }

    pub(crate) fn finished(&self, number: u64) {
        self.lock().running.retain(|running| *running != number);
    }

    /// How many callbacks wait for a thread or run.
    pub(crate) fn len(&self) -> usize {
        let jobs = self.lock();
        jobs.waiting.len() + jobs.running.len()
    }
}
