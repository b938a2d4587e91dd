//! Descriptors for which the tasks of elements wait.

use rustix::event::{PollFd, PollFlags};
use std::os::fd::OwnedFd;
use std::sync::Arc;

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
    pub(crate) fn poll_fd(&self) -> PollFd<'_> {
        let flags = match self.interest {
            Interest::Readable => PollFlags::IN,
            Interest::Writable => PollFlags::OUT,
        };
        PollFd::new(&*self.fd, flags)
    }
}
