//! Elements that make and answer ICMP messages.

mod echo_reply;
mod encap;
pub(super) mod icmp_ip_encap;
pub(super) mod icmp_ping_encap;
pub(super) mod icmp_ping_responder;
