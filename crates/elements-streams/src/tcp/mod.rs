//! TCP and HTTP streams: connections that are followed, and elements that read or edit what flows in them.
//!
//! TCPIn follows a connection ([`connections`]) and puts its bytes in order ([`stream`]); elements behind it read or edit
//! them ([`editing`]), and TCPOut sends what came of it, with sequence numbers and acknowledgements made good.

mod between;
mod connections;
mod ctx_ascii_print;
mod ctx_crc;
mod ctx_ids_matcher;
mod editing;
mod flow_hyper_scan;
mod held;
mod http;
mod http_in;
mod http_out;
mod ip_in;
mod ip_out;
mod messages;
mod payload;
mod scanner;
mod segment;
mod stream;
pub(crate) mod tcp_in;
mod tcp_out;
mod tcp_reorder;
mod tcp_retransmitter;
mod tcp_state_in;
pub(crate) mod udp_in;
mod udp_out;
mod waiting;
mod word_filter;
mod word_matcher;
mod words;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &ctx_ascii_print::CLASS,
    &ctx_crc::CLASS,
    &ctx_ids_matcher::CLASS,
    &flow_hyper_scan::CLASS,
    &http_in::CLASS,
    &http_out::CLASS,
    &ip_in::CLASS,
    &ip_out::CLASS,
    &tcp_in::CLASS,
    &tcp_out::CLASS,
    &tcp_reorder::CLASS,
    &tcp_reorder::SIMPLE,
    &tcp_retransmitter::CLASS,
    &tcp_state_in::CLASS,
    &udp_in::CLASS,
    &udp_out::CLASS,
    &word_matcher::CLASS,
];
