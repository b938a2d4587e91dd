//! Calls from threads that are no workers.

use crate::calls::resolve::{Target, resolve};
use crate::error::HandlerError;
use crate::handlers::call::{Access, Call};
use crate::handlers::declaration::Of;
use crate::handlers::response::{HandlerResult, Response};
use crate::shared::info::Info;
use crate::shared::mailbox::{Message, Reply};
use crate::shared::record::Level;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a read waits for a worker, if another one has answered.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

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
    ///
    /// A value that several workers' instances decide together is put together from those that answer: one that is held up for
    /// half a second is left out, and a warning says so.
    pub fn ask(&self, call: Call) -> Response {
        if let Ok(Target::Element(element, handler, name)) = resolve(&self.info, &call)
            && call.access == Access::Read
            && let workers @ [_, _, ..] = handler.workers(&self.info, element, call.access)
        {
            let argument =
                name.map_or_else(|| call.argument.clone(), |name| format!("{name} {}", call.argument));
            return self.gather(element, handler, &argument, workers);
        }
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

impl Handle {
    /// Reads a handler of several workers' instances.
    fn gather(&self, element: usize, handler: Of, argument: &str, workers: &[usize]) -> Response {
        let ask = |&worker: &usize| {
            let (sender, answer) = mpsc::channel();
            let (argument, reply) = (argument.to_owned(), Reply::Thread(sender));
            let access = Access::Read;
            self.info.mailboxes[worker].send(Message::Part { element, handler, access, argument, reply });
            (worker, answer)
        };
        let asked: Vec<_> = workers.iter().map(ask).collect();
        let (mut patient, mut responses, mut silent) = (Instant::now() + PATIENCE, Vec::new(), Vec::new());
        while responses.is_empty() {
            silent.clear();
            for (worker, answer) in &asked {
                match answer.recv_timeout(patient.saturating_duration_since(Instant::now())) {
                    Ok(response) => responses.push(response),
                    Err(_) if self.info.is_over() => return Err(HandlerError::stopped()).into(),
                    Err(_) => silent.push(*worker),
                }
            }
            // None answers: there is nothing to say but what comes first.
            patient = Instant::now() + Duration::from_millis(100);
        }
        let mut response = Response::merged(handler.merge(&self.info, element), responses.into_iter());
        response.warnings.extend(without(&silent));
        response
    }
}

/// What a caller is told of workers that it was not to wait for.
pub(crate) fn without(silent: &[usize]) -> Option<String> {
    let names: Vec<_> = silent.iter().map(usize::to_string).collect();
    (!names.is_empty()).then(|| format!("without worker {}, which does not answer", names.join(", ")))
}

/// The result of a response to a caller that has no place for warnings.
pub(crate) fn result(info: &Info, path: &str, response: Response) -> HandlerResult {
    for warning in &response.warnings {
        info.speak(info.clock.now_ns(), None, Level::Warning, None, &format_args!("{path}: {warning}"));
    }
    response.result
}

/// The worker that a call is best sent to.
pub(crate) fn first_owner(info: &Info, call: &Call) -> usize {
    let element = call.path.split_once('.').and_then(|(name, _)| info.find(name, call.scope));
    element.and_then(|element| info.nodes[element].workers.first().copied()).unwrap_or(0)
}
