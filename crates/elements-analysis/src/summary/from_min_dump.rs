//! Generates packets from addresses, ports, lengths and protocols in a file.
//!
//! ```click
//! FromMinDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Reads a file written by ToMinDump, and makes an IPv4 packet from each record: with its length and TTL 100, with
//! the ports in a TCP or UDP header if it has one of these protocols (TCP with sequence number 1 and a window of
//! 65535), followed by zeros. It is FastClick's element, which leaves checksums to the network card; here they are
//! correct.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file, `-` for standard input.
//! - `STOP` (boolean, default true): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether to generate packets.
//! - `BURST` (integer, default 32): packets pushed at a time.
//! - `LIMIT` (integer, default -1): packets for each pass through the file; negative: all.
//! - `TIMES` (integer, default 1): how often to read the file; negative: forever.
//! - `LOOP_CALL` (handler to write): called each time reading starts over.
//! - `VERBOSE`, `DPDK` (boolean): FastClick's; accepted.
//!
//! # Handlers
//! - `active` (read, write): whether to generate packets. `count` (read): packets made.
//! - `stop` (write, button): deactivates the element and stops the driver.
//! - `filename`, `filesize`, `filepos`, `encap` (read): as for FromIPSummaryDump.
//!
//! # Example
//! ```click
//! FromMinDump(packets.mindump, TIMES 10) -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Discard
//! ```
//!
//! # See also
//! ToMinDump, FromIPSummaryDump

use super::maker::{Defaults, Maker};
use super::min_dump::{DATA_LINE, LINE_MAX, LINES_MAX, RECORD_LEN};
use super::record_source::{RecordSource, Records};
use device::capture::LinkType;
use elements_shared::encap::Encap;
use router::{Activity, CallArg, Class, Config, ConfigError, Cx, Element, FileName, Residency};
use std::io::{BufRead, Read};
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("FromMinDump", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("from_min_dump.rs"));

/// The window and the rest of a TCP header from its sequence number on.
const TCP_REST: [u8; 12] = [0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0, 0xff, 0xff];

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut stop, mut active, mut burst) = (FileName::default(), true, true, 32usize);
    let (mut limit, mut times, mut verbose, mut dpdk) = (-1i64, 1i32, 0i32, false);
    let mut loop_call = None::<CallArg>;
    config
        .args()
        .required("FILENAME", &mut filename)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("BURST", &mut burst)
        .keyword("VERBOSE", &mut verbose)
        .keyword("LIMIT", &mut limit)
        .keyword("TIMES", &mut times)
        .keyword("LOOP_CALL", &mut loop_call)
        .keyword("DPDK", &mut dpdk)
        .finish()?;
    config.shared(|| Ok(Encap::known(LinkType::RawIp)))?;
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let mut e = RecordSource::new(config, &filename.0, Box::new(MinRecords { bytes: None, limit, left: 0 }));
    (e.stop, e.active, e.burst) = (stop, active, burst.max(1));
    e.again = u32::try_from(times).ok().map(|times| times.saturating_sub(1));
    e.loop_call = loop_call.map(|call| call.0);
    Ok(Box::new(e))
}

/// The records of a file.
struct MinRecords {
    bytes: Option<Box<dyn BufRead + Send>>,
    limit: u64,
    /// Up to the limit.
    left: u64,
}

/// Goes to where the records begin; false if there is no such place.
fn skip_head(bytes: &mut dyn BufRead) -> bool {
    let mut line = Vec::new();
    (0..LINES_MAX).any(|_| {
        line.clear();
        let _ = Read::take(&mut *bytes, LINE_MAX).read_until(b'\n', &mut line);
        line.strip_suffix(b"\n") == Some(DATA_LINE)
    })
}

impl Records for MinRecords {
    fn open(&mut self, mut bytes: Box<dyn BufRead + Send>) {
        self.left = self.limit;
        self.bytes = skip_head(&mut *bytes).then_some(bytes);
    }

    fn next(&mut self, _cx: &Cx<'_>) -> Option<Maker> {
        let mut record = [0; RECORD_LEN];
        if self.left == 0 || self.bytes.as_mut()?.read_exact(&mut record).is_err() {
            return None;
        }
        self.left -= 1;
        Some(maker(&record))
    }
}

/// The packet of a record.
fn maker(record: &[u8; RECORD_LEN]) -> Maker {
    let protocol = record[14];
    let mut maker = Maker::new(Defaults { protocol, flow: None, aggregate: None, checksum: true });
    maker.set_ip(12, &record[..8]);
    if matches!(protocol, ip_proto::TCP | ip_proto::UDP) {
        maker.set_transport(protocol, 0, &record[8..12]);
    }
    if protocol == ip_proto::TCP {
        maker.set_transport(protocol, 4, &TCP_REST);
    }
    maker.want_ip(u16::from_ne_bytes([record[12], record[13]]).into());
    maker.finish();
    maker
}
