//! Ethernet and address resolution.

pub(crate) mod address;
mod arp_advertiser;
mod arp_faker;
mod arp_print;
mod arp_querier;
mod arp_responder;
mod arp_table;
mod check_arp_header;
mod debug_bridge;
mod ensure_ether;
mod ether_encap;
mod ether_mirror;
mod ether_pause_source;
mod ether_rewrite;
mod ether_span_tree;
mod ether_switch;
mod ether_vlan_encap;
mod get_ether_address;
mod host_ether_filter;
mod ip6_adjacency;
mod ip6_nd_advertiser;
mod ip6_nd_solicitor;
mod ip_adjacency;
mod l2_load_balancer;
mod listen_ether_switch;
mod mark_mac_header;
mod set_ether_address;
mod set_vlan_anno;
mod stations;
mod store_ether_address;
mod strip_ether_vlan_header;
mod vlan;
mod vlan_decap;
mod vlan_encap;

use packet::Packet;
use router::{Class, Handlers};
use wire::ethernet::{HEADER_LEN, Header};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &ether_switch::CLASS,
    &ether_span_tree::CLASS,
    &listen_ether_switch::CLASS,
    &debug_bridge::CLASS,
    &arp_print::CLASS,
    &arp_advertiser::CLASS,
    &arp_faker::CLASS,
    &arp_querier::CLASS,
    &arp_querier::FLOW,
    &arp_responder::CLASS,
    &arp_table::CLASS,
    &check_arp_header::CLASS,
    &ensure_ether::CLASS,
    &ether_encap::CLASS,
    &ether_mirror::CLASS,
    &ether_pause_source::CLASS,
    &ether_rewrite::CLASS,
    &ether_vlan_encap::CLASS,
    &get_ether_address::CLASS,
    &host_ether_filter::CLASS,
    &ip6_adjacency::CLASS,
    &ip6_nd_advertiser::CLASS,
    &ip6_nd_solicitor::CLASS,
    &ip_adjacency::CLASS,
    &mark_mac_header::CLASS,
    &set_ether_address::CLASS,
    &set_vlan_anno::CLASS,
    &store_ether_address::CLASS,
    &strip_ether_vlan_header::CLASS,
    &vlan_decap::CLASS,
    &vlan_encap::CLASS,
    &ether_vlan_encap::ALIAS,
    &set_vlan_anno::ALIAS,
    &strip_ether_vlan_header::ALIAS,
    &l2_load_balancer::CLASS,
];

/// Puts an Ethernet header in front of a packet. False, and nothing changed, if the buffer has no room for it.
#[inline]
pub(crate) fn encapsulate(packet: &mut Packet, header: &[u8; HEADER_LEN]) -> bool {
    let Some(place) = packet.push_array() else { return false };
    *place = *header;
    packet.set_mac_offset(0);
    true
}

/// Why packets are dropped whose buffers are full.
pub(crate) const NO_ROOM: &str = "no room for an Ethernet header";

/// Declares the handlers of an element that has an Ethernet header: `src`, `dst` and `ethertype`.
fn header_handlers<E: 'static>(h: &mut Handlers, part: fn(&mut E) -> &mut [u8; HEADER_LEN]) {
    h.read("src", move |e: &mut E, _| Header::new(part(e)).src());
    h.write("src", move |e: &mut E, cx, text| {
        router::value(cx, text).map(|mac| Header::new(part(e)).set_src(mac))
    });
    h.read("dst", move |e: &mut E, _| Header::new(part(e)).dst());
    h.write("dst", move |e: &mut E, cx, text| {
        router::value(cx, text).map(|mac| Header::new(part(e)).set_dst(mac))
    });
    h.read("ethertype", move |e: &mut E, _| Header::new(part(e)).ether_type());
    h.write("ethertype", move |e: &mut E, cx, text| {
        router::value(cx, text).map(|kind| Header::new(part(e)).set_ether_type(kind))
    });
}
