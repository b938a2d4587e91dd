//! The stride scheduler: which task of a worker runs next.
//!
//! Each task has tickets; running advances its pass by a stride inversely proportional to them, and the task with the
//! lowest pass runs next, the longest waiting among equals, as Click's driver does it.

/// Stride of a task with one ticket.
const STRIDE1: u64 = 1 << 16;
/// Tickets of a task that is given none.
pub const DEFAULT_TICKETS: u32 = 1 << 10;
/// Most tickets that a task can have.
pub const MAX_TICKETS: u32 = 1 << 15;

struct Task {
    element: u32,
    pass: u64,
    tickets: u32,
    stride: u64,
    scheduled: bool,
    queued: bool,
    runs: u64,
    /// Nanoseconds of its runs, as far as they are timed.
    busy_ns: u64,
}

/// What a task has done since the worker began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskAccount {
    /// The element whose task it is.
    pub element: usize,
    /// How often it ran.
    pub runs: u64,
    /// Nanoseconds of runs, with all that followed from them, since tasks are timed: [`crate::Tasks::time_each`].
    pub busy_ns: u64,
}

/// Tasks that wait, with their passes, by ascending pass: a ring with a place for every task.
#[derive(Default)]
struct Queue {
    /// As many as a power of two, at least one for each task.
    places: Vec<(u64, u32)>,
    first: usize,
    len: usize,
}

impl Queue {
    #[inline]
    fn at(&self, i: usize) -> usize {
        (self.first + i) & (self.places.len() - 1)
    }

    #[inline]
    fn get(&self, i: usize) -> Option<(u64, u32)> {
        (i < self.len).then(|| self.places[self.at(i)])
    }

    /// Makes a place for one more task.
    fn grow(&mut self, tasks: usize) {
        if tasks > self.places.len() {
            let entries: Vec<_> = (0..self.len).map(|i| self.places[self.at(i)]).collect();
            self.places = entries;
            self.places.resize(tasks.next_power_of_two(), (0, 0));
            self.first = 0;
        }
    }

    /// Puts a task behind all whose pass is not greater: nearly always at the end.
    #[inline]
    fn insert(&mut self, pass: u64, task: u32) {
        let end = self.at(self.len);
        self.len += 1;
        self.places[end] = (pass, task);
        if self.len > 1 && self.places[self.at(self.len - 2)].0 > pass {
            self.sink();
        }
    }

    /// Moves the last entry to where it belongs.
    #[cold]
    #[inline(never)]
    fn sink(&mut self) {
        for i in (1..self.len).rev() {
            let (before, here) = (self.at(i - 1), self.at(i));
            if self.places[before].0 <= self.places[here].0 {
                return;
            }
            self.places.swap(before, here);
        }
    }

    /// Puts the entry that was first before in front again.
    fn put_back(&mut self, pass: u64, task: u32) {
        self.first = self.at(self.places.len() - 1);
        self.places[self.first] = (pass, task);
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let (_, task) = self.places[self.first];
        self.first = self.at(1);
        self.len -= 1;
        Some(task)
    }
}

/// The tasks of one worker.
#[derive(Default)]
pub(crate) struct Scheduler {
    tasks: Vec<Task>,
    queue: Queue,
    /// Pass of the task that runs, or ran last: where the whole thread is.
    pass: u64,
    /// The task that runs, or ran last.
    running: Option<u32>,
}

impl Scheduler {
    pub(crate) fn add(&mut self, element: u32) -> u32 {
        self.tasks.push(Task {
            element,
            pass: 0,
            tickets: DEFAULT_TICKETS,
            stride: STRIDE1 / u64::from(DEFAULT_TICKETS),
            scheduled: false,
            queued: false,
            runs: 0,
            busy_ns: 0,
        });
        self.queue.grow(self.tasks.len());
        self.tasks.len() as u32 - 1
    }

    /// Makes a task run. The running task goes to where its stride takes it; one that slept comes in where the thread is,
    /// as in Click: it neither catches up on what it missed nor pays for having run in vain.
    #[inline]
    pub(crate) fn schedule(&mut self, id: u32) {
        let task = &mut self.tasks[id as usize];
        task.scheduled = true;
        if !task.queued {
            if self.running != Some(id) {
                task.pass = self.pass;
            }
            task.queued = true;
            let pass = task.pass;
            self.queue.insert(pass, id);
        }
    }

    /// Stops a task until it is scheduled again.
    #[inline]
    pub(crate) fn unschedule(&mut self, id: u32) {
        self.tasks[id as usize].scheduled = false;
    }

    /// Takes the next task out: its element. It stays out unless scheduled again.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        loop {
            let id = self.queue.pop()?;
            let task = &mut self.tasks[id as usize];
            task.queued = false;
            if std::mem::take(&mut task.scheduled) {
                self.pass = task.pass;
                self.running = Some(id);
                task.pass += task.stride;
                task.runs += 1;
                return Some(task.element);
            }
        }
    }

    /// Takes out the next task whose element is one of `these`: the element. All others keep their places.
    pub(crate) fn next_of(&mut self, these: impl Fn(u32) -> bool) -> Option<u32> {
        let (mut passed, mut found) = (Vec::new(), None);
        while let Some((pass, id)) = self.queue.get(0) {
            let task = &mut self.tasks[id as usize];
            if task.scheduled && these(task.element) {
                found = self.next();
                break;
            }
            self.queue.pop();
            passed.push((pass, id));
        }
        // Back in front, in their order.
        passed.into_iter().rev().for_each(|(pass, id)| self.queue.put_back(pass, id));
        found
    }

    /// Counts the run that a task is in as some more.
    #[inline]
    pub(crate) fn count_more_runs(&mut self, id: u32, more: u64) {
        let task = &mut self.tasks[id as usize];
        task.pass += task.stride * more;
        task.runs += more;
    }

    /// Whether nothing is scheduled.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        (0..self.queue.len)
            .all(|i| self.queue.get(i).is_none_or(|(_, id)| !self.tasks[id as usize].scheduled))
    }

    #[inline]
    pub(crate) fn is_scheduled(&self, id: u32) -> bool {
        self.tasks[id as usize].scheduled
    }

    pub(crate) fn tickets(&self, id: u32) -> u32 {
        self.tasks[id as usize].tickets
    }

    pub(crate) fn set_tickets(&mut self, id: u32, tickets: u32) {
        let task = &mut self.tasks[id as usize];
        task.tickets = tickets.clamp(1, MAX_TICKETS);
        task.stride = STRIDE1 / u64::from(task.tickets);
    }

    #[inline]
    pub(crate) fn runs(&self, id: u32) -> u64 {
        self.tasks[id as usize].runs
    }

    /// Charges time to the task that ran last.
    #[inline]
    pub(crate) fn charge(&mut self, ns: u64) {
        if let Some(id) = self.running {
            self.tasks[id as usize].busy_ns += ns;
        }
    }

    /// What each task has done.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = TaskAccount> {
        let account = |task: &Task| TaskAccount {
            element: task.element as usize,
            runs: task.runs,
            busy_ns: task.busy_ns,
        };
        self.tasks.iter().map(account)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time is that of the task that ran last.
    #[test]
    fn time_is_charged() {
        let mut s = Scheduler::default();
        s.charge(7); // no task's
        let (a, b) = (s.add(10), s.add(20));
        s.schedule(a);
        s.schedule(b);
        for ns in [100, 30] {
            s.next();
            s.charge(ns);
        }
        let accounts: Vec<_> = s.accounts().map(|task| (task.element, task.runs, task.busy_ns)).collect();
        assert_eq!(accounts, [(10, 1, 100), (20, 1, 30)]);
    }

    /// Those that are not wanted now come in their order later.
    #[test]
    fn some_tasks_run_while_others_keep_their_places() {
        let mut s = Scheduler::default();
        let tasks = [10, 20, 30, 40, 50].map(|element| s.add(element));
        tasks.iter().for_each(|&task| s.schedule(task));
        s.unschedule(tasks[3]);
        assert_eq!(s.next_of(|element| element >= 30), Some(30));
        assert_eq!(s.next_of(|element| element >= 30), Some(50));
        assert_eq!(s.next_of(|element| element >= 30), None);
        s.schedule(tasks[3]);
        let order: Vec<u32> = std::iter::from_fn(|| s.next()).collect();
        assert_eq!(order, [10, 20, 40]);
    }

    /// Equals alternate in order of addition; sleepers do not catch up.
    #[test]
    fn tasks_run_in_proportion_to_their_tickets() {
        let mut s = Scheduler::default();
        let (a, b) = (s.add(10), s.add(20));
        s.set_tickets(a, 2048);
        s.schedule(a);
        s.schedule(b);
        let mut runs = [0, 0];
        for _ in 0..300 {
            let element = s.next().expect("both are rescheduled below");
            runs[(element / 10 - 1) as usize] += 1;
            s.schedule(element / 10 - 1);
        }
        assert_eq!(runs, [200, 100]);
        s.unschedule(b);
        for _ in 0..1000 {
            assert_eq!(s.next(), Some(10));
            s.schedule(a);
        }
        s.schedule(b);
        let order: Vec<u32> =
            (0..6).map(|_| s.next().inspect(|e| s.schedule(e / 10 - 1)).unwrap_or(0)).collect();
        assert!(order.iter().filter(|e| **e == 20).count() <= 3, "{order:?}");
    }
}
