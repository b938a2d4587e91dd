//! How an element calls handlers.

use crate::calls::computation::Frame;
use crate::calls::handle::Handle;
use crate::context::core::Core;
use crate::context::cx::Cx;
use crate::context::work::{Control, Work};
use crate::error::HandlerError;
use crate::handlers::call::Call;
use crate::shared::mailbox::Reply;
use std::any::Any;

/// Calls of handlers, by the element that runs: [`Cx::handlers`].
pub struct Calling<'c> {
    core: &'c mut Core,
}

impl Cx<'_> {
    /// Calls of handlers, and computations that make them.
    #[inline]
    pub fn handlers(&mut self) -> Calling<'_> {
        Calling { core: self.core }
    }

    /// A way to talk to the router from other threads.
    #[inline]
    pub fn handle(&self) -> Handle {
        Handle::new(self.core.info.clone())
    }
}

impl Calling<'_> {
    /// Calls a handler for its effect. It runs when this element returns, before batches that are emitted later.
    #[inline]
    pub fn call(&mut self, call: Call) {
        let call = call.within_default(self.core.here as usize);
        self.core.put(Work::Control(Box::new(Control::Call(call))));
    }

    /// Makes the call that a source makes at its end. If that is a write to the global handler `stop`, packets on their way arrive before
    /// the driver stops, as with [`crate::Info::please_end`].
    pub fn call_at_end(&mut self, call: Call) {
        match call.stops() {
            Some(times) => self.core.info.end_often(times),
            None => self.call(call),
        }
    }

    /// Starts a control computation of this element: [`crate::Element::resume`] is called with `state` when this element
    /// returns, before batches that are emitted later.
    #[inline]
    pub fn start(&mut self, state: Box<dyn Any + Send>) {
        let reply = Reply::Effect { of: Some(self.core.here as usize) };
        let frame = Frame { owner: self.core.here, state, reply };
        self.core.put(Work::Control(Box::new(Control::Start(frame))));
    }
}

impl Call {
    /// As [`Call::check`], for the element that has its turn: what can be said when it is initialised.
    ///
    /// # Errors
    /// Why it cannot make the call.
    pub fn check_by(&self, cx: &Cx<'_>) -> Result<(), HandlerError> {
        self.clone().within_default(cx.index()).check(cx.info()).map(drop)
    }
}
