//! Which of this machine's interfaces have a link.
//!
//! A next hop behind an interface whose link is down is not used, whatever the routing suite says of it yet: the kernel itself keeps such
//! routes unless it is told to ignore them (`ignore_routes_with_linkdown`), and zebra needs a moment.

use super::listening;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::path::Path;

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
    interfaces(has_link)
}

/// The numbers and names of all interfaces.
pub(super) fn all() -> Vec<(u32, String)> {
    interfaces(|_| true)
}

fn interfaces(wanted: impl Fn(&Path) -> bool) -> Vec<(u32, String)> {
    let Ok(entries) = std::fs::read_dir("/sys/class/net") else { return Vec::new() };
    let interface = |entry: std::fs::DirEntry| {
        let number = std::fs::read_to_string(entry.path().join("ifindex")).ok()?;
        let number = number.trim().parse().ok()?;
        wanted(&entry.path()).then(|| Some((number, entry.file_name().into_string().ok()?)))?
    };
    let mut found: Vec<_> = entries.flatten().filter_map(interface).collect();
    found.sort_unstable();
    found
}

/// Whether an interface is up and has a carrier; the file says nothing while the interface is down.
fn has_link(interface: &Path) -> bool {
    let carrier = interface.join("carrier");
    match std::fs::read_to_string(&carrier) {
        Ok(carrier) => carrier.trim() != "0",
        Err(_) => !carrier.exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_without_a_readable_carrier_is_down() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(has_link(dir.path()), "no carrier is known of");
        for (text, link) in [("1\n", true), ("0\n", false)] {
            std::fs::write(dir.path().join("carrier"), text).expect("a file");
            assert_eq!(has_link(dir.path()), link, "{text}");
        }
        // As of an interface that is down: it is there and cannot be read.
        std::fs::remove_file(dir.path().join("carrier")).expect("a file");
        std::fs::create_dir(dir.path().join("carrier")).expect("a directory");
        assert!(!has_link(dir.path()));
    }
}
