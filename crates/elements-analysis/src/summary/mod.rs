//! Summaries of packets as lines of text or records of bytes, a value for each of the fields that the user chooses.
//!
//! [`fields`] is the table of fields. Written, a field's value is taken from a [`view::View`] of the packet and printed in its
//! form; read, it is parsed and put into the packet that a [`maker::Maker`] builds.

mod date;
mod fields;
mod file_pattern;
mod flow_dump;
mod form;
mod from_ip_summary_dump;
mod from_min_dump;
mod from_net_flow_summary_dump;
mod from_tcpdump;
mod maker;
mod min_dump;
mod options;
mod reader;
mod record_source;
mod tcpdump;
mod text_lines;
mod to_ip_flow_dumps;
mod to_ip_summary_dump;
mod to_min_dump;
mod version;
mod view;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[
    &from_ip_summary_dump::CLASS,
    &from_min_dump::CLASS,
    &from_net_flow_summary_dump::CLASS,
    &from_tcpdump::CLASS,
    &to_ip_flow_dumps::CLASS,
    &to_ip_summary_dump::CLASS,
    &to_min_dump::CLASS,
];
