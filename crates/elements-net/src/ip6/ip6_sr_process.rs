//! Forwards packets with a segment routing header to their next segment.
//!
//! ```click
//! IP6SRProcess([ADDR, ...])
//! ```
//!
//! Expects packets that start with an IPv6 header. If there is a routing header for segment routing (RFC 8754) with
//! segments left, the next one becomes the destination. Other packets pass unchanged. Checksums are not changed: they
//! are computed for the final destination. It is FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ADDR` (IPv6 address): accepted, as in FastClick; all packets are processed.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIP6Header -> IP6SRProcess(2001:db8:10::2) -> Discard
//! ```
//!
//! # See also
//! IP6SREncap, IP6SRDecap

use super::segment_routing::{advance, find};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6SRProcess", create).doc(router::manual!("ip6_sr_process.rs"));

struct Ip6SrProcess;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut addresses = Vec::new();
    config.args().rest(&mut addresses).finish()?;
    Ok(Box::new(PerPacket(Ip6SrProcess)))
}

impl Simple for Ip6SrProcess {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if let Some(found) = find(packet.data()) {
            let _ = advance(packet.data_mut(), &found); // a packet that has arrived stays as it is
        }
        Verdict::Pass
    }
}
