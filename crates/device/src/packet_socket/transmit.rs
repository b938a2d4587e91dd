//! Frames are sent by the batch, with one system call. Consecutive segments of a TCP flow go as one long frame, which the kernel cuts where
//! it has to.

use super::{bind, bound_to};
use crate::frame::Sent;
use crate::segments::{HEADERS_MOST, Link, Note, Train};
use crate::sys;
use crate::trouble::Trouble;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Frames that are sent with one system call.
const SEND_MAX: usize = 64;
/// Long frames among them, at most.
const LONG_MAX: usize = SEND_MAX / 2;
/// Memory that frames may take up that the interface has not sent yet, at least: long ones fill the usual 208 KiB by threes.
const QUEUE_BYTES: libc::c_int = 2 << 20;
/// The note of a frame that is as it should be.
const PLAIN: [u8; Note::LEN] = [0; Note::LEN];

/// What is in front of a long frame's payload.
type Head = [u8; Note::LEN + HEADERS_MOST];

/// Sends frames to an interface.
pub struct PacketTx {
    pub(super) fd: OwnedFd,
    pub(super) index: i32,
    /// Whether there is a note in front of each frame.
    pub(super) is_noted: bool,
    /// Whether the kernel has refused a long frame: it gets none any more.
    pub(super) is_refused: bool,
    pub(super) mtu: usize,
    heads: Box<[Head; LONG_MAX]>,
}

impl PacketTx {
    /// Opens an interface. If it `merges`, long frames are made where that is possible.
    ///
    /// # Errors
    /// What the kernel refuses, and why perhaps.
    pub fn open(interface: &str, merges: bool) -> Result<PacketTx, Trouble> {
        let at = |doing| Trouble::at(interface, doing);
        let fd = sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(at("opening a packet socket"))?;
        let index = sys::index_of(interface).map_err(at("looking it up"))?;
        // Protocol 0: nothing is received.
        bind(&fd, index, 0).map_err(at("binding a packet socket"))?;
        let is_noted = merges
            && super::has_ethernet_headers(interface)
            && sys::set_option(&fd, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1i32).is_ok();
        if is_noted {
            let room = |name| sys::set_option(&fd, libc::SOL_SOCKET, name, &QUEUE_BYTES);
            let _ = room(libc::SO_SNDBUFFORCE).or_else(|_| room(libc::SO_SNDBUF));
        }
        let mtu = sys::mtu(interface).unwrap_or(0);
        Ok(PacketTx { mtu, ..PacketTx::of(fd, index, is_noted) })
    }

    /// That of a socket which is open.
    pub(super) fn of(fd: OwnedFd, index: i32, is_noted: bool) -> PacketTx {
        let heads = Box::new([[0; Note::LEN + HEADERS_MOST]; LONG_MAX]);
        PacketTx { fd, index, is_noted, is_refused: false, mtu: 0, heads }
    }

    /// Whether the interface of this name is another one now, or none: the socket has to be opened again.
    pub fn is_stale(&self, interface: &str) -> bool {
        // One that left and came back under its number, from another namespace for instance, has lost the socket all the same.
        sys::index_of(interface).ok() != Some(self.index) || bound_to(&self.fd) != Some(self.index)
    }

    /// Whether segments are merged.
    pub fn merges(&self) -> bool {
        self.is_noted && !self.is_refused
    }

    /// Asks for the interface's MTU again: longer frames are not merged. For a timer.
    pub fn look(&mut self, interface: &str) {
        if self.is_noted {
            self.mtu = sys::mtu(interface).unwrap_or(self.mtu);
        }
    }

    /// Sends frames, up to 64 of them.
    pub fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> Sent {
        let mut list: [&[u8]; SEND_MAX] = [&[]; SEND_MAX];
        let count = list.iter_mut().zip(frames).map(|(place, frame)| *place = frame).count();
        let (mut call, mut long, mut left) = (Call::new(), 0, &list[..count]);
        while let [frame, ..] = *left {
            let train = if self.merges() { train(left, self.mtu) } else { None };
            let taken = train.as_ref().map_or(1, Train::frames);
            let start = call.used;
            if let Some(train) = train {
                let (head, header) = (&mut self.heads[long], train.header());
                let note = train.finish(&mut head[Note::LEN..]);
                head[..Note::LEN].copy_from_slice(&note.bytes());
                call.add(&head[..Note::LEN + header]);
                left[..taken].iter().for_each(|frame| call.add(&frame[header..]));
                long += 1;
            } else {
                if self.is_noted {
                    call.add(&PLAIN);
                }
                call.add(frame);
            }
            call.end(start, taken);
            left = &left[taken..];
        }
        // SAFETY: frames, heads and notes outlive the call, and nothing writes to them meanwhile.
        let (sent, error) = unsafe { call.send(&self.fd) };
        let (whole, sizes) = (call.sizes[..sent].iter().map(|&size| usize::from(size)), &call.sizes);
        let merged = whole.clone().filter(|&size| size > 1).sum();
        Sent { count: whole.sum(), merged, error: error.map(|error| self.explain(error, sizes[sent] > 1)) }
    }

    /// What an error means: a long frame that the kernel takes for a wrong one is the last one, and goes again in its parts.
    #[cold]
    fn explain(&mut self, error: io::Error, is_long: bool) -> io::Error {
        if !is_long || !matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EMSGSIZE | libc::EOPNOTSUPP))
        {
            return error;
        }
        self.is_refused = true;
        io::ErrorKind::Interrupted.into()
    }
}

/// A call of sendmmsg as it is put together: frames, each as a message of one or several pieces.
struct Call {
    pieces: [libc::iovec; 2 * SEND_MAX],
    messages: [libc::mmsghdr; SEND_MAX],
    /// Where the pieces of each message begin, and how many frames are in it.
    starts: [u8; SEND_MAX],
    sizes: [u8; SEND_MAX],
    /// Pieces and messages so far.
    used: usize,
    count: usize,
}

impl Call {
    fn new() -> Call {
        // SAFETY: structures of integers and pointers, where zero means none.
        let (pieces, messages) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        Call { pieces, messages, starts: [0; SEND_MAX], sizes: [0; SEND_MAX], used: 0, count: 0 }
    }

    /// Adds a piece to the message that is put together.
    #[inline]
    fn add(&mut self, piece: &[u8]) {
        self.pieces[self.used] =
            libc::iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() };
        self.used += 1;
    }

    /// Ends a message of so many frames, whose first piece is that of this number.
    #[inline]
    fn end(&mut self, start: usize, frames: usize) {
        self.messages[self.count].msg_hdr.msg_iovlen = (self.used - start) as _;
        self.starts[self.count] = start as u8;
        self.sizes[self.count] = frames as u8;
        self.count += 1;
    }

    /// Sends the messages: how many the kernel took, and why not the next one.
    ///
    /// # Safety
    /// The pieces must be readable as long as this takes.
    unsafe fn send(&mut self, fd: &OwnedFd) -> (usize, Option<io::Error>) {
        if self.count == 0 {
            return (0, None);
        }
        for (message, &start) in self.messages[..self.count].iter_mut().zip(&self.starts) {
            message.msg_hdr.msg_iov = &raw mut self.pieces[usize::from(start)];
        }
        // SAFETY: the first `count` messages refer to pieces that the caller answers for; the kernel only reads them.
        let sent =
            unsafe { libc::sendmmsg(fd.as_raw_fd(), self.messages.as_mut_ptr(), self.count as u32, 0) };
        match usize::try_from(sent) {
            Ok(sent) if sent == self.count => (sent, None),
            // The call after a part was sent says why the next frame was not.
            Ok(sent) => (sent, Some(io::ErrorKind::Interrupted.into())),
            Err(_) => (0, Some(io::Error::last_os_error())),
        }
    }
}

/// The first of these frames and those that follow, as far as they make a long one.
#[inline]
fn train<'a>(frames: &[&'a [u8]], mtu: usize) -> Option<Train<'a>> {
    let (first, rest) = frames.split_first()?;
    // What is alone is no train.
    rest.first()?;
    let mut train = Train::begin(first, Link::Ethernet, mtu)?;
    for frame in rest {
        if !train.take(frame, Link::Ethernet) {
            break;
        }
    }
    (train.frames() > 1).then_some(train)
}
