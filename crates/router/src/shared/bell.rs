//! What wakes a worker from its sleep.

use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Wakes a worker from its sleep, or keeps it from falling asleep.
pub(crate) struct Bell {
    pub(crate) fd: Option<OwnedFd>,
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

    /// Stills it; a ring from now on is heard.
    pub(crate) fn answer(&self) {
        if let Some(fd) = &self.fd {
            let _ = rustix::io::read(fd, &mut [0; 8]); // empty if it was not rung
        }
        self.rung.swap(false, Ordering::AcqRel);
    }
}
