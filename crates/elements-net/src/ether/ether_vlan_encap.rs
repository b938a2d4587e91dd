//! Prepends a fixed Ethernet header with a VLAN tag to packets.
//!
//! ```click
//! EtherVLANEncap(ETHERTYPE, SRC, DST [, VLAN_TCI, VLAN_PCP, VLAN_ID, NATIVE_VLAN])
//! ```
//!
//! Every packet gets an 18-byte Ethernet header with an IEEE 802.1Q tag. Packets of the native VLAN get an ordinary
//! 14-byte header instead. `EtherVlanEncap` is another name for this class.
//!
//! Ports: 1 input, 1 output. Processing: agnostic. Workers: replicated.
//!
//! # Arguments
//! - `ETHERTYPE` (integer): the EtherType of the payload.
//! - `SRC` (Ethernet address): source.
//! - `DST` (Ethernet address): destination.
//! - `VLAN_TCI` (integer, or `ANNO`): the tag control information: identifier and priority. `ANNO` takes it from each
//!   packet's VLAN annotation.
//! - `VLAN_PCP` (0 to 7, default 0): the priority code point, inserted into the tag control information.
//! - `VLAN_ID` (0 to 0xFFF, default 0): the identifier, if VLAN_TCI is not given.
//! - `NATIVE_VLAN` (-1 to 0xFFF, default 0): packets with this identifier are not tagged; -1 for none.
//!
//! # Handlers
//! - `src`, `dst`, `ethertype`, `vlan_tci`, `vlan_id`, `vlan_pcp`, `native_vlan` (read, write): the arguments.
//!   Writing `vlan_id` or `vlan_pcp` leaves the other part of the tag control information as it is, and has no effect
//!   if VLAN_TCI is taken from the annotation.
//!
//! # Example
//! ```click
//! Idle -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 1) -> Discard;
//! ```
//!
//! # See also
//! EtherEncap, VLANEncap, StripEtherVLANHeader, SetVLANAnno

use super::header_handlers;
use super::vlan::{Arguments, Tagging, native_handler, tag_handlers};
use elements_shared::ether_header::{NO_ROOM, encapsulate};
use packet::Packet;
use router::{Class, Config, ConfigError, Cx, Element, Handlers, PerPacket, Simple, Verdict};
use wire::MacAddr;
use wire::ethernet::{HEADER_LEN, Header, ether_type, header};
use wire::vlan::{TAG_LEN, Tag};

/// The class.
pub(crate) const CLASS: Class =
    Class::new("EtherVLANEncap", create).pure().live().doc(router::manual!("ether_vlan_encap.rs"));
struct EtherVlanEncap {
    header: [u8; HEADER_LEN],
    tagging: Tagging,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut kind, mut src, mut dst) = (0, MacAddr::ZERO, MacAddr::ZERO);
    let mut a = Arguments::default();
    config
        .args()
        .required("ETHERTYPE", &mut kind)
        .required("SRC", &mut src)
        .required("DST", &mut dst)
        .positional("VLAN_TCI", &mut a.tci)
        .positional("VLAN_PCP", &mut a.priority)
        .keyword("VLAN_ID", &mut a.id)
        .keyword("NATIVE_VLAN", &mut a.native)
        .finish()?;
    Ok(Box::new(PerPacket(EtherVlanEncap { header: header(dst, src, kind), tagging: Tagging::new(&a) })))
}

impl EtherVlanEncap {
    /// Puts a header in front of a packet, and the tag that it announces behind that.
    #[inline]
    fn tag(&self, packet: &mut Packet, tci: u16) -> bool {
        let Some((header, tag)) = packet.push_arrays::<HEADER_LEN, TAG_LEN>() else { return false };
        *header = self.header;
        Header::new(header).set_ether_type(ether_type::VLAN);
        let mut tag = Tag::new(tag);
        tag.set_tci(tci);
        tag.set_ether_type(Header::new(&self.header).ether_type());
        packet.set_mac_offset(0);
        true
    }
}

impl Simple for EtherVlanEncap {
    #[inline]
    fn process(&mut self, _cx: &mut Cx<'_>, packet: &mut Packet) -> Verdict {
        let tci = self.tagging.of(packet);
        let native = self.tagging.is_native(tci);
        let done = if native { encapsulate(packet, &self.header) } else { self.tag(packet, tci) };
        if done { Verdict::Pass } else { Verdict::Drop(NO_ROOM) }
    }

    fn handlers(&self, h: &mut Handlers) {
        header_handlers(h, |e: &mut EtherVlanEncap| &mut e.header);
        tag_handlers(h, |e: &mut EtherVlanEncap| &mut e.tagging);
        native_handler(h, |e: &mut EtherVlanEncap| &mut e.tagging);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{Sent, send, send_one};
    use packet::Anno;

    const ADDRESSES: [u8; 12] = [2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1];

    fn config(class: &str, rest: &str) -> String {
        format!("Inject -> e :: {class}(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2{rest}) -> Collect(0)")
    }

    #[test]
    fn the_tag_is_there_unless_native() {
        for (rest, middle) in [
            (", 1", vec![0x81, 0, 0, 1, 8, 0]),
            (", 0x123, 7", vec![0x81, 0, 0xe1, 0x23, 8, 0]),
            (", VLAN_ID 6, NATIVE_VLAN 6", vec![8, 0]),
            ("", vec![8, 0]),
            (", NATIVE_VLAN -1", vec![0x81, 0, 0, 0, 8, 0]),
        ] {
            let flow = send_one(&config("EtherVLANEncap", rest), vec![77]);
            assert_eq!(flow.only(0).data(), [&ADDRESSES[..], &middle, &[77]].concat(), "{rest}");
            assert_eq!(flow.only(0).mac_offset(), Some(0));
        }
    }

    /// What is in front of the data does not suffice, but the buffer does.
    #[test]
    fn little_headroom() {
        let config =
            "Inject -> Unstrip(120) -> EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, 1) -> Truncate(18)
            -> Collect(0)";
        let expected = [&ADDRESSES[..], &[0x81, 0, 0, 1, 8, 0]].concat();
        assert_eq!(send_one(config, vec![77]).only(0).data(), expected);
    }

    #[test]
    fn annotation_and_handlers() {
        let sent = [[0, 9], [0, 0]].map(|tci: [u8; 2]| Sent {
            annotations: vec![(Anno::VLAN_TCI, u64::from(u16::from_ne_bytes(tci)))],
            ..Sent::default()
        });
        let mut flow = send(&config("EtherVlanEncap", ", ANNO"), sent);
        let expected =
            [[&ADDRESSES[..], &[0x81, 0, 0, 9, 8, 0]].concat(), [&ADDRESSES[..], &[8, 0]].concat()];
        assert_eq!(flow.data(0), expected);
        assert_eq!(
            ["e.src", "e.ethertype", "e.vlan_tci", "e.native_vlan"].map(|h| flow.read(h)),
            ["01-01-01-01-01-01", "2048", "ANNO", "0"]
        );
        assert_eq!(flow.write("e.vlan_tci", "3"), "");
        assert_eq!(flow.read("e.vlan_id"), "3");
    }
}
