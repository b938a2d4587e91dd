//! IPv4 and ICMP.

mod address_set;
mod anonymize_ip_addr;
mod arguments;
mod auto_mark_ip_header;
pub(crate) mod balance;
mod check_gre_header;
mod check_ip_header;
mod check_ip_header2;
mod ctx_ip_load_balancer_reverse;
mod dec_ip_ttl;
mod drop_broadcasts;
mod encap;
mod erase_ip_payload;
pub(crate) mod error_limit;
mod fix_ip_src;
mod flow_min_load_switch;
mod flow_outputs;
mod force_ip;
mod get_ip_address;
mod gre_encap;
mod gtp_decap;
mod gtp_encap;
mod gtp_lookup;
mod gtp_table;
mod gtp_tunnels;
pub(crate) mod header;
mod header_compression;
mod icmp;
mod icmp_error;
mod identification;
mod ip_encap;
mod ip_fragmenter;
mod ip_gw_options;
mod ip_input_combo;
pub(crate) mod ip_load_balancer;
mod ip_load_balancer_reverse;
mod ip_mirror;
mod ip_output_combo;
mod ip_reassembler;
mod ip_rr_switch;
mod ipsec_encap;
pub(crate) mod loads;
mod mark_ip_ce;
mod mark_ip_header;
mod network_direction_swap;
mod network_header_fields_rewriter;
pub(crate) mod numbers;
mod partial;
mod rfc2507_comp;
mod rfc2507_decomp;
mod rip_send;
mod rss_hash_switch;
#[cfg(test)]
pub(crate) mod samples;
mod set_ip_address;
mod set_ip_checksum;
mod set_ip_dscp;
pub(crate) mod set_ip_ecn;
mod set_rand_ip_address;
pub(crate) mod shifter;
mod store_ip_address;
mod strip_gre_header;
mod strip_ip_header;
mod strip_to_network_header;
mod transport;
mod truncate_ip_payload;
mod unstrip_ip_header;

use packet::Packet;
use router::{Class, Verdict};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &check_ip_header::CLASS,
    &dec_ip_ttl::CLASS,
    &drop_broadcasts::CLASS,
    &fix_ip_src::CLASS,
    &get_ip_address::CLASS,
    &icmp_error::CLASS,
    &ip_fragmenter::CLASS,
    &ip_gw_options::CLASS,
    &mark_ip_header::CLASS,
    &auto_mark_ip_header::CLASS,
    &set_ip_address::CLASS,
    &set_ip_checksum::CLASS,
    &set_rand_ip_address::CLASS,
    &strip_ip_header::CLASS,
    &transport::check_icmp_header::CLASS,
    &transport::check_tcp_header::CLASS,
    &transport::check_udp_header::CLASS,
    &transport::set_icmp_checksum::CLASS,
    &transport::set_tcp_checksum::CLASS,
    &transport::set_udp_checksum::CLASS,
    &transport::strip_transport_header::CLASS,
    &transport::strip_transport_header::TCP,
    &transport::unstrip_transport_header::CLASS,
    &transport::unstrip_transport_header::TCP,
    &ip_encap::CLASS,
    &ipsec_encap::CLASS,
    &ip_mirror::CLASS,
    &mark_ip_ce::CLASS,
    &set_ip_dscp::CLASS,
    &set_ip_ecn::CLASS,
    &strip_to_network_header::CLASS,
    &unstrip_ip_header::CLASS,
    &icmp::icmp_ip_encap::CLASS,
    &icmp::icmp_ping_encap::CLASS,
    &icmp::icmp_ping_responder::CLASS,
    &transport::udp_ip_encap::CLASS,
    &ip_reassembler::CLASS,
    &check_ip_header2::CLASS,
    &store_ip_address::CLASS,
    &ip_input_combo::CLASS,
    &ip_output_combo::CLASS,
    &ip_output_combo::FLOW,
    &anonymize_ip_addr::CLASS,
    &transport::tcp_fragmenter::CLASS,
    &erase_ip_payload::CLASS,
    &rip_send::CLASS,
    &truncate_ip_payload::CLASS,
    &transport::dynamic_udp_ip_encap::CLASS,
    &transport::random_udp_ip_encap::CLASS,
    &transport::round_robin_udp_ip_encap::CLASS,
    &transport::store_time_seq_record::CLASS,
    &transport::store_time_seq_record::OF_TCP,
    &transport::store_time_seq_record::OF_ICMP,
    &transport::store_time_seq_record::OF_ANY,
    &transport::tcp_ip_send::CLASS,
    &transport::tcp_reflector::CLASS,
    &ip_load_balancer::CLASS,
    &ip_load_balancer_reverse::CLASS,
    &ip_load_balancer_reverse::FLOW,
    &ctx_ip_load_balancer_reverse::CLASS,
    &ctx_ip_load_balancer_reverse::SIMPLE,
    &flow_min_load_switch::CLASS,
    &rss_hash_switch::CLASS,
    &ip_rr_switch::CLASS,
    &ip_rr_switch::IP_FLOW,
    &ip_rr_switch::FLOW,
    &network_direction_swap::CLASS,
    &network_header_fields_rewriter::CLASS,
    &check_gre_header::CLASS,
    &gre_encap::CLASS,
    &strip_gre_header::CLASS,
    &gtp_encap::CLASS,
    &gtp_decap::CLASS,
    &gtp_table::CLASS,
    &gtp_lookup::CLASS,
    &shifter::CLASS,
    &transport::reset_ip_checksum::CLASS,
    &rfc2507_comp::CLASS,
    &rfc2507_decomp::CLASS,
    &force_ip::CLASS,
    &transport::force_tcp::CLASS,
    &transport::force_udp::CLASS,
    &transport::force_icmp::CLASS,
    &transport::copy_flow_id::CLASS,
    &transport::copy_tcp_seq::CLASS,
    &transport::tcp_buffer::CLASS,
    &transport::toy_tcp::CLASS,
    &transport::web_gen::CLASS,
];

/// What becomes of a packet that fails: it leaves at output 1 where that is in use, and is dropped otherwise.
#[inline]
pub(crate) fn fail(outputs: usize, reason: &'static str) -> Verdict {
    if outputs > 1 { Verdict::Output(1) } else { Verdict::Drop(reason) }
}

/// Extends a packet forward so that it starts at a mark in front of its data.
#[inline]
pub(super) fn unstrip_to(packet: &mut Packet, mark: Option<isize>) -> Verdict {
    match mark {
        // What a mark in front of the data points to is headroom, so there is enough of it.
        Some(offset) if offset < 0 && !packet.push(offset.unsigned_abs()) => Verdict::Drop("no room"),
        _ => Verdict::Pass,
    }
}
