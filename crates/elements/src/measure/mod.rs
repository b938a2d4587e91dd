//! Elements that measure traffic: counters, and aggregates (groups of packets, by number) that counters tell apart.

mod aggregate_counter;
mod aggregate_filter;
mod aggregate_first;
mod aggregate_ip;
mod aggregate_ip_flows;
mod aggregate_length;
mod aggregate_paint;
mod average_counter;
mod field;
mod flows;
mod ip_rate_monitor;
#[cfg(test)]
pub(crate) mod samples;

use router::{Class, Verdict};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &aggregate_counter::CLASS,
    &aggregate_filter::CLASS,
    &aggregate_first::CLASS,
    &aggregate_ip::CLASS,
    &aggregate_ip_flows::CLASS,
    &aggregate_length::CLASS,
    &aggregate_paint::CLASS,
    &average_counter::CLASS,
    &ip_rate_monitor::CLASS,
];

/// Why packets are dropped that have no IP header where one is needed.
const NO_IP: &str = "no IP header";

/// What becomes of a packet that an element cannot use: output 1 if there is one.
#[inline]
fn fail(outputs: usize, reason: &'static str) -> Verdict {
    if outputs > 1 { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
