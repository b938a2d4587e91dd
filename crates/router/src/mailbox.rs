//! Messages to workers.

use crate::control::{Access, Call, Reply};
use crate::globals::Of;
use crossbeam_queue::SegQueue;
use std::sync::{Mutex, PoisonError};
use std::thread::Thread;

/// A message to a worker.
pub(crate) enum Message {
    /// A call from outside: resolve it, perform it wherever its target lives, answer.
    Request { call: Call, reply: Reply },
    /// The part of another worker's call that concerns this worker's instance.
    Part { element: usize, handler: Of, access: Access, argument: String, reply: Reply },
    /// The answer of worker `from` to such a part.
    Answer { call: u64, from: usize, result: Result<String, String> },
    /// A signal of this worker became active.
    Signal(u32),
    /// An element's task is to be scheduled.
    Schedule(u32),
}

/// A worker's mailbox. Anyone may put a message in; the worker is woken if it sleeps.
#[derive(Default)]
pub(crate) struct Mailbox {
    queue: SegQueue<Message>,
    /// The thread that runs the worker, while one does.
    thread: Mutex<Option<Thread>>,
}

impl Mailbox {
    pub(crate) fn send(&self, message: Message) {
        self.queue.push(message);
        self.wake();
    }

    /// Wakes the worker. `unpark` leaves a token for a worker that is about to sleep, so no wake-up is lost.
    pub(crate) fn wake(&self) {
        if let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            thread.unpark();
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn take(&self) -> Option<Message> {
        self.queue.pop()
    }

    pub(crate) fn attach(&self, thread: Option<Thread>) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = thread;
    }
}
