//! Writes a summary of each flow's packets to a separate file.
//!
//! ```click
//! ToIPFlowDumps(OUTPUT_PATTERN [, KEYWORDS])
//! ```
//!
//! Identifies flows by their packets' aggregate annotations, so it is usually placed after AggregateIPFlows. A flow's
//! file is in the format of ToIPSummaryDump: lines about the flow as a whole (`!flowid`, `!aggregate`, the first
//! sequence numbers, the first time), then one line for each packet, with times and sequence numbers relative to
//! these. ICMP errors, which have a paint annotation of 2 or 3, appear as comments. Missing directories are created.
//! Packets without an aggregate, and those that are neither TCP nor UDP, are not written. With an output, packets
//! pass through.
//!
//! In OUTPUT_PATTERN, these are replaced by values of the flow:
//!
//! - `%n`, `%x`, `%X`: the aggregate, decimal or hexadecimal; `%.0n` to `%.3n` one of its bytes, `%.4n` and `%.5n`
//!   one of its halves
//! - `%s`, `%d`: source and destination address of the first packet; `%.0s` to `%.3s` one of its bytes
//! - `%S`, `%D`: its ports; `%p`: `T` for TCP, `U` for UDP; `%%`: a per cent sign
//!
//! A number before the dot or letter is the minimum width: `%06n` pads with zeros, `%6n` with underscores.
//!
//! Ports: 1 input, at most 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `OUTPUT_PATTERN` (file name, default `-`, standard output): the pattern for file names. `FILEPATTERN` is another
//!   name.
//! - `NOTIFIER` (element): accepted; in Click files are completed when this element reports that their flows have
//!   ended.
//! - `ABSOLUTE_TIME`, `ABSOLUTE_SEQ` (booleans, default false): whether to write absolute times and sequence numbers.
//! - `BINARY` (boolean, default false): whether to write binary records.
//! - `GZIP` (boolean, default false): whether to compress completed files with gzip(1).
//! - `TCP_OPT` (boolean, default false): whether to write MSS, window scaling and selective acknowledgements.
//!   `ALL_TCP_OPT`: also timestamps.
//! - `TCP_WINDOW`, `IP_ID` (booleans, default false): whether to write these header fields.
//! - `MINCOUNT` (integer, default 0): flows with fewer packets get no file.
//! - `CAPACITY` (integer, default 1000000): the maximum number of flows; packets of any more are not written. Click
//!   has no limit. Beside what it knows of flows the element keeps at most 64 MiB that are not in files yet.
//!
//! When the configuration is replaced while the router runs, an element with the same name, pattern and format goes
//! on with the files.
//!
//! # Handlers
//! - `clear` (write): completes all files, and forgets the flows.
//!
//! # Differences from Click
//! `payload_len` of UDP packets does not include the IP header, and `tcp_window` is among the names in the `!data`
//! line.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true) -> AggregateIPFlows -> ToIPFlowDumps(/tmp/flow%03n)
//! ```
//!
//! # See also
//! ToIPSummaryDump, FromIPSummaryDump, AggregateIPFlows

use super::file_pattern::{self, Named};
use super::flow_dump::{self, Contents, FlowDump, TcpOptions};
use elements_shared::pulling::Intake;
use packet::{Anno, Batch, Packet};
use router::{
    Activity, Class, Config, ConfigError, Cx, Element, ElementName, FileName, Handlers, Pull, Residency,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::process::{Child, Command, ExitStatus};

/// The class.
pub(crate) const CLASS: Class = Class::new("ToIPFlowDumps", create)
    .ports("1/0-1")
    .residency(Residency::Exclusive)
    .activity(Activity::IfPullInput)
    .absorbs("packets, without an output")
    .keeps("flows", "CAPACITY", 1_000_000, 400)
    .doc(router::manual!("to_ip_flow_dumps.rs"));

/// Packets asked for at a time.
const BURST: usize = 32;
/// Bytes that wait in all flows together before everything is written.
const PENDING_MAX: usize = 64 << 20;
/// Files that one gzip gets, at least, unless it is the last one.
const FILES_PER_GZIP: usize = 10;
/// And at most: command lines cannot be of any length.
const FILES_PER_GZIP_MAX: usize = 1000;

/// What goes to a new configuration.
struct Handover {
    pattern: String,
    contents: Contents,
    flows: BTreeMap<u32, FlowDump>,
    pending: usize,
    seen: [u64; 2],
}

struct ToIpFlowDumps {
    pattern: String,
    contents: Contents,
    gzip: Option<Gzip>,
    least_packets: u64,
    capacity: usize,
    flows: BTreeMap<u32, FlowDump>,
    pending: usize,
    /// Packets of flows, and others.
    seen: [u64; 2],
    intake: Intake,
}

/// Compresses files, by another process.
#[derive(Default)]
struct Gzip {
    files: Vec<String>,
    child: Option<Child>,
}

impl Gzip {
    /// Begins to compress what waits, if that is enough for a process and no other one is busy.
    fn work(&mut self) -> Result<(), String> {
        if let Some(child) = &mut self.child {
            let Some(status) = child.try_wait().map_err(explain)? else { return Ok(()) };
            self.child = None;
            check(status)?;
        }
        if self.files.len() >= FILES_PER_GZIP { self.spawn() } else { Ok(()) }
    }

    /// Compresses everything that waits.
    fn finish(&mut self) -> Result<(), String> {
        loop {
            if let Some(mut child) = self.child.take() {
                check(child.wait().map_err(explain)?)?;
            }
            if self.files.is_empty() {
                return Ok(());
            }
            self.spawn()?;
        }
    }

    fn spawn(&mut self) -> Result<(), String> {
        let count = self.files.len().min(FILES_PER_GZIP_MAX);
        let child = Command::new("gzip").arg("-f").arg("--").args(self.files.drain(..count)).spawn();
        self.child = Some(child.map_err(explain)?);
        Ok(())
    }
}

fn explain(error: std::io::Error) -> String {
    format!("gzip: {}", device::plain(&error))
}

fn check(status: ExitStatus) -> Result<(), String> {
    if status.success() { Ok(()) } else { Err(format!("gzip failed: {status}")) }
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let (mut file_pattern, mut output_pattern) = (None::<FileName>, None::<FileName>);
    let mut notifier = None::<ElementName>;
    let (mut absolute_time, mut absolute_seq, mut binary, mut gzip) = (false, false, false, false);
    let (mut all_tcp_opt, mut tcp_opt, mut tcp_window, mut ip_id) = (false, false, false, false);
    let (mut least_packets, mut capacity) = (0u32, 1_000_000usize);
    config
        .args()
        .positional("FILEPATTERN", &mut file_pattern)
        .keyword("OUTPUT_PATTERN", &mut output_pattern)
        .keyword("NOTIFIER", &mut notifier)
        .keyword("ABSOLUTE_TIME", &mut absolute_time)
        .keyword("ABSOLUTE_SEQ", &mut absolute_seq)
        .keyword("BINARY", &mut binary)
        .keyword("ALL_TCP_OPT", &mut all_tcp_opt)
        .keyword("TCP_OPT", &mut tcp_opt)
        .keyword("TCP_WINDOW", &mut tcp_window)
        .keyword("GZIP", &mut gzip)
        .keyword("IP_ID", &mut ip_id)
        .keyword("MINCOUNT", &mut least_packets)
        .keyword("CAPACITY", &mut capacity)
        .finish()?;
    let pattern = output_pattern.or(file_pattern).map_or_else(|| "-".to_owned(), |name| name.0);
    if !pattern.contains('%') {
        config.warn("OUTPUT_PATTERN has no % escapes, so output files will get overwritten");
    }
    let options = match (all_tcp_opt, tcp_opt) {
        (true, _) => TcpOptions::All,
        (false, true) => TcpOptions::Some,
        (false, false) => TcpOptions::None,
    };
    Ok(Box::new(ToIpFlowDumps {
        pattern,
        contents: Contents { absolute_time, absolute_seq, binary, ip_id, tcp_window, options },
        gzip: gzip.then(Gzip::default),
        least_packets: least_packets.into(),
        capacity,
        flows: BTreeMap::new(),
        pending: 0,
        seen: [0; 2],
        intake: Intake::of(config),
    }))
}

impl ToIpFlowDumps {
    /// The flow that a packet belongs to, begun if it is new.
    fn flow(&mut self, cx: &Cx<'_>, packet: &Packet) -> Option<&mut FlowDump> {
        let aggregate = packet.anno(Anno::AGGREGATE) as u32;
        if aggregate == 0 || (self.flows.len() >= self.capacity && !self.flows.contains_key(&aggregate)) {
            return None;
        }
        if !self.flows.contains_key(&aggregate) {
            let ends = flow_dump::ends(packet)?;
            let flow_dump::Ends { src, dst, ports, tcp } = ends;
            let named = Named { aggregate, src, dst, ports, tcp };
            let name = file_pattern::expand(&self.pattern, &named).unwrap_or_else(|error| {
                complain(cx, &error);
                self.pattern.clone()
            });
            self.flows.insert(aggregate, FlowDump::new(packet, ends, aggregate, name, self.contents));
        }
        self.flows.get_mut(&aggregate)
    }

    fn write(&mut self, cx: &Cx<'_>, packet: &Packet) {
        let Some(flow) = self.flow(cx, packet) else { return self.seen[1] += 1 };
        let before = flow.pending();
        if let Err(error) = flow.add(packet) {
            complain(cx, &error);
        }
        let after = flow.pending();
        self.seen[0] += 1;
        self.pending = self.pending + after - before;
        if self.pending > PENDING_MAX {
            let written = self.flows.values_mut().map(FlowDump::write);
            written.filter_map(Result::err).for_each(|error| complain(cx, &error));
            self.pending = 0;
        }
    }

    /// Completes all files.
    fn clear(&mut self, cx: &Cx<'_>) {
        for (_, flow) in std::mem::take(&mut self.flows) {
            if let Err(error) = self.end(flow) {
                complain(cx, &error);
            }
        }
        self.pending = 0;
    }

    fn end(&mut self, mut flow: FlowDump) -> Result<(), String> {
        if flow.packets < self.least_packets {
            let unwanted = flow.begun && flow.filename != "-";
            let removed = if unwanted { std::fs::remove_file(&flow.filename) } else { Ok(()) };
            return removed.map_err(|error| format!("{}: {}", flow.filename, device::plain(&error)));
        }
        flow.write()?;
        let Some(gzip) = self.gzip.as_mut().filter(|_| flow.filename != "-") else { return Ok(()) };
        gzip.files.push(flow.filename);
        gzip.work().inspect_err(|_| self.gzip = None)
    }
}

#[cold]
fn complain(cx: &Cx<'_>, error: &str) {
    cx.error(format_args!("{} :: ToIPFlowDumps: {error}", cx.name()));
}

impl Element for ToIpFlowDumps {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.intake.begin(cx);
        Ok(())
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        batch.iter().for_each(|packet| self.write(cx, packet));
        self.intake.pushed(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, BURST);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        batch.iter().for_each(|packet| self.write(cx, packet));
        self.intake.pulled(cx, batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        self.clear(cx);
        if self.seen[1] > 0 && self.seen[0] == 0 {
            complain(cx, "warning: saw no packets with aggregate annotations");
        }
        if let Some(Err(error)) = self.gzip.as_mut().map(|gzip| gzip.finish()) {
            complain(cx, &error);
        }
    }

    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        Some(Box::new(Handover {
            pattern: self.pattern.clone(),
            contents: self.contents,
            flows: std::mem::take(&mut self.flows),
            pending: std::mem::take(&mut self.pending),
            seen: std::mem::take(&mut self.seen),
        }))
    }

    /// Flows go on in their files, unless files are called or written otherwise now: then those that there are get complete.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(state) = state.downcast::<Handover>() else { return };
        let Handover { pattern, contents, mut flows, pending, seen } = *state;
        self.seen = [self.seen[0] + seen[0], self.seen[1] + seen[1]];
        if (&pattern, contents) == (&self.pattern, self.contents) {
            let beyond = flows.keys().nth(self.capacity).copied();
            let lost = beyond.map(|from| flows.split_off(&from)).unwrap_or_default();
            (self.flows, self.pending) = (flows, pending);
            flows = lost;
        }
        for error in flows.into_values().filter_map(|flow| self.end(flow).err()) {
            complain(cx, &error);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.write("clear", |e: &mut ToIpFlowDumps, cx, _| {
            e.clear(cx);
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use std::path::Path;

    const PACKETS: &str = "!data ts ip_src sport ip_dst dport ip_proto tcp_flags tcp_seq tcp_ack payload_len tcp_opt ip_id tcp_window
1.5 1.0.0.1 10 2.0.0.2 20 T S 1000 0 0 mss1460;sackok 7 100
1.6 2.0.0.2 20 1.0.0.1 10 T SA 5000 1001 0 mss1400 8 200
2 1.0.0.1 11 2.0.0.2 53 U - - - 30 . 9 -
2.5 1.0.0.1 10 2.0.0.2 20 T PA 1001 5001 5 ts1:2;sack5003-5005 10 300
";

    /// Runs packets through an element, with a file for each flow in `folder`.
    fn dump(folder: &Path, keywords: &str) {
        let input = folder.join("in");
        std::fs::write(&input, PACKETS.trim_start()).unwrap();
        let (input, folder) = (input.to_str().unwrap(), folder.to_str().unwrap());
        let mut router = build(
            &format!(
                "FromIPSummaryDump({input}, STOP true) -> AggregateIPFlows
                 -> ToIPFlowDumps({folder}/d/%02n%p, {keywords})"
            ),
            1,
            32,
        )
        .unwrap_or_else(|errors| panic!("{errors}"));
        router.run();
        router.finish();
    }

    fn read(folder: &Path, name: &str) -> String {
        std::fs::read_to_string(folder.join("d").join(name)).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn files_of_flows() {
        let folder = tempfile::tempdir().unwrap();
        dump(folder.path(), "TCP_OPT true");
        assert_eq!(
            read(folder.path(), "01T"),
            "!IPSummaryDump 1.3\n!flowid 1.0.0.1 10 2.0.0.2 20 T\n!aggregate 1\n\
             !data ntimestamp direction tcp_flags tcp_seq payload_len tcp_ack tcp_ntopt\n\
             !firstseq > 1000\n!firstseq < 5000\n!firsttime 1.499999999\n\
             0.000000001 > S 0 0 0 mss1460;sackok\n0.100000001 < SA 0 0 1 mss1400\n\
             1.000000001 > PA 1 5 1 sack3-5\n"
        );
        assert_eq!(
            read(folder.path(), "02U"),
            "!IPSummaryDump 1.3\n!flowid 1.0.0.1 11 2.0.0.2 53 U\n!aggregate 2\n\
             !data ntimestamp direction payload_len\n!firsttime 1.999999999\n0.000000001 > 30\n"
        );
    }

    #[test]
    fn keywords_choose_the_fields() {
        let folder = tempfile::tempdir().unwrap();
        dump(
            folder.path(),
            "ABSOLUTE_TIME true, ABSOLUTE_SEQ true, IP_ID true, TCP_WINDOW true, ALL_TCP_OPT true, MINCOUNT 2",
        );
        let text = read(folder.path(), "01T");
        let (head, last) =
            (text.lines().nth(3).unwrap_or_default(), text.lines().next_back().unwrap_or_default());
        assert_eq!(
            head,
            "!data ntimestamp direction ip_id tcp_flags tcp_seq payload_len tcp_ack tcp_window tcp_opt"
        );
        assert_eq!(last, "2.500000 > 10 PA 1001 5 5001 300 ts1:2;sack5003-5005");
        assert!(!folder.path().join("d/02U").exists(), "a flow of one packet");
    }

    /// What is written in binary is read as the same packets.
    #[test]
    fn binary_and_back() {
        let folder = tempfile::tempdir().unwrap();
        dump(folder.path(), "BINARY true, TCP_OPT true");
        let (path, out) = (folder.path().join("d/01T"), folder.path().join("out"));
        let (path, out) = (path.to_str().unwrap(), out.to_str().unwrap());
        let mut router = build(
            &format!(
                "FromIPSummaryDump({path}, STOP true) -> ToIPSummaryDump({out}, HEADER false,
                     FIELDS ts direction ip_src dport tcp_flags tcp_seq tcp_ack payload_len tcp_opt)"
            ),
            1,
            1,
        )
        .unwrap_or_else(|errors| panic!("{errors}"));
        router.run();
        router.finish();
        let text = std::fs::read_to_string(out).unwrap();
        let last = text.lines().next_back().unwrap_or_default();
        assert_eq!((text.lines().count(), last), (3, "1.000000001 > 1.0.0.1 20 PA 1 1 5 sack3-5"));
    }

    #[test]
    fn gzip_compresses_each_dump() {
        let folder = tempfile::tempdir().unwrap();
        dump(folder.path(), "GZIP true");
        assert!(folder.path().join("d/01T.gz").exists() && folder.path().join("d/02U.gz").exists());
        assert!(!folder.path().join("d/01T").exists());
    }

    #[test]
    fn bad_arguments_are_refused() {
        assert!(errors("Idle -> ToIPFlowDumps(x%n, MINCOUNT -1)").contains("MINCOUNT"));
        assert!(errors("Idle -> ToIPFlowDumps(x%n, NOTIFIER y)").contains("does not name an element"));
    }
}
