//! Messages about neighbours.

use super::attributes::{AF_INET, AF_INET6, address, attributes, u16_at, u32_at};
use std::net::IpAddr;

/// What the kernel knows of a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An administrator has entered it.
    Permanent,
    /// It answered lately.
    Reachable,
    /// It has been heard of.
    Heard,
    /// It is asked for, did not answer, or is forgotten.
    Unknown,
}

/// A neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Neighbour {
    pub(crate) address: IpAddr,
    /// The interface's number.
    pub(crate) interface: u32,
    pub(crate) mac: Option<[u8; 6]>,
    pub(crate) standing: Standing,
}

/// The body of a neighbour message: `struct ndmsg`, attributes. Neighbours for whom this machine answers in their place are none.
pub(super) fn read(body: &[u8]) -> Option<Neighbour> {
    const REACHABLE: u16 = 2;
    const STALE_DELAY_PROBE: u16 = 4 | 8 | 0x10;
    const PERMANENT: u16 = 0x80;
    const PROXY: u8 = 8;
    let &[family, ..] = body.first_chunk::<12>()?;
    let (interface, state, flags) = (u32_at(body, 4)?, u16_at(body, 8)?, body[10]);
    if !matches!(family, AF_INET | AF_INET6) || flags & PROXY != 0 {
        return None;
    }
    let (mut found, mut mac) = (None, None);
    for (kind, value) in attributes(&body[12..]) {
        match kind {
            1 => found = address(value),                // NDA_DST
            2 => mac = <[u8; 6]>::try_from(value).ok(), // NDA_LLADDR
            _ => {}
        }
    }
    let standing = match state {
        state if state & PERMANENT != 0 => Standing::Permanent,
        state if state & REACHABLE != 0 => Standing::Reachable,
        state if state & STALE_DELAY_PROBE != 0 => Standing::Heard,
        _ => Standing::Unknown,
    };
    Some(Neighbour { address: found?, interface, mac, standing })
}
