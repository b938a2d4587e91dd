//! Reading route lists: plain text, one prefix a line, also compressed by xz or gzip.
//!
//! A line is `PREFIX`, or `PREFIX [GATEWAY] PORT` as Click's route tables take it; `PREFIX` is `ADDR/LEN`,
//! `ADDR/MASK` or `ADDR`, IPv4 or IPv6. A gateway of `-` means none. Blank lines and what follows a `#` are
//! skipped. A list is read as a whole before anything is done with it, so a bad line or a truncated file
//! changes no table.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::Path;

use crate::prefix::{Key, Prefix, PrefixError};

/// Most bytes of text that [`Options::default`] accepts: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;
/// Longest line that is accepted, in bytes.
const MAX_LINE: usize = 1024;

/// A prefix of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyPrefix {
    /// IPv4.
    V4(Prefix<u32>),
    /// IPv6.
    V6(Prefix<u128>),
}

/// Where packets for a prefix go, as far as its line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Hop {
    /// The gateway's address; `None` for a directly connected network.
    pub gateway: Option<IpAddr>,
    /// The output port.
    pub port: Option<u32>,
}

/// What a list contained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The IPv4 prefixes in the order of the file.
    pub v4: Vec<(Prefix<u32>, Hop)>,
    /// The IPv6 prefixes in the order of the file.
    pub v6: Vec<(Prefix<u128>, Hop)>,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineError {
    /// The prefix.
    Prefix(String, PrefixError),
    /// The gateway is no address, or not one of the prefix's family.
    Gateway(String),
    /// The port is no number.
    Port(String),
    /// There is something behind the port.
    Extra(String),
    /// The line is longer than 1,024 bytes or not UTF-8: this is no route list.
    NoText,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(text, error) => write!(f, "bad prefix '{text}': {error}"),
            Self::Gateway(text) => {
                write!(f, "bad gateway '{text}': expected an address of the prefix's family, or '-'")
            }
            Self::Port(text) => write!(f, "bad port '{text}': expected a number"),
            Self::Extra(text) => write!(f, "unexpected '{text}' after the port"),
            Self::NoText => f.write_str("not a line of text; is this a route list?"),
        }
    }
}

impl std::error::Error for LineError {}

/// Why a list could not be read.
#[derive(Debug)]
pub enum ImportError {
    /// The file could not be read, or its compressed form is damaged or truncated.
    Io(io::Error),
    /// A line is wrong.
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it.
        error: LineError,
    },
    /// There is more text than allowed.
    TooLarge {
        /// The limit in bytes, after decompression.
        limit: u64,
    },
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                write!(f, "file ends too early (truncated?): {error}")
            }
            Self::Io(error) => write!(f, "{error}"),
            Self::Line { line, error } => write!(f, "line {line}: {error}"),
            Self::TooLarge { limit } => write!(f, "more than {limit} bytes of text"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Line { error, .. } => Some(error),
            Self::TooLarge { .. } => None,
        }
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// How a list was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// The xz format.
    Xz,
    /// The gzip format (RFC 1952).
    Gzip,
}

impl Packing {
    /// Tells from the first bytes of a file, whatever its name.
    pub fn of(start: &[u8]) -> Self {
        match start {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x1f, 0x8b, ..] => Self::Gzip,
            _ => Self::Plain,
        }
    }
}

/// Limits and feedback of a read.
pub struct Options<'a> {
    /// Most bytes of text, after decompression.
    pub max_bytes: u64,
    /// Called now and then with the bytes of the (packed) file read so far.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { max_bytes: DEFAULT_MAX_BYTES, progress: None }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("max_bytes", &self.max_bytes).finish_non_exhaustive()
    }
}

/// Reads a list from a file; its contents, not its name, tell how it is packed.
///
/// # Errors
/// [`ImportError`].
pub fn read_file(path: &Path, options: Options<'_>) -> Result<List, ImportError> {
    read(File::open(path)?, options)
}

/// Reads a list from anything that can be read.
///
/// # Errors
/// [`ImportError`].
pub fn read(source: impl Read, mut options: Options<'_>) -> Result<List, ImportError> {
    let text = unpack(source, &mut options)?;
    parse(&text)
}

/// Reads and decompresses a file as far as `max_bytes` allow.
///
/// # Errors
/// [`ImportError::Io`] and [`ImportError::TooLarge`].
pub fn unpack(mut source: impl Read, options: &mut Options<'_>) -> Result<Vec<u8>, ImportError> {
    let mut start = Vec::new();
    source.by_ref().take(6).read_to_end(&mut start)?;
    let packing = Packing::of(&start);
    let mut silent = |_| ();
    let report: &mut dyn FnMut(u64) = match &mut options.progress {
        Some(progress) => *progress,
        None => &mut silent,
    };
    let packed = Progress { inner: io::Cursor::new(start).chain(source), read: 0, report };
    let limit = options.max_bytes;
    match packing {
        Packing::Plain => bounded(packed, limit),
        Packing::Xz => bounded(lzma_rust2::XzReader::new(packed, true), limit),
        Packing::Gzip => bounded(flate2::read::MultiGzDecoder::new(packed), limit),
    }
}

fn bounded(source: impl Read, limit: u64) -> Result<Vec<u8>, ImportError> {
    let mut text = Vec::new();
    source.take(limit.saturating_add(1)).read_to_end(&mut text)?;
    if text.len() as u64 > limit {
        return Err(ImportError::TooLarge { limit });
    }
    Ok(text)
}

/// Counts what passes through.
struct Progress<'a, R> {
    inner: R,
    read: u64,
    report: &'a mut dyn FnMut(u64),
}

impl<R: Read> Read for Progress<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.read += count as u64;
        (self.report)(self.read);
        Ok(count)
    }
}

/// Reads a list from text.
///
/// # Errors
/// [`ImportError::Line`] for the first line that is wrong.
pub fn parse(text: &[u8]) -> Result<List, ImportError> {
    let mut list = List::default();
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        match parse_line(line) {
            Ok(None) => {}
            Ok(Some((AnyPrefix::V4(prefix), hop))) => list.v4.push((prefix, hop)),
            Ok(Some((AnyPrefix::V6(prefix), hop))) => list.v6.push((prefix, hop)),
            Err(error) => return Err(ImportError::Line { line: number, error }),
        }
    }
    Ok(list)
}

/// Reads one line without its line end; `None` if it is blank or a comment.
///
/// # Errors
/// [`LineError`].
pub fn parse_line(line: &[u8]) -> Result<Option<(AnyPrefix, Hop)>, LineError> {
    if line.len() > MAX_LINE {
        return Err(LineError::NoText);
    }
    let line = std::str::from_utf8(line).map_err(|_| LineError::NoText)?;
    let line = line.split('#').next().unwrap_or_default();
    let mut words = line.split_ascii_whitespace();
    let Some(prefix) = words.next() else { return Ok(None) };
    let prefix = parse_prefix(prefix).map_err(|error| LineError::Prefix(prefix.to_owned(), error))?;
    let hop = match (words.next(), words.next()) {
        (None, _) => Hop::default(),
        (Some(port), None) => Hop { gateway: None, port: Some(parse_port(port)?) },
        (Some(gateway), Some(port)) => {
            Hop { gateway: parse_gateway(gateway, prefix)?, port: Some(parse_port(port)?) }
        }
    };
    match words.next() {
        Some(extra) => Err(LineError::Extra(extra.to_owned())),
        None => Ok(Some((prefix, hop))),
    }
}

/// Reads a prefix of either family.
///
/// # Errors
/// [`PrefixError`].
pub fn parse_prefix(text: &str) -> Result<AnyPrefix, PrefixError> {
    if text.contains(':') { text.parse().map(AnyPrefix::V6) } else { text.parse().map(AnyPrefix::V4) }
}

fn parse_gateway(text: &str, prefix: AnyPrefix) -> Result<Option<IpAddr>, LineError> {
    let gateway = match prefix {
        _ if text == "-" => return Ok(None),
        AnyPrefix::V4(_) => u32::parse(text).map(|addr| IpAddr::V4(addr.into())),
        AnyPrefix::V6(_) => u128::parse(text).map(|addr| IpAddr::V6(addr.into())),
    };
    match gateway {
        Some(addr) => Ok(Some(addr).filter(|addr| !addr.is_unspecified())),
        None => Err(LineError::Gateway(text.to_owned())),
    }
}

fn parse_port(text: &str) -> Result<u32, LineError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| digits).ok_or_else(|| LineError::Port(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &str = "# routes\n10.0.0.0/8\n\n192.0.2.0/255.255.255.0 10.0.0.1 2 # a comment\r\n2001:db8::/32 - 3\n1.2.3.4 4\n";

    fn expected() -> List {
        let hop =
            |gateway: Option<&str>, port| Hop { gateway: gateway.map(|addr| addr.parse().unwrap()), port };
        List {
            v4: vec![
                ("10.0.0.0/8".parse().unwrap(), hop(None, None)),
                ("192.0.2.0/24".parse().unwrap(), hop(Some("10.0.0.1"), Some(2))),
                ("1.2.3.4/32".parse().unwrap(), hop(None, Some(4))),
            ],
            v6: vec![("2001:db8::/32".parse().unwrap(), hop(None, Some(3)))],
        }
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn xz(text: &[u8]) -> Vec<u8> {
        let options = lzma_rust2::XzOptions::with_preset(0);
        let mut packer = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    #[test]
    fn every_packing_reads_the_same() {
        for packed in [TEXT.as_bytes().to_vec(), gzip(TEXT.as_bytes()), xz(TEXT.as_bytes())] {
            let mut seen = 0;
            let mut progress = |bytes| seen = bytes;
            let options = Options { progress: Some(&mut progress), ..Options::default() };
            assert_eq!(read(&packed[..], options).unwrap(), expected());
            assert_eq!(seen, packed.len() as u64);
        }
    }

    #[test]
    fn truncated_files_are_errors() {
        for packed in [gzip(TEXT.as_bytes()), xz(TEXT.as_bytes())] {
            for cut in 6..packed.len() {
                assert!(matches!(read(&packed[..cut], Options::default()), Err(ImportError::Io(_))), "{cut}");
            }
        }
    }

    #[test]
    fn the_size_bound_stops_a_bomb() {
        let bomb = gzip(&vec![b'\n'; 1 << 20]);
        let error = read(&bomb[..], Options { max_bytes: 1000, progress: None }).unwrap_err();
        assert!(matches!(error, ImportError::TooLarge { limit: 1000 }));
        assert!(read(&bomb[..], Options { max_bytes: 1 << 20, progress: None }).is_ok());
    }

    #[test]
    fn a_bad_line_is_named() {
        let cases = [
            ("1.0.0.0/8\n10.0.0.0/33\n", "line 2: bad prefix '10.0.0.0/33': prefix length 33 exceeds 32"),
            ("1.0.0.0/8 x", "line 1: bad port 'x': expected a number"),
            (
                "1.0.0.0/8 ::1 1",
                "line 1: bad gateway '::1': expected an address of the prefix's family, or '-'",
            ),
            ("1.0.0.0/8 - 1 2", "line 1: unexpected '2' after the port"),
            ("1.0.0.0/8 +1", "line 1: bad port '+1': expected a number"),
        ];
        for (text, message) in cases {
            assert_eq!(parse(text.as_bytes()).unwrap_err().to_string(), message);
        }
        let error = parse(b"\n\xff\xfe").unwrap_err().to_string();
        assert_eq!(error, "line 2: not a line of text; is this a route list?");
        assert!(parse(&[b'1'; 2000]).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = read(&bytes[..], Options { max_bytes: 1 << 16, progress: None });
            let _ = parse_line(&bytes);
        }
    }
}
