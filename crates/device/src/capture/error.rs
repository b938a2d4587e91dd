//! What can go wrong with a capture, where, and what to do about it.

use crate::trouble::plain;
use std::{fmt, io};

use super::linktype::LinkType;
use super::record::RECORD_LEN_MAX;

/// Result of a capture operation.
pub type Result<T> = std::result::Result<T, Error>;

/// An error while reading or writing a capture: the file, the location in it, what is wrong and a remedy.
#[derive(Debug)]
pub struct Error {
    pub(super) file: String,
    pub(super) location: Option<Location>,
    pub(super) kind: ErrorKind,
    /// The record was skipped, and reading went on behind it.
    pub(super) skipped: bool,
}

/// Where in the capture an error was met.
#[derive(Debug, Clone, Copy)]
pub(super) struct Location {
    /// Records read or written before it.
    pub(super) records: u64,
    /// Bytes from the start of the (decompressed) capture to the faulty record or block.
    pub(super) offset: u64,
    /// Whether the offset counts decompressed bytes.
    pub(super) compressed: bool,
}

/// What is wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be opened.
    Open(io::Error),
    /// The file cannot be created.
    Create(io::Error),
    /// Reading or decompressing failed.
    Read(io::Error),
    /// Writing failed; the file may end in the middle of a record, and further writes are refused.
    Write(io::Error),
    /// The file has no bytes at all.
    Empty,
    /// The file ends within the header that any has.
    TooShort,
    /// The first bytes are those of no capture format.
    NotACapture {
        /// The first four bytes (zeros where the file is shorter).
        magic: [u8; 4],
    },
    /// The file is compressed in a way that is not read or written here.
    Compression {
        /// Name of the compression.
        name: &'static str,
    },
    /// The file is a capture in a version of its format that is not known.
    Version {
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The capture ends in the middle of a header, record or block.
    Truncated,
    /// A record claims more captured bytes than [`RECORD_LEN_MAX`].
    RecordTooLong {
        /// The length it claims, in bytes.
        length: u32,
    },
    /// A block of a pcapng file contradicts itself or the file.
    Malformed {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The capture cannot hold packets of this link type; nothing was written for the packet.
    LinkType {
        /// That of the packet.
        of: LinkType,
        /// That of the file.
        file: LinkType,
    },
    /// The capture format cannot express this time of a packet; nothing was written for it.
    Time {
        /// Nanoseconds since 1970-01-01 00:00 UTC.
        time_ns: i64,
    },
}

impl Error {
    pub(super) fn new(file: &str, kind: ErrorKind) -> Error {
        Error { file: file.to_owned(), location: None, kind, skipped: false }
    }

    /// What is wrong, without the location.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Name of the capture, as given by the caller that opened it.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Number of good records before the error.
    pub fn records_good(&self) -> u64 {
        self.location.map_or(0, |location| location.records)
    }

    /// Offset in bytes of the faulty header, record or block from the start of the (decompressed) capture.
    pub fn offset(&self) -> Option<u64> {
        self.location.map(|location| location.offset)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(location) = self.location {
            let of = if location.compressed { " of the decompressed data" } else { "" };
            write!(f, "record {}, byte {}{of}: ", location.records + 1, location.offset)?;
        }
        if self.skipped {
            return match &self.kind {
                ErrorKind::Truncated => {
                    f.write_str("it claims more bytes than the capture has; it is skipped")
                }
                kind => write!(f, "{kind}; it is skipped"),
            };
        }
        self.kind.fmt(f)?;
        f.write_str(match &self.kind {
            ErrorKind::Truncated => "; capture or copy it again, or cut the incomplete end off",
            ErrorKind::RecordTooLong { .. } | ErrorKind::Malformed { .. } => {
                "; no further record is found: cut the file off before this byte or capture again"
            }
            _ => return Ok(()),
        })?;
        self.location.map_or(Ok(()), |location| write!(f, "; good records before it: {}", location.records))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Open(error) | ErrorKind::Create(error) => f.write_str(&plain(error)),
            ErrorKind::Read(error) => {
                write!(
                    f,
                    "cannot read on: {error}; check the file (gzip -t, bzip2 -t, xz -t) or copy it again"
                )
            }
            ErrorKind::Write(error) => write!(f, "cannot write: {error}; the last record may be incomplete"),
            // These, and of which files they are said, are Click's words.
            ErrorKind::Empty => f.write_str("empty file"),
            ErrorKind::TooShort => f.write_str("not a tcpdump file (too short)"),
            ErrorKind::NotACapture { .. } => f.write_str("not a tcpdump file (bad magic number)"),
            ErrorKind::Compression { name } => {
                write!(f, "{name} compression is not supported; use gzip, or pipe through `{name}` and `-`")
            }
            ErrorKind::Version { major, minor } => {
                write!(
                    f,
                    "unknown major version {major} (of {major}.{minor}); convert it, for example with editcap -F pcap"
                )
            }
            ErrorKind::Truncated => f.write_str("the capture ends in the middle"),
            ErrorKind::RecordTooLong { length } => write!(
                f,
                "bad packet header: the record claims {length} bytes, more than {RECORD_LEN_MAX} are not plausible"
            ),
            ErrorKind::Malformed { what } => f.write_str(what),
            ErrorKind::LinkType { of, file } => {
                write!(f, "a packet of link type {of} does not fit into a file of link type {file}")
            }
            ErrorKind::Time { time_ns } => write!(
                f,
                "the format cannot hold the time {time_ns} ns since 1970; \
                 give packets times from 1970 to 2106 or none"
            ),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            ErrorKind::Open(error)
            | ErrorKind::Create(error)
            | ErrorKind::Read(error)
            | ErrorKind::Write(error) => Some(error),
            _ => None,
        }
    }
}
