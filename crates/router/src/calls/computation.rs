//! Computations that span elements: scripts, and whatever else calls handlers.
//!
//! An element cannot call another element's handler while it is borrowed itself. Instead it starts a *control
//! computation* ([`crate::Calling::start`]), which becomes a work item like any batch. When its turn comes, the worker
//! calls the owner's [`crate::Element::resume`], which runs up to the next handler call and returns it as a [`Step`].
//! The worker performs the call with nothing borrowed, itself or on the worker that owns the target, and resumes the
//! computation with the [`Answer`]. While this worker waits for an answer from another one, it serves its own
//! mailbox, so that mutual calls cannot deadlock, and does nothing else.

use crate::handlers::call::Call;
use crate::handlers::response::{HandlerResult, Response};
use crate::shared::mailbox::Reply;
use std::any::Any;

/// What a control computation wants next.
#[derive(Debug)]
pub enum Step {
    /// Call a handler; the computation goes on with the answer.
    Call(Call),
    /// The computation is over, with this result for the caller that waits for it.
    Done(HandlerResult),
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

/// A computation on the work-list: who owns it, what the owner keeps for it, and who waits for its result.
pub(crate) struct Frame {
    pub(crate) owner: u32,
    pub(crate) state: Box<dyn Any + Send>,
    pub(crate) reply: Reply,
}
