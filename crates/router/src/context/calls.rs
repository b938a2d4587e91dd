//! How an element calls handlers, and steers the driver.

use crate::calls::computation::Frame;
use crate::calls::handle::Handle;
use crate::context::cx::Cx;
use crate::context::work::{Control, Work};
use crate::error::HandlerError;
use crate::handlers::call::Call;
use crate::shared::mailbox::Reply;
use std::any::Any;

/// Handlers and the driver.
impl Cx<'_> {
    /// Calls a handler for its effect. It runs when this element returns, before batches that are emitted later.
    pub fn call(&mut self, call: Call) {
        let call = call.within_default(self.core.here as usize);
        self.core.put(Work::Control(Box::new(Control::Call(call))));
    }

    /// Starts a control computation of this element: [`crate::Element::resume`] is called with `state` when this element
    /// returns, before batches that are emitted later.
    pub fn start(&mut self, state: Box<dyn Any + Send>) {
        let frame = Frame { owner: self.core.here, state, reply: Reply::Nobody };
        self.core.put(Work::Control(Box::new(Control::Start(frame))));
    }

    /// A way to talk to the router from other threads.
    pub fn handle(&self) -> Handle {
        Handle::new(self.core.info.clone())
    }

    /// Asks the driver to stop.
    pub fn please_stop(&mut self) {
        self.core.info.please_stop();
    }

    /// Changes how often the driver may still be asked to stop before it does.
    pub fn adjust_run_count(&mut self, by: i64) {
        self.core.info.adjust_run_count(by);
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
