//! Callbacks are run and accounted for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{queue::Deferred, shared::Shared, sync::Ordering};

/// Says that this thread runs callbacks of a domain, while it exists.
pub(crate) struct Inside;

#[cfg(not(loom))]
thread_local! {
    /// The domains whose callbacks this thread runs, by address; hardly ever more than one.
    static INSIDE: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(not(loom))]
impl Inside {
    pub(crate) fn callbacks_of(shared: &Shared) -> Self {
        let _ = INSIDE.try_with(|inside| inside.borrow_mut().push(std::ptr::from_ref(shared).addr()));
        Self
    }

    pub(crate) fn is_in(shared: &Shared) -> bool {
        let address = std::ptr::from_ref(shared).addr();
        INSIDE.try_with(|inside| inside.borrow().contains(&address)).unwrap_or(false)
    }
}

#[cfg(not(loom))]
impl Drop for Inside {
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.borrow_mut().pop());
    }
}

/// The threads of a model share what is thread-local.
#[cfg(loom)]
impl Inside {
    pub(crate) fn callbacks_of(_: &Shared) -> Self {
        Self
    }

    pub(crate) fn is_in(_: &Shared) -> bool {
        false
    }
}

/// Runs code of the program's, whose panic ends nothing else. False if it has panicked.
pub(crate) fn survives(code: impl FnOnce()) -> bool {
    let outcome = catch_unwind(AssertUnwindSafe(code));
    // What was thrown may panic, too, when it is dropped; so it is not.
    outcome.map_err(std::mem::forget).is_ok()
}

/// Callbacks that have run and are still charged for.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) run: usize,
    bytes: usize,
    panicked: u64,
}

impl Tally {
    pub(crate) fn run(&mut self, callback: Deferred) {
        let charge = callback.charge();
        let survived = survives(|| callback.run());
        self.run += 1;
        self.bytes += charge;
        self.panicked += u64::from(!survived);
    }
}

impl Shared {
    /// Runs a callback from the pool.
    pub(crate) fn run_blocking(&self, callback: Deferred) {
        let _inside = Inside::callbacks_of(self);
        let mut tally = Tally::default();
        tally.run(callback);
        self.budget.callbacks.fetch_sub(1, Ordering::Relaxed);
        self.settle(tally);
    }

    /// Gives back the room of callbacks that have run, and counts them.
    pub(crate) fn settle(&self, tally: Tally) {
        self.budget.refund(tally.bytes);
        self.metrics.count_callbacks(tally.run as u64, tally.panicked);
    }
}
