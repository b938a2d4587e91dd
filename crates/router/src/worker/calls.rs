//! What a worker does of control computations, handler calls and messages.

use super::Running;
use crate::control::{Access, Answer, Call, Frame, Reply, Step};
use crate::cx::Cx;
use crate::element::Element;
use crate::globals::{self, Of};
use crate::handler::{HandlerResult, Merge, Outcome, target};
use crate::mailbox::Message;
use crate::work::{Control, Work};

/// A call whose answers from other workers are awaited.
pub(super) struct Open {
    merge: Merge,
    /// Results by worker.
    results: Vec<(usize, HandlerResult)>,
    missing: usize,
    reply: Reply,
}

impl Running<'_> {
    /// Runs a control item; false if the worker has to wait for another one.
    pub(super) fn control(&mut self, control: Control) -> bool {
        match control {
            Control::Start(frame) => self.resume(frame, Answer::Start),
            Control::Await(frame, _, Some(result)) => self.resume(frame, Answer::Result(result)),
            Control::Await(frame, call, None) => {
                self.core.list.push(Work::Control(Box::new(Control::Await(frame, call, None))));
                return false;
            }
            Control::Call(call) => self.perform(call, Reply::Nobody),
            Control::Part { element, handler, access, argument, reply } => {
                self.invoke(element, handler, access, &argument, reply);
            }
        }
        true
    }

    /// Resumes a computation and does what it wants next.
    fn resume(&mut self, mut frame: Frame, answer: Answer) {
        let base = self.core.list.len();
        let step = dispatch!(self, frame.owner, |instance, cx| instance.resume(cx, &mut frame.state, answer));
        match step.unwrap_or(Step::Done(Err("element not on this worker".to_owned()))) {
            Step::Done(result) => {
                let emitted = self.core.list.split_off(base);
                self.deliver(frame.reply, result);
                self.core.list.extend(emitted);
            }
            Step::Call(call) => {
                let emitted = self.core.list.split_off(base);
                let id = self.core.next_call;
                self.core.next_call += 1;
                let scope = frame.owner as usize;
                self.core.list.push(Work::Control(Box::new(Control::Await(frame, id, None))));
                self.perform(call.within_default(scope), Reply::Frame { call: id });
                self.core.list.extend(emitted);
            }
        }
    }

    /// Gives a result to whoever waits for it.
    fn deliver(&mut self, reply: Reply, result: HandlerResult) {
        match reply {
            Reply::Nobody => {
                if let Err(message) = result {
                    self.core.info.log.line(&message);
                }
            }
            Reply::Driver => {
                if let Err(message) = result
                    && !message.is_empty()
                {
                    self.core.info.log.line(&message);
                }
                self.decide();
            }
            Reply::Thread(sender) => drop(sender.send(result)), // nobody listens any more: fine
            Reply::Worker { worker, call } => {
                self.core.info.mailboxes[worker].send(Message::Answer {
                    call,
                    from: self.core.worker,
                    result,
                });
            }
            Reply::Frame { call } => {
                for work in self.core.list.iter_mut().rev() {
                    if let Work::Control(control) = work
                        && let Control::Await(_, waiting, answer) = &mut **control
                        && *waiting == call
                    {
                        *answer = Some(result);
                        return;
                    }
                }
            }
        }
    }

    /// Performs a call: here, on other workers, or both.
    pub(super) fn perform(&mut self, call: Call, reply: Reply) {
        let info = self.core.info.clone();
        let (element, handler, argument) = match globals::resolve(&info, &call) {
            Ok(globals::Target::Global(globals::HOTCONFIG)) => return self.reconfigure(call.argument, reply),
            Ok(globals::Target::Global(name)) => {
                if let Some(name) = globals::of_workers(name) {
                    return self.ask_workers(name, &call.argument, reply);
                }
                let result = globals::call(&info, name, &call);
                return self.deliver(reply, result);
            }
            Ok(globals::Target::Element(element, handler, any)) => (
                element,
                handler,
                any.map_or_else(|| call.argument.clone(), |name| format!("{name} {}", call.argument)),
            ),
            Err(message) => return self.deliver(reply, Err(message)),
        };
        let merge = handler.merge(&info, element);
        let workers = handler.workers(&info, element, call.access);
        if workers[..] == [self.core.worker] {
            return self.invoke(element, handler, call.access, &argument, reply);
        }
        let id = self.core.next_call;
        self.core.next_call += 1;
        self.open.insert(id, Open { merge, results: Vec::new(), missing: workers.len(), reply });
        for &worker in workers {
            let here = self.core.worker;
            let part = Reply::Worker { worker: here, call: id };
            let (access, argument) = (call.access, argument.clone());
            if worker == here {
                // As a work item, because it may take several steps; its answer comes by mail like the others'.
                let control = Control::Part { element, handler, access, argument, reply: part };
                self.core.list.push(Work::Control(Box::new(control)));
            } else {
                info.mailboxes[worker].send(Message::Part {
                    element,
                    handler,
                    access,
                    argument,
                    reply: part,
                });
            }
        }
    }

    /// Asks all workers, or the one that the argument names, for their parts of a global handler.
    fn ask_workers(&mut self, name: &'static str, argument: &str, reply: Reply) {
        let info = self.core.info.clone();
        let mut asked = 0..info.mailboxes.len();
        if !argument.trim().is_empty() {
            let one = argument.trim().parse::<usize>().ok().filter(|worker| asked.contains(worker));
            let Some(one) = one else { return self.deliver(reply, Err(format!("no worker '{argument}'"))) };
            asked = one..one + 1;
        }
        let id = self.core.next_call;
        self.core.next_call += 1;
        self.open.insert(id, Open { merge: Merge::Words, results: Vec::new(), missing: asked.len(), reply });
        for mailbox in &info.mailboxes[asked] {
            mailbox.send(Message::Own { name, reply: Reply::Worker { worker: self.core.worker, call: id } });
        }
    }

    /// Hands a new configuration on. Only another thread can wait for what comes of it: here packets wait. What is wrong with it is known at once where time is
    /// simulated, which stands still until it is built.
    fn reconfigure(&mut self, config: String, reply: Reply) {
        let info = self.core.info.clone();
        let Some(reconfigure) = info.reconfigure.get() else {
            return self.deliver(reply, Err("the router does not run yet".to_owned()));
        };
        match reply {
            Reply::Thread(sender) => reconfigure(config, sender),
            reply => {
                let (sender, result) = std::sync::mpsc::channel();
                reconfigure(config, sender);
                let result = result.try_recv().unwrap_or_else(|_| Ok(String::new()));
                // Nobody listens any more: then it is said aloud what is wrong.
                self.deliver(reply, result);
            }
        }
    }

    /// Calls a handler of an instance on this worker.
    fn invoke(&mut self, element: usize, handler: Of, access: Access, argument: &str, reply: Reply) {
        let info = self.core.info.clone();
        let base = self.core.list.len();
        let outcome = info.handlers(element).and_then(|handlers| {
            let handler = match handler {
                Of::Own(at) => &handlers.list()[at],
                Of::Common("config") if access == Access::Write => {
                    return Some(Outcome::Done(self.configure(element, argument)));
                }
                Of::Common(name) => {
                    return dispatch!(self, element, |_instance, cx| {
                        Outcome::Done(globals::call_common(cx, element, name, access, argument))
                    });
                }
            };
            let function = match access {
                Access::Read => handler.read.as_ref(),
                Access::Write => handler.write.as_ref(),
            }?;
            dispatch!(self, element, |instance, cx| function(target(instance), cx, argument))
        });
        let emitted = self.core.list.split_off(base);
        match outcome {
            Some(Outcome::Done(result)) => {
                if let (Access::Write, Ok(_), Some(handlers)) = (access, &result, info.handlers(element)) {
                    let name = match handler {
                        Of::Own(at) => handlers.list()[at].argument.unwrap_or(&handlers.list()[at].name),
                        Of::Common(name) => name,
                    };
                    info.current.written(&info, element, name, argument);
                }
                self.deliver(reply, result.map_err(|error| crate::args::in_click_words(&error)));
            }
            Some(Outcome::Start(state)) => {
                let frame = Frame { owner: element as u32, state, reply };
                self.core.list.push(Work::Control(Box::new(Control::Start(frame))));
            }
            None => self.deliver(reply, Err("no such handler on this worker".to_owned())),
        }
        self.core.list.extend(emitted);
    }

    /// Gives an instance on this worker new arguments; unless it takes them itself, another one takes its place and its state.
    fn configure(&mut self, element: usize, text: &str) -> HandlerResult {
        let info = self.core.info.clone();
        let taken = dispatch!(self, element, |instance, cx| instance.reconfigure(cx, text));
        if let Some(taken) = taken.flatten() {
            return taken.map(|()| String::new()).map_err(|error| error.to_string());
        }
        let mut new = crate::build::again(&info, element, self.core.worker, text)?;
        let started = dispatch!(self, element, |old, cx| replace(old, &mut *new, cx));
        started.unwrap_or(Ok(()))?;
        self.slots[element].instance = Some(new);
        Ok(String::new())
    }

    /// Reads all messages.
    pub(super) fn read_mail(&mut self) {
        while let Some(message) = self.core.info.mailboxes[self.core.worker].take() {
            match message {
                Message::Request { call, reply } => self.perform(call, reply),
                Message::Part { element, handler, access, argument, reply } => {
                    self.invoke(element, handler, access, &argument, reply);
                }
                Message::Own { name, reply } => {
                    self.deliver(reply, Ok(globals::of_worker(&self.core.account, name)));
                }
                Message::Answer { call, from, result } => self.take_answer(call, from, result),
                Message::Survey(request) => self.survey(&request),
                Message::Signal(element) => {
                    if let Some(signal) = self.core.provides[element as usize] {
                        self.core.set_signal(signal, true);
                    }
                }
                Message::Schedule(element) => {
                    if let Some(task) = self.core.tasks[element as usize] {
                        self.core.scheduler.schedule(task);
                    }
                }
            }
        }
    }

    fn take_answer(&mut self, call: u64, from: usize, result: HandlerResult) {
        let Some(open) = self.open.get_mut(&call) else { return };
        open.results.push((from, result));
        if open.results.len() < open.missing {
            return;
        }
        if let Some(mut open) = self.open.remove(&call) {
            open.results.sort_by_key(|(worker, _)| *worker);
            let values = open.results.into_iter().map(|(_, value)| value).collect();
            self.deliver(open.reply, open.merge.apply(values));
        }
    }
}

/// Starts an instance in the place of another one, with its state.
fn replace(old: &mut dyn Element, new: &mut dyn Element, cx: &mut Cx<'_>) -> Result<(), String> {
    new.initialize(cx).map_err(|error| error.to_string())?;
    let Some(state) = old.give_state() else { return Ok(()) };
    new.take_state(cx, state).map_err(|(error, state)| {
        // It was the old one's, so that it fits there.
        let _ = old.take_state(cx, state);
        error.to_string()
    })
}
