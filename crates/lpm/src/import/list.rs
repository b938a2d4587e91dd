//! What is read from a file.

use std::fmt;
use std::net::IpAddr;

use super::error::ImportError;
use super::fault::Faults;
use crate::prefix::Prefix;

/// A prefix of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnyPrefix {
    /// IPv4.
    V4(Prefix<u32>),
    /// IPv6.
    V6(Prefix<u128>),
}

impl fmt::Display for AnyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(prefix) => prefix.fmt(f),
            Self::V6(prefix) => prefix.fmt(f),
        }
    }
}

/// One next hop, as far as the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Hop {
    /// The gateway's address; `None` for a directly connected network.
    pub gateway: Option<IpAddr>,
    /// The output port.
    pub port: Option<u32>,
    /// The interface, an index into [`List::devices`].
    pub device: Option<u32>,
}

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NextHops {
    /// To one next hop.
    Hop(Hop),
    /// To several with weights, an index into [`List::groups`].
    Group(u32),
    /// Nowhere: what matches is dropped.
    Nowhere,
}

/// What a file contained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The IPv4 routes in the order of the file.
    pub v4: Vec<(Prefix<u32>, NextHops)>,
    /// The IPv6 routes in the order of the file.
    pub v6: Vec<(Prefix<u128>, NextHops)>,
    /// Names of interfaces.
    pub devices: Vec<String>,
    /// Next hops with their weights.
    pub groups: Vec<Vec<(Hop, u32)>>,
    /// Routes that were left out and are not missed: for the machine itself, or worse than another for the same prefix.
    pub skipped: u64,
    /// What could not be read or used.
    pub faults: Faults,
}

impl List {
    /// The next hops of a route and their weights; none if it leads nowhere.
    pub fn hops(&self, next_hops: NextHops) -> Vec<(Hop, u32)> {
        match next_hops {
            NextHops::Hop(hop) => vec![(hop, 1)],
            NextHops::Group(group) => self.groups.get(group as usize).cloned().unwrap_or_default(),
            NextHops::Nowhere => Vec::new(),
        }
    }

    /// The name of a next hop's interface.
    pub fn device(&self, hop: Hop) -> Option<&str> {
        self.devices.get(hop.device? as usize).map(String::as_str)
    }

    /// The list, unless nothing of the file could be read or used.
    pub(super) fn checked(self) -> Result<List, ImportError> {
        if self.is_empty() && self.skipped == 0 { self.strict() } else { Ok(self) }
    }

    /// The list, if all of the file could be read and used.
    ///
    /// # Errors
    /// [`ImportError::Unreadable`].
    pub fn strict(self) -> Result<List, ImportError> {
        match self.faults.first() {
            [] => Ok(self),
            [first, ..] => Err(ImportError::Unreadable(first.clone())),
        }
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the route at a place of its family's leads.
    pub(super) fn next_hops(&self, prefix: AnyPrefix, at: usize) -> NextHops {
        match prefix {
            AnyPrefix::V4(_) => self.v4[at].1,
            AnyPrefix::V6(_) => self.v6[at].1,
        }
    }

    pub(super) fn set_next_hops(&mut self, prefix: AnyPrefix, at: usize, next_hops: NextHops) {
        match prefix {
            AnyPrefix::V4(_) => self.v4[at].1 = next_hops,
            AnyPrefix::V6(_) => self.v6[at].1 = next_hops,
        }
    }

    /// A new group of next hops.
    pub(super) fn group(&mut self, hops: Vec<(Hop, u32)>) -> NextHops {
        self.groups.push(hops);
        NextHops::Group((self.groups.len() - 1) as u32)
    }

    pub(super) fn push(&mut self, prefix: AnyPrefix, next_hops: NextHops) {
        match prefix {
            AnyPrefix::V4(prefix) => self.v4.push((prefix, next_hops)),
            AnyPrefix::V6(prefix) => self.v6.push((prefix, next_hops)),
        }
    }
}
