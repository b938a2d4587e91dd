//! A trace that is being read: its records, one after the other, and what has become of them.

use super::range::Range;
use device::capture::{Reader, Record};
use packet::{Class, DEFAULT_HEADROOM};
use router::{ConfigError, Cx};

/// Bytes of the longest packet that a buffer holds: more than an IP packet and its link header can have.
pub(super) const PACKET_MAX: usize = Class::Large.room() - DEFAULT_HEADROOM;

/// How far a record that was read has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    New,
    /// It is in the range and in the sample.
    Chosen,
}

/// What the times at which packets are due are counted from.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    /// When the first packet was emitted.
    pub(super) start_ns: i64,
    /// The capture time of the first packet, or with a formula of the last, and when it was emitted.
    pub(super) captured_ns: i64,
    pub(super) emitted_ns: i64,
}

/// The file, and what has been read of it.
pub(super) struct TraceFile {
    /// `None` once a new configuration has it.
    pub(super) reader: Option<Reader>,
    /// The bytes of the record that was read last.
    pub(super) bytes: Vec<u8>,
    pub(super) held: Option<(Record, Stage)>,
    /// Where the last record begins.
    pub(super) position: u64,
    pub(super) range: Range,
    pub(super) pace: Option<Pace>,
    /// The end of the range was met, but nothing done about it yet.
    pub(super) range_ended: bool,
    pub(super) ended: bool,
    /// Bad records of which is known that the reader has skipped them.
    skipped_before: u64,
    /// Records that became no packets, because they are bad or too long.
    lost: u64,
    said_too_long: bool,
}

/// The bytes of a file, if it is one and its positions are those that are read.
pub(super) fn file_size(reader: &Reader, path: &str) -> Option<u64> {
    let known = path != "<stdin>" && !reader.is_compressed();
    let data = if known { std::fs::metadata(path).ok()? } else { return None };
    data.is_file().then_some(data.len())
}

impl TraceFile {
    /// No file yet.
    pub(super) fn new(range: Range) -> TraceFile {
        TraceFile {
            reader: None,
            bytes: Vec::new(),
            held: None,
            position: 0,
            range,
            pace: None,
            range_ended: false,
            ended: false,
            skipped_before: 0,
            lost: 0,
            said_too_long: false,
        }
    }

    /// What is left when the file goes on to a namesake.
    pub(super) fn hand_on(&mut self) -> TraceFile {
        let rest = TraceFile::new(self.range.clone());
        std::mem::replace(self, rest)
    }

    /// Begins with the first record at or behind a position of the file.
    pub(super) fn begin(&mut self, mut reader: Reader, filepos: u64) -> Result<(), ConfigError> {
        self.skipped_before = 0;
        while reader.offset() < filepos {
            let more = reader.next(&mut self.bytes).map_err(|error| error.to_string())?;
            // Records in front are not wanted: whether they are bad is of no interest.
            self.skipped_before = reader.skipped();
            reader.complaint();
            let Some(record) = more else { break };
            // Bad records may lie in between.
            if reader.position() >= filepos {
                self.held = Some((record, Stage::New));
                break;
            }
        }
        self.position = if self.held.is_some() { reader.position() } else { reader.offset() };
        self.reader = Some(reader);
        Ok(())
    }

    /// How far the file has been read.
    pub(super) fn offset(&self) -> u64 {
        self.reader.as_ref().map_or(0, Reader::offset)
    }

    /// Whether the next record is to be waited for.
    pub(super) fn is_waiting(&self) -> bool {
        self.held.is_none() && !self.ended && self.reader.as_ref().is_some_and(Reader::is_waiting)
    }

    /// Reads a record unless one is held. `None` at the end; an error is an end with a message.
    pub(super) fn read(&mut self, cx: &mut Cx<'_>) -> Option<(Record, Stage)> {
        if self.held.is_none() && !self.ended {
            let reader = self.reader.as_mut()?;
            self.position = reader.offset();
            let next = reader.next(&mut self.bytes);
            if matches!(next, Ok(Some(_))) {
                self.position = reader.position();
            }
            let skipped = reader.skipped() - self.skipped_before;
            self.skipped_before += skipped;
            if let Some(complaint) = reader.complaint() {
                say(cx, &complaint);
            }
            let mut bad = skipped;
            match next {
                Ok(record) => self.held = record.map(|record| (record, Stage::New)),
                Err(error) => {
                    say(cx, &error);
                    bad += 1;
                }
            }
            cx.count_drops("bad record in the capture", bad);
            self.lost += bad;
            self.ended = self.held.is_none();
            if self.ended && self.lost > 1 {
                let (name, lost) = (self.reader.as_ref().map_or("", Reader::name), self.lost);
                say(cx, &format_args!("{name}: {lost} records could not be used"));
            }
        }
        self.held
    }

    /// Notes that the record which was read last is too long for a buffer.
    pub(super) fn too_long(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::replace(&mut self.said_too_long, true) {
            let (name, bytes) = (self.reader.as_ref().map_or("", Reader::name), self.bytes.len());
            let at = self.position;
            say(
                cx,
                &format_args!(
                    "{name}: byte {at}: a packet of {bytes} bytes is skipped: {PACKET_MAX} are the most"
                ),
            );
        }
        cx.count_drops("longer than a packet buffer", 1);
        self.lost += 1;
    }
}

fn say(cx: &Cx<'_>, what: &dyn std::fmt::Display) {
    cx.log(format_args!("{} :: FromDump: {what}", cx.name()));
}
