//! Inserts a VLAN tag into Ethernet frames.
//!
//! ```click
//! VLANEncap([VLAN_TCI, VLAN_PCP, VLAN_ID, NATIVE_VLAN, ETHERTYPE])
//! ```
//!
//! Inserts an IEEE 802.1Q tag after the addresses of Ethernet frames, and marks their headers. Frames of the native VLAN pass unchanged.
//! Packets shorter than an Ethernet header are dropped.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `VLAN_TCI` (integer, or `ANNO`): the tag control information: identifier and priority. `ANNO` takes it from each
//!   packet's VLAN annotation.
//! - `VLAN_PCP` (0 to 7, default 0): the priority code point, inserted into the tag control information.
//! - `VLAN_ID` (0 to 0xFFF): the identifier alone; ignored if VLAN_TCI is given.
//! - `NATIVE_VLAN` (-1 to 0xFFF, default 0): frames with this identifier are not tagged; -1 for none.
//! - `ETHERTYPE` (integer, default 0x8100): the EtherType that indicates the tag.
//!
//! # Handlers
//! - `vlan_tci`, `vlan_id`, `vlan_pcp`, `native_vlan`, `ethertype` (read, write): the arguments. Writing `vlan_id` or
//!   `vlan_pcp` leaves the other part of the tag control information as it is, and has no effect if VLAN_TCI is taken
//!   from the annotation.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> VLANEncap(VLAN_ID 7) -> Queue -> ToDevice(eth1);
//! ```
//!
//! # See also
//! VLANDecap, EtherVLANEncap, SetVLANAnno

use super::vlan::{Arguments, NO_HEADER, Tagging, config_handler, native_handler, tag_handlers};
use elements_shared::ether_header::{NO_ROOM, mark_behind, mark_frame};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::ethernet::{HEADER_LEN, ether_type};
use wire::vlan::TAG_LEN;

/// The class.
pub(crate) const CLASS: Class =
    Class::new("VLANEncap", create).pure().live().doc(router::manual!("vlan_encap.rs"));

/// Bytes of an Ethernet type.
const TYPE_LEN: usize = 2;

struct VlanEncap {
    tagging: Tagging,
    ether_type: u16,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut a, mut ether_type) = (Arguments::default(), ether_type::VLAN);
    config
        .args()
        .positional("VLAN_TCI", &mut a.tci)
        .positional("VLAN_PCP", &mut a.priority)
        .keyword("VLAN_ID", &mut a.id)
        .keyword("NATIVE_VLAN", &mut a.native)
        .keyword("ETHERTYPE", &mut ether_type)
        .finish()?;
    Ok(Box::new(PerPacket(VlanEncap { tagging: Tagging::new(&a), ether_type })))
}

/// Says where headers are behind a tag, whatever type announces it.
#[inline]
fn mark_tagged(packet: &mut Packet) {
    packet.set_mac_offset(0);
    mark_behind(packet, HEADER_LEN + TAG_LEN);
}

impl Simple for VlanEncap {
    #[inline(always)] // one call less for every packet
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        if packet.len() < HEADER_LEN {
            return Verdict::Drop(NO_HEADER);
        }
        let tci = self.tagging.of(packet);
        if self.tagging.is_native(tci) {
            mark_frame(packet);
            return Verdict::Pass;
        }
        if !packet.prepend(TAG_LEN) {
            return Verdict::Drop(NO_ROOM);
        }
        // The addresses move to the front; what announces the tag, and the tag, fill the gap.
        let Some(front) = packet.data_mut().first_chunk_mut::<{ HEADER_LEN - TYPE_LEN + TAG_LEN }>() else {
            return Verdict::Drop(NO_HEADER);
        };
        let [_, _, _, _, addresses @ ..] = *front;
        let tag = u32::from(self.ether_type) << 16 | u32::from(tci);
        front[..addresses.len()].copy_from_slice(&addresses);
        front[addresses.len()..].copy_from_slice(&tag.to_be_bytes());
        mark_tagged(packet);
        Verdict::Pass
    }

    fn handlers(&self, h: &mut Handlers) {
        config_handler(h, |e: &mut VlanEncap| &mut e.tagging);
        tag_handlers(h, |e: &mut VlanEncap| &mut e.tagging);
        native_handler(h, |e: &mut VlanEncap| &mut e.tagging);
        h.read("ethertype", |e: &mut VlanEncap, _| e.ether_type);
        h.write("ethertype", |e: &mut VlanEncap, cx, text| {
            e.ether_type = router::value(cx, text)?;
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::{Sent, send, send_one};
    use packet::Anno;
    use proptest::prelude::*;

    const FRAME: [u8; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 8, 0, 0x45, 0];

    fn tagged(ether_type: [u8; 2], tci: [u8; 2]) -> Vec<u8> {
        [&FRAME[..12], &ether_type, &tci, &FRAME[12..]].concat()
    }

    #[test]
    fn inserts_the_tag_unless_native() {
        for (arguments, frame) in [
            ("VLAN_ID 7", tagged([0x81, 0], [0, 7])),
            ("0x123, 5", tagged([0x81, 0], [0xa1, 0x23])),
            ("VLAN_ID 1, VLAN_PCP 2, ETHERTYPE 0x88a8", tagged([0x88, 0xa8], [0x40, 1])),
            ("VLAN_ID 0, NATIVE_VLAN -1", tagged([0x81, 0], [0, 0])),
            ("VLAN_ID 0", FRAME.to_vec()),
            ("VLAN_ID 9, NATIVE_VLAN 9", FRAME.to_vec()),
        ] {
            let config = format!("Inject -> VLANEncap({arguments}) -> Collect(0)");
            let flow = send(&config, [FRAME.to_vec(), vec![0; 13]]);
            let packet = flow.only(0);
            assert_eq!(packet.data(), frame, "{arguments}");
            assert_eq!(
                (packet.mac_offset(), packet.network_offset()),
                (Some(0), Some(frame.len() as isize - 2))
            );
            assert_eq!(flow.drops(), [("no Ethernet header", 1)]);
        }
    }

    /// Without VLAN_ID and VLAN_TCI the VLAN is 0, which is the native one; of both, VLAN_TCI counts.
    #[test]
    fn none_or_both() {
        for (arguments, expected) in [("", FRAME.to_vec()), ("7, VLAN_ID 5", tagged([0x81, 0], [0, 7]))] {
            let flow = send_one(&format!("Inject -> VLANEncap({arguments}) -> Collect(0)"), FRAME.to_vec());
            assert_eq!(flow.data(0), [expected], "{arguments}");
        }
    }

    /// The annotation is in network order, and belongs to the packet: packets of one batch may differ.
    #[test]
    fn each_packet_gets_the_tag_of_its_annotation() {
        let sent = [[0, 7], [0, 0], [0x21, 0x23]].map(|tci: [u8; 2]| Sent {
            data: FRAME.to_vec(),
            annotations: vec![(Anno::VLAN_TCI, u64::from(u16::from_ne_bytes(tci)))],
            ..Sent::default()
        });
        let flow = send("Inject -> VLANEncap(ANNO) -> Collect(0)", sent);
        let expected = [tagged([0x81, 0], [0, 7]), FRAME.to_vec(), tagged([0x81, 0], [0x21, 0x23])];
        assert_eq!(flow.data(0), expected);
    }

    #[test]
    fn handlers_and_errors() {
        let mut flow = send_one("Inject -> v :: VLANEncap(ANNO) -> Collect(0)", FRAME.to_vec());
        assert_eq!(flow.read("v.vlan_tci"), "ANNO");
        assert_eq!((flow.write("v.vlan_id", "7"), flow.write("v.vlan_pcp", "7")), ("".into(), "".into()));
        assert_eq!(flow.read("v.vlan_tci"), "ANNO", "the annotation counts");
        assert_eq!(flow.write("v.vlan_tci", "0x2005"), "");
        assert_eq!(["v.vlan_tci", "v.vlan_id", "v.vlan_pcp"].map(|h| flow.read(h)), ["8197", "5", "1"]);
        assert_eq!(flow.write("v.vlan_id", "6"), "");
        assert_eq!(flow.write("v.vlan_pcp", "8"), "error: VLAN_PCP: out of range, bound 7");
        assert_eq!([flow.read("v.vlan_tci"), flow.read("v.native_vlan")], ["8198", "0"]);
        assert_eq!(flow.read("v.config"), "VLAN_ID 6, VLAN_PCP 1");
        // What is whole has parts.
        assert_eq!(
            (flow.write("v.vlan_tci", "0x4005"), flow.write("v.vlan_pcp", "1")),
            ("".into(), "".into())
        );
        assert_eq!(["v.vlan_id", "v.vlan_pcp"].map(|h| flow.read(h)), ["5", "1"]);
        for (arguments, error) in [("0x10000", "VLAN_TCI"), ("VLAN_ID 4096", "VLAN_ID")] {
            let text = errors(&format!("Idle -> VLANEncap({arguments}) -> Discard"));
            assert!(text.contains(error), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Tagging and untagging gives what there was, whatever it was.
        #[test]
        fn there_and_back(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 14..80), 1..40)) {
            let flow = send("Inject -> VLANEncap(VLAN_ID 5) -> VLANDecap -> Collect(0)", frames.clone());
            prop_assert_eq!(flow.data(0), frames);
        }
    }
}
