//! Generates packets from a text file of NetFlow records.
//!
//! ```click
//! FromNetFlowSummaryDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Makes an IP packet from each line of a file, which has 15 or more fields separated by bars (`|`). Counted from 0
//! they are: source and destination address (0, 1), numbers of the input and output interfaces of the flow (3, 4),
//! packets and bytes (5, 6), the times of its first and last packet in seconds (7, 8), source and destination port
//! (9, 10), TCP flags (12), protocol (13) and type of service (14); other fields are ignored. Everything not given is
//! zero. A line with fewer than ten readable fields is reported and skipped. Empty lines and those that begin with
//! `!` or `#` are skipped silently. A packet stands for its whole flow, by its extra-packets and extra-length
//! annotations; its timestamp is that of the flow's last packet, its first-timestamp annotation that of the first.
//! Only TCP and UDP packets have a header after the IP header. FILENAME can be `-` for standard input. Files may be
//! compressed with gzip, bzip2 or xz.
//!
//! Ports: no inputs, 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `ACTIVE` (boolean, default true): whether to emit packets.
//! - `MULTIPACKET` (boolean, default false): whether a flow produces as many packets as it had, with their times
//!   spread evenly.
//! - `TIMING` (boolean, default false): whether to emit packets at the speed of their timestamps, instead of
//!   immediately.
//! - `LINK` (`input`, `output` or `both`, default `input`): the interface whose number is stored in the paint
//!   annotation, 255 at most; `both` puts the input in the upper four bits and the output in the lower four, 15 at
//!   most each.
//! - `ZERO` (boolean): accepted; data missing from the lines is always zero.
//!
//! # Handlers
//! - `active` (read, write): the argument. `stop` (write, button): deactivates the element and stops the driver.
//! - `count` (read): packets emitted.
//! - `filename`, `sampling_prob`, `encap` (read): the file, 1, and `IP`.
//! - `filesize`, `filepos` (read): the file's size (`-` if unknown or compressed), and the current position.
//!
//! # Example
//! ```click
//! FromNetFlowSummaryDump(flows.txt, STOP true) -> ToIPSummaryDump(-, FIELDS timestamp ip_src ip_dst ip_proto count)
//! ```
//!
//! # See also
//! FromIPSummaryDump, FromDump

use super::form::parse_time;
use super::maker::{Defaults, Maker};
use super::record_source::{RecordSource, Records};
use device::capture::LinkType;
use elements_shared::encap::Encap;
use router::{Activity, Class, Config, ConfigError, Cx, Element, FileName, FromArg, Level, Residency, Scope};
use std::io::{BufRead, Read};
use std::net::Ipv4Addr;
use wire::ip_proto;

/// The class.
pub(crate) const CLASS: Class = Class::new("FromNetFlowSummaryDump", create)
    .ports("0/1")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .makes("packets")
    .doc(router::manual!("from_net_flow_summary_dump.rs"));

/// The longest line.
const LINE_MAX: u64 = 1 << 20;
/// Fields of a line, at least.
const FIELDS: usize = 15;
/// Those of them that can be read, at least.
const FIELDS_KNOWN: usize = 10;

/// The interface that the paint annotation names.
#[derive(Clone, Copy, Debug, Default)]
enum Link {
    #[default]
    Input,
    Output,
    Both,
}

impl FromArg for Link {
    fn from_arg(text: &str, _: Scope<'_>) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "input" => Ok(Link::Input),
            "output" => Ok(Link::Output),
            "both" => Ok(Link::Both),
            _ => Err("'LINK' should be 'input', 'output', or 'both'".to_owned()),
        }
    }
}

impl Link {
    fn paint(self, input: Option<u64>, output: Option<u64>) -> Option<u8> {
        Some(match self {
            Link::Input => input?.min(255) as u8,
            Link::Output => output?.min(255) as u8,
            Link::Both => ((input?.min(15) << 4) | output?.min(15)) as u8,
        })
    }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut filename, mut stop, mut active) = (FileName::default(), false, true);
    let (mut zero, mut multipacket, mut timing, mut link) = (true, false, false, String::new());
    config
        .args()
        .required("FILENAME", &mut filename)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("ZERO", &mut zero)
        .keyword("MULTIPACKET", &mut multipacket)
        .keyword("LINK", &mut link)
        .keyword("TIMING", &mut timing)
        .finish()?;
    let link = if link.is_empty() { Link::default() } else { Link::from_arg(&link, config.scope())? };
    config.shared(|| Ok(Encap::known(LinkType::RawIp)))?;
    let name = if filename.0 == "-" { "<stdin>" } else { &filename.0 };
    let flows =
        Box::new(FlowLines { bytes: None, name: name.to_owned(), number: 0, link, complained: false });
    let mut e = RecordSource::new(config, &filename.0, flows);
    (e.stop, e.active, e.multipacket, e.timing) = (stop, active, multipacket, timing);
    Ok(Box::new(e))
}

/// The lines of a file.
struct FlowLines {
    bytes: Option<Box<dyn BufRead + Send>>,
    name: String,
    /// Lines read.
    number: u64,
    link: Link,
    complained: bool,
}

impl Records for FlowLines {
    fn open(&mut self, bytes: Box<dyn BufRead + Send>) {
        self.bytes = Some(bytes);
    }

    fn next(&mut self, cx: &Cx<'_>) -> Option<Maker> {
        let mut line = Vec::new();
        loop {
            line.clear();
            let got = Read::take(self.bytes.as_mut()?, LINE_MAX).read_until(b'\n', &mut line);
            if !got.is_ok_and(|got| got > 0) {
                self.bytes = None;
                return None;
            }
            self.number += 1;
            let text = String::from_utf8_lossy(&line);
            let text = text.trim();
            if text.is_empty() || text.starts_with(['!', '#']) {
                continue;
            }
            let made = maker(text, self.link);
            if made.is_some() {
                return made;
            }
            if !std::mem::replace(&mut self.complained, true) {
                cx.say(Level::Warning, format_args!("{}:{}: bad format", self.name, self.number));
            }
        }
    }
}

/// The packet of a line; `None` if it is not of the format.
fn maker(line: &str, link: Link) -> Option<Maker> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    if fields.len() < FIELDS {
        return None;
    }
    let number = |at: usize, most: u32| {
        router::parse_integer(fields[at])
            .filter(|value| (0..=most.into()).contains(value))
            .map(|value| value as u64)
    };
    let ends = [0, 1].map(|at| fields[at].parse::<Ipv4Addr>().ok());
    let times = [7, 8].map(|at| parse_time(fields[at]));
    let counts = [5, 6].map(|at| number(at, u32::MAX));
    let ports = [9, 10].map(|at| number(at, 0xffff));
    let bytes = [12, 13, 14].map(|at| number(at, 0xff));
    let paint = link.paint(number(3, u32::MAX), number(4, u32::MAX));
    let known = ends.iter().flatten().count()
        + times.iter().flatten().count()
        + [&counts[..], &ports, &bytes].concat().iter().flatten().count()
        + usize::from(paint.is_some());
    if known < FIELDS_KNOWN {
        return None;
    }
    let [flags, protocol, tos] = bytes.map(|byte| byte.unwrap_or(0) as u8);
    let mut maker = Maker::new(Defaults { protocol, flow: None, aggregate: None, checksum: false });
    maker.bare = true;
    maker.set_ip(1, &[tos]);
    maker.set_ip(8, &[0]);
    for (at, end) in [12, 16].into_iter().zip(ends) {
        maker.set_ip(at, &end.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
    }
    if matches!(protocol, ip_proto::TCP | ip_proto::UDP) {
        let ports = ports.map(|port| (port.unwrap_or(0) as u16).to_be_bytes());
        maker.set_transport(protocol, 0, ports.as_flattened());
    }
    if protocol == ip_proto::TCP {
        maker.set_tcp_flags(flags.into());
    }
    let [packets, bytes] = counts.map(Option::unwrap_or_default);
    maker.want_ip(bytes);
    let [first, last] = times.map(Option::unwrap_or_default);
    maker.notes.first_time_ns = first;
    maker.notes.time_ns = if last == 0 { first } else { last };
    maker.notes.extra_packets = packets.saturating_sub(1);
    maker.notes.paint = paint.unwrap_or(0);
    maker.finish();
    Some(maker)
}
