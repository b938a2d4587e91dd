//! Load balancers: which server a flow goes to, and what each has got.

mod ctx_ip_load_balancer_reverse;
mod flow_min_load_switch;
mod flow_outputs;
pub(crate) mod ip_load_balancer;
mod ip_load_balancer_reverse;
mod ip_rr_switch;
mod l2_load_balancer;
pub(crate) mod loads;
mod rss_hash_switch;
pub(crate) mod servers;
pub(crate) mod shifter;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &ctx_ip_load_balancer_reverse::CLASS,
    &flow_min_load_switch::CLASS,
    &ip_load_balancer::CLASS,
    &ip_load_balancer_reverse::CLASS,
    &ip_rr_switch::CLASS,
    &l2_load_balancer::CLASS,
    &rss_hash_switch::CLASS,
    &shifter::CLASS,
];
