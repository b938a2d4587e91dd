//! The end of a router that lets packets on their way arrive.
//!
//! A source at its end, or a signal, asks for it. Workers then run only tasks that carry packets on, until no worker has any, or until
//! the time for it is over; only then is the driver asked to stop.

use crate::shared::mailbox::Mailbox;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What workers share about it.
pub(crate) struct Ending {
    /// Both are changed together.
    changing: Mutex<()>,
    /// How often the driver is to be asked to stop once packets have arrived.
    stops: AtomicI64,
    /// When it is asked at the latest.
    until_ns: AtomicI64,
    /// How often a worker began to look for packets on their way.
    steps: AtomicU64,
    /// Workers that found none.
    rests: Vec<AtomicBool>,
}

impl Ending {
    pub(crate) fn new(workers: usize) -> Ending {
        Ending {
            changing: Mutex::new(()),
            stops: AtomicI64::new(0),
            until_ns: AtomicI64::new(i64::MAX),
            steps: AtomicU64::new(0),
            rests: (0..workers).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Asks for so many stops, at this time at the latest.
    pub(crate) fn ask(&self, stops: i64, until_ns: i64) {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.until_ns.fetch_min(until_ns, Ordering::Relaxed);
        self.stops.update(Ordering::SeqCst, Ordering::Relaxed, |before| before.saturating_add(stops));
    }

    /// Whether packets on their way are to arrive before the driver stops.
    #[inline]
    pub(crate) fn is_wanted(&self) -> bool {
        self.stops.load(Ordering::Relaxed) > 0
    }

    /// When the driver stops whatever is still on its way.
    pub(crate) fn until_ns(&self) -> i64 {
        self.until_ns.load(Ordering::Relaxed)
    }

    /// A worker looks for packets on their way.
    pub(crate) fn stir(&self, worker: usize) {
        self.rests[worker].store(false, Ordering::SeqCst);
        self.steps.fetch_add(1, Ordering::SeqCst);
    }

    /// A worker has found none.
    pub(crate) fn rest(&self, worker: usize) {
        self.rests[worker].store(true, Ordering::SeqCst);
    }

    /// Whether no worker has packets on their way, nor a message that could bring some.
    pub(crate) fn has_arrived(&self, mailboxes: &[Arc<Mailbox>]) -> bool {
        let before = self.steps.load(Ordering::SeqCst);
        self.rests.iter().all(|rests| rests.load(Ordering::SeqCst))
            && mailboxes.iter().all(|mailbox| mailbox.is_empty())
            // None has begun meanwhile: workers that rested still do, and have sent nothing since.
            && self.steps.load(Ordering::SeqCst) == before
    }

    /// Takes the stops that were asked for: the driver is asked now.
    pub(crate) fn take(&self) -> i64 {
        let _changing = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.until_ns.store(i64::MAX, Ordering::Relaxed);
        self.stops.swap(0, Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::mailbox::Message;

    /// Workers that rest are not enough: a message may bring packets to one of them.
    #[test]
    fn what_lies_in_a_mailbox_has_not_arrived() {
        let mailboxes: Vec<Arc<Mailbox>> = (0..2).map(|_| Arc::default()).collect();
        let ending = Ending::new(2);
        ending.ask(1, 10);
        ending.ask(2, 20);
        assert!(ending.is_wanted() && ending.until_ns() == 10);
        ending.stir(0);
        ending.rest(0);
        assert!(!ending.has_arrived(&mailboxes), "worker 1 has not looked");
        ending.stir(1);
        ending.rest(1);
        mailboxes[0].send(Message::Signal(0));
        assert!(!ending.has_arrived(&mailboxes));
        ending.stir(0);
        mailboxes[0].take();
        assert!(!ending.has_arrived(&mailboxes), "worker 0 is at it");
        ending.rest(0);
        assert!(ending.has_arrived(&mailboxes));
        assert_eq!((ending.take(), ending.is_wanted(), ending.until_ns()), (3, false, i64::MAX));
    }
}
