//! Writing a capture.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::{Error, ErrorKind, Location};
use super::{LinkType, RECORD_LEN_MAX, Result, pcap, pcapng};

/// Bytes handed to the system at once.
const BUFFER_LEN: usize = 64 * 1024;
/// Bytes of an enhanced packet block beside the packet and its padding.
const ENHANCED_OVERHEAD: u32 = 32;
const NS_PER_S: i64 = 1_000_000_000;

/// File format of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// pcap, version 2.4.
    #[default]
    Pcap,
    /// pcapng, version 1.0: one section, one interface, enhanced packet blocks.
    PcapNg,
}

/// How a capture is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// What the packets begin with.
    pub linktype: LinkType,
    /// Most bytes written of a packet; 0 for no limit but [`RECORD_LEN_MAX`], which holds in any case.
    pub snaplen: u32,
    /// Whether times have nanoseconds; microseconds otherwise, which every reader understands.
    pub nanoseconds: bool,
    /// File format.
    pub format: Format,
}

impl Default for Options {
    /// Ethernet, whole packets, microseconds, pcap.
    fn default() -> Options {
        Options {
            linktype: LinkType::Ethernet,
            snaplen: RECORD_LEN_MAX,
            nanoseconds: false,
            format: Format::Pcap,
        }
    }
}

/// A capture that is being written.
///
/// Numbers are in this machine's byte order, as libpcap writes them. Output is buffered; [`Writer::close`] writes
/// what is left and reports errors, dropping the writer does the same without a report.
pub struct Writer {
    name: String,
    sink: Sink,
    options: Options,
    records: u64,
    /// Bytes written, before compression.
    offset: u64,
    /// A write failed before: what follows could not be told from the incomplete record.
    failed: Option<io::ErrorKind>,
}

type Output = BufWriter<Box<dyn Write + Send>>;

enum Sink {
    Plain(Output),
    Gzip(GzEncoder<Output>),
    Bzip2(BzEncoder<Output>),
    Closed,
}

/// How a file's contents are compressed.
#[derive(Clone, Copy)]
enum Packing {
    Plain,
    Gzip,
    Bzip2,
}

impl Packing {
    /// What the name of a file asks for.
    fn of(path: &str) -> Packing {
        match path {
            _ if path.ends_with(".gz") => Packing::Gzip,
            _ if path.ends_with(".bz2") => Packing::Bzip2,
            _ => Packing::Plain,
        }
    }
}

impl Sink {
    fn new(output: Output, packing: Packing) -> Sink {
        match packing {
            Packing::Plain => Sink::Plain(output),
            Packing::Gzip => Sink::Gzip(GzEncoder::new(output, Compression::default())),
            Packing::Bzip2 => Sink::Bzip2(BzEncoder::new(output, bzip2::Compression::default())),
        }
    }

    fn writer(&mut self) -> Option<&mut dyn Write> {
        match self {
            Sink::Plain(output) => Some(output),
            Sink::Gzip(output) => Some(output),
            Sink::Bzip2(output) => Some(output),
            Sink::Closed => None,
        }
    }
}

impl Writer {
    /// Creates the file `path`, `-` for standard output, and writes its header.
    ///
    /// A name that ends in `.gz` asks for gzip compression, `.bz2` for bzip2. The file is replaced if it exists.
    ///
    /// # Errors
    /// The file cannot be created, its name asks for another compression, or the link type does not fit the format.
    pub fn create(path: &str, options: Options) -> Result<Writer> {
        if path == "-" {
            return Writer::new(Box::new(io::stdout()), "<stdout>", options, Packing::Plain);
        }
        for (suffix, name) in [(".xz", "xz"), (".zst", "zstd")] {
            if path.ends_with(suffix) {
                return Err(Error::new(path, ErrorKind::Compression { name }));
            }
        }
        check_linktype(path, options)?;
        let file = File::create(path).map_err(|error| Error::new(path, ErrorKind::Create(error)))?;
        Writer::new(Box::new(file), path, options, Packing::of(path))
    }

    /// Writes a capture, uncompressed, to `output`; `name` stands for it in errors.
    ///
    /// # Errors
    /// The header cannot be written, or the link type does not fit the format.
    pub fn from_write(output: Box<dyn Write + Send>, name: &str, options: Options) -> Result<Writer> {
        Writer::new(output, name, options, Packing::Plain)
    }

    fn new(output: Box<dyn Write + Send>, name: &str, options: Options, packing: Packing) -> Result<Writer> {
        check_linktype(name, options)?;
        let output = BufWriter::with_capacity(BUFFER_LEN, output);
        let sink = Sink::new(output, packing);
        let mut writer = Writer { name: name.to_owned(), sink, options, records: 0, offset: 0, failed: None };
        match options.format {
            Format::Pcap => writer.pcap_header(),
            Format::PcapNg => writer.pcapng_header(),
        }?;
        Ok(writer)
    }

    /// Writes one packet: its time in nanoseconds since 1970-01-01 00:00 UTC, its length in bytes before it was cut
    /// (raised to that of `bytes` if it is less), and its bytes, which are cut to the snapshot length.
    ///
    /// Allocates nothing. A time's digits beyond the capture's resolution are cut off.
    ///
    /// # Errors
    /// [`ErrorKind::Time`] if the time is before 1970 or, in a pcap file, after February 2106: nothing is written,
    /// the writer stays usable. [`ErrorKind::Write`] if writing fails; later calls fail too.
    pub fn write(&mut self, time_ns: i64, orig_len: u32, bytes: &[u8]) -> Result<()> {
        let limit = match self.options.snaplen {
            0 => RECORD_LEN_MAX,
            snaplen => snaplen.min(RECORD_LEN_MAX),
        };
        let orig_len = orig_len.max(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        let captured = &bytes[..bytes.len().min(limit as usize)];
        match self.options.format {
            Format::Pcap => self.pcap_record(time_ns, orig_len, captured),
            Format::PcapNg => self.pcapng_record(time_ns, orig_len, captured),
        }?;
        self.records += 1;
        Ok(())
    }

    /// Number of packets written so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// Name of the capture: the path, `<stdout>`, or what was given to [`Writer::from_write`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Cuts further packets to this length, 0 for no limit; what the file's head says of it stays.
    pub fn set_snaplen(&mut self, snaplen: u32) {
        self.options.snaplen = snaplen;
    }

    /// Hands everything written so far to the system, so that a reader of the file sees it.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn flush(&mut self) -> Result<()> {
        self.check()?;
        let flushed = self.sink.writer().map_or(Ok(()), |writer| writer.flush());
        flushed.map_err(|error| self.fail(error))
    }

    /// Writes what is left and ends the file.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn close(mut self) -> Result<()> {
        self.check()?;
        self.finish().map_err(|error| self.fail(error))
    }

    fn finish(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.sink, Sink::Closed) {
            Sink::Plain(mut output) => output.flush(),
            Sink::Gzip(output) => output.finish()?.flush(),
            Sink::Bzip2(output) => output.finish()?.flush(),
            Sink::Closed => Ok(()),
        }
    }

    fn pcap_header(&mut self) -> Result<()> {
        let magic = if self.options.nanoseconds { pcap::MAGIC_NANOS } else { pcap::MAGIC_MICROS };
        let snaplen = if self.options.snaplen == 0 { u32::MAX } else { self.options.snaplen };
        let mut header = [0; 24];
        put(&mut header, 0, magic.to_ne_bytes());
        put(&mut header, 4, 2_u16.to_ne_bytes());
        put(&mut header, 6, 4_u16.to_ne_bytes());
        // Time zone and accuracy, 8 bytes, are zero by definition.
        put(&mut header, 16, snaplen.to_ne_bytes());
        put(&mut header, 20, self.options.linktype.code().to_ne_bytes());
        self.put_all(&header)
    }

    fn pcap_record(&mut self, time_ns: i64, orig_len: u32, captured: &[u8]) -> Result<()> {
        let Ok(seconds) = u32::try_from(time_ns.div_euclid(NS_PER_S)) else {
            return Err(self.error(ErrorKind::Time { time_ns }));
        };
        // Below 10^9, so it fits.
        let nanoseconds = time_ns.rem_euclid(NS_PER_S) as u32;
        let fraction = if self.options.nanoseconds { nanoseconds } else { nanoseconds / 1000 };
        let mut header = [0; 16];
        put(&mut header, 0, seconds.to_ne_bytes());
        put(&mut header, 4, fraction.to_ne_bytes());
        put(&mut header, 8, (captured.len() as u32).to_ne_bytes());
        put(&mut header, 12, orig_len.to_ne_bytes());
        self.put_all(&header)?;
        self.put_all(captured)
    }

    fn pcapng_header(&mut self) -> Result<()> {
        let mut section = [0; 28];
        put(&mut section, 0, pcapng::BLOCK_SECTION.to_ne_bytes());
        put(&mut section, 4, 28_u32.to_ne_bytes());
        put(&mut section, 8, pcapng::BYTE_ORDER_MAGIC.to_ne_bytes());
        put(&mut section, 12, 1_u16.to_ne_bytes());
        // The minor version is 0; the section's length, 8 bytes, is not known in advance.
        put(&mut section, 16, u64::MAX.to_ne_bytes());
        put(&mut section, 24, 28_u32.to_ne_bytes());
        self.put_all(&section)?;

        // Microseconds are the default and need no option; nanoseconds take one option and the end of options.
        let length: u32 = if self.options.nanoseconds { 32 } else { 20 };
        let mut interface = [0; 32];
        put(&mut interface, 0, pcapng::BLOCK_INTERFACE.to_ne_bytes());
        put(&mut interface, 4, length.to_ne_bytes());
        // Checked when the writer was made.
        put(&mut interface, 8, (self.options.linktype.code() as u16).to_ne_bytes());
        put(&mut interface, 12, self.options.snaplen.to_ne_bytes());
        if self.options.nanoseconds {
            put(&mut interface, 16, pcapng::OPTION_TSRESOL.to_ne_bytes());
            put(&mut interface, 18, 1_u16.to_ne_bytes());
            interface[20] = 9;
        }
        let end = length as usize;
        put(&mut interface, end - 4, length.to_ne_bytes());
        self.put_all(&interface[..end])
    }

    fn pcapng_record(&mut self, time_ns: i64, orig_len: u32, captured: &[u8]) -> Result<()> {
        let Ok(nanoseconds) = u64::try_from(time_ns) else {
            return Err(self.error(ErrorKind::Time { time_ns }));
        };
        let ticks = if self.options.nanoseconds { nanoseconds } else { nanoseconds / 1000 };
        // At most RECORD_LEN_MAX bytes.
        let captured_len = captured.len() as u32;
        let padded = captured_len.next_multiple_of(4);
        let length = padded + ENHANCED_OVERHEAD;
        let mut header = [0; 28];
        put(&mut header, 0, pcapng::BLOCK_ENHANCED.to_ne_bytes());
        put(&mut header, 4, length.to_ne_bytes());
        // The interface, 4 bytes, is number 0.
        put(&mut header, 12, ((ticks >> 32) as u32).to_ne_bytes());
        put(&mut header, 16, (ticks as u32).to_ne_bytes());
        put(&mut header, 20, captured_len.to_ne_bytes());
        put(&mut header, 24, orig_len.to_ne_bytes());
        self.put_all(&header)?;
        self.put_all(captured)?;
        self.put_all(&[0; 3][..(padded - captured_len) as usize])?;
        self.put_all(&length.to_ne_bytes())
    }

    fn put_all(&mut self, bytes: &[u8]) -> Result<()> {
        self.check()?;
        let written = self.sink.writer().map_or(Ok(()), |writer| writer.write_all(bytes));
        written.map_err(|error| self.fail(error))?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        match self.failed {
            Some(kind) => Err(self.error(ErrorKind::Write(kind.into()))),
            None => Ok(()),
        }
    }

    fn fail(&mut self, error: io::Error) -> Error {
        self.failed = Some(error.kind());
        self.error(ErrorKind::Write(error))
    }

    fn error(&self, kind: ErrorKind) -> Error {
        let compressed = matches!(self.sink, Sink::Gzip(_) | Sink::Bzip2(_));
        let location = Location { records: self.records, offset: self.offset, compressed };
        Error { file: self.name.clone(), location: Some(location), kind, skipped: false }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A destructor has no caller to tell; a caller that wants to know calls `close`.
        let _ = self.finish();
    }
}

/// pcapng has 16 bits for the link type, pcap 26.
fn check_linktype(name: &str, options: Options) -> Result<()> {
    let limit = match options.format {
        Format::Pcap => 0x03ff_ffff,
        Format::PcapNg => 0xffff,
    };
    match options.linktype.code() {
        code if code > limit => Err(Error::new(
            name,
            ErrorKind::Create(io::Error::other(format!("link type {code} is out of range"))),
        )),
        _ => Ok(()),
    }
}

fn put<const N: usize>(header: &mut [u8], at: usize, bytes: [u8; N]) {
    header[at..at + N].copy_from_slice(&bytes);
}
