//! Distributes flows over several servers, with a new source address and port for each flow.
//!
//! ```click
//! FlowNAPTLoadBalancer(DST ADDR, DST ADDR, ..., SIP ADDR, SIP ADDR, ... [, KEYWORDS])
//! ```
//!
//! Flows are assigned to servers in turn. The element sets the destination address of TCP and UDP packets, and the
//! destination address annotation, to that of the flow's server, the source address to the SIP at the same position
//! in the list, and the source port to one that belongs to the flow for as long as it lasts. Checksums are updated.
//! FlowNAPTLoadBalancerReverse does the reverse for returning packets. A flow manager upstream identifies flows; it
//! should have a TIMEOUT. It is FastClick's element.
//!
//! Ports are taken from 1024 up, each for one flow, whatever its server; each worker has an equal share of them, and
//! uses the one that has been free for longest. Packets of new flows are dropped while no port is free, and so are
//! packets without a flow, other protocols, and fragments.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each takes turns separately.
//!
//! # Arguments
//! - `DST` (addresses), any number of times: the servers. They may also be given first, by position.
//! - `SIP` (addresses), as many as there are servers: the source address to use towards each server.
//! - `STATE` (boolean, default true): whether TCP flows must begin with a SYN, and the end of a connection, by a RST
//!   or by a FIN from each side, frees its port before the flow expires.
//!
//! # Handlers
//! - `ports` (read): free ports. FastClick has no handlers.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager(TIMEOUT 60)
//!   -> FlowNAPTLoadBalancer(DST 10.0.0.2, DST 10.0.0.3, SIP 10.0.0.1 10.0.0.1) -> Discard
//! ```
//!
//! # See also
//! FlowNAPTLoadBalancerReverse, FlowIPLoadBalancer, FlowIPNAT, FlowIPManager

use super::mappings::{Mapping, Mappings};
use super::translator::{Handover, NO_PORTS, Translator, ports};
use crate::balance::servers::tell_routes;
use crate::balance::shifter::{Side, change};
use elements_shared::ip_header::header;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Residency, Simple, Verdict,
};
use std::any::Any;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowNAPTLoadBalancer", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("flow_napt_load_balancer.rs"));

/// What FlowNAPTLoadBalancerReverse asks for.
pub(super) struct Front {
    pub(super) mappings: Arc<Mappings>,
    pub(super) servers: Vec<Ipv4Addr>,
}

struct FlowNaptLoadBalancer {
    front: Arc<Front>,
    sources: Vec<Ipv4Addr>,
    next: u16,
    translator: Translator,
    /// Whether this is the first worker's.
    is_first: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut servers, mut sources, mut state) = (Vec::new(), Vec::new(), true);
    config
        .args()
        .list("DST", &mut servers)
        .list("SIP", &mut sources)
        .keyword("STATE", &mut state)
        .finish()?;
    if servers.is_empty() {
        return Err("DST: required argument missing".into());
    }
    if servers.len() != sources.len() {
        return Err("The number of SIP must match DST".into());
    }
    if servers.len() > usize::from(u16::MAX) {
        return Err("DST: too many servers".into());
    }
    // Each worker begins with another server.
    let next = (config.worker() % servers.len()) as u16;
    let is_first = config.workers().first() == Some(&config.worker());
    let front = config.shared(|| Ok(Front { mappings: Arc::new(Mappings::new()), servers }))?;
    let translator = Translator::new(config, front.mappings.clone(), !state, state);
    Ok(Box::new(PerPacket(FlowNaptLoadBalancer { front, sources, next, translator, is_first })))
}

/// The server in turn.
fn turn(next: &mut u16, servers: usize) -> u16 {
    let server = *next;
    *next = if usize::from(server) + 1 < servers { server + 1 } else { 0 };
    server
}

impl Simple for FlowNaptLoadBalancer {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if self.is_first {
            let (servers, sources) = (self.front.servers.len(), self.sources.len());
            tell_routes(cx, format_args!("{servers} routes and {sources} sources"));
        }
        self.translator.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let (next, servers) = (&mut self.next, &self.front.servers);
        let make = |packet: &Packet| {
            let (ip, (client_port, _)) = (header(packet)?, ports(packet)?);
            let server = turn(next, servers.len());
            Some(Mapping { client: ip.src(), client_port, dst: ip.dst(), server })
        };
        let (port, server) = match self.translator.port_of(cx, packet, make) {
            Ok((port, mapping)) => (port, usize::from(mapping.server)),
            Err(reason) => return Verdict::Drop(reason),
        };
        let (source, server) = (self.sources[server], servers[server]);
        let changed = change(packet, Side::Source, |_| source, |_| port)
            .and_then(|()| change(packet, Side::Destination, |_| server, |port| port));
        match changed {
            Some(()) => {
                packet.set_dst_ip(server);
                Verdict::Pass
            }
            None => Verdict::Drop(NO_PORTS),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.front.servers.clone(), self.sources.clone(), self.translator.give())))
    }

    /// Flows keep their ports and servers, unless servers or addresses are others now.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Vec<Ipv4Addr>, Vec<Ipv4Addr>, Handover)>() {
            let (servers, sources, kept) = *state;
            let same = servers == self.front.servers && sources == self.sources;
            self.translator.adopt(cx, kept, same);
        }
    }

    fn taken_over(&mut self, _cx: &mut Cx<'_>) {
        self.translator.settle();
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("ports", |e: &mut FlowNaptLoadBalancer, _| e.translator.count_free()).merged(Merge::Sum);
    }
}
