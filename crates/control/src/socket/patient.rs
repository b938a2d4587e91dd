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

/// What is written to a client as long as it takes something now and then, and until a time at the latest.
pub(super) struct Flowing<'s> {
    patient: Patient<'s>,
    patience: Duration,
    end: Option<Instant>,
}

impl<'s> Flowing<'s> {
    /// A client may take nothing for so long.
    pub(super) fn new(socket: &'s File, patience: Duration) -> Flowing<'s> {
        Flowing { patient: Patient::new(socket, patience), patience, end: None }
    }

    /// After so long there is no more to be written; the client may take the rest within its patience.
    pub(super) fn end_after(&mut self, time: Duration) {
        self.end = Some(Instant::now() + time + self.patience);
    }
}

impl Write for Flowing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let now = Instant::now();
        let left = self.end.map_or(self.patience, |end| end.saturating_duration_since(now));
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.patient.grant(left.min(self.patience));
        (&self.patient).write(bytes)
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

    /// A client that takes a little now and then is written to, until the end; one that takes nothing is not.
    #[test]
    fn a_client_that_takes_nothing_is_left() {
        const STEP: Duration = Duration::from_millis(100);
        let stream = |takes: bool, end: Option<Duration>| {
            let (ours, mut theirs) = UnixStream::pair().expect("sockets");
            let ours = File::from(OwnedFd::from(ours));
            let client = std::thread::spawn(move || {
                let mut taken = vec![0; 1 << 12];
                while takes && theirs.read(&mut taken).is_ok_and(|len| len > 0) {
                    std::thread::sleep(STEP / 10);
                }
                theirs
            });
            let (began, mut flowing) = (Instant::now(), Flowing::new(&ours, 5 * STEP));
            end.into_iter().for_each(|end| flowing.end_after(end));
            while began.elapsed() < 20 * STEP {
                if let Err(error) = flowing.write_all(&[0; 1 << 16]) {
                    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
                    break;
                }
            }
            let took = began.elapsed();
            drop(ours);
            client.join().expect("it ends");
            took
        };
        assert!((5 * STEP..20 * STEP).contains(&stream(false, None)));
        assert!(stream(true, None) >= 20 * STEP);
        assert!((8 * STEP..20 * STEP).contains(&stream(true, Some(3 * STEP))));
    }
}
