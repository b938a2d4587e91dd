//! A worker's turn.
//!
//! One turn runs tasks, the work that they start, timers and messages; between turns is RCU's quiescent
//! state. A turn ends early, between two elements, when a grace period waits for it or control computations have taken long. The work-list is a stack. An element never calls another: what it emits is pushed onto the stack in
//! reverse, so that the first emission and everything that follows from it come before the second, as if each hop
//! were a call.

use crate::context::core::Link;
use crate::context::cx::Cx;
use crate::context::work::{Load, Work};
use crate::handlers::call::Call;
use crate::shared::mailbox::Reply;
use crate::shared::record::{Level, Record};
use crate::worker::instances::{Running, Turned, Worker, dispatch};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Tasks that a turn runs at most.
pub(super) const TASKS_PER_TURN: usize = 128;
/// After so many tasks at most the clock is asked, which costs as much as a packet or two.
const TASKS_PER_LOOK: usize = 16;
/// The clock is asked after fewer tasks where these take longer than this together.
const BETWEEN_LOOKS_NS: i64 = 250_000;
/// A turn that has taken longer ends: tasks that make system calls take a hundred times as long as others, and timers, the
/// hellos of a cluster among them, must not wait for 128 of them.
const TURN_NS: i64 = 1_000_000;
/// Timers that a turn runs at most: one that is due again whenever it has run must not keep all else from running.
const TIMERS_PER_TURN: usize = 1024;
/// Dispatches that a turn makes at most; a loop in the graph carries over to the next turn.
const DISPATCHES_PER_TURN: usize = 16_384;

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
        let turned = self.attempt(|running| running.turn(&mut budget));
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

    /// Does some work. If an element panics, that is said of it, and the panic goes on.
    fn attempt<R>(&mut self, work: impl FnOnce(&mut Running<'_>) -> R) -> R {
        match catch_unwind(AssertUnwindSafe(|| work(&mut self.running()))) {
            Ok(done) => done,
            Err(panic) => self.fail(panic),
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
        while budget > 0 && self.attempt(|running| running.run_list(&mut budget)) == Some(Turned::Busy) {
            self.reader.quiescent();
        }
    }

    /// Serves messages and what follows from them, but runs no task and no timer.
    pub(crate) fn serve(&mut self) -> Turned {
        self.core.now_ns = self.core.clock.now_ns();
        let turned = self.attempt(|running| running.serve());
        self.reader.offline(); // nor does it take turns otherwise
        turned
    }
}

impl Running<'_> {
    fn turn(&mut self, budget: &mut usize) -> Turned {
        let mut looked = 0;
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
        // The last turn was cut short before its timers: where grace periods follow upon each other, each might be.
        if std::mem::replace(&mut self.core.owes_timers, true)
            && let Some(turned) = self.run_timers(budget)
        {
            return turned;
        }
        for task in 1..TASKS_PER_TURN + 1 {
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
            // A turn that is cut short learns as well: grace periods every few milliseconds would otherwise keep slow tasks from ever being noticed.
            let is_hurried = self.is_hurried();
            if task == look_at || is_hurried {
                look_at = task + self.look_at_clock(task - looked);
                looked = task;
                if is_hurried || self.core.now_ns - self.began_ns > TURN_NS {
                    break;
                }
            }
        }
        if let Some(turned) = self.run_timers(budget) {
            return turned;
        }
        // Whether to stop is decided before time passes.
        let stops = self.core.worker == 0 && self.is_asked_to_stop();
        if stops || !self.core.scheduler.is_idle() || !self.mailbox_is_empty() {
            return Turned::Busy;
        }
        Turned::Idle(self.core.timers.next_ns())
    }

    /// Runs the timers that are due, each with what follows from it.
    fn run_timers(&mut self, budget: &mut usize) -> Option<Turned> {
        self.core.owes_timers = false;
        for _ in 0..TIMERS_PER_TURN {
            let (element, key) = self.core.timers.pop_due(self.core.now_ns)?;
            dispatch!(self, element, |instance, cx| instance.timer(cx, key));
            if let Some(turned) = self.run_list(budget) {
                return Some(turned);
            }
            if self.is_hurried() {
                return Some(Turned::Busy);
            }
        }
        None
    }

    /// Notes the time, which some tasks have gone by since the last look, and after how many to look again: as many as
    /// [`BETWEEN_LOOKS_NS`] has room for at their pace, but at most twice as many as before, and after each if each one's time is to be
    /// known. Simulated time stands still meanwhile.
    fn look_at_clock(&mut self, tasks: usize) -> usize {
        let now_ns = self.core.clock.now_ns();
        let elapsed_ns = now_ns - self.core.now_ns;
        self.core.now_ns = now_ns;
        if self.core.times_tasks {
            self.core.scheduler.charge(elapsed_ns.max(0).unsigned_abs());
            return 1;
        }
        let room = BETWEEN_LOOKS_NS * tasks as i64 / elapsed_ns.max(1);
        let most = (2 * self.core.tasks_per_look).min(TASKS_PER_LOOK);
        self.core.tasks_per_look = usize::try_from(room).unwrap_or(1).clamp(1, most);
        self.core.tasks_per_look
    }

    /// Runs an element's task and what follows from it.
    #[inline]
    pub(super) fn run_task(&mut self, element: u32, budget: &mut usize) -> Option<Turned> {
        let slot = &mut self.slots[element as usize];
        self.core.enter(element, &slot.exits);
        if let Some(instance) = &mut slot.instance {
            instance.run_task(&mut Cx { core: self.core, turn: self.turn });
        }
        self.do_first(budget);
        if self.core.list.is_empty() { None } else { self.run_list(budget) }
    }

    /// Does the first item that a task has made, without touching the list. A variant at a time: an item that is moved as a whole goes by
    /// way of the stack.
    #[inline(always)] // once for each run
    fn do_first(&mut self, budget: &mut usize) {
        if self.core.first.is_none() {
            return;
        }
        if *budget == 0 {
            return self.core.leave();
        }
        if let Some(Work::Ask { element, port, want, own }) = self.core.first {
            std::mem::forget(self.core.take_first()); // owns nothing
            *budget -= 1;
            return self.ask(element, port, want, own, budget);
        }
        if matches!(self.core.first, Some(Work::Alone { .. }))
            && let Some(Work::Alone { element, port, packet }) = self.core.take_first()
        {
            *budget -= 1;
            return self.push_alone(Link { element, port }, packet, budget);
        }
        self.do_first_batch(budget);
    }

    #[inline(never)] // what one packet takes stays short
    fn do_first_batch(&mut self, budget: &mut usize) {
        if let Some((link, load)) = self.core.take_load() {
            *budget -= 1;
            let load = match load {
                Load::Batch(batch) => self.load(batch),
                alone => alone,
            };
            self.push(link, load, budget);
        }
    }

    fn serve(&mut self) -> Turned {
        let mut budget = DISPATCHES_PER_TURN;
        self.read_mail();
        self.run_list(&mut budget).unwrap_or(Turned::Idle(None))
    }

    #[inline]
    pub(super) fn mailbox_is_empty(&self) -> bool {
        self.core.mailbox.is_empty()
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
    pub(super) fn is_hurried(&self) -> bool {
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
                Work::Push { element, port, batch } => {
                    let load = self.load(batch);
                    self.push(Link { element, port }, load, budget);
                }
                Work::Alone { element, port, packet } => {
                    self.push_alone(Link { element, port }, packet, budget);
                }
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
}
