//! Flow managers, and elements that keep something of each flow.
//!
//! A manager finds a packet's flow in a table ([`table`]) and tags the packet with the flow's number. Elements behind
//! it keep what they know of a flow in a table by that number ([`elements_shared::flow_space`]), so that a flow is looked up once, however
//! many elements there are. Each worker has its own flows. When a flow ends, only the manager learns of it: others
//! notice when its number is another flow's, or when they look.

mod balancer;
mod consistency_check;
mod ctx_ip_load_balancer;
mod ctx_manager;
mod flow_counter;
mod flow_ip_load_balancer;
mod flow_ip_manager;
mod flow_ip_nat;
mod flow_ip_nat_reverse;
mod flow_l2_load_balancer;
mod flow_napt_load_balancer;
mod flow_napt_load_balancer_reverse;
mod flow_paint;
mod flow_print;
mod flow_rate_limiter;
mod flow_round_robin_switch;
mod flow_switch;
mod flow_work_package;
mod index;
mod mappings;
mod store_flow_id;
mod table;
mod translator;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &consistency_check::CLASS,
    &ctx_ip_load_balancer::CLASS,
    &ctx_manager::CLASS,
    &ctx_manager::DPDK,
    &flow_counter::CLASS,
    &flow_ip_load_balancer::CLASS,
    &flow_ip_manager::BUCKET,
    &flow_ip_manager::CLASS,
    &flow_ip_nat::CLASS,
    &flow_ip_nat_reverse::CLASS,
    &flow_l2_load_balancer::CLASS,
    &flow_napt_load_balancer::CLASS,
    &flow_napt_load_balancer_reverse::CLASS,
    &flow_paint::CLASS,
    &flow_print::CLASS,
    &flow_rate_limiter::CLASS,
    &flow_round_robin_switch::CLASS,
    &flow_switch::CLASS,
    &flow_work_package::CLASS,
    &store_flow_id::CLASS,
];
