//! Accounting: what passed, by flow, told to a collector.
//!
//! [`sight`] reads a packet, [`record`] is what is kept of a flow, [`mod@estimate`] what is estimated of TCP;
//! [`meter`] has the records of a worker. [`messages`] puts reports of flows
//! into messages, as [`mod@format`] says: IPFIX or NetFlow version 9. [`events`] are what rewriters and firewalls tell of flows.

#[cfg(test)]
mod decoder;
mod discards;
mod estimate;
mod events;
mod flow_exporter;
mod format;
mod messages;
mod meter;
mod numbers;
mod record;
mod sflow_agent;
mod sight;
mod talkers;

use router::Class;

/// The classes of this family.
pub const CLASSES: &[&Class] = &[&flow_exporter::CLASS, &sflow_agent::CLASS];
