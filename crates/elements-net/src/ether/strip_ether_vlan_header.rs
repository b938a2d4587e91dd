//! Strips Ethernet headers with or without a VLAN tag.
//!
//! ```click
//! StripEtherVLANHeader([NATIVE_VLAN])
//! ```
//!
//! Strips the 18 bytes of an Ethernet header with an IEEE 802.1Q tag, or the 14 bytes of one without. The VLAN
//! annotation is set to the tag control information, or to NATIVE_VLAN for packets without a tag.
//! `StripEtherVlanHeader` is another name for this class.
//!
//! Ports: 1 input, 1 or 2 outputs. Processing: agnostic; output 1 is push. Workers: replicated.
//!
//! # Arguments
//! - `NATIVE_VLAN` (integer up to 0xFFF, default 0): the VLAN of untagged packets. If it is negative, untagged
//!   packets leave unchanged by output 1 if it is connected, and are dropped otherwise.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> StripEtherVLANHeader -> CheckIPHeader -> Discard;
//! ```
//!
//! # See also
//! VLANDecap, EtherVLANEncap, Strip

use super::vlan::{NO_HEADER, annotate};
use super::vlan_decap::tag;
use elements_shared::verdict::fail;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::vlan::{ID_MASK, TAG_LEN};

/// The class.
pub(crate) const CLASS: Class = Class::new("StripEtherVLANHeader", create)
    .pure()
    .ports("1/1-2")
    .processing("a/ah")
    .live()
    .doc(router::manual!("strip_ether_vlan_header.rs"));
struct StripEtherVlanHeader {
    native: Option<u16>,
    outputs: usize,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut native = 0i32;
    config.args().positional("NATIVE_VLAN", &mut native).finish()?;
    if native > i32::from(ID_MASK) {
        return Err("bad NATIVE_VLAN".into());
    }
    let outputs = config.outputs();
    Ok(Box::new(PerPacket(StripEtherVlanHeader { native: u16::try_from(native).ok(), outputs })))
}

impl Simple for StripEtherVlanHeader {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(found) = tag(packet.data(), ether_type::VLAN) else { return Verdict::Drop(NO_HEADER) };
        let len = if found.is_some() { HEADER_LEN + TAG_LEN } else { HEADER_LEN };
        match found.or(self.native) {
            Some(tci) => {
                annotate(packet, tci);
                let _ = packet.pull(len); // the header is there
                Verdict::Pass
            }
            None => fail(self.outputs, "no VLAN tag"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::send;

    #[test]
    fn strips_the_header_and_keeps_the_tag() {
        let plain = [&[1; 12][..], &[8, 0, 99]].concat();
        let tagged = [&[1; 12][..], &[0x81, 0, 0x61, 0x23, 8, 0, 98]].concat();
        let packets = || [tagged.clone(), plain.clone(), tagged[..17].to_vec(), plain[..13].to_vec()];
        let annotations = |flow: &crate::testing::Flow| -> Vec<[u8; 2]> {
            flow.seen.iter().map(|(_, p)| [p.annotations()[20], p.annotations()[21]]).collect()
        };
        let flow =
            send("Inject -> s :: StripEtherVLANHeader(5) -> Collect(0); s[1] -> Collect(1)", packets());
        assert_eq!(flow.data(0), [[98], [99]]);
        assert_eq!(annotations(&flow), [[0x61, 0x23], [0, 5]]);
        let flow =
            send("Inject -> s :: StripEtherVLANHeader(-1) -> Collect(0); s[1] -> Collect(1)", packets());
        assert_eq!((flow.data(0), flow.data(1)), (vec![vec![98]], vec![plain.clone()]));
        let flow = send("Inject -> StripEtherVLANHeader(-1) -> Collect(0)", packets());
        assert_eq!(flow.drops(), [("no Ethernet header", 2), ("no VLAN tag", 1)]);
    }
}
