//! Messages to workers.

use crate::control::{Access, Call, Reply};
use crate::globals::Of;
use crate::handler::Response;
use crate::ready::Bell;
use crossbeam_queue::SegQueue;

/// A message to a worker.
pub(crate) enum Message {
    /// A call from outside: resolve it, perform it wherever its target lives, answer.
    Request { call: Call, reply: Reply },
    /// The part of another worker's call that concerns this worker's instance.
    Part { element: usize, handler: Of, access: Access, argument: String, reply: Reply },
    /// The part of a global handler that each worker answers for itself.
    Own { name: &'static str, reply: Reply },
    /// The answer of worker `from` to such a part.
    Answer { call: u64, from: usize, response: Response },
    /// The answer to a call whose computations were parked is there.
    Unpark { call: u64 },
    /// A request for this worker's state.
    Survey(crate::survey::Request),
    /// A signal of this worker became active.
    Signal(u32),
    /// An element's task is to be scheduled.
    Schedule(u32),
}

/// A worker's mailbox. Anyone may put a message in; the worker is woken if it sleeps.
#[derive(Default)]
pub(crate) struct Mailbox {
    queue: SegQueue<Message>,
    pub(crate) bell: Bell,
}

impl Mailbox {
    pub(crate) fn send(&self, message: Message) {
        self.queue.push(message);
        self.wake();
    }

    /// Wakes the worker. The bell goes on ringing for a worker that is about to sleep, so no wake-up is lost.
    pub(crate) fn wake(&self) {
        self.bell.ring();
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn take(&self) -> Option<Message> {
        self.queue.pop()
    }
}
