//! Ethernet and address resolution.

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

use router::{Class, Handlers};
use wire::ethernet::{HEADER_LEN, Header};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &debug_bridge::CLASS,
    &ensure_ether::CLASS,
    &ether_encap::CLASS,
    &ether_mirror::CLASS,
    &ether_pause_source::CLASS,
    &ether_rewrite::CLASS,
    &ether_span_tree::CLASS,
    &ether_switch::CLASS,
    &ether_vlan_encap::CLASS,
    &get_ether_address::CLASS,
    &host_ether_filter::CLASS,
    &listen_ether_switch::CLASS,
    &mark_mac_header::CLASS,
    &set_ether_address::CLASS,
    &set_vlan_anno::CLASS,
    &store_ether_address::CLASS,
    &strip_ether_vlan_header::CLASS,
    &vlan_decap::CLASS,
    &vlan_encap::CLASS,
];

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
