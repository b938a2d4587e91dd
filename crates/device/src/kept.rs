//! What an interface leaves to another program: descriptors and numbers.

use std::io;
use std::os::fd::OwnedFd;

/// What stands for a number that is not there.
pub(crate) const NONE: u64 = u64::MAX;

/// Sockets, and what is to be known of them, as numbers.
#[derive(Debug, Default)]
pub struct Kept {
    /// Copies of the sockets' descriptors.
    pub fds: Vec<OwnedFd>,
    /// Places in rings, and the like.
    pub numbers: Vec<u64>,
}

/// Where to read from what was kept.
pub(crate) struct Keeping {
    fds: std::vec::IntoIter<OwnedFd>,
    numbers: std::vec::IntoIter<u64>,
}

pub(crate) fn bad() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what was kept of a packet socket makes no sense")
}

impl Keeping {
    pub(crate) fn new(kept: Kept) -> Keeping {
        Keeping { fds: kept.fds.into_iter(), numbers: kept.numbers.into_iter() }
    }

    pub(crate) fn fd(&mut self) -> io::Result<OwnedFd> {
        self.fds.next().ok_or_else(bad)
    }

    pub(crate) fn number(&mut self) -> io::Result<u64> {
        self.numbers.next().ok_or_else(bad)
    }

    pub(crate) fn size(&mut self) -> io::Result<usize> {
        usize::try_from(self.number()?).map_err(|_| bad())
    }

    pub(crate) fn perhaps(&mut self) -> io::Result<Option<u64>> {
        Ok(Some(self.number()?).filter(|&number| number != NONE))
    }
}
