//! Writes packets to a capture file.
//!
//! ```click
//! ToDump(FILENAME [, SNAPLEN, ENCAP, KEYWORDS])
//! ```
//!
//! Writes a pcap file, which tcpdump and FromDump can read. FILENAME can be `-` for standard output; a name that ends
//! in `.gz` selects gzip compression, `.bz2` bzip2. Packets without a timestamp get the current time, unless FORCE_TS
//! is set.
//!
//! With an output, packets pass through. On a pull input without an output, packets are pulled as fast as possible.
//!
//! The file is replaced when the first packet is written or the router ends, so that the old contents survive if the
//! configuration fails to start, or to take another one's place. With UNBUFFERED it is replaced as soon as the router runs, so that readers get its
//! header immediately. The same applies to standard output, to which packets are always written immediately.
//!
//! A hot swap goes on with the file if it has the same name and format. If it could not be written, it does not begin anew: another name does.
//!
//! Ports: 1 input, at most 1 output. Processing: agnostic. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file. A named pipe must have a reader, for which the router waits five seconds when it starts.
//! - `SNAPLEN` (integer, default 2000): the maximum number of bytes written of each packet; 0 for no limit.
//! - `ENCAP` (name, default `ETHER`): the link type, that is, what the packets start with: `IP`, `ETHER`, `NULL`,
//!   `SLL`, `802_11`, ..., or `#` and the number of a link type.
//! - `USE_ENCAP_FROM` (element names): use the link type of these elements (FromDump), which must agree unless PCAPNG is set. Where a
//!   file has packets of several link types, each is written as what it is: with PCAPNG, there is an interface for each link type.
//!   Otherwise the file has the link type of the first interface; if that is IP, of other packets the IP packet is written,
//!   and what does not fit is refused with a message.
//! - `EXTRA_LENGTH` (boolean, default true): whether to write the original length of packets, including the
//!   extra-length annotation.
//! - `UNBUFFERED` (boolean, default false): whether to write packets to the system immediately.
//! - `NANO` (boolean, default false): whether timestamps are in nanoseconds instead of microseconds.
//! - `FORCE_TS` (boolean, default false): whether to write the packets' own timestamps even if they have none, as 0.
//!   It is FastClick's.
//! - `PCAPNG` (boolean, default false): whether to write the pcapng format. Click has no such argument.
//!
//! # Handlers
//! - `count` (read): packets written, by namesakes in former configurations, too, if they wrote the same file. `reset_counts` (write, button):
//!   sets it to zero.
//! - `missed` (read): packets that are not in the file: the disk is full, or the format cannot hold the packet's time or link type.
//!   Without an output they are dropped, and so counted by reason, too; the last 64 KiB before a full disk are in `missed` only.
//!   A message says the first of a kind, and the number at the end.
//! - `filename` (read): the file.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> ToDump(eth0.pcap, UNBUFFERED true)
//! ```
//!
//! # See also
//! FromDump

use device::capture::{ErrorKind, Format, LinkType, Options, Writer};
use device::files::{self, Patient};
use elements_shared::encap::{self, Encap};
use elements_shared::pulling::Intake;
use packet::{Anno, Batch, Packet};
use router::{
    Activity, Answer, Class, Config, ConfigError, Cx, Element, FileName, Handlers, Pull, Residency, Step,
    metric,
};
use std::any::Any;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

/// The class.
pub(crate) const CLASS: Class = Class::new("ToDump", create)
    .ports("1/0-1")
    .residency(Residency::Exclusive)
    .activity(Activity::IfPullInput)
    .absorbs("packets, without an output")
    .doc(router::manual!("to_dump.rs"));

/// Why packets are dropped once writing failed.
const UNWRITABLE: &str = "the capture cannot be written";
/// Packets asked for at a time.
const BURST: usize = 32;
/// How long a program is waited for that reads a named pipe.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

enum Output {
    /// Not opened yet.
    Waiting,
    Open(Box<Writer>),
    /// A write failed, or a namesake has the file now.
    Closed,
}

struct ToDump {
    filename: String,
    /// A named pipe, until it is written to.
    pipe: Option<Patient>,
    options: Options,
    encap_from: Vec<String>,
    /// The elements of these names.
    sources: Vec<Arc<Encap>>,
    /// Whether they have different link types.
    disagree: bool,
    extra_length: bool,
    unbuffered: bool,
    /// Packets without a time keep none.
    force_time: bool,
    intake: Intake,
    output: Output,
    count: u64,
    /// Packets that are not in the file although they came.
    missed: u64,
    said: Said,
}

/// What was said already.
#[derive(Default)]
struct Said {
    time: bool,
    link_type: bool,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut filename = FileName::default();
    let (mut snaplen, mut encap, mut encap_from) = (2000u32, None::<String>, None::<router::Raw>);
    let (mut extra_length, mut unbuffered, mut nanoseconds, mut pcapng) = (true, false, false, false);
    let mut force_time = false;
    config
        .args()
        .required("FILENAME", &mut filename)
        .positional("SNAPLEN", &mut snaplen)
        .positional("ENCAP", &mut encap)
        .keyword("USE_ENCAP_FROM", &mut encap_from)
        .keyword("EXTRA_LENGTH", &mut extra_length)
        .keyword("UNBUFFERED", &mut unbuffered)
        .keyword("NANO", &mut nanoseconds)
        .keyword("FORCE_TS", &mut force_time)
        .keyword("PCAPNG", &mut pcapng)
        .finish()?;
    let linktype = match (&encap, &encap_from) {
        (Some(_), Some(_)) => return Err("specify at most one of 'ENCAP' and 'USE_ENCAP_FROM'".into()),
        (Some(name), None) => encap::parse(name).ok_or("bad encapsulation type")?,
        _ => LinkType::Ethernet,
    };
    let encap_from = encap_from.map(|names| lang::conf::split_spaces(&names.0));
    if encap_from.as_ref().is_some_and(Vec::is_empty) {
        return Err("element names missing after 'USE_ENCAP_FROM'".into());
    }
    let snaplen = if snaplen == 0 { u32::MAX } else { snaplen };
    let format = if pcapng { Format::PcapNg } else { Format::Pcap };
    Ok(Box::new(ToDump {
        filename: if filename.0 == "-" { "<stdout>".to_owned() } else { filename.0 },
        options: Options { linktype, snaplen, nanoseconds, format },
        encap_from: encap_from.unwrap_or_default(),
        sources: Vec::new(),
        disagree: false,
        extra_length,
        unbuffered,
        force_time,
        intake: Intake::of(config),
        output: Output::Waiting,
        pipe: None,
        count: 0,
        missed: 0,
        said: Said::default(),
    }))
}

impl ToDump {
    /// The link type that other elements say their packets have.
    fn find_encap(&mut self, cx: &Cx<'_>) -> Result<(), ConfigError> {
        let (mut found, mut sources): (Vec<(&str, LinkType)>, _) = (Vec::new(), Vec::new());
        for name in &self.encap_from {
            let element = cx.shared_of::<Encap>(name, "FromDump").map_err(|error| {
                let exists = cx.info().find(name, Some(cx.index())).is_some();
                if exists { format!("'{name}' has no 'encap' read handler") } else { error }
            })?;
            element.ask();
            found.push((name, element.linktype()?));
            sources.push(element);
        }
        let Some(&(_, first)) = found.first() else { return Ok(()) };
        self.disagree = found.iter().any(|(_, linktype)| *linktype != first);
        if self.disagree && self.options.format == Format::Pcap {
            let mut messages = vec!["source encapsulation types disagree:".to_owned()];
            messages.extend(
                found.iter().map(|(name, linktype)| format!("  {name} has {}", encap::name(*linktype))),
            );
            return Err(ConfigError::from(messages));
        }
        self.options.linktype = first;
        self.sources = sources;
        Ok(())
    }

    /// Checks that the file can be written, and leaves its contents alone. A pipe is opened for good.
    fn check_file(&mut self) -> Result<(), ConfigError> {
        let name = &self.filename;
        if name == "<stdout>" {
            return Ok(());
        }
        for suffix in [".xz", ".zst"] {
            if name.ends_with(suffix) {
                return Err(format!("{name}: cannot write {suffix} files; write .gz or .bz2 instead").into());
            }
        }
        if files::is_pipe(name) {
            let opened = files::open_within(LONGEST_WAIT, File::options().write(true), name);
            self.pipe = Some(opened.map_err(|error| format!("{name}: {}", device::plain(&error)))?);
            return Ok(());
        }
        match files::open_with(File::options().write(true).create(true).truncate(false), name) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("{name}: {}", device::plain(&error)).into()),
        }
    }

    /// The writer, opened at its first use.
    fn writer(&mut self, cx: &Cx<'_>) -> Option<&mut Writer> {
        if matches!(self.output, Output::Waiting) {
            let path = if self.filename == "<stdout>" { "-" } else { &self.filename };
            let writer = match self.pipe.take() {
                Some(pipe) => Writer::from_write(Box::new(pipe), path, self.options),
                None => Writer::create(path, self.options),
            };
            self.output = match writer {
                Ok(writer) => Output::Open(Box::new(writer)),
                Err(error) => {
                    cx.error(format_args!("{} :: ToDump: {error}", cx.name()));
                    Output::Closed
                }
            };
        }
        match &mut self.output {
            Output::Open(writer) => Some(writer),
            _ => None,
        }
    }

    /// Writes packets. Of those that go nowhere else, the ones that cannot be written are dropped.
    fn write_batch(&mut self, cx: &mut Cx<'_>, batch: &mut Batch) {
        let any = !batch.is_empty();
        if self.intake.passes() {
            for packet in batch.iter() {
                let _ = self.write(cx, packet); // it counts what it misses
            }
        } else {
            batch.filter_map(|packet| match self.write(cx, &packet) {
                Ok(()) => Some(packet),
                Err(reason) => {
                    cx.drop(packet, reason);
                    None
                }
            });
        }
        if any && self.at_once() {
            self.flush(cx);
        }
    }

    /// Whether nothing is kept back. Others write to standard output, too: it is to stay in order.
    fn at_once(&self) -> bool {
        self.unbuffered || self.filename == "<stdout>"
    }

    fn flush(&mut self, cx: &Cx<'_>) {
        if let Some(writer) = self.writer(cx)
            && let Err(error) = writer.flush()
        {
            self.fail(cx, &error);
        }
    }

    /// Writes a packet, or says why it is missing.
    fn write(&mut self, cx: &Cx<'_>, packet: &Packet) -> Result<(), &'static str> {
        let time_ns = match packet.timestamp_ns() {
            0 if !self.force_time => cx.now_ns(),
            time_ns => time_ns,
        };
        let extra = if self.extra_length { packet.anno(Anno::EXTRA_LENGTH) as u32 } else { 0 };
        let orig_len = (packet.len() as u32).saturating_add(extra);
        let linktype = self.linktype_of(packet);
        let Some(writer) = self.writer(cx) else {
            self.missed += 1;
            return Err(UNWRITABLE);
        };
        match writer.write_as(linktype, time_ns, orig_len, packet.data()) {
            Ok(()) => {
                self.count += 1;
                Ok(())
            }
            Err(error) => {
                self.missed += 1;
                Err(self.settle(cx, &error))
            }
        }
    }

    /// What a packet begins with: what its source says of the file, or of this packet where packets differ.
    fn linktype_of(&self, packet: &Packet) -> LinkType {
        let differ = self.disagree || self.sources.iter().any(|source| source.has_several());
        let own = if differ { packet.captured_link() } else { None };
        own.map_or(self.options.linktype, LinkType::from_code)
    }

    /// What an error means for the packet. One that concerns more than this packet ends the capture.
    fn settle(&mut self, cx: &Cx<'_>, error: &device::capture::Error) -> &'static str {
        let (said, advice, reason) = match error.kind() {
            ErrorKind::Time { .. } => (&mut self.said.time, "", "time that the capture format cannot hold"),
            ErrorKind::LinkType { .. } => (
                &mut self.said.link_type,
                "; PCAPNG true keeps such packets",
                "link type that the capture format cannot hold",
            ),
            _ => {
                self.fail(cx, error);
                return UNWRITABLE;
            }
        };
        if !std::mem::replace(said, true) {
            cx.log(format_args!("{} :: ToDump: {error}{advice}", cx.name()));
        }
        reason
    }

    /// Ends the capture. What the writer still had is missing, too.
    fn fail(&mut self, cx: &Cx<'_>, error: &device::capture::Error) {
        cx.error(format_args!("{} :: ToDump: {error}", cx.name()));
        if let Output::Open(writer) = std::mem::replace(&mut self.output, Output::Closed) {
            // The counter may have been reset since.
            self.count = self.count.saturating_sub(writer.lost());
            self.missed += writer.lost();
        }
    }
}

fn say_missing(cx: &Cx<'_>, file: &str, missed: u64) {
    if missed > 0 {
        cx.log(format_args!(
            "{} :: ToDump: {file}: packets that are missing in the file: {missed}",
            cx.name()
        ));
    }
}

/// What a new configuration takes over: a file, or that it could not be written, and what is in it and is not.
struct Handover {
    filename: String,
    options: Options,
    output: Output,
    count: u64,
    missed: u64,
}

impl Element for ToDump {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.find_encap(cx)?;
        self.check_file()?;
        if self.at_once() {
            // Not now: the file may still be that of a namesake, which hands it on.
            cx.handlers().start(Box::new(()));
        }
        self.intake.begin(cx);
        Ok(())
    }

    /// The router runs.
    fn resume(&mut self, cx: &mut Cx<'_>, _state: &mut Box<dyn Any + Send>, _answer: Answer) -> Step {
        self.flush(cx);
        Step::Done(Ok(String::new()))
    }

    fn push(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) {
        self.write_batch(cx, &mut batch);
        self.intake.pushed(cx, batch);
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !matches!(self.output, Output::Closed) {
            cx.ask(0, BURST.min(cx.vector()));
        }
    }

    fn pull(&mut self, _cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        Pull::Ask { input: 0, want }
    }

    fn pulled(&mut self, cx: &mut Cx<'_>, _port: usize, mut batch: Batch) -> Pull {
        let came = !batch.is_empty();
        self.write_batch(cx, &mut batch);
        if came && batch.is_empty() {
            cx.tasks().schedule(); // there may be more, although none of these could be written
        }
        self.intake.pulled(cx, batch)
    }

    fn finish(&mut self, cx: &mut Cx<'_>) {
        if cx.has_run() {
            self.writer(cx); // a capture of nothing is still a capture
        }
        if let Output::Open(writer) = &mut self.output
            && let Err(error) = writer.close()
        {
            self.fail(cx, &error);
        }
        self.output = Output::Closed;
        say_missing(cx, &self.filename, self.missed);
    }

    /// The file goes on with a namesake that writes the same file with the same headers.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        if matches!(self.output, Output::Waiting) {
            return None;
        }
        Some(Box::new(Handover {
            filename: self.filename.clone(),
            options: self.options,
            output: std::mem::replace(&mut self.output, Output::Closed),
            count: self.count,
            missed: std::mem::take(&mut self.missed),
        }))
    }

    /// A capture that could not be written does not begin anew: what is in the file would be lost.
    fn take_state(&mut self, cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        let Ok(kept) = state.downcast::<Handover>() else { return };
        let Handover { filename, options, mut output, count, missed } = *kept;
        let snaplen = self.options.snaplen;
        if (&filename, Options { snaplen, ..options }) == (&self.filename, self.options) {
            if let Output::Open(writer) = &mut output {
                writer.set_snaplen(snaplen);
            }
            (self.output, self.count, self.missed) = (output, count, missed);
            return;
        }
        let mut lost = 0;
        if let Output::Open(writer) = &mut output
            && let Err(error) = writer.close()
        {
            lost = writer.lost();
            cx.error(format_args!("{} :: ToDump: {error}", cx.name()));
        }
        say_missing(cx, &filename, missed + lost);
    }

    fn handlers(&self, h: &mut Handlers) {
        h.read("filename", |e: &mut ToDump, _| e.filename.clone());
        h.count("reset_counts", |e: &mut ToDump| &mut e.count).measures(&metric::PACKETS);
        h.read("missed", |e: &mut ToDump, _| e.missed).measures(&metric::PACKETS);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors};
    use device::capture::{Format, LinkType, Options, Reader, Record, Writer};
    use router::Call;

    fn run(config: &str) -> router::Router {
        let mut router = build(config, 1, 32).unwrap_or_else(|error| panic!("{error}"));
        router.run();
        router.finish();
        router
    }

    fn records(path: &str) -> Vec<(Record, Vec<u8>)> {
        let mut reader = Reader::open(path).unwrap();
        let mut bytes = Vec::new();
        let next = || Some((reader.next(&mut bytes).unwrap()?, bytes.clone()));
        std::iter::from_fn(next).collect()
    }

    /// Packets arrive in the file as they are, cut where they should be, and come back the same.
    #[test]
    fn writes_and_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (a, b) = (path("a.pcap.gz"), path("b.pcap"));
        let mut router = run(&format!(
            "InfiniteSource(DATA \\<0102030405>, LIMIT 40, BURST 7, STOP true) -> d :: ToDump({a}, 3) -> Discard"
        ));
        assert_eq!(router.call(Call::read("d.count", "")), Ok("40".to_owned()));
        let first = records(&a);
        assert_eq!(first.len(), 40);
        assert_eq!((first[0].1.as_slice(), first[0].0.orig_len), (&[1, 2, 3][..], 5));
        assert_eq!(first[0].0.time_ns, 1_000_000_000_000_000_000);
        // Through a pull path, with the length before the cut.
        run(&format!("f :: FromDump({a}, STOP true) -> ToDump({b}, ENCAP ETHER)"));
        assert_eq!(records(&b), first);
        run(&format!("FromDump({a}, STOP true) -> ToDump({b}, EXTRA_LENGTH false)"));
        assert_eq!(records(&b)[0].0.orig_len, 3);
    }

    #[test]
    fn pcapng_holds_the_same_packets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        run(&format!("InfiniteSource(DATA abc, LIMIT 3, STOP true) -> ToDump({path}, PCAPNG true)"));
        assert_eq!(std::fs::read(&path).unwrap()[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
        let read = records(&path);
        assert_eq!((read.len(), read[2].1.as_slice()), (3, &b"abc"[..]));
    }

    #[test]
    fn the_link_type_comes_from_the_sources() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (ip, ether, out) = (path("ip"), path("ether"), path("out"));
        run(&format!("InfiniteSource(LIMIT 0, STOP true) -> ToDump({ip}, ENCAP IP)"));
        run(&format!("InfiniteSource(LIMIT 0, STOP true) -> ToDump({ether})"));
        run(&format!("f :: FromDump({ip}, STOP true) -> ToDump({out}, USE_ENCAP_FROM f)"));
        assert_eq!(Reader::open(&out).unwrap().linktype(), LinkType::RawIp);
        let text = errors(&format!(
            "f :: FromDump({ip}) -> ToDump({out}, USE_ENCAP_FROM f g); g :: FromDump({ether}) -> Discard"
        ));
        assert!(text.contains("source encapsulation types disagree"), "{text}");
        assert!(text.contains("f has IP") && text.contains("g has ETHER"), "{text}");
    }

    /// A pcapng file of Ethernet frames, IP packets and an ARP frame, in a folder of its own.
    fn mixed() -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mixed").to_str().unwrap().to_owned();
        let options = Options { format: Format::PcapNg, ..Options::default() };
        let mut writer = Writer::create(&path, options).unwrap();
        let ip = [&[0x45, 0, 0, 20][..], &[0; 12], &[10, 0, 0, 1]].concat();
        let (ether, arp) = ([&[2; 12][..], &[8, 0], &ip].concat(), [&[2; 12][..], &[8, 6], &ip].concat());
        for (linktype, bytes) in
            [(LinkType::Ethernet, ether), (LinkType::RawIp, ip), (LinkType::Ethernet, arp)]
        {
            writer.write_as(linktype, 1_000, 0, &bytes).unwrap();
        }
        writer.close().unwrap();
        (folder, path)
    }

    /// Packets of several link types are written each as what it is, or refused and counted with a message.
    #[test]
    fn several_link_types() {
        let (folder, mixed) = mixed();
        let out = folder.path().join("out").to_str().unwrap().to_owned();
        // A queue between keeps packets apart from what is read then.
        let config = |arguments: &str| {
            format!(
                "f :: FromDump({mixed}) -> Queue -> d :: ToDump({out}, USE_ENCAP_FROM f{arguments});
                 DriverManager(wait 1, stop)"
            )
        };
        assert_eq!(crate::testing::run(&config(", PCAPNG true")), "");
        let wanted = records(&mixed);
        let read = records(&out);
        let types: Vec<_> = read.iter().map(|(record, _)| record.linktype).collect();
        assert_eq!(types, [LinkType::Ethernet, LinkType::RawIp, LinkType::Ethernet]);
        assert!(read.iter().zip(&wanted).all(|((_, bytes), (_, wanted))| bytes == wanted));

        let said = crate::testing::run(&config(""));
        assert!(
            said.contains("a packet of link type raw IP does not fit into a file of link type Ethernet"),
            "{said}"
        );
        assert!(said.contains("PCAPNG true keeps such packets"), "{said}");
        assert!(said.contains("packets that are missing in the file: 1"), "{said}");
        assert_eq!(records(&out), [wanted[0].clone(), wanted[2].clone()]);
        let read = crate::testing::run_and_read(&config(""), &["d.count", "d.missed", "d.drop_reasons"]);
        assert_eq!(read, ["2", "1", "1\tlink type that the capture format cannot hold\n"]);
    }

    /// A full disk: what is missing is counted, whether packets go on or not.
    #[test]
    fn full_disk() {
        if !std::path::Path::new("/dev/full").exists() {
            println!("skipped: there is no /dev/full");
            return;
        }
        let source = "InfiniteSource(LENGTH 1000, LIMIT 100, STOP true)";
        let handlers = ["d.count", "d.missed", "d.drop_reasons"];
        let config = format!("{source} -> d :: ToDump(/dev/full) -> c :: Counter -> Discard");
        assert_eq!(crate::testing::run_and_read(&config, &handlers), ["0", "100", ""]);
        let config = format!("{source} -> d :: ToDump(/dev/full)");
        // 64 KiB are taken before the disk is asked.
        assert_eq!(
            crate::testing::run_and_read(&config, &handlers),
            ["0", "100", "36\tthe capture cannot be written\n"]
        );
        let said = crate::testing::run(&config);
        assert!(said.contains("No space left on device") || said.contains("no storage space"), "{said}");
        assert!(said.ends_with("packets that are missing in the file: 100\n"), "{said}");
        // What is in the buffer at the end is missing, too.
        let said = crate::testing::run("InfiniteSource(LIMIT 3, STOP true) -> ToDump(/dev/full)");
        assert!(said.ends_with("packets that are missing in the file: 3\n"), "{said}");
    }

    /// Nothing that fails to start touches the file.
    #[test]
    fn failures_leave_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        std::fs::write(&path, "precious").unwrap();
        errors(&format!("InfiniteSource -> ToDump({path}); InfiniteSource -> ToDump(/nonexistent/a)"));
        assert_eq!(std::fs::read(&path).unwrap(), b"precious");
        let text = errors("InfiniteSource -> ToDump(/nonexistent/a)");
        assert!(text.contains("/nonexistent/a: No such file"), "{text}");
        let text = errors("InfiniteSource -> ToDump(a.xz, ENCAP IP)");
        assert!(text.contains("write .gz or .bz2 instead"), "{text}");
    }

    /// A configuration that is refused as a successor does not touch the file that the other one goes on writing.
    #[test]
    fn a_refused_successor_leaves_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        let config = format!("InfiniteSource(LENGTH 1000, LIMIT 100, STOP true) -> d :: ToDump({path})");
        let mut old = build(&config, 1, 1).unwrap();
        old.run();
        let written = std::fs::metadata(&path).unwrap().len();
        assert!(written > 0);
        build(&config, 1, 1).unwrap().finish(); // as when it is refused
        assert_eq!(std::fs::metadata(&path).unwrap().len(), written);
        old.finish();
        assert_eq!(records(&path).len(), 100);
    }

    /// A reader of a file that is written at once finds its header before the first packet; it is not written again
    /// when a namesake goes on.
    #[test]
    fn header_before_packets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        let lengths = |arguments: &str| {
            std::fs::write(&path, "").unwrap();
            let config = format!(
                "TimedSource(1, LIMIT 2) -> d :: ToDump({path}, {arguments}); DriverManager(wait 0.5, stop)"
            );
            let mut old = build(&config, 1, 1).unwrap();
            let configured = std::fs::metadata(&path).unwrap().len();
            old.run();
            let begun = std::fs::metadata(&path).unwrap().len();
            let mut new = build(&config, 1, 1).unwrap();
            new.take_over(&mut old).unwrap();
            new.run();
            new.finish();
            [configured, begun, std::fs::metadata(&path).unwrap().len()]
        };
        assert_eq!(lengths("UNBUFFERED true"), [0, 24, 24]);
        assert_eq!(lengths("UNBUFFERED false"), [0, 0, 24]);
    }

    /// A namesake in a new configuration appends to the file.
    #[test]
    fn taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").to_str().unwrap().to_owned();
        let config = format!("InfiniteSource(LIMIT 3, STOP true) -> d :: ToDump({path})");
        let mut old = build(&config, 1, 1).unwrap();
        old.run();
        let mut new = build(&config, 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        old.finish();
        assert_eq!(new.call(Call::read("d.count", "")), Ok("3".to_owned()));
        new.run();
        new.finish();
        assert_eq!(records(&path).len(), 6);
        assert_eq!(new.call(Call::read("d.count", "")), Ok("6".to_owned()));
    }

    /// A capture that could not be written does not begin anew with a namesake, which goes on counting what is missing. One that writes
    /// another file begins anew, and says what is missing in the first.
    #[test]
    fn a_failed_capture_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let (full, path) = (folder.path().join("full"), folder.path().join("a"));
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        let config = |file: &std::path::Path| {
            format!("InfiniteSource(LENGTH 1000, LIMIT 100, STOP true) -> d :: ToDump({})", file.display())
        };
        let mut old = build(&config(&full), 1, 1).unwrap();
        old.run();
        // The disk has room again, and what was written before is still there.
        std::fs::remove_file(&full).unwrap();
        std::fs::write(&full, "precious").unwrap();
        let mut new = build(&config(&full), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        old.finish();
        new.run();
        new.finish();
        assert_eq!(std::fs::read(&full).unwrap(), b"precious");
        assert_eq!(new.call(Call::read("d.missed", "")), Ok("200".to_owned()));
        let mut last = build(&config(&path), 1, 1).unwrap();
        let mut again = build(&config(&full), 1, 1).unwrap();
        std::fs::remove_file(&full).unwrap();
        std::os::unix::fs::symlink("/dev/full", &full).unwrap();
        again.run();
        last.take_over(&mut again).unwrap();
        assert!(last.info().log.text().ends_with("full: packets that are missing in the file: 100\n"));
        last.run();
        last.finish();
        assert_eq!(
            (records(path.to_str().unwrap()).len(), last.call(Call::read("d.missed", ""))),
            (100, Ok("0".to_owned()))
        );
    }
}
