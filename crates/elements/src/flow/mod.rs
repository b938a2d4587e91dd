//! Flow managers, and elements that keep something of each flow.
//!
//! A manager finds a packet's flow in a table ([`table`]) and tags the packet with the flow's number. Elements behind
//! it keep what they know of a flow in a table by that number ([`space`]), so that a flow is looked up once, however
//! many elements there are. Each worker has its own flows. When a flow ends, only the manager learns of it: others
//! notice when its number is another flow's, or when they look.

mod balancer;
mod between;
mod connections;
mod consistency_check;
mod ctx_ascii_print;
mod ctx_crc;
mod ctx_ids_matcher;
mod ctx_ip_load_balancer;
mod ctx_manager;
mod editing;
mod flow_acquire;
mod flow_counter;
mod flow_hyper_scan;
mod flow_ip_load_balancer;
mod flow_ip_manager;
mod flow_ip_nat;
mod flow_ip_nat_reverse;
mod flow_l2_load_balancer;
mod flow_lock;
mod flow_napt_load_balancer;
mod flow_napt_load_balancer_reverse;
mod flow_paint;
mod flow_print;
mod flow_rand_load;
mod flow_rate_limiter;
mod flow_round_robin_switch;
mod flow_switch;
mod flow_work_package;
mod hash_table_test;
mod held;
mod http;
mod http_in;
mod http_out;
mod index;
mod insult_remover;
mod ip_in;
mod ip_out;
pub(crate) mod key;
mod mappings;
mod messages;
mod payload;
mod scanner;
mod segment;
mod shared;
mod space;
mod store_flow_id;
mod stream;
mod table;
pub(crate) mod tcp_in;
mod tcp_out;
mod tcp_reorder;
mod tcp_retransmitter;
mod tcp_state_in;
mod translator;
pub(crate) mod udp_in;
mod udp_out;
mod waiting;
mod word_filter;
mod word_matcher;
mod words;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &consistency_check::CLASS,
    &ctx_ascii_print::CLASS,
    &ctx_ascii_print::FLOW,
    &ctx_crc::CLASS,
    &ctx_crc::FLOW,
    &ctx_ip_load_balancer::CLASS,
    &ctx_ip_load_balancer::SIMPLE,
    &ctx_manager::CLASS,
    &ctx_manager::CLASSIFIER,
    &ctx_manager::MANAGER,
    &ctx_manager::DPDK,
    &ctx_manager::DPDK_BUILDER,
    &ctx_manager::DPDK_CACHE,
    &ctx_manager::FLOW_DPDK,
    &ctx_manager::FLOW_DPDK_BUILDER,
    &ctx_manager::FLOW_DPDK_CACHE,
    &ctx_manager::FLOW_DPDK_CLASSIFIER,
    &flow_acquire::CLASS,
    &flow_work_package::CLASS,
    &flow_counter::CLASS,
    &flow_ip_load_balancer::CLASS,
    &flow_ip_manager::CLASS,
    &flow_ip_manager::IMP,
    &flow_ip_manager::MP,
    &flow_ip_manager::SPINLOCK,
    &flow_ip_manager::H,
    &flow_ip_manager::HMP,
    &flow_ip_manager::HIMP,
    &flow_ip_manager::CUCKOO,
    &flow_ip_manager::CUCKOO_IMP,
    &flow_ip_manager::DPDK,
    &flow_ip_manager::LAZY,
    &flow_ip_manager::MP_LAZY,
    &flow_ip_manager::CUCKOO_LAZY,
    &flow_ip_manager::WHEEL,
    &flow_ip_manager::MP_WHEEL,
    &flow_ip_manager::NO_ID,
    &flow_ip_manager::DPDK_HASH,
    &flow_ip_manager::BUCKET,
    &flow_ip_nat::CLASS,
    &flow_ip_nat_reverse::CLASS,
    &flow_l2_load_balancer::CLASS,
    &flow_lock::CLASS,
    &flow_napt_load_balancer::CLASS,
    &flow_napt_load_balancer_reverse::CLASS,
    &flow_paint::CLASS,
    &flow_print::CLASS,
    &flow_rand_load::CLASS,
    &flow_rate_limiter::CLASS,
    &flow_round_robin_switch::CLASS,
    &flow_switch::CLASS,
    &store_flow_id::CLASS,
    &hash_table_test::CLASS,
    &flow_counter::MID_STAT,
    &flow_counter::CTX,
    &flow_hyper_scan::CLASS,
    &tcp_reorder::CLASS,
    &tcp_reorder::SIMPLE,
    &tcp_retransmitter::CLASS,
    &tcp_retransmitter::SIMPLE,
    &tcp_state_in::CLASS,
    &ctx_ids_matcher::CLASS,
    &ctx_ids_matcher::FLOW,
    &ctx_ids_matcher::CHUNK,
    &tcp_in::CLASS,
    &tcp_out::CLASS,
    &ip_in::CLASS,
    &ip_out::CLASS,
    &word_matcher::CLASS,
    &insult_remover::CLASS,
    &http_in::CLASS,
    &http_out::CLASS,
    &udp_in::CLASS,
    &udp_out::CLASS,
];

/// Why packets are dropped that carry no flow that is known.
const NO_FLOW: &str = "no flow";
