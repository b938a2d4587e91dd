//! Tables of the kernel, read and followed by netlink: routes, neighbours, interfaces, IPsec's associations.
//!
//! An [`Ear`] is a socket that hears of changes, and by which tables are read in full; [`reading`] knows when that may begin and what it was worth.

mod ear;
mod reading;

pub(crate) use ear::{Ear, Event, Language, open};
pub(crate) use reading::{End, List};
