//! A worker's part in control computations, handler calls and messages.

use crate::calls::computation::{Answer, Frame, Step};
use crate::calls::globals;
use crate::calls::handle::{PATIENCE, without};
use crate::calls::resolve::{HOTCONFIG, Target, of_workers, resolve};
use crate::context::cx::Cx;
use crate::context::work::{Control, Work};
use crate::element::behaviour::{Element, seen, target};
use crate::element::class::again;
use crate::element::counted::counted;
use crate::element::handlers::{Job, Outcome};
use crate::error::{ConfigError, HandlerError, REFUSED};
use crate::handlers::call::{Access, Call};
use crate::handlers::declaration::Of;
use crate::handlers::response::{HandlerResult, Merge, Response};
use crate::shared::mailbox::{Message, Reply};
use crate::shared::record::Level;
use crate::shared::writer::Writer;
use crate::text::args::in_click_words;
use crate::worker::everyone;
use crate::worker::instances::{Open, Parked, Running, dispatch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::channel;

/// How often in a row the element that steers the driver is asked, when the driver was asked to stop many times over.
const ASKS_MAX: u32 = 1_000;

impl Running<'_> {
    /// Runs a control item; false if the worker has to wait for another one.
    pub(crate) fn control(&mut self, control: Control) -> bool {
        match control {
            Control::Start(frame) => self.resume(frame, Answer::Start),
            Control::Await(frame, _, Some(response)) => self.resume(frame, Answer::Response(response)),
            Control::Await(frame, call, None) => {
                self.core.list.push(Work::Control(Box::new(Control::Await(frame, call, None))));
                return false;
            }
            Control::Call(call) => {
                let reply = Reply::Effect { of: call.scope };
                self.perform(call, reply);
            }
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
        match step.unwrap_or(Step::Done(Err("element not on this worker".into()))) {
            Step::Done(result) => {
                let emitted = self.core.list.split_off(base);
                self.deliver(frame.reply, result.into());
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

    /// Gives a result to the caller that waits for it.
    fn deliver(&mut self, reply: Reply, response: Response) {
        if let Reply::Effect { .. } | Reply::Driver = reply {
            let of = if let Reply::Effect { of } = reply { of } else { None };
            response.warnings.iter().for_each(|warning| self.speak(of, Level::Warning, warning));
            if let Err(error) = &response.result
                && (of.is_some() || !error.message.is_empty())
            {
                self.speak(of, Level::Error, &error.message);
            }
        }
        match reply {
            Reply::Effect { .. } => {}
            Reply::Driver => self.decide(),
            Reply::Thread(sender) => drop(sender.send(response)), // the thread may have stopped waiting: fine
            Reply::Worker { worker, call } => {
                self.core.info.mailboxes[worker].send(Message::Answer {
                    call,
                    from: self.core.worker,
                    response,
                });
            }
            Reply::Frame { call } => {
                for work in self.core.list.iter_mut().rev() {
                    if let Work::Control(control) = work
                        && let Control::Await(_, waiting, answer) = &mut **control
                        && *waiting == call
                    {
                        *answer = Some(response);
                        return;
                    }
                }
            }
        }
    }

    /// Says what becomes of a call that no caller waits for, in the name of the element that made it.
    fn speak(&self, of: Option<usize>, level: Level, text: &str) {
        self.core.info.speak(self.core.now_ns, of, level, None, &text);
    }

    /// Performs a call: here, on other workers, or both.
    pub(crate) fn perform(&mut self, call: Call, reply: Reply) {
        let info = self.core.info.clone();
        let (element, handler, argument) = match resolve(&info, &call) {
            Ok(Target::Global(HOTCONFIG)) => return self.reconfigure(call.argument, reply),
            Ok(Target::Global(name)) => {
                if let Some(name) = of_workers(name) {
                    return self.ask_workers(name, &call.argument, reply);
                }
                let result = globals::call(&info, name, &call);
                return self.deliver(reply, result.into());
            }
            Ok(Target::Element(element, handler, any)) => (
                element,
                handler,
                any.map_or_else(|| call.argument.clone(), |name| format!("{name} {}", call.argument)),
            ),
            Err(error) => return self.deliver(reply, Err(error).into()),
        };
        let merge = handler.merge(&info, element);
        let workers = handler.workers(&info, element, call.access);
        if workers[..] == [self.core.worker] {
            return self.invoke(element, handler, call.access, &argument, reply);
        }
        let id = self.core.next_call;
        self.core.next_call += 1;
        let until_ns = self.patience_ns().filter(|_| call.access == Access::Read);
        let asked = workers.to_vec();
        self.open.insert(id, Open { merge, responses: Vec::new(), asked, reply, until_ns });
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
            let Some(one) = one else {
                return self
                    .deliver(reply, Err(HandlerError::invalid(format!("no worker '{argument}'"))).into());
            };
            asked = one..one + 1;
        }
        let id = self.core.next_call;
        self.core.next_call += 1;
        let (merge, until_ns) = (Merge::Words, self.patience_ns());
        let open = Open { merge, responses: Vec::new(), asked: asked.clone().collect(), reply, until_ns };
        self.open.insert(id, open);
        for mailbox in &info.mailboxes[asked] {
            mailbox.send(Message::Own { name, reply: Reply::Worker { worker: self.core.worker, call: id } });
        }
    }

    /// Hands a new configuration on. A thread waits until it is in its place; a computation until it is built, aside,
    /// so that packets go on. Where time is simulated, which stands still until it is built, the answer is there at
    /// once.
    fn reconfigure(&mut self, config: String, reply: Reply) {
        let info = self.core.info.clone();
        let Some(reconfigure) = info.reconfigure.get() else {
            return self.deliver(reply, Err("the router does not run yet".into()).into());
        };
        let reply = match reply {
            Reply::Thread(sender) => return reconfigure(config, Writer::thread(sender)),
            reply => reply,
        };
        let (sender, answer) = channel();
        let call = self.core.next_call;
        self.core.next_call += 1;
        let writer = Writer::computation(sender, info.mailboxes[self.core.worker].clone(), call);
        let is_pulled = self.core.list.iter().any(|work| matches!(work, Work::Waiting(_)));
        if is_pulled && !info.clock.is_simulated() {
            // An element that pulls packets cannot wait. The log gets what is wrong, since no caller hears it here.
            drop(answer);
            reconfigure(config, writer);
            return self.deliver(reply, Ok(String::new()).into());
        }
        reconfigure(config, writer);
        if let Ok(response) = answer.try_recv() {
            return self.deliver(reply, response);
        }
        let frames = self.take_frames(&reply);
        self.parked.insert(call, Parked { frames, reply, answer, aside: false });
    }

    /// Has a thread work on an answer. What waits for it goes on when it is there, and packets go on meanwhile. Where time is simulated,
    /// it stands still until then (`Router::await_asides`).
    fn lay_aside(&mut self, job: Job, reply: Reply) {
        let info = self.core.info.clone();
        let (sender, answer) = channel();
        let call = self.core.next_call;
        self.core.next_call += 1;
        let writer = match info.clock.is_simulated() {
            true => Writer::thread(sender),
            false => Writer::computation(sender, info.mailboxes[self.core.worker].clone(), call),
        };
        let log = info.clone();
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(job));
            let response = done.unwrap_or_else(|_| Err("an error of the program, see above".into()).into());
            if let Err(Response { result: Err(error), .. }) = writer.tell(response) {
                log.speak(log.clock.now_ns(), None, Level::Error, None, &error.message);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("handler".to_owned()).spawn(work) {
            return self.deliver(reply, Err(format!("cannot start a thread: {error}").into()).into());
        }
        if self.core.list.iter().any(|work| matches!(work, Work::Waiting(_))) {
            // An element that pulls packets cannot wait. The log gets what is wrong, since no caller hears it here.
            drop(answer);
            return self.deliver(reply, Ok(String::new()).into());
        }
        let frames = self.take_frames(&reply);
        self.parked.insert(call, Parked { frames, reply, answer, aside: true });
    }

    /// Takes the computation that waits for a call off the list, and those that wait for it in turn.
    fn take_frames(&mut self, reply: &Reply) -> Vec<Work> {
        let mut frames = Vec::new();
        let mut next = awaited(reply);
        while let Some(call) = next {
            let waits = |work: &Work| matches!(work, Work::Control(control) if matches!(&**control, Control::Await(_, waiting, _) if *waiting == call));
            let Some(at) = self.core.list.iter().rposition(waits) else { break };
            let work = self.core.list.remove(at);
            next = match &work {
                Work::Control(control) => match &**control {
                    Control::Await(frame, ..) => awaited(&frame.reply),
                    _ => None,
                },
                _ => None,
            };
            frames.push(work);
        }
        frames
    }

    /// Lets computations go on whose answer has come.
    fn unpark(&mut self, call: u64) {
        let Some(Parked { frames, reply, answer, .. }) = self.parked.remove(&call) else { return };
        self.core.list.extend(frames.into_iter().rev());
        if let Ok(response) = answer.try_recv() {
            self.deliver(reply, response);
        }
    }

    /// Lets computations go on for which threads had these answers.
    pub(crate) fn go_on(&mut self, answers: Vec<(u64, Response)>) {
        for (call, response) in answers {
            let Some(Parked { frames, reply, .. }) = self.parked.remove(&call) else { continue };
            self.core.list.extend(frames.into_iter().rev());
            self.deliver(reply, response);
        }
    }

    /// Calls a handler of an instance on this worker.
    fn invoke(&mut self, element: usize, handler: Of, access: Access, argument: &str, reply: Reply) {
        let info = self.core.info.clone();
        let base = self.core.list.len();
        self.core.warnings = Some(Vec::new());
        self.core.status.set(None);
        let outcome = (|| {
            let function = match handler {
                Of::Own(at) => self.elements.functions[element].of(at, access)?,
                Of::Common("config") if access == Access::Write => {
                    return Some(Outcome::Done(self.configure(element, argument)));
                }
                Of::Common(name) => {
                    return dispatch!(self, element, |_instance, cx| {
                        Outcome::Done(everyone::call(cx, element, name, access, argument))
                    });
                }
            };
            dispatch!(self, element, |instance, cx| {
                let counted = cx.core.ledger().map(|ledger| (ledger, cx.core.before()));
                let outcome = function(target(instance), cx, argument);
                if let Some((ledger, before)) = counted {
                    cx.core.note(&ledger, &before, 0, 0);
                }
                outcome
            })
        })();
        let warnings = self.core.warnings.take().unwrap_or_default();
        let emitted = self.core.list.split_off(base);
        match outcome {
            Some(Outcome::Done(result)) => {
                if let (Access::Write, Ok(_), Some(handlers)) = (access, &result, info.handlers(element)) {
                    let name = match handler {
                        Of::Own(at) => handlers.list()[at].argument.unwrap_or(&handlers.list()[at].name),
                        Of::Common(name) => name,
                    };
                    info.made.current.written(element, &info.nodes[element].config, name, argument);
                }
                let result =
                    result.map_err(|error| HandlerError { message: in_click_words(&error.message), ..error });
                let own_config = matches!(handler, Of::Own(at) if info.handlers(element).is_some_and(|all| all.list()[at].name == "config"));
                let status = if own_config { Some(REFUSED) } else { self.core.status.take() };
                self.deliver(reply, Response { result, warnings, status });
            }
            Some(Outcome::Start(state)) => {
                warnings.iter().for_each(|warning| self.speak(Some(element), Level::Warning, warning)); // its own come later
                let frame = Frame { owner: element as u32, state, reply };
                self.core.list.push(Work::Control(Box::new(Control::Start(frame))));
            }
            Some(Outcome::Aside(job)) => {
                warnings.iter().for_each(|warning| self.speak(Some(element), Level::Warning, warning));
                self.lay_aside(job, reply);
            }
            None => {
                self.deliver(reply, Err(HandlerError::not_found("no such handler on this worker")).into())
            }
        }
        self.core.list.extend(emitted);
    }

    /// Gives an instance on this worker new arguments; unless it takes them itself, another one takes its place and its state.
    fn configure(&mut self, element: usize, text: &str) -> HandlerResult {
        let info = self.core.info.clone();
        let taken = dispatch!(self, element, |instance, cx| instance.reconfigure(cx, text));
        if let Some(taken) = taken.flatten() {
            return taken.map(|()| String::new()).map_err(|error| self.refusal(&error));
        }
        let mut said = Vec::new();
        let again = again(self.elements.classes[element], &info, element, self.core.worker, text, &mut said);
        for found in said {
            match &mut self.core.warnings {
                Some(warnings) if !found.is_message() => warnings.push(format!("warning: {}", found.message)),
                _ => info.log.line(&found.message),
            }
        }
        let new = again.map_err(|error| self.refusal(&error))?;
        let mut new = counted(new, info.ledger(self.core.worker, element));
        let started = dispatch!(self, element, |old, cx| replace(old, &mut *new, cx));
        started.unwrap_or(Ok(()))?;
        self.slots[element].instance = Some(new);
        Ok(String::new())
    }

    /// An error of a write to `config`, whose status is noted.
    fn refusal(&mut self, error: &ConfigError) -> HandlerError {
        self.core.status.set(Some(error.status));
        error.to_string().into()
    }

    /// Reads all messages.
    pub(crate) fn read_mail(&mut self) {
        while let Some(message) = self.core.info.mailboxes[self.core.worker].take() {
            match message {
                Message::Request { call, reply } => self.perform(call, reply),
                Message::Part { element, handler, access, argument, reply } => {
                    self.invoke(element, handler, access, &argument, reply);
                }
                Message::Own { name, reply } => {
                    self.deliver(reply, Ok(globals::of_worker(&self.core.account, name)).into());
                }
                Message::Answer { call, from, response } => self.take_answer(call, from, response),
                Message::Unpark { call } => self.unpark(call),
                Message::Survey(request) => self.survey(&request),
                Message::Observe(order) => self.observe(order),
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

    fn take_answer(&mut self, call: u64, from: usize, response: Response) {
        let Some(open) = self.open.get_mut(&call) else { return };
        open.responses.push((from, response));
        if open.responses.len() >= open.asked.len() {
            self.close(call);
        }
    }

    /// Gives the caller what answers there are.
    fn close(&mut self, call: u64) {
        let Some(mut open) = self.open.remove(&call) else { return };
        let is_silent = |worker: &usize| !open.responses.iter().any(|(from, _)| from == worker);
        let silent: Vec<_> = open.asked.iter().copied().filter(is_silent).collect();
        open.responses.sort_by_key(|(worker, _)| *worker);
        let mut response =
            Response::merged(open.merge, open.responses.into_iter().map(|(_, response)| response));
        response.warnings.extend(without(&silent));
        self.deliver(open.reply, response);
    }

    /// When the workers that are asked now have been waited for long enough.
    fn patience_ns(&self) -> Option<i64> {
        let clock = &self.core.clock;
        (!clock.is_simulated()).then(|| clock.now_ns() + PATIENCE.as_nanos() as i64)
    }

    /// Calls that have waited for long enough go on with the answers that there are. Without any there is nothing to say but what comes
    /// first.
    pub(crate) fn stop_waiting_for_workers(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let now_ns = self.core.clock.now_ns();
        let is_due = |open: &Open| {
            !open.responses.is_empty() && open.until_ns.is_some_and(|until_ns| until_ns <= now_ns)
        };
        let due: Vec<_> = self.open.iter().filter(|(_, open)| is_due(open)).map(|(&call, _)| call).collect();
        due.into_iter().for_each(|call| self.close(call));
    }

    /// The element that steers the driver has done a step: unless it has granted something, the driver stops.
    fn decide(&mut self) {
        let asked = self.core.asked.take().unwrap_or(0);
        let grants = self.core.info.grants.load(Relaxed);
        let left = self.core.info.run_count();
        self.core.asks = if left > 0 { 0 } else { self.core.asks + 1 };
        // Not by the run count: other workers may have used up meanwhile what was granted.
        if left <= 0 && (grants == asked || self.core.asks > ASKS_MAX) {
            self.core.info.halt();
        }
    }
}

/// The call of this worker whose result is awaited, if one is.
fn awaited(reply: &Reply) -> Option<u64> {
    match reply {
        Reply::Frame { call } => Some(*call),
        _ => None,
    }
}

/// Starts an instance in the place of another one, with its state.
fn replace(old: &mut dyn Element, new: &mut dyn Element, cx: &mut Cx<'_>) -> Result<(), String> {
    new.initialize(cx).map_err(|error| error.to_string())?;
    new.can_take_over(cx, seen(old)).map_err(|error| error.to_string())?;
    if let Some(state) = old.give_state() {
        new.take_state(cx, state);
    }
    new.taken_over(cx);
    Ok(())
}
