//! Compressed files of routes, read with a bound and with feedback.

use std::fmt;
use std::io::{self, Read};

pub use compression::Packing;
use compression::Unpacked;

use super::error::ImportError;
use super::kernel::MAIN_TABLE;

/// Most bytes that [`Options::default`] accepts after decompression: 1 GiB.
pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

/// Limits and feedback of a read.
pub struct Options<'a> {
    /// Most bytes after decompression.
    pub max_bytes: u64,
    /// Called now and then with the bytes of the (packed) file read so far.
    pub progress: Option<&'a mut dyn FnMut(u64)>,
    /// The table of the kernel whose routes count.
    pub table: &'a str,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { max_bytes: DEFAULT_MAX_BYTES, progress: None, table: MAIN_TABLE }
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

    fn read(packed: &[u8]) -> Result<Vec<u8>, ImportError> {
        unpack(packed, &mut Options::default())
    }

    #[test]
    fn progress_counts_what_is_read() {
        for packed in [TEXT.to_vec(), gzip(TEXT)] {
            let mut seen = 0;
            let mut progress = |bytes| seen = bytes;
            let mut options = Options { progress: Some(&mut progress), ..Options::default() };
            assert_eq!(unpack(&packed[..], &mut options).unwrap(), TEXT);
            assert_eq!(seen, packed.len() as u64);
        }
    }

    #[test]
    fn a_truncated_file_is_an_error_of_reading() {
        let packed = gzip(TEXT);
        assert!(matches!(read(&packed[..packed.len() - 1]), Err(ImportError::Io(_))));
    }

    #[test]
    fn the_size_bound_stops_a_bomb() {
        let bomb = gzip(&vec![b'\n'; 1 << 20]);
        let error = unpack(&bomb[..], &mut Options { max_bytes: 1000, ..Options::default() }).unwrap_err();
        assert!(matches!(error, ImportError::TooLarge { limit: 1000 }));
        assert!(unpack(&bomb[..], &mut Options { max_bytes: 1 << 20, ..Options::default() }).is_ok());
    }
}
