//! Elements that look behind the IPv4 header.

pub(super) mod check_icmp_header;
pub(super) mod check_tcp_header;
pub(super) mod check_udp_header;
pub(super) mod copy_flow_id;
pub(super) mod copy_tcp_seq;
mod copying;
pub(super) mod dynamic_udp_ip_encap;
mod force;
pub(super) mod force_icmp;
pub(super) mod force_tcp;
pub(super) mod force_udp;
mod header_check;
pub(super) mod message;
pub(super) mod random_udp_ip_encap;
pub(super) mod reset_ip_checksum;
pub(super) mod round_robin_udp_ip_encap;
pub(super) mod set_icmp_checksum;
pub(super) mod set_tcp_checksum;
pub(super) mod set_udp_checksum;
pub(super) mod store_time_seq_record;
pub(super) mod strip_transport_header;
pub(super) mod tcp_buffer;
pub(super) mod tcp_fragmenter;
pub(super) mod tcp_ip_send;
pub(super) mod tcp_reflector;
pub(super) mod udp_ip_encap;
pub(super) mod unstrip_transport_header;
