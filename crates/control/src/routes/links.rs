//! Which of this machine's interfaces have a link.
//!
//! A next hop behind an interface whose link is down is not used, whatever the routing suite says of it yet: the kernel itself keeps such
//! routes unless it is told to ignore them (`ignore_routes_with_linkdown`), and zebra needs a moment.

use super::listening;
use device::links::Link;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::RecvFlags;

/// What the kernel reports: interfaces (`RTMGRP_LINK`).
const GROUPS: u32 = 1;
/// Bytes of a message that are read; its reader needs no more.
const CHUNK: usize = 1 << 12;

/// Hears of links, and remembers which were up.
pub(super) struct Links {
    socket: OwnedFd,
    up: Vec<(u32, String)>,
}

impl Links {
    /// Those that are up now.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn new() -> Result<Links, String> {
        let socket = listening::open(GROUPS)?;
        Ok(Links { socket, up: up() })
    }

    /// What can be read when links have changed.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes in what there is to hear. Whether other links are up than before.
    pub(super) fn changed(&mut self) -> bool {
        let mut buffer = [0; CHUNK];
        // What the messages say does not matter, nor whether some were lost: the state is read anew.
        while matches!(
            rustix::net::recv(&self.socket, &mut buffer, RecvFlags::empty()),
            Ok(_) | Err(Errno::NOBUFS | Errno::INTR)
        ) {}
        let before = std::mem::replace(&mut self.up, up());
        before != self.up
    }
}

/// The numbers and names of the interfaces that have a link.
pub(super) fn up() -> Vec<(u32, String)> {
    interfaces(|link| link.has_carrier)
}

/// The numbers and names of all interfaces.
pub(super) fn all() -> Vec<(u32, String)> {
    interfaces(|_| true)
}

fn interfaces(wanted: impl Fn(&Link) -> bool) -> Vec<(u32, String)> {
    let links = device::links::all().unwrap_or_default();
    links.into_iter().filter(wanted).map(|link| (link.index, link.name)).collect()
}
