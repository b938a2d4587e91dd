//! Which server is a packet's: what FastClick's load balancers share.

use super::ip_rr_switch::flow;
use packet::{Anno, Packet};
use router::{Args, FromArg, Handlers, Scope};
use std::any::Any;
use std::hash::{BuildHasher, RandomState};

/// How servers are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One after the other.
    #[default]
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

/// How servers are chosen, and how many.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    mode: Mode,
    /// 0 for all.
    used: u32,
    /// What is said to modes that are not there.
    others: [String; OTHERS.len()],
}

/// Arguments of modes that are not there.
const OTHERS: [&str; 6] =
    ["LST_MODE", "AWRR_TIME", "AWRR_ALPHA", "AUTOSCALE", "FORCE_TRACK_LOAD", "CST_BUCKETS"];

impl Settings {
    /// Adds the arguments `LB_MODE` and `NSERVER`.
    pub(crate) fn read<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        let args = args.keyword("LB_MODE", &mut self.mode).keyword("NSERVER", &mut self.used);
        OTHERS.into_iter().zip(&mut self.others).fold(args, |args, (name, value)| args.keyword(name, value))
    }
}

/// A server and what it got.
#[derive(Debug)]
struct Server<A> {
    address: A,
    packets: u64,
    bytes: u64,
}

/// Servers, one of which is chosen for a packet or a flow, and what they got.
#[derive(Debug)]
pub(crate) struct Servers<A> {
    servers: Vec<Server<A>>,
    used: usize,
    balance: Balance,
}

impl<A: Copy + Send + 'static> Servers<A> {
    /// At least one.
    pub(crate) fn new(addresses: Vec<A>, settings: Settings, worker: usize) -> Servers<A> {
        let used = match settings.used as usize {
            0 => addresses.len(),
            used => used.min(addresses.len()),
        };
        let servers = addresses.into_iter().map(|address| Server { address, packets: 0, bytes: 0 }).collect();
        Servers { servers, used, balance: Balance::new(settings.mode, used, worker) }
    }

    /// The number of the server that is chosen for a packet.
    #[inline]
    pub(crate) fn pick(&mut self, packet: &Packet) -> usize {
        self.balance.pick(packet)
    }

    /// A server's address.
    #[inline]
    pub(crate) fn address(&self, server: usize) -> A {
        self.servers[server].address
    }

    /// Counts a packet that a server gets.
    #[inline]
    pub(crate) fn charge(&mut self, server: usize, packet: &Packet) {
        let server = &mut self.servers[server];
        server.packets += 1;
        server.bytes += packet.len() as u64;
    }

    /// A value of each server.
    fn list(&self, value: impl Fn(&Server<A>) -> u64) -> String {
        self.servers.iter().map(|server| value(server).to_string()).collect::<Vec<_>>().join(" ")
    }

    /// Declares the handlers of an element that has servers.
    pub(crate) fn handlers<E: Any>(h: &mut Handlers, of: fn(&E) -> &Servers<A>) {
        h.read("nb_total_servers", move |e: &mut E, _| of(e).servers.len());
        h.read("nb_active_servers", move |e: &mut E, _| of(e).used);
        h.read("load_packets", move |e: &mut E, _| of(e).list(|server| server.packets));
        h.read("load_bytes", move |e: &mut E, _| of(e).list(|server| server.bytes));
    }
}
