//! Sleeping until a descriptor is ready, a message arrives or a timer expires.

use crate::schedule::awaited::Awaited;
use crate::shared::bell::Bell;
use crate::worker::instances::Worker;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::time::Duration;

/// How long a worker sleeps that cannot be woken, because the system had no descriptor left for its bell.
const DEAF_SLEEP: Duration = Duration::from_millis(10);

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
