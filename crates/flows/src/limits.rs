//! What a table may hold, and what it counts.

use std::fmt;
use std::time::Duration;

/// States that a flow can have, each with a timeout.
pub const STATES: usize = 8;

/// What a table may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Flows at most, confirmed or not.
    pub capacity: usize,
    /// Flows at most that are not confirmed.
    pub unconfirmed: usize,
    /// Whether, while unconfirmed flows take all their room, a new one gets a record with its second packet only. Not for callers that
    /// can do nothing with a packet whose flow has no record.
    pub earned: bool,
    /// How long an unconfirmed flow stays after its last packet.
    pub unconfirmed_timeout: Duration,
    /// How long a confirmed flow stays after its last packet, by its state; [`Duration::ZERO`] for ever. 24 days at most.
    pub timeouts: [Duration; STATES],
    /// Unconfirmed flows at most whose sources have a prefix in common; 0 for no such limit. Prefixes whose hashes meet share one quota:
    /// there are four times as many counters as unconfirmed flows, and 4096 at least.
    pub quota: u16,
    /// How long these prefixes are: of IPv4 addresses, and of IPv6 ones (64 at most).
    pub quota_bits: (u8, u8),
}

impl Limits {
    /// Room for so many flows, a quarter of it for unconfirmed ones; 30 s for each; and no quota, but for prefixes of 24 and 64 bits once
    /// there is one.
    pub fn new(capacity: usize) -> Limits {
        let timeout = Duration::from_secs(30);
        Limits {
            capacity,
            unconfirmed: capacity.div_ceil(4),
            earned: false,
            unconfirmed_timeout: timeout,
            timeouts: [timeout; STATES],
            quota: 0,
            quota_bits: (24, 64),
        }
    }

    /// The same timeout for all flows.
    pub fn with_timeout(self, timeout: Duration) -> Limits {
        Limits { unconfirmed_timeout: timeout, timeouts: [timeout; STATES], ..self }
    }
}

/// Why there is no record for a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// All room is taken by confirmed flows.
    Full,
    /// The source's prefix has its quota of unconfirmed flows.
    Quota,
    /// Unconfirmed flows take all their room, and it is this one's first packet: see [`Limits::earned`].
    First,
    /// One of the keys is another record's.
    Taken,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Full => "the flow table is full",
            Refused::Quota => "too many new flows from one prefix",
            Refused::First => "too many new flows; the next packet counts",
            Refused::Taken => "another flow has the key",
        })
    }
}

impl std::error::Error for Refused {}

/// What a table counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Look-ups that found a record.
    pub hits: u64,
    /// Look-ups that found none.
    pub misses: u64,
    /// Records that were made.
    pub inserted: u64,
    /// Records that were confirmed.
    pub confirmed: u64,
    /// Unconfirmed flows that made room for others.
    pub evicted: u64,
    /// Flows whose time was over.
    pub expired: u64,
    /// Flows that were removed.
    pub removed: u64,
    /// Flows without a record: [`Refused::Full`].
    pub refused_full: u64,
    /// Flows without a record: [`Refused::Quota`].
    pub refused_quota: u64,
    /// Flows without a record: [`Refused::First`].
    pub refused_first: u64,
    /// Flows without a record: [`Refused::Taken`].
    pub refused_taken: u64,
}

/// Of two tables, what both counted.
impl std::ops::Add for Stats {
    type Output = Stats;

    fn add(self, other: Stats) -> Stats {
        Stats {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            inserted: self.inserted + other.inserted,
            confirmed: self.confirmed + other.confirmed,
            evicted: self.evicted + other.evicted,
            expired: self.expired + other.expired,
            removed: self.removed + other.removed,
            refused_full: self.refused_full + other.refused_full,
            refused_quota: self.refused_quota + other.refused_quota,
            refused_first: self.refused_first + other.refused_first,
            refused_taken: self.refused_taken + other.refused_taken,
        }
    }
}
