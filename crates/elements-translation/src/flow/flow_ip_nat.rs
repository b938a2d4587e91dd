//! Source NAT: gives flows a new source address and a port of their own.
//!
//! ```click
//! FlowIPNAT(SIP [, KEYWORDS])
//! ```
//!
//! Sets the source address of TCP and UDP packets to SIP, and their source port to one that belongs to the flow for
//! as long as it lasts. Checksums are updated. FlowIPNATReverse does the reverse for returning packets. A flow
//! manager upstream identifies flows, and when a flow expires there, its port becomes free again. The manager should
//! have a TIMEOUT; returning packets do not keep a flow alive. It is FastClick's element.
//!
//! Ports are taken from 1024 up; each worker has an equal share of them, and uses the one that has been free for
//! longest. Packets of new flows are dropped while no port is free, and so are packets without a flow, other
//! protocols, and fragments.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `SIP` (address): the new source address.
//! - `ACCEPT_NONSYN` (boolean, default true): whether TCP flows may begin with a packet other than a SYN. If not,
//!   such packets are dropped.
//! - `STATE` (boolean, default false): whether the end of a TCP connection, by a RST or by a FIN from each side,
//!   frees its port before the flow expires. FlowIPNATReverse has to see the returning packets for that.
//!
//! # Handlers
//! - `ports` (read): free ports.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPManager(TIMEOUT 60) -> FlowIPNAT(SIP 10.0.0.1) -> Discard
//! ```
//!
//! # Differences from FastClick
//! A port freed by the end of a connection still serves that connection until another flow gets it, so that the last
//! packets pass.
//!
//! # See also
//! FlowIPNATReverse, FlowIPManager, IPRewriter

use super::mappings::{Mapping, Mappings};
use super::translator::{Handover, NO_PORTS, Translator, ports};
use crate::balance::shifter::{Side, change};
use elements_shared::ip_header::header;
use packet::Packet;
use router::{
    Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Residency, Simple, Verdict,
};
use std::any::Any;
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("FlowIPNAT", create)
    .processing("h/h")
    .residency(Residency::Shared)
    .doc(router::manual!("flow_ip_nat.rs"));

struct FlowIpNat {
    address: Ipv4Addr,
    translator: Translator,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut address, mut accept_nonsyn, mut state) = (Ipv4Addr::UNSPECIFIED, true, false);
    config
        .args()
        .required("SIP", &mut address)
        .keyword("ACCEPT_NONSYN", &mut accept_nonsyn)
        .keyword("STATE", &mut state)
        .finish()?;
    let mappings = config.shared(|| Ok(Mappings::new()))?;
    let translator = Translator::new(config, mappings, accept_nonsyn, state);
    Ok(Box::new(PerPacket(FlowIpNat { address, translator })))
}

/// What is replaced in a packet.
fn mapping(packet: &Packet) -> Option<Mapping> {
    let (ip, (client_port, _)) = (header(packet)?, ports(packet)?);
    Some(Mapping { client: ip.src(), client_port, dst: ip.dst(), server: 0 })
}

impl Simple for FlowIpNat {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.translator.connect(cx)
    }

    #[inline]
    fn process(&mut self, cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let port = match self.translator.port_of(cx, packet, mapping) {
            Ok((port, _)) => port,
            Err(reason) => return Verdict::Drop(reason),
        };
        match change(packet, Side::Source, |_| self.address, |_| port) {
            Some(()) => Verdict::Pass,
            None => Verdict::Drop(NO_PORTS),
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new((self.address, self.translator.give())))
    }

    /// Flows keep their ports, unless the address is another one now.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(state) = state.downcast::<(Ipv4Addr, Handover)>() {
            let (address, kept) = *state;
            self.translator.adopt(cx, kept, address == self.address);
        }
    }

    fn taken_over(&mut self, _cx: &mut Cx<'_>) {
        self.translator.settle();
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("ports", |e: &mut FlowIpNat, _| e.translator.count_free()).merged(Merge::Sum);
    }
}
