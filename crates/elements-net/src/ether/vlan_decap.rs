//! Removes the VLAN tag from Ethernet frames.
//!
//! ```click
//! VLANDecap([ANNO, ETHERTYPE])
//! ```
//!
//! Removes the IEEE 802.1Q tag of Ethernet frames that have one. The VLAN annotation is set to the tag control
//! information, or to 0 for frames without a tag. The headers of all frames are marked, behind further tags, too. Packets shorter than an Ethernet header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ANNO` (boolean, default true): whether to set the VLAN annotation.
//! - `ETHERTYPE` (integer, default 0x8100): the EtherType that indicates a tag.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> VLANDecap -> Queue -> ToDevice(eth1);
//! ```
//!
//! # See also
//! VLANEncap, StripEtherVLANHeader

use super::vlan::{NO_HEADER, annotate};
use elements_shared::ether_header::mark_frame;
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, Header, ether_type};
use wire::vlan::{TAG_LEN, Tag};

/// The class.
pub(crate) const CLASS: Class = Class::new("VLANDecap", create).pure().doc(router::manual!("vlan_decap.rs"));

struct VlanDecap {
    annotate: bool,
    ether_type: u16,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut e = VlanDecap { annotate: true, ether_type: ether_type::VLAN };
    config.args().positional("ANNO", &mut e.annotate).keyword("ETHERTYPE", &mut e.ether_type).finish()?;
    Ok(Box::new(PerPacket(e)))
}

/// The tag control information of a frame, if its type says that there is some. `None` if the frame is too short.
#[inline]
pub(super) fn tag(data: &[u8], ether_type: u16) -> Option<Option<u16>> {
    let header = Header::new_checked(data).ok()?;
    if header.ether_type() != ether_type {
        return Some(None);
    }
    Tag::new_checked(&data[HEADER_LEN..]).ok().map(|tag| Some(tag.tci()))
}

impl Simple for VlanDecap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let Some(found) = tag(packet.data(), self.ether_type) else { return Verdict::Drop(NO_HEADER) };
        if found.is_some() {
            packet.data_mut().copy_within(0..HEADER_LEN - 2, TAG_LEN);
            let _ = packet.pull(TAG_LEN);
        }
        mark_frame(packet);
        if self.annotate {
            annotate(packet, found.unwrap_or(0));
        }
        Verdict::Pass
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send};
    use packet::Anno;

    #[test]
    fn takes_tags_out() {
        let plain = [&[1; 6][..], &[2; 6], &[8, 0, 99]].concat();
        let tagged = [&[1; 6][..], &[2; 6], &[0x81, 0, 0x61, 0x23, 8, 0, 99]].concat();
        let packets = || {
            [tagged.clone(), plain.clone(), tagged[..17].to_vec(), vec![]].map(|data| Sent {
                data,
                annotations: vec![(Anno::VLAN_TCI, 0xffff)],
                ..Sent::default()
            })
        };
        for (arguments, annotations) in [("", [[0x61, 0x23], [0, 0]]), ("false", [[0xff, 0xff]; 2])] {
            let flow = send(&format!("Inject -> VLANDecap({arguments}) -> Collect(0)"), packets());
            assert_eq!(flow.data(0), [plain.clone(), plain.clone()]);
            for ((_, packet), expected) in flow.seen.iter().zip(annotations) {
                assert_eq!(&packet.annotations()[20..22], &expected);
                assert_eq!((packet.mac_offset(), packet.network_offset()), (Some(0), Some(14)));
            }
            assert_eq!(flow.drops(), [("no Ethernet header", 2)]);
        }
        let other = send("Inject -> VLANDecap(ETHERTYPE 0x88a8) -> Collect(0)", [tagged.clone()]);
        assert_eq!(other.only(0).data(), tagged);
    }
}
