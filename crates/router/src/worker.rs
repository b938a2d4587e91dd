//! A worker: elements, a work-list, a scheduler, a mailbox.
//!
//! One turn of a worker runs tasks, the work they start, timers and messages; between turns lies the quiescent state
//! for RCU. The work-list is a stack. An element never calls another: what it emits is put on the stack in reverse, so
//! that the first emission and everything that follows from it comes before the second, as if each hop were a call.

use crate::control::{Access, Answer, Call, Frame, Reply, Step};
use crate::cx::{Core, Cx, Link, NOWHERE};
use crate::element::{Element, Pull};
use crate::globals::{self, Of};
use crate::handler::{HandlerResult, Merge, Outcome, target};
use crate::mailbox::Message;
use crate::work::{Control, Work};
use packet::Batch;
use rcu::{Reader, Turn};
use std::collections::HashMap;

/// Tasks that a turn runs at most.
const TASKS_PER_TURN: usize = 128;
/// Dispatches that a turn makes at most; a loop in the graph carries over to the next turn.
const DISPATCHES_PER_TURN: usize = 16_384;

/// How often in a row the element that steers the driver is asked, when the driver was asked to stop many times over.
const ASKS_MAX: u32 = 1_000;

/// What a turn came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    /// There is more to do.
    Busy,
    /// Nothing to do before this time, if any, unless a message comes.
    Idle(Option<i64>),
    /// A computation waits for another worker; nothing to do but messages.
    Blocked,
}

/// A call whose answers from other workers are awaited.
struct Open {
    merge: Merge,
    /// Results by worker.
    results: Vec<(usize, HandlerResult)>,
    missing: usize,
    reply: Reply,
}

pub(crate) struct Worker {
    pub(crate) core: Core,
    /// This worker's instance of each element.
    pub(crate) elements: Vec<Option<Box<dyn Element>>>,
    pub(crate) reader: Reader,
    open: HashMap<u64, Open>,
}

/// Runs something on an element's instance on this worker, if there is one, and puts what it emitted onto the list.
macro_rules! dispatch {
    ($self:ident, $element:expr, |$instance:ident, $cx:ident| $run:expr) => {{
        let element = $element as usize;
        $self.core.enter(element as u32);
        let mut cx = Cx { core: &mut *$self.core, turn: $self.turn };
        let result = match &mut $self.elements[element] {
            Some(instance) => {
                let ($instance, $cx) = (&mut **instance, &mut cx);
                Some($run)
            }
            None => None,
        };
        $self.core.leave();
        result
    }};
}

/// A worker within a turn.
struct Running<'w> {
    core: &'w mut Core,
    elements: &'w mut [Option<Box<dyn Element>>],
    open: &'w mut HashMap<u64, Open>,
    turn: Turn<'w>,
}

impl Worker {
    pub(crate) fn new(core: Core, elements: Vec<Option<Box<dyn Element>>>, reader: Reader) -> Worker {
        Worker { core, elements, reader, open: HashMap::new() }
    }

    fn running(&mut self) -> Running<'_> {
        Running {
            core: &mut self.core,
            elements: &mut self.elements,
            open: &mut self.open,
            turn: self.reader.turn(),
        }
    }

    /// Runs one turn, then announces the quiescent state.
    pub(crate) fn turn(&mut self) -> Turned {
        self.core.now_ns = self.core.clock.now_ns();
        let mut budget = DISPATCHES_PER_TURN;
        let turned = self.running().turn(&mut budget);
        self.core.dispatches += (DISPATCHES_PER_TURN - budget) as u64;
        self.reader.quiescent();
        turned
    }

    /// Serves messages and what follows from them, but runs no task and no timer.
    pub(crate) fn serve(&mut self) -> Turned {
        self.core.now_ns = self.core.clock.now_ns();
        let turned = self.running().serve();
        self.reader.quiescent();
        turned
    }

    /// Runs one element outside any work, for initialisation and the end. What it emits runs with the next turn.
    pub(crate) fn with<R>(
        &mut self,
        element: usize,
        f: impl FnOnce(&mut dyn Element, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let running = self.running();
        dispatch!(running, element, |instance, cx| f(instance, cx))
    }
}

impl Running<'_> {
    fn turn(&mut self, budget: &mut usize) -> Turned {
        self.read_mail();
        // Before the list, too: a loop in the graph would never let the driver stop.
        if self.is_asked_to_stop()
            && let Some(turned) = self.consider_stopping(budget)
        {
            return turned;
        }
        if let Some(turned) = self.run_list(budget) {
            return turned;
        }
        for _ in 0..TASKS_PER_TURN {
            if self.is_asked_to_stop()
                && let Some(turned) = self.consider_stopping(budget)
            {
                return turned;
            }
            // Between tasks, so that handler calls wait for one task and not for a turn.
            if !self.mailbox_is_empty() {
                self.read_mail();
                if let Some(turned) = self.run_list(budget) {
                    return turned;
                }
            }
            let Some(element) = self.core.scheduler.next() else { break };
            dispatch!(self, element, |instance, cx| instance.run_task(cx));
            if let Some(turned) = self.run_list(budget) {
                return turned;
            }
        }
        while let Some((element, key)) = self.core.timers.pop_due(self.core.now_ns) {
            dispatch!(self, element, |instance, cx| instance.timer(cx, key));
            if let Some(turned) = self.run_list(budget) {
                return turned;
            }
        }
        // Whether to stop is decided before time passes.
        let stops = self.core.worker == 0 && self.is_asked_to_stop();
        if stops || !self.core.scheduler.is_idle() || !self.mailbox_is_empty() {
            return Turned::Busy;
        }
        Turned::Idle(self.core.timers.next_ns())
    }

    fn serve(&mut self) -> Turned {
        let mut budget = DISPATCHES_PER_TURN;
        self.read_mail();
        self.run_list(&mut budget).unwrap_or(Turned::Idle(None))
    }

    fn mailbox_is_empty(&self) -> bool {
        self.core.info.mailboxes[self.core.worker].is_empty()
    }

    #[inline]
    fn is_asked_to_stop(&self) -> bool {
        self.core.info.run_count.load(std::sync::atomic::Ordering::Relaxed) <= 0
    }

    /// Somebody asked the driver to stop: the first worker asks the element that steers it, if there is one, the others go
    /// on until it has decided. `None` if work goes on.
    fn consider_stopping(&mut self, budget: &mut usize) -> Option<Turned> {
        let info = self.core.info.clone();
        if self.core.worker != 0 && !info.halted() {
            info.mailboxes[0].wake();
            return None;
        }
        loop {
            if info.halted() {
                return Some(Turned::Idle(None));
            }
            if info.run_count() > 0 {
                return None;
            }
            let Some(&element) = info.driver_manager.get() else {
                info.halt();
                return Some(Turned::Idle(None));
            };
            if self.core.asked.is_none() {
                self.core.asked = Some(info.run_count());
                let call = Call::write(format!("{}.step", info.nodes[element].name), "router");
                self.perform(call, Reply::Driver);
            }
            if let Some(turned) = self.run_list(budget) {
                return Some(turned);
            }
            if self.core.asked.is_some() {
                return Some(Turned::Blocked); // the element lives on another worker
            }
        }
    }

    /// The element that steers the driver has done a step: unless it has granted something, the driver stops.
    fn decide(&mut self) {
        let asked = self.core.asked.take().unwrap_or(0);
        let granted = self.core.info.run_count();
        self.core.asks = if granted > 0 { 0 } else { self.core.asks + 1 };
        if granted <= 0 && (granted <= asked || self.core.asks > ASKS_MAX) {
            self.core.info.halt();
        }
    }

    /// Runs the work-list until it is empty (`None`), waits for another worker, or has used up the turn.
    #[inline]
    fn run_list(&mut self, budget: &mut usize) -> Option<Turned> {
        while let Some(work) = self.core.list.pop() {
            if *budget == 0 {
                self.core.list.push(work);
                return Some(Turned::Busy);
            }
            *budget -= 1;
            match work {
                Work::Push { element, port, batch } => self.push(element, port, batch, budget),
                Work::Ask { element, port, want, own } => self.ask(element, port, want, own),
                Work::Waiting { .. } => {} // its answer was lost with a dropped batch: nothing to hand on
                Work::Answer { batch } => self.answer(batch),
                Work::Control(control) => {
                    if !self.control(*control) {
                        return Some(Turned::Blocked);
                    }
                }
            }
        }
        None
    }

    /// Brings a batch to an element, and what that emits first to the next, and so on to the end of the path. Whatever else
    /// is emitted on the way goes onto the list.
    #[inline]
    fn push(&mut self, element: u32, port: u16, batch: Batch, budget: &mut usize) {
        let (mut link, mut batch) = (Link { element, port }, batch);
        loop {
            if let Some(Some(instance)) = self.elements.get_mut(link.element as usize) {
                self.core.enter(link.element);
                let mut cx = Cx { core: self.core, turn: self.turn };
                instance.push(&mut cx, link.port as usize, batch);
            } else {
                // Counted for the element that sent it there.
                let mut cx = Cx { core: self.core, turn: self.turn };
                cx.drop_batch(batch, "output leads nowhere on this worker");
            }
            match self.core.next.take() {
                // Nothing but this batch was emitted, or it was emitted first: it goes on without touching the list.
                Some((next, rest)) if *budget > 0 => {
                    if self.core.list.len() > self.core.base + 1 {
                        self.core.list[self.core.base..].reverse();
                    }
                    *budget -= 1;
                    (link, batch) = (next, rest);
                }
                next => {
                    self.core.next = next;
                    return self.core.leave();
                }
            }
        }
    }

    /// An element asks upstream: finds out who answers, passing the request on as often as necessary.
    fn ask(&mut self, element: u32, port: u16, want: u8, own: bool) {
        self.core.list.push(Work::Waiting { element, port, own });
        let link = self.core.uplink(element, port);
        if link.element == NOWHERE {
            return self.answer_empty();
        }
        let base = self.core.list.len();
        let pull = dispatch!(self, link.element, |instance, cx| {
            instance.pull(cx, link.port as usize, want as usize)
        });
        self.handle_pull(base, link.element, pull.unwrap_or(Pull::Nothing));
    }

    fn answer_empty(&mut self) {
        let batch = self.core.pool.batch();
        self.core.list.push(Work::Answer { batch });
    }

    /// Carries out what an element in a pull path wants, after whatever it emitted above `base`.
    #[inline]
    fn handle_pull(&mut self, base: usize, element: u32, pull: Pull) {
        let work = match pull {
            Pull::Later => return,
            Pull::Give(batch) => Work::Answer { batch },
            Pull::Nothing => Work::Answer { batch: self.core.pool.batch() },
            Pull::Ask { input, want } => {
                let want = want.min(packet::BATCH_MAX) as u8;
                Work::Ask { element, port: input as u16, want, own: false }
            }
        };
        self.core.list.insert(base, work);
    }

    /// Packets come down to the element that waits for them; unless it asked of its own accord, it hands them on.
    fn answer(&mut self, batch: Batch) {
        let Some(Work::Waiting { element, port, own }) = self.core.list.pop() else {
            return self.core.pool.recycle(batch);
        };
        let base = self.core.list.len();
        let pull = dispatch!(self, element, |instance, cx| instance.pulled(cx, port as usize, batch));
        match pull.unwrap_or(Pull::Nothing) {
            Pull::Give(rest) if own => self.core.pool.recycle(rest),
            Pull::Nothing | Pull::Later if own => {}
            Pull::Ask { input, want } if own => {
                let want = want.min(packet::BATCH_MAX) as u8;
                self.core.list.insert(base, Work::Ask { element, port: input as u16, want, own });
            }
            pull => self.handle_pull(base, element, pull),
        }
    }
}

/// Control computations and handler calls.
impl Running<'_> {
    /// Runs a control item; false if the worker has to wait for another one.
    fn control(&mut self, control: Control) -> bool {
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
    fn perform(&mut self, call: Call, reply: Reply) {
        let info = self.core.info.clone();
        let (element, handler, argument) = match globals::resolve(&info, &call) {
            Ok(globals::Target::Global(name)) => {
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

    /// Calls a handler of an instance on this worker.
    fn invoke(&mut self, element: usize, handler: Of, access: Access, argument: &str, reply: Reply) {
        let info = self.core.info.clone();
        let base = self.core.list.len();
        let outcome = info.handlers(element).and_then(|handlers| {
            let handler = match handler {
                Of::Own(at) => &handlers.list()[at],
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
            Some(Outcome::Done(result)) => self.deliver(reply, result),
            Some(Outcome::Start(state)) => {
                let frame = Frame { owner: element as u32, state, reply };
                self.core.list.push(Work::Control(Box::new(Control::Start(frame))));
            }
            None => self.deliver(reply, Err("no such handler on this worker".to_owned())),
        }
        self.core.list.extend(emitted);
    }

    /// Reads all messages.
    fn read_mail(&mut self) {
        while let Some(message) = self.core.info.mailboxes[self.core.worker].take() {
            match message {
                Message::Request { call, reply } => self.perform(call, reply),
                Message::Part { element, handler, access, argument, reply } => {
                    self.invoke(element, handler, access, &argument, reply);
                }
                Message::Answer { call, from, result } => self.take_answer(call, from, result),
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
