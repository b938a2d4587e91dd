//! Messages to workers.

use crate::handlers::call::{Access, Call};
use crate::handlers::declaration::Of;
use crate::handlers::response::Response;
use crate::shared::bell::Bell;
use crate::shared::orders::Order;
use crate::shared::survey;
use crossbeam_queue::SegQueue;
use std::sync::mpsc::Sender;

/// Who gets the result of a call.
#[derive(Debug)]
pub(crate) enum Reply {
    /// No caller waits: an element made the call for its effect, for instance because of a packet.
    Effect { of: Option<usize> },
    /// The driver, which was asked to stop.
    Driver,
    /// The computation on this worker's work-list that awaits this call.
    Frame { call: u64 },
    /// Another worker's call, by its index and the call's number there.
    Worker { worker: usize, call: u64 },
    /// A thread that is no worker.
    Thread(Sender<Response>),
}

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
    Survey(survey::Request),
    /// What an observer of packets wants.
    Observe(Order),
    /// A signal of this worker became active.
    Signal(u32),
    /// An element's task is to be scheduled.
    Schedule(u32),
}

/// A worker's mailbox. Any thread may put a message in; the worker is woken if it sleeps.
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
