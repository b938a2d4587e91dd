//! The bytes of a capture: from a file, standard input or any stream, decompressed where they are compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::error::ErrorKind;

/// Bytes fetched from the system or the decompressor at once.
const BUFFER_LEN: usize = 64 * 1024;

const MAGIC_GZIP: &[u8] = &[0x1f, 0x8b];
const MAGIC_XZ: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0];
const MAGIC_ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const MAGIC_BZIP2: &[u8] = b"BZh";

/// A buffered byte stream that knows how far it has been read.
pub(super) struct Source {
    bytes: BufReader<Box<dyn Read + Send>>,
    offset: u64,
    /// Offset at which the current header, record or block begins.
    mark: u64,
    compressed: bool,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &str) -> Result<Source, ErrorKind> {
        if path == "-" {
            return Source::from_read(Box::new(io::stdin()));
        }
        let file = File::open(path).map_err(ErrorKind::Open)?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            return Err(ErrorKind::Open(io::ErrorKind::IsADirectory.into()));
        }
        Source::from_read(Box::new(file))
    }

    /// Looks at the first bytes of `raw` and puts a decompressor behind it if they ask for one.
    pub(super) fn from_read(mut raw: Box<dyn Read + Send>) -> Result<Source, ErrorKind> {
        // A pipe may give a byte at a time: the magic number is read on its own and put back in front.
        let mut head = [0; MAGIC_XZ.len()];
        let count = read_up_to(&mut raw, &mut head).map_err(ErrorKind::Read)?;
        let head = &head[..count];
        let whole = Cursor::new(head.to_vec()).chain(raw);
        let (bytes, compressed): (Box<dyn Read + Send>, bool) = if head.starts_with(MAGIC_GZIP) {
            (Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER_LEN, whole))), true)
        } else if head.starts_with(MAGIC_XZ) {
            (Box::new(XzReader::new(Whole(BufReader::with_capacity(BUFFER_LEN, whole)), true)), true)
        } else if head.starts_with(MAGIC_BZIP2) {
            (Box::new(MultiBzDecoder::new(BufReader::with_capacity(BUFFER_LEN, whole))), true)
        } else if head.starts_with(MAGIC_ZSTD) {
            return Err(ErrorKind::Compression { name: "zstd" });
        } else {
            (Box::new(whole), false)
        };
        Ok(Source { bytes: BufReader::with_capacity(BUFFER_LEN, bytes), offset: 0, mark: 0, compressed })
    }

    /// The bytes alone.
    pub(super) fn into_bytes(self) -> impl BufRead + Send + 'static {
        self.bytes
    }

    /// Notes that a header, record or block begins here.
    pub(super) fn set_mark(&mut self) {
        self.mark = self.offset;
    }

    /// Where the last header, record or block began, in bytes counted after decompression.
    pub(super) fn mark(&self) -> u64 {
        self.mark
    }

    /// Bytes read so far, after decompression.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Fills `buf` as far as the stream goes; returns the number of bytes it got.
    pub(super) fn fill(&mut self, buf: &mut [u8]) -> Result<usize, ErrorKind> {
        let count = read_up_to(&mut self.bytes, buf).map_err(read_error)?;
        self.offset += count as u64;
        Ok(count)
    }

    /// Fills all of `buf`; a stream that ends before is truncated.
    pub(super) fn fill_all(&mut self, buf: &mut [u8]) -> Result<(), ErrorKind> {
        if self.fill(buf)? < buf.len() { Err(ErrorKind::Truncated) } else { Ok(()) }
    }

    /// Fills all of `buf`; `false` if the stream has ended where `buf` would begin.
    pub(super) fn fill_or_end(&mut self, buf: &mut [u8]) -> Result<bool, ErrorKind> {
        match self.fill(buf)? {
            0 => Ok(false),
            count if count < buf.len() => Err(ErrorKind::Truncated),
            _ => Ok(true),
        }
    }

    /// Passes over `count` bytes; a stream that ends before is truncated.
    pub(super) fn skip(&mut self, mut count: u64) -> Result<(), ErrorKind> {
        while count > 0 {
            let ready = match self.bytes.fill_buf() {
                Ok([]) => return Err(ErrorKind::Truncated),
                Ok(ready) => (ready.len() as u64).min(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(read_error(error)),
            };
            // No more than the buffer holds, so it fits.
            self.bytes.consume(ready as usize);
            self.offset += ready;
            count -= ready;
        }
        Ok(())
    }
}

/// A decompressor reports an early end as an error; to the user it is a truncated file like any other.
fn read_error(error: io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
        _ => ErrorKind::Read(error),
    }
}

/// Fills every buffer unless the stream ends: the xz decoder takes a short read of its padding for damage.
struct Whole<R>(R);

impl<R: Read> Read for Whole<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        read_up_to(&mut self.0, buf)
    }
}

fn read_up_to(from: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while count < buf.len() {
        match from.read(&mut buf[count..]) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}
