//! Sockets that hear what the kernel says of routes, neighbours and interfaces.

use super::netlink::{self, Message};
use crate::kernel::{self, Ear, Language, List};
use rustix::fd::OwnedFd;

/// Bytes of messages that may wait, if the kernel allows: its own default is lost in a moment when many routes change.
const WAITING: usize = 1 << 25;

/// A socket that hears of changes; `groups` are bits as `RTMGRP_LINK` and its like.
///
/// # Errors
/// A sentence for the user.
pub(super) fn open(groups: u32) -> Result<OwnedFd, String> {
    kernel::open(None, groups, WAITING)
        .map_err(|error| format!("cannot listen to the kernel's routing messages: {error}"))
}

/// Hears of changes, and reads these lists.
///
/// # Errors
/// A sentence for the user.
pub(super) fn ear(groups: u32, lists: &'static [List]) -> Result<Ear<Message>, String> {
    let language = Language {
        request: |ask| netlink::dump_request(ask.what, ask.sequence),
        messages: |bytes| netlink::messages(bytes).0,
    };
    Ok(Ear::new(open(groups)?, language, lists))
}
