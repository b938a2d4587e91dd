//! Which aggregates are over: what elements that number flows tell those that listen (NOTIFIER).

use crossbeam_queue::ArrayQueue;
use router::Cx;
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers that wait for a listener, at most; beyond that the oldest are forgotten.
const WAITING_MAX: usize = 1 << 16;

/// The shared part of an element that numbers flows. It is told of each flow's end, not of packets.
#[derive(Default)]
pub(crate) struct Notifier {
    listeners: Mutex<Vec<Over>>,
}

/// Aggregates that are over, for one listener.
#[derive(Clone)]
pub(crate) struct Over(Arc<ArrayQueue<u32>>);

impl Notifier {
    /// The notifier that a listener's argument names.
    ///
    /// # Errors
    /// It is none, in Click's words.
    pub(crate) fn named(cx: &Cx<'_>, name: &str) -> Result<Arc<Notifier>, String> {
        cx.shared_of(name, "notifier").map_err(|_| format!("{name} is not an AggregateNotifier"))
    }

    /// One more listener.
    pub(crate) fn listen(&self) -> Over {
        let over = Over(Arc::new(ArrayQueue::new(WAITING_MAX)));
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(over.clone());
        over
    }

    /// Tells all listeners that an aggregate is over.
    pub(crate) fn over(&self, aggregate: u32) {
        for listener in self.listeners.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            listener.0.force_push(aggregate);
        }
    }
}

impl Over {
    /// The aggregates that are over, since the last time.
    pub(crate) fn take(&self) -> impl Iterator<Item = u32> + '_ {
        std::iter::from_fn(|| self.0.pop())
    }
}
