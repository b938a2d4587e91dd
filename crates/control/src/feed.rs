//! Threads that work for elements.

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A thread that works for an element until it is dropped, and what both have in common.
pub(crate) struct Feed<S> {
    pub(crate) shared: Arc<S>,
    /// Wakes the thread, for it to look whether anything changed.
    bell: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// Why a thread woke up.
pub(crate) enum Wake {
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
pub(crate) struct Waiter {
    bell: Arc<OwnedFd>,
}

const STOP: u64 = 1 << 32;
/// How a thread stands to the workers where there are fewer processors than threads.
pub(crate) enum Priority {
    /// Packets come first: a worker that waited for the processor while a million routes came in would lose what its ring can't hold.
    BehindPackets,
    /// As that of workers. What it learns is little, and packets are lost until it has.
    Equal,
}

/// How nice a thread is that stands behind packets.
const NICE: i32 = 10;
/// From a panic to the new beginning.
const PAUSE: Duration = Duration::from_secs(1);

impl<S: Send + Sync + 'static> Feed<S> {
    /// Starts a thread. It has a name, for the operator who looks at the process.
    pub(crate) fn start(
        name: &str,
        priority: Priority,
        shared: Arc<S>,
        work: impl FnOnce(&Arc<S>, &Waiter) + Send + 'static,
    ) -> Result<Feed<S>, String> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let bell = Arc::new(bell.map_err(|error| format!("eventfd: {error}"))?);
        let (own, waiter) = (shared.clone(), Waiter { bell: bell.clone() });
        let thread = std::thread::Builder::new().name(name.to_owned());
        let work = move || {
            if let Priority::BehindPackets = priority {
                // Of this thread alone. One that may not goes on as it is.
                let _ = rustix::process::nice(NICE);
            }
            work(&own, &waiter);
        };
        let thread = thread.spawn(work).map_err(|e| format!("thread: {e}"))?;
        Ok(Feed { shared, bell, thread: Some(thread) })
    }

    /// Starts a thread that an error of the program does not end: after a panic, `panicked` is called, and a moment
    /// later `work` again, which has to cope with what it left half done.
    pub(crate) fn start_lasting(
        name: &str,
        priority: Priority,
        shared: Arc<S>,
        panicked: fn(&S),
        mut work: impl FnMut(&Arc<S>, &Waiter) + Send + 'static,
    ) -> Result<Feed<S>, String> {
        Feed::start(name, priority, shared, move |shared, waiter| {
            while catch_unwind(AssertUnwindSafe(|| work(shared, waiter))).is_err() {
                panicked(shared);
                if waiter.pause(PAUSE) {
                    return;
                }
                // What rang meanwhile has not been looked at.
                ring(&waiter.bell, 1);
            }
        })
    }
}

impl<S> Feed<S> {
    /// Tells the thread to end, and does not wait for it: it may be waiting for a peer.
    pub(crate) fn let_go(mut self) {
        self.thread = None;
        self.ring(STOP);
    }

    /// Wakes the thread: something in what is shared has changed.
    pub(crate) fn wake(&self) {
        self.ring(1);
    }

    fn ring(&self, what: u64) {
        ring(&self.bell, what);
    }
}

fn ring(bell: &OwnedFd, what: u64) {
    // A bell that has rung too often to count is heard all the same.
    let _ = rustix::io::write(bell, &what.to_ne_bytes());
}

impl<S> Drop for Feed<S> {
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
    pub(crate) fn wait(&self, descriptors: &[BorrowedFd<'_>], until: Option<Instant>) -> Wake {
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

    /// Waits for so long; true if the end has come meanwhile.
    fn pause(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            match self.wait(&[], Some(until)) {
                Wake::Stop => return true,
                Wake::Time => return false,
                Wake::Target | Wake::Ready(_) => {}
            }
        }
    }
}
