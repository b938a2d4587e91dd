//! Ethernet and address resolution.

mod address;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod ether_encap;
mod neighbours;
mod waiting;

use packet::Packet;
use router::Class;
use wire::ethernet::HEADER_LEN;

/// The classes of this family.
pub const CLASSES: &[&Class] =
    &[&arp_querier::CLASS, &arp_responder::CLASS, &arp_table::CLASS, &ether_encap::CLASS];

/// Puts an Ethernet header in front of a packet. False, and nothing changed, if the buffer has no room for it.
#[inline]
fn encapsulate(packet: &mut Packet, header: &[u8; HEADER_LEN]) -> bool {
    let ok = packet.push(HEADER_LEN);
    if ok {
        if let Some(place) = packet.data_mut().first_chunk_mut() {
            *place = *header;
        }
        packet.set_mac_offset(0);
    }
    ok
}

/// Why packets are dropped whose buffers are full.
const NO_ROOM: &str = "no room for an Ethernet header";
