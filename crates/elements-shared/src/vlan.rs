//! The VLAN that a packet came from.

use packet::{ANNO_BYTES, Anno, Packet};

/// Clears the annotations of a packet that becomes the answer to itself, except for the VLAN: the answer goes where the packet came from.
pub fn keep_vlan_only(packet: &mut Packet) {
    let vlan = packet.anno(Anno::VLAN_TCI);
    *packet.annotations_mut() = [0; ANNO_BYTES];
    packet.set_anno(Anno::VLAN_TCI, vlan);
}
