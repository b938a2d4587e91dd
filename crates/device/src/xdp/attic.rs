//! Buffers that sockets had which were closed.
//!
//! The kernel takes a socket apart in its own time: a driver that writes to buffers by itself may do so for a moment after
//! the descriptor is closed. So what a socket had is kept for a while, and freed when the next socket is made or closed.

use packet::{Borrower, Window};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long buffers are kept after the last descriptor was closed. The kernel needs milliseconds.
const KEPT: Duration = Duration::from_secs(2);

struct Estate {
    /// The descriptor: a worker may still wait for it.
    fd: Weak<OwnedFd>,
    borrower: Borrower,
    /// When it was found to be closed.
    closed: Option<Instant>,
}

static ESTATES: Mutex<Vec<Estate>> = Mutex::new(Vec::new());

/// Keeps what a socket has that is about to be closed.
pub(super) fn keep(fd: Weak<OwnedFd>, borrower: Borrower) {
    ESTATES.lock().unwrap_or_else(PoisonError::into_inner).push(Estate { fd, borrower, closed: None });
    sweep();
}

/// Frees what was kept long enough.
pub(super) fn sweep() {
    let mut estates = ESTATES.lock().unwrap_or_else(PoisonError::into_inner);
    estates.retain_mut(|estate| {
        if estate.fd.strong_count() > 0 {
            return true;
        }
        let kept = estate.closed.get_or_insert_with(Instant::now).elapsed();
        if kept < KEPT {
            return true;
        }
        if let Some(window) = Window::get() {
            // SAFETY: the last descriptor of the socket was closed at least `KEPT` ago, and the kernel has no way to
            // these buffers but through that socket.
            unsafe { window.take_all_back(&estate.borrower) };
        }
        false
    });
}
