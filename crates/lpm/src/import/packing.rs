//! Compressed files of routes, read with a bound and with feedback.

use std::fmt;
use std::io::{self, Read};

pub use compression::Packing;
use compression::Unpacked;

use super::error::ImportError;

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
    let mut silent = |_| ();
    let report: &mut dyn FnMut(u64) = match &mut options.progress {
        Some(progress) => *progress,
        None => &mut silent,
    };
    let unpacked = Unpacked::new(Progress { inner: &mut source, read: 0, report })?;
    bounded(unpacked, options.max_bytes)
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
            // Padding, as tapes and block devices add it.
            let padded = [pack(TEXT), vec![0; if pack(TEXT) == TEXT { 0 } else { 512 }]].concat();
            assert_eq!(read(&padded).unwrap(), TEXT);
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
