//! Sleeping until a descriptor is ready, a message arrives or a timer expires.

use crate::worker::Worker;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a descriptor is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// There is something to read.
    Readable,
    /// There is room to write.
    Writable,
}

/// A descriptor for which an element's task waits.
pub(crate) struct Awaited {
    pub(crate) element: u32,
    pub(crate) fd: Arc<OwnedFd>,
    pub(crate) interest: Interest,
}

impl Awaited {
    fn poll_fd(&self) -> PollFd<'_> {
        let flags = match self.interest {
            Interest::Readable => PollFlags::IN,
            Interest::Writable => PollFlags::OUT,
        };
        PollFd::new(&*self.fd, flags)
    }
}

/// How long a worker sleeps that cannot be woken, because the system had no descriptor left for its bell.
const DEAF_SLEEP: Duration = Duration::from_millis(10);

/// Wakes a worker from its sleep, or keeps it from falling asleep.
pub(crate) struct Bell {
    fd: Option<OwnedFd>,
    /// Whether it has been rung since the worker last slept: ringing again need not call the kernel.
    rung: AtomicBool,
}

impl Default for Bell {
    fn default() -> Bell {
        let fd = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).ok();
        Bell { fd, rung: AtomicBool::new(false) }
    }
}

impl Bell {
    pub(crate) fn ring(&self) {
        // What was done before ringing is seen by the worker that answers: the swaps synchronise.
        if !self.rung.swap(true, Ordering::AcqRel)
            && let Some(fd) = &self.fd
        {
            // Fails only when the counter is full, which wakes as well.
            let _ = rustix::io::write(fd, &1u64.to_ne_bytes());
        }
    }

    /// Stills it; whoever rings from now on is heard.
    fn answer(&self) {
        if let Some(fd) = &self.fd {
            let _ = rustix::io::read(fd, &mut [0; 8]); // empty if nobody rang
        }
        self.rung.swap(false, Ordering::AcqRel);
    }
}

/// Sleeps until one of the workers' bells rings, a descriptor is ready for which one of their elements waits, or the time
/// is up; schedules the tasks of these elements. `None` is for ever, zero just looks.
pub(crate) fn wait(workers: &mut [Worker], timeout: Option<Duration>) {
    let info = match workers.first() {
        Some(worker) => worker.core.info.clone(),
        None => return,
    };
    let looks = timeout == Some(Duration::ZERO);
    let bells = workers.iter().map(|worker| &info.mailboxes[worker.core.worker].bell);
    let bells: Vec<&Bell> = if looks { Vec::new() } else { bells.collect() };
    let deaf = bells.iter().any(|bell| bell.fd.is_none());
    let timeout = if deaf { Some(timeout.unwrap_or(DEAF_SLEEP).min(DEAF_SLEEP)) } else { timeout };
    let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
    let awaited = workers.iter().flat_map(|worker| &worker.core.awaited);
    let mut fds: Vec<PollFd<'_>> = awaited.map(Awaited::poll_fd).collect();
    let count = fds.len();
    fds.extend(bells.iter().filter_map(|bell| Some(PollFd::new(bell.fd.as_ref()?, PollFlags::IN))));
    let found = poll(&mut fds, timeout.as_ref()).unwrap_or(0); // interrupted: the caller looks around anyway
    // An error or a peer that is gone is something to see to as well.
    let ready: Vec<bool> = fds[..count].iter().map(|fd| found > 0 && !fd.revents().is_empty()).collect();
    drop(fds);
    bells.iter().for_each(|bell| bell.answer());
    let mut ready = ready.into_iter();
    for worker in workers {
        let core = &mut worker.core;
        core.awaited.retain(|awaited| {
            let ready = ready.next().unwrap_or(false);
            if let (true, Some(task)) = (ready, core.tasks[awaited.element as usize]) {
                core.scheduler.schedule(task);
            }
            !ready
        });
    }
}
