//! IPv4 and ICMP.

mod address_set;
mod arguments;
mod check_ip_header;
mod dec_ip_ttl;
mod drop_broadcasts;
mod fix_ip_src;
mod get_ip_address;
mod header;
mod icmp_error;
mod ip_fragmenter;
mod ip_gw_options;
mod mark_ip_header;
#[cfg(test)]
mod samples;
mod set_ip_address;
mod set_ip_checksum;
mod set_rand_ip_address;
mod strip_ip_header;

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
    &set_ip_address::CLASS,
    &set_ip_checksum::CLASS,
    &set_rand_ip_address::CLASS,
    &strip_ip_header::CLASS,
];

/// What becomes of a packet that fails: it leaves at output 1 where that is in use, and is dropped otherwise.
#[inline]
pub(crate) fn fail(outputs: usize, reason: &'static str) -> Verdict {
    if outputs > 1 { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
