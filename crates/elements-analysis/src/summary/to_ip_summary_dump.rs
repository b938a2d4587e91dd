//! Writes a summary of packets to a file.
//!
//! ```click
//! ToIPSummaryDump(FILENAME [, KEYWORDS])
//! ```
//!
//! Writes a line for each packet with the values of the fields listed in CONTENTS, and `-` for fields that the packet
//! does not have. FILENAME can be `-` for standard output. With an output, packets pass through; on a pull input
//! without an output, packets are pulled as fast as possible. The file is replaced when the first packet is written
//! or the router ends; standard output gets its first lines at the start, and records as soon as packets arrive.
//!
//! Fields (names in parentheses are synonyms):
//!
//! - time: `timestamp` (`ts`), `ntimestamp`, `ts_sec` (`sec`), `ts_usec` (`usec`), `ts_usec1`, `first_timestamp`,
//!   `first_ntimestamp`
//! - annotations: `count`, `link`, `paint`, `direction`, `aggregate`; `wire_len` is the length of the whole packet,
//!   `thread` the worker that writes
//! - Ethernet: `eth_src`, `eth_dst`, `eth_type`
//! - IP (the prefix may be left out): `ip_src`, `ip_dst`, `ip_tos`, `ip_dscp`, `ip_ecn`, `ip_ttl`, `ip_frag`,
//!   `ip_fragoff`, `ip_id`, `ip_sum`, `ip_proto`, `ip_hl`, `ip_len`, `ip_capture_len`, `ip_opt`
//! - ports: `sport`, `dport`
//! - TCP: `tcp_seq`, `tcp_ack`, `tcp_off`, `tcp_flags`, `tcp_window`, `tcp_urp`, `tcp_opt`, `tcp_ntopt` (options without
//!   timestamps), `tcp_sack`
//! - UDP: `udp_len`
//! - ICMP: `icmp_type`, `icmp_code`, `icmp_type_name`, `icmp_code_name`, `icmp_flowid`, `icmp_seq`, `icmp_nextmtu`
//! - data: `payload`, `payload_len`, `payload_md5` (22 characters), `payload_md5_hex`
//! - `none`: no value
//!
//! Ports: 1 input, at most 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `CONTENTS`, `FIELDS` (field names, default `timestamp ip_src`): the fields of each line. `DATA` is a deprecated name.
//! - `HEADER` (boolean, default true): whether to write lines that describe the file first.
//! - `VERBOSE` (boolean, default false): whether these include the host and the time, the latter also as a date in
//!   UTC.
//! - `BANNER` (string): text for a `!creator` line among them.
//! - `MULTIPACKET` (boolean, default false): whether to write several lines for a packet that stands for several.
//! - `BAD_PACKETS` (boolean, default false): whether to write a `!bad` line before a packet with damaged headers.
//! - `CAREFUL_TRUNC` (boolean, default true): whether a packet shorter than its IP header says counts as damaged.
//! - `EXTRA_LENGTH` (boolean, default true): whether lengths include the extra-length annotation.
//! - `BINARY` (boolean, default false): whether to write binary records.
//!
//! # Handlers
//! - `flush` (write, button): writes out buffered data.
//! - `count` (read): records written.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap, STOP true, FORCE_IP true)
//!     -> ToIPSummaryDump(-, CONTENTS timestamp ip_src sport ip_dst dport ip_proto)
//! ```
//!
//! # See also
//! FromIPSummaryDump, ToDump

use super::date;
use super::fields::{self, Field};
use super::form::Form;
use super::version::MINOR_VERSION;
use super::view::{Stamp, View, ViewOptions};
use device::files;
use elements_shared::label::write_time;
use elements_shared::pulling::Intake;
use elements_shared::writing::Output;
use packet::{Anno, Batch, Packet};
use router::{
    Activity, Answer, Class, Config, ConfigError, Cx, Element, FileName, Handlers, Pull, Raw, Residency,
    Step, metric,
};
use std::any::Any;
use std::fs::File;
use std::io::{self, Write};

/// The class.
pub(crate) const CLASS: Class = Class::new("ToIPSummaryDump", create)
    .ports("1/0-1")
    .residency(Residency::Exclusive)
    .activity(Activity::IfPullInput)
    .absorbs("packets, without an output")
    .doc(router::manual!("to_ip_summary_dump.rs"));

/// Packets asked for at a time.
const BURST: usize = 32;

struct ToIpSummaryDump {
    filename: String,
    fields: Vec<&'static Field>,
    options: ViewOptions,
    header: bool,
    verbose: bool,
    banner: String,
    multipacket: bool,
    bad_packets: bool,
    binary: bool,
    intake: Intake,
    /// Missing before the first packet and after a fault.
    output: Option<Output>,
    /// A pipe, opened for good, until something is written.
    pipe: Option<Output>,
    failed: bool,
    text: String,
    record: Vec<u8>,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut filename = FileName::default();
    let (mut contents, mut other, mut old) = (None::<Raw>, None::<Raw>, None::<Raw>);
    let mut options = ViewOptions { careful_trunc: true, extra_length: true };
    let (mut header, mut verbose, mut banner) = (true, false, String::new());
    let (mut multipacket, mut bad_packets, mut binary) = (false, false, false);
    config
        .args()
        .required("FILENAME", &mut filename)
        .keyword("FIELDS", &mut other)
        .keyword("CONTENTS", &mut contents)
        .keyword("DATA", &mut old)
        .keyword("VERBOSE", &mut verbose)
        .keyword("HEADER", &mut header)
        .keyword("BANNER", &mut banner)
        .keyword("MULTIPACKET", &mut multipacket)
        .keyword("BAD_PACKETS", &mut bad_packets)
        .keyword("CAREFUL_TRUNC", &mut options.careful_trunc)
        .keyword("EXTRA_LENGTH", &mut options.extra_length)
        .keyword("BINARY", &mut binary)
        .finish()?;
    if old.is_some() {
        config.warn("DATA: argument deprecated");
    }
    let words = old.or(contents).or(other).map_or_else(|| "timestamp ip_src".to_owned(), |words| words.0);
    Ok(Box::new(ToIpSummaryDump {
        filename: if filename.0 == "-" { "<stdout>".to_owned() } else { filename.0 },
        fields: find_fields(&words, binary)?,
        options,
        header,
        verbose,
        banner,
        multipacket,
        bad_packets,
        binary,
        intake: Intake::of(config),
        output: None,
        pipe: None,
        failed: false,
        text: String::new(),
        record: Vec::new(),
        count: 0,
    }))
}

fn find_fields(words: &str, binary: bool) -> Result<Vec<&'static Field>, ConfigError> {
    let (mut fields, mut messages) = (Vec::new(), Vec::new());
    for (name, field) in fields::find_all(words) {
        let Some(field) = field else {
            messages.push(format!("unknown content type '{name}'"));
            continue;
        };
        fields.push(field);
        if binary && !field.form.has_binary() {
            messages.push(format!("cannot use field {name} with BINARY"));
        }
    }
    if fields.is_empty() {
        messages.push("no contents specified".to_owned());
    }
    if messages.is_empty() { Ok(fields) } else { Err(ConfigError::from(messages)) }
}

impl ToIpSummaryDump {
    /// Opens the file at its first use.
    fn open(&mut self, cx: &Cx<'_>) {
        if self.output.is_some() || self.failed {
            return;
        }
        match self.begin(cx) {
            Ok(output) => self.output = Some(output),
            Err(error) => self.fail(cx, &error),
        }
    }

    /// Creates the file, and writes what stands at its head.
    fn begin(&mut self, cx: &Cx<'_>) -> io::Result<Output> {
        let path = if self.filename == "<stdout>" { "-" } else { &self.filename };
        let head = if self.header { self.head(cx.now_ns()) } else { String::new() };
        let mut output = match self.pipe.take() {
            Some(pipe) => pipe,
            None => Output::create(path)?,
        };
        output.write_all(head.as_bytes())?;
        Ok(output)
    }

    #[cold]
    fn fail(&mut self, cx: &Cx<'_>, error: &io::Error) {
        let error = device::plain(error);
        cx.error(format_args!("{} :: ToIPSummaryDump: {}: {error}", cx.name(), self.filename));
        self.failed = true;
        self.output = None;
    }

    /// The lines that describe the file.
    fn head(&self, now_ns: i64) -> String {
        let mut text = format!("!IPSummaryDump 1.{MINOR_VERSION}\n");
        if !self.banner.is_empty() {
            text += &format!("!creator {}\n", lang::conf::quote(&self.banner));
        }
        if self.verbose {
            let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
            text += &format!("!host {}\n!runtime ", host.trim());
            write_time(&mut text, now_ns);
            text += &format!(" ({})\n", date::show(now_ns));
        }
        let name = |field: &&Field| match field.name {
            "ntimestamp" if !self.binary => "timestamp",
            name => name,
        };
        let names: Vec<&str> = self.fields.iter().map(name).collect();
        text += &format!("!data {}\n", names.join(" "));
        if self.binary {
            text += "!binary\n";
        }
        text
    }

    /// Writes the records of a packet: several if it stands for several.
    fn write(&mut self, cx: &Cx<'_>, packet: &Packet) {
        let mut stamp = Stamp::of(packet, cx.worker());
        if !self.multipacket || stamp.count == 1 {
            return self.write_one(cx, packet, stamp);
        }
        let (count, len) = (stamp.count, packet.len() as u64);
        let extra = if self.options.extra_length { stamp.extra_length } else { 0 };
        let mut total = (len + extra).max(count.saturating_mul(len));
        let (first_ns, end_ns) = (packet.anno(Anno::FIRST_TIMESTAMP) as i64, stamp.time_ns);
        let steps = i64::try_from(count - 1).unwrap_or(i64::MAX);
        let step_ns = if first_ns == 0 { 0 } else { (end_ns - first_ns) / steps };
        if first_ns != 0 {
            stamp.time_ns = first_ns;
        }
        for left in (1..=count).rev() {
            let length = total / left;
            total -= length;
            stamp = Stamp { extra_length: length.saturating_sub(len), count: 1, ..stamp };
            if left == 1 {
                stamp.time_ns = end_ns;
            }
            self.write_one(cx, packet, stamp);
            stamp.time_ns += step_ns;
        }
    }

    fn write_batch(&mut self, cx: &Cx<'_>, batch: &Batch) {
        batch.iter().for_each(|packet| self.write(cx, packet));
        self.end_batch(cx);
    }

    /// Shows what is written to standard output.
    fn end_batch(&mut self, cx: &Cx<'_>) {
        if let Some(Err(error)) = self.output.as_mut().map(Output::end_batch) {
            self.fail(cx, &error);
        }
    }

    fn write_one(&mut self, cx: &Cx<'_>, packet: &Packet, stamp: Stamp) {
        self.open(cx);
        let mut view = View::new(packet, stamp, self.options);
        self.summarize(&mut view);
        let fault = view.fault.take().filter(|_| self.bad_packets).map(|fault| format!("!bad {fault}\n"));
        let Some(output) = &mut self.output else { return };
        let written =
            write_fault(output, fault.as_deref(), self.binary).and_then(|()| output.write_all(&self.record));
        match written {
            Ok(()) => self.count += 1,
            Err(error) => self.fail(cx, &error),
        }
    }

    /// Makes the record of a packet.
    fn summarize(&mut self, view: &mut View<'_>) {
        self.text.clear();
        self.record.clear();
        if self.binary {
            self.record.extend([0; 4]);
        }
        for (i, field) in self.fields.iter().enumerate() {
            let value = (field.extract)(view).map_err(|missing| view.miss(missing)).ok();
            if self.binary {
                field.form.write(&mut self.record, value.as_ref());
                continue;
            }
            if i > 0 {
                self.text.push(' ');
            }
            match &value {
                Some(value) => field.form.print(&mut self.text, value),
                None => Form::None.print(&mut self.text, &super::form::Value::Number(0)),
            }
        }
        if self.binary {
            let len = self.record.len() as u32;
            self.record[..4].copy_from_slice(&len.to_be_bytes());
        } else {
            self.text.push('\n');
            self.record.extend(self.text.as_bytes());
        }
    }

    fn flush(&mut self, cx: &Cx<'_>) {
        if let Some(Err(error)) = self.output.as_mut().map(|output| output.flush()) {
            self.fail(cx, &error);
        }
    }
}

/// Writes a line about a damaged packet. Among binary records a line is a record that says so and counts its own length.
fn write_fault(output: &mut dyn Write, line: Option<&str>, binary: bool) -> io::Result<()> {
    let Some(line) = line else { return Ok(()) };
    if binary {
        let marker = (line.len() as u32 + 4) | 1 << 31;
        output.write_all(&marker.to_be_bytes())?;
    }
    output.write_all(line.as_bytes())
}

impl Element for ToIpSummaryDump {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        if files::is_pipe(&self.filename) {
            // Opened once, since its reader ends when it is closed.
            match Output::create(&self.filename) {
                Ok(pipe) => self.pipe = Some(pipe),
                Err(error) => return Err(format!("{}: {}", self.filename, device::plain(&error)).into()),
            }
            cx.handlers().start(Box::new(())); // its head is not to wait for packets
        } else if self.filename == "<stdout>" {
            cx.handlers().start(Box::new(()));
        } else if let Err(error) =
            files::open_with(File::options().write(true).create(true).truncate(false), &self.filename)
        {
            return Err(format!("{}: {}", self.filename, device::plain(&error)).into());
        }
        self.intake.begin(cx);
        Ok(())
    }

    /// The router runs.
    fn resume(&mut self, cx: &mut Cx<'_>, _state: &mut Box<dyn Any + Send>, _answer: Answer) -> Step {
        self.open(cx);
        self.end_batch(cx);
        Step::Done(Ok(String::new()))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) {
        self.write_batch(cx, &batch);
        self.intake.pushed(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        cx.ask(0, BURST);
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, batch: Batch) -> Pull {
        self.write_batch(cx, &batch);
        self.intake.pulled(cx, batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if cx.has_run() {
            self.open(cx); // without packets it is still a summary
            self.flush(cx);
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("count", |e: &mut ToIpSummaryDump, _| e.count).measures(&metric::PACKETS);
        h.write("flush", |e: &mut ToIpSummaryDump, cx, _| {
            e.open(cx);
            e.flush(cx);
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::errors;
    use crate::testing::send;
    use elements_testing::flow_samples::{echo, tcp, udp};
    use proptest::prelude::*;

    const A: ([u8; 4], u16) = ([10, 0, 0, 1], 1000);
    const B: ([u8; 4], u16) = ([10, 0, 0, 2], 80);

    /// The summary of packets, and its first lines apart from the others.
    fn summary(keywords: &str, packets: Vec<Vec<u8>>) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump").to_str().unwrap().to_owned();
        let config =
            format!("Inject -> MarkIPHeader(0) -> t :: ToIPSummaryDump({path}, {keywords}) -> Collect(0)");
        send(&config, packets).write("t.flush", "");
        std::fs::read(&path).unwrap()
    }

    fn lines(keywords: &str, packets: Vec<Vec<u8>>) -> String {
        String::from_utf8(summary(keywords, packets)).unwrap()
    }

    /// A configuration that is refused as a successor does not touch the file that the other one writes.
    #[test]
    fn a_refused_successor_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("summary");
        std::fs::write(&file, "precious").unwrap();
        let config = format!("Idle -> ToIPSummaryDump({})", file.display());
        let mut router = crate::testing::build(&config, 1, 1).unwrap_or_else(|error| panic!("{error}"));
        router.finish();
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    }

    #[test]
    fn heads_and_fields() {
        let packets =
            || vec![tcp(A, B, 0x12, &[2, 4, 5, 0xb4], b"hi \""), udp(B, A, b"abc"), echo(A.0, B.0, 7, 9)];
        assert_eq!(
            lines("CONTENTS src sport 'ip dst' dport proto len, BANNER me", packets()),
            "!IPSummaryDump 1.3\n!creator \"me\"\n!data ip_src sport ip_dst dport ip_proto ip_len\n\
             10.0.0.1 1000 10.0.0.2 80 T 48\n10.0.0.2 80 10.0.0.1 1000 U 31\n10.0.0.1 - 10.0.0.2 - I 28\n"
        );
        assert_eq!(
            lines("FIELDS tcp_flags tcp_seq tcp_opt payload payload_len udp_len, HEADER false", packets()),
            "SA 1000000 mss1460 \"hi \\\"\" 4 -\n- - - \"abc\" 3 11\n- - - \"\\010\\000\\367\\357\\000\\007\\000\\t\" 8 -\n"
                .replace("\"\\010\\000\\367\\357\\000\\007\\000\\t\"", &{
                    let message = &echo(A.0, B.0, 7, 9)[20..];
                    lang::conf::quote(message)
                })
        );
        assert_eq!(
            lines(
                "FIELDS icmp_type_name icmp_code icmp_flowid icmp_seq ip_ttl ip_frag, HEADER false",
                packets()
            ),
            "- - - - 64 .\n- - - - 64 .\necho 0 7 9 64 .\n"
        );
    }

    /// Damage is told before the packet's own line, the first of a packet only.
    #[test]
    fn bad_packets() {
        let mut short = tcp(A, B, 2, &[], b"");
        short.truncate(30);
        let mut version = udp(A, B, b"");
        version[0] = 0x65;
        let text = lines("FIELDS sport tcp_window, BAD_PACKETS true, HEADER false", vec![short, version]);
        assert_eq!(text, "!bad truncated IP missing 10\n1000 -\n!bad IP version 6\n- -\n");
        let text = lines("FIELDS sport, BAD_PACKETS true, HEADER false", vec![vec![0x45; 3]]);
        assert_eq!(text, "!bad truncated IP header\n-\n");
    }

    #[test]
    fn arguments_are_checked() {
        let text = errors("Idle -> ToIPSummaryDump(/dev/null, CONTENTS a_b c_d)");
        assert!(text.contains("unknown content type 'a_b'") && text.contains("'c_d'"), "{text}");
        assert!(text.contains("no contents specified"), "{text}");
        let text = errors("Idle -> ToIPSummaryDump(/dev/null, CONTENTS payload, BINARY true)");
        assert!(text.contains("cannot use field payload with BINARY"), "{text}");
        assert!(!text.contains("no contents specified"), "{text}");
        assert!(errors("Idle -> ToIPSummaryDump(/nonexistent/x)").contains("/nonexistent/x: No such file"));
    }

    /// Of several keywords for the fields the last one in this order counts: FIELDS, CONTENTS, DATA.
    #[test]
    fn keywords_for_fields() {
        let packets = || vec![udp(B, A, b"abc")];
        assert_eq!(lines("CONTENTS dport, FIELDS sport, HEADER false", packets()), "1000\n");
        assert_eq!(lines("DATA ip_len, CONTENTS dport, HEADER false", packets()), "31\n");
    }

    /// What is written is read again as packets with the same summary, as text and in binary.
    #[test]
    fn there_and_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let fields = "ntimestamp ip_src ip_dst ip_tos ip_ttl ip_fragoff ip_id ip_proto ip_len ip_hl sport dport tcp_seq \
                      tcp_ack tcp_flags tcp_window tcp_urp tcp_opt udp_len icmp_type icmp_flowid payload_len count aggregate";
        let packets = vec![
            tcp(A, B, 0x12, &[2, 4, 5, 0xb4], b"hello"),
            tcp(B, A, 0x10, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], b""),
            udp(A, B, b"abc"),
            echo(A.0, B.0, 7, 9),
        ];
        for binary in [false, true] {
            let (first, second) = (path("first"), path("second"));
            let config = format!(
                "Inject -> MarkIPHeader(0) -> t :: ToIPSummaryDump({first}, FIELDS {fields}, BINARY {binary}) -> Collect(0)"
            );
            send(&config, packets.clone()).write("t.flush", "");
            let config = format!(
                "FromIPSummaryDump({first}, STOP true, CHECKSUM true) -> CheckIPHeader
                 -> t :: ToIPSummaryDump({second}, FIELDS {fields}, BINARY {binary}) -> Discard"
            );
            let mut router = crate::testing::build(&config, 1, 32).unwrap();
            router.run();
            router.finish();
            assert_eq!(router.info().log.text(), "");
            let (first, second) = (std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
            assert_eq!(String::from_utf8_lossy(&second), String::from_utf8_lossy(&first), "binary: {binary}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn any_packet_is_summarized_without_panic(damage in prop::collection::vec((0usize..60, any::<u8>()), 0..6), len in 0usize..60) {
            let mut packet = tcp(A, B, 2, &[1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2], b"12345678");
            damage.iter().for_each(|&(at, value)| packet.get_mut(at).into_iter().for_each(|byte| *byte = value));
            packet.truncate(len);
            let names: Vec<_> = super::fields::FIELDS.iter().map(|field| field.name).collect();
            let binary: Vec<_> = names.iter().filter(|name| **name != "payload").copied().collect();
            summary(&format!("FIELDS {}, BAD_PACKETS true", names.join(" ")), vec![packet.clone()]);
            summary(&format!("FIELDS {}, BINARY true", binary.join(" ")), vec![packet]);
        }
    }
}
