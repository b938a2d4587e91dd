//! A connection whose other end must not keep us waiting for ever.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// A socket that is read and written until a deadline, however slowly bytes come and go.
pub(super) struct Patient<'s> {
    socket: &'s File,
    deadline: Cell<Instant>,
}

impl<'s> Patient<'s> {
    /// One that waits for so long.
    pub(super) fn new(socket: &'s File, patience: Duration) -> Patient<'s> {
        Patient { socket, deadline: Cell::new(Instant::now() + patience) }
    }

    /// Waits for so long from now on.
    pub(super) fn grant(&self, patience: Duration) {
        self.deadline.set(Instant::now() + patience);
    }

    /// Waits until the socket is ready.
    fn wait(&self, flags: PollFlags) -> io::Result<()> {
        loop {
            let left = self.deadline.get().saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).map_err(|_| io::ErrorKind::InvalidInput)?;
            match poll(&mut [PollFd::new(self.socket, flags)], Some(&timeout)) {
                Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for &Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.wait(PollFlags::IN)?;
        let mut socket = self.socket;
        socket.read(bytes)
    }
}

impl Write for &Patient<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.wait(PollFlags::OUT)?;
            // As much as there is room for: otherwise it would wait for room for all.
            match send(self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                result => return Ok(result?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    /// Neither a peer that sends a byte now and then nor one that does not read is waited for longer than was granted.
    #[test]
    fn a_slow_peer_is_waited_for_no_longer_than_was_granted() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let ours = File::from(OwnedFd::from(ours));
        let patient = Patient::new(&ours, Duration::from_millis(200));
        let feeding = std::thread::spawn(move || {
            let mut theirs = theirs;
            while theirs.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let began = Instant::now();
        let error = (&patient).read_to_end(&mut Vec::new()).expect_err("no end comes");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        patient.grant(Duration::from_millis(200));
        let error = (&patient).write_all(&[0; 1 << 22]).expect_err("the peer does not read");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(began.elapsed() < Duration::from_secs(20));
        drop(ours);
        feeding.join().expect("it ends");
    }
}
