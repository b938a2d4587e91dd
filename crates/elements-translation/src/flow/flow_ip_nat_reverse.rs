//! Restores destination address and port of packets returning to a FlowIPNAT.
//!
//! ```click
//! FlowIPNATReverse(NAT)
//! ```
//!
//! Sets the destination address and port of TCP and UDP packets, and the destination address annotation, to the
//! values that the FlowIPNAT replaced. Checksums are updated. Packets to a port that belongs to no flow are dropped,
//! and so are other protocols and fragments. It is FastClick's element, but needs no flow manager.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated; each can find the flows of all.
//!
//! # Arguments
//! - `NAT` (element): the FlowIPNAT.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! Idle -> FlowIPManager(TIMEOUT 60) -> nat :: FlowIPNAT(SIP 10.0.0.1) -> Discard;
//! FromDump(trace.pcap, STOP true) -> MarkIPHeader(14) -> FlowIPNATReverse(nat) -> Discard
//! ```
//!
//! # See also
//! FlowIPNAT

use super::mappings::{From, Mappings};
use super::translator::{NO_PORTS, ports};
use crate::balance::loads::tcp_flags;
use crate::balance::shifter::{Side, change};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, ElementName, PerPacket, Simple, Verdict};
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("FlowIPNATReverse", create).processing("h/h").doc(router::manual!("flow_ip_nat_reverse.rs"));

/// Why packets are dropped.
pub(super) const NO_MAPPING: &str = "no flow has the port";

struct FlowIpNatReverse {
    nat: ElementName,
    mappings: Arc<Mappings>,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut nat = ElementName::default();
    config.args().required("NAT", &mut nat).finish()?;
    Ok(Box::new(PerPacket(FlowIpNatReverse { nat, mappings: Arc::new(Mappings::new()) })))
}

impl Simple for FlowIpNatReverse {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.mappings = cx.shared_of(&self.nat.name, "FlowIPNAT")?;
        Ok(())
    }

    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some((_, port)) = ports(packet) else { return Verdict::Drop(NO_PORTS) };
        let Some((mapping, token)) = self.mappings.get(port) else { return Verdict::Drop(NO_MAPPING) };
        self.mappings.note(port, token, From::Server, tcp_flags(packet));
        match change(packet, Side::Destination, |_| mapping.client, |_| mapping.client_port) {
            Some(()) => {
                packet.set_dst_ip(mapping.client);
                Verdict::Pass
            }
            None => Verdict::Drop(NO_PORTS),
        }
    }
}
