//! A router: its workers, and how another configuration takes its place.

use crate::calls::handle::{Handle, first_owner, result};
use crate::configuration::node::Node;
use crate::element::behaviour::seen;
use crate::error::ConfigError;
use crate::handlers::call::Call;
use crate::handlers::response::HandlerResult;
use crate::shared::clock::Clock;
use crate::shared::info::{Info, Reconfigure};
use crate::shared::mailbox::{Message, Reply};
use crate::worker::instances::{Turned, Worker};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

/// Rounds of work that a router which halts for a swap does, at most: a loop in the graph never ends.
const SETTLING_ROUNDS: usize = 64;

/// A configured router.
pub struct Router {
    pub(crate) info: Arc<Info>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) pin: Option<usize>,
    /// Workers of a simulated router that are held, and until when.
    pub(crate) stalled: BTreeMap<usize, i64>,
}

impl Router {
    pub(crate) fn new(info: Arc<Info>, workers: Vec<Worker>, pin: Option<usize>) -> Router {
        Router { info, workers, pin, stalled: BTreeMap::new() }
    }

    /// What is known about the configuration.
    pub fn info(&self) -> &Arc<Info> {
        &self.info
    }

    /// A way to talk to the router from other threads while it runs.
    pub fn handle(&self) -> Handle {
        Handle::new(self.info.clone())
    }

    /// Calls a handler of a router that does not run (yet, or any more).
    ///
    /// # Errors
    /// What the handler says, or that there is none.
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
            busy |= self.await_asides();
            if let Ok(response) = receiver.try_recv() {
                return result(&self.info, &path, response);
            }
            if !busy && self.info.mailboxes.iter().all(|mailbox| mailbox.is_empty()) {
                return Err("the handler gave no answer".into());
            }
        }
    }

    /// Says what the handler `hotconfig` does with new configurations, if there is one
    /// ([`crate::Options::reconfigurable`]). To be said before the router runs: calls from outside wait for that.
    pub fn allow_reconfigure(&self, reconfigure: Reconfigure) {
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
            self.info.refuse_swap(&error.to_string());
            self.resume();
            return Err(error);
        }
        std::mem::swap(self, &mut new);
        // What the old one had is its own from now on, also if it is replaced before its first turn.
        self.info.has_run.store(true, Ordering::Relaxed);
        self.info.swaps.follow(&new.info.swaps);
        for (worker, old) in self.workers.iter_mut().zip(&mut new.workers) {
            worker.core.account = std::mem::take(&mut old.core.account);
        }
        if new.info.is_asked_to_stop() {
            // The old one was asked to stop meanwhile; with packets on their way, the new one carries them on.
            self.info.follow_stops(&new.info);
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
    pub(super) fn settle(&mut self) {
        for _ in 0..SETTLING_ROUNDS {
            let mut busy = false;
            for worker in &mut self.workers {
                busy |= worker.serve() == Turned::Busy || !worker.core.list.is_empty();
            }
            busy |= self.await_asides();
            if !busy && self.info.mailboxes.iter().all(|mailbox| mailbox.is_empty()) {
                return;
            }
        }
    }

    /// Waits until threads have the answers that they work on for handlers, where no worker has a thread of its own that goes on meanwhile.
    /// Whether there were any.
    pub(super) fn await_asides(&mut self) -> bool {
        if !self.workers.iter().any(Worker::has_aside) {
            return false;
        }
        self.workers.iter_mut().for_each(|worker| worker.reader.offline());
        let answers: Vec<_> = self.workers.iter().map(Worker::await_answers).collect();
        for (worker, answers) in self.workers.iter_mut().zip(answers) {
            worker.running().go_on(answers);
            worker.reader.quiescent();
        }
        true
    }

    /// Takes over the state of the elements of `old` that have a namesake of the same class here, in two steps: first every element says
    /// whether it can, then all states move.
    ///
    /// # Errors
    /// Which element cannot take over, and why. Nothing of `old` has changed then.
    pub fn take_over(&mut self, old: &mut Router) -> Result<(), ConfigError> {
        if self.info.ledgers.is_empty() != old.info.ledgers.is_empty() {
            return Err("one of two routers counts packets, and the other one does not".into());
        }
        let heirs = heirs(&self.info, &old.info);
        for heir in &heirs {
            let name = &self.info.nodes[heir.element].name;
            for &(from, to) in &heir.ways {
                let Some(former) = old.workers[from].slots[heir.former].instance.as_deref() else { continue };
                let answer = self.workers[to].with(heir.element, |e, cx| e.can_take_over(cx, seen(former)));
                if let Some(Err(error)) = answer {
                    return Err(format!("'{name}' cannot take over its state: {error}").into());
                }
            }
        }
        for heir in &heirs {
            for &(from, to) in &heir.ways {
                let state = old.workers[from].with(heir.former, |e, _| e.give_state()).flatten();
                if let Some(state) = state {
                    self.workers[to].with(heir.element, |e, cx| e.take_state(cx, state));
                }
            }
        }
        let info = self.info.clone();
        for heir in &heirs {
            for &worker in &info.nodes[heir.element].workers {
                self.workers[worker].with(heir.element, |e, cx| e.taken_over(cx));
            }
        }
        Ok(())
    }

    /// Takes the router down: every element does its last act, but for one that has panicked.
    pub fn finish(&mut self) {
        // One that has never run has callers that wait for it.
        self.info.halt();
        for worker in &mut self.workers {
            let broken = worker.core.broken.map(|element| element as usize);
            for element in (0..worker.slots.len()).filter(|element| Some(*element) != broken) {
                worker.with(element, |instance, cx| instance.finish(cx));
            }
        }
        self.info.tell_held();
    }

    /// The time as this router sees it.
    pub fn clock(&self) -> &Clock {
        &self.info.clock
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

/// An element that takes over from another one.
struct Heir {
    /// Its number, and that of its namesake in the old configuration.
    element: usize,
    former: usize,
    /// From which worker's instance to which worker's.
    ways: Vec<(usize, usize)>,
}

/// Who takes over from whom: elements from their namesakes of the same class.
fn heirs(new: &Info, old: &Info) -> Vec<Heir> {
    let heir = |(element, node): (usize, &Node)| {
        let former = old.elements.get(&node.name)?;
        let old = &old.nodes[former];
        (old.class.name == node.class.name).then(|| Heir {
            element,
            former,
            ways: ways(&old.workers, &node.workers),
        })
    };
    new.nodes.iter().enumerate().filter_map(heir).collect()
}

/// Which instance's state goes where when an element moves from some workers to others: to the same worker as long as it has an instance
/// there; the others' are spread over all that there are.
pub(super) fn ways(from: &[usize], to: &[usize]) -> Vec<(usize, usize)> {
    let mut spread = to.iter().cycle();
    let way = |&worker: &usize| {
        let place = if to.contains(&worker) { Some(&worker) } else { spread.next() };
        Some((worker, *place?))
    };
    from.iter().filter_map(way).collect()
}
