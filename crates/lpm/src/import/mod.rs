//! Reading routes from files.
//!
//! | format | what is read |
//! |---|---|
//! | list | a line a route: `PREFIX`, or `PREFIX [GATEWAY] PORT` as Click's route tables take it; a gateway of `-` means none |
//! | `ip route`, `ip -6 route` | what the command prints, also routes with several next hops, and those that lead nowhere |
//! | MRT (RFC 6396, 8050) | table dumps of either version, and the updates of a BGP speaker ([`mrt`]) |
//!
//! A file may mix lines of the first two formats; `PREFIX` is `ADDR/LEN`, `ADDR/MASK`, `ADDR` or, for `ip route`, `default`. Blank
//! lines and everything after a `#` are skipped. The contents of a file, not its name, decide its format, and whether it is
//! compressed with gzip, bzip2, xz or zstd.
//!
//! A file is read completely before its routes are used, so a bad line or a truncated file changes no table.

mod choice;
pub mod mrt;
mod normal;
mod packing;
mod text;

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::net::IpAddr;
use std::path::Path;

use crate::prefix::Prefix;

pub use choice::{Change, Choice, changes};
pub use normal::Line;
pub use packing::{Packing, unpack};
pub use text::{LineError, parse, parse_prefix};

/// Most bytes that [`Options::default`] accepts after decompression: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// A prefix of either family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnyPrefix {
    /// IPv4.
    V4(Prefix<u32>),
    /// IPv6.
    V6(Prefix<u128>),
}

impl fmt::Display for AnyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(prefix) => prefix.fmt(f),
            Self::V6(prefix) => prefix.fmt(f),
        }
    }
}

/// One next hop, as far as the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Hop {
    /// The gateway's address; `None` for a directly connected network.
    pub gateway: Option<IpAddr>,
    /// The output port.
    pub port: Option<u32>,
    /// The interface, an index into [`List::devices`].
    pub device: Option<u32>,
}

/// Where a route leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// To one next hop.
    Hop(Hop),
    /// To several with weights, an index into [`List::groups`].
    Group(u32),
    /// Nowhere: what matches is dropped.
    Nowhere,
}

/// What a file contained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// The IPv4 routes in the order of the file.
    pub v4: Vec<(Prefix<u32>, Way)>,
    /// The IPv6 routes in the order of the file.
    pub v6: Vec<(Prefix<u128>, Way)>,
    /// Names of interfaces.
    pub devices: Vec<String>,
    /// Next hops with their weights.
    pub groups: Vec<Vec<(Hop, u32)>>,
    /// Routes that were left out: not for forwarding by destination, or worse than another for the same prefix.
    pub skipped: u64,
}

impl List {
    /// The next hops of a route and their weights; none if it leads nowhere.
    pub fn hops(&self, way: Way) -> Vec<(Hop, u32)> {
        match way {
            Way::Hop(hop) => vec![(hop, 1)],
            Way::Group(group) => self.groups.get(group as usize).cloned().unwrap_or_default(),
            Way::Nowhere => Vec::new(),
        }
    }

    /// The name of a next hop's interface.
    pub fn device(&self, hop: Hop) -> Option<&str> {
        self.devices.get(hop.device? as usize).map(String::as_str)
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn push(&mut self, prefix: AnyPrefix, way: Way) {
        match prefix {
            AnyPrefix::V4(prefix) => self.v4.push((prefix, way)),
            AnyPrefix::V6(prefix) => self.v6.push((prefix, way)),
        }
    }
}

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
        error: mrt::RecordError,
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

/// Limits and feedback of a read.
pub struct Options<'a> {
    /// Most bytes after decompression.
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

/// Reads routes from a file; its contents, not its name, tell its format and how it is packed.
///
/// # Errors
/// [`ImportError`].
pub fn read_file(path: &Path, options: Options<'_>) -> Result<List, ImportError> {
    read(File::open(path)?, options)
}

/// Reads routes from anything that can be read.
///
/// # Errors
/// [`ImportError`].
pub fn read(source: impl Read, mut options: Options<'_>) -> Result<List, ImportError> {
    parse_any(&unpack(source, &mut options)?)
}

/// Reads routes from bytes that are not compressed.
///
/// # Errors
/// [`ImportError`].
pub fn parse_any(bytes: &[u8]) -> Result<List, ImportError> {
    if mrt::is_mrt(bytes) { mrt::list(bytes) } else { parse(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = read(&bytes[..], Options { max_bytes: 1 << 16, progress: None });
            let _ = parse(&bytes);
        }
    }
}
