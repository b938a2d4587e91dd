//! Elements that inspect or mark any packet.

mod adjust_timestamp;
mod align;
mod alignment_info;
mod check_align;
mod check_average_length;
mod check_crc32;
mod check_length;
mod check_packet;
mod clipboard;
mod clock;
mod compare_packets;
mod counter;
mod error;
mod ip_print;
mod ip_text;
mod message;
mod move_data;
mod notifier_debug;
mod null;
pub(crate) mod pad;
pub(crate) mod paint;
mod paint2;
pub(crate) mod print;
mod pull_null;
mod push_null;
mod random_bit_errors;
mod resize;
mod search;
mod set_anno_byte;
pub(crate) mod set_crc32;
mod set_packet_type;
mod set_timestamp;
mod set_timestamp_delta;
mod store_anno;
mod store_data;
pub(crate) mod store_timestamp;
mod strip;
mod time_filter;
mod time_range;
mod timestamp_accum;
pub(crate) mod truncate;
mod truncate_fcs;
mod unstrip;
mod unstrip_anno;
mod upstream_notifier;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &adjust_timestamp::CLASS,
    &align::CLASS,
    &alignment_info::CLASS,
    &check_align::CLASS,
    &check_average_length::CLASS,
    &check_crc32::CLASS,
    &check_length::CLASS,
    &check_packet::CLASS,
    &clipboard::CLASS,
    &clock::CLASS,
    &compare_packets::CLASS,
    &counter::CLASS,
    &error::CLASS,
    &ip_print::CLASS,
    &message::CLASS,
    &move_data::CLASS,
    &notifier_debug::CLASS,
    &null::CLASS,
    &pad::CLASS,
    &paint2::CLASS,
    &paint::CLASS,
    &print::CLASS,
    &pull_null::CLASS,
    &push_null::CLASS,
    &random_bit_errors::CLASS,
    &resize::CLASS,
    &search::CLASS,
    &set_anno_byte::CLASS,
    &set_crc32::CLASS,
    &set_packet_type::CLASS,
    &set_timestamp::CLASS,
    &set_timestamp_delta::CLASS,
    &store_anno::CLASS,
    &store_data::CLASS,
    &store_timestamp::CLASS,
    &strip::CLASS,
    &time_filter::CLASS,
    &time_range::CLASS,
    &timestamp_accum::CLASS,
    &truncate::CLASS,
    &truncate_fcs::CLASS,
    &unstrip::CLASS,
    &unstrip_anno::CLASS,
    &upstream_notifier::CLASS,
];
