//! Removes the segment routing header of packets that have reached its end.
//!
//! ```click
//! IP6SRDecap([KEYWORDS])
//! ```
//!
//! Expects packets that start with an IPv6 header. If there is a routing header for segment routing (RFC 8754) with
//! no segments left, it is removed, and the destination is set to its first segment, which it should be already. If
//! there are segments left, the next one becomes the destination. Packets without such a header pass unchanged. It is
//! FastClick's element.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `FORCE_DECAP` (boolean, default false): whether to remove the header even if there are segments left.
//! - `ADDR` (IPv6 address): accepted.
//!
//! # Handlers
//! None.
//!
//! # Example
//! ```click
//! InfiniteSource -> Strip(14) -> CheckIP6Header -> IP6SRDecap -> Discard
//! ```
//!
//! # See also
//! IP6SREncap, IP6SRProcess

use super::segment_routing::{SEGMENTS_LEFT, advance, find, segment};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ipv6::{Extension, HEADER_LEN, Header};

/// The class.
pub(crate) const CLASS: Class = Class::new("IP6SRDecap", create).doc(router::manual!("ip6_sr_decap.rs"));

struct Ip6SrDecap {
    force: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut addresses, mut force) = (Vec::new(), false);
    config.args().rest(&mut addresses).keyword("FORCE_DECAP", &mut force).finish()?;
    Ok(Box::new(PerPacket(Ip6SrDecap { force })))
}

/// Takes the header off; none if the packet is not right.
fn decapsulate(packet: &mut Packet, found: Extension) -> Option<()> {
    let bytes = packet.data_mut();
    let (start, len) = (found.header.start, found.header.len());
    let next = bytes[start];
    let destination = segment(&bytes[found.header], 0)?;
    let mut ip = Header::new_checked_mut(bytes).ok()?;
    ip.set_payload_len(usize::from(ip.payload_len()).checked_sub(len)? as u16);
    ip.set_dst(destination);
    bytes[found.announced] = next;
    bytes.copy_within(..start, len);
    let _ = packet.pull(len); // there are as many
    packet.set_network(0, HEADER_LEN);
    Some(())
}

impl Simple for Ip6SrDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(found) = find(packet.data()) else { return Verdict::Pass };
        let arrived = packet.data()[found.header.start + SEGMENTS_LEFT] == 0;
        let done = match self.force || arrived {
            true => decapsulate(packet, found),
            false => advance(packet.data_mut(), &found),
        };
        if done.is_some() { Verdict::Pass } else { Verdict::Drop("bad routing header") }
    }
}
