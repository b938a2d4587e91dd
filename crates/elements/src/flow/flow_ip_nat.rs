//! Gives flows another source address, and a port of their own.
//!
//! ```click
//! FlowIPNAT(SIP [, KEYWORDS])
//! ```
//!
//! Sets the source address of TCP and UDP packets to SIP, and their source port to one that is the flow's for as long as it lasts. Checksums stay
//! right. FlowIPNATReverse undoes it with packets that come back. A flow manager upstream tells flows apart, and when it ends a flow, the
//! flow's port is free again; it should have a TIMEOUT, of which packets that come back know nothing. It is FastClick's element.
//!
//! Ports are those from 1024 on; each worker has an equal part of them, and uses the one next that has been free for longest. Packets of
//! new flows are dropped while there is none, and so are packets without a flow, other protocols, and later fragments.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `SIP` (address): the new source address.
//! - `ACCEPT_NONSYN` (boolean, default true): whether TCP flows may begin with a packet other than a SYN. If not, such packets are dropped.
//! - `STATE` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `ports` (read): ports that are free.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager(TIMEOUT 60) -> FlowIPNAT(SIP 10.0.0.1) -> Discard
//! ```
//!
//! # Differences from FastClick
//! The end of a TCP connection does not free its port before the flow's time is over, also with STATE.
//!
//! # See also
//! FlowIPNATReverse, FlowIPManager, IPRewriter

use super::NO_FLOW;
use super::mappings::Mappings;
use super::space::Space;
use crate::ip::header::header;
use crate::ip::shifter::{Side, change};
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Refused, Residency, Simple, Verdict,
};
use std::any::Any;
use std::collections::{HashSet, VecDeque};
use std::net::Ipv4Addr;
use std::ops::Range;
use std::sync::Arc;
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPNAT", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(include_str!("flow_ip_nat.rs"));

/// Why packets are dropped.
pub(super) const NO_PORTS: &str = "no TCP or UDP ports";
const NONE_FREE: &str = "no port is free";
const NO_SYN: &str = "first packet is no SYN";

/// Ports below stay for services.
const FIRST_PORT: usize = 1024;
const PORTS: usize = 65536 - FIRST_PORT;
/// How long to wait before looking for flows that are over again.
const SWEEP_NS: i64 = 100_000_000;
/// Where TCP's flags are, and SYN and ACK among them.
const FLAGS_AT: usize = 13;
const SYN: u8 = 2;
const ACK: u8 = 16;

struct FlowIpNat {
    mappings: Arc<Mappings>,
    /// The ports of flows; 0 if there was none.
    flows: Space<u16>,
    /// The ports that this worker may use, and those of them that no flow has; the ones that have been free for longest are in front.
    range: Range<usize>,
    free: VecDeque<u16>,
    accept_nonsyn: bool,
    swept_ns: i64,
}

/// What goes to a new configuration.
struct Kept {
    mappings: Arc<Mappings>,
    flows: Space<u16>,
    free: VecDeque<u16>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut accept_nonsyn, mut state) = (Ipv4Addr::UNSPECIFIED, true, false);
    config
        .args()
        .required("SIP", &mut address)
        .keyword("ACCEPT_NONSYN", &mut accept_nonsyn)
        .keyword("STATE", &mut state)
        .finish()?;
    let workers = config.workers();
    let place = workers.iter().position(|&worker| worker == config.worker()).unwrap_or(0);
    let part = PORTS / workers.len().max(1);
    let first = FIRST_PORT + place * part;
    let mappings = config.shared(|| Ok(Mappings::new(address)))?;
    let range = first..first + part;
    Ok(Box::new(PerPacket(FlowIpNat {
        mappings,
        flows: Space::default(),
        free: range.clone().map(|port| port as u16).collect(),
        range,
        accept_nonsyn,
        swept_ns: i64::MIN,
    })))
}

/// The ports of a packet, source and destination, if it has some.
#[inline]
pub(super) fn ports(packet: &Packet) -> Option<(u16, u16)> {
    let ip = header(packet)?;
    let fits = matches!(ip.protocol(), ip_proto::TCP | ip_proto::UDP) && ip.is_first_fragment();
    let [a, b, c, d] = *packet.transport().filter(|_| fits)?.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// Whether a TCP packet begins no connection.
fn is_no_syn(packet: &Packet) -> bool {
    let tcp = header(packet).is_some_and(|ip| ip.protocol() == ip_proto::TCP);
    let flags = packet.transport().and_then(|tcp| tcp.get(FLAGS_AT)).copied().unwrap_or(0);
    tcp && flags & (SYN | ACK) != SYN
}

impl FlowIpNat {
    /// Frees the ports of flows that are over.
    fn sweep(&mut self) {
        let (free, mappings) = (&mut self.free, &self.mappings);
        self.flows.sweep(|port| release(free, mappings, port));
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
}

/// A flow's port is free, if it had one.
fn release(free: &mut VecDeque<u16>, mappings: &Mappings, port: u16) {
    if port != 0 {
        mappings.clear(port);
        free.push_back(port);
    }
}

impl Simple for FlowIpNat {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.flows.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((old_port, _)) = ports(packet) else { return Verdict::Drop(NO_PORTS) };
        let (tag, free, mappings) = (packet.flow(), &mut self.free, &self.mappings);
        let mut port = match self.flows.of(tag, |port| release(free, mappings, port)) {
            Some((port, _)) => *port,
            None => return Verdict::Drop(NO_FLOW),
        };
        if port == 0 {
            port = match self.choose(cx, packet) {
                Ok(port) => port,
                Err(reason) => return Verdict::Drop(reason),
            };
            if let (Some((place, _)), Some(ip)) = (self.flows.of(tag, drop), header(packet)) {
                self.mappings.set(port, ip.src(), old_port);
                *place = port;
            }
        }
        let address = self.mappings.address;
        match change(packet, Side::Source, |_| address, |_| port) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop(NO_PORTS),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let (mappings, free) = (self.mappings.clone(), std::mem::take(&mut self.free));
        Some(Box::new(Kept { mappings, flows: self.flows.give(), free }))
    }

    /// Flows keep their ports, unless the address or the worker's ports are others now.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        let Ok(old) = state.downcast::<Kept>() else { return Ok(()) };
        let (range, mappings) = (&self.range, &self.mappings);
        let same_address = old.mappings.address == mappings.address;
        let mut used = HashSet::new();
        self.flows.adopt(cx, old.flows, |port| {
            let usable = port == 0 || same_address && range.contains(&port.into());
            if let Some((host, host_port)) = old.mappings.get(port).filter(|_| usable) {
                mappings.set(port, host, host_port);
                used.insert(port);
            }
            usable.then_some(port)
        });
        let ports = old.free.into_iter().chain(range.clone().map(|port| port as u16));
        self.free.clear();
        self.free.extend(ports.filter(|&port| range.contains(&port.into()) && used.insert(port)));
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("ports", |e: &mut FlowIpNat, _| {
            e.sweep();
            e.free.len()
        })
        .merged(Merge::Sum);
    }
}
