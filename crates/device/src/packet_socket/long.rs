//! Long frames through packet sockets: the kernel hands them over as their sender made them, with a note about how they are to be cut.
//!
//! A ring of slots has no room for them; what is longer than a slot waits, whole, in the socket's queue, in the order of the slots.

use crate::segments::Note;
use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Memory that frames may take up that wait in a socket's queue: 200 of 64 KiB. It is used only while they wait.
const QUEUE_BYTES: libc::c_int = 16 << 20;
/// Bytes in front of a frame in its place, of which the last are its note: the frame is aligned as the place is.
const BEFORE: usize = 64;
/// Bytes of a frame, at most: of an IP packet as long as its header can say, behind an Ethernet header and tags.
const FRAME_MOST: usize = 65_535 + 40 + 64;

/// Asks for long frames, before the socket has a ring; false if the kernel has none to give.
pub(super) fn ask(fd: &OwnedFd) -> bool {
    let set = |name, value: libc::c_int| sys::set_option(fd, libc::SOL_PACKET, name, &value).is_ok();
    if !set(libc::PACKET_VNET_HDR, 1) {
        return false;
    }
    set(libc::PACKET_COPY_THRESH, 1);
    // The first one is for root, and goes beyond what the machine lets others have.
    let room = |name| sys::set_option(fd, libc::SOL_SOCKET, name, &QUEUE_BYTES);
    let _ = room(libc::SO_RCVBUFFORCE).or_else(|_| room(libc::SO_RCVBUF));
    true
}

/// Where a long frame is put that comes from a socket's queue. It is small enough to stay in a processor's cache, from which packets are cut.
pub(super) struct Place(Box<[u8]>);

impl Place {
    /// A place; one without room, for a socket that has no long frames.
    pub(super) fn new(is_noted: bool) -> Place {
        Place(vec![0; if is_noted { BEFORE + FRAME_MOST } else { 0 }].into())
    }
}

/// A frame that was longer than its slot, in the socket's queue; none, if it was not.
pub struct Queued<'a> {
    fd: Option<&'a OwnedFd>,
    place: &'a mut [u8],
}

impl<'a> Queued<'a> {
    pub(super) fn new(fd: &'a OwnedFd, place: &'a mut Place, is_there: bool) -> Queued<'a> {
        Queued { fd: is_there.then_some(fd), place: &mut place.0 }
    }

    #[cfg(test)]
    pub(super) fn none() -> Queued<'a> {
        Queued { fd: None, place: &mut [] }
    }

    /// Reads the frame, which is of so many bytes.
    ///
    /// # Errors
    /// There is none, or its length is another one; the frame is lost then.
    pub(crate) fn read(&mut self, len: usize) -> io::Result<&[u8]> {
        let fd = self.fd.take().ok_or(io::ErrorKind::NotFound)?;
        // One piece has the note and the frame: each piece more takes the kernel as long as 800 bytes.
        let got = receive(fd, self.place.get_mut(BEFORE - Note::LEN..).unwrap_or_default())?;
        let frame = self.place.get(BEFORE..BEFORE + len).filter(|_| got == Note::LEN + len);
        frame.ok_or(io::ErrorKind::InvalidData.into())
    }

    /// Drops the frame unless it was read.
    #[inline]
    pub(super) fn skip(self) {
        if let Some(fd) = self.fd {
            // Without room for the note there is an error, and the frame is gone.
            let _ = receive(fd, &mut [0; Note::LEN]);
        }
    }
}

/// Receives what is next; returns its length, which may be more than there is room.
fn receive(fd: &OwnedFd, room: &mut [u8]) -> io::Result<usize> {
    let mut once_more = true;
    loop {
        // SAFETY: the memory is borrowed for as long as this takes.
        let got =
            unsafe { libc::recv(fd.as_raw_fd(), room.as_mut_ptr().cast(), room.len(), libc::MSG_TRUNC) };
        match usize::try_from(got) {
            Ok(len) => return Ok(len),
            // An error of the interface's comes first, and leaves the frame where it is.
            Err(_) if std::mem::take(&mut once_more) => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
}
