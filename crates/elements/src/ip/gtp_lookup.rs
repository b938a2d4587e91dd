//! Encapsulates return traffic in the matching GTP tunnels.
//!
//! ```click
//! GTPLookup(TABLE)
//! ```
//!
//! If the opposite direction of a packet's flow came out of a tunnel at TABLE, the packet is put into the matching
//! return tunnel: it gets GTP, UDP and IP headers, and its destination address annotation is set. Packets of unknown
//! flows, and packets whose return tunnel is not known yet, are dropped. Packets need a marked IP header. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: push. Workers: replicated.
//!
//! # Arguments
//! - `TABLE` (element): a GTPTable.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> c :: IPClassifier(dst port 2152 and dst host 10.0.0.1, dst port 2152, -);
//! c[0] -> t :: GTPTable(8.8.8.8); c[1] -> [1]t; t[0] -> Discard; t[1] -> Discard;
//! c[2] -> GTPLookup(t) -> Discard;
//! ```
//!
//! # See also
//! GTPTable, GTPEncap

use super::gtp_encap::{HEADER_LEN, TOO_LONG, header};
use super::gtp_tunnels::{Known, Tunnel, Tunnels};
use crate::flow::key::key;
use packet::{Batch, Packet};
use router::{Class, Config, ConfigError, Cx, Element, ElementName, Verdict};
use std::sync::Arc;
use wire::checksum::Sum;
use wire::{ip_proto, ipv4, udp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("GTPLookup", create).processing("h/h").doc(include_str!("gtp_lookup.rs"));

const TTL: u8 = 250;

struct GtpLookup {
    table: ElementName,
    /// Set by `initialize`.
    tunnels: Option<Arc<Tunnels>>,
    id: u16,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut table = ElementName::default();
    config.args().required("TABLE", &mut table).finish()?;
    if config.class_of(table.index) != "GTPTable" {
        return Err("Unknown GTPTable".into());
    }
    Ok(Box::new(GtpLookup { table, tunnels: None, id: 0 }))
}

/// Puts the headers of a tunnel in front of a packet. None if it becomes too long.
fn enter(packet: &mut Packet, tunnel: Tunnel, id: u16) -> Option<()> {
    let gtp = header(tunnel.teid, u16::try_from(packet.len()).ok()?);
    let len = u16::try_from(packet.len() + HEADER_LEN + udp::HEADER_LEN).ok()?;
    let total_len = len.checked_add(ipv4::HEADER_LEN as u16)?;
    let payload = Sum::of(&gtp).add(Sum::of(packet.data()));
    let datagram = udp::header_v4(tunnel.src, tunnel.dst, tunnel.ports, len, payload);
    *packet.push_array()? = gtp;
    *packet.push_array()? = datagram;
    let bytes: &mut [u8; ipv4::HEADER_LEN] = packet.push_array()?;
    bytes.fill(0);
    let mut ip = ipv4::Header::new(bytes);
    ip.set_version_and_header_len(ipv4::HEADER_LEN);
    ip.set_total_len(total_len);
    ip.set_id(id);
    ip.set_ttl(TTL);
    ip.set_protocol(ip_proto::UDP);
    ip.set_src(tunnel.src);
    ip.set_dst(tunnel.dst);
    ip.fill_checksum();
    packet.set_network(0, ipv4::HEADER_LEN);
    packet.set_dst_ip(tunnel.dst);
    Some(())
}

impl GtpLookup {
    fn answer(&mut self, cx: &Cx<'_>, known: &mut Known, packet: &mut Packet) -> Verdict {
        let back = key(packet).and_then(|key| known.way_back(key.map(), key.id(), cx.now_ns()));
        match back {
            None => Verdict::Drop("flow of no tunnel"),
            Some(None) => Verdict::Drop("tunnel back not known yet"),
            Some(Some(tunnel)) => match enter(packet, tunnel, self.id) {
                None => Verdict::Drop(TOO_LONG),
                Some(()) => {
                    self.id = self.id.wrapping_add(1);
                    Verdict::Pass
                }
            },
        }
    }
}

impl Element for GtpLookup {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.tunnels = Some(cx.shared_of(&self.table.name, "GTPTable")?);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        let Some(tunnels) = self.tunnels.clone() else { return cx.consume(batch) };
        let mut known = tunnels.lock();
        cx.scatter(batch, |cx, packet| self.answer(cx, &mut known, packet));
    }
}
