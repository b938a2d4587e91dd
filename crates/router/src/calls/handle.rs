//! Calls from threads that are no workers.

use crate::error::HandlerError;
use crate::handlers::call::Call;
use crate::handlers::response::{HandlerResult, Response};
use crate::shared::info::Info;
use crate::shared::mailbox::{Message, Reply};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

/// A way to talk to a running router from any thread.
#[derive(Clone)]
pub struct Handle {
    info: Arc<Info>,
}

impl Handle {
    pub(crate) fn new(info: Arc<Info>) -> Handle {
        Handle { info }
    }

    /// Asks the driver to stop.
    pub fn stop(&self) {
        self.info.please_stop();
    }

    /// Makes [`crate::Router::run`] return although the driver was not asked to stop: another configuration is to take
    /// the router's place ([`crate::Router::replace`]).
    pub fn interrupt(&self) {
        self.info.interrupt();
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        &self.info
    }

    /// Calls a handler and waits for the result; what it warns of goes where messages of elements go. Not for use on a worker.
    ///
    /// # Errors
    /// What the handler says; or that there is none, or that the router has stopped.
    pub fn call(&self, call: Call) -> HandlerResult {
        let path = call.path.clone();
        result(&self.info, &path, self.ask(call))
    }

    /// As [`Handle::call`], with the warnings.
    pub fn ask(&self, call: Call) -> Response {
        let (sender, receiver) = mpsc::channel();
        let worker = first_owner(&self.info, &call);
        self.info.mailboxes[worker].send(Message::Request { call, reply: Reply::Thread(sender) });
        loop {
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(response) => return response,
                Err(mpsc::RecvTimeoutError::Timeout) if !self.info.is_over() => {}
                Err(_) => return Err(HandlerError::stopped()).into(),
            }
        }
    }
}

/// The result of a response to a caller that has no place for warnings.
pub(crate) fn result(info: &Info, path: &str, response: Response) -> HandlerResult {
    response.warnings.iter().for_each(|warning| info.log.line(&format!("{path}: {warning}")));
    response.result
}

/// The worker that a call is best sent to.
pub(crate) fn first_owner(info: &Info, call: &Call) -> usize {
    let element = call.path.split_once('.').and_then(|(name, _)| info.find(name, call.scope));
    element.and_then(|element| info.nodes[element].workers.first().copied()).unwrap_or(0)
}
