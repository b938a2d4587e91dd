//! Overwrites the addresses of Ethernet headers.
//!
//! ```click
//! EtherRewrite(SRC, DST)
//! ```
//!
//! Sets the source and destination addresses of each packet's Ethernet header: the marked link-layer header or, if
//! none is marked, the one at the start of the packet. Packets without a complete header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `SRC` (Ethernet address): source.
//! - `DST` (Ethernet address): destination.
//!
//! # Handlers
//! - `src`, `dst` (read, write): the arguments.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> ToDevice(eth1);
//! ```
//!
//! # See also
//! EtherEncap, EtherMirror, StoreEtherAddress

use super::vlan::NO_HEADER;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;
use wire::ethernet::Header;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EtherRewrite", create).pure().live().doc(router::manual!("ether_rewrite.rs"));

struct EtherRewrite {
    src: MacAddr,
    dst: MacAddr,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = EtherRewrite { src: MacAddr::ZERO, dst: MacAddr::ZERO };
    config.args().required("SRC", &mut e.src).required("DST", &mut e.dst).finish()?;
    Ok(Box::new(PerPacket(e)))
}

impl Simple for EtherRewrite {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.mac_offset().is_none() {
            packet.set_mac_offset(0);
        }
        let Some(mut header) = packet.mac_mut().and_then(|bytes| Header::new_checked_mut(bytes).ok()) else {
            return Verdict::Drop(NO_HEADER);
        };
        header.set_src(self.src);
        header.set_dst(self.dst);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        type E = EtherRewrite;
        h.read("src", |e: &mut E, _| e.src);
        h.write("src", |e: &mut E, cx, text| router::keyword_value(cx, "SRC", text).map(|mac| e.src = mac));
        h.read("dst", |e: &mut E, _| e.dst);
        h.write("dst", |e: &mut E, cx, text| router::keyword_value(cx, "DST", text).map(|mac| e.dst = mac));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn writes_both_addresses() {
        let mut flow = send(
            "Inject -> e :: EtherRewrite(1:2:3:4:5:6, 7:8:9:a:b:c) -> Collect(0)",
            [vec![0xee; 15], vec![0; 13]],
        );
        assert_eq!(flow.only(0).data(), [7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 0xee, 0xee, 0xee]);
        assert_eq!(flow.drops(), [("no Ethernet header", 1)]);
        assert_eq!(
            [flow.read("e.src"), flow.write("e.dst", "0:0:0:0:0:1"), flow.read("e.dst")],
            ["01-02-03-04-05-06", "", "00-00-00-00-00-01"]
        );
    }

    /// A marked header counts even if it was stripped.
    #[test]
    fn stripped_header() {
        let config = "Inject -> VLANDecap -> Strip(14) -> EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2) -> Unstrip(14) -> Collect(0)";
        let flow = send(config, [vec![0xee; 20]]);
        assert_eq!(flow.only(0).data(), [&[2; 6][..], &[1; 6], &[0xee; 8]].concat());
    }
}
