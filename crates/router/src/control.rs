//! Computations that span elements: scripts, and whatever else calls handlers.
//!
//! An element cannot call another element's handler while it is borrowed itself. Instead it starts a *control
//! computation* ([`crate::Cx::start`]), which becomes a work item like any batch. When its turn comes, the worker
//! calls the owner's [`crate::Element::resume`], which runs up to the next handler call and returns it as a [`Step`].
//! The worker performs the call with nothing borrowed, itself or on the worker that owns the target, and resumes the
//! computation with the [`Answer`]. While this worker waits for an answer from another one, it serves its own
//! mailbox, so that mutual calls cannot deadlock, and does nothing else.

use crate::handler::Response;
use crate::mailbox::{Mailbox, Message};
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{SendError, Sender};

/// What a control computation wants next.
#[derive(Debug)]
pub enum Step {
    /// Call a handler; the computation goes on with the answer.
    Call(Call),
    /// The computation is over, with this result for whoever waits for it.
    Done(Result<String, String>),
}

/// What a control computation is resumed with.
#[derive(Debug)]
pub enum Answer {
    /// Nothing: the computation starts.
    Start,
    /// The result of the handler call that it asked for: the value read (empty for a write), or an error message; and
    /// what the handler warned of.
    Response(Response),
}

/// A call of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `element.handler`, or `handler` alone for a global one.
    pub path: String,
    /// Read or write.
    pub access: Access,
    /// The parameter of a read, or the value to write.
    pub argument: String,
    /// The element in whose compound the path is looked up; `None` for the top level.
    pub scope: Option<usize>,
}

/// Which of a handler's two sides is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read its value.
    Read,
    /// Write a value.
    Write,
}

impl Call {
    /// A read of `path` with a parameter.
    pub fn read(path: impl Into<String>, argument: impl Into<String>) -> Call {
        Call { path: path.into(), access: Access::Read, argument: argument.into(), scope: None }
    }

    /// A write of a value to `path`.
    pub fn write(path: impl Into<String>, argument: impl Into<String>) -> Call {
        Call { path: path.into(), access: Access::Write, argument: argument.into(), scope: None }
    }

    /// The full name of the handler that is called.
    ///
    /// # Errors
    /// Why the call cannot be made, in Click's words: no such element or handler, or a parameter where none is taken.
    pub fn check(&self, info: &crate::Info) -> Result<String, String> {
        crate::globals::check(info, self)
    }

    /// As [`Call::check`], for the element that has its turn: what can be said when it is initialised.
    ///
    /// # Errors
    /// Why it cannot make the call.
    pub fn check_by(&self, cx: &crate::Cx<'_>) -> Result<(), String> {
        self.clone().within_default(cx.index()).check(cx.info()).map(drop)
    }

    /// Looks the path up as this element would, unless another was named.
    pub(crate) fn within_default(mut self, element: usize) -> Call {
        self.scope = self.scope.or(Some(element));
        self
    }

    /// Looks the path up as the element with this index would.
    pub fn within(mut self, element: usize) -> Call {
        self.scope = Some(element);
        self
    }
}

/// A computation on the work-list: who owns it, what the owner keeps for it, and who waits for its result.
pub(crate) struct Frame {
    pub(crate) owner: u32,
    pub(crate) state: Box<dyn Any + Send>,
    pub(crate) reply: Reply,
}

/// Who gets the result of a call.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Nobody: the call was made for its effect, for instance by a packet.
    Nobody,
    /// The driver, which was asked to stop.
    Driver,
    /// The computation on this worker's work-list that awaits this call.
    Frame { call: u64 },
    /// Another worker's call, by its index and the call's number there.
    Worker { worker: usize, call: u64 },
    /// A thread that is no worker.
    Thread(Sender<Response>),
}

/// Who wrote a configuration to the handler `hotconfig`, and is told what becomes of it.
pub struct Writer {
    sender: Sender<Response>,
    /// The mailbox of the worker whose computation waits, and the number of its call.
    waiting: Option<(Arc<Mailbox>, u64)>,
}

impl Writer {
    /// A thread that waits until the configuration is in its place, or refused.
    pub fn thread(sender: Sender<Response>) -> Writer {
        Writer { sender, waiting: None }
    }

    /// A computation that was parked under this number.
    pub(crate) fn computation(sender: Sender<Response>, mailbox: Arc<Mailbox>, call: u64) -> Writer {
        Writer { sender, waiting: Some((mailbox, call)) }
    }

    /// Whether it is to be told as soon as the configuration is built: it is a part of the router that is replaced
    /// then, and would hear no more.
    pub fn is_replaced(&self) -> bool {
        self.waiting.is_some()
    }

    /// Tells what has become of the configuration.
    ///
    /// # Errors
    /// The response, if nobody is there any more to hear it.
    pub fn tell(self, response: Response) -> Result<(), Response> {
        self.sender.send(response).map_err(|SendError(response)| response)?;
        if let Some((mailbox, call)) = self.waiting {
            mailbox.send(Message::Unpark { call });
        }
        Ok(())
    }
}
