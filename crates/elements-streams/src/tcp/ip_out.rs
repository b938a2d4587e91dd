//! End of an IP context.
//!
//! ```click
//! IPOut([READONLY, KEYWORDS])
//! ```
//!
//! Computes the IP header checksum of packets with a marked IP header; others are dropped. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `READONLY` (boolean, default false): whether packets pass unchanged.
//! - `CHECKSUM` (boolean, default true): whether to compute the checksum.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true) -> Strip(14) -> CTXManager -> IPIn -> StoreIPAddress(10.0.0.1, src) -> IPOut -> Discard
//! ```
//!
//! # See also
//! IPIn, SetIPChecksum

use elements_shared::ip_header::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("IPOut", create).doc(router::manual!("ip_out.rs"));

struct IpOut {
    computes: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut readonly, mut checksum) = (false, true);
    config.args().positional("READONLY", &mut readonly).keyword("CHECKSUM", &mut checksum).finish()?;
    Ok(Box::new(PerPacket(IpOut { computes: checksum && !readonly })))
}

impl Simple for IpOut {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if !self.computes {
            return Verdict::Pass;
        }
        match packet.network_mut().map(ipv4::fill_checksum) {
            Some(Ok(())) => Verdict::Pass,
            _ => Verdict::Drop(NO_HEADER),
        }
    }
}
