//! The reclaimers and their queues, and the pool for callbacks that may block.

use std::sync::PoisonError;

use super::Shared;
use crate::{
    garbage::Garbage,
    generations::Generations,
    sync::{Condvar, Mutex, MutexGuard, Ordering},
};

/// The callbacks of one processor.
#[derive(Default)]
pub(super) struct Processor {
    queues: Mutex<Queues>,
    /// There is something to do for the reclaimer.
    filled: Condvar,
}

#[derive(Default)]
struct Queues {
    plain: Generations,
    blocking: Generations,
    #[cfg_attr(loom, expect(dead_code, reason = "a model has no threads to stop"))]
    stopped: bool,
}

impl Processor {
    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, boundary: u64, garbage: Garbage, blocking: bool) {
        let mut queues = self.queues();
        let idle = queues.plain.is_empty() && queues.blocking.is_empty();
        let queue = if blocking { &mut queues.blocking } else { &mut queues.plain };
        queue.push(boundary, garbage);
        drop(queues);
        if idle {
            self.filled.notify_one();
        }
    }

    pub(super) fn stop(&self) {
        #[cfg(not(loom))]
        {
            self.queues().stopped = true;
            self.filled.notify_all();
        }
    }
}

impl Shared {
    /// Runs what has waited for two boundaries on one processor: plain callbacks here, the others in the pool.
    fn reclaim(&self, processor: &Processor, offload: impl Fn(Garbage)) {
        // Acquire: rule 1.
        let boundary = self.boundary.load(Ordering::Acquire);
        let mut queues = processor.queues();
        let (plain, blocking) = (queues.plain.take(boundary), queues.blocking.take(boundary));
        drop(queues);
        // The pool first: handing over does not wait, and what runs there does not hold up what runs here.
        blocking.into_iter().for_each(offload);
        plain.into_iter().for_each(|garbage| self.run(garbage));
    }

    fn run(&self, garbage: Garbage) {
        let bytes = garbage.bytes();
        // A callback that panics is counted as run; the others must not wait for ever because of it.
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(garbage)));
        self.bytes_waiting.fetch_sub(bytes, Ordering::Relaxed);
        if cfg!(loom) {
            // A race that a model has found.
            outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }

    /// What the threads do, once; callbacks that may block run here as well.
    pub(super) fn work(&self) {
        self.detect();
        self.processors.iter().for_each(|processor| self.reclaim(processor, |garbage| self.run(garbage)));
    }
}

/// Threads for callbacks that may block: as many as there are callbacks, up to a limit.
#[derive(Default)]
pub(super) struct Pool {
    #[cfg(not(loom))]
    jobs: Mutex<Jobs>,
    #[cfg(not(loom))]
    idle: Condvar,
}

#[cfg(not(loom))]
#[derive(Default)]
struct Jobs {
    waiting: std::collections::VecDeque<Garbage>,
    /// Each runs a callback, or is about to look for one.
    threads: usize,
}

#[cfg(loom)]
impl Pool {
    pub(super) fn wait_until_idle(&self) {}
}

#[cfg(not(loom))]
mod threads {
    use super::*;
    use crate::sync::Arc;

    impl Pool {
        fn jobs(&self) -> MutexGuard<'_, Jobs> {
            self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
        }

        pub(in super::super) fn wait_until_idle(&self) {
            let mut jobs = self.jobs();
            while jobs.threads > 0 || !jobs.waiting.is_empty() {
                jobs = self.idle.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    impl Shared {
        pub(in super::super) fn start_threads(self: &Arc<Self>) {
            if !self.config.background {
                return;
            }
            let detector = self.clone();
            spawn("rcu-detector", move || detector.run_detector());
            for processor in 0..self.processors.len() {
                let shared = self.clone();
                spawn("rcu-reclaimer", move || shared.run_reclaimer(&shared.processors[processor]));
            }
        }

        /// Hands a callback to the pool. The pool's list is not bounded by itself, since what waits is charged: so
        /// handing over never fails, and a pool whose callbacks are stuck holds up no other thread.
        fn offload(self: &Arc<Self>, garbage: Garbage) {
            let mut jobs = self.pool.jobs();
            jobs.waiting.push_back(garbage);
            if jobs.threads >= self.config.pool_threads.max(1) {
                return;
            }
            let shared = self.clone();
            // Should the system refuse, the next callback tries again.
            if try_spawn("rcu-blocking", move || shared.run_pool_thread()).is_ok() {
                jobs.threads += 1;
            }
        }

        fn run_pool_thread(&self) {
            loop {
                let mut jobs = self.pool.jobs();
                let Some(garbage) = jobs.waiting.pop_front() else {
                    jobs.threads -= 1;
                    self.pool.idle.notify_all();
                    return;
                };
                drop(jobs);
                self.run(garbage);
            }
        }

        /// The reclaimer's thread.
        fn run_reclaimer(self: &Arc<Self>, processor: &Processor) {
            loop {
                let mut queues = processor.queues();
                while queues.plain.is_empty() && queues.blocking.is_empty() && !queues.stopped {
                    queues = processor.filled.wait(queues).unwrap_or_else(PoisonError::into_inner);
                }
                if queues.stopped {
                    // No reader is left: what waits is reclaimed when it is dropped with the instance.
                    return;
                }
                drop(queues);
                self.wait_for_boundary(self.boundary.load(Ordering::Relaxed) + 1);
                self.reclaim(processor, |garbage| self.offload(garbage));
            }
        }
    }

    fn spawn(name: &str, body: impl FnOnce() + Send + 'static) {
        try_spawn(name, body).expect("the system has room for a thread per core");
    }

    fn try_spawn(name: &str, body: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
        std::thread::Builder::new().name(name.into()).spawn(body).map(drop)
    }
}
