//! Reading a capture, whatever its format.

use std::io::Read;

use super::error::{Error, ErrorKind, Location};
use super::pcap::{HEADER_REST_LEN, Pcap};
use super::pcapng::PcapNg;
use super::record::Record;
use super::skipped::Skipped;
use super::source::Source;
use super::{LinkType, Result};

/// A capture that is being read, record by record.
pub struct Reader {
    name: String,
    source: Source,
    format: Format,
    linktype: LinkType,
    snaplen: u32,
    records: u64,
    skipped: Skipped,
    complaint: Option<Error>,
    /// The end or an error was met; there is nothing more.
    ended: bool,
}

enum Format {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

impl Reader {
    /// Opens the capture in the file `path`, `-` for standard input, and reads its header.
    ///
    /// # Errors
    /// The file cannot be opened or read, is no capture, or its header is truncated or damaged.
    pub fn open(path: &str) -> Result<Reader> {
        let name = if path == "-" { "<stdin>" } else { path };
        let source = Source::open(path).map_err(|kind| Error::new(name, kind))?;
        Reader::new(source, name)
    }

    /// Reads the header of a capture from `raw`; `name` stands for it in errors.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn from_read(raw: Box<dyn Read + Send>, name: &str) -> Result<Reader> {
        let source = Source::from_read(raw).map_err(|kind| Error::new(name, kind))?;
        Reader::new(source, name)
    }

    fn new(mut source: Source, name: &str) -> Result<Reader> {
        let mut skipped = Skipped::default();
        let opened = open_capture(&mut source, &mut skipped);
        let location = Location { records: 0, offset: source.mark(), compressed: source.is_compressed() };
        let format = opened.map_err(|kind| Error {
            file: name.to_owned(),
            location: location_of(&kind, location),
            kind,
            skipped: false,
        })?;
        let (linktype, snaplen) = match &format {
            Format::Pcap(pcap) => (pcap.linktype, pcap.snaplen),
            // A capture without an interface cannot have packets either.
            Format::PcapNg(pcapng) => pcapng.first_interface().unwrap_or((LinkType::Ethernet, 0)),
        };
        let mut reader = Reader {
            name: name.to_owned(),
            source,
            format,
            linktype,
            snaplen,
            records: 0,
            skipped,
            complaint: None,
            ended: false,
        };
        reader.note_skipped();
        Ok(reader)
    }

    /// Link type of the capture; of its first interface in a pcapng file, where each record has its own.
    pub fn linktype(&self) -> LinkType {
        self.linktype
    }

    /// Most bytes captured of a packet, as the header says; 0 means no limit. Not enforced.
    pub fn snaplen(&self) -> u32 {
        self.snaplen
    }

    /// Number of records handed out so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Number of bad records that were skipped so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.count
    }

    /// What is wrong with the first record that was skipped: said once, after the call of [`Reader::next`] that skipped it.
    pub fn complaint(&mut self) -> Option<Error> {
        self.complaint.take()
    }

    /// Whether the program that writes to a named pipe is to be waited for before there is anything of the next record. For what a
    /// record lacks then it is waited for a second, and longer for compressed bytes.
    pub fn is_waiting(&self) -> bool {
        self.source.is_waiting()
    }

    /// Where the next record begins: bytes read so far, after decompression.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// Where the last record begins, or the last block of a pcapng file, in bytes after decompression.
    pub fn position(&self) -> u64 {
        self.source.mark()
    }

    /// Whether the capture is compressed.
    pub fn is_compressed(&self) -> bool {
        self.source.is_compressed()
    }

    /// Name of the capture: the path, `<stdin>`, or what was given to [`Reader::from_read`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Reads the next good record; its captured bytes replace the contents of `buf`. `None` at the end.
    ///
    /// Bad records are skipped, also those that are longer than 256 KiB: see [`Reader::skipped`].
    ///
    /// Allocates only when a record is longer than any before it in `buf`. After an error there is nothing
    /// more to read: every further call returns `None`.
    ///
    /// # Errors
    /// The capture is truncated, cannot be read, or is damaged so that no further record can be found; the error says where, and how
    /// many records were good.
    /// The contents of `buf` are then unspecified.
    pub fn next(&mut self, buf: &mut Vec<u8>) -> Result<Option<Record>> {
        if self.ended {
            return Ok(None);
        }
        let next = match &mut self.format {
            Format::Pcap(pcap) => pcap.next(&mut self.source, buf, &mut self.skipped),
            Format::PcapNg(pcapng) => pcapng.next(&mut self.source, buf, &mut self.skipped),
        };
        self.note_skipped();
        match next {
            Ok(Some(record)) => {
                self.records += 1;
                Ok(Some(record))
            }
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(kind) => {
                self.ended = true;
                Err(self.error_at(self.source.mark(), kind))
            }
        }
    }

    fn error_at(&self, offset: u64, kind: ErrorKind) -> Error {
        let location = Location { records: self.records, offset, compressed: self.source.is_compressed() };
        Error { file: self.name.clone(), location: Some(location), kind, skipped: false }
    }

    /// Makes a complaint of the first record that was skipped.
    fn note_skipped(&mut self) {
        if let Some((kind, offset)) = self.skipped.first.take() {
            self.complaint = Some(Error { skipped: true, ..self.error_at(offset, kind) });
        }
    }
}

fn open_capture(source: &mut Source, skipped: &mut Skipped) -> std::result::Result<Format, ErrorKind> {
    let mut magic = [0; 4];
    let count = source.fill(&mut magic)?;
    if Pcap::recognises(magic) {
        Pcap::open(magic, source).map(Format::Pcap)
    } else if PcapNg::recognises(magic) {
        PcapNg::open(source, skipped).map(Format::PcapNg)
    } else if count == 0 {
        Err(ErrorKind::Empty)
    } else if source.fill(&mut [0; HEADER_REST_LEN])? < HEADER_REST_LEN {
        Err(ErrorKind::TooShort)
    } else {
        Err(ErrorKind::NotACapture { magic })
    }
}

/// Errors about the file as a whole need no location.
fn location_of(kind: &ErrorKind, location: Location) -> Option<Location> {
    match kind {
        ErrorKind::Truncated | ErrorKind::Malformed { .. } | ErrorKind::Read(_) => Some(location),
        _ => None,
    }
}
