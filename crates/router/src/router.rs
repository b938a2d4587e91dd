//! A router: workers, and how they are driven.

use crate::clock::Clock;
use crate::config::ConfigError;
use crate::control::{Call, Reply};
use crate::handler::{HandlerResult, Response};
use crate::info::Info;
use crate::mailbox::Message;
use crate::ready::wait;
use crate::worker::{Turned, Worker};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::time::Duration;

/// The answer to a call that came when nobody served calls any more; the call was not made.
pub const STOPPED: &str = "the router has stopped";

/// Rounds of work that a router which halts for a swap does, at most: a loop in the graph never ends.
const SETTLING_ROUNDS: usize = 64;

/// Rounds of work in a row that take no simulated time: enough for whatever ends by itself.
const TIMELESS_ROUNDS: u32 = 1_000;

/// Simulated time that each further one takes, a microsecond for each task that a turn may run. (Click's moves on by its least unit
/// each time that somebody looks at it.)
const ROUND_NS: i64 = 128_000;

/// A configured router.
pub struct Router {
    pub(crate) info: Arc<Info>,
    pub(crate) workers: Vec<Worker>,
    pin: Option<usize>,
}

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

    /// Makes [`Router::run`] return although nobody asked the driver to stop: another configuration is to take the
    /// router's place ([`Router::replace`]).
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
    /// The handler's message; or that the router stopped meanwhile.
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
                Err(_) => return Err(STOPPED.to_owned()).into(),
            }
        }
    }
}

/// The result of a response to somebody who has no place for warnings.
fn result(info: &Info, path: &str, response: Response) -> HandlerResult {
    response.warnings.iter().for_each(|warning| info.log.line(&format!("{path}: {warning}")));
    response.result
}

/// The worker that a call is best sent to.
fn first_owner(info: &Info, call: &Call) -> usize {
    let element = call.path.split_once('.').and_then(|(name, _)| info.find(name, call.scope));
    element.and_then(|element| info.nodes[element].workers.first().copied()).unwrap_or(0)
}

impl Router {
    pub(crate) fn new(info: Arc<Info>, workers: Vec<Worker>, pin: Option<usize>) -> Router {
        Router { info, workers, pin }
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        &self.info
    }

    /// A way to talk to the router from other threads while it runs.
    pub fn handle(&self) -> Handle {
        Handle { info: self.info.clone() }
    }

    /// Runs until the driver is stopped. With a simulated clock all workers take turns on this thread; otherwise each has
    /// a thread, the first one this.
    pub fn run(&mut self) {
        if self.info.clock.is_simulated() {
            return self.simulate();
        }
        let processors = self.pin.map(processors).unwrap_or_default();
        let Some((first, others)) = self.workers.split_first_mut() else { return };
        std::thread::scope(|scope| {
            for worker in others {
                let processor = processors.get(worker.core.worker % processors.len().max(1)).copied();
                let thread = std::thread::Builder::new().name(format!("worker {}", worker.core.worker));
                let spawned = thread.spawn_scoped(scope, move || {
                    let _pinned = Pinned::to(processor);
                    drive(worker);
                });
                if let Err(error) = spawned {
                    self.info.log.line(&format!("cannot start a worker thread: {error}"));
                    self.info.halt();
                }
            }
            let _pinned = Pinned::to(processors.first().copied());
            drive(first);
        });
    }

    /// Runs all workers in turn on this thread. Time jumps to the next timer when all are idle; where somebody never rests it
    /// passes all the same, from some time on, so that others get what they wait for.
    fn simulate(&mut self) {
        let info = self.info.clone();
        let mut timeless_rounds = 0;
        while !info.halted() {
            let (mut busy, mut next) = (false, None::<i64>);
            for worker in &mut self.workers {
                if info.halted() {
                    break;
                }
                match worker.turn() {
                    Turned::Busy => busy = true,
                    Turned::Idle(Some(at)) => next = Some(next.map_or(at, |n| n.min(at))),
                    Turned::Idle(None) | Turned::Blocked => {}
                }
            }
            // A timer that is due at once is no rest either.
            let rests = !busy && next.is_none_or(|at| at > info.clock.now_ns());
            timeless_rounds = if rests { 0 } else { timeless_rounds + 1 };
            if timeless_rounds > TIMELESS_ROUNDS {
                info.clock.jump(info.clock.now_ns() + ROUND_NS);
            }
            if busy || info.mailboxes.iter().any(|mailbox| !mailbox.is_empty()) {
                self.look();
                continue;
            }
            match next {
                Some(at) => {
                    info.clock.jump(at);
                    self.workers.iter_mut().for_each(|worker| worker.core.account.slept(info.clock.now_ns()));
                    self.look();
                }
                // Nothing will ever happen by itself; a message or a signal may come.
                None if !info.halted() => wait(&mut self.workers, None),
                None => {}
            }
        }
    }

    /// Finds descriptors that are ready, if any are waited for.
    fn look(&mut self) {
        if self.workers.iter().any(|worker| !worker.core.awaited.is_empty()) {
            wait(&mut self.workers, Some(Duration::ZERO));
        }
    }

    /// Calls a handler of a router that does not run (yet, or any more).
    ///
    /// # Errors
    /// The handler's message.
    pub fn call(&mut self, call: Call) -> HandlerResult {
        let path = call.path.clone();
        let (sender, receiver) = mpsc::channel();
        let worker = first_owner(&self.info, &call);
        self.info.mailboxes[worker].send(Message::Request { call, reply: Reply::Thread(sender) });
        loop {
            let mut busy = false;
            for worker in &mut self.workers {
                busy |= worker.serve() == Turned::Busy;
            }
            if let Ok(response) = receiver.try_recv() {
                return result(&self.info, &path, response);
            }
            if !busy && self.info.mailboxes.iter().all(|mailbox| mailbox.is_empty()) {
                return Err("the handler gave no answer".to_owned());
            }
        }
    }

    /// Says what the handler `hotconfig` does with new configurations, if there is one
    /// ([`crate::Options::reconfigurable`]). To be said before the router runs: calls from outside wait for that.
    pub fn allow_reconfigure(&self, reconfigure: crate::Reconfigure) {
        // Said twice, the first stands.
        let _ = self.info.reconfigure.set(reconfigure);
    }

    /// Puts `new` in the place of this router, which was interrupted: work in progress comes to its end, and `new` takes
    /// over the state of namesakes. What is returned is the old router, to be finished.
    ///
    /// # Errors
    /// Why a state did not fit. This router can go on then as if nothing had happened; `new` is gone.
    pub fn replace(&mut self, mut new: Router) -> Result<Router, ConfigError> {
        self.settle();
        if let Err(error) = new.take_over(self) {
            new.finish();
            self.info.swaps.refuse();
            self.resume();
            return Err(error);
        }
        std::mem::swap(self, &mut new);
        self.info.swaps.follow(&new.info.swaps);
        for (worker, old) in self.workers.iter_mut().zip(&mut new.workers) {
            worker.core.account = std::mem::take(&mut old.core.account);
        }
        if new.info.run_count() <= 0 {
            // Somebody asked the old one to stop meanwhile.
            self.info.adjust_run_count(new.info.run_count() - 1);
        }
        new.info.swapping.store(false, Ordering::Relaxed);
        Ok(new)
    }

    /// Lets a router that was interrupted run again.
    pub fn resume(&self) {
        self.info.halted.store(false, Ordering::Relaxed);
        self.info.swapping.store(false, Ordering::Relaxed);
    }

    /// Brings to an end what workers had begun: no packet is left between elements.
    fn settle(&mut self) {
        for _ in 0..SETTLING_ROUNDS {
            let mut busy = false;
            for worker in &mut self.workers {
                busy |= worker.serve() == Turned::Busy || !worker.core.list.is_empty();
            }
            if !busy && self.info.mailboxes.iter().all(|mailbox| mailbox.is_empty()) {
                return;
            }
        }
    }

    /// Takes over the state of the elements of `old` that have a namesake of the same class here.
    ///
    /// # Errors
    /// Which element's state did not fit, and why. `old` has all its state back then.
    pub fn take_over(&mut self, old: &mut Router) -> Result<(), ConfigError> {
        let mut moved: Vec<(usize, usize, usize)> = Vec::new();
        for (element, node) in self.info.clone().nodes.iter().enumerate() {
            let Some(&former) = old.info.by_name.get(&node.name) else { continue };
            if old.info.nodes[former].class.name != node.class.name {
                continue;
            }
            for &worker in &node.workers {
                let Some(source) = old.workers.get_mut(worker) else { continue };
                let Some(state) = source.with(former, |e, _| e.give_state()).flatten() else { continue };
                match self.workers[worker].with(element, |e, cx| e.take_state(cx, state)) {
                    None | Some(Ok(())) => moved.push((worker, former, element)),
                    Some(Err((error, state))) => {
                        return_state(&mut old.workers[worker], former, state);
                        self.give_back(old, &moved);
                        return Err(format!("'{}' cannot take over its state: {error}", node.name).into());
                    }
                }
            }
        }
        Ok(())
    }

    fn give_back(&mut self, old: &mut Router, moved: &[(usize, usize, usize)]) {
        for &(worker, former, element) in moved {
            if let Some(state) = self.workers[worker].with(element, |e, _| e.give_state()).flatten() {
                return_state(&mut old.workers[worker], former, state);
            }
        }
    }

    /// Takes the router down: every element does its last act.
    pub fn finish(&mut self) {
        for worker in &mut self.workers {
            for element in 0..worker.slots.len() {
                worker.with(element, |instance, cx| instance.finish(cx));
            }
        }
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Packets dropped so far on all workers: element, reason and number, by element and reason.
    pub fn drops(&self) -> Vec<(usize, &'static str, u64)> {
        let mut sums = BTreeMap::new();
        for worker in &self.workers {
            for (element, drops) in worker.core.drops.iter().enumerate() {
                for &(reason, count) in drops {
                    *sums.entry((element, reason)).or_insert(0) += count;
                }
            }
        }
        sums.into_iter().map(|((element, reason), count)| (element, reason, count)).collect()
    }

    /// Dispatches that the workers have made: hops of batches between elements.
    pub fn dispatches(&self) -> u64 {
        self.workers.iter().map(|worker| worker.core.account.dispatches).sum()
    }
}

fn return_state(worker: &mut Worker, element: usize, state: Box<dyn std::any::Any + Send>) {
    // It was this element's a moment ago, so it fits.
    worker.with(element, |e, cx| e.take_state(cx, state).is_ok());
}

/// Runs a worker on this thread until the router halts.
fn drive(worker: &mut Worker) {
    let info = worker.core.info.clone();
    let mailbox = info.mailboxes[worker.core.worker].clone();
    while !info.halted() {
        match worker.turn() {
            Turned::Busy if worker.core.awaited.is_empty() => {}
            // Devices that wait are looked at once a turn while others keep the worker busy.
            Turned::Busy => wait(std::slice::from_mut(worker), Some(Duration::ZERO)),
            _ if !mailbox.is_empty() => {}
            Turned::Idle(next) => sleep(worker, next),
            Turned::Blocked => sleep(worker, None),
        }
    }
}

/// Sleeps until a time, a message or a device. A worker that sleeps holds no references and no grace period up.
fn sleep(worker: &mut Worker, until_ns: Option<i64>) {
    if worker.core.info.halted() {
        return;
    }
    let now_ns = worker.core.clock.now_ns();
    worker.core.account.pass(now_ns);
    let left = until_ns.map(|at| at.saturating_sub(now_ns).max(0).unsigned_abs());
    worker.reader.offline();
    wait(std::slice::from_mut(worker), left.map(Duration::from_nanos));
    worker.reader.online();
    worker.core.account.slept(worker.core.clock.now_ns());
}

/// The processors that this thread may use, those behind the first `skipped` first.
fn processors(skipped: usize) -> Vec<usize> {
    let mut all: Vec<usize> = rustix::thread::sched_getaffinity(None)
        .map(|set| (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
        .unwrap_or_default();
    let places = all.len().max(1);
    all.rotate_left(skipped % places);
    all
}

/// A thread bound to a processor; free again when this is dropped, so that threads started later are free as well.
struct Pinned(Option<rustix::thread::CpuSet>);

impl Pinned {
    /// Binds this thread; without permission it stays unbound.
    fn to(processor: Option<usize>) -> Pinned {
        let Some(processor) = processor else { return Pinned(None) };
        let before = rustix::thread::sched_getaffinity(None).ok();
        let mut set = rustix::thread::CpuSet::new();
        set.set(processor);
        let bound = rustix::thread::sched_setaffinity(None, &set).is_ok();
        Pinned(before.filter(|_| bound))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ = rustix::thread::sched_setaffinity(None, before);
        }
    }
}

/// The clock of a router.
impl Router {
    /// The time as this router sees it.
    pub fn clock(&self) -> &Clock {
        &self.info.clock
    }
}
