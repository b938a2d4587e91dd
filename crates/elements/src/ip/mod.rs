//! IPv4 and ICMP.

mod check_ip_header;
mod dec_ip_ttl;
mod drop_broadcasts;
mod fix_ip_src;
mod get_ip_address;
mod ip_gw_options;
mod mark_ip_header;
mod set_ip_checksum;

use router::{Class, Verdict};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &check_ip_header::CLASS,
    &dec_ip_ttl::CLASS,
    &drop_broadcasts::CLASS,
    &fix_ip_src::CLASS,
    &get_ip_address::CLASS,
    &ip_gw_options::CLASS,
    &mark_ip_header::CLASS,
    &set_ip_checksum::CLASS,
];

/// What becomes of a packet that fails: it leaves at output 1 where that is in use, and is dropped otherwise.
#[inline]
fn fail(outputs: usize, reason: &'static str) -> Verdict {
    if outputs > 1 { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
