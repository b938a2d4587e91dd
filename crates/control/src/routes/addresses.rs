//! When this machine's addresses change.

use super::listening;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::time::{Duration, Instant};

/// What the kernel reports: interfaces, addresses of both families (`RTMGRP_LINK`, `RTMGRP_IPV4_IFADDR`, `RTMGRP_IPV6_IFADDR`).
const GROUPS: u32 = 1 | 0x10 | 0x100;
/// Bytes of a message that are read; its reader needs no more.
const CHUNK: usize = 1 << 12;
/// Changes come in groups: it has to be quiet for so long.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// An interface that goes up and down all the time must not hide what changes at another.
const PATIENCE: Duration = Duration::from_secs(2);

/// Hears of changes of this machine's addresses and interfaces, from when it is made.
#[derive(Debug)]
pub struct AddressChanges(OwnedFd);

impl AddressChanges {
    /// From now on.
    ///
    /// # Errors
    /// A sentence for the user: the kernel does not let this process listen.
    pub fn new() -> Result<AddressChanges, String> {
        listening::open(GROUPS).map(AddressChanges)
    }

    /// Waits until something has changed and no more does, or changes have come for two seconds. There may be less to it
    /// than one would think.
    ///
    /// # Errors
    /// A sentence for the user: that there will be nothing more to hear.
    pub fn wait(&self) -> Result<(), String> {
        self.ready(None)?;
        let latest = Instant::now() + PATIENCE;
        while Instant::now() < latest && self.ready(Some(&QUIET))? {
            let mut buffer = [0; CHUNK];
            // What the messages say does not matter, nor whether some were lost.
            let _ = rustix::net::recv(&self.0, &mut buffer, RecvFlags::empty());
        }
        Ok(())
    }

    /// Whether there is something to read, within a time.
    fn ready(&self, within: Option<&Timespec>) -> Result<bool, String> {
        loop {
            match poll(&mut [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)], within) {
                Ok(count) => return Ok(count > 0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(format!("poll: {error}")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// Changes that never end are told of all the same.
    #[test]
    fn no_quiet_moment() {
        let (ours, theirs) = UnixDatagram::pair().expect("sockets");
        ours.set_nonblocking(true).expect("not blocking");
        let changes = AddressChanges(ours.into());
        let heard = AtomicBool::new(false);
        let sending = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !heard.load(Relaxed) && sending.elapsed() < 10 * PATIENCE {
                    theirs.send(b"change").expect("sent");
                    std::thread::sleep(Duration::from_millis(20));
                }
            });
            changes.wait().expect("something");
            heard.store(true, Relaxed);
        });
        assert!(sending.elapsed() < 10 * PATIENCE, "it waited for quiet");
    }
}
