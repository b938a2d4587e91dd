//! Which workers are stuck: those that do not answer although the machine gives them time to.
//!
//! A thread that waits for a processor has done nothing wrong, and a router that is started again waits for it as long. So the time that
//! counts against a worker is what its thread ran, slept, or waited for anything but a processor, by the kernel's account
//! (`/proc/self/task/ID/schedstat` and `stat`, proc(5)). Where there is no such account all time counts.

use crate::calls::handle::Handle;
use crate::calls::resolve::LOAD;
use crate::handlers::response::Response;
use crate::shared::info::Info;
use crate::shared::mailbox::{Message, Reply};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

/// A thread that has not begun yet may be late because of the machine, of which nothing is known then: it has so many times as long.
const TO_BEGIN: u32 = 16;

/// Asks a router's workers again and again whether they are there.
pub struct Vigil {
    handle: Handle,
    /// What workers have been asked and have not answered.
    owed: Vec<Option<Owed>>,
}

/// Workers that do not answer in time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Silent {
    /// They had the time to.
    pub stuck: Vec<usize>,
    /// They waited for a processor.
    pub starved: Vec<usize>,
}

/// An answer that is awaited.
struct Owed {
    answer: Receiver<Response>,
    asked: Instant,
    /// What the thread had had until then, if that is known.
    then: Option<Had>,
}

/// What a thread has had of the machine since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Had {
    ran: Duration,
    /// Waits for a processor that are over.
    waited: Duration,
    /// Whether it runs or waits for a processor, and does not sleep.
    runnable: bool,
}

impl Vigil {
    /// Over the workers of this router.
    pub fn new(handle: Handle) -> Vigil {
        let owed = handle.info().mailboxes.iter().map(|_| None).collect();
        Vigil { handle, owed }
    }

    /// The router.
    pub fn info(&self) -> &Arc<Info> {
        self.handle.info()
    }

    /// Asks the workers, but for those that have not answered yet, and waits so long. A worker is stuck that has had three quarters of
    /// `within` since it was asked, in which it ran or waited for something other than a processor, be that over several calls. `None` if
    /// the router has halted meanwhile, to stop or to be replaced. Not for use on a worker.
    pub fn silent(&mut self, within: Duration) -> Option<Silent> {
        let until = Instant::now() + within;
        for worker in 0..self.owed.len() {
            let answer = self.owed[worker].as_ref().map(|owed| owed.answer.try_recv());
            if !matches!(answer, Some(Err(TryRecvError::Empty))) {
                self.owed[worker] = Some(self.ask(worker));
            }
        }
        let mut silent = Silent::default();
        for worker in 0..self.owed.len() {
            let Some(owed) = &mut self.owed[worker] else { continue };
            if owed.answer.recv_timeout(until.saturating_duration_since(Instant::now())).is_ok() {
                self.owed[worker] = None;
                continue;
            }
            let is_stuck = owed.had(self.handle.info(), worker) >= within * 3 / 4;
            let found = if is_stuck { &mut silent.stuck } else { &mut silent.starved };
            found.push(worker);
        }
        (!self.info().halted()).then_some(silent)
    }

    fn ask(&self, worker: usize) -> Owed {
        let (sender, answer) = channel();
        let then = had(self.info(), worker);
        let asked = Instant::now();
        self.info().mailboxes[worker].send(Message::Own { name: LOAD, reply: Reply::Thread(sender) });
        Owed { answer, asked, then }
    }
}

impl Owed {
    /// The time since the question that counts.
    fn had(&mut self, info: &Info, worker: usize) -> Duration {
        let passed = self.asked.elapsed();
        match (self.then, had(info, worker)) {
            (Some(then), Some(now)) => now.since(then, passed),
            _ if thread(info, worker).is_none() => passed / TO_BEGIN,
            // It has begun meanwhile: from now on its time counts.
            (None, Some(now)) => {
                (self.then, self.asked) = (Some(now), Instant::now());
                Duration::ZERO
            }
            (_, None) => passed,
        }
    }
}

impl Had {
    /// What counts of the time that has passed since then.
    fn since(self, then: Had, passed: Duration) -> Duration {
        match self.runnable {
            // The wait that it may be in is in no account yet.
            true => self.ran.saturating_sub(then.ran),
            false => passed.saturating_sub(self.waited.saturating_sub(then.waited)),
        }
    }

    /// From the texts of a thread's `schedstat` and `stat`.
    fn of(schedstat: &str, stat: &str) -> Option<Had> {
        let mut numbers = schedstat.split_ascii_whitespace().map(|word| word.parse().ok());
        let (ran, waited) = (numbers.next()??, numbers.next()??);
        // The name before it, in parentheses, may have any characters.
        let state = stat.rsplit_once(')')?.1.trim_start().chars().next()?;
        let [ran, waited] = [ran, waited].map(Duration::from_nanos);
        Some(Had { ran, waited, runnable: state == 'R' })
    }
}

/// The kernel's id of a worker's thread, if that has begun.
fn thread(info: &Info, worker: usize) -> Option<i32> {
    Some(info.threads[worker].load(Ordering::Relaxed)).filter(|thread| *thread != 0)
}

/// What a worker's thread has had, if it has begun and the kernel tells.
fn had(info: &Info, worker: usize) -> Option<Had> {
    let thread = thread(info, worker)?;
    let read = |file| std::fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).ok();
    Had::of(&read("schedstat")?, &read("stat")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ran: u32, waited: u32, runnable: bool) -> Had {
        Had { ran: MS * ran, waited: MS * waited, runnable }
    }

    /// What a thread did in 100 ms, by what it had before and has now.
    #[test]
    fn waits_for_a_processor_do_not_count() {
        let then = at(1000, 500, true);
        for (now, counts, what) in [
            (at(1100, 500, true), 100, "it ran all the time"),
            (at(1002, 500, true), 2, "it waits for a processor"),
            (at(1002, 598, true), 2, "it has just got one"),
            (at(1000, 500, false), 100, "it sleeps, and is not woken"),
            (at(1001, 560, false), 40, "it sleeps, after it has waited for a processor"),
        ] {
            assert_eq!(now.since(then, MS * 100), MS * counts, "{what}");
        }
    }

    #[test]
    fn the_kernels_account_is_read() {
        let had = |state| Had::of("5000000 7000000 12\n", &format!("77 (a) R (b) {state} 1 77 0\n"));
        assert_eq!([had('S'), had('R')], [Some(at(5, 7, false)), Some(at(5, 7, true))]);
        for (schedstat, stat) in
            [("", "77 (a) R 1"), ("1 x 2", "77 (a) R 1"), ("1 2 3", "77 R 1"), ("1 2 3", "77 (a)")]
        {
            assert_eq!(Had::of(schedstat, stat), None, "{schedstat:?} {stat:?}");
        }
    }

    /// This thread's own account: what it runs gets into it, with a tick of the kernel's clock.
    #[test]
    fn the_account_is_there() {
        let thread = rustix::thread::gettid().as_raw_pid();
        let read = |file| std::fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).ok();
        let begun = Instant::now();
        loop {
            let Some(schedstat) = read("schedstat") else { return }; // a kernel without CONFIG_SCHED_INFO
            let had = Had::of(&schedstat, &read("stat").expect("proc(5)")).expect("numbers");
            assert!(had.runnable, "{had:?}");
            if had.ran > Duration::ZERO {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{had:?}");
        }
    }
}
