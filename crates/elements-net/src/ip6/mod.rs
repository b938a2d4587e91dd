//! IPv6 and ICMPv6.

mod check_ip6_header;
mod checksum;
mod dec_ip6_hlim;
mod destination_options_encap;
mod encap;
mod extension;
mod fix_ip6_src;
mod fragmentation_encap;
mod get_ip6_address;
mod header;
mod hop_by_hop_encap;
mod icmp6_error;
mod icmp6_ping_responder;
mod ip6_drop;
mod ip6_encap;
mod ip6_fragmenter;
mod ip6_gw_options;
mod ip6_mirror;
mod ip6_print;
mod ip6_reassembler;
mod ip6_sr_decap;
mod ip6_sr_encap;
mod ip6_sr_process;
mod mark_ip6_header;
mod protocol_translator46;
mod protocol_translator64;
mod router_alert_encap;
mod routing_zero_encap;
mod segment_routing;
mod set_icmp_checksum_ip6;
mod set_ip6_address;
mod set_ip6_dscp;
mod set_ip6_ecn;
mod set_ip6_flow_label;
mod set_ip6_hlim;
mod set_tcp_checksum_ip6;
mod set_transport_checksum_ip6;
mod store_ip6_address;
mod udp_ip6_encap;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &check_ip6_header::CLASS,
    &dec_ip6_hlim::CLASS,
    &destination_options_encap::CLASS,
    &fix_ip6_src::CLASS,
    &fragmentation_encap::CLASS,
    &get_ip6_address::CLASS,
    &hop_by_hop_encap::CLASS,
    &icmp6_error::CLASS,
    &icmp6_ping_responder::CLASS,
    &ip6_drop::CLASS,
    &ip6_encap::CLASS,
    &ip6_fragmenter::CLASS,
    &ip6_gw_options::CLASS,
    &ip6_mirror::CLASS,
    &ip6_print::CLASS,
    &ip6_reassembler::CLASS,
    &ip6_sr_decap::CLASS,
    &ip6_sr_encap::CLASS,
    &ip6_sr_process::CLASS,
    &mark_ip6_header::CLASS,
    &protocol_translator46::CLASS,
    &protocol_translator64::CLASS,
    &router_alert_encap::CLASS,
    &routing_zero_encap::CLASS,
    &set_icmp_checksum_ip6::CLASS,
    &set_ip6_address::CLASS,
    &set_ip6_dscp::CLASS,
    &set_ip6_ecn::CLASS,
    &set_ip6_flow_label::CLASS,
    &set_ip6_hlim::CLASS,
    &set_tcp_checksum_ip6::CLASS,
    &set_transport_checksum_ip6::CLASS,
    &store_ip6_address::CLASS,
    &udp_ip6_encap::CLASS,
];
