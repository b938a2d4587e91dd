//! A socket that hears what the kernel says.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

/// Bytes of messages that may wait, if the kernel allows: its own default is lost in a moment when many routes change.
const WAITING: usize = 1 << 25;

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
