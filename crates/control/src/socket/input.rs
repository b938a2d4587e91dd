//! Reading lines that end with CR, LF or CRLF, and data between them, within bounds.

use crate::{DATA_MAX, LINE_MAX};
use std::io::{self, BufRead, BufReader, Read};

/// What a client sends.
pub(super) struct Input<R> {
    source: R,
    /// The last line ended with a CR; an LF that follows belongs to it.
    after_cr: bool,
}

/// That a client sends more than it may.
fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "line too long")
}

impl<R: Read> Input<BufReader<R>> {
    /// Whether something that was received has not been looked at.
    pub(super) fn holds_more(&self) -> bool {
        match self.source.buffer() {
            [] => false,
            [b'\n'] => !self.after_cr,
            _ => true,
        }
    }
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(source: R) -> Input<R> {
        Input { source, after_cr: false }
    }

    /// The next line without its end; `None` at the end of input. A last line may lack its end.
    pub(super) fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = Vec::new();
        let ended = self.until_end(&mut line, LINE_MAX)?;
        Ok((ended || !line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
    }

    /// Reads up to the end of a line, which is taken, too; false if the input ends first.
    fn until_end(&mut self, line: &mut Vec<u8>, max: usize) -> io::Result<bool> {
        self.skip_lf()?;
        loop {
            let bytes = self.source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            let taken = end.unwrap_or(bytes.len());
            if line.len() + taken > max {
                return Err(too_long());
            }
            line.extend_from_slice(&bytes[..taken]);
            if let Some(end) = end {
                self.after_cr = bytes[end] == b'\r';
                // An LF that is already there is taken now, lest it be mistaken for data.
                let both = self.after_cr && bytes.get(end + 1) == Some(&b'\n');
                self.after_cr &= bytes.len() == end + 1;
                self.source.consume(end + 1 + usize::from(both));
                return Ok(true);
            }
            self.source.consume(taken);
        }
    }

    fn skip_lf(&mut self) -> io::Result<()> {
        if self.after_cr && self.source.fill_buf()?.first() == Some(&b'\n') {
            self.source.consume(1);
        }
        self.after_cr = false;
        Ok(())
    }

    /// The next `length` bytes; `None` if the input ends first.
    pub(super) fn data(&mut self, length: usize) -> io::Result<Option<String>> {
        if length > 0 {
            self.skip_lf()?;
        }
        let mut data = Vec::new();
        (&mut self.source).take(length as u64).read_to_end(&mut data)?;
        Ok((data.len() == length).then(|| String::from_utf8_lossy(&data).into_owned()))
    }

    /// All lines before one that reads `end`, blanks behind it aside, each with a newline; `None` if there is none.
    pub(super) fn until(&mut self, end: &str) -> io::Result<Option<String>> {
        let mut data = Vec::new();
        loop {
            let mut line = Vec::new();
            if !self.until_end(&mut line, DATA_MAX - data.len().min(DATA_MAX))? {
                return Ok(None);
            }
            if line.trim_ascii_end() == end.as_bytes() {
                return Ok(Some(String::from_utf8_lossy(&data).into_owned()));
            }
            data.extend_from_slice(&line);
            data.push(b'\n');
        }
    }
}
