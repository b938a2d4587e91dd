//! Which server is a packet's: what FastClick's load balancers share.

use super::ip_rr_switch::flow;
use packet::{Anno, Packet};
use router::{FromArg, Scope};
use std::hash::{BuildHasher, RandomState};

/// How servers are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One after the other.
    RoundRobin,
    /// By addresses and ports.
    Hash,
    /// By the aggregate annotation.
    HashAggregate,
}

impl FromArg for Mode {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text {
            "rr" => Ok(Mode::RoundRobin),
            "hash" | "hash_crc" => Ok(Mode::Hash),
            "hash_agg" => Ok(Mode::HashAggregate),
            _ => router::parse_error("'rr', 'hash', 'hash_crc' or 'hash_agg'", text),
        }
    }
}

/// Chooses among some servers.
#[derive(Debug)]
pub(crate) struct Balance {
    mode: Mode,
    servers: usize,
    next: usize,
    hasher: RandomState,
}

impl Balance {
    /// Among so many, at least one. A worker begins with another server than the next one.
    pub(crate) fn new(mode: Mode, servers: usize, worker: usize) -> Balance {
        Balance { mode, servers, next: worker % servers, hasher: RandomState::new() }
    }

    /// The number of a packet's server.
    #[inline]
    pub(crate) fn pick(&mut self, packet: &Packet) -> usize {
        match self.mode {
            Mode::RoundRobin => {
                let picked = self.next;
                self.next = if picked + 1 == self.servers { 0 } else { picked + 1 };
                picked
            }
            Mode::Hash => self.hasher.hash_one(flow(packet)) as usize % self.servers,
            Mode::HashAggregate => {
                let aggregate = packet.anno(Anno::AGGREGATE) as usize;
                (aggregate >> 16 ^ aggregate & 0xffff) % self.servers
            }
        }
    }
}
