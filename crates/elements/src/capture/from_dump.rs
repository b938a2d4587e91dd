//! Reads packets from a capture file.
//!
//! ```click
//! FromDump(FILENAME [, TIMING, KEYWORDS])
//! ```
//!
//! Emits the packets of a pcap or pcapng file as fast as it can, or with TIMING at the pace at which they were captured.
//! Files may be compressed with gzip, bzip2 or xz, and their times may have nanoseconds. FILENAME can be `-` for standard
//! input.
//!
//! Packets carry the time of their capture, an annotation of the length by which they were cut, and where the
//! link-layer header starts. With FORCE_IP only IP packets are emitted, with their header positions and destination
//! annotations; others leave by output 1 or, if there is none, are dropped. A file of packets without link-layer headers
//! forces that by itself.
//!
//! A file that ends too early, or that is damaged, ends there with a message; a packet of more than 65535 bytes is
//! damage. Reading from a pipe that has nothing to offer makes the whole worker wait.
//!
//! Ports: no inputs, 1 or 2 outputs. Processing: agnostic, output 1 push. Workers: exclusive.
//!
//! # Arguments
//! - `FILENAME`: the file.
//! - `TIMING` (boolean, default false): whether the pace of the capture is kept.
//! - `STOP` (boolean, default false): whether to stop the driver at the end.
//! - `END_CALL` (handler call): called at the end.
//! - `ACTIVE` (boolean, default true): whether packets are emitted.
//! - `SAMPLE` (number, default 1): probability with which a packet is emitted.
//! - `FORCE_IP` (boolean, default false): whether to emit IP packets only. The file must be of Ethernet, IP, BSD
//!   loopback, FDDI, PPP, HDLC, ATM, IEEE 802.11 (also with a Prism or radiotap header) or Linux cooked packets.
//! - `START`, `END` (time): only packets from START on and before END, in seconds since the epoch.
//! - `START_AFTER`, `END_AFTER` (time span): the same, counted from the first packet of the file.
//! - `INTERVAL` (time span): the end, counted from the beginning of the range.
//! - `FILEPOS` (integer): starts with the first packet at or behind this byte of the (decompressed) file.
//! - `FORCE_LEN` (integer, default -1): if 0, packets are lengthened with zeros to what they had before they were cut; if 60 to 9,000, all
//!   packets are lengthened or cut to so many bytes, 14 less where the file has no Ethernet headers.
//! - `ACCELERATION` (integer, default 100): with TIMING, the pace in per cent of that of the capture.
//! - `TIMING_FNT` (string): with TIMING, a formula for that pace, where `x` is seconds since the first packet: `100` keeps the pace,
//!   `10 + 5 * x` grows. It may have `+ - * / % ^`, parentheses, `pi`, `e`, and `abs`, `acos`, `asin`, `atan`, `atan2`, `ceil`, `cos`,
//!   `cosh`, `exp`, `floor`, `ln`, `log`, `max`, `min`, `pow`, `sin`, `sinh`, `sqrt`, `squarewave`, `tan`, `tanh`. Where it is not
//!   positive, packets end.
//! - `MMAP`, `PRELOAD`, `BURST`: accepted for compatibility, without effect.
//!
//! At the end of the range STOP and END_CALL take effect as at the end of the file; without them the element becomes
//! inactive there. If END_CALL leaves it active, the packets behind the end follow.
//!
//! # Handlers
//! - `count` (read): packets emitted. `reset_counts` (write, button): sets it to zero.
//! - `active` (read, write): the argument. `stop` (write, button): becomes inactive and stops the driver.
//! - `filename`, `filesize`, `filepos`, `packet_filepos`, `encap`, `sampling_prob` (read): the file's name, its bytes
//!   (`-` if unknown), how far it has been read, where the last packet begins, its link type, the sampling
//!   probability. `filepos` can be written: reading goes on with the first packet at or behind that byte; if the end
//!   was reached before, not until `active` is written.
//! - `extend_interval` (write, time span): moves the end of the range.
//! - `reset_timing` (write, button): takes the next packet for the first of the file.
//!
//! # Example
//! ```click
//! FromDump(trace.pcap.gz, STOP true, FORCE_IP true) -> IPPrint -> Discard
//! ```
//!
//! # See also
//! ToDump, FromMemory

use super::encap::{self, Encap, mark_ip};
use super::range::{Nanos, Place, Range, RangeArgs};
use crate::basic::pad::lengthen;
use crate::formula::Formula;
use crate::reading::{self, Next};
use device::capture::{LinkType, Reader, Record};
use packet::{Anno, Batch, Packet};
use router::{
    Activity, Call, CallArg, Class, Config, ConfigError, Cx, Element, FileName, Flags, Handlers, Pull,
    Refused, Residency, metric,
};
use std::any::Any;
use std::sync::Arc;

/// The class.
pub(crate) const CLASS: Class = Class::new("FromDump", create)
    .ports("0/1-2")
    .processing("a/ah")
    .residency(Residency::Exclusive)
    .activity(Activity::Always)
    .doc(include_str!("from_dump.rs"));

/// Sampling probabilities are multiples of 2^-28, as in Click.
const SAMPLE_ONE: u32 = 1 << 28;
/// Lengths that all packets can be given.
const FORCED_LENGTHS: std::ops::RangeInclusive<i32> = 60..=9000;
/// Bytes of the longest packet; Click takes a record that claims more for damage.
const PACKET_MAX: usize = 65_535;
/// Records passed over in one go before others get their turn.
const SKIPS_PER_RUN: usize = 16;

/// What happens at the end.
enum AtEnd {
    Nothing,
    /// The end of a range: no more packets.
    Pause,
    Stop,
    Call(Call),
}

/// How far a record that was read has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    New,
    /// It is in the range and in the sample.
    Chosen,
}

/// What the times at which packets are due are counted from.
#[derive(Clone, Copy)]
struct Pace {
    /// When the first packet was emitted.
    start_ns: i64,
    /// The capture time of the first packet, or with a formula of the last, and when it was emitted.
    captured_ns: i64,
    emitted_ns: i64,
}

/// The file, and what has been read of it.
struct Source {
    /// `None` once a new configuration has it.
    reader: Option<Reader>,
    /// The bytes of the record that was read last.
    bytes: Vec<u8>,
    held: Option<(Record, Stage)>,
    /// Where the last record begins.
    position: u64,
    range: Range,
    pace: Option<Pace>,
    /// The end of the range was met, but nothing done about it yet.
    range_ended: bool,
    ended: bool,
}

struct FromDump {
    filename: String,
    filesize: Option<u64>,
    linktype: LinkType,
    encap: Arc<Encap>,
    filepos: u64,
    source: Source,
    timing: bool,
    /// The pace with `timing`, in per cent of the capture's.
    acceleration: u32,
    /// What computes it instead.
    formula: Option<Formula>,
    /// FastClick's argument: 0 for the length that packets had, or a length for all; none to leave them.
    force_len: Option<usize>,
    active: bool,
    force_ip: bool,
    sample: u32,
    at_end: AtEnd,
    outputs: usize,
    push: bool,
    count: u64,
}

fn create(config: &mut Config<'_>) -> Result<Box<dyn Element>, ConfigError> {
    let mut filename = FileName::default();
    let (mut timing, mut stop, mut active, mut force_ip) = (false, false, true, false);
    let (mut sample, mut end_call, mut filepos, mut mmap) = (1.0, None::<CallArg>, 0u64, false);
    let (mut force_len, mut acceleration, mut preload, mut burst) = (-1i32, 100u32, 0i64, 0u32);
    let (mut times, mut formula) = (RangeArgs::default(), String::new());
    config
        .args()
        .required("FILENAME", &mut filename)
        .positional("TIMING", &mut timing)
        .keyword("STOP", &mut stop)
        .keyword("ACTIVE", &mut active)
        .keyword("SAMPLE", &mut sample)
        .keyword("FORCE_IP", &mut force_ip)
        .keyword("START", &mut times.start)
        .keyword("START_AFTER", &mut times.start_after)
        .keyword("END", &mut times.end)
        .keyword("END_AFTER", &mut times.end_after)
        .keyword("INTERVAL", &mut times.interval)
        .keyword("END_CALL", &mut end_call)
        .keyword("FILEPOS", &mut filepos)
        .keyword("MMAP", &mut mmap)
        .keyword("FORCE_LEN", &mut force_len)
        .keyword("ACCELERATION", &mut acceleration)
        .keyword("PRELOAD", &mut preload)
        .keyword("BURST", &mut burst)
        .keyword("TIMING_FNT", &mut formula)
        .finish()?;
    let parsed = Formula::parse(&formula);
    if parsed.is_none() && !formula.trim().is_empty() {
        return Err("TIMING_FNT: bad formula".into());
    }
    if force_len > 0 && !FORCED_LENGTHS.contains(&force_len) {
        return Err("FORCE_LEN requires a valid frame size".into());
    }
    if acceleration == 0 {
        return Err("ACCELERATION must be positive".into());
    }
    let range = Range::new(times)?;
    let at_end = match end_call {
        Some(_) if stop => return Err("END_CALL and STOP are mutually exclusive".into()),
        Some(call) => AtEnd::Call(call.0),
        None if stop => AtEnd::Stop,
        None if range.ends() => AtEnd::Pause,
        None => AtEnd::Nothing,
    };
    let sample = probability(config, sample)?;
    let encap = config.shared(|| Ok(Encap::of_file(&filename.0)))?;
    Ok(Box::new(FromDump {
        filesize: None,
        filename: if filename.0 == "-" { "<stdin>".to_owned() } else { filename.0 },
        linktype: LinkType::Ethernet,
        encap,
        filepos,
        source: Source::new(range),
        timing,
        acceleration,
        formula: parsed,
        force_len: usize::try_from(force_len).ok(),
        active,
        force_ip,
        sample,
        at_end,
        outputs: config.outputs(),
        push: config.output_is_push(0),
        count: 0,
    }))
}

fn probability(config: &mut Config<'_>, sample: f64) -> Result<u32, ConfigError> {
    if sample < 0.0 {
        return Err("SAMPLE: probability between 0 and 1 expected".into());
    }
    if sample > 1.0 {
        config.warn("SAMPLE probability reduced to 1");
    }
    let fixed = (sample.min(1.0) * f64::from(SAMPLE_ONE)).round() as u32;
    if fixed == 0 {
        config.warn("SAMPLE probability is 0; emitting no packets");
    }
    Ok(fixed)
}

/// The bytes of a file, if it is one and its positions are those that are read.
fn file_size(reader: &Reader, path: &str) -> Option<u64> {
    let known = path != "<stdin>" && !reader.is_compressed();
    let data = if known { std::fs::metadata(path).ok()? } else { return None };
    data.is_file().then_some(data.len())
}

impl Source {
    /// No file yet.
    fn new(range: Range) -> Source {
        Source {
            reader: None,
            bytes: Vec::new(),
            held: None,
            position: 0,
            range,
            pace: None,
            range_ended: false,
            ended: false,
        }
    }

    /// Begins with the first record at or behind a position of the file.
    fn begin(&mut self, mut reader: Reader, filepos: u64) -> Result<(), ConfigError> {
        while reader.offset() < filepos {
            let more = reader.next(&mut self.bytes).map_err(|error| error.to_string())?;
            if more.is_none() {
                break;
            }
        }
        self.position = reader.offset();
        self.reader = Some(reader);
        Ok(())
    }

    /// How far the file has been read.
    fn offset(&self) -> u64 {
        self.reader.as_ref().map_or(0, Reader::offset)
    }

    /// Reads a record unless one is held. `None` at the end; an error is an end with a message.
    fn read(&mut self, cx: &Cx<'_>) -> Option<(Record, Stage)> {
        if self.held.is_none() && !self.ended {
            self.position = self.offset();
            let reader = self.reader.as_mut()?;
            match reader.next(&mut self.bytes) {
                Ok(Some(_)) if self.bytes.len() > PACKET_MAX => {
                    let (name, file) = (cx.name(), reader.name());
                    cx.log(&format!("{name} :: FromDump: {file}: bad packet header; giving up"));
                }
                Ok(record) => self.held = record.map(|record| (record, Stage::New)),
                Err(error) => cx.log(&format!("{} :: FromDump: {error}", cx.name())),
            }
            self.ended = self.held.is_none();
        }
        self.held
    }
}

impl FromDump {
    fn open(&mut self) -> Result<(), ConfigError> {
        self.linktype = self.encap.linktype()?;
        if self.force_ip && matches!(self.linktype, LinkType::Other(_)) {
            let (name, code) = (&self.filename, self.linktype.code());
            return Err(format!("{name}: unknown linktype {code}; can't force IP packets").into());
        }
        // Packets without link-layer headers are IP packets or nothing.
        self.force_ip |= matches!(self.linktype, LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6);
        let Some(reader) = self.encap.take_reader() else { return Ok(()) };
        self.filesize = file_size(&reader, &self.filename);
        self.source.begin(reader, self.filepos)
    }

    fn next(&mut self, cx: &mut Cx<'_>) -> Next {
        let Some((record, stage)) = self.source.read(cx) else { return Next::FileEnd };
        let now = cx.now_ns();
        let first = Pace { start_ns: now, captured_ns: record.time_ns, emitted_ns: now };
        let pace = *self.source.pace.get_or_insert(first);
        if self.source.range_ended {
            return Next::RangeEnd;
        }
        if stage == Stage::New {
            match self.source.range.place(record.time_ns) {
                Place::End => {
                    self.source.range_ended = true;
                    return Next::RangeEnd;
                }
                Place::Inside if self.sample(cx) => self.source.held = Some((record, Stage::Chosen)),
                Place::Inside | Place::Before => {
                    self.source.held = None;
                    return Next::Skipped;
                }
            }
        }
        if self.timing {
            let Some(at_ns) = self.due_ns(pace, record.time_ns) else { return Next::FileEnd };
            if now < at_ns {
                return Next::Later(at_ns);
            }
            if self.formula.is_some() {
                let pace = Pace { captured_ns: record.time_ns, emitted_ns: at_ns, ..pace };
                self.source.pace = Some(pace);
            }
        }
        self.source.held = None;
        self.make(cx, &record)
    }

    /// When a packet is due that was captured at a time; `None` if never.
    fn due_ns(&self, pace: Pace, time_ns: i64) -> Option<i64> {
        let since = i128::from(time_ns) - i128::from(pace.captured_ns);
        let scaled = match &self.formula {
            None => since * 100 / i128::from(self.acceleration),
            Some(formula) => {
                let x = pace.emitted_ns.saturating_sub(pace.start_ns) as f64 / 1e9;
                let percent = Some(formula.value(x)).filter(|percent| *percent > 0.0)?;
                (since as f64 * 100.0 / percent) as i128
            }
        };
        Some(pace.emitted_ns.saturating_add(scaled.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
    }

    fn sample(&self, cx: &mut Cx<'_>) -> bool {
        self.sample == SAMPLE_ONE || cx.rng().u32(..SAMPLE_ONE) < self.sample
    }

    /// Makes the packet of a record whose bytes were read.
    fn make(&mut self, cx: &mut Cx<'_>, record: &Record) -> Next {
        let bytes = &self.source.bytes;
        let Some(mut packet) = cx.pool().packet(bytes) else {
            cx.count_drops("no buffer for a captured packet", 1);
            return Next::Skipped;
        };
        packet.set_timestamp_ns(record.time_ns);
        packet.set_mac_offset(0);
        let cut = u64::from(record.orig_len).saturating_sub(bytes.len() as u64);
        packet.set_anno(Anno::EXTRA_LENGTH, cut);
        if self.force_len.is_some() {
            match self.with_length(cx, packet, record) {
                Ok(forced) => packet = forced,
                Err(packet) => {
                    cx.drop(packet, "too long for a buffer");
                    return Next::Skipped;
                }
            }
        }
        if !self.force_ip || mark_ip(&mut packet, record.linktype) {
            return Next::Packet(packet);
        }
        if self.outputs > 1 {
            cx.emit_packet(1, packet);
        } else {
            cx.drop(packet, "no IP packet");
        }
        Next::Skipped
    }

    /// Gives a packet the length that FORCE_LEN says.
    fn with_length(&self, cx: &mut Cx<'_>, mut packet: Packet, record: &Record) -> Result<Packet, Packet> {
        let raw = matches!(record.linktype, LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6);
        let wanted = match self.force_len.unwrap_or(0) {
            0 => record.orig_len as usize,
            length if raw => length - wire::ethernet::HEADER_LEN,
            length => length,
        };
        packet.set_anno(Anno::EXTRA_LENGTH, 0);
        let missing = wanted.saturating_sub(packet.len());
        if missing > 0 {
            return lengthen(cx, packet, missing);
        }
        let _ = packet.take(packet.len() - wanted); // it has them
        Ok(packet)
    }

    fn fill(&mut self, cx: &mut Cx<'_>, batch: &mut Batch, want: usize) -> Option<Next> {
        let want = self.encap.at_once(want);
        let met = reading::fill(cx, batch, want, SKIPS_PER_RUN, |cx| self.next(cx));
        self.encap.set_position(self.source.position);
        self.count += batch.len() as u64;
        met
    }

    /// Goes on at another position of the file, which is opened once more. After the end nothing goes on before somebody writes `active`,
    /// as in Click, where scripts count on it.
    fn seek(&mut self, filepos: u64) -> Result<(), String> {
        if self.source.offset() == filepos && self.source.held.is_none() {
            return Ok(());
        }
        if self.filename == "<stdin>" {
            return Err("standard input has no positions".to_owned());
        }
        if self.filesize.is_some_and(|size| filepos > size) {
            return Err("FILEPOS out of range".to_owned());
        }
        let reader = Reader::open(&self.filename).map_err(|error| error.to_string())?;
        (self.source.held, self.source.ended, self.source.range_ended) = (None, false, false);
        self.source.begin(reader, filepos).map_err(|error| error.to_string())
    }

    /// Does what was asked for at the end of the file or of the range. True if there may be more packets.
    fn finish_range(&mut self, cx: &mut Cx<'_>, file_ended: bool) -> bool {
        let held = std::mem::take(&mut self.source.range_ended);
        match &self.at_end {
            AtEnd::Call(call) => {
                cx.call(call.clone());
                return held && !file_ended;
            }
            AtEnd::Stop => {
                self.active = false;
                cx.please_stop();
            }
            AtEnd::Pause => self.active = false,
            AtEnd::Nothing => {}
        }
        self.source.held = None;
        false
    }

    fn set_active(&mut self, cx: &mut Cx<'_>, active: bool) {
        self.active = active;
        if active {
            reading::wake(cx, self.push);
        }
    }
}

impl Element for FromDump {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.open()?;
        if let AtEnd::Call(call) = &self.at_end {
            call.check_by(cx)?;
        }
        reading::begin(cx, self.push, self.active);
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        let mut batch = cx.batch();
        let want = cx.vector();
        let met = self.fill(cx, &mut batch, want);
        cx.emit(0, batch);
        let more = match met {
            None => true,
            Some(Next::Later(at_ns)) => {
                cx.timer_at(0, at_ns);
                false
            }
            Some(met) => self.finish_range(cx, matches!(met, Next::FileEnd)),
        };
        if more {
            cx.schedule();
        }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active {
            cx.set_signal(false);
            return Pull::Nothing;
        }
        let mut batch = cx.batch();
        let met = self.fill(cx, &mut batch, want);
        if let Some(end) = reading::end(cx, &batch, met) {
            let more = self.finish_range(cx, matches!(end, Next::FileEnd));
            cx.set_signal(more);
        }
        Pull::Give(batch)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        if self.active {
            reading::wake(cx, self.push);
        }
    }

    /// The file that is being read goes on to a namesake that reads the same file.
    fn give_state(&mut self) -> Option<Box<dyn Any + Send>> {
        let empty =
            Source { reader: None, bytes: Vec::new(), range: self.source.range.clone(), ..self.source };
        let source = std::mem::replace(&mut self.source, empty);
        Some(Box::new((self.filename.clone(), source)))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) -> Result<(), Refused> {
        if let Ok(kept) = state.downcast::<(String, Source)>()
            && kept.0 == self.filename
        {
            let range = std::mem::take(&mut self.source.range);
            self.source = Source { range, ..kept.1 };
        }
        Ok(())
    }

    fn handlers(&self, h: &mut Handlers) {
        type D = FromDump;
        h.read("filename", |e: &mut D, _| e.filename.clone());
        h.read("filesize", |e: &mut D, _| e.filesize.map_or("-".to_owned(), |size| size.to_string()));
        h.read("filepos", |e: &mut D, _| e.source.offset());
        h.write("filepos", |e: &mut D, cx, text| {
            let filepos = router::value(cx, text).map_err(|_| "argument must be file offset".to_owned())?;
            e.seek(filepos)
        });
        h.read("packet_filepos", |e: &mut D, _| e.source.position);
        h.read("encap", |e: &mut D, _| encap::name(e.linktype));
        h.read("sampling_prob", |e: &mut D, _| {
            let text = format!("{:.8}", f64::from(e.sample) / f64::from(SAMPLE_ONE));
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        });
        h.count("reset_counts", |e: &mut D| &mut e.count).measures(&metric::PACKETS);
        h.read("active", |e: &mut D, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut D, cx, text| {
            let active = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            e.set_active(cx, active);
            Ok(())
        });
        h.write("stop", |e: &mut D, cx, _| {
            e.active = false;
            cx.please_stop();
            Ok(())
        })
        .as_button();
        h.write("extend_interval", |e: &mut D, cx, text| {
            let by =
                router::value::<Nanos>(cx, text).map_err(|_| "'extend_interval' takes a time interval")?;
            e.source.range.extend(by);
            if !matches!(e.at_end, AtEnd::Nothing) {
                e.set_active(cx, true);
            }
            Ok(())
        });
        h.write("reset_timing", |e: &mut D, _, _| {
            e.source.range.reset();
            e.source.pace = None;
            Ok(())
        })
        .as_button();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{build, errors, run, run_and_read};
    use device::capture::{Format, LinkType, Options, Writer};
    use router::Call;

    const SECOND: i64 = 1_000_000_000;

    /// A capture of packets of 60, 61, ... bytes, a second apart, in a file of its own folder.
    fn capture(name: &str, packets: usize, options: Options) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        let mut writer = Writer::create(&path, options).unwrap();
        for i in 0..packets {
            let mut bytes = vec![i as u8; 60 + i];
            // An IPv4 packet for 10.0.0.i; the packet with the odd number is none.
            bytes[12..14].copy_from_slice(if i == 1 { &[8, 6] } else { &[8, 0] });
            bytes[14] = 0x45;
            bytes[30..34].copy_from_slice(&[10, 0, 0, i as u8]);
            writer.write(1_000 * SECOND + i as i64 * SECOND, 100 + i as u32, &bytes).unwrap();
        }
        writer.close().unwrap();
        (folder, path)
    }

    /// All of a file, whatever its format, and what handlers say about it.
    #[test]
    fn whole_files() {
        for (name, format) in [
            ("a.pcap", Format::Pcap),
            ("a.pcap.gz", Format::Pcap),
            ("a.pcap.bz2", Format::Pcap),
            ("a.ng", Format::PcapNg),
        ] {
            let (_folder, path) = capture(name, 5, Options { format, ..Options::default() });
            let config = format!("d :: FromDump({path}, STOP true) -> c :: Counter -> Discard");
            let read =
                run_and_read(&config, &["d.count", "c.byte_count", "d.encap", "d.active", "d.filename"]);
            assert_eq!(read, ["5", "310", "ETHER", "false", path.as_str()]);
            let size = if name.ends_with("gz") || name.ends_with("bz2") {
                "-".to_owned()
            } else {
                std::fs::metadata(&path).unwrap().len().to_string()
            };
            assert_eq!(run_and_read(&config, &["d.filesize"]), [size]);
        }
    }

    /// Only what lies in the range; the end of the range is an end.
    #[test]
    fn ranges() {
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        for (arguments, packets) in [
            ("START 1002", "6"),
            ("START_AFTER 2", "6"),
            ("END 1002", "2"),
            ("END_AFTER 2.5", "3"),
            ("START 1001, INTERVAL 2", "2"),
            ("START 2000", "0"),
            ("SAMPLE 0", "0"),
            ("FILEPOS 25", "7"),
        ] {
            let config = format!("d :: FromDump({path}, STOP true, {arguments}) -> Discard");
            assert_eq!(run_and_read(&config, &["d.count"]), [packets], "{arguments}");
        }
        // A call that leaves the element active lets the rest follow; it comes before them.
        let config = format!(
            "FromDump({path}, END 1003, END_CALL c.reset) -> c :: Counter -> Discard;
             InfiniteSource(LIMIT 1000, STOP true) -> Discard;"
        );
        assert_eq!(
            run_and_read(&config, &["c.count"]),
            ["0"],
            "the call is made at the end of the file, too"
        );
    }

    /// Reading goes on where it is told to: with the whole file again, with its last packets.
    #[test]
    fn positions() {
        for name in ["a.pcap", "a.pcap.gz"] {
            let (_folder, path) = capture(name, 8, Options::default());
            let config = format!(
                "d :: FromDump({path}, END_CALL s.run) -> Discard; s :: Script(TYPE PASSIVE, init n 0, set n $(add $n 1),
                 print $(d.count), write d.filepos $(if $(eq $n 1) 0 500), write d.active $(le $n 2), goto end $(le $n 2), stop, label end)"
            );
            let lines = run(&config);
            assert_eq!(lines.lines().take(2).collect::<Vec<_>>(), ["8", "16"], "{name}: {lines}");
        }
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        let config =
            format!("d :: FromDump({path}, ACTIVE false) -> Discard; Script(write d.filepos 99999, stop)");
        assert!(run(&config).contains("FILEPOS out of range"));
    }

    /// The pace of the capture is kept.
    #[test]
    fn timing() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let config = format!("FromDump({path}, TIMING true, STOP true) -> Discard");
        let mut router = build(&config, 1, 32).unwrap();
        let start = router.clock().now_ns();
        router.run();
        assert_eq!(router.clock().now_ns() - start, 3 * SECOND);
    }

    /// A formula says the pace at each packet; where it is not positive, nothing follows.
    #[test]
    fn formulas() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let run = |formula: &str| {
            let config =
                format!("d :: FromDump({path}, TIMING true, STOP true, TIMING_FNT \"{formula}\") -> Discard");
            let mut router = build(&config, 1, 32).unwrap();
            let start = router.clock().now_ns();
            router.run();
            let count = router.call(Call::read("d.count", "")).unwrap();
            ((router.clock().now_ns() - start) / (SECOND / 100), count)
        };
        assert_eq!(run("100"), (300, "4".to_owned()));
        assert_eq!(run("100 * (1 + x)"), (100 + 50 + 40, "4".to_owned()));
        assert_eq!(run("100 - 100 * x"), (100, "2".to_owned()));
        let text = errors(&format!("FromDump({path}, TIMING_FNT \"2 +\") -> Discard"));
        assert!(text.contains("TIMING_FNT: bad formula"), "{text}");
    }

    /// IP packets are marked, others part; packets without link header are IP packets by nature.
    #[test]
    fn forced_ip() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let config =
            format!("d :: FromDump({path}, FORCE_IP true, STOP true) -> a :: Discard; d[1] -> b :: Discard");
        assert_eq!(run_and_read(&config, &["a.count", "b.byte_count", "d.count"]), ["3", "61", "3"]);
        let config = format!("d :: FromDump({path}, FORCE_IP true, STOP true) -> a :: Discard");
        assert_eq!(run_and_read(&config, &["d.drop_reasons"]), ["1\tno IP packet\n"]);
        let (_folder, path) =
            capture("b.pcap", 4, Options { linktype: LinkType::RawIp, ..Options::default() });
        let config = format!("d :: FromDump({path}, STOP true) -> a :: Discard");
        let read = run_and_read(&config, &["a.count", "d.encap", "d.drop_reasons"]);
        assert_eq!(read, ["0", "IP", "4\tno IP packet\n"], "none of them begins with an IP version");
        let (_folder, path) =
            capture("c.pcap", 1, Options { linktype: LinkType::Other(147), ..Options::default() });
        let text = errors(&format!("FromDump({path}, FORCE_IP true) -> Discard"));
        assert!(text.contains("unknown linktype 147; can't force IP packets"), "{text}");
    }

    /// A damaged file ends with a message, after what was good.
    #[test]
    fn truncated_file() {
        let (_folder, path) = capture("a.pcap", 4, Options::default());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> Discard");
        assert_eq!(run_and_read(&config, &["d.count"]), ["3"]);
        let said = run(&config);
        assert!(said.contains(&path) && said.starts_with("d :: FromDump: "), "{said}");
        let text = errors("FromDump(/nonexistent/file.pcap) -> Discard");
        assert!(text.contains("/nonexistent/file.pcap"), "{text}");
    }

    /// A record that is too long for a packet ends the file, whatever follows.
    #[test]
    fn too_long_a_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.pcap").to_str().unwrap().to_owned();
        let mut writer = Writer::create(&path, Options::default()).unwrap();
        for len in [60, 65_535, 65_536, 60] {
            writer.write(1_000 * SECOND, 0, &vec![0; len]).unwrap();
        }
        writer.close().unwrap();
        let config = format!("d :: FromDump({path}, STOP true) -> Discard");
        assert_eq!(run(&config), format!("d :: FromDump: {path}: bad packet header; giving up\n"));
        assert_eq!(run_and_read(&config, &["d.count"]), ["2"]);
    }

    /// After the end another position alone starts nothing.
    #[test]
    fn position_after_the_end() {
        let (_folder, path) = capture("a.pcap", 8, Options::default());
        let run = |script: &str| {
            let config = format!(
                "d :: FromDump({path}) -> c :: Counter -> Discard; Script(wait 1, {script}, wait 1, stop)"
            );
            run_and_read(&config, &["c.count"]).remove(0)
        };
        assert_eq!(run("write d.filepos 0"), "8");
        assert_eq!(run("write d.filepos 0, write d.active true"), "16");
    }

    /// A configuration can be checked where its captures are not.
    #[test]
    fn checked_without_its_file() {
        let parsed = lang::parse("FromDump(/nonexistent/file.pcap) -> Discard", "config", &[]);
        let known = crate::classes();
        let layout = router::layout(parsed.graph, &known, 1).unwrap();
        assert!(router::check(layout, String::new(), &known, router::Options::default()).is_ok());
    }

    /// A pull output gives what is asked for.
    #[test]
    fn pulled() {
        let (_folder, path) = capture("a.pcap", 5, Options::default());
        let config = format!("d :: FromDump({path}, STOP true) -> c :: Discard(BURST 3)");
        assert_eq!(run_and_read(&config, &["c.count", "d.count"]), ["5", "5"]);
    }

    /// A namesake in a new configuration goes on where the old one stopped.
    #[test]
    fn taken_over() {
        let (_folder, path) = capture("a.pcap", 9, Options::default());
        let mut old =
            build(&format!("d :: FromDump({path}, END_AFTER 4, STOP true) -> Discard"), 1, 1).unwrap();
        old.run();
        let mut new = build(&format!("d :: FromDump({path}, STOP true) -> Discard"), 1, 1).unwrap();
        new.take_over(&mut old).unwrap();
        new.run();
        assert_eq!(new.call(Call::read("d.count", "")), Ok("4".to_owned())); // the fifth was read and dropped
    }
}
