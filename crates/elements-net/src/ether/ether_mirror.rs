//! Swaps the addresses of Ethernet headers.
//!
//! ```click
//! EtherMirror
//! ```
//!
//! Swaps the source and destination addresses of the Ethernet header at the start of each packet. Packets without a
//! complete header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> EtherMirror -> Queue -> ToDevice(eth0);
//! ```
//!
//! # See also
//! EtherRewrite, EtherEncap

use super::vlan::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EtherMirror", create).pure().doc(router::manual!("ether_mirror.rs"));

struct EtherMirror;

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    config.args().finish()?;
    Ok(Box::new(PerPacket(EtherMirror)))
}

impl Simple for EtherMirror {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Ok(mut header) = Header::new_checked_mut(packet.data_mut()) else {
            return Verdict::Drop(NO_HEADER);
        };
        let (src, dst) = (header.src(), header.dst());
        header.set_src(dst);
        header.set_dst(src);
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn swaps_the_addresses() {
        let flow = send("Inject -> EtherMirror -> Collect(0)", [(0..20).collect(), vec![0; 13]]);
        let data = [&[6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5][..], &[12, 13, 14, 15, 16, 17, 18, 19]].concat();
        assert_eq!(flow.only(0).data(), data);
        assert_eq!(flow.drops(), [("no Ethernet header", 1)]);
    }
}
