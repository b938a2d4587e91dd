//! IPv4 and ICMP.

mod address_set;
mod anonymize_ip_addr;
mod arguments;
mod auto_mark_ip_header;
mod check_gre_header;
mod check_ip_header;
mod check_ip_header2;
mod dec_ip_ttl;
mod drop_broadcasts;
pub(crate) mod encap;
mod erase_ip_payload;
pub(crate) mod error_limit;
pub(crate) mod error_reasons;
mod fix_ip_src;
mod force_ip;
mod get_ip_address;
mod gre_encap;
mod icmp;
mod icmp_error;
mod ip_encap;
mod ip_fragmenter;
mod ip_gw_options;
mod ip_input_combo;
mod ip_mirror;
mod ip_output_combo;
mod ip_reassembler;
mod ipsec_encap;
mod mark_ip_ce;
mod mark_ip_header;
mod network_direction_swap;
mod network_header_fields_rewriter;
mod partial;
mod set_ip_address;
mod set_ip_checksum;
mod set_ip_dscp;
pub(crate) mod set_ip_ecn;
mod set_rand_ip_address;
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
    &anonymize_ip_addr::CLASS,
    &auto_mark_ip_header::CLASS,
    &check_gre_header::CLASS,
    &check_ip_header2::CLASS,
    &check_ip_header::CLASS,
    &dec_ip_ttl::CLASS,
    &drop_broadcasts::CLASS,
    &erase_ip_payload::CLASS,
    &fix_ip_src::CLASS,
    &force_ip::CLASS,
    &get_ip_address::CLASS,
    &gre_encap::CLASS,
    &icmp::icmp_ip_encap::CLASS,
    &icmp::icmp_ping_encap::CLASS,
    &icmp::icmp_ping_responder::CLASS,
    &icmp_error::CLASS,
    &ip_encap::CLASS,
    &ip_fragmenter::CLASS,
    &ip_gw_options::CLASS,
    &ip_input_combo::CLASS,
    &ip_mirror::CLASS,
    &ip_output_combo::CLASS,
    &ip_reassembler::CLASS,
    &ipsec_encap::CLASS,
    &mark_ip_ce::CLASS,
    &mark_ip_header::CLASS,
    &network_direction_swap::CLASS,
    &network_header_fields_rewriter::CLASS,
    &set_ip_address::CLASS,
    &set_ip_checksum::CLASS,
    &set_ip_dscp::CLASS,
    &set_ip_ecn::CLASS,
    &set_rand_ip_address::CLASS,
    &store_ip_address::CLASS,
    &strip_gre_header::CLASS,
    &strip_ip_header::CLASS,
    &strip_to_network_header::CLASS,
    &transport::check_icmp_header::CLASS,
    &transport::check_tcp_header::CLASS,
    &transport::check_udp_header::CLASS,
    &transport::copy_flow_id::CLASS,
    &transport::copy_tcp_seq::CLASS,
    &transport::dynamic_udp_ip_encap::CLASS,
    &transport::force_icmp::CLASS,
    &transport::force_tcp::CLASS,
    &transport::force_udp::CLASS,
    &transport::random_udp_ip_encap::CLASS,
    &transport::reset_ip_checksum::CLASS,
    &transport::round_robin_udp_ip_encap::CLASS,
    &transport::set_icmp_checksum::CLASS,
    &transport::set_tcp_checksum::CLASS,
    &transport::set_udp_checksum::CLASS,
    &transport::store_time_seq_record::CLASS,
    &transport::store_time_seq_record::OF_ANY,
    &transport::store_time_seq_record::OF_ICMP,
    &transport::store_time_seq_record::OF_TCP,
    &transport::strip_transport_header::CLASS,
    &transport::tcp_buffer::CLASS,
    &transport::tcp_fragmenter::CLASS,
    &transport::tcp_ip_send::CLASS,
    &transport::tcp_reflector::CLASS,
    &transport::udp_ip_encap::CLASS,
    &transport::unstrip_transport_header::CLASS,
    &truncate_ip_payload::CLASS,
    &unstrip_ip_header::CLASS,
];

/// Extends a packet forward so that it starts at a mark in front of its data.
#[inline]
pub(super) fn unstrip_to(packet: &mut Packet, mark: Option<isize>) -> Verdict {
    match mark {
        // What a mark in front of the data points to is headroom, so there is enough of it.
        Some(offset) if offset < 0 && !packet.push(offset.unsigned_abs()) => Verdict::Drop("no room"),
        _ => Verdict::Pass,
    }
}
