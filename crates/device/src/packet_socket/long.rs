//! Long frames through packet sockets: the kernel hands them over as their sender made them, with a note about how they are to be cut.
//!
//! A ring of slots has no room for them; what is longer than a slot waits, whole, in the socket's queue, in the order of the slots.

use crate::segments::{Cut, Note};
use crate::sys;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};

/// Memory that frames may take up that wait in a socket's queue: 200 of 64 KiB. It is used only while they wait.
const QUEUE_BYTES: libc::c_int = 16 << 20;
/// Pieces into which a frame is read: its note, and the segments.
const PIECES: usize = Cut::MOST + 1;

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

/// A frame that was longer than its slot, in the socket's queue; none, if it was not.
pub struct Queued<'a>(Option<&'a OwnedFd>);

impl<'a> Queued<'a> {
    pub(super) fn new(fd: &'a OwnedFd, is_there: bool) -> Queued<'a> {
        Queued(is_there.then_some(fd))
    }

    #[cfg(test)]
    pub(super) fn none() -> Queued<'a> {
        Queued(None)
    }

    /// Reads the frame into pieces, which are as long as it is together.
    ///
    /// # Errors
    /// There is none, its length is another one, or there are too many pieces; the frame is lost then.
    pub(crate) fn read<'b>(&mut self, pieces: impl Iterator<Item = &'b mut [u8]>) -> io::Result<()> {
        let fd = self.0.take().ok_or(io::ErrorKind::NotFound)?;
        let mut note = [0u8; Note::LEN];
        let mut vectors = [const { MaybeUninit::<libc::iovec>::uninit() }; PIECES];
        vectors[0].write(libc::iovec { iov_base: note.as_mut_ptr().cast(), iov_len: note.len() });
        let (mut count, mut len) = (1, note.len());
        for piece in pieces {
            let vector = libc::iovec { iov_base: piece.as_mut_ptr().cast(), iov_len: piece.len() };
            vectors.get_mut(count).ok_or(io::ErrorKind::InvalidInput)?.write(vector);
            (count, len) = (count + 1, len + piece.len());
        }
        if receive(fd, &mut vectors[..count])? == len {
            Ok(())
        } else {
            Err(io::ErrorKind::InvalidData.into())
        }
    }

    /// Drops the frame unless it was read.
    #[inline]
    pub(super) fn skip(mut self) {
        if self.0.is_some() {
            let _ = self.read(std::iter::empty());
        }
    }
}

/// Receives a frame into pieces; returns its length, which may be more than there is room.
fn receive(fd: &OwnedFd, vectors: &mut [MaybeUninit<libc::iovec>]) -> io::Result<usize> {
    // SAFETY: a structure of integers and pointers, where zero means none.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = vectors.as_mut_ptr().cast();
    message.msg_iovlen = vectors.len() as _;
    let mut once_more = true;
    loop {
        // SAFETY: the caller has written all the vectors, each of which leads to memory that is borrowed for as long as this takes.
        let got = unsafe { libc::recvmsg(fd.as_raw_fd(), &mut message, libc::MSG_TRUNC) };
        match usize::try_from(got) {
            Ok(len) => return Ok(len),
            // An error of the interface's comes first, and leaves the frame where it is.
            Err(_) if std::mem::take(&mut once_more) => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
}
