//! Packet captures: streaming readers and writers of pcap and pcapng.
//!
//! A [`Reader`] takes a file, standard input or any byte stream, finds out by the first bytes whether it is
//! compressed (gzip, bzip2, xz, zstd) and which format it has, and hands out one record at a time into the caller's buffer.
//! It allocates nothing per record and holds no more than one record, so captures of any size can be read. (An xz
//! file decides itself how much memory its dictionary takes: 8 MiB usually, more only if it was made so.)
//! A bad record is skipped and counted, and does not end a capture: behind it the reader looks, up to 16 MiB far, for what can
//! only be the next record.
//! A [`Writer`] writes what libpcap and Click write, byte by byte.
//!
//! Formats: pcap as in draft-ietf-opsawg-pcap (versions 2.0 to 2.4, both byte orders, micro- and nanoseconds, and
//! the variant with 24-byte record headers that some Linux tools wrote); pcapng as in draft-ietf-opsawg-pcapng
//! (both byte orders, several sections and interfaces, unknown blocks and options skipped).

mod byte_order;
mod error;
mod linktype;
mod pcap;
mod pcapng;
mod reader;
mod record;
mod skipped;
mod source;
mod writer;

pub use error::{Error, ErrorKind, Result};
pub use linktype::LinkType;
pub use reader::Reader;
pub use record::{RECORD_LEN_MAX, Record};
pub use writer::{Format, Options, Writer};

/// Opens a file of another format, or standard input for `-`, and decompresses it as captures are.
///
/// # Errors
/// The file cannot be opened or read, or is compressed in a way that is not known.
pub fn open_bytes(path: &str) -> Result<(impl std::io::BufRead + Send + 'static, bool)> {
    let name = if path == "-" { "<stdin>" } else { path };
    let source = source::Source::open(path).map_err(|kind| Error::new(name, kind))?;
    let compressed = source.is_compressed();
    Ok((source.into_bytes(), compressed))
}
