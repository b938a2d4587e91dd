//! The bytes of a capture: from a file, standard input or any stream, decompressed where they are compressed.

use crate::files::{self, Patient};
use std::io::{self, BufRead, BufReader, Read};

use compression::{Packing, Unpacked};

use super::error::ErrorKind;

/// Bytes fetched from the system or the decompressor at once.
const BUFFER_LEN: usize = 64 * 1024;

/// A buffered byte stream that knows how far it has been read.
pub(super) struct Source {
    bytes: BufReader<Unpacked<Box<dyn Read + Send>>>,
    /// Bytes that were looked at before their turn, and how many of them have had it.
    ahead: Vec<u8>,
    ahead_read: usize,
    /// What ended the look ahead; said when reading comes to it.
    ahead_error: Option<io::Error>,
    offset: u64,
    /// Offset at which the current header, record or block begins.
    mark: u64,
    compressed: bool,
    /// The named pipe that the bytes come from, if they are not compressed.
    pipe: Option<Patient>,
}

impl Source {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &str) -> Result<Source, ErrorKind> {
        if path == "-" {
            return Source::from_read(Box::new(io::stdin()));
        }
        let file = files::open(path).map_err(ErrorKind::Open)?;
        if file.file().metadata().is_ok_and(|data| data.is_dir()) {
            return Err(ErrorKind::Open(io::ErrorKind::IsADirectory.into()));
        }
        let pipe = if file.is_pipe() { Some(file.try_clone().map_err(ErrorKind::Open)?) } else { None };
        let mut source = Source::from_read(Box::new(file))?;
        source.pipe = pipe;
        if source.compressed {
            // How much a decompressor has, and how much more it wants, it does not tell.
            source.wait_for_ever();
        }
        Ok(source)
    }

    fn wait_for_ever(&mut self) {
        if let Some(pipe) = self.pipe.take() {
            let _ = pipe.wait_for_ever(); // if it fails, reading fails when the other program is slow
        }
    }

    /// Whether the program that writes to a named pipe is to be waited for before anything can be read.
    pub(super) fn is_waiting(&self) -> bool {
        self.bytes.buffer().is_empty()
            && self.ahead().is_empty()
            && self.pipe.as_ref().is_some_and(Patient::is_waiting)
    }

    /// Looks at the first bytes of `raw` and decompresses it if they ask for that.
    pub(super) fn from_read(raw: Box<dyn Read + Send>) -> Result<Source, ErrorKind> {
        let unpacked = Unpacked::new(raw).map_err(read_error)?;
        let compressed = unpacked.packing() != Packing::Plain;
        let bytes = BufReader::with_capacity(BUFFER_LEN, unpacked);
        let ahead = Vec::new();
        Ok(Source {
            bytes,
            ahead,
            ahead_read: 0,
            ahead_error: None,
            offset: 0,
            mark: 0,
            compressed,
            pipe: None,
        })
    }

    /// The bytes alone.
    pub(super) fn into_bytes(mut self) -> impl BufRead + Send + 'static {
        self.wait_for_ever();
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
        let known = self.ahead().len().min(buf.len());
        buf[..known].copy_from_slice(&self.ahead()[..known]);
        self.ahead_read += known;
        self.offset += known as u64;
        if known == buf.len() {
            return Ok(known);
        }
        self.ahead_ended()?;
        let count = read_up_to(&mut self.bytes, &mut buf[known..]).map_err(read_error)?;
        self.offset += count as u64;
        Ok(known + count)
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
        let known = (self.ahead().len() as u64).min(count);
        self.ahead_read += known as usize; // no more than are there
        self.offset += known;
        count -= known;
        if count > 0 {
            self.ahead_ended()?;
        }
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

    /// The next `count` bytes, fewer where the stream ends or cannot be read further; they stay to be read. Holds them in memory.
    pub(super) fn look_ahead(&mut self, count: usize) -> &[u8] {
        // Bytes are moved once they are the smaller part, so that many looks cost no more than one.
        if self.ahead_read > self.ahead.len() / 2 {
            self.ahead.drain(..self.ahead_read);
            self.ahead_read = 0;
        }
        let missing = count.saturating_sub(self.ahead().len());
        if missing > 0
            && self.ahead_error.is_none()
            && let Err(error) = self.bytes.by_ref().take(missing as u64).read_to_end(&mut self.ahead)
        {
            self.ahead_error = Some(error);
        }
        let end = self.ahead.len().min(self.ahead_read + count);
        &self.ahead[self.ahead_read..end]
    }

    /// Takes `bytes`, which were read last, back, so that they come again.
    pub(super) fn unread(&mut self, bytes: &[u8]) {
        self.offset -= bytes.len() as u64;
        if let Some(begin) = self.ahead_read.checked_sub(bytes.len()) {
            self.ahead[begin..self.ahead_read].copy_from_slice(bytes);
            self.ahead_read = begin;
        } else {
            self.ahead.splice(..self.ahead_read, bytes.iter().copied());
            self.ahead_read = 0;
        }
    }

    /// Says the error, if one ended the look ahead.
    fn ahead_ended(&mut self) -> Result<(), ErrorKind> {
        self.ahead_error.take().map_or(Ok(()), |error| Err(read_error(error)))
    }

    fn ahead(&self) -> &[u8] {
        &self.ahead[self.ahead_read..]
    }
}

/// A decompressor reports an early end as an error; to the user it is a truncated file like any other.
fn read_error(error: io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ErrorKind::Truncated,
        _ => ErrorKind::Read(error),
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
