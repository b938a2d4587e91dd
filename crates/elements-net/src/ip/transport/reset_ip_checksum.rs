//! Computes the IP header checksum and, on request, the TCP or UDP checksum.
//!
//! ```click
//! ResetIPChecksum([L4])
//! ```
//!
//! Expects packets with a marked IP header. It is FastClick's element, which leaves the work to the network card;
//! here it is done immediately. Packets whose IP header is truncated, or has an invalid length, are dropped; in
//! others, a checksum that cannot be computed is left as it is.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `L4` (boolean, default false): whether to compute the TCP and UDP checksums too.
//!
//! # Handlers
//! - `drops` (read): packets dropped.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader(14) -> ResetIPChecksum(L4 true) -> Discard
//! ```
//!
//! # See also
//! SetIPChecksum, SetTCPChecksum, SetUDPChecksum

use super::message::Message;
use super::set_udp_checksum;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, Merge, PerPacket, Simple, Verdict};
use wire::{ip_proto, ipv4, tcp};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("ResetIPChecksum", create).doc(router::manual!("reset_ip_checksum.rs"));

struct ResetIpChecksum {
    transport: bool,
    drops: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = ResetIpChecksum { transport: false, drops: 0 };
    config.args().positional("L4", &mut e.transport).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// Fills in the checksum of the segment or datagram that a packet carries; none if it carries no whole one.
fn fill_transport(packet: &mut Packet) -> Option<()> {
    let message = Message::of(packet).filter(|message| !message.fragment)?;
    match message.protocol {
        ip_proto::TCP => {
            let segment = message.bytes_mut(packet).filter(|segment| segment.len() >= tcp::HEADER_LEN)?;
            tcp::fill_checksum_v4(message.src, message.dst, segment).ok()
        }
        ip_proto::UDP => set_udp_checksum::fill(packet),
        _ => None,
    }
}

impl Simple for ResetIpChecksum {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if ipv4::fill_checksum(packet.network_mut().unwrap_or_default()).is_err() {
            self.drops += 1;
            return Verdict::Drop("bad IP header");
        }
        if self.transport {
            let _ = fill_transport(packet); // where there is nothing to sum up, nothing is to be done
        }
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("drops", |e: &mut ResetIpChecksum, _| e.drops).merged(Merge::Sum);
    }
}
