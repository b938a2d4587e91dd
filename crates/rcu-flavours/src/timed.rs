//! Grace periods by the clock (Venkatesh, "Read-Copy Update Framework for Userlevel Click", §4.1.2).
//!
//! The thesis argues that a look-up takes a microsecond at most, so what was retired an interval ago is no longer in
//! use. Time is divided into intervals (of 500 ms there), and each reclaims what was retired before the one that just
//! ended.
//!
//! *Grace period:* if every section lasts less than an interval, a section that found X before X was retired is over
//! one interval later, and X is not freed until a whole interval has passed since then. This is a statement about
//! clocks, and the condition cannot be guaranteed on a machine that may take a thread's core away: hence an `unsafe`
//! constructor. Nor does anything in the language's memory model order a section's reads before the reclamation.
//!
//! *Publication:* acquire and release of the structure's own links.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    flavour::{Flavour, Thread},
    garbage::Garbage,
    generations::Generations,
};

/// Reclaims by the clock, whether a thread still reads or not. For benchmarks.
#[derive(Clone, Debug)]
pub struct Timed {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    ticked: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many intervals are over.
    ticks: u64,
    garbage: Generations,
}

impl Timed {
    /// The thesis' interval.
    pub const INTERVAL: Duration = Duration::from_millis(500);

    /// A new instance with a thread that keeps the time. The thread ends with the instance.
    ///
    /// # Safety
    /// Every section lasts less than `interval`, or using what it found after it was reclaimed is harmless.
    pub unsafe fn every(interval: Duration) -> Self {
        // SAFETY: passed on to the caller.
        let this = unsafe { Self::by_hand() };
        let shared = Arc::downgrade(&this.shared);
        std::thread::spawn(move || {
            while let Some(shared) = shared.upgrade() {
                shared.tick();
                drop(shared);
                std::thread::sleep(interval);
            }
        });
        this
    }

    /// A new instance whose intervals are over when a thread calls [`tick`](Self::tick).
    ///
    /// # Safety
    /// No section begins before a tick and ends after the next, or using what it found after it was reclaimed is harmless.
    pub unsafe fn by_hand() -> Self {
        Self { shared: Arc::default() }
    }

    /// Ends an interval: reclaims what was retired before it began.
    pub fn tick(&self) {
        self.shared.tick();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut state = self.lock();
        state.ticks += 1;
        let ticks = state.ticks;
        let ready = state.garbage.take(ticks);
        drop(state);
        drop(ready);
        self.ticked.notify_all();
    }
}

// SAFETY: the caller that made the instance promised that sections are short.
unsafe impl Flavour for Timed {
    const NAME: &'static str = "timed";
    type Thread = TimedThread;

    fn register(&self) -> TimedThread {
        TimedThread { instance: self.clone() }
    }
}

/// A thread's handle of [`Timed`].
#[derive(Debug)]
pub struct TimedThread {
    instance: Timed,
}

impl TimedThread {
    /// Waits for so many ticks.
    fn wait(&self, ticks: u64) {
        let shared = &self.instance.shared;
        let mut state = shared.lock();
        let until = state.ticks + ticks;
        while state.ticks < until {
            state = shared.ticked.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

// SAFETY: as for `Timed`.
unsafe impl Thread for TimedThread {
    type Read<'a> = ();
    type Update<'a> = ();

    #[inline]
    fn read(&mut self) {}

    #[inline]
    fn update(&mut self) {}

    fn synchronize(&mut self) {
        self.wait(2);
    }

    fn retire(&mut self, garbage: Garbage) {
        let mut state = self.instance.shared.lock();
        let ticks = state.ticks;
        state.garbage.push(ticks, garbage);
    }

    /// Three: the third begins when what the second found ready has been dropped.
    fn barrier(&mut self) {
        self.wait(3);
    }
}
