//! The stride scheduler: which task of a worker runs next.
//!
//! Each task has tickets; running advances its pass by a stride inversely proportional to them, and the task with the
//! lowest pass runs next, the longest waiting among equals, as Click's driver does it.
//!
//! A task that makes itself run again is only marked. Its place among the others is found when the next task is looked for; while it is
//! the only one there is none to find.

/// Stride of a task with one ticket.
const STRIDE1: u64 = 1 << 16;
/// Tickets of a task that is given none.
pub const DEFAULT_TICKETS: u32 = 1 << 10;
/// Most tickets that a task can have.
pub const MAX_TICKETS: u32 = 1 << 15;

/// The number of no task.
const NONE: u32 = u32::MAX;

/// As long as a line of the cache, so that a task is found without a multiplication.
#[repr(align(64))]
struct Task {
    element: u32,
    pass: u64,
    tickets: u32,
    stride: u64,
    scheduled: bool,
    /// Whether it has a place among those that wait.
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

    /// Returns the task that is first: this one, which has no place, or the first that waits. The latter leaves its place then, and this one
    /// gets one.
    #[inline(always)] // once for each run
    fn exchange(&mut self, pass: u64, task: u32) -> u32 {
        let Some((_, first)) = self.get(0).filter(|place| place.0 <= pass) else {
            return task;
        };
        let end = self.at(self.len);
        self.places[end] = (pass, task);
        self.first = self.at(1);
        if self.len > 1 && self.places[self.at(self.len - 2)].0 > pass {
            self.sink();
        }
        first
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
pub(crate) struct Scheduler {
    tasks: Vec<Task>,
    /// The others that are to run. A task that was stopped meanwhile keeps its place until that comes up.
    queue: Queue,
    /// Pass of the task that runs, or ran last: where the whole thread is.
    pass: u64,
    /// The task that runs, or ran last; [`NONE`] at first.
    running: u32,
    /// Its element; [`NONE`] once it has a place.
    element: u32,
    /// Whether it is to run again, and has no place yet.
    again: bool,
}

impl Default for Scheduler {
    fn default() -> Scheduler {
        Scheduler {
            tasks: Vec::new(),
            queue: Queue::default(),
            pass: 0,
            running: NONE,
            element: NONE,
            again: false,
        }
    }
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
        if task.queued {
            task.scheduled = true;
        } else if id == self.running {
            self.again = true;
        } else {
            task.pass = self.pass;
            self.place(id);
        }
    }

    /// Makes the running task run again, if it is this element's.
    #[inline(always)] // two comparisons for nearly every run
    pub(crate) fn runs_again(&mut self, element: u32) -> bool {
        self.again |= element == self.element;
        element == self.element
    }

    /// Gives a task without a place the one that its pass says.
    fn place(&mut self, id: u32) {
        let task = &mut self.tasks[id as usize];
        (task.scheduled, task.queued) = (true, true);
        self.queue.insert(task.pass, id);
    }

    /// Gives the task that ran last its place, if it is to run again.
    fn place_running(&mut self) {
        if std::mem::take(&mut self.again) {
            self.place(self.running);
            self.element = NONE;
        }
    }

    /// Stops a task until it is scheduled again.
    #[inline]
    pub(crate) fn unschedule(&mut self, id: u32) {
        if id == self.running {
            self.place_running(); // which it keeps, stopped or not
        }
        self.tasks[id as usize].scheduled = false;
    }

    /// Takes the next task out: its element. It stays out unless scheduled again.
    #[inline(always)] // once for each run
    pub(crate) fn next(&mut self) -> Option<u32> {
        if std::mem::take(&mut self.again) {
            let last = &mut self.tasks[self.running as usize];
            let id = self.queue.exchange(last.pass, self.running);
            if id == self.running {
                return Some(self.begin(id));
            }
            (last.scheduled, last.queued) = (true, true);
            if self.tasks[id as usize].scheduled {
                return Some(self.begin(id));
            }
            self.tasks[id as usize].queued = false;
        }
        loop {
            let id = self.queue.pop()?;
            let task = &mut self.tasks[id as usize];
            if task.scheduled {
                return Some(self.begin(id));
            }
            task.queued = false;
        }
    }

    /// A task that is out runs: its element.
    #[inline(always)]
    fn begin(&mut self, id: u32) -> u32 {
        let task = &mut self.tasks[id as usize];
        (task.scheduled, task.queued) = (false, false);
        (self.running, self.element, self.pass) = (id, task.element, task.pass);
        task.pass += task.stride;
        task.runs += 1;
        task.element
    }

    /// Takes out the next task whose element is one of `these`: the element. All others keep their places.
    pub(crate) fn next_of(&mut self, these: impl Fn(u32) -> bool) -> Option<u32> {
        self.place_running();
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
        let is_to_run = |(_, id): (u64, u32)| self.tasks[id as usize].scheduled;
        !self.again && !(0..self.queue.len).any(|i| self.queue.get(i).is_some_and(is_to_run))
    }

    #[inline]
    pub(crate) fn is_scheduled(&self, id: u32) -> bool {
        self.tasks[id as usize].scheduled || self.again && id == self.running
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
        if let Some(task) = self.tasks.get_mut(self.running as usize) {
            task.busy_ns += ns;
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

    /// A scheduler without a trick: a task that is to run has a place at once, in a list that is sorted again each time.
    #[derive(Default)]
    struct Plain {
        /// Pass, stride, whether it is to run.
        tasks: Vec<(u64, u64, bool)>,
        /// Pass and task.
        places: Vec<(u64, u32)>,
        pass: u64,
        ran: Option<u32>,
    }

    impl Plain {
        fn schedule(&mut self, id: u32) {
            let task = &mut self.tasks[id as usize];
            task.2 = true;
            if self.places.iter().all(|place| place.1 != id) {
                if self.ran != Some(id) {
                    task.0 = self.pass;
                }
                self.places.push((task.0, id));
                self.places.sort_by_key(|place| place.0);
            }
        }

        /// The next task runs. Those before it that were stopped have lost their places.
        fn next(&mut self) -> Option<u32> {
            let tasks = &self.tasks;
            let at = self.places.iter().position(|place| tasks[place.1 as usize].2);
            self.places.drain(..at.unwrap_or(self.places.len()));
            self.next_of(|_| true)
        }

        /// The next of these tasks runs; all others keep their places.
        fn next_of(&mut self, these: impl Fn(u32) -> bool) -> Option<u32> {
            let runs = |place: &(u64, u32)| self.tasks[place.1 as usize].2 && these(place.1);
            let at = self.places.iter().position(runs)?;
            let (pass, id) = self.places.remove(at);
            let (_, stride, _) = self.tasks[id as usize];
            self.tasks[id as usize] = (pass + stride, stride, false);
            (self.pass, self.ran) = (pass, Some(id));
            Some(id)
        }
    }

    /// A task that is stopped in the run in which it made itself run again stays stopped, with others and without.
    #[test]
    fn a_task_stops_itself() {
        for others in [0, 1] {
            let mut s = Scheduler::default();
            let tasks: Vec<u32> = (0..=others).map(|element| s.add(element)).collect();
            tasks.iter().for_each(|&task| s.schedule(task));
            assert_eq!(s.next(), Some(0));
            assert!(s.runs_again(0) && !s.runs_again(1) && s.is_scheduled(0));
            s.unschedule(0);
            assert!(!s.is_scheduled(0));
            assert_eq!(s.is_idle(), others == 0);
            assert_eq!(s.next(), (others > 0).then_some(1));
            assert_eq!(s.next(), None);
        }
    }

    /// However tasks make themselves and others run or stop, they run in the order of the plain scheduler.
    #[test]
    fn tasks_run_as_with_a_place_at_once() {
        let mut rng = fastrand::Rng::with_seed(7);
        for tasks in (1..9).cycle().take(400) {
            let (mut s, mut plain) = (Scheduler::default(), Plain::default());
            for id in 0..tasks {
                let tickets = 1 << rng.u32(5..11);
                s.add(id);
                s.set_tickets(id, tickets);
                plain.tasks.push((0, STRIDE1 / u64::from(tickets), false));
            }
            for _ in 0..200 {
                let id = rng.u32(0..tasks);
                match rng.u32(0..8) {
                    0..2 => _ = (s.schedule(id), plain.schedule(id)),
                    2 => {
                        s.unschedule(id);
                        plain.tasks[id as usize].2 = false;
                    }
                    3 => {
                        let odd = |id: u32| id % 2 == 1;
                        assert_eq!(s.next_of(odd), plain.next_of(odd));
                    }
                    _ => {
                        let ran = s.next();
                        assert_eq!(ran, plain.next());
                        if let Some(id) = ran.filter(|_| rng.bool()) {
                            let more = rng.u64(0..3);
                            s.count_more_runs(id, more);
                            plain.tasks[id as usize].0 += more * plain.tasks[id as usize].1;
                            if rng.bool() || !s.runs_again(id) {
                                s.schedule(id);
                            }
                            plain.schedule(id);
                        }
                    }
                }
                assert_eq!(s.is_idle(), plain.tasks.iter().all(|task| !task.2));
                assert_eq!(s.is_scheduled(id), plain.tasks[id as usize].2);
            }
        }
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
