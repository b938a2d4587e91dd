//! What is read from a file.

use std::fmt;
use std::net::IpAddr;

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
    /// Routes that were left out: not for forwarding by destination, or worse than another for the same prefix.
    pub skipped: u64,
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

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, prefix: AnyPrefix, next_hops: NextHops) {
        match prefix {
            AnyPrefix::V4(prefix) => self.v4.push((prefix, next_hops)),
            AnyPrefix::V6(prefix) => self.v6.push((prefix, next_hops)),
        }
    }
}
