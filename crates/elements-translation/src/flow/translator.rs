//! Ports that stand for flows: what elements share that give flows another source.
//!
//! A port whose TCP connection is over goes behind those that are free, and its mapping stays until it is given to
//! another flow, so that the last packets of the connection still find their way.

use super::mappings::{From, Mapping, Mappings};
use crate::balance::loads::tcp_flags;
use elements_shared::flow_space::{Given, NO_FLOW, Space};
use elements_shared::ip_header::header;
use packet::Packet;
use router::{Config, ConfigError, Cx};
use std::collections::{HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use wire::ip_proto;
use wire::tcp::flag::{ACK, SYN};

/// Why packets are dropped.
pub(super) const NO_PORTS: &str = "no TCP or UDP ports";
const NONE_FREE: &str = "no port is free";
const NO_SYN: &str = "first packet is no SYN";

/// Ports below stay for services.
const FIRST_PORT: usize = 1024;
const PORTS: usize = 65536 - FIRST_PORT;
/// How long to wait before looking for flows that are over again.
const SWEEP_NS: i64 = 100_000_000;

/// A flow's port.
#[derive(Clone, Copy, Default)]
struct Held {
    /// 0 if it has none.
    port: u16,
    /// Whether it is free for others, since the connection is over.
    freed: bool,
}

/// The ports of the flows of one worker.
pub(super) struct Translator {
    mappings: Arc<Mappings>,
    flows: Space<Held>,
    /// The ports that this worker may use, and those of them that are free; the ones that have been so for longest are in front.
    range: Range<usize>,
    free: VecDeque<u16>,
    /// Those that were free in the configuration before, while that is taken over.
    were_free: Vec<u16>,
    /// Whether TCP flows may begin with any packet.
    accept_nonsyn: bool,
    /// Whether the ends of TCP connections free their ports.
    state: bool,
    swept_ns: i64,
}

/// What goes to a new configuration.
pub(super) struct Handover {
    mappings: Arc<Mappings>,
    flows: Given<Held>,
    free: VecDeque<u16>,
}

/// The ports of a packet, source and destination, if it has some and is no fragment: the flow of a fragment is not that of its ports.
#[inline]
pub(super) fn ports(packet: &Packet) -> Option<(u16, u16)> {
    let ip = header(packet)?;
    let fits = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && !ip.is_fragment();
    let [a, b, c, d] = *packet.transport().filter(|_| fits)?.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// Whether a packet begins a TCP connection.
fn is_syn(packet: &Packet) -> bool {
    tcp_flags(packet) & (SYN | ACK) == SYN
}

/// Whether a TCP packet begins no connection.
fn is_no_syn(packet: &Packet) -> bool {
    header(packet).is_some_and(|ip| ip.protocol() == ip_proto::TCP) && !is_syn(packet)
}

impl Translator {
    /// With the worker's part of all ports.
    pub(super) fn new(
        config: &Config<'_>,
        mappings: Arc<Mappings>,
        accept_nonsyn: bool,
        state: bool,
    ) -> Translator {
        let workers = config.workers();
        let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
        let part = PORTS / workers.len().max(1);
        let first = FIRST_PORT + place * part;
        let range = first..first + part;
        // A port is in the line once, so that the line never grows.
        let free = range.clone().map(|port| port as u16).collect();
        Translator {
            mappings,
            flows: Space::default(),
            range,
            free,
            were_free: Vec::new(),
            accept_nonsyn,
            state,
            swept_ns: i64::MIN,
        }
    }

    /// What it knows of flows.
    pub(super) fn give(&mut self) -> Handover {
        let (mappings, free) = (self.mappings.clone(), std::mem::take(&mut self.free));
        Handover { mappings, flows: self.flows.give(), free }
    }

    /// Goes on with flows, if what stands for them is the same. Ports that were another worker's stay with their flows as long as these last.
    pub(super) fn adopt(&mut self, cx: &Cx<'_>, old: Handover, same: bool) {
        let mappings = &self.mappings;
        self.flows.adopt(cx, old.flows, |held| {
            if held.port == 0 {
                return Some(held);
            }
            if !same || !held.freed && !mappings.take_over(held.port) {
                return None;
            }
            mappings.copy(held.port, &old.mappings);
            Some(held)
        });
        self.were_free.extend(old.free);
    }

    /// All flows have come: which of the worker's ports are free, those first that were so for longest.
    pub(super) fn settle(&mut self) {
        let (range, mappings, mut known) = (&self.range, &self.mappings, HashSet::new());
        let ports = self.were_free.drain(..).chain(range.clone().map(|port| port as u16));
        let is_free = |port: &u16| range.contains(&usize::from(*port)) && !mappings.is_taken_over(*port);
        self.free.clear();
        self.free.extend(ports.filter(|port| is_free(port) && known.insert(*port)));
    }

    /// For `initialize`.
    pub(super) fn connect(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    /// Frees the ports of flows and of connections that are over.
    fn sweep(&mut self) {
        let (free, mappings) = (&mut self.free, &self.mappings);
        self.flows.sweep(|held| release(free, mappings, held));
        if self.state {
            self.flows.each(|held| {
                if held.port != 0 && !held.freed && mappings.is_over(held.port) {
                    held.freed = true;
                    free.push_back(held.port);
                }
            });
        }
    }

    /// Ports that are free.
    pub(super) fn count_free(&mut self) -> usize {
        self.sweep();
        self.free.len()
    }

    /// A port for a flow that has none.
    #[cold]
    fn choose(&mut self, cx: &Cx<'_>, packet: &Packet) -> Result<u16, &'static str> {
        if !self.accept_nonsyn && is_no_syn(packet) {
            return Err(NO_SYN);
        }
        if self.free.is_empty() && cx.now_ns() >= self.swept_ns.saturating_add(SWEEP_NS) {
            self.swept_ns = cx.now_ns();
            self.sweep();
        }
        self.free.pop_front().ok_or(NONE_FREE)
    }

    /// The port of a packet's flow and what stands behind it. A flow that has none gets one, with what `mapping` makes of the packet.
    #[inline]
    pub(super) fn port_of(
        &mut self,
        cx: &Cx<'_>,
        packet: &Packet,
        mapping: impl FnOnce(&Packet) -> Option<Mapping>,
    ) -> Result<(u16, Mapping), &'static str> {
        let (old_port, _) = ports(packet).ok_or(NO_PORTS)?;
        let (tag, free, mappings) = (packet.flow(), &mut self.free, &self.mappings);
        let held = match self.flows.of(tag, |held| release(free, mappings, held)) {
            Some((held, _)) => *held,
            None => return Err(NO_FLOW),
        };
        if held.port != 0
            && let Some((found, token)) = self.mappings.get(held.port)
        {
            let own = || {
                let client = header(packet).map(|ip| ip.src());
                client == Some(found.client) && found.client_port == old_port && !is_syn(packet)
            };
            let over = held.freed || self.state && token.is_over();
            if over {
                self.give_up(packet);
            }
            if !over || own() {
                if self.state && self.mappings.note(held.port, token, From::Client, tcp_flags(packet)) {
                    self.give_up(packet);
                }
                return Ok((held.port, found));
            }
        }
        let port = self.choose(cx, packet)?;
        let made = mapping(packet).ok_or(NO_PORTS)?;
        self.mappings.set(port, made);
        if let Some((held, _)) = self.flows.of(tag, drop) {
            *held = Held { port, freed: false };
        }
        Ok((port, made))
    }

    /// The connection of a packet's flow is over: others may have its port.
    #[cold]
    fn give_up(&mut self, packet: &Packet) {
        if let Some((held, _)) = self.flows.of(packet.flow(), drop)
            && !std::mem::replace(&mut held.freed, true)
        {
            self.free.push_back(held.port);
        }
    }
}

/// A flow is over: its port is free, if it had one and did not give it up.
fn release(free: &mut VecDeque<u16>, mappings: &Mappings, held: Held) {
    if held.port != 0 && !held.freed {
        mappings.clear(held.port);
        free.push_back(held.port);
    }
}
