//! The thread that takes in routes.

use super::install::{Shared, Target};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread that works for an element until it is dropped.
pub(super) struct Feed {
    pub(super) shared: Arc<Shared>,
    /// Wakes the thread, for it to look whether anything changed.
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Why a thread woke up.
pub(super) enum Wake {
    /// There is something to read from descriptors, as said for each.
    Ready(Vec<bool>),
    /// The time has come.
    Time,
    /// The element has another target.
    Target,
    /// The end.
    Stop,
}

/// What a thread waits by.
pub(super) struct Waiter {
    bell: Arc<OwnedFd>,
}

const STOP: u64 = 1 << 32;

impl Feed {
    /// Starts a thread.
    pub(super) fn start(
        shared: Arc<Shared>,
        work: impl FnOnce(&Arc<Shared>, &Waiter) + Send + 'static,
    ) -> Result<Feed, String> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = Arc::new(bell.map_err(|error| format!("eventfd: {error}"))?);
        let (own, waiter) = (shared.clone(), Waiter { bell: bell.clone() });
        let thread = std::thread::Builder::new().name("routes".to_owned());
        let thread = thread.spawn(move || work(&own, &waiter)).map_err(|e| format!("thread: {e}"))?;
        Ok(Feed { shared, bell, thread: Some(thread) })
    }

    /// Routes are for somebody else from now on.
    pub(super) fn retarget(&self, target: Target) {
        self.shared.retarget(target);
        self.ring(1);
    }

    fn ring(&self, what: u64) {
        // A bell that has rung too often to count is heard all the same.
        let _ = rustix::io::write(&self.bell, &what.to_ne_bytes());
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.ring(STOP);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so; the router goes on with the routes that it has.
            let _ = thread.join();
        }
    }
}

impl Waiter {
    /// Waits until one of these can be read, or a time has come.
    pub(super) fn wait(&self, descriptors: &[BorrowedFd<'_>], until: Option<Instant>) -> Wake {
        let mut polled: Vec<PollFd<'_>> = vec![PollFd::from_borrowed_fd(self.bell.as_fd(), PollFlags::IN)];
        polled.extend(descriptors.iter().map(|&fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // Rounded up, so that the time has come when the wait is over.
        let left = left.map(|left| left + Duration::from_millis(1));
        let left = left.and_then(|left| rustix::event::Timespec::try_from(left).ok());
        let _ = poll(&mut polled, left.as_ref()); // interrupted by a signal: as if nothing had happened
        if !polled[0].revents().is_empty() {
            let mut count = [0; 8];
            let _ = rustix::io::read(&self.bell, &mut count);
            return if u64::from_ne_bytes(count) >= STOP { Wake::Stop } else { Wake::Target };
        }
        let ready: Vec<bool> = polled[1..].iter().map(|fd| !fd.revents().is_empty()).collect();
        if ready.contains(&true) || until.is_none_or(|until| Instant::now() < until) {
            return Wake::Ready(ready);
        }
        Wake::Time
    }
}
