//! Why routes could not be read.

use std::fmt;
use std::io;

use crate::prefix::PrefixError;

/// Why a file could not be read.
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
    /// An MRT record is wrong.
    Record {
        /// Its number, from 1.
        number: u64,
        /// Where it begins, in bytes after decompression.
        offset: u64,
        /// What is wrong with it.
        error: RecordError,
    },
    /// There is more than allowed.
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
            Self::Record { number, offset, error } => {
                write!(f, "MRT record {number} (byte {offset}): {error}")
            }
            Self::TooLarge { limit } => write!(f, "more than {limit} bytes after decompression"),
        }
    }
}

impl std::error::Error for ImportError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Line { error, .. } => Some(error),
            Self::Record { error, .. } => Some(error),
            Self::TooLarge { .. } => None,
        }
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
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
    /// A word of `ip route` lacks its value, or has a bad one.
    Value(&'static str),
    /// A next hop without a route that it belongs to.
    NoRoute,
    /// The line is too long or not UTF-8: this is no list of routes.
    NoText,
}

impl fmt::Display for LineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(text, error) => {
                write!(f, "bad prefix '{text}': {error}; write ADDR/LEN, as in 192.0.2.0/24")
            }
            Self::Gateway(text) => {
                write!(f, "bad gateway '{text}': expected an address of the prefix's family, or '-'")
            }
            Self::Port(text) => write!(f, "bad port '{text}': expected a number"),
            Self::Extra(text) => {
                write!(f, "unexpected '{text}' after the port; a line is 'PREFIX [[GATEWAY] PORT]'")
            }
            Self::Value(word) => write!(f, "bad or missing value after '{word}'"),
            Self::NoRoute => {
                f.write_str("a next hop without a route before it; is the file cut at its beginning?")
            }
            Self::NoText => f.write_str(
                "not a line of text; expected a list of prefixes, the output of 'ip route', or an MRT file",
            ),
        }
    }
}

impl std::error::Error for LineError {}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordError {
    /// The file, or a field, ends within this.
    Short(&'static str),
    /// A prefix is longer than its addresses.
    Length(u8),
    /// A BGP message does not begin with its marker.
    Marker,
    /// The peer of a route is not in the index of peers.
    Peer(u16),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Short(what) => write!(f, "ends within {what}; is the file complete?"),
            Self::Length(len) => write!(f, "prefix length {len} exceeds the address; the file is damaged"),
            Self::Marker => f.write_str("no BGP message where one should be; the file is damaged"),
            Self::Peer(peer) => {
                write!(f, "peer {peer} is not in the index of peers; does the file lack its beginning?")
            }
        }
    }
}

impl std::error::Error for RecordError {}
