//! Buffers that sockets had which were closed.
//!
//! The kernel takes a socket apart in its own time: a driver that writes to buffers by itself may do so for a moment after
//! the descriptor is closed. So what a socket had is kept for a while. Then a thread, which lives for as long as something is kept, gives
//! it back to the packet pools.

use packet::{Borrower, Window};
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long buffers are kept after the last descriptor was closed. The kernel needs milliseconds.
const KEPT: Duration = Duration::from_secs(2);
/// How often the thread looks.
const PAUSE: Duration = Duration::from_millis(100);

struct Estate {
    /// The descriptor: a worker may still wait for it.
    fd: Weak<OwnedFd>,
    borrower: Borrower,
    /// When it was found to be closed.
    closed: Option<Instant>,
}

struct Attic {
    estates: Vec<Estate>,
    /// Whether the thread runs.
    is_watched: bool,
}

static ATTIC: Mutex<Attic> = Mutex::new(Attic { estates: Vec::new(), is_watched: false });

fn attic() -> MutexGuard<'static, Attic> {
    ATTIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps what a socket has that is about to be closed.
pub(super) fn keep(fd: Weak<OwnedFd>, borrower: Borrower) {
    let mut attic = attic();
    attic.estates.push(Estate { fd, borrower, closed: None });
    if !attic.is_watched {
        let watch = std::thread::Builder::new().name("xdp-buffers".into()).spawn(watch);
        // Without a thread the next socket that is made frees it.
        attic.is_watched = watch.is_ok();
    }
}

/// Whether buffers of closed sockets have yet to come back.
pub(super) fn is_empty() -> bool {
    attic().estates.is_empty()
}

/// Frees what was kept long enough.
pub(super) fn sweep() {
    attic().sweep();
}

fn watch() {
    loop {
        std::thread::sleep(PAUSE);
        let mut attic = attic();
        attic.sweep();
        if attic.estates.is_empty() {
            attic.is_watched = false;
            return;
        }
    }
}

impl Attic {
    fn sweep(&mut self) {
        self.estates.retain_mut(|estate| {
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
}
