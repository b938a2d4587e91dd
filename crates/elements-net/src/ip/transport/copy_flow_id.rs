//! Copies the addresses and ports of one flow to packets of another.
//!
//! ```click
//! CopyFlowID()
//! ```
//!
//! Passes packets from each input to the output of the same number. The addresses and ports of the first packet at
//! input 0 are remembered and copied to packets at input 1; until then, those get zeros. Packets without a marked IP
//! header, or without ports, pass unchanged. Checksums are not updated.
//!
//! Ports: 2 inputs, 2 outputs. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! None.
//!
//! # Handlers
//! - `reset` (write, button): remembers the next packet at input 0 instead.
//!
//! # Example
//! ```click
//! c :: CopyFlowID;
//! FromDump(in.pcap, FORCE_IP true) -> [0] c [0] -> Discard;
//! FastTCPFlows(1, 10, 60, 1:1:1:1:1:1, 1.0.0.1, 2:2:2:2:2:2, 2.0.0.2, 1, 5) -> Unqueue -> [1] c [1] -> SetIPChecksum -> SetTCPChecksum -> Discard;
//! ```
//!
//! # See also
//! CopyTCPSeq, IPRewriter

use super::copying::{CopyRule, Copying};
use elements_shared::ip_header::{header, header_mut};
use packet::Packet;
use router::{Class, Config, ConfigError, Element, Residency};
use std::net::Ipv4Addr;

/// The class.
pub(crate) const CLASS: Class = Class::new("CopyFlowID", create)
    .ports("2/2")
    .residency(Residency::Exclusive)
    .doc(router::manual!("copy_flow_id.rs"));

/// Addresses and ports.
struct FlowId {
    src: Ipv4Addr,
    dst: Ipv4Addr,
    ports: [u8; 4],
    known: bool,
}

impl Default for FlowId {
    fn default() -> FlowId {
        FlowId { src: Ipv4Addr::UNSPECIFIED, dst: Ipv4Addr::UNSPECIFIED, ports: [0; 4], known: false }
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(Copying(FlowId::default())))
}

fn ports(packet: &Packet) -> Option<[u8; 4]> {
    packet.transport()?.first_chunk().copied()
}

impl CopyRule for FlowId {
    fn notice(&mut self, packet: &Packet) {
        if !self.known
            && let (Some(ip), Some(ports)) = (header(packet), ports(packet))
        {
            *self = FlowId { src: ip.src(), dst: ip.dst(), ports, known: true };
        }
    }

    fn apply(&self, packet: &mut Packet) {
        let Some(place) = packet.transport_mut().and_then(|bytes| bytes.first_chunk_mut()) else { return };
        *place = self.ports;
        if let Some(mut ip) = header_mut(packet) {
            ip.set_src(self.src);
            ip.set_dst(self.dst);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send_singly;
    use elements_testing::transport_samples::{carrying, udp};

    /// The first packet counts, until something else is asked for.
    #[test]
    fn the_flow_of_the_first_packet_is_copied() {
        let config = "Inject -> MarkIPHeader -> c :: IPClassifier(src udp port 1, -) -> [0] f :: CopyFlowID -> Collect(0);
                      c[1] -> [1] f [1] -> Collect(1)";
        let packet = |last: u8, port: u8| {
            let mut data = carrying(17, 0, &udp(b"x"));
            (data[15], data[20], data[21]) = (last, 0, port);
            data
        };
        let sent = [packet(1, 9), packet(2, 1), packet(3, 9), packet(4, 1), packet(5, 9)];
        let mut flow = send_singly(config, sent);
        let seen: Vec<_> = flow.data(1).iter().map(|data| (data[15], data[21])).collect();
        assert_eq!(seen, [(0, 0), (2, 1), (2, 1)]);
        assert_eq!(flow.data(0), [packet(2, 1), packet(4, 1)]);
        assert_eq!(flow.write("f.reset", ""), "");
    }
}
