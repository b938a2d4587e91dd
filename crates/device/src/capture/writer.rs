//! Writing a capture.

use crate::files;
use std::io::{self, BufWriter, Write};

use bzip2::write::BzEncoder;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::error::{Error, ErrorKind, Location};
use super::{LinkType, RECORD_LEN_MAX, Result, pcap, pcapng};

/// Bytes handed to the system at once.
const BUFFER_LEN: usize = 64 * 1024;
/// Bytes of a pcap record beside the packet: the shortest record that there is.
const RECORD_OVERHEAD: usize = 16;
/// Bytes of an interface description, the longer one.
const INTERFACE_LEN: usize = 32;
/// Bytes of an enhanced packet block beside the packet and its padding.
const ENHANCED_OVERHEAD: u32 = 32;
const NS_PER_S: i64 = 1_000_000_000;

/// File format of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// pcap, version 2.4.
    #[default]
    Pcap,
    /// pcapng, version 1.0: one section, an interface for each link type, enhanced packet blocks.
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
    /// What is still to be written: whole headers, records and blocks.
    buffer: Vec<u8>,
    /// Where records end in the buffer.
    ends: Vec<usize>,
    options: Options,
    /// Link types of the interfaces that a pcapng file has described, the capture's own first.
    interfaces: Vec<LinkType>,
    records: u64,
    /// Records that were taken but could not be written.
    lost: u64,
    /// Bytes written, before compression.
    offset: u64,
    /// A write failed before: what follows could not be told from the incomplete record.
    failed: Option<io::ErrorKind>,
}

type Output = BufWriter<Box<dyn Write + Send>>;

enum Sink {
    Plain(Box<dyn Write + Send>),
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
    fn new(output: Box<dyn Write + Send>, packing: Packing) -> Sink {
        let buffered = |output| BufWriter::with_capacity(BUFFER_LEN, output);
        match packing {
            Packing::Plain => Sink::Plain(output),
            Packing::Gzip => Sink::Gzip(GzEncoder::new(buffered(output), Compression::default())),
            Packing::Bzip2 => Sink::Bzip2(BzEncoder::new(buffered(output), bzip2::Compression::default())),
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
        let file = files::create(path).map_err(|error| Error::new(path, ErrorKind::Create(error)))?;
        Writer::new(Box::new(file), path, options, Packing::of(path))
    }

    /// Writes a capture, uncompressed, to `output`; `name` stands for it in errors.
    ///
    /// # Errors
    /// The link type does not fit the format.
    pub fn from_write(output: Box<dyn Write + Send>, name: &str, options: Options) -> Result<Writer> {
        Writer::new(output, name, options, Packing::Plain)
    }

    fn new(output: Box<dyn Write + Send>, name: &str, options: Options, packing: Packing) -> Result<Writer> {
        check_linktype(name, options)?;
        let mut writer = Writer {
            name: name.to_owned(),
            sink: Sink::new(output, packing),
            buffer: Vec::with_capacity(BUFFER_LEN),
            ends: Vec::with_capacity(BUFFER_LEN / RECORD_OVERHEAD),
            options,
            interfaces: vec![options.linktype],
            records: 0,
            lost: 0,
            offset: 0,
            failed: None,
        };
        match options.format {
            Format::Pcap => writer.pcap_header(),
            Format::PcapNg => writer.pcapng_header(),
        }
        Ok(writer)
    }

    /// Writes one packet: its time in nanoseconds since 1970-01-01 00:00 UTC, its length in bytes before it was cut
    /// (raised to that of `bytes` if it is less), and its bytes, which are cut to the snapshot length.
    ///
    /// Allocates only for a record that is longer than 64 KiB and than any before. A time's digits beyond the capture's resolution are
    /// cut off.
    ///
    /// # Errors
    /// [`ErrorKind::Time`] if the time is before 1970 or, in a pcap file, after February 2106: nothing is written,
    /// the writer stays usable. [`ErrorKind::Write`] if writing fails, perhaps what earlier calls left in the buffer: see
    /// [`Writer::lost`]; later calls fail too.
    pub fn write(&mut self, time_ns: i64, orig_len: u32, bytes: &[u8]) -> Result<()> {
        self.write_as(self.options.linktype, time_ns, orig_len, bytes)
    }

    /// Writes one packet with a link type of its own. A pcapng file describes an interface for each; in a pcap file whose link type is
    /// IP, of other packets the IP packet is written.
    ///
    /// # Errors
    /// As [`Writer::write`]; [`ErrorKind::LinkType`] if the file cannot hold such a packet: nothing is written then, the writer stays
    /// usable.
    pub fn write_as(&mut self, linktype: LinkType, time_ns: i64, orig_len: u32, bytes: &[u8]) -> Result<()> {
        self.check()?;
        let orig_len = orig_len.max(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        match self.options.format {
            Format::Pcap => {
                let Some(link_len) = self.link_header_len(linktype, bytes) else {
                    return Err(self.error(ErrorKind::LinkType { of: linktype, file: self.options.linktype }));
                };
                // Part of `bytes`, and `orig_len` is no less.
                self.pcap_record(time_ns, orig_len - link_len as u32, self.captured(&bytes[link_len..]))
            }
            Format::PcapNg => self.pcapng_record(linktype, time_ns, orig_len, self.captured(bytes)),
        }?;
        self.records += 1;
        self.ends.push(self.buffer.len());
        Ok(())
    }

    /// As much of a packet as is written.
    fn captured<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let limit = match self.options.snaplen {
            0 => RECORD_LEN_MAX,
            snaplen => snaplen.min(RECORD_LEN_MAX),
        };
        &bytes[..bytes.len().min(limit as usize)]
    }

    /// Bytes in front of what a pcap file holds of a packet; `None` if it cannot.
    fn link_header_len(&self, linktype: LinkType, bytes: &[u8]) -> Option<usize> {
        match self.options.linktype {
            own if own == linktype => Some(0),
            LinkType::RawIp => linktype.ip_offset(bytes),
            _ => None,
        }
    }

    /// Number of packets that were taken and counted, but could not be written since writing failed later. At least so many, where
    /// the file is compressed: the compressor does not say how many it held.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Number of packets written so far, those in the buffer included.
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
        self.drain()?;
        let flushed = self.sink.writer().map_or(Ok(()), |writer| writer.flush());
        flushed.map_err(|error| self.fail(error))
    }

    /// Writes what is left and ends the file. Later writes fail.
    ///
    /// # Errors
    /// [`ErrorKind::Write`].
    pub fn close(&mut self) -> Result<()> {
        self.check()?;
        self.finish()?;
        self.failed = Some(io::ErrorKind::WriteZero);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.drain()?;
        let finished = match std::mem::replace(&mut self.sink, Sink::Closed) {
            Sink::Plain(mut output) => output.flush(),
            Sink::Gzip(output) => output.finish().and_then(|mut output| output.flush()),
            Sink::Bzip2(output) => output.finish().and_then(|mut output| output.flush()),
            Sink::Closed => Ok(()),
        };
        finished.map_err(|error| self.fail(error))
    }

    /// Writes the buffer. After a failure the records in it that are not wholly written are lost.
    fn drain(&mut self) -> Result<()> {
        let mut done = 0;
        let mut failure = None;
        if let Some(writer) = self.sink.writer() {
            while done < self.buffer.len() && failure.is_none() {
                match writer.write(&self.buffer[done..]) {
                    Ok(0) => failure = Some(io::ErrorKind::WriteZero.into()),
                    Ok(count) => done += count,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => failure = Some(error),
                }
            }
        }
        let lost = self.ends.iter().filter(|end| **end > done).count() as u64;
        self.buffer.clear();
        self.ends.clear();
        failure.map_or(Ok(()), |error| {
            self.lost += lost;
            self.records -= lost;
            Err(self.fail(error))
        })
    }

    /// Makes room in the buffer for a record or block of so many bytes.
    fn make_room(&mut self, len: usize) -> Result<()> {
        if self.buffer.len() + len > BUFFER_LEN { self.drain() } else { Ok(()) }
    }

    fn pcap_header(&mut self) {
        let magic = if self.options.nanoseconds { pcap::MAGIC_NANOS } else { pcap::MAGIC_MICROS };
        let snaplen = if self.options.snaplen == 0 { u32::MAX } else { self.options.snaplen };
        let mut header = [0; 24];
        put(&mut header, 0, magic.to_ne_bytes());
        put(&mut header, 4, 2_u16.to_ne_bytes());
        put(&mut header, 6, 4_u16.to_ne_bytes());
        // Time zone and accuracy, 8 bytes, are zero by definition.
        put(&mut header, 16, snaplen.to_ne_bytes());
        put(&mut header, 20, self.options.linktype.code().to_ne_bytes());
        self.put_all(&header);
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
        self.make_room(header.len() + captured.len())?;
        self.put_all(&header);
        self.put_all(captured);
        Ok(())
    }

    fn pcapng_header(&mut self) {
        let mut section = [0; 28];
        put(&mut section, 0, pcapng::BLOCK_SECTION.to_ne_bytes());
        put(&mut section, 4, 28_u32.to_ne_bytes());
        put(&mut section, 8, pcapng::BYTE_ORDER_MAGIC.to_ne_bytes());
        put(&mut section, 12, 1_u16.to_ne_bytes());
        // The minor version is 0; the section's length, 8 bytes, is not known in advance.
        put(&mut section, 16, u64::MAX.to_ne_bytes());
        put(&mut section, 24, 28_u32.to_ne_bytes());
        self.put_all(&section);
        self.put_interface(self.options.linktype);
    }

    /// The number of the interface that has a link type, which is described now if it is new.
    fn interface(&mut self, linktype: LinkType) -> Result<u32> {
        if let Some(number) = self.interfaces.iter().position(|known| *known == linktype) {
            return Ok(number as u32); // at most 65,536
        }
        if linktype.code() > u32::from(u16::MAX) {
            return Err(self.error(ErrorKind::LinkType { of: linktype, file: self.options.linktype }));
        }
        self.make_room(INTERFACE_LEN)?;
        self.put_interface(linktype);
        self.interfaces.push(linktype);
        Ok(self.interfaces.len() as u32 - 1)
    }

    fn put_interface(&mut self, linktype: LinkType) {
        // Microseconds are the default and need no option; nanoseconds take one option and the end of options.
        let length: u32 = if self.options.nanoseconds { 32 } else { 20 };
        let mut interface = [0; INTERFACE_LEN];
        put(&mut interface, 0, pcapng::BLOCK_INTERFACE.to_ne_bytes());
        put(&mut interface, 4, length.to_ne_bytes());
        // Checked before.
        put(&mut interface, 8, (linktype.code() as u16).to_ne_bytes());
        put(&mut interface, 12, self.options.snaplen.to_ne_bytes());
        if self.options.nanoseconds {
            put(&mut interface, 16, pcapng::OPTION_TSRESOL.to_ne_bytes());
            put(&mut interface, 18, 1_u16.to_ne_bytes());
            interface[20] = 9;
        }
        let end = length as usize;
        put(&mut interface, end - 4, length.to_ne_bytes());
        self.put_all(&interface[..end]);
    }

    fn pcapng_record(
        &mut self,
        linktype: LinkType,
        time_ns: i64,
        orig_len: u32,
        captured: &[u8],
    ) -> Result<()> {
        let Ok(nanoseconds) = u64::try_from(time_ns) else {
            return Err(self.error(ErrorKind::Time { time_ns }));
        };
        let ticks = if self.options.nanoseconds { nanoseconds } else { nanoseconds / 1000 };
        let interface = self.interface(linktype)?;
        // At most RECORD_LEN_MAX bytes.
        let captured_len = captured.len() as u32;
        let padded = captured_len.next_multiple_of(4);
        let length = padded + ENHANCED_OVERHEAD;
        let mut header = [0; 28];
        put(&mut header, 0, pcapng::BLOCK_ENHANCED.to_ne_bytes());
        put(&mut header, 4, length.to_ne_bytes());
        put(&mut header, 8, interface.to_ne_bytes());
        put(&mut header, 12, ((ticks >> 32) as u32).to_ne_bytes());
        put(&mut header, 16, (ticks as u32).to_ne_bytes());
        put(&mut header, 20, captured_len.to_ne_bytes());
        put(&mut header, 24, orig_len.to_ne_bytes());
        self.make_room(length as usize)?;
        self.put_all(&header);
        self.put_all(captured);
        self.put_all(&[0; 3][..(padded - captured_len) as usize]);
        self.put_all(&length.to_ne_bytes());
        Ok(())
    }

    /// Appends to the buffer, which has room or grows.
    fn put_all(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        self.offset += bytes.len() as u64;
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
        if self.failed.is_none() {
            // A destructor has no caller to tell; a caller that wants to know calls `close`.
            let _ = self.finish();
        }
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
