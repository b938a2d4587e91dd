//! What elements share that make packets of the records of a file.

use super::maker::Maker;
use elements_shared::reading::{self, Next};
use packet::Batch;
use router::{Call, Config, ConfigError, Cx, Element, Flags, Handlers, Pull, metric};
use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records of a file.
pub(super) trait Records: Send {
    /// Begins to read, perhaps once more.
    fn open(&mut self, bytes: Box<dyn BufRead + Send>);

    /// The next record as a packet to be made; `None` at the end.
    fn next(&mut self, cx: &Cx<'_>) -> Option<Maker>;
}

/// Packets that one record stands for, and how many of them are still to come.
struct Repeat {
    maker: Maker,
    left: u64,
    /// Bytes of each packet but the last, and of the last.
    length: u64,
    last_length: u64,
    step_ns: i64,
    end_ns: i64,
}

impl Repeat {
    fn new(mut maker: Maker, multipacket: bool) -> Repeat {
        let count = if multipacket { maker.notes.extra_packets + 1 } else { 1 };
        let (total, end_ns) = (maker.total(), maker.notes.time_ns);
        if count == 1 {
            return Repeat { maker, left: 1, length: total, last_length: total, step_ns: 0, end_ns };
        }
        let least = total - maker.notes.extra_length;
        let length = (total / count).max(least);
        let last_length = total.saturating_sub(length.saturating_mul(count - 1)).max(least);
        let mut step_ns = 0;
        if maker.notes.first_time_ns != 0 {
            step_ns = (end_ns - maker.notes.first_time_ns) / i64::try_from(count - 1).unwrap_or(i64::MAX);
            maker.notes.time_ns = maker.notes.first_time_ns;
        }
        maker.notes.extra_packets = 0;
        maker.set_total(length);
        Repeat { maker, left: count, length, last_length, step_ns, end_ns }
    }

    /// Goes on to the next packet; false if there is none.
    fn advance(&mut self) -> bool {
        self.left -= 1;
        if self.left == 1 {
            self.maker.notes.time_ns = self.end_ns;
            if self.last_length != self.length {
                self.maker.set_total(self.last_length);
            }
        } else {
            self.maker.notes.time_ns += self.step_ns;
        }
        self.left > 0
    }
}

/// Bytes of a file, which are counted as they are read.
struct Counted<R> {
    bytes: R,
    position: Arc<AtomicU64>,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let got = self.bytes.read(buf)?;
        self.position.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.bytes.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.position.fetch_add(amount as u64, Ordering::Relaxed);
        self.bytes.consume(amount);
    }
}

/// An element that makes packets of the records of a file.
pub(super) struct RecordSource {
    pub(super) filename: String,
    pub(super) data: Option<Arc<[u8]>>,
    pub(super) allow_missing: bool,
    pub(super) reader: Box<dyn Records>,
    current: Option<Repeat>,
    pub(super) stop: bool,
    pub(super) active: bool,
    pub(super) timing: bool,
    /// Whether packets get the times of their records.
    pub(super) timestamp: bool,
    /// How often the file is still to be read again; `None` for ever.
    pub(super) again: Option<u32>,
    /// What is called each time the file is read again.
    pub(super) loop_call: Option<Call>,
    /// Whether it had a record this time.
    any: bool,
    pace_ns: Option<i64>,
    pub(super) multipacket: bool,
    pub(super) sample: f64,
    pub(super) burst: usize,
    push: bool,
    count: u64,
    compressed: bool,
    /// How far the file has been read, decompressed.
    position: Arc<AtomicU64>,
}

/// Records passed over in one go before others get their turn.
const SKIPS_PER_RUN: usize = 64;

impl RecordSource {
    /// A source of the records of a file, `-` for standard input, with everything else as it is by default.
    pub(super) fn new(config: &Config<'_>, filename: &str, reader: Box<dyn Records>) -> RecordSource {
        RecordSource {
            filename: if filename == "-" { "<stdin>".to_owned() } else { filename.to_owned() },
            data: None,
            allow_missing: false,
            reader,
            current: None,
            stop: false,
            active: true,
            timing: false,
            timestamp: true,
            again: Some(0),
            loop_call: None,
            any: false,
            pace_ns: None,
            multipacket: false,
            sample: 1.0,
            burst: 1,
            push: config.output_is_push(0),
            count: 0,
            compressed: false,
            position: Arc::default(),
        }
    }

    /// Sets the sampling probability.
    pub(super) fn set_sample(&mut self, config: &mut Config<'_>, sample: f64) {
        if sample > 1.0 {
            config.warn("SAMPLE probability reduced to 1");
        } else if sample <= 0.0 {
            config.warn("SAMPLE probability is 0; emitting no packets");
        }
        self.sample = sample.clamp(0.0, 1.0);
    }
}

impl RecordSource {
    fn open(&mut self) -> Result<(), String> {
        if let Some(data) = self.data.clone() {
            self.reader.open(Box::new(Cursor::new(data)));
            return Ok(());
        }
        let path = if self.filename == "<stdin>" { "-" } else { &self.filename };
        if self.allow_missing && path != "-" && !std::path::Path::new(path).exists() {
            return Ok(());
        }
        let (mut bytes, compressed) = device::capture::open_bytes(path).map_err(|error| error.to_string())?;
        if !self.allow_missing && bytes.fill_buf().is_ok_and(<[u8]>::is_empty) {
            return Err(format!("{}: empty file", self.filename));
        }
        self.compressed = compressed;
        self.reader.open(Box::new(Counted { bytes, position: self.position.clone() }));
        Ok(())
    }

    /// Begins to read the file once more, if that is wanted and not in vain.
    fn begin_again(&mut self, cx: &mut Cx<'_>) -> bool {
        let wanted = self.again.is_none_or(|again| again > 0);
        if !wanted || !std::mem::take(&mut self.any) || self.filename == "<stdin>" {
            return false;
        }
        self.again = self.again.map(|again| again - 1);
        self.pace_ns = None;
        self.position.store(0, Ordering::Relaxed);
        if let Some(call) = &self.loop_call {
            cx.handlers().call(call.clone());
        }
        self.open().is_ok()
    }

    /// The bytes of the file; a dash if it is none, or if positions do not count its bytes.
    fn size(&self) -> String {
        let data = std::fs::metadata(&self.filename).ok();
        let data = data.filter(|data| data.is_file() && !self.compressed);
        data.map_or_else(|| "-".to_owned(), |data| data.len().to_string())
    }

    fn next(&mut self, cx: &mut Cx<'_>) -> Next {
        if self.current.is_none() {
            let maker = match self.reader.next(cx) {
                None if self.begin_again(cx) => self.reader.next(cx),
                maker => maker,
            };
            self.any |= maker.is_some();
            self.current = maker.map(|maker| Repeat::new(maker, self.multipacket));
        }
        let Some(current) = &mut self.current else { return Next::FileEnd };
        if self.timing {
            let time_ns = current.maker.notes.time_ns;
            let at_ns =
                time_ns.saturating_add(*self.pace_ns.get_or_insert(cx.now_ns().saturating_sub(time_ns)));
            if cx.now_ns() < at_ns {
                return Next::Later(at_ns);
            }
        }
        let wanted = self.sample >= 1.0 || cx.rng().f64() < self.sample;
        let made = if wanted { current.maker.packet(cx) } else { None };
        if !current.advance() {
            self.current = None;
        }
        match made {
            Some(mut packet) => {
                if !self.timestamp {
                    packet.set_timestamp_ns(0);
                }
                Next::Packet(packet)
            }
            None => {
                cx.count_drops("no buffer for a packet of a summary", u64::from(wanted));
                Next::Skipped
            }
        }
    }

    fn fill(&mut self, cx: &mut Cx<'_>, batch: &mut Batch, want: usize) -> Option<Next> {
        let met = reading::fill(cx, batch, want, SKIPS_PER_RUN, |cx| self.next(cx));
        self.count += batch.len() as u64;
        met
    }

    fn end(&mut self, cx: &mut Cx<'_>) {
        if self.stop {
            cx.info().please_end();
        }
    }

    fn wake(&mut self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        reading::wake(cx, self.push);
    }
}

impl Element for RecordSource {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), ConfigError> {
        self.open()?;
        reading::begin(cx, self.push, self.active);
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        let mut batch = cx.batch();
        let met = self.fill(cx, &mut batch, self.burst);
        cx.emit(0, batch);
        match met {
            Some(Next::Later(at_ns)) => cx.timers().at(0, at_ns),
            Some(_) => self.end(cx),
            None => cx.tasks().schedule(),
        }
    }

    fn pull(&mut self, cx: &mut Cx<'_>, _port: usize, want: usize) -> Pull {
        if !self.active {
            cx.signals().set(false);
            return Pull::Nothing;
        }
        let mut batch = cx.batch();
        let met = self.fill(cx, &mut batch, want);
        if reading::end(cx, &batch, met).is_some() {
            if cx.signals().is_active() {
                self.end(cx);
            }
            cx.signals().set(false);
        }
        Pull::Give(batch)
    }

    fn timer(&mut self, cx: &mut Cx<'_>, _key: u32) {
        self.wake(cx);
    }

    fn handlers(&self, h: &mut Handlers) {
        type F = RecordSource;
        h.read("active", |e: &mut F, _| e.active).flagged(Flags::CHECKBOX);
        h.write("active", |e: &mut F, cx, text| {
            e.active = router::value(cx, text).map_err(|_| "type mismatch".to_owned())?;
            e.wake(cx);
            Ok(())
        });
        h.write("stop", |e: &mut F, cx, _| {
            e.active = false;
            cx.info().please_stop();
            Ok(())
        })
        .as_button();
        h.read("count", |e: &mut F, _| e.count).measures(&metric::PACKETS);
        h.read("filename", |e: &mut F, _| e.filename.clone());
        h.read("filesize", |e: &mut F, _| e.size());
        h.read("filepos", |e: &mut F, _| e.position.load(Ordering::Relaxed));
        h.read("sampling_prob", |e: &mut F, _| e.sample);
        h.read("encap", |_: &mut F, _| "IP");
    }
}
