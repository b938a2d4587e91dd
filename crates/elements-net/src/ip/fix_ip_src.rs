//! Sets the source address of packets that ask for it.
//!
//! ```click
//! FixIPSrc(IPADDR)
//! ```
//!
//! If a packet's fix-IP-source annotation is set (as ICMPError does on errors that the router itself sends), its
//! source address becomes IPADDR, its checksum is corrected and the annotation is cleared. Other packets pass
//! unchanged.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `IPADDR` (address): the source address.
//!
//! # Example
//! ```click
//! InfiniteSource -> MarkIPHeader -> FixIPSrc(1.0.0.1) -> Discard
//! ```
//!
//! # See also
//! ICMPError

use packet::{Anno, Packet};
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use std::net::Ipv4Addr;
use wire::ipv4;

/// The class.
pub(crate) const CLASS: Class = Class::new("FixIPSrc", create).pure().doc(router::manual!("fix_ip_src.rs"));

/// The element; also a part of IPOutputCombo.
pub(super) struct FixIpSrc(pub(super) Ipv4Addr);

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut address = Ipv4Addr::UNSPECIFIED;
    config.args().required("IPADDR", &mut address).finish()?;
    Ok(Box::new(PerPacket(FixIpSrc(address))))
}

impl FixIpSrc {
    #[cold]
    fn fix(&self, packet: &mut Packet) {
        packet.set_anno(Anno::FIX_IP_SRC, 0);
        if let Some(mut header) =
            packet.network_mut().and_then(|bytes| ipv4::Header::new_checked_mut(bytes).ok())
        {
            header.set_src(self.0);
        }
        if let Some(bytes) = packet.network_mut() {
            // A header that is too short for its own length field keeps its checksum: it cannot be sent anyway.
            let _ = ipv4::fill_checksum(bytes);
        }
    }
}

impl Simple for FixIpSrc {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.anno(Anno::FIX_IP_SRC) != 0 {
            self.fix(packet);
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use elements_testing::samples::{DST, udp, with_addresses};
    use packet::Anno;

    /// Only the annotated packet changes, and only once.
    #[test]
    fn on_request() {
        let sent = [0, 1].map(|fix| Sent {
            data: udp(5),
            annotations: vec![(Anno::FIX_IP_SRC, fix)],
            ..Sent::default()
        });
        let config = "Inject -> MarkIPHeader -> FixIPSrc(1.2.3.4) -> FixIPSrc(5.6.7.8) -> Collect(0)";
        let flow = send(config, sent);
        assert_eq!(flow.data(0), [udp(5), with_addresses(udp(5), [1, 2, 3, 4].into(), DST)]);
        assert!(flow.seen.iter().all(|(_, packet)| packet.anno(Anno::FIX_IP_SRC) == 0));
    }
}
