//! Makes TCP packets of what the tool cap tells about a transfer.
//!
//! ```click
//! FromCapDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Makes a packet of each line `SYN`, `DAT` or `ACK` of a file that Mark Allman's cap wrote, which measures the capacity of paths:
//!
//! ```text
//! SND 0
//! SYN > 1046102982.856142 0 0 40 0
//! SYN < 1046102982.931832 0 0 40 0
//! DAT > 1046102982.931941 1 1 1500 1460
//! ACK < 1046102983.156387 1 1 40 0
//! ```
//!
//! Behind the direction and the time stand the number of the packet, that of the segment, the lengths of packet and payload, and notes:
//! `FIN`, `SACK:3-4:6-6`, `DSACK:3`, and others that are passed over. A line `RCV` says that the trace was made at the receiver, `SND` at
//! the sender. Segments not seen are taken to be as long as the one before. Packets have an IP and a TCP header with the flow, sequence
//! numbers and acknowledgements, flags and SACK options; what the lines do not say is zero. The data is annotated as extra length.
//!
//! Packets carry their time, an aggregate annotation, packet and sequence number annotations (the packet's number and
//! the segment's), and as paint 1 for those that the trace's side receives, or 0.
//!
//! FILENAME can be `-` for standard input. Files may be compressed with gzip, bzip2 or xz.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether packets are emitted.
//! - `CHECKSUM` (boolean, default false): whether packets have correct checksums, and for that all of their bytes.
//! - `SAMPLE` (number, default 1): probability with which a packet is emitted.
//! - `FLOWID` (`SRC SPORT DST DPORT`, default `1.0.0.1 1 2.0.0.2 2`): the flow.
//! - `AGGREGATE` (integer, default 1): the aggregate annotation.
//! - `ZERO` (boolean): accepted; what the lines do not say is always zero.
//!
//! # Handlers
//! - `active` (read, write): the argument. `stop` (write, button): becomes inactive and stops the driver.
//! - `count` (read): packets emitted.
//! - `filename`, `filesize`, `filepos`, `sampling_prob`, `encap` (read): as of FromIPSummaryDump.
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
