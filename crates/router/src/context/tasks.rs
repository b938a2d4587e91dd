//! How an element controls when it runs: tasks, timers, notifiers.

use crate::context::core::Exits;
use crate::context::cx::Cx;
use crate::schedule::awaited::{Awaited, Interest};
use crate::schedule::sched::TaskAccount;
use crate::schedule::signals::{Signal, Wanted};
use crate::shared::account::Account;
use crate::shared::mailbox::Message;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Runs of a task that are made one by one, whatever the vector.
const RUNS_ONE_BY_ONE: u64 = 1_000;

/// Tasks, timers, notifiers.
impl Cx<'_> {
    /// Makes this element's task run (again), after what is scheduled already.
    #[inline]
    pub fn schedule(&mut self) {
        let task = self.task();
        self.core.scheduler.schedule(task);
    }

    /// Makes this element's task run once a descriptor is ready (or has failed); the worker may sleep meanwhile. Holds for
    /// one time: a task that wants to be woken again says so again.
    pub fn schedule_when(&mut self, fd: &Arc<OwnedFd>, interest: Interest) {
        let _ = self.task();
        let element = self.core.here;
        let known = |a: &Awaited| a.element == element && a.interest == interest && Arc::ptr_eq(&a.fd, fd);
        if !self.core.awaited.iter().any(known) {
            self.core.awaited.push(Awaited { element, fd: fd.clone(), interest });
        }
    }

    /// Stops this element's task until it is scheduled again.
    #[inline]
    pub fn unschedule(&mut self) {
        let task = self.task();
        self.core.scheduler.unschedule(task);
    }

    /// Whether this element's task is scheduled.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        let task = self.core.tasks[self.core.here as usize];
        task.is_some_and(|task| self.core.scheduler.is_scheduled(task))
    }

    #[inline]
    fn task(&mut self) -> u32 {
        self.task_of(self.core.here as usize)
    }

    #[inline]
    fn task_of(&mut self, element: usize) -> u32 {
        match self.core.tasks[element] {
            Some(task) => task,
            None => self.new_task(element),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_task(&mut self, element: usize) -> u32 {
        let task = self.core.scheduler.add(element as u32);
        self.core.tasks[element] = Some(task);
        self.core.info.has_task[element].store(true, Relaxed);
        task
    }

    /// This element's task's share: its tickets.
    pub fn tickets(&self) -> u32 {
        let task = self.core.tasks[self.core.here as usize];
        task.map_or(0, |task| self.core.scheduler.tickets(task))
    }

    /// Sets this element's task's share.
    pub fn set_tickets(&mut self, tickets: u32) {
        let task = self.task();
        self.core.scheduler.set_tickets(task, tickets);
    }

    /// Sets the share of the task that another element has on this worker.
    pub fn set_tickets_of(&mut self, element: usize, tickets: u32) {
        let task = self.task_of(element);
        self.core.scheduler.set_tickets(task, tickets);
    }

    /// How often this element's task has run.
    #[inline]
    pub fn task_runs(&self) -> u64 {
        let task = self.core.tasks[self.core.here as usize];
        task.map_or(0, |task| self.core.scheduler.runs(task))
    }

    /// Has this worker time each run of a task from now on, which costs a look at the clock for each.
    pub fn time_tasks(&mut self) {
        self.core.times_tasks = true;
    }

    /// What each task of this worker has done.
    pub fn task_accounts(&self) -> impl Iterator<Item = TaskAccount> {
        self.core.scheduler.accounts()
    }

    /// What this worker has done.
    pub fn account(&self) -> &Account {
        &self.core.account
    }

    /// Calls [`crate::Element::timer`] with `key` at a time, in nanoseconds since the epoch. Setting a key again moves it.
    #[inline]
    pub fn timer_at(&mut self, key: u32, at_ns: i64) {
        let here = self.core.here;
        self.core.timers.set(here, key, at_ns);
    }

    /// The same, some time from now.
    #[inline]
    pub fn timer_after(&mut self, key: u32, delay: Duration) {
        let delay = i64::try_from(delay.as_nanos()).unwrap_or(i64::MAX / 2);
        self.timer_at(key, self.core.now_ns.saturating_add(delay));
    }

    /// Forgets a timer.
    #[inline]
    pub fn cancel_timer(&mut self, key: u32) {
        let here = self.core.here;
        self.core.timers.cancel(here, key);
    }

    /// Whether a timer is set.
    #[inline]
    pub fn timer_is_set(&self, key: u32) -> bool {
        self.core.timers.is_set(self.core.here, key)
    }

    /// Declares, while initialising, that this element tells pullers downstream when it has packets. Initially active.
    pub fn provide_signal(&mut self) {
        let here = self.core.here as usize;
        if self.core.provides[here].is_none() {
            self.core.provides[here] = Some(self.core.signals.len() as u32);
            self.core.signals.push(Signal::active());
        }
    }

    /// Says whether this element has packets for pullers downstream; wakes their tasks when that becomes true.
    #[inline]
    pub fn set_signal(&mut self, active: bool) {
        if let Some(signal) = self.core.provides[self.core.here as usize] {
            self.core.set_signal(signal, active);
        }
    }

    /// Whether this element's signal is active.
    #[inline]
    pub fn signal(&self) -> bool {
        self.core.provides[self.core.here as usize]
            .is_none_or(|signal| self.core.signals[signal as usize].active)
    }

    /// Says, while initialising, that this element's task wants to be woken when packets are to be had at a pull input.
    pub fn listen(&mut self, input: usize) {
        let _ = self.task();
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Input(input as u16)));
    }

    /// Says, while initialising, that this element's signal becomes active whenever packets are to be had at a pull input.
    pub fn relay(&mut self, input: usize) {
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Relay(input as u16)));
    }

    /// Whether asking at a pull input can yield packets: false only if everything upstream there has said that it has
    /// none. Needs [`Cx::listen`] or [`Cx::relay`] on the same input.
    #[inline]
    pub fn may_have(&self, input: usize) -> bool {
        let at = self.core.first_input[self.core.here as usize] as usize + input;
        self.core.any_active(self.core.upstream.get(at))
    }

    /// Declares, while initialising, that this element tells sources upstream when it is full. Initially it has room.
    pub fn provide_room(&mut self) {
        let here = self.core.here as usize;
        if self.core.rooms[here].is_none() {
            self.core.rooms[here] = Some(self.core.signals.len() as u32);
            self.core.signals.push(Signal::active());
        }
    }

    /// Says for how many packets this element has room; wakes the tasks of sources upstream when there is some again.
    #[inline]
    pub fn set_room(&mut self, packets: usize) {
        if let Some(signal) = self.core.rooms[self.core.here as usize] {
            self.core.signals[signal as usize].room = packets;
            self.core.set_signal(signal, packets > 0);
        }
    }

    /// Says, while initialising, that this element's task wants to be woken when there is room downstream of a push output.
    pub fn listen_room(&mut self, output: usize) {
        let _ = self.task();
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Output(output as u16)));
    }

    /// Says, while initialising, that this element's task may do several runs at once if there is room for their packets
    /// downstream of a push output.
    pub fn watch_room(&mut self, output: usize) {
        let here = self.core.here;
        self.core.wanted.push((here, Wanted::Room(output as u16)));
    }

    /// How many runs of this element's task, each of which handles up to `packets`, it may do at once: as many as fill a
    /// vector, but no more than fit into the fullest of the elements downstream that say what they have room for. At least
    /// one. Needs [`Cx::listen_room`] or [`Cx::watch_room`] on push outputs.
    ///
    /// With a vector of 1 it is always one, so that tasks alternate exactly as in Click. With a larger one, too, until the
    /// task has run a thousand times: small experiments show their effects packet by packet, load comes in vectors.
    #[inline]
    pub fn runs_at_once(&self, packets: usize) -> usize {
        let packets = packets.max(1);
        let runs = self.core.info.vector / packets;
        if runs <= 1 || self.task_runs() < RUNS_ONE_BY_ONE {
            return 1;
        }
        runs.min(self.room_everywhere() / packets).max(1)
    }

    /// Packets for which there is room in the fullest of the elements downstream of this one's outputs that say what they have room
    /// for. Needs [`Cx::listen_room`] or [`Cx::watch_room`] on push outputs.
    pub fn room(&self) -> usize {
        self.room_everywhere()
    }

    /// Packets for which each element downstream of this one's outputs has room.
    fn room_everywhere(&self) -> usize {
        let Exits { start, count, .. } = self.core.exits;
        let outputs = self.core.downstream.get(start as usize..(start + count) as usize).unwrap_or_default();
        let rooms = outputs.iter().flatten().map(|&signal| self.core.signals[signal as usize].room);
        rooms.min().unwrap_or(usize::MAX)
    }

    /// Counts a run of this element's task that did the work of `runs` as so many.
    #[inline]
    pub fn count_runs(&mut self, runs: usize) {
        if runs > 1 {
            let task = self.task();
            self.core.scheduler.count_more_runs(task, runs as u64 - 1);
        }
    }

    /// Whether packets emitted at an output can be kept: false only if they would all end at elements that are full. Needs
    /// [`Cx::listen_room`] on the same output.
    #[inline]
    pub fn has_room(&self, output: usize) -> bool {
        let at = self.core.exits.start as usize + output;
        self.core.any_active(self.core.downstream.get(at))
    }

    /// The signals that [`Cx::may_have`] looks at, for people: which of those that elements provide by [`Cx::provide_signal`], in the
    /// order in which they did, and whether they are active.
    pub fn signals_above(&self, input: usize) -> Vec<(usize, bool)> {
        let at = self.core.first_input[self.core.here as usize] as usize + input;
        self.numbered(self.core.upstream.get(at), &self.core.provides)
    }

    /// The signals that [`Cx::has_room`] looks at, in the same way: those that elements provide by [`Cx::provide_room`].
    pub fn rooms_below(&self, output: usize) -> Vec<(usize, bool)> {
        let at = self.core.exits.start as usize + output;
        self.numbered(self.core.downstream.get(at), &self.core.rooms)
    }

    fn numbered(&self, signals: Option<&Vec<u32>>, kind: &[Option<u32>]) -> Vec<(usize, bool)> {
        let before = |signal: u32| kind.iter().flatten().filter(|&&other| other < signal).count();
        signals.into_iter().flatten().map(|&s| (before(s), self.core.signals[s as usize].active)).collect()
    }

    /// Activates the signal of this element's instance on another worker.
    pub fn signal_worker(&self, worker: usize) {
        if let Some(mailbox) = self.core.info.mailboxes.get(worker) {
            mailbox.send(Message::Signal(self.core.here));
        }
    }

    /// Schedules the task of this element's instance on another worker.
    pub fn schedule_worker(&self, worker: usize) {
        self.schedule_element(self.index(), worker);
    }

    /// Schedules the task of an element's instance on a worker, if it has one: for elements that wait for something
    /// that others do to a part they share.
    pub fn schedule_element(&self, element: usize, worker: usize) {
        if let Some(mailbox) = self.core.info.mailboxes.get(worker) {
            mailbox.send(Message::Schedule(element as u32));
        }
    }
}
