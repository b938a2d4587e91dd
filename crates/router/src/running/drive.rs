//! What drives the workers of a router: threads, or simulated time.

use crate::running::router::Router;
use crate::shared::info::Info;
use crate::shared::record::{Level, Record};
use crate::worker::instances::{Turned, Worker};
use crate::worker::wait::wait;
use std::num::NonZero;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Rounds of work in a row that take no simulated time: enough for whatever ends by itself.
const TIMELESS_ROUNDS: u32 = 1_000;

/// Simulated time that each further one takes, a microsecond for each task that a turn may run. (Click's moves on by its least unit
/// each time that an element looks at it.)
const ROUND_NS: i64 = 128_000;

/// How a router stands after some rounds ([`Router::run_rounds`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is more to do at this time.
    Busy,
    /// There is nothing to do until this time, in nanoseconds; without one, until something arrives.
    Resting(Option<i64>),
    /// The driver has stopped, or was interrupted.
    Halted,
}

impl Router {
    /// Runs until the driver is stopped. With a simulated clock all workers take turns on this thread; otherwise each has
    /// a thread, the first one this.
    ///
    /// # Panics
    /// If a worker has, once the others have halted. The router can be finished then, and no more.
    pub fn run(&mut self) {
        self.info.has_run.store(true, Ordering::Relaxed);
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
                    let text = format!("cannot start a worker thread: {error}");
                    self.info.log.write(&Record::new(Level::Error, &text));
                    self.info.halt();
                }
            }
            let _pinned = Pinned::to(processors.first().copied());
            drive(first);
        });
    }

    /// Runs all workers in turn on this thread. Time jumps to the next timer when all are idle; where a worker never rests it
    /// passes all the same, from some time on, so that others get what they wait for.
    fn simulate(&mut self) {
        let info = self.info.clone();
        (0..self.workers.len()).for_each(|worker| has_this_thread(&info, worker));
        let mut timeless_rounds = 0;
        while !info.halted() {
            let (busy, next) = self.round();
            // A timer that is due at once is no rest either.
            let rests = !busy && next.is_none_or(|at| at > info.clock.now_ns());
            timeless_rounds = if rests { 0 } else { timeless_rounds + 1 };
            if timeless_rounds > TIMELESS_ROUNDS {
                info.clock.jump(info.clock.now_ns() + ROUND_NS);
            }
            // While packets are to arrive, time passes for no others.
            if busy || info.ending.is_wanted() || info.mailboxes.iter().any(|mailbox| !mailbox.is_empty()) {
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

    /// A turn of each worker, one after the other on this thread: whether any is busy, and when the first timer is due.
    fn round(&mut self) -> (bool, Option<i64>) {
        let now_ns = self.info.clock.now_ns();
        self.stalled.retain(|_, until_ns| *until_ns > now_ns);
        let (mut busy, mut next) = (false, self.stalled.values().min().copied());
        for (number, worker) in self.workers.iter_mut().enumerate() {
            if self.info.halted() {
                break;
            }
            if self.stalled.contains_key(&number) {
                continue;
            }
            match worker.turn() {
                Turned::Busy => busy = true,
                Turned::Idle(Some(at)) => next = Some(next.map_or(at, |n| n.min(at))),
                Turned::Idle(None) | Turned::Blocked => {}
            }
        }
        (self.await_asides() || busy, next)
    }

    /// Lets all workers take turns on this thread until they have nothing left to do at the time that the clock shows, or for
    /// so many rounds. Simulated time is the caller's to move ([`Clock::jump`](crate::Clock::jump)): so several routers, and the
    /// hosts between them, can share a clock.
    pub fn run_rounds(&mut self, rounds: usize) -> Standing {
        self.info.has_run.store(true, Ordering::Relaxed);
        for _ in 0..rounds {
            let (busy, next) = self.round();
            if self.info.halted() {
                return Standing::Halted;
            }
            let mut mailboxes = self.info.mailboxes.iter().enumerate();
            let mail =
                mailboxes.any(|(worker, mail)| !mail.is_empty() && !self.stalled.contains_key(&worker));
            if !busy && !mail && next.is_none_or(|at| at > self.info.clock.now_ns()) {
                return Standing::Resting(next);
            }
        }
        Standing::Busy
    }

    /// Holds a worker until a time, as a system call or the processor's other work would: it takes no turn and passes no quiescent state,
    /// while others go on. For routers that are driven by [`Router::run_rounds`]. Who needs the worker meanwhile, a call of a handler or a
    /// swap, has it at once.
    pub fn stall(&mut self, worker: usize, until_ns: i64) {
        self.stalled.insert(worker, until_ns);
    }

    /// Finds descriptors that are ready, if any are waited for.
    fn look(&mut self) {
        if self.workers.iter().any(|worker| !worker.core.awaited.is_empty()) {
            wait(&mut self.workers, Some(Duration::ZERO));
        }
    }
}

/// Runs a worker on this thread until the router halts.
fn drive(worker: &mut Worker) {
    let info = worker.core.info.clone();
    let mailbox = info.mailboxes[worker.core.worker].clone();
    has_this_thread(&info, worker.core.worker);
    let _punctual = Punctual::new();
    while !info.halted() {
        match worker.turn() {
            Turned::Busy if worker.core.awaited.is_empty() => {}
            // Devices that wait are looked at once a turn while others keep the worker busy.
            Turned::Busy => wait(std::slice::from_mut(worker), Some(Duration::ZERO)),
            _ if !mailbox.is_empty() => {}
            Turned::Idle(next) => sleep(worker, next),
            Turned::Blocked => sleep(worker, worker.patient_until_ns()),
        }
    }
    worker.end_last_turn();
    worker.reader.offline(); // nobody takes turns for it until it runs again
}

/// Notes that a worker runs on this thread.
fn has_this_thread(info: &Info, worker: usize) {
    info.threads[worker].store(rustix::thread::gettid().as_raw_pid(), Ordering::Relaxed);
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

/// A thread whose sleeps end on time: the kernel puts timers off, by 50 microseconds unless told otherwise, to serve several at once, and a packet
/// that a shaper holds back would wait as long. As before when this is dropped.
struct Punctual(Option<NonZero<u64>>);

impl Punctual {
    /// This thread. Where the kernel refuses it stays as it is.
    fn new() -> Punctual {
        let before = rustix::thread::current_timer_slack().ok().and_then(NonZero::new);
        Punctual(
            before.filter(|_| rustix::thread::set_current_timer_slack(Some(NonZero::<u64>::MIN)).is_ok()),
        )
    }
}

impl Drop for Punctual {
    fn drop(&mut self) {
        if self.0.is_some() {
            let _ = rustix::thread::set_current_timer_slack(self.0);
        }
    }
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
