//! Sockets that hear what the kernel says.

use super::netlink::{self, Message};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

/// Bytes of messages that may wait, if the kernel allows: its own default is lost in a moment when many routes change.
const WAITING: usize = 1 << 25;
/// Bytes of one datagram, at most.
const CHUNK: usize = 1 << 17;
/// Datagrams that are read at a time, so that what they say is acted upon in between.
const AT_ONCE: usize = 16;

/// A socket that hears of changes; `groups` are bits as `RTMGRP_LINK` and its like.
///
/// # Errors
/// A sentence for the user.
pub(super) fn open(groups: u32) -> Result<OwnedFd, String> {
    let explain = |error: Errno| format!("cannot listen to the kernel's routing messages: {error}");
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // No protocol means NETLINK_ROUTE, whose number is 0.
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map_err(explain)?;
    // Without the right to exceed the limit: as much as it allows.
    let _ = sockopt::set_socket_recv_buffer_size_force(&socket, WAITING)
        .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, WAITING));
    rustix::net::bind(&socket, &SocketAddrNetlink::new(0, groups)).map_err(explain)?;
    Ok(socket)
}

/// Asks the kernel, and hears its answers and what changes.
pub(super) struct Ear {
    socket: OwnedFd,
    buffer: Vec<u8>,
}

/// What there was to hear.
pub(super) struct Heard {
    pub(super) messages: Vec<Message>,
    /// Whether some were lost because too many waited.
    pub(super) lost: bool,
}

impl Ear {
    /// Listens to these groups.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(super) fn open(groups: u32) -> Result<Ear, String> {
        Ok(Ear { socket: open(groups)?, buffer: vec![0; CHUNK] })
    }

    /// What can be read when there is something to hear.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Asks for all that there is of a kind, as `RTM_GETROUTE` and its like name it.
    pub(super) fn ask(&self, what: u16) -> Result<(), Errno> {
        let request = netlink::dump_request(what, u32::from(what));
        rustix::net::send(&self.socket, &request, SendFlags::empty()).map(drop)
    }

    /// The messages that are there, at most some of them.
    pub(super) fn hear(&mut self) -> Heard {
        let mut heard = Heard { messages: Vec::new(), lost: false };
        for _ in 0..AT_ONCE {
            match rustix::net::recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
                Ok((len, _)) => heard.messages.extend(netlink::messages(&self.buffer[..len.min(CHUNK)]).0),
                Err(error) => {
                    heard.lost = error == Errno::NOBUFS;
                    break; // nothing more
                }
            }
        }
        heard
    }
}
