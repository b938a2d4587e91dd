//! Reading routes from files.
//!
//! | format | what is read |
//! |---|---|
//! | list | a line a route: `PREFIX`, `PREFIX [GATEWAY] PORT` or `PREFIX nexthop GATEWAY PORT [WEIGHT] ...` as Clique's route tables take them, and what these print; a gateway of `-` means none |
//! | `ip route`, `ip -6 route` | what the command prints, with `-d` and `-o`, too; also routes with several next hops, and those that lead nowhere |
//! | `ip -j route` | the same in JSON |
//! | MRT (RFC 6396, 8050) | table dumps of either version, and the updates of a BGP speaker ([`mrt`]) |
//!
//! A file may mix lines of the first two formats. A gateway of `-` means none; `PREFIX` is `ADDR/LEN`, `ADDR/MASK`, `ADDR` or, for `ip route`, `default`. Blank
//! lines and everything after a `#` are skipped. The contents of a file, not its name, decide its format, and whether it is
//! compressed with gzip, bzip2, xz or zstd.
//!
//! What cannot be read, and what cannot be followed without leading packets elsewhere than the kernel does, is left out and told
//! ([`List::faults`]); [`List::strict`] refuses it. A file is read completely before its routes are used.

mod choice;
mod error;
mod fault;
mod kernel;
mod list;
pub mod mrt;
mod normal;
mod packing;
mod plain;
mod prefixes;
mod text;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use choice::{Change, Choice, changes};
pub use error::ImportError;
pub use fault::{Fault, Faults, LineError};
pub use kernel::MAIN_TABLE;
pub use list::{AnyPrefix, Hop, List, NextHops};
pub use normal::Line;
pub use packing::{DEFAULT_MAX_BYTES, Options, Packing, unpack};
pub use prefixes::parse_prefix;
pub use text::parse;

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
    let bytes = unpack(source, &mut options)?;
    parse_any(&bytes, options.table)
}

/// Reads routes from bytes that are not compressed; of those of the kernel, the ones of a table, which is [`MAIN_TABLE`] mostly.
///
/// # Errors
/// [`ImportError::Unreadable`] if nothing can be read.
pub fn parse_any(bytes: &[u8], table: &str) -> Result<List, ImportError> {
    let list = if mrt::is_mrt(bytes) {
        mrt::list(bytes)
    } else if kernel::is_json(bytes) {
        kernel::parse_json(bytes, table)
    } else {
        text::parse_table(bytes, table)
    };
    list.checked()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            let _ = read(&bytes[..], Options { max_bytes: 1 << 16, ..Options::default() });
            let _ = parse(&bytes);
        }
    }
}
