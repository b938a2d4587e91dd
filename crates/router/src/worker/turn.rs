//! A worker's turn.
//!
//! One turn runs tasks, the work that they start, timers and messages; between turns is RCU's quiescent
//! state. A turn ends early, between two elements, when a grace period waits for it or control computations have taken long. The work-list is a stack. An element never calls another: what it emits is pushed onto the stack in
//! reverse, so that the first emission and everything that follows from it come before the second, as if each hop
//! were a call.

use crate::context::core::{Link, NOWHERE};
use crate::context::cx::Cx;
use crate::context::verdict::Verdict;
use crate::context::work::{Waiting, Work};
use crate::element::behaviour::Pull;
use crate::handlers::call::Call;
use crate::shared::mailbox::Reply;
use crate::shared::record::{Level, Record};
use crate::worker::instances::{Running, Slot, Turned, Worker, dispatch};
use packet::{Batch, Packet};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Tasks that a turn runs at most.
pub(super) const TASKS_PER_TURN: usize = 128;
/// After so many tasks the clock is asked, which costs as much as a packet or two; after each, once tasks between two looks
/// took [`SLOW_NS`].
const TASKS_PER_LOOK: usize = 16;
const SLOW_NS: i64 = 250_000;
/// A turn that has taken longer ends: tasks that make system calls take a hundred times as long as others, and timers, the
/// hellos of a cluster among them, must not wait for 128 of them.
const TURN_NS: i64 = 1_000_000;
/// After so many hops a packet that is alone in its batch goes onto the list if a grace period waits for the turn.
const HOPS_PER_LOOK: usize = 64;
/// Timers that a turn runs at most: one that is due again whenever it has run must not keep all else from running.
const TIMERS_PER_TURN: usize = 1024;
/// Dispatches that a turn makes at most; a loop in the graph carries over to the next turn.
const DISPATCHES_PER_TURN: usize = 16_384;

/// Why the worker drops packets on their way between elements: what they are sent to has no instance here, or an element hands them down
/// a pull path although nothing asked for them. Counted for the element that they come from.
pub(crate) const ASTRAY: [&str; 2] = ["output leads nowhere on this worker", "answer that leads nowhere"];

impl Worker {
    /// Runs one turn, then announces the quiescent state.
    ///
    /// # Panics
    /// If an element does; the router has halted then.
    pub(crate) fn turn(&mut self) -> Turned {
        self.core.now_ns = self.core.clock.now_ns();
        self.core.account.pass(self.core.now_ns);
        // Elements are watched for whole turns: what is not watched pays for one comparison a turn.
        let is_watched = self.core.account.turns >= self.core.watch.next_turn;
        if is_watched {
            self.begin_watching();
        }
        let mut budget = DISPATCHES_PER_TURN;
        let turned = match catch_unwind(AssertUnwindSafe(|| self.running().turn(&mut budget))) {
            Ok(turned) => turned,
            Err(panic) => self.fail(panic),
        };
        self.core.account.turned((DISPATCHES_PER_TURN - budget) as u64);
        if is_watched {
            self.end_watching();
        }
        self.reader.quiescent();
        match self.core.info.voices.due_ns() {
            i64::MAX => turned,
            due_ns => self.mind_voices(turned, due_ns),
        }
    }

    /// Messages were held back: the worker says how many when the time has come, and sleeps no longer than until then.
    #[cold]
    fn mind_voices(&mut self, turned: Turned, due_ns: i64) -> Turned {
        if self.core.now_ns >= due_ns {
            self.core.info.tell_held();
            return turned;
        }
        match turned {
            Turned::Idle(next_ns) => {
                Turned::Idle(Some(next_ns.map_or(due_ns, |next_ns| next_ns.min(due_ns))))
            }
            turned => turned,
        }
    }

    /// An element has panicked: what it left half done is not to be touched again, so that the router halts, and the panic goes on.
    #[cold]
    fn fail(&mut self, panic: Box<dyn Any + Send>) -> ! {
        let info = self.core.info.clone();
        let element = self.core.here;
        self.core.broken = Some(element);
        let what = info.nodes.get(element as usize).map_or(String::new(), |node| node.declaration());
        let text = format!("worker {} has panicked in '{what}': the router stops", self.core.worker);
        info.log.write(&Record::new(Level::Error, &text));
        info.halt();
        resume_unwind(panic)
    }

    /// Does what the last turn before a stop left on the list because a grace period waited for it: these packets are between two elements,
    /// and the call that stopped the driver came after they had set out. One turn's work at most, since the graph may have a loop.
    pub(crate) fn end_last_turn(&mut self) {
        let mut budget = DISPATCHES_PER_TURN;
        while budget > 0 && self.running().run_list(&mut budget) == Some(Turned::Busy) {
            self.reader.quiescent();
        }
    }

    /// Serves messages and what follows from them, but runs no task and no timer.
    pub(crate) fn serve(&mut self) -> Turned {
        self.core.now_ns = self.core.clock.now_ns();
        let turned = self.running().serve();
        self.reader.quiescent();
        turned
    }
}

impl Running<'_> {
    fn turn(&mut self, budget: &mut usize) -> Turned {
        let mut look_at = if self.core.times_tasks { 1 } else { self.core.tasks_per_look };
        // What elements began when they were initialised comes before anything else, also before the driver's first step.
        if !std::mem::replace(&mut self.core.began, true)
            && let Some(turned) = self.run_list(budget)
        {
            return turned;
        }
        self.read_mail();
        self.stop_waiting_for_workers();
        // Before the list, too: a loop in the graph would never let the driver stop.
        if self.is_asked_to_stop()
            && let Some(turned) = self.consider_stopping(budget)
        {
            return turned;
        }
        if let Some(turned) = self.run_list(budget) {
            return turned;
        }
        for task in 1..=TASKS_PER_TURN {
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
            if let Some(turned) = self.run_task(element, budget) {
                return turned;
            }
            if task == look_at {
                look_at += self.look_at_clock();
                if self.core.now_ns - self.began_ns > TURN_NS {
                    break;
                }
            }
            if self.is_hurried() {
                break;
            }
        }
        for _ in 0..TIMERS_PER_TURN {
            let Some((element, key)) = self.core.timers.pop_due(self.core.now_ns) else { break };
            dispatch!(self, element, |instance, cx| instance.timer(cx, key));
            if let Some(turned) = self.run_list(budget) {
                return turned;
            }
            if self.is_hurried() {
                return Turned::Busy;
            }
        }
        // Whether to stop is decided before time passes.
        let stops = self.core.worker == 0 && self.is_asked_to_stop();
        if stops || !self.core.scheduler.is_idle() || !self.mailbox_is_empty() {
            return Turned::Busy;
        }
        Turned::Idle(self.core.timers.next_ns())
    }

    /// Notes the time, and after how many tasks to look again: after each if they were slow since the last look, or
    /// if each one's time is to be known, otherwise after twice as many as before. Simulated time stands still
    /// meanwhile.
    fn look_at_clock(&mut self) -> usize {
        let now_ns = self.core.clock.now_ns();
        let elapsed_ns = now_ns - self.core.now_ns;
        self.core.now_ns = now_ns;
        if self.core.times_tasks {
            self.core.scheduler.charge(elapsed_ns.max(0).unsigned_abs());
            return 1;
        }
        let is_slow = elapsed_ns > SLOW_NS;
        let more = (2 * self.core.tasks_per_look).min(TASKS_PER_LOOK);
        self.core.tasks_per_look = if is_slow { 1 } else { more };
        self.core.tasks_per_look
    }

    /// Runs an element's task and what follows from it.
    #[inline]
    pub(super) fn run_task(&mut self, element: u32, budget: &mut usize) -> Option<Turned> {
        let slot = &mut self.slots[element as usize];
        self.core.enter(element, slot.exits);
        if let Some(instance) = &mut slot.instance {
            instance.run_task(&mut Cx { core: self.core, turn: self.turn });
        }
        // The first item is done without touching the list.
        match self.core.take_first() {
            Some(Work::Push { element, port, batch }) if *budget > 0 => {
                *budget -= 1;
                self.push(Link { element, port }, batch, budget);
            }
            Some(Work::Ask { element, port, want, own }) if *budget > 0 => {
                *budget -= 1;
                self.ask(element, port, want, own, budget);
            }
            first => self.core.list.extend(first),
        }
        if self.core.list.is_empty() { None } else { self.run_list(budget) }
    }

    fn serve(&mut self) -> Turned {
        let mut budget = DISPATCHES_PER_TURN;
        self.read_mail();
        self.run_list(&mut budget).unwrap_or(Turned::Idle(None))
    }

    #[inline]
    pub(super) fn mailbox_is_empty(&self) -> bool {
        self.core.info.mailboxes[self.core.worker].is_empty()
    }

    #[inline]
    fn is_asked_to_stop(&self) -> bool {
        self.core.info.is_asked_to_stop()
    }

    /// The driver was asked to stop: the first worker asks the element that steers it, if there is one, the others go
    /// on until it has decided. `None` if work goes on.
    fn consider_stopping(&mut self, budget: &mut usize) -> Option<Turned> {
        let info = self.core.info.clone();
        if info.run_count() > 0
            && !info.halted()
            && info.ending.is_wanted()
            && let Some(turned) = self.let_arrive(budget)
        {
            return Some(turned);
        }
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
            let Some(element) = info.made.driver_manager else {
                info.halt();
                return Some(Turned::Idle(None));
            };
            if self.core.asked.is_none() {
                self.core.asked = Some(info.grants.load(std::sync::atomic::Ordering::Relaxed));
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

    /// Whether a grace period waits for this turn: then it ends with what is being done, and the list goes on in the next, so
    /// that something is done in every turn. Simulated turns do not depend on how quick the machine is.
    #[inline]
    fn is_hurried(&self) -> bool {
        self.reader.asked() && !self.core.clock.is_simulated()
    }

    /// Runs the work-list until it is empty (`None`), waits for another worker, or has used up the turn.
    pub(super) fn run_list(&mut self, budget: &mut usize) -> Option<Turned> {
        while let Some(work) = self.core.list.pop() {
            if *budget == 0 {
                self.core.list.push(work);
                return Some(Turned::Busy);
            }
            *budget -= 1;
            match work {
                Work::Push { element, port, batch } => self.push(Link { element, port }, batch, budget),
                Work::Ask { element, port, want, own } => self.ask(element, port, want, own, budget),
                Work::Waiting(_) => {} // its answer was lost with a dropped batch: nothing to hand on
                Work::Answer { batch } => self.answer(batch),
                Work::Control(control) => {
                    if !self.control(*control) {
                        return Some(Turned::Blocked);
                    }
                    // A step may have taken long: a script's load of a table, for one.
                    if !self.core.list.is_empty() && self.core.clock.now_ns() - self.began_ns > TURN_NS {
                        return Some(Turned::Busy);
                    }
                }
            }
            if self.is_hurried() && !self.core.list.is_empty() {
                return Some(Turned::Busy);
            }
        }
        None
    }

    /// Brings a batch to an element, and what that emits first to the next, and so on to the end of the path. Whatever else
    /// is emitted on the way goes onto the list.
    #[inline(never)] // the list's loop stays small
    fn push(&mut self, mut link: Link, mut batch: Batch, budget: &mut usize) {
        self.core.account.batches.count(batch.len());
        loop {
            let verdict = match batch.packets_mut() {
                [packet] => self.push_alone(&mut link, packet, budget),
                _ => None,
            };
            let mut cx = Cx { core: self.core, turn: self.turn };
            if let Some(verdict) = verdict {
                cx.settle(verdict, batch);
            } else if let Some(Slot { instance: Some(instance), exits }) =
                self.slots.get_mut(link.element as usize)
            {
                cx.core.enter(link.element, *exits);
                instance.push(&mut cx, link.port as usize, batch);
            } else {
                // Counted for the element that sent it there.
                cx.drop_batch(batch, ASTRAY[0]);
            }
            match self.core.take_first() {
                Some(Work::Push { element, port, batch: rest }) if *budget > 0 && !self.is_hurried() => {
                    *budget -= 1;
                    (link, batch) = (Link { element, port }, rest);
                }
                first => return self.core.list.extend(first),
            }
        }
    }

    /// Takes a packet that is alone in its batch through elements for as long as they only pass it on, which needs neither
    /// list nor emission. Moves `link` to the element where that ends: its verdict, or `None` if it wants the batch.
    #[inline(never)] // a loop of its own keeps all it needs in registers
    fn push_alone(&mut self, link: &mut Link, packet: &mut Packet, budget: &mut usize) -> Option<Verdict> {
        self.core.base = self.core.list.len();
        let (mut to, mut left) = (*link, *budget);
        let mut cx = Cx { core: self.core, turn: self.turn };
        let verdict = loop {
            let Some(Slot { instance: Some(instance), exits }) = self.slots.get_mut(to.element as usize)
            else {
                break None;
            };
            cx.core.here = to.element;
            cx.core.exits = *exits;
            let verdict = instance.push_one(&mut cx, to.port as usize, packet);
            if !cx.core.is_quiet() || left == 0 || left % HOPS_PER_LOOK == 0 && self.reader.asked() {
                break verdict;
            }
            match verdict {
                Some(Verdict::Pass) => to = exits.first,
                Some(Verdict::Output(output)) if output < exits.count as usize => {
                    to = cx.core.outputs[exits.start as usize + output];
                }
                other => break other,
            }
            left -= 1;
        };
        (*link, *budget) = (to, left);
        verdict
    }

    /// An element asks upstream: finds out who answers, passing the request on as often as necessary. What is answered at
    /// once comes down at once; otherwise the list remembers who waits.
    #[inline(never)] // the list's loop stays small
    fn ask(&mut self, element: u32, port: u16, want: u8, own: bool, budget: &mut usize) {
        let (mut waiting, mut want) = (Waiting { element, port, own }, want as usize);
        loop {
            let base = self.core.list.len();
            let link = self.core.uplink(waiting.element, waiting.port);
            let pull = match link.element {
                NOWHERE => None,
                up => dispatch!(self, up, |instance, cx| instance.pull(cx, link.port as usize, want)),
            };
            let at_once = self.core.list.len() == base; // nothing has to be done before
            match pull.unwrap_or(Pull::Nothing) {
                Pull::Give(batch) if at_once => return self.hand_down(waiting, batch),
                Pull::Nothing if at_once => {
                    let batch = self.core.pool.batch();
                    return self.hand_down(waiting, batch);
                }
                Pull::Ask { input, want: more } if at_once && *budget > 0 => {
                    *budget -= 1;
                    self.core.list.push(Work::Waiting(waiting));
                    waiting = Waiting { element: link.element, port: input as u16, own: false };
                    want = more.min(packet::BATCH_MAX);
                }
                pull => {
                    self.core.list.insert(base, Work::Waiting(waiting));
                    return self.handle_pull(base + 1, link.element, pull);
                }
            }
        }
    }

    /// Carries out what an element in a pull path wants, after whatever it emitted above `base`.
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

    /// Packets come down to the element that waits for them, which lies on top of the list.
    fn answer(&mut self, batch: Batch) {
        match self.core.list.pop() {
            Some(Work::Waiting(waiting)) => self.hand_down(waiting, batch),
            other => {
                self.core.list.extend(other);
                self.drop_answer(batch);
            }
        }
    }

    /// Drops packets that an element has answered although nothing waits for them.
    #[cold]
    #[inline(never)]
    fn drop_answer(&mut self, batch: Batch) {
        Cx { core: self.core, turn: self.turn }.drop_batch(batch, ASTRAY[1]);
    }

    /// Hands packets to the element that waits for them; unless it asked of its own accord, it hands them on.
    fn hand_down(&mut self, mut waiting: Waiting, mut batch: Batch) {
        self.core.account.batches.count(batch.len());
        loop {
            let Waiting { element, port, own } = waiting;
            let base = self.core.list.len();
            let pull = dispatch!(self, element, |instance, cx| instance.pulled(cx, port as usize, batch));
            match pull.unwrap_or(Pull::Nothing) {
                Pull::Give(rest) if own => return self.drop_answer(rest),
                Pull::Nothing | Pull::Later if own => return,
                Pull::Ask { input, want } if own => {
                    let want = want.min(packet::BATCH_MAX) as u8;
                    self.core.list.insert(base, Work::Ask { element, port: input as u16, want, own });
                    return;
                }
                Pull::Give(rest) if self.core.list.len() == base => match self.core.list.pop() {
                    Some(Work::Waiting(below)) => (waiting, batch) = (below, rest),
                    other => {
                        self.core.list.extend(other);
                        return self.drop_answer(rest);
                    }
                },
                pull => return self.handle_pull(base, element, pull),
            }
        }
    }
}
