//! Generates TCP packets from the output of the tool cap about a transfer.
//!
//! ```click
//! FromCapDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Makes a packet from each line `SYN`, `DAT` or `ACK` of a file written by Mark Allman's cap, which measures the
//! capacity of paths:
//!
//! ```text
//! SND 0
//! SYN > 1046102982.856142 0 0 40 0
//! SYN < 1046102982.931832 0 0 40 0
//! DAT > 1046102982.931941 1 1 1500 1460
//! ACK < 1046102983.156387 1 1 40 0
//! ```
//!
//! After the direction and the time come the packet number, the segment number, the lengths of packet and payload,
//! and notes: `FIN`, `SACK:3-4:6-6`, `DSACK:3`, and others, which are ignored. A line `RCV` says that the trace was
//! recorded at the receiver, `SND` at the sender. Segments not seen are assumed to be as long as the previous one.
//! Packets have an IP and a TCP header with the flow, sequence and acknowledgement numbers, flags and SACK options;
//! everything else is zero. The length of the payload is stored in the extra-length annotation.
//!
//! Packets carry their time, an aggregate annotation, packet and sequence number annotations (the packet number and
//! the segment number), and as paint 1 if they were received on the trace's side, otherwise 0.
//!
//! FILENAME can be `-` for standard input. Files may be compressed with gzip, bzip2 or xz.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether to emit packets.
//! - `CHECKSUM` (boolean, default false): whether packets have correct checksums, and therefore all of their bytes.
//! - `SAMPLE` (number, default 1): the probability with which a packet is emitted.
//! - `FLOWID` (`SRC SPORT DST DPORT`, default `1.0.0.1 1 2.0.0.2 2`): the flow.
//! - `AGGREGATE` (integer, default 1): the aggregate annotation.
//! - `ZERO` (boolean): accepted; data missing from the lines is always zero.
//!
//! # Handlers
//! - `active` (read, write): the argument. `stop` (write, button): deactivates the element and stops the driver.
//! - `count` (read): packets emitted.
//! - `filename`, `filesize`, `filepos`, `sampling_prob`, `encap` (read): as for FromIPSummaryDump.
//!
//! # Example
//! ```click
//! FromCapDump(transfer.cap, STOP true) -> ToIPSummaryDump(-, FIELDS timestamp direction tcp_seq tcp_ack)
//! ```
//!
//! # See also
//! FromIPSummaryDump, FromTcpdump, AggregatePacketCounter

use super::cap::Cap;
use super::maker::FlowId;
use super::record_source::RecordSource;
use crate::capture::encap::Encap;
use device::capture::LinkType;
use router::{Activity, Class, Config, ConfigError, Element, FileName, Raw, Residency};

/// The class.
pub(crate) const CLASS: Class = Class::new("FromCapDump", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("from_cap_dump.rs"));

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut stop, mut active) = (FileName::default(), false, true);
    let (mut zero, mut checksum, mut sample, mut aggregate) = (true, false, 1.0f64, 1u32);
    let mut flow = Raw("1.0.0.1 1 2.0.0.2 2".to_owned());
    config
        .args()
        .required("FILENAME", &mut filename)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("ZERO", &mut zero)
        .keyword("CHECKSUM", &mut checksum)
        .keyword("SAMPLE", &mut sample)
        .keyword("FLOWID", &mut flow)
        .keyword("AGGREGATE", &mut aggregate)
        .finish()?;
    let words: Vec<&str> = flow.0.split_whitespace().collect();
    let flow = words.first_chunk().filter(|_| words.len() <= 5).and_then(|words| FlowId::parse(*words));
    config.shared(|| Ok(Encap::known(LinkType::RawIp)))?;
    let shown = if filename.0 == "-" { "<stdin>" } else { &filename.0 };
    let cap = Cap::new(shown, flow.ok_or("FLOWID: bad flow")?, aggregate, checksum);
    let mut e = RecordSource::new(config, &filename.0, Box::new(cap));
    (e.stop, e.active) = (stop, active);
    e.set_sample(config, sample);
    Ok(Box::new(e))
}
