//! When an element runs: its task on this worker.

use crate::context::core::Core;
use crate::context::cx::Cx;
use crate::schedule::awaited::{Awaited, Interest};
use crate::schedule::sched::TaskAccount;
use crate::shared::account::Account;
use crate::shared::mailbox::Message;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Runs of a task that are made one by one, whatever the vector.
const RUNS_ONE_BY_ONE: u64 = 1_000;

/// The task of the element that runs, and those beside it: [`Cx::tasks`].
pub struct Tasks<'c> {
    core: &'c mut Core,
}

impl Cx<'_> {
    /// This element's task, and those of others.
    #[inline]
    pub fn tasks(&mut self) -> Tasks<'_> {
        Tasks { core: self.core }
    }
}

impl Tasks<'_> {
    /// Makes this element's task run (again), after what is scheduled already.
    #[inline]
    pub fn schedule(&mut self) {
        if !self.core.scheduler.runs_again(self.core.here) {
            self.core.schedule_own();
        }
    }

    /// Makes this element's task run once a descriptor is ready (or has failed); the worker may sleep meanwhile. Holds for
    /// one time: a task that wants to be woken again says so again.
    #[inline]
    pub fn schedule_when(&mut self, fd: &Arc<OwnedFd>, interest: Interest) {
        let _ = self.core.own_task();
        let element = self.core.here;
        let known = |a: &Awaited| a.element == element && a.interest == interest && Arc::ptr_eq(&a.fd, fd);
        if !self.core.awaited.iter().any(known) {
            self.core.awaited.push(Awaited { element, fd: fd.clone(), interest });
        }
    }

    /// Waits for none of this element's descriptors any more, so that those that it closes are closed.
    pub fn stop_waiting(&mut self) {
        let element = self.core.here;
        self.core.awaited.retain(|awaited| awaited.element != element);
    }

    /// Stops this element's task until it is scheduled again.
    #[inline]
    pub fn unschedule(&mut self) {
        let task = self.core.own_task();
        self.core.scheduler.unschedule(task);
    }

    /// Whether this element's task is scheduled.
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        let task = self.core.tasks[self.core.here as usize];
        task.is_some_and(|task| self.core.scheduler.is_scheduled(task))
    }

    /// Schedules the task of this element's instance on another worker.
    #[inline]
    pub fn schedule_on(&self, worker: usize) {
        self.schedule_element(self.core.here as usize, worker);
    }

    /// Schedules the task of an element's instance on a worker, if it has one: for elements that wait for something
    /// that others do to a part they share.
    #[inline]
    pub fn schedule_element(&self, element: usize, worker: usize) {
        if let Some(mailbox) = self.core.info.mailboxes.get(worker) {
            mailbox.send(Message::Schedule(element as u32));
        }
    }

    /// This element's task's share: its tickets.
    #[inline]
    pub fn tickets(&self) -> u32 {
        let task = self.core.tasks[self.core.here as usize];
        task.map_or(0, |task| self.core.scheduler.tickets(task))
    }

    /// Sets this element's task's share.
    #[inline]
    pub fn set_tickets(&mut self, tickets: u32) {
        let task = self.core.own_task();
        self.core.scheduler.set_tickets(task, tickets);
    }

    /// Sets the share of the task that another element has on this worker.
    #[inline]
    pub fn set_tickets_of(&mut self, element: usize, tickets: u32) {
        let task = self.core.task_of(element);
        self.core.scheduler.set_tickets(task, tickets);
    }

    /// How often this element's task has run.
    #[inline]
    pub fn runs(&self) -> u64 {
        let task = self.core.tasks[self.core.here as usize];
        task.map_or(0, |task| self.core.scheduler.runs(task))
    }

    /// Counts a run of this element's task that did the work of `runs` as so many.
    #[inline]
    pub fn count_runs(&mut self, runs: usize) {
        if runs > 1 {
            let task = self.core.own_task();
            self.core.scheduler.count_more_runs(task, runs as u64 - 1);
        }
    }

    /// How many runs of this element's task, each of which handles up to `packets`, it may do at once: as many as fill a
    /// vector, but no more than fit into the fullest of the elements downstream that say what they have room for. At least
    /// one. Needs [`crate::Signals::listen_room`] or [`crate::Signals::watch_room`] on push outputs.
    ///
    /// With a vector of 1 it is always one, so that tasks alternate exactly as in Click. With a larger one, too, until the
    /// task has run a thousand times: small experiments show their effects packet by packet, load comes in vectors.
    #[inline]
    pub fn runs_at_once(&self, packets: usize) -> usize {
        let packets = packets.max(1);
        // Asked without a division first: with a vector of 1 there is none.
        if self.core.info.vector <= packets || self.runs() < RUNS_ONE_BY_ONE {
            return 1;
        }
        let runs = self.core.info.vector / packets;
        runs.min(self.core.room_downstream() / packets).max(1)
    }

    /// Has this worker time each run of a task from now on, which costs a look at the clock for each.
    #[inline]
    pub fn time_each(&mut self) {
        self.core.times_tasks = true;
    }

    /// What each task of this worker has done.
    #[inline]
    pub fn accounts(&self) -> impl Iterator<Item = TaskAccount> {
        self.core.scheduler.accounts()
    }

    /// What this worker has done.
    #[inline]
    pub fn account(&self) -> &Account {
        &self.core.account
    }
}
