//! What elements share that emit the packets of a trace, whatever the format of its file.

use super::range::{Nanos, Range, RangeArgs, RangePosition};
use super::trace_file::{PACKET_MAX, Pace, Stage, TraceFile, file_size};
use device::capture::{LinkType, Reader, Record};
use elements_shared::encap::{self, Encap, mark_ip};
use elements_shared::formula::Formula;
use elements_shared::packet_end::lengthen;
use elements_shared::reading::{self, Next};
use packet::{Anno, Batch, Packet};
use router::{
    Args, Call, CallArg, Config, ConfigError, Cx, Element, FileName, Flags, Handlers, Pull, metric,
};
use std::any::Any;
use std::sync::Arc;

/// Sampling probabilities are multiples of 2^-28, as in Click.
const SAMPLE_ONE: u32 = 1 << 28;
/// Records passed over in one go before others get their turn.
const SKIPS_PER_RUN: usize = 16;

/// How often a named pipe is looked at that has nothing to read, in nanoseconds.
const LOOK_NS: i64 = 5_000_000;

/// What happens at the end.
enum AtEnd {
    Nothing,
    /// The end of a range: no more packets.
    Pause,
    Stop,
    Call(Call),
}

/// An element that reads a trace.
pub(super) struct Trace {
    filename: String,
    filesize: Option<u64>,
    /// That of the last packet, and that of the file or its first interface.
    linktype: LinkType,
    first_linktype: LinkType,
    encap: Arc<Encap>,
    pub(super) filepos: u64,
    file: TraceFile,
    pub(super) timing: bool,
    /// The pace with `timing`, in per cent of the capture's.
    pub(super) acceleration: u32,
    /// What computes it instead.
    pub(super) formula: Option<Formula>,
    /// 0 for the length that packets had, or a length for all; none to leave them.
    pub(super) force_len: Option<usize>,
    active: bool,
    pub(super) force_ip: bool,
    sample: u32,
    at_end: AtEnd,
    outputs: usize,
    push: bool,
    count: u64,
}

/// Arguments that all of these elements have.
pub(super) struct Arguments {
    pub(super) filename: FileName,
    stop: bool,
    active: bool,
    pub(super) force_ip: bool,
    sample: f64,
    times: RangeArgs,
    end_call: Option<CallArg>,
    mmap: bool,
}

impl Arguments {
    pub(super) fn new() -> Arguments {
        Arguments {
            filename: FileName::default(),
            stop: false,
            active: true,
            force_ip: false,
            sample: 1.0,
            times: RangeArgs::default(),
            end_call: None,
            mmap: false,
        }
    }

    /// Has them read.
    pub(super) fn slots<'s, 'v>(&'v mut self, args: Args<'s, 'v>) -> Args<'s, 'v> {
        args.required("FILENAME", &mut self.filename)
            .keyword("STOP", &mut self.stop)
            .keyword("ACTIVE", &mut self.active)
            .keyword("SAMPLE", &mut self.sample)
            .keyword("FORCE_IP", &mut self.force_ip)
            .keyword("START", &mut self.times.start)
            .keyword("START_AFTER", &mut self.times.start_after)
            .keyword("END", &mut self.times.end)
            .keyword("END_AFTER", &mut self.times.end_after)
            .keyword("INTERVAL", &mut self.times.interval)
            .keyword("END_CALL", &mut self.end_call)
            .keyword("MMAP", &mut self.mmap)
    }
}

impl Trace {
    /// An element with everything else as it is by default.
    ///
    /// # Errors
    /// Arguments that exclude each other, or a probability that is none.
    pub(super) fn new(config: &mut Config<'_>, arguments: Arguments) -> Result<Trace, ConfigError> {
        let range = Range::new(arguments.times)?;
        let at_end = match arguments.end_call {
            Some(_) if arguments.stop => return Err("END_CALL and STOP are mutually exclusive".into()),
            Some(call) => AtEnd::Call(call.0),
            None if arguments.stop => AtEnd::Stop,
            None if range.ends() => AtEnd::Pause,
            None => AtEnd::Nothing,
        };
        let (sample, filename) = (probability(config, arguments.sample)?, arguments.filename.0);
        let encap = config.shared(|| Ok(Encap::of_file(&filename)))?;
        Ok(Trace {
            filesize: None,
            filename: if filename == "-" { "<stdin>".to_owned() } else { filename },
            linktype: LinkType::Ethernet,
            first_linktype: LinkType::Ethernet,
            encap,
            filepos: 0,
            file: TraceFile::new(range),
            timing: false,
            acceleration: 100,
            formula: None,
            force_len: None,
            active: arguments.active,
            force_ip: arguments.force_ip,
            sample,
            at_end,
            outputs: config.outputs(),
            push: config.output_is_push(0),
            count: 0,
        })
    }
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

/// Whether packets of this link type begin with an IP header.
fn without_link_header(linktype: LinkType) -> bool {
    matches!(linktype, LinkType::RawIp | LinkType::Ipv4 | LinkType::Ipv6)
}

impl Trace {
    fn open(&mut self) -> Result<(), ConfigError> {
        self.linktype = self.encap.linktype()?;
        if self.force_ip && matches!(self.linktype, LinkType::Other(_)) {
            let (name, code) = (&self.filename, self.linktype.code());
            return Err(format!("{name}: unknown linktype {code}; can't force IP packets").into());
        }
        self.first_linktype = self.linktype;
        let Some(reader) = self.encap.take_reader() else { return Ok(()) };
        self.filesize = file_size(&reader, &self.filename);
        self.file.begin(reader, self.filepos)
    }

    fn next(&mut self, cx: &mut Cx<'_>) -> Next {
        let now = cx.now_ns();
        if self.file.is_waiting() && !cx.info().clock.is_simulated() {
            return Next::Later(now + LOOK_NS);
        }
        let Some((record, stage)) = self.file.read(cx) else { return Next::FileEnd };
        let first = Pace { start_ns: now, captured_ns: record.time_ns, emitted_ns: now };
        let pace = *self.file.pace.get_or_insert(first);
        if self.file.range_ended {
            return Next::RangeEnd;
        }
        if stage == Stage::New {
            match self.file.range.position(record.time_ns) {
                RangePosition::End => {
                    self.file.range_ended = true;
                    return Next::RangeEnd;
                }
                RangePosition::Inside if self.sample(cx) => self.file.held = Some((record, Stage::Chosen)),
                RangePosition::Inside | RangePosition::Before => {
                    self.file.held = None;
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
                self.file.pace = Some(pace);
            }
        }
        self.file.held = None;
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
        if self.file.bytes.len() > PACKET_MAX {
            self.file.too_long(cx);
            return Next::Skipped;
        }
        let bytes = &self.file.bytes;
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
        packet.set_paint(record.interface);
        packet.set_captured_link(record.linktype.code());
        self.linktype = record.linktype;
        if record.linktype != self.first_linktype {
            self.note_several(cx, record.linktype);
        }
        // Packets without link-layer headers are IP packets or nothing.
        let force_ip = self.force_ip || without_link_header(record.linktype);
        if !force_ip || mark_ip(&mut packet, record.linktype) {
            return Next::Packet(packet);
        }
        if self.outputs > 1 {
            cx.emit_packet(1, packet);
        } else {
            cx.drop(packet, "no IP packet");
        }
        Next::Skipped
    }

    /// Notes that the packet which comes next has another link type than the first one, and says so unless that does no harm.
    fn note_several(&mut self, cx: &Cx<'_>, other: LinkType) {
        if self.encap.has_several() {
            return;
        }
        self.encap.set_several();
        if !self.force_ip && !self.encap.is_asked() {
            let (name, file, first) = (cx.name(), &self.filename, self.first_linktype);
            cx.log(format_args!(
                "{name} :: FromDump: {file}: packets have several link types ({first}, {other}); ToDump writes each as what it is \
                 with USE_ENCAP_FROM {name}, PCAPNG true"
            ));
        }
    }

    /// Gives a packet the length that FORCE_LEN says.
    fn with_length(&self, cx: &mut Cx<'_>, mut packet: Packet, record: &Record) -> Result<Packet, Packet> {
        let wanted = match self.force_len.unwrap_or(0) {
            0 => record.orig_len as usize,
            length if without_link_header(record.linktype) => length - wire::ethernet::HEADER_LEN,
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
        self.encap.set_position(self.file.position);
        self.count += batch.len() as u64;
        met
    }

    /// Goes on at another position of the file, which is opened once more. After the end nothing goes on before a script or an operator writes `active`,
    /// as in Click, where scripts count on it.
    fn seek(&mut self, filepos: u64) -> Result<(), String> {
        if self.file.offset() == filepos && self.file.held.is_none() {
            return Ok(());
        }
        if self.filename == "<stdin>" {
            return Err("standard input has no positions".to_owned());
        }
        if self.filesize.is_some_and(|size| filepos > size) {
            return Err("FILEPOS out of range".to_owned());
        }
        let reader = Reader::open(&self.filename).map_err(|error| error.to_string())?;
        (self.file.held, self.file.ended, self.file.range_ended) = (None, false, false);
        self.file.begin(reader, filepos).map_err(|error| error.to_string())
    }

    /// Does what was asked for at the end of the file or of the range. True if there may be more packets.
    fn finish_range(&mut self, cx: &mut Cx<'_>, file_ended: bool) -> bool {
        let held = std::mem::take(&mut self.file.range_ended);
        match &self.at_end {
            AtEnd::Call(call) => {
                cx.handlers().call_at_end(call.clone());
                return held && !file_ended;
            }
            AtEnd::Stop => {
                self.active = false;
                cx.info().please_end();
            }
            AtEnd::Pause => self.active = false,
            AtEnd::Nothing => {}
        }
        self.file.held = None;
        false
    }

    fn set_active(&mut self, cx: &mut Cx<'_>, active: bool) {
        self.active = active;
        if active {
            reading::wake(cx, self.push);
        }
    }
}

impl Element for Trace {
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
                cx.timers().at(0, at_ns);
                false
            }
            Some(met) => self.finish_range(cx, matches!(met, Next::FileEnd)),
        };
        if more {
            cx.tasks().schedule();
        }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active {
            cx.signals().set(false);
            return Pull::Nothing;
        }
        let mut batch = cx.batch();
        let met = self.fill(cx, &mut batch, want);
        if let Some(end) = reading::end(cx, &batch, met) {
            let more = self.finish_range(cx, matches!(end, Next::FileEnd));
            cx.signals().set(more);
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
        Some(Box::new((self.filename.clone(), self.file.hand_on())))
    }

    fn take_state(&mut self, _cx: &mut Cx<'_>, state: Box<dyn Any + Send>) {
        if let Ok(kept) = state.downcast::<(String, TraceFile)>()
            && kept.0 == self.filename
        {
            let range = std::mem::take(&mut self.file.range);
            self.file = kept.1;
            self.file.range = range;
        }
    }

    fn handlers(&self, h: &mut Handlers) {
        type D = Trace;
        h.read("filename", |e: &mut D, _| e.filename.clone());
        h.read("filesize", |e: &mut D, _| e.filesize.map_or("-".to_owned(), |size| size.to_string()));
        h.read("filepos", |e: &mut D, _| e.file.offset());
        h.write("filepos", |e: &mut D, cx, text| {
            let filepos = router::value(cx, text).map_err(|_| "argument must be file offset".to_owned())?;
            e.seek(filepos)
        });
        h.read("packet_filepos", |e: &mut D, _| e.file.position);
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
            cx.info().please_stop();
            Ok(())
        })
        .as_button();
        h.write("extend_interval", |e: &mut D, cx, text| {
            let by =
                router::value::<Nanos>(cx, text).map_err(|_| "'extend_interval' takes a time interval")?;
            e.file.range.extend(by);
            if !matches!(e.at_end, AtEnd::Nothing) {
                e.set_active(cx, true);
            }
            Ok(())
        });
        h.write("reset_timing", |e: &mut D, _, _| {
            e.file.range.reset();
            e.file.pace = None;
            Ok(())
        })
        .as_button();
    }
}
