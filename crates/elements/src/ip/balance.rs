//! Which server is a packet's: what FastClick's load balancers share.

use super::header::NO_HEADER;
use super::ip_rr_switch::flow;
use super::shifter::{Side, change};
use crate::rewrite::flow_id::Key;
use packet::{Anno, Packet};
use router::{Args, Config, ConfigError, FromArg, Handlers, Scope, Verdict};
use std::any::Any;
use std::net::Ipv4Addr;
use wire::ethernet::{Header, MacAddr};

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
#[derive(Clone, Debug)]
pub(crate) struct Balance {
    mode: Mode,
    servers: usize,
    next: usize,
    seed: u64,
}

impl Balance {
    /// Among so many, at least one. A worker begins with another server than the next one; flows that are chosen for by a hash have the same one
    /// on all workers.
    pub(crate) fn new(mode: Mode, servers: usize, config: &Config<'_>) -> Balance {
        Balance { mode, servers, next: config.worker() % servers, seed: config.common_seed() }
    }

    /// Goes on as another one would have, as far as there are as many servers.
    pub(crate) fn adopt(&mut self, old: &Balance) {
        self.next = old.next % self.servers;
        self.seed = old.seed;
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
            Mode::Hash => {
                let id = flow(packet).unwrap_or_default();
                (Key { map: 0, id }).hash(self.seed) as usize % self.servers
            }
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

/// How a server is told apart, and what makes a packet one for it.
pub(crate) trait Target: Copy + PartialEq + Send + 'static {
    /// Sends a packet there.
    fn send(self, packet: &mut Packet) -> Verdict;
}

impl Target for Ipv4Addr {
    #[inline]
    fn send(self, packet: &mut Packet) -> Verdict {
        if change(packet, Side::Destination, |_| self, |port| port).is_none() {
            return Verdict::Drop(NO_HEADER);
        }
        packet.set_dst_ip(self);
        Verdict::Pass
    }
}

impl Target for MacAddr {
    #[inline]
    fn send(self, packet: &mut Packet) -> Verdict {
        match Header::new_checked_mut(packet.data_mut()) {
            Ok(mut header) => {
                header.set_dst(self);
                Verdict::Pass
            }
            Err(_) => Verdict::Drop("no Ethernet header"),
        }
    }
}

/// An output as a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Output(pub(crate) usize);

impl Target for Output {
    #[inline]
    fn send(self, _packet: &mut Packet) -> Verdict {
        Verdict::Output(self.0)
    }
}

/// A server and what it got.
#[derive(Clone, Debug)]
struct Server<A> {
    address: A,
    packets: u64,
    bytes: u64,
}

/// Servers, one of which is chosen for a packet or a flow, and what they got.
#[derive(Clone, Debug)]
pub(crate) struct Servers<A> {
    servers: Vec<Server<A>>,
    used: usize,
    balance: Balance,
}

impl<A: Target> Servers<A> {
    /// At least one.
    pub(crate) fn new(
        addresses: Vec<A>,
        settings: Settings,
        config: &Config<'_>,
    ) -> Result<Servers<A>, ConfigError> {
        if addresses.is_empty() {
            return Err("DST: required argument missing".into());
        }
        let used = match settings.used as usize {
            0 => addresses.len(),
            used => used.min(addresses.len()),
        };
        let servers = addresses.into_iter().map(|address| Server { address, packets: 0, bytes: 0 }).collect();
        Ok(Servers { servers, used, balance: Balance::new(settings.mode, used, config) })
    }

    /// Goes on as those of a former configuration would have, and says where each of them is among these now.
    pub(crate) fn adopt(&mut self, old: &Servers<A>) -> Vec<Option<usize>> {
        self.balance.adopt(&old.balance);
        let now = |(at, server): (usize, &Server<A>)| {
            let is_here = |&at: &usize| self.servers.get(at).is_some_and(|own| own.address == server.address);
            Some(at).filter(is_here).or_else(|| (0..self.servers.len()).find(is_here))
        };
        let now: Vec<_> = old.servers.iter().enumerate().map(now).collect();
        for (server, at) in old.servers.iter().zip(&now) {
            if let Some(at) = *at {
                self.servers[at] = server.clone();
            }
        }
        now
    }

    /// The number of the server that is chosen for a packet.
    #[inline]
    pub(crate) fn pick(&mut self, packet: &Packet) -> usize {
        self.balance.pick(packet)
    }

    /// Sends a packet to a server, and counts it.
    #[inline]
    pub(crate) fn send(&mut self, server: usize, packet: &mut Packet) -> Verdict {
        let server = &mut self.servers[server];
        let verdict = server.address.send(packet);
        if !matches!(verdict, Verdict::Drop(_)) {
            server.packets += 1;
            server.bytes += packet.len() as u64;
        }
        verdict
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
