//! Elements that inspect or mark any packet.

mod adjust_timestamp;
mod align;
mod alignment_info;
mod bigint_test;
mod check_align;
mod check_average_length;
mod check_crc32;
mod check_length;
mod check_packet;
mod clipboard;
mod clock;
mod compare_packets;
mod conf_parse_test;
mod counter;
mod crypto_test;
mod ensure_dpdk_buffer;
mod error;
mod error_test;
pub(crate) mod fraction;
mod function_test;
pub(crate) mod instant;
mod ip_print;
mod ip_text;
mod message;
mod move_data;
mod notifier_debug;
mod notifier_test;
mod null;
pub(crate) mod out_file;
mod packet_test;
pub(crate) mod pad;
pub(crate) mod paint;
mod paint2;
pub(crate) mod print;
mod pull_null;
mod push_null;
mod random_bit_errors;
pub(crate) mod rate_average;
mod resize;
mod search;
mod self_test;
mod set_anno_byte;
pub(crate) mod set_crc32;
mod set_packet_type;
mod set_timestamp;
mod set_timestamp_delta;
mod sort_test;
mod store_anno;
mod store_data;
pub(crate) mod store_timestamp;
mod strip;
mod time_filter;
mod time_range;
mod timer_test;
mod timestamp_accum;
pub(crate) mod trial;
pub(crate) mod truncate;
mod truncate_fcs;
mod unstrip;
mod unstrip_anno;
mod upstream_notifier;

use router::{Class, Verdict};

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &adjust_timestamp::CLASS,
    &align::CLASS,
    &check_align::CLASS,
    &alignment_info::CLASS,
    &check_average_length::CLASS,
    &check_crc32::CLASS,
    &check_length::CLASS,
    &check_packet::CLASS,
    &compare_packets::CLASS,
    &counter::CLASS,
    &counter::MP,
    &counter::RCU,
    &counter::RCU_MP,
    &counter::ATOMIC,
    &counter::LOCK,
    &counter::LOCK_MP,
    &counter::P_LOCK_MP,
    &counter::RW,
    &counter::RW_MP,
    &counter::P_RW_MP,
    &counter::RXW_MP,
    &counter::RXW_MP_PR,
    &counter::RXW_MP_PW,
    &ip_print::CLASS,
    &message::CLASS,
    &message::ELEMENT,
    &notifier_debug::CLASS,
    &null::CLASS,
    &pad::CLASS,
    &paint::CLASS,
    &print::CLASS,
    &pull_null::CLASS,
    &push_null::CLASS,
    &set_anno_byte::CLASS,
    &set_crc32::CLASS,
    &set_packet_type::CLASS,
    &set_timestamp::CLASS,
    &set_timestamp_delta::CLASS,
    &store_data::CLASS,
    &strip::CLASS,
    &strip::FLOW,
    &time_range::CLASS,
    &timer_test::CLASS,
    &truncate::CLASS,
    &resize::CLASS,
    &unstrip::CLASS,
    &upstream_notifier::CLASS,
    &unstrip::FLOW,
    &timestamp_accum::CLASS,
    &timestamp_accum::MP,
    &alignment_info::DEVIRTUALIZE,
    &alignment_info::FLOW,
    &alignment_info::FIELD,
    &alignment_info::SUMMARY,
    &bigint_test::CLASS,
    &conf_parse_test::CLASS,
    &crypto_test::CLASS,
    &error_test::CLASS,
    &function_test::CLASS,
    &notifier_test::CLASS,
    &packet_test::CLASS,
    &sort_test::CLASS,
    &self_test::CLASSES[0],
    &self_test::CLASSES[1],
    &self_test::CLASSES[2],
    &self_test::CLASSES[3],
    &self_test::CLASSES[4],
    &self_test::CLASSES[5],
    &self_test::CLASSES[6],
    &self_test::CLASSES[7],
    &self_test::CLASSES[8],
    &self_test::CLASSES[9],
    &self_test::CLASSES[10],
    &null::COPIES[0],
    &null::COPIES[1],
    &null::COPIES[2],
    &null::COPIES[3],
    &null::COPIES[4],
    &null::COPIES[5],
    &null::COPIES[6],
    &null::COPIES[7],
    &clipboard::CLASS,
    &error::CLASS,
    &random_bit_errors::CLASS,
    &store_timestamp::CLASS,
    &time_filter::CLASS,
    &ensure_dpdk_buffer::CLASS,
    &ensure_dpdk_buffer::NETMAP,
    &ensure_dpdk_buffer::HEADROOM,
    &alignment_info::DPDK,
    &alignment_info::NETMAP,
    &clock::CLASS,
    &clock::JIFFIE,
    &clock::LINUX,
    &clock::DEVICE,
    &clock::RADIO,
    &move_data::CLASS,
    &paint2::CLASS,
    &search::CLASS,
    &store_anno::CLASS,
    &truncate_fcs::CLASS,
    &unstrip_anno::CLASS,
];

/// What becomes of a packet that does not pass: it leaves at output 1, if there is one.
#[inline]
pub(crate) fn reject(second_output: bool, reason: &'static str) -> Verdict {
    if second_output { Verdict::Output(1) } else { Verdict::Drop(reason) }
}
