//! A trace that is being read: its records, one after the other, and what has become of them.

use super::range::Range;
use device::capture::{Reader, Record};
use router::{ConfigError, Cx};

/// Bytes of the longest packet; Click takes a record that claims more for damage.
const PACKET_MAX: usize = 65_535;

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
        }
    }

    /// Begins with the first record at or behind a position of the file.
    pub(super) fn begin(&mut self, mut reader: Reader, filepos: u64) -> Result<(), ConfigError> {
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
    pub(super) fn offset(&self) -> u64 {
        self.reader.as_ref().map_or(0, Reader::offset)
    }

    /// Reads a record unless one is held. `None` at the end; an error is an end with a message.
    pub(super) fn read(&mut self, cx: &Cx<'_>) -> Option<(Record, Stage)> {
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
