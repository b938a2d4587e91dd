//! Compressed files: gzip, bzip2, xz and zstd, told apart by their first bytes.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::error::ImportError;

/// How a file was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// The xz format.
    Xz,
    /// The gzip format (RFC 1952).
    Gzip,
    /// The bzip2 format.
    Bzip2,
    /// The Zstandard format (RFC 8878).
    Zstd,
}

impl Packing {
    /// Tells from the first bytes of a file, whatever its name.
    pub fn of(start: &[u8]) -> Self {
        match start {
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x1f, 0x8b, ..] => Self::Gzip,
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Self::Bzip2,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::Plain,
        }
    }
}

/// Most bytes that [`Options::default`] accepts after decompression: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

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
        Packing::Bzip2 => bounded(bzip2::read::MultiBzDecoder::new(packed), limit),
        Packing::Zstd => bounded(Frames::new(packed), limit),
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

/// The frames of a zstd file, one after the other, with their checksums verified.
struct Frames<R: Read> {
    state: Frame<R>,
}

enum Frame<R: Read> {
    Between(BufReader<R>),
    Inside(Box<StreamingDecoder<BufReader<R>, FrameDecoder>>),
    /// After the end, or an error.
    Over,
}

impl<R: Read> Frames<R> {
    fn new(source: R) -> Self {
        Self { state: Frame::Between(BufReader::new(source)) }
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, Frame::Over) {
                Frame::Over => return Ok(0),
                Frame::Between(mut source) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(source).map_err(io::Error::other)?;
                    self.state = Frame::Inside(Box::new(decoder));
                }
                Frame::Inside(mut frame) => {
                    let count = frame.read(into)?;
                    if count > 0 || into.is_empty() {
                        self.state = Frame::Inside(frame);
                        return Ok(count);
                    }
                    let (source, decoder) = frame.into_parts();
                    let stored = decoder.get_checksum_from_data();
                    if stored.is_some() && stored != decoder.get_calculated_checksum() {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "wrong zstd checksum"));
                    }
                    self.state = Frame::Between(source);
                }
            }
        }
    }
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TEXT: &[u8] = b"10.0.0.0/8\n192.0.2.0/24\n2001:db8::/32\n";

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

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut packer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn zstd(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn read(packed: &[u8]) -> Result<Vec<u8>, ImportError> {
        unpack(packed, &mut Options::default())
    }

    #[test]
    fn every_packing_reads_the_same() {
        for pack in [<[u8]>::to_vec, gzip, xz, bzip2, zstd] {
            let packed = pack(TEXT);
            let mut seen = 0;
            let mut progress = |bytes| seen = bytes;
            let mut options = Options { progress: Some(&mut progress), ..Options::default() };
            assert_eq!(unpack(&packed[..], &mut options).unwrap(), TEXT);
            assert_eq!(seen, packed.len() as u64);
            // Files that were put together by `cat`.
            let twice = [packed.clone(), packed].concat();
            assert_eq!(read(&twice).unwrap(), [TEXT, TEXT].concat());
        }
    }

    #[test]
    fn truncated_files_are_errors() {
        for packed in [gzip(TEXT), xz(TEXT), bzip2(TEXT), zstd(TEXT)] {
            for cut in 6..packed.len() {
                assert!(matches!(read(&packed[..cut]), Err(ImportError::Io(_))), "{cut}: {packed:x?}");
            }
        }
    }

    #[test]
    fn damaged_files_are_errors() {
        for mut packed in [gzip(TEXT), xz(TEXT), bzip2(TEXT), zstd(TEXT)] {
            let middle = packed.len() / 2;
            packed[middle] ^= 0x10;
            assert!(read(&packed).is_err(), "{packed:x?}");
        }
    }

    #[test]
    fn the_size_bound_stops_a_bomb() {
        for pack in [gzip, bzip2, zstd] {
            let bomb = pack(&vec![b'\n'; 1 << 20]);
            let error = unpack(&bomb[..], &mut Options { max_bytes: 1000, progress: None }).unwrap_err();
            assert!(matches!(error, ImportError::TooLarge { limit: 1000 }));
            assert!(unpack(&bomb[..], &mut Options { max_bytes: 1 << 20, progress: None }).is_ok());
        }
    }
}
